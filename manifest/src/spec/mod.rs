//! Specs: sets of versions as they are written in manifests.
//!
//! A spec is a comma-separated list of clauses that must all hold. What each form means was
//! measured on the reference implementation; see [`Spec`] for the table.

mod normal_form;
mod parse;
mod set;

pub use parse::{MAX_SPEC_BYTES, MAX_SPEC_CLAUSES, SpecError};
pub use set::{Interval, VersionSet};

use std::fmt;
use std::sync::{Arc, LazyLock};

use crate::version::Version;

/// A set of versions as written in a manifest.
///
/// | written | means |
/// |---|---|
/// | nothing | `0` |
/// | `1` | `>=1.0.0,<2.0.0` |
/// | `1.2` | `>=1.2.0,<1.3.0` |
/// | `1.2.3` | exactly that version |
/// | `=`, `==` | as without them |
/// | `>1.2`, `<=1.2` | `>=1.3.0`, `<1.3.0` |
/// | `!=1.2.3` | neither it nor its prereleases |
/// | `!=1.5` | none of `>=1.5.0-0,<1.6.0-0` |
/// | `^1.2`, `~1.2`, `~=1.2` | `>=1.2.0,<2.0.0`, `>=1.2.0,<1.3.0`, `>=1.2.0,<2.0.0` |
/// | `^0` | `>=0.0.0,<0.0.1` |
/// | `*`, `1.*` | any version from 0.0.0 on, `1` |
///
/// `<X.Y.Z` excludes the prereleases of X.Y.Z, and so does `>=X.Y.Z`; prereleases inside a range
/// match. Build metadata never matters.
///
/// ```
/// use pkgres_manifest::{Spec, Version};
///
/// let spec = Spec::parse("1.2, !=1.2.5")?;
/// assert!(spec.matches(&Version::new(1, 2, 4)));
/// assert!(!spec.matches(&Version::new(1, 3, 0)));
/// assert_eq!(spec.normal_form(), ">=1.2.0,<1.3.0,!=1.2.5");
/// # Ok::<(), pkgres_manifest::SpecError>(())
/// ```
///
/// Cheap to clone.
#[derive(Clone, PartialEq, Eq)]
pub struct Spec(Arc<Parts>);

#[derive(PartialEq, Eq)]
struct Parts {
    written: String,
    set: VersionSet,
    names_prerelease: bool,
}

impl Spec {
    /// Reads a spec. An empty text means `0`.
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        let (set, names_prerelease) = parse::parse(text)?;
        let written = text.trim();
        Ok(Self::new(
            if written.is_empty() { "0" } else { written }.to_owned(),
            set,
            names_prerelease,
        ))
    }

    fn new(written: String, set: VersionSet, names_prerelease: bool) -> Self {
        Self(Arc::new(Parts {
            written,
            set,
            names_prerelease,
        }))
    }

    /// The spec of a requirement that names none: `0`, which is any `0.x` version.
    pub fn unspecified() -> Self {
        static UNSPECIFIED: LazyLock<Spec> =
            LazyLock::new(|| Spec::parse("").expect("the empty spec is valid"));
        UNSPECIFIED.clone()
    }

    /// Exactly one version.
    pub fn exactly(version: &Version) -> Self {
        let version = version.without_build();
        Self::new(
            version.to_string(),
            VersionSet::exactly(&version),
            version.is_prerelease(),
        )
    }

    /// Any version at all, prereleases of 0.0.0 included. It is written `*`, which leaves these out where it
    /// is read again, as from an index or a lockfile.
    pub fn any() -> Self {
        Self::new("*".to_owned(), VersionSet::all(), false)
    }

    /// The text as written, without white space around it; `0` if it was empty.
    pub fn written(&self) -> &str {
        &self.0.written
    }

    /// The versions that match.
    pub fn set(&self) -> &VersionSet {
        &self.0.set
    }

    /// Whether a version matches.
    pub fn matches(&self, version: &Version) -> bool {
        self.0.set.contains(version)
    }

    /// Whether a clause names a prerelease, which puts prereleases on a par with other versions
    /// under the default prerelease policy.
    pub fn names_prerelease(&self) -> bool {
        self.0.names_prerelease
    }

    /// The one spelling that all specs with the same versions share.
    pub fn normal_form(&self) -> String {
        normal_form::normal_form(&self.0.set)
    }
}

/// Shows the text as written.
impl fmt::Display for Spec {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0.written)
    }
}

impl fmt::Debug for Spec {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl std::str::FromStr for Spec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        Self::parse(text)
    }
}
