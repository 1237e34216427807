//! Versions of packages: Semantic Versioning 2.0, with short forms.
//!
//! A missing component is zero, as in the reference implementation. Other texts that this one "coerces"
//! (`v1.2`, `1.2.3.4`) are errors here, which name the nearest version. Parsing and the order are those of the
//! `semver` crate; `read` and `write` add short ways for plain numbers.
//!
//! Other ecosystems write and order versions differently. Their [`Ecosystem`](crate::Ecosystem) maps them into the
//! order of Semantic Versioning, so that everything that compares versions works on one order: a *native* version is
//! its text, and the version that has its place in the order. `stored` has the text that keeps both.

mod read;
mod stored;
mod write;

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::diagnostic::Escaped;

/// The size of the longest text of a version in bytes.
const MAX_VERSION_BYTES: usize = 256;

/// A version of a package: [Semantic Versioning 2.0](https://semver.org), components up to `u64`.
///
/// Build metadata is kept for display and never matters otherwise: `1.0.0+a` equals `1.0.0+b`.
///
/// ```
/// use pkgres_manifest::Version;
///
/// let short = Version::parse("1.2")?;
/// assert_eq!(short.to_string(), "1.2.0");
/// assert_eq!(Version::parse("1.0.0+a")?, Version::parse("1.0.0+b")?);
/// assert!(Version::parse("1.0.0-rc.1")? < Version::parse("1.0.0")?);
/// # Ok::<(), pkgres_manifest::VersionError>(())
/// ```
#[derive(Clone)]
pub struct Version {
    order: semver::Version,
    /// The text of a version of another ecosystem.
    native: Option<Arc<str>>,
}

/// The error for a string that is not a version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[error("`{}` is not a version: {reason}", Escaped::shortened(.text))]
pub struct VersionError {
    /// The text as written.
    pub text: String,
    /// The reason why it is not one.
    pub reason: String,
    /// The version that was probably intended.
    pub nearest: Option<Version>,
}

impl VersionError {
    /// Returns the error for a string that is not a version of another ecosystem.
    pub fn new(text: &str, reason: String, nearest: Option<Version>) -> Self {
        Self {
            text: text.to_owned(),
            reason,
            nearest,
        }
    }
}

impl Version {
    /// The version of a package whose manifest names none.
    pub const ZERO: Self = Self::new(0, 0, 0);

    /// Returns a version without prerelease and build metadata.
    pub const fn new(major: u64, minor: u64, patch: u64) -> Self {
        Self::of(semver::Version::new(major, minor, patch))
    }

    const fn of(order: semver::Version) -> Self {
        Self {
            order,
            native: None,
        }
    }

    /// Returns a version of another ecosystem: it is shown as `text`, and compares and hashes as `order`.
    ///
    /// It counts as stable unless the prerelease identifiers of `order` begin with a letter: see `is_prerelease`.
    ///
    /// ```
    /// use pkgres_manifest::Version;
    ///
    /// let old = Version::native("1.04@2019-05-01", &Version::parse("0.20190501.0-1.4")?);
    /// let new = Version::native("1.04.1@2021-11-30", &Version::parse("0.20211130.0-1.4.1")?);
    /// assert!(old < new);
    /// assert_eq!(old.to_string(), "1.04@2019-05-01");
    /// # Ok::<(), pkgres_manifest::VersionError>(())
    /// ```
    #[must_use]
    pub fn native(text: &str, order: &Self) -> Self {
        Self {
            native: Some(Arc::from(text)),
            ..order.without_build().in_order()
        }
    }

    /// The text of a [native](Self::native) version.
    pub fn native_text(&self) -> Option<&str> {
        self.native.as_deref()
    }

    /// Whether this and another version name one release: they are equal, or they have the same text of another
    /// ecosystem, which need not say all that decides about the place in the order.
    ///
    /// ```
    /// use pkgres_manifest::Version;
    ///
    /// let typed = Version::native("1.04@2019-05-01", &Version::parse("0.20190501.0-1.4")?);
    /// let stated = Version::native("1.04@2019-05-01", &Version::parse("2.4.0-1.20190501")?);
    /// assert_ne!(typed, stated);
    /// assert!(typed.names_release(&stated));
    /// # Ok::<(), pkgres_manifest::VersionError>(())
    /// ```
    pub fn names_release(&self, other: &Self) -> bool {
        let has_same_text = || self.native.is_some() && self.native == other.native;
        self == other || has_same_text()
    }

    /// The version of Semantic Versioning that has this one's place in the order; itself, unless it is
    /// [native](Self::native).
    #[must_use]
    pub fn in_order(&self) -> Self {
        Self::of(self.order.clone())
    }

    /// Reads a version; one or two missing components are zero.
    ///
    /// The error for any other text that is not Semantic Versioning 2.0 has the nearest version, which is
    /// what the reference implementation makes of the text.
    pub fn parse(text: &str) -> Result<Self, VersionError> {
        read::read(text).map(Self::of)
    }

    /// The first component; of a native version, that of its place in the order.
    pub fn major(&self) -> u64 {
        self.order.major
    }

    /// The second component.
    pub fn minor(&self) -> u64 {
        self.order.minor
    }

    /// The third component.
    pub fn patch(&self) -> u64 {
        self.order.patch
    }

    /// Whether this is a prerelease such as `1.0.0-rc.1`. A native version is one if the prerelease identifiers of its
    /// place in the order begin with a letter, as in `2.17.0-rc1` for `2.17.0rc1`: ecosystems that use them for the order
    /// alone begin with a number.
    pub fn is_prerelease(&self) -> bool {
        let first = self.order.pre.as_str().bytes().next();
        first.is_some_and(|first| self.native.is_none() || first.is_ascii_alphabetic())
    }

    /// The prerelease identifiers, empty if there are none. A native version may have some for its place in the order
    /// although it is stable: see `is_prerelease`.
    pub fn prerelease(&self) -> &str {
        self.order.pre.as_str()
    }

    /// The build metadata, empty if there is none.
    pub fn build(&self) -> &str {
        self.order.build.as_str()
    }

    /// This version without its build metadata.
    #[must_use]
    pub fn without_build(&self) -> Self {
        let mut version = self.clone();
        version.order.build = semver::BuildMetadata::EMPTY;
        version
    }

    /// Appends the version to a string, for writers that spend most of their time on versions.
    pub(crate) fn push_to(&self, text: &mut String) {
        match &self.native {
            Some(native) => text.push_str(native),
            None => write::push(&self.order, text),
        }
    }

    pub(crate) fn with_prerelease(
        major: u64,
        minor: u64,
        patch: u64,
        prerelease: semver::Prerelease,
    ) -> Self {
        Self::of(semver::Version {
            pre: prerelease,
            ..semver::Version::new(major, minor, patch)
        })
    }

    /// The least version above this one, or `None` above the greatest.
    ///
    /// There is no version between `1.2.3` and `1.2.4-0`, nor between `1.0.0-rc` and `1.0.0-rc.0`. The order
    /// of versions has no gaps, so that a set of versions has one canonical form.
    pub(crate) fn successor(&self) -> Option<Self> {
        if !self.order.pre.is_empty() {
            let extended = format!("{}.0", self.order.pre.as_str());
            let prerelease = semver::Prerelease::new(&extended)
                .expect("an identifier `0` may follow any prerelease");
            return Some(Self::with_prerelease(
                self.order.major,
                self.order.minor,
                self.order.patch,
                prerelease,
            ));
        }
        Self::first_prerelease_from(
            self.order.major,
            self.order.minor,
            self.order.patch.checked_add(1),
        )
    }

    /// `X.Y.Z-0`, the least version of its triple, carrying overflow to the left.
    pub(crate) fn first_prerelease_from(
        major: u64,
        minor: u64,
        patch: Option<u64>,
    ) -> Option<Self> {
        let zero = semver::Prerelease::new("0").expect("`0` is a valid identifier");
        let (major, minor, patch) = match patch {
            Some(patch) => (major, minor, patch),
            None => match minor.checked_add(1) {
                Some(minor) => (major, minor, 0),
                None => (major.checked_add(1)?, 0, 0),
            },
        };
        Some(Self::with_prerelease(major, minor, patch, zero))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.native {
            Some(native) => formatter.pad(native),
            None => write::write(&self.order, formatter),
        }
    }
}

impl fmt::Debug for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Version {}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        self.order.cmp_precedence(&other.order)
    }
}

impl Hash for Version {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (
            self.order.major,
            self.order.minor,
            self.order.patch,
            &self.order.pre,
        )
            .hash(state);
    }
}

impl std::str::FromStr for Version {
    type Err = VersionError;

    fn from_str(text: &str) -> Result<Self, VersionError> {
        Self::parse(text)
    }
}

#[cfg(feature = "json")]
impl serde::Serialize for Version {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(feature = "json")]
impl<'de> serde::Deserialize<'de> for Version {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> Version {
        Version::parse(text).expect("a version")
    }

    #[test]
    fn short_versions_are_padded() {
        assert_eq!(version("1").to_string(), "1.0.0");
        assert_eq!(version("1.10").to_string(), "1.10.0");
        assert_eq!(version("1.2.3-a+b").to_string(), "1.2.3-a+b");
        assert_eq!(version("18446744073709551615.0.0").major(), u64::MAX);
    }

    #[test]
    fn the_order_has_no_gaps() {
        for (text, next) in [
            ("1.2.3", "1.2.4-0"),
            ("1.2.18446744073709551615", "1.3.0-0"),
            ("1.18446744073709551615.18446744073709551615", "2.0.0-0"),
            ("1.0.0-rc", "1.0.0-rc.0"),
        ] {
            assert_eq!(version(text).successor(), Some(version(next)), "{text}");
        }
        let greatest = Version::new(u64::MAX, u64::MAX, u64::MAX);
        assert_eq!(greatest.successor(), None);
    }
}
