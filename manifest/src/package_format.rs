//! The `Format` of a package, such as `MuranoPL/1.4` or `Heat.HOT/1.0`.
//!
//! A `MuranoPL` package contains class files. A `Heat.HOT` package contains one Heat template, which
//! Murano turns into one class. Packages of any other format can be required, but their classes are unknown.

use std::fmt;

use crate::diagnostic::Escaped;
use crate::version::Version;

const MURANO_PL: &str = "MuranoPL";
const HEAT_HOT: &str = "Heat.HOT";

/// The format of a package: a type and its version, written `[Type/]Version`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageFormat {
    kind: String,
    version: String,
}

/// The error for a `Format` that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FormatError {
    /// The text is not `[Type/]Version`.
    #[error("`{}` is not a format such as `1.3` or `MuranoPL/1.3`", Escaped::shortened(.0))]
    Malformed(String),
    /// The type is known, but this version of it is not supported.
    #[error("`{kind}` {version} is not supported: the newest supported version is {newest}")]
    Unsupported {
        /// The type.
        kind: &'static str,
        /// The version as written.
        version: String,
        /// The newest supported version.
        newest: Version,
    },
}

/// The supported versions of the known formats. A host with newer ones raises them.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SupportedFormats {
    /// The newest version of `MuranoPL`; the oldest is 1.0.
    pub newest_murano_pl: Version,
    /// The newest version of `Heat.HOT`; the oldest is 1.0.
    pub newest_heat_hot: Version,
}

impl Default for SupportedFormats {
    fn default() -> Self {
        Self {
            newest_murano_pl: Version::new(1, 4, 0),
            newest_heat_hot: Version::new(1, 0, 0),
        }
    }
}

impl Default for PackageFormat {
    fn default() -> Self {
        Self {
            kind: MURANO_PL.to_owned(),
            version: "1.0".to_owned(),
        }
    }
}

impl PackageFormat {
    /// Reads a format. The type `MuranoPL` may be left out.
    pub fn parse(text: &str, supported: &SupportedFormats) -> Result<Self, FormatError> {
        let malformed = || FormatError::Malformed(text.to_owned());
        let (kind, version) = match text.rsplit_once('/') {
            Some(parts) => parts,
            None if text.starts_with(|first: char| first.is_ascii_digit()) => (MURANO_PL, text),
            None => return Err(malformed()),
        };
        let is_word = |word: &str| {
            !word.is_empty()
                && word.len() <= 64
                && word
                    .chars()
                    .all(|character| character.is_ascii_alphanumeric() || "._-".contains(character))
        };
        if !is_word(kind) || !is_word(version) {
            return Err(malformed());
        }
        let known = match kind {
            MURANO_PL => Some((MURANO_PL, &supported.newest_murano_pl)),
            HEAT_HOT => Some((HEAT_HOT, &supported.newest_heat_hot)),
            _ => None,
        };
        if let Some((kind, newest)) = known {
            let parsed = Version::parse(version).map_err(|_| malformed())?;
            let plain = parsed.patch() == 0 && !parsed.is_prerelease();
            if !plain || parsed < Version::new(1, 0, 0) || parsed > *newest {
                return Err(FormatError::Unsupported {
                    kind,
                    version: version.to_owned(),
                    newest: newest.clone(),
                });
            }
        }
        Ok(Self {
            kind: kind.to_owned(),
            version: version.to_owned(),
        })
    }

    /// Whether packages of this format list class files.
    pub fn has_class_files(&self) -> bool {
        self.kind == MURANO_PL
    }

    /// Whether this is a Heat template, which defines one class with the name of its package.
    pub fn is_heat_hot(&self) -> bool {
        self.kind == HEAT_HOT
    }

    /// Whether a string, as in a manifest, names the format of Heat templates in any version.
    pub(crate) fn names_heat_hot(text: &str) -> bool {
        text.split_once('/')
            .is_some_and(|(kind, _)| kind == HEAT_HOT)
    }

    /// Whether the classes of packages of this format are known.
    pub fn has_known_classes(&self) -> bool {
        self.has_class_files() || self.is_heat_hot()
    }
}

impl fmt::Display for PackageFormat {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.kind, self.version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_types_have_known_versions() {
        let supported = SupportedFormats::default();
        let parse = |text| PackageFormat::parse(text, &supported);
        for (text, shown) in [
            ("1.3", "MuranoPL/1.3"),
            ("1", "MuranoPL/1"),
            ("MuranoPL/1.4", "MuranoPL/1.4"),
            ("Heat.HOT/1.0", "Heat.HOT/1.0"),
            ("TOSCA.CSAR/1.1.0", "TOSCA.CSAR/1.1.0"),
        ] {
            assert_eq!(parse(text).expect(text).to_string(), shown);
        }
        for bad in [
            "1.5",
            "1.4.1",
            "0.9",
            "MuranoPL/99.0",
            "Heat.HOT/1.1",
            "MuranoPL/x",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
        for bad in ["", "MuranoPL", "/1.0", "a b/1.0", "MuranoPL/"] {
            assert_eq!(parse(bad), Err(FormatError::Malformed(bad.to_owned())));
        }
        let raised = SupportedFormats {
            newest_murano_pl: Version::new(1, 9, 0),
            ..supported
        };
        assert!(PackageFormat::parse("1.9", &raised).is_ok());
    }
}
