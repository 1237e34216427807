//! What a hint of a conflict is.

use std::fmt;

use pkgres_manifest::PackageName;

/// What can be done about a conflict, or what there is instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hint {
    /// What kind of hint it is, for those who do not show every kind.
    pub kind: HintKind,
    /// The hint in one sentence.
    pub text: String,
}

/// What kind of hint it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HintKind {
    /// A package has a name similar to one that nobody knows.
    Similar {
        /// The name that was asked for.
        unknown: PackageName,
        /// The package that may have been meant.
        meant: PackageName,
    },
    /// It names options of the command line or settings: of use to those alone who have one.
    Option,
    /// It speaks of packages and their versions, and says the same to everybody.
    Packages,
}

impl Hint {
    /// A hint that a package may have been meant by a name that nobody knows.
    pub fn similar(unknown: PackageName, meant: PackageName) -> Self {
        Self {
            text: format!("there is a package `{meant}`"),
            kind: HintKind::Similar { unknown, meant },
        }
    }

    /// A hint that names options of the command line or settings.
    pub fn option(text: impl Into<String>) -> Self {
        Self {
            kind: HintKind::Option,
            text: text.into(),
        }
    }

    /// A hint that speaks of packages and their versions.
    pub fn packages(text: impl Into<String>) -> Self {
        Self {
            kind: HintKind::Packages,
            text: text.into(),
        }
    }
}

impl fmt::Display for Hint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}
