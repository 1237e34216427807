//! Specs: sets of versions as manifests write them.
//!
//! A spec is a comma-separated list of clauses, all of which have to hold; [`Spec`] has the table of what each
//! form means. The meanings were measured on the reference implementation, OpenStack Murano with the Python
//! package `semantic_version` 2.10, and differ from it on purpose in two points: a short `!=1.5` excludes the whole of
//! 1.5, and spaces and tabs around operators and commas are allowed.
//!
//! Versions have a total order, so that a clause is one interval or two, and a spec a list of intervals
//! ([`VersionSet`]). `parse` reads the text, `foreign_ranges` suggests what a range of another package manager means,
//! `normal_form` writes the one text that all specs with the same versions share. A [`Requirement`] is a package with a
//! spec.
//!
//! The text of a spec determines the spec: two specs with one text are equal. Lockfiles store only texts, so that
//! these mean the same wherever they are read again.
//!
//! Other ecosystems have other range languages. Their [`Ecosystem`](crate::Ecosystem) reads a range into a set of
//! the same kind, and the *native* spec is that set with its text; `stored` has the text that keeps both.

mod foreign_ranges;
mod normal_form;
mod parse;
mod set;
mod stored;

pub use foreign_ranges::range_of_other_systems;
pub use parse::{MAX_SPEC_BYTES, MAX_SPEC_CLAUSES, SpecError};
pub use set::{Interval, VersionSet};

use std::fmt;
use std::sync::{Arc, LazyLock};

use crate::diagnostic::Location;
use crate::name::PackageName;
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
/// | `>=0.0.0-0` | any version at all, prereleases of 0.0.0 included |
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
///
/// // Any spec can be read again from its text, also one that was not read from one.
/// for spec in [Spec::any(), Spec::unspecified(), Spec::exactly(&Version::new(1, 2, 3))] {
///     assert_eq!(Spec::parse(spec.written())?, spec);
/// }
/// # Ok::<(), pkgres_manifest::SpecError>(())
/// ```
///
/// Cheap to clone.
#[derive(Clone, PartialEq, Eq)]
pub struct Spec(Arc<Parts>);

/// A string and what was read from it. The reader of an ecosystem makes these, so that the text determines the rest.
#[derive(PartialEq, Eq)]
struct Parts {
    written: String,
    set: VersionSet,
    names_prerelease: bool,
    is_native: bool,
}

impl Spec {
    /// Reads a spec. An empty text means `0`.
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        let (set, names_prerelease) = parse::parse(text)?;
        let written = match text.trim() {
            "" => parse::UNSPECIFIED,
            written => written,
        };
        Ok(Self(Arc::new(Parts {
            written: written.to_owned(),
            set,
            names_prerelease,
            is_native: false,
        })))
    }

    /// Returns the spec that a range of another ecosystem means.
    ///
    /// ```
    /// use pkgres_manifest::{Spec, Version, VersionSet};
    ///
    /// let below_two = VersionSet::between(Version::parse("0.0.0-0")?, Some(Version::new(2, 0, 0)));
    /// let spec = Spec::native("<2.0.0", below_two, false);
    /// assert!(spec.matches(&Version::parse("2.0.0-rc.1")?));
    /// assert_eq!(spec.written(), "<2.0.0");
    /// # Ok::<(), pkgres_manifest::VersionError>(())
    /// ```
    pub fn native(written: &str, set: VersionSet, names_prerelease: bool) -> Self {
        Self(Arc::new(Parts {
            written: written.to_owned(),
            set,
            names_prerelease,
            is_native: true,
        }))
    }

    /// The spec of a requirement without one: `0`, which is any `0.x` version.
    pub fn unspecified() -> Self {
        static UNSPECIFIED: LazyLock<Spec> =
            LazyLock::new(|| Spec::parse(parse::UNSPECIFIED).expect("`0` is a spec"));
        UNSPECIFIED.clone()
    }

    /// The spec of exactly one version, whatever its build metadata.
    pub fn exactly(version: &Version) -> Self {
        if let Some(native) = version.native_text() {
            return Self::native(native, VersionSet::exactly(version), false);
        }
        Self::parse(&version.without_build().to_string())
            .expect("a version without build metadata is a spec, and shorter than the longest one")
    }

    /// The spec of the versions that are compatible with one under Semantic Versioning; only that version if they do not
    /// include it, as for some prereleases.
    ///
    /// ```
    /// use pkgres_manifest::{Spec, Version};
    ///
    /// assert_eq!(Spec::compatible_with(&Version::parse("1.2.3+build")?).written(), "^1.2.3");
    /// # Ok::<(), pkgres_manifest::VersionError>(())
    /// ```
    pub fn compatible_with(version: &Version) -> Self {
        if version.native_text().is_some() {
            return Self::exactly(version);
        }
        let version = version.without_build();
        let compatible = Self::parse(&format!("^{version}")).ok();
        let compatible = compatible.filter(|spec| spec.matches(&version));
        compatible.unwrap_or_else(|| Self::exactly(&version))
    }

    /// The spec of every version, prereleases of 0.0.0 included: `>=0.0.0-0`. The shorter `*` leaves these out.
    pub fn any() -> Self {
        static ANY: LazyLock<Spec> =
            LazyLock::new(|| Spec::parse(">=0.0.0-0").expect("a comparison is a spec"));
        ANY.clone()
    }

    /// The text as written, without surrounding white space; `0` if it was empty.
    pub fn written(&self) -> &str {
        &self.0.written
    }

    /// The spec in a message: as written, but `any version` for [`Spec::any`], which no one writes.
    ///
    /// ```
    /// use pkgres_manifest::Spec;
    ///
    /// assert_eq!(Spec::any().in_words(), "any version");
    /// assert_eq!(Spec::parse("^1.2")?.in_words(), "^1.2");
    /// # Ok::<(), pkgres_manifest::SpecError>(())
    /// ```
    pub fn in_words(&self) -> &str {
        if *self == Self::any() {
            "any version"
        } else {
            self.written()
        }
    }

    /// The versions that match.
    pub fn set(&self) -> &VersionSet {
        &self.0.set
    }

    /// Whether a version matches.
    pub fn matches(&self, version: &Version) -> bool {
        self.0.set.contains(version)
    }

    /// Whether a clause names a prerelease. If so, the default prerelease policy prefers the newest version,
    /// be it a prerelease or not.
    ///
    /// `>=0.0.0-0` names none: it excludes nothing, and so expresses no preference.
    pub fn names_prerelease(&self) -> bool {
        self.0.names_prerelease
    }

    /// What was probably meant by a spec that no version matches: a range from a prerelease on. `^1.0.0-rc.1` ends before
    /// 1.0.0, as in the reference implementation, so that nothing is left of it.
    ///
    /// ```
    /// use pkgres_manifest::Spec;
    ///
    /// let spec = Spec::parse("^1.0.0-rc.1").expect("it is a spec");
    /// assert!(spec.set().is_empty());
    /// assert_eq!(spec.probably_meant().as_deref(), Some(">=1.0.0-rc.1,<2.0.0"));
    /// ```
    pub fn probably_meant(&self) -> Option<String> {
        if !self.set().is_empty() || self.0.is_native {
            return None;
        }
        let written = self.0.written.trim();
        let (version, keeps_minor) = if let Some(rest) = written.strip_prefix("~=") {
            (rest, true)
        } else if let Some(rest) = written.strip_prefix('~') {
            (rest, true)
        } else {
            (written.strip_prefix('^')?, false)
        };
        let version = Version::parse(version.trim()).ok()?;
        let (major, minor, patch) = (version.major(), version.minor(), version.patch());
        let end = if keeps_minor || (major == 0 && minor > 0) {
            Version::new(major, minor.checked_add(1)?, 0)
        } else if major == 0 && written.starts_with('^') {
            Version::new(0, 0, patch.checked_add(1)?)
        } else {
            Version::new(major.checked_add(1)?, 0, 0)
        };
        let meant = format!(">={version},<{end}");
        let spec = Self::parse(&meant).ok()?;
        spec.matches(&version).then_some(meant)
    }

    /// Returns the one spelling that all specs with the same versions share. A [native](Self::native) spec is
    /// returned as written.
    pub fn normal_form(&self) -> String {
        if self.0.is_native {
            return self.0.written.clone();
        }
        normal_form::normal_form(&self.0.set)
    }
}

/// Writes the text as written.
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

/// A package that another one requires, and the spec of its versions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    /// The package.
    pub package: PackageName,
    /// Its versions.
    pub spec: Spec,
    /// The place of the requirement, if it was read from a manifest.
    pub location: Option<Location>,
}
