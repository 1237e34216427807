//! The signed state of an index.

use std::fmt;

use pkgres_manifest::{Hexadecimal, from_hexadecimal, read_json};

use super::{Digest, Malformed, PublicKey, SigningKey};

/// The state of an index, which is signed.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Snapshot {
    /// The identity of the registry: a random text that was made with its data, the same on mirrors.
    pub registry: String,
    /// The serial of the state.
    pub serial: u64,
    /// The number of packages: the size of the tree.
    pub names: u64,
    /// The root of the Merkle tree over the lines of `names.ndjson`.
    pub root: Digest,
    /// The time of signing.
    pub issued: jiff::Timestamp,
    /// The time of expiry.
    pub expires: jiff::Timestamp,
}

/// A snapshot with its signatures, as it is sent.
///
/// ```
/// use pkgres_registry_client::protocol::{Digest, SignedSnapshot, SigningKey, Snapshot};
///
/// let key = SigningKey::from_bytes(&[7; 32]);
/// let snapshot = Snapshot {
///     registry: "2f1c0a52-4d0f-4c43-9d0e-0d3a4b1f2c11".to_owned(),
///     serial: 4711,
///     names: 0,
///     root: Digest::of(b""),
///     issued: "2026-01-31T12:00:00Z".parse()?,
///     expires: "2026-02-07T12:00:00Z".parse()?,
/// };
/// let signed = SignedSnapshot::sign(&snapshot, &[&key]);
/// assert_eq!(signed.verify(&key.public())?, snapshot);
/// let other = SigningKey::from_bytes(&[8; 32]);
/// assert!(signed.verify(&other.public()).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct SignedSnapshot {
    /// The exact bytes of JSON that were signed.
    pub signed: String,
    /// The signatures.
    pub signatures: Vec<Signature>,
}

/// A signature and the key that it claims to be made with.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Signature {
    /// The key.
    pub key: PublicKey,
    /// The signature: 128 hexadecimal digits.
    pub signature: SignatureBytes,
}

/// The 64 bytes of a signature.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SignatureBytes(pub [u8; 64]);

/// The error for a snapshot that cannot be trusted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// None of the signatures is by the key.
    #[error("its state is signed by {}, but the trusted key is {expected}", signers(.found))]
    OtherKey {
        /// The key that should have signed.
        expected: PublicKey,
        /// The keys that claim to have signed.
        found: Vec<PublicKey>,
    },
    /// The signature by the key does not match the bytes.
    #[error("the signature of its state by {0} is wrong")]
    WrongSignature(PublicKey),
    /// The signed text is not a snapshot.
    #[error(transparent)]
    Malformed(#[from] Malformed),
}

fn signers(keys: &[PublicKey]) -> String {
    if keys.is_empty() {
        return "nobody".to_owned();
    }
    let keys: Vec<String> = keys.iter().map(ToString::to_string).collect();
    keys.join(", ")
}

impl SignedSnapshot {
    /// Signs a snapshot with each of the keys.
    pub fn sign(snapshot: &Snapshot, keys: &[&SigningKey]) -> Self {
        let signed = serde_json::to_string(snapshot).expect("texts and numbers are valid JSON");
        let signatures = keys
            .iter()
            .map(|key| Signature {
                key: key.public(),
                signature: SignatureBytes(key.sign(signed.as_bytes())),
            })
            .collect();
        Self { signed, signatures }
    }

    /// The snapshot, if the key signed it. The caller, who knows the time, checks its expiry.
    pub fn verify(&self, key: &PublicKey) -> Result<Snapshot, SnapshotError> {
        let mut by_key = self
            .signatures
            .iter()
            .filter(|one| one.key == *key)
            .peekable();
        if by_key.peek().is_none() {
            return Err(SnapshotError::OtherKey {
                expected: *key,
                found: self.signatures.iter().map(|one| one.key).collect(),
            });
        }
        let signed = self.signed.as_bytes();
        if !by_key.any(|one| key.verifies(signed, &one.signature.0)) {
            return Err(SnapshotError::WrongSignature(*key));
        }
        read_json(signed).map_err(|error| Malformed::new("a snapshot", &error).into())
    }

    /// Reads the document.
    pub fn parse(bytes: &[u8]) -> Result<Self, Malformed> {
        read_json(bytes).map_err(|error| Malformed::new("a signed snapshot", &error))
    }

    /// The document as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("texts are valid JSON")
    }
}

impl fmt::Debug for SignatureBytes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Hexadecimal(&self.0), formatter)
    }
}

impl fmt::Display for SignatureBytes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Hexadecimal(&self.0), formatter)
    }
}

impl serde::Serialize for SignatureBytes {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for SignatureBytes {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        let mut bytes = [0; 64];
        if from_hexadecimal(&text, &mut bytes) {
            Ok(Self(bytes))
        } else {
            Err(serde::de::Error::custom(
                "a signature has 128 hexadecimal digits",
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot() -> Snapshot {
        Snapshot {
            registry: "r".to_owned(),
            serial: 3,
            names: 2,
            root: Digest::of(b"root"),
            issued: jiff::Timestamp::UNIX_EPOCH,
            expires: "2026-02-07T12:00:00Z".parse().expect("a time"),
        }
    }

    #[test]
    fn signatures_cover_every_signed_byte() {
        let key = SigningKey::from_bytes(&[1; 32]);
        let signed = SignedSnapshot::sign(&snapshot(), &[&key]);
        let read = SignedSnapshot::parse(signed.to_json().as_bytes()).expect("what was written");
        assert_eq!(read.verify(&key.public()), Ok(snapshot()));
        for at in 0..signed.signed.len() {
            let mut other = signed.clone();
            other.signed.replace_range(at..=at, "~");
            let error = other.verify(&key.public());
            assert_eq!(error, Err(SnapshotError::WrongSignature(key.public())));
        }
    }

    #[test]
    fn any_of_several_keys_will_do_and_no_other() {
        let keys = [1, 2, 3].map(|byte| SigningKey::from_bytes(&[byte; 32]));
        let signed = SignedSnapshot::sign(&snapshot(), &[&keys[0], &keys[1]]);
        assert!(signed.verify(&keys[0].public()).is_ok());
        assert!(signed.verify(&keys[1].public()).is_ok());
        let error = signed.verify(&keys[2].public());
        assert!(matches!(error, Err(SnapshotError::OtherKey { .. })));
        // A signature under the name of another key.
        let mut forged = SignedSnapshot::sign(&snapshot(), &[&keys[2]]);
        forged.signatures[0].key = keys[0].public();
        let error = forged.verify(&keys[0].public());
        assert_eq!(error, Err(SnapshotError::WrongSignature(keys[0].public())));
    }

    #[test]
    fn only_snapshots_can_be_signed() {
        let key = SigningKey::from_bytes(&[1; 32]);
        let mut signed = SignedSnapshot::sign(&snapshot(), &[&key]);
        signed.signed = "{}".to_owned();
        signed.signatures[0].signature = SignatureBytes(key.sign(b"{}"));
        let error = signed.verify(&key.public());
        assert!(matches!(error, Err(SnapshotError::Malformed(_))));
    }
}
