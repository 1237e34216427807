//! The keys that snapshots are signed with.

use std::fmt;

use ed25519_dalek::Signer as _;
use pkgres_manifest::{Hexadecimal, from_hexadecimal};

use super::Malformed;

/// The prefix of the text of a key.
const ALGORITHM: &str = "ed25519:";

/// The public half of a key, written as `ed25519:` and 64 hexadecimal digits.
///
/// ```
/// use pkgres_registry_client::protocol::{PublicKey, SigningKey};
///
/// let key = SigningKey::from_bytes(&[7; 32]).public();
/// assert_eq!(PublicKey::parse(&key.to_string())?, key);
/// # Ok::<(), pkgres_registry_client::protocol::Malformed>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PublicKey([u8; 32]);

impl PublicKey {
    /// Reads a key. Weak keys, whose signatures are valid for many messages, are rejected.
    pub fn parse(text: &str) -> Result<Self, Malformed> {
        let wrong = |reason: &str| Malformed::new("a key", reason);
        let digits = text.strip_prefix(ALGORITHM);
        let mut bytes = [0; 32];
        if !digits.is_some_and(|digits| from_hexadecimal(digits, &mut bytes)) {
            return Err(wrong("`ed25519:` and 64 hexadecimal digits are expected"));
        }
        match ed25519_dalek::VerifyingKey::from_bytes(&bytes) {
            Ok(key) if !key.is_weak() => Ok(Self(bytes)),
            _ => Err(wrong("these digits are not a key")),
        }
    }

    /// Whether the signature of these bytes was made with the key.
    pub(super) fn verifies(&self, bytes: &[u8], signature: &[u8; 64]) -> bool {
        let signature = ed25519_dalek::Signature::from_bytes(signature);
        ed25519_dalek::VerifyingKey::from_bytes(&self.0)
            .is_ok_and(|key| key.verify_strict(bytes, &signature).is_ok())
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(ALGORITHM)?;
        fmt::Display::fmt(&Hexadecimal(&self.0), formatter)
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl serde::Serialize for PublicKey {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for PublicKey {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

/// A key that signs. Its bytes are secret: they are neither shown nor compared, and are wiped when
/// the key is dropped.
#[derive(Clone)]
pub struct SigningKey(ed25519_dalek::SigningKey);

impl SigningKey {
    /// The key of 32 secret bytes, which have to come from a source of randomness.
    pub fn from_bytes(secret: &[u8; 32]) -> Self {
        Self(ed25519_dalek::SigningKey::from_bytes(secret))
    }

    /// The public half.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key().to_bytes())
    }

    pub(super) fn sign(&self, bytes: &[u8]) -> [u8; 64] {
        self.0.sign(bytes).to_bytes()
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "SigningKey({})", self.public())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_as_they_are_written() {
        let key = SigningKey::from_bytes(&[1; 32]).public();
        let text = key.to_string();
        assert_eq!(PublicKey::parse(&text), Ok(key));
        let zeros = format!("ed25519:{}", "0".repeat(64));
        let identity = format!("ed25519:01{}", "0".repeat(62));
        for bad in ["", &text[1..], &text.to_uppercase(), &zeros, &identity] {
            assert!(PublicKey::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_secret_is_not_shown() {
        let shown = format!("{:?}", SigningKey::from_bytes(&[0x5a; 32]));
        assert!(!shown.contains("5a5a"), "{shown}");
    }
}
