//! Digests of bodies.

use std::fmt;

use pkgres_manifest::{ArtifactDigest, Hexadecimal, IndexRecord, from_hexadecimal, sha256};

use super::Malformed;

/// The SHA-256 of some bytes, written as 64 lower case hexadecimal digits.
///
/// ```
/// use pkgres_registry_client::protocol::Digest;
///
/// let digest = Digest::of(b"abc");
/// assert!(digest.to_string().starts_with("ba7816bf"));
/// assert_eq!(Digest::from_etag(&digest.to_etag()), Some(digest));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// The digest of some bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(sha256(bytes))
    }

    /// The digest of the archive of a release, if its record has one.
    pub fn of_record(record: &IndexRecord) -> Option<Self> {
        match record.digest {
            Some(ArtifactDigest::Archive(bytes)) => Some(Self(bytes)),
            Some(ArtifactDigest::Tree(_)) | None => None,
        }
    }

    /// Reads 64 lower case hexadecimal digits.
    pub fn parse(text: &str) -> Result<Self, Malformed> {
        let mut bytes = [0; 32];
        if from_hexadecimal(text, &mut bytes) {
            Ok(Self(bytes))
        } else {
            Err(Malformed::new("a digest", "64 hexadecimal digits"))
        }
    }

    /// The strong `ETag` of a body with this digest: the digits in quotes.
    pub fn to_etag(self) -> String {
        format!("\"{self}\"")
    }

    /// The digest that an `ETag` names, if it is one of this protocol. A proxy that changes the
    /// encoding of a body makes the tag weak (`W/"…"`); the bytes inside stay the same.
    pub fn from_etag(tag: &str) -> Option<Self> {
        let tag = tag.trim();
        let tag = tag.strip_prefix("W/").unwrap_or(tag);
        let digits = tag.strip_prefix('"')?.strip_suffix('"')?;
        Self::parse(digits).ok()
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Hexadecimal(&self.0), formatter)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl serde::Serialize for Digest {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Digest {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_written_form_is_read() {
        let digest = Digest::of(b"");
        let text = digest.to_string();
        assert_eq!(Digest::parse(&text), Ok(digest));
        for bad in ["", &text[1..], &text.to_uppercase(), &format!("{text} ")] {
            assert!(Digest::parse(bad).is_err(), "{bad}");
        }
        assert_eq!(Digest::from_etag(&format!("W/\"{text}\"")), Some(digest));
        for bad in [text.as_str(), "\"\"", "\"", "W/", "\"abc\""] {
            assert_eq!(Digest::from_etag(bad), None, "{bad}");
        }
    }
}
