//! Versions of packages: Semantic Versioning 2.0, with short forms.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use crate::diagnostic::Escaped;

/// The longest text of a version in bytes.
pub const MAX_VERSION_BYTES: usize = 256;

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
pub struct Version(semver::Version);

/// A text that is not a version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a version: {reason}", Escaped::shortened(.text))]
pub struct VersionError {
    /// The text as written.
    pub text: String,
    /// What is wrong with it.
    pub reason: String,
    /// The version that was probably meant.
    pub nearest: Option<Version>,
}

impl Version {
    /// The version of a package whose manifest names none.
    pub const ZERO: Self = Self::new(0, 0, 0);

    /// A version without prerelease and build metadata.
    pub const fn new(major: u64, minor: u64, patch: u64) -> Self {
        Self(semver::Version::new(major, minor, patch))
    }

    /// Reads a version; one or two missing components are zero.
    ///
    /// Fails with the nearest valid version as a hint, found the way the reference implementation
    /// coerces texts, on everything else that is not Semantic Versioning 2.0.
    pub fn parse(text: &str) -> Result<Self, VersionError> {
        let problem = |reason: String| VersionError {
            text: text.to_owned(),
            reason,
            nearest: nearest_version(text),
        };
        if let Some([major, minor, patch]) = three_numbers(text) {
            return Ok(Self::new(major, minor, patch));
        }
        if text.is_empty() {
            return Err(problem("it is empty".to_owned()));
        }
        if text.len() > MAX_VERSION_BYTES {
            return Err(VersionError {
                text: text.to_owned(),
                reason: format!(
                    "a version has at most {MAX_VERSION_BYTES} bytes, this one has {}",
                    text.len()
                ),
                nearest: None,
            });
        }
        match semver::Version::parse(text) {
            Ok(version) => Ok(Self(version)),
            Err(error) => match pad(text) {
                Some(padded) => semver::Version::parse(&padded)
                    .map(Self)
                    .map_err(|error| problem(error.to_string())),
                None => Err(problem(error.to_string())),
            },
        }
    }

    /// The first component.
    pub fn major(&self) -> u64 {
        self.0.major
    }

    /// The second component.
    pub fn minor(&self) -> u64 {
        self.0.minor
    }

    /// The third component.
    pub fn patch(&self) -> u64 {
        self.0.patch
    }

    /// Whether this is a prerelease such as `1.0.0-rc.1`.
    pub fn is_prerelease(&self) -> bool {
        !self.0.pre.is_empty()
    }

    /// The prerelease identifiers, empty for a stable version.
    pub fn prerelease(&self) -> &str {
        self.0.pre.as_str()
    }

    /// The build metadata, empty if there is none.
    pub fn build(&self) -> &str {
        self.0.build.as_str()
    }

    /// This version without its build metadata.
    #[must_use]
    pub fn without_build(&self) -> Self {
        let mut version = self.0.clone();
        version.build = semver::BuildMetadata::EMPTY;
        Self(version)
    }

    pub(crate) fn with_prerelease(
        major: u64,
        minor: u64,
        patch: u64,
        prerelease: semver::Prerelease,
    ) -> Self {
        Self(semver::Version {
            pre: prerelease,
            ..semver::Version::new(major, minor, patch)
        })
    }

    /// The least version above this one, or `None` above the greatest.
    ///
    /// There is nothing between `1.2.3` and `1.2.4-0`, nor between `1.0.0-rc` and `1.0.0-rc.0`:
    /// the order of versions has no gaps, so a set of versions has one canonical form.
    pub(crate) fn successor(&self) -> Option<Self> {
        if self.is_prerelease() {
            let extended = format!("{}.0", self.0.pre.as_str());
            let prerelease = semver::Prerelease::new(&extended)
                .expect("an identifier `0` may follow any prerelease");
            return Some(Self::with_prerelease(
                self.0.major,
                self.0.minor,
                self.0.patch,
                prerelease,
            ));
        }
        Self::first_prerelease_from(self.0.major, self.0.minor, self.0.patch.checked_add(1))
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
        let is_padded = formatter.width().is_some() || formatter.precision().is_some();
        if is_padded || !self.0.pre.is_empty() || !self.0.build.is_empty() {
            return self.0.fmt(formatter);
        }
        // Lockfiles and indexes consist of these.
        let mut text = [0; THREE_NUMBERS_BYTES];
        let mut end = text.len();
        for number in [self.0.patch, self.0.minor, self.0.major] {
            if end < text.len() {
                end -= 1;
                text[end] = b'.';
            }
            end = write_before(&mut text, end, number);
        }
        formatter.write_str(std::str::from_utf8(&text[end..]).expect("digits and points"))
    }
}

/// The most that three numbers of 64 bits take, with two points between them.
const THREE_NUMBERS_BYTES: usize = 3 * 20 + 2;

/// Writes the digits of a number so that they end before `end`; says where they begin.
fn write_before(text: &mut [u8], mut end: usize, mut number: u64) -> usize {
    loop {
        end -= 1;
        text[end] = b'0' + u8::try_from(number % 10).expect("a digit");
        number /= 10;
        if number == 0 {
            return end;
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
        self.0.cmp_precedence(&other.0)
    }
}

impl Hash for Version {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.0.major, self.0.minor, self.0.patch, &self.0.pre).hash(state);
    }
}

impl std::str::FromStr for Version {
    type Err = VersionError;

    fn from_str(text: &str) -> Result<Self, VersionError> {
        Self::parse(text)
    }
}

impl serde::Serialize for Version {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Version {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

/// `1` and `1.2` with zeros appended; nothing for any other text.
fn pad(text: &str) -> Option<String> {
    let mut parts = 0;
    for part in text.split('.') {
        parts += 1;
        if part.is_empty() || !part.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
    }
    match parts {
        1 => Some(format!("{text}.0.0")),
        2 => Some(format!("{text}.0")),
        _ => None,
    }
}

/// The components of a version that has nothing else and no component that is too long for a quick
/// look: most versions.
fn three_numbers(text: &str) -> Option<[u64; 3]> {
    /// Fewer than it takes to exceed 64 bits.
    const DIGITS: usize = 18;
    let mut rest = text.as_bytes();
    let mut numbers = [0; 3];
    for (position, number) in numbers.iter_mut().enumerate() {
        if position > 0 {
            rest = rest.strip_prefix(b".")?;
        }
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (written, after) = rest.split_at(digits);
        let has_leading_zero = digits > 1 && written[0] == b'0';
        if digits == 0 || digits > DIGITS || has_leading_zero {
            return None;
        }
        for digit in written {
            *number = *number * 10 + u64::from(digit - b'0');
        }
        rest = after;
    }
    rest.is_empty().then_some(numbers)
}

/// What the reference implementation makes of a text (`Version.coerce` of `semantic_version`),
/// after a leading `v` is dropped; used only to suggest a correction.
fn nearest_version(text: &str) -> Option<Version> {
    let text = text.trim();
    let text = text.strip_prefix(['v', 'V']).unwrap_or(text);
    if text.len() > MAX_VERSION_BYTES {
        return None;
    }
    let mut components = Vec::new();
    let mut rest = text;
    while components.len() < 3 {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 {
            break;
        }
        components.push(rest[..digits].parse::<u64>().ok()?);
        rest = &rest[digits..];
        let next_is_number = rest
            .strip_prefix('.')
            .is_some_and(|after| after.starts_with(|next: char| next.is_ascii_digit()));
        if components.len() < 3 && next_is_number {
            rest = &rest[1..];
        } else {
            break;
        }
    }
    if components.is_empty() {
        return None;
    }
    components.resize(3, 0);
    let rest: String = rest
        .chars()
        .map(|character| {
            if character.is_ascii_alphanumeric() || matches!(character, '+' | '.' | '-') {
                character
            } else {
                '-'
            }
        })
        .collect();
    let suffix = match rest.chars().next() {
        None => String::new(),
        Some('+' | '-') => rest,
        Some('.') => format!("+{}", &rest[1..]),
        Some(_) => format!("-{rest}"),
    };
    let candidate = format!(
        "{}.{}.{}{suffix}",
        components[0], components[1], components[2]
    );
    semver::Version::parse(&candidate).ok().map(Version)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> Version {
        Version::parse(text).expect("a version")
    }

    /// What is written at a glance is written as by the crate that knows all of the format.
    #[test]
    fn versions_are_written_alike() {
        for text in [
            "0.0.0",
            "1.20.300",
            "10.0.9",
            "18446744073709551615.18446744073709551615.18446744073709551615",
            "1.2.3-a.1",
            "1.2.3+b",
            "1.2.3-a+b",
        ] {
            let expected = semver::Version::parse(text).expect("a version");
            let version = version(text);
            assert_eq!(version.to_string(), text);
            assert_eq!(format!("{version:>70}|"), format!("{expected:>70}|"));
            assert_eq!(format!("{version:*<7}|"), format!("{expected:*<7}|"));
        }
    }

    /// What is read at a glance is read as by the crate that knows all of the format.
    #[test]
    fn three_numbers_are_read_alike() {
        let parts = [
            "0",
            "7",
            "10",
            "00",
            "07",
            "",
            "123456789012345678",
            "1234567890123456789",
            "18446744073709551615",
            "18446744073709551616",
            "x",
            "1-a",
            "1+b",
            " 1",
            "-1",
        ];
        for one in parts {
            for two in parts {
                for three in parts {
                    let text = format!("{one}.{two}.{three}");
                    let Some([major, minor, patch]) = three_numbers(&text) else {
                        continue;
                    };
                    let expected = semver::Version::parse(&text).expect("a version");
                    assert_eq!(semver::Version::new(major, minor, patch), expected);
                }
                assert_eq!(three_numbers(&format!("{one}.{two}")), None);
            }
        }
        assert_eq!(three_numbers("1.2.3.4"), None);
        assert_eq!(
            three_numbers("0.10.123456789012345678"),
            Some([0, 10, 123_456_789_012_345_678])
        );
    }

    #[test]
    fn short_versions_are_padded() {
        assert_eq!(version("1").to_string(), "1.0.0");
        assert_eq!(version("1.10").to_string(), "1.10.0");
        assert_eq!(version("1.2.3-a+b").to_string(), "1.2.3-a+b");
        assert_eq!(version("18446744073709551615.0.0").major(), u64::MAX);
    }

    #[test]
    fn everything_else_is_refused_with_the_nearest_form() {
        for (text, nearest) in [
            ("", None),
            ("latest", None),
            ("v1.2.3", Some("1.2.3")),
            ("01.2.3", Some("1.2.3")),
            ("1.2.3.4", Some("1.2.3+4")),
            ("1.2rc1", Some("1.2.0-rc1")),
            ("1.2.*", Some("1.2.0+-")),
            (" 1.2.3", Some("1.2.3")),
            ("1.2.3 ", Some("1.2.3")),
            ("1e3", Some("1.0.0-e3")),
            ("18446744073709551616.0.0", None),
        ] {
            let error = Version::parse(text).expect_err(text);
            assert_eq!(
                error.nearest.map(|nearest| nearest.to_string()).as_deref(),
                nearest,
                "{text:?}"
            );
        }
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
