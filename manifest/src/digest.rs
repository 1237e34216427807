//! Digests of artifacts, the archives or folders that hold the content of releases.

use std::fmt;

#[cfg(feature = "packages")]
use sha2::{Digest as _, Sha256};

use crate::diagnostic::Escaped;
use crate::hexadecimal::{Hexadecimal, from_hexadecimal};
use crate::package_path::PackagePath;

/// The digest of the content of a release.
///
/// It is written as 64 hexadecimal digits for an archive, and as `tree:` and 64 digits for a folder. Match
/// the kinds exhaustively: a digest of an unknown kind cannot be checked.
///
/// ```
/// use pkgres_manifest::ArtifactDigest;
///
/// let digest = ArtifactDigest::of_archive(b"abc");
/// assert_eq!(
///     digest.to_string(),
///     "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
/// );
/// assert_eq!(ArtifactDigest::parse(&digest.to_string()), Ok(digest));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ArtifactDigest {
    /// The SHA-256 of an archive's bytes.
    Archive([u8; 32]),
    /// The SHA-256 over the paths and digests of a folder's files.
    Tree([u8; 32]),
}

/// The error for a string that is not a digest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a digest: expected 64 digits 0-9a-f, after `tree:` for a folder", Escaped::shortened(.0))]
pub struct DigestError(pub String);

impl ArtifactDigest {
    /// Whether the content must not change any more: an archive was published. A folder is still edited.
    pub fn is_final(&self) -> bool {
        matches!(self, Self::Archive(_))
    }

    /// Returns the digest of an archive: the SHA-256 of its bytes.
    #[cfg(feature = "packages")]
    pub fn of_archive(bytes: &[u8]) -> Self {
        Self::Archive(sha256(bytes))
    }

    /// Returns the digest of a folder: the SHA-256 over its files in the order of their paths, for each the
    /// length of the path in eight bytes, the path, and the SHA-256 of the content.
    ///
    /// Files that are out of order or repeated give a digest that no folder has.
    #[cfg(feature = "packages")]
    pub fn of_tree<'file>(files: impl IntoIterator<Item = (&'file PackagePath, [u8; 32])>) -> Self {
        let mut hasher = Sha256::new();
        for (path, content) in files {
            hasher.update((path.as_str().len() as u64).to_be_bytes());
            hasher.update(path.as_str());
            hasher.update(content);
        }
        Self::Tree(hasher.finalize().into())
    }

    /// Reads a digest.
    pub fn parse(text: &str) -> Result<Self, DigestError> {
        let error = || DigestError(text.to_owned());
        let (digits, is_tree) = match text.strip_prefix("tree:") {
            Some(digits) => (digits, true),
            None => (text, false),
        };
        let mut bytes = [0; 32];
        if !from_hexadecimal(digits, &mut bytes) {
            return Err(error());
        }
        Ok(if is_tree {
            Self::Tree(bytes)
        } else {
            Self::Archive(bytes)
        })
    }
}

/// Returns the SHA-256 of some bytes.
#[cfg(feature = "packages")]
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

impl fmt::Display for ArtifactDigest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = match self {
            Self::Archive(bytes) => bytes,
            Self::Tree(bytes) => {
                formatter.write_str("tree:")?;
                bytes
            }
        };
        fmt::Display::fmt(&Hexadecimal(bytes), formatter)
    }
}

impl fmt::Debug for ArtifactDigest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

#[cfg(feature = "json")]
impl serde::Serialize for ArtifactDigest {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_written_and_read() {
        let archive = ArtifactDigest::of_archive(b"abc");
        assert_eq!(
            archive.to_string(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        let path = PackagePath::parse("manifest.yaml").expect("a path");
        let tree = ArtifactDigest::of_tree([(&path, sha256(b"abc"))]);
        for digest in [archive, tree] {
            assert_eq!(ArtifactDigest::parse(&digest.to_string()), Ok(digest));
        }
        let text = archive.to_string();
        for bad in [
            "",
            &text[1..],
            &text.to_uppercase(),
            &format!("sha256:{text}"),
            "tree:",
        ] {
            assert!(ArtifactDigest::parse(bad).is_err(), "{bad}");
        }
    }
}
