//! Versions of models, their order, and requirements on them.
//!
//! A model has a `Version`, a text for people; a `PublicationDate`; and since 2022 often a `ModelVersion`, which is
//! semantic. A release is written `VERSION@DATE`: `1.05.03@2023-12-15`, `1.00.02@2024-02-02T12:00:00Z` if the time is
//! not midnight, and `@2017-07-14` or `1.00@` where one of them is absent.
//!
//! Releases are ordered by (has a `ModelVersion`, `ModelVersion`, date, numbers of `Version`). A requirement is a
//! minimum release, and compares all of these except the last. [`ModelRelease::place`] maps this order to the order of
//! Semantic Versioning, and loses only the text of `Version`:
//!
//! | release | place |
//! |---|---|
//! | no `ModelVersion` | `0.DATE.0-0.NUMBERS` |
//! | `ModelVersion` 1.5.3 | `2.5.3-1.DATE.NUMBERS` |
//! | `ModelVersion` 1.5.3-rc.1 | `2.5.3-0.1.rc.1.1.0.DATE.NUMBERS` |
//!
//! DATE counts the 100 nanoseconds since the year 1, plus one; 0 is no date. Each identifier of a prerelease follows a
//! `1`, and the `0` after the last sorts a prerelease before its continuations.

use std::cmp::Ordering;
use std::fmt::{self, Write as _};

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};
use pkgres_manifest::diagnostic::Escaped;
use pkgres_manifest::{Spec, SpecError, Version, VersionError, VersionSet};

/// The most bytes of a `Version`, so that its numbers fit in a place.
const MAX_VERSION_BYTES: usize = 100;
/// The most bytes of a `ModelVersion`, whose prerelease can be twice as long in a place.
const MAX_MODEL_VERSION_BYTES: usize = 60;
/// The beginning of the first year, from which times are counted.
const FIRST_TIME: DateTime = DateTime::constant(1, 1, 1, 0, 0, 0, 0);
/// The nanoseconds of a tick, the unit of times in OPC UA.
const TICK_NANOSECONDS: i32 = 100;

/// The data of a `Model` or `RequiredModel` about a release.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ModelRelease {
    version: Option<String>,
    /// In UTC. The last time of OPC UA, 9999-12-31T23:59:59Z, is later than any [`Timestamp`].
    published: Option<DateTime>,
    model_version: Option<Version>,
}

/// The error for attributes that are no release.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReleaseError {
    /// The `Version` has characters that cannot be part of a line of output, or is too long.
    #[error("the `Version` `{}` is not up to {MAX_VERSION_BYTES} printable ASCII characters without quotes, commas, backslashes, braces, `@`, `|`, `^`, `<` and `>`", Escaped::shortened(.0))]
    Version(String),
    /// The `PublicationDate` is not a time.
    #[error("the `PublicationDate` `{}` is not a time such as `2023-12-15T00:00:00Z`", Escaped::shortened(.0))]
    Date(String),
    /// The `ModelVersion` is not a semantic version.
    #[error("the `ModelVersion` `{}` is not a semantic version such as `1.5.3`", Escaped::shortened(.0))]
    ModelVersion(String),
}

impl ModelRelease {
    /// Reads the attributes of a `Model` or `RequiredModel`. Empty texts count as absent.
    pub fn new(
        version: Option<&str>,
        published: Option<&str>,
        model_version: Option<&str>,
    ) -> Result<Self, ReleaseError> {
        let stated = |text: Option<&'_ str>| {
            text.map(str::trim)
                .filter(|text| !text.is_empty())
                .map(str::to_owned)
        };
        let version = stated(version);
        if let Some(text) = &version
            && !is_version_text(text)
        {
            return Err(ReleaseError::Version(text.clone()));
        }
        let published = match stated(published) {
            Some(text) => Some(read_time(&text).ok_or(ReleaseError::Date(text))?),
            None => None,
        };
        let model_version = match stated(model_version) {
            Some(text) => Some(read_model_version(&text).ok_or(ReleaseError::ModelVersion(text))?),
            None => None,
        };
        Ok(Self {
            version,
            published,
            model_version,
        })
    }

    /// The release of a version from [`to_version`](Self::to_version).
    pub fn of(version: &Version) -> Option<Self> {
        let mut release = Self::read(version.native_text()?)?;
        release.model_version = model_version_of(version);
        Some(release)
    }

    /// The `Version`, a text for people.
    pub fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }

    /// The `PublicationDate`, in UTC.
    pub fn published(&self) -> Option<DateTime> {
        self.published
    }

    /// The text of the `PublicationDate`, with its time.
    pub fn published_text(&self) -> Option<String> {
        self.published.map(|time| format!("{time}Z"))
    }

    /// The `ModelVersion`.
    pub fn model_version(&self) -> Option<&Version> {
        self.model_version.as_ref()
    }

    /// The release as a version, which is shown as `VERSION@DATE`.
    pub fn to_version(&self) -> Version {
        Version::native(&self.to_string(), &self.place(true))
    }

    /// Whether every release satisfies the requirement of this one: a `Version` alone is not compared.
    pub fn is_any(&self) -> bool {
        self.published.is_none() && self.model_version.is_none()
    }

    /// The requirement of this release or one that is not older.
    pub fn to_spec(&self) -> Spec {
        if self.is_any() {
            return Spec::native(ANY, VersionSet::all(), false);
        }
        let set = VersionSet::between(self.place(false), None);
        let written = format!("{AT_LEAST}{}", self.full_text());
        Spec::native(&written, set, false)
    }

    /// The requirement of this release and no other.
    pub fn to_exact_spec(&self) -> Spec {
        let set = VersionSet::exactly(&self.to_version());
        Spec::native(&format!("{EXACTLY}{}", self.full_text()), set, false)
    }

    /// The text from which [`read`](Self::read) reads an equal release: `VERSION@DATE`, and the `ModelVersion` in
    /// parentheses if there is one.
    pub fn full_text(&self) -> String {
        match &self.model_version {
            Some(model_version) => format!("{self} ({model_version})"),
            None => self.to_string(),
        }
    }

    /// Reads `VERSION@DATE`, with or without a `ModelVersion` in parentheses after it.
    pub fn read(text: &str) -> Option<Self> {
        let (version, rest) = text.rsplit_once('@')?;
        let (date, model_version) = match rest.split_once(" (") {
            Some((date, model_version)) => (date, Some(model_version.strip_suffix(')')?)),
            None => (rest, None),
        };
        Self::new(Some(version), Some(date), model_version).ok()
    }

    /// Whether the release has all that another one states.
    pub fn has_all_of(&self, stated: &Self) -> bool {
        fn has<T: PartialEq>(value: Option<&T>, stated: Option<&T>) -> bool {
            stated.is_none() || value == stated
        }
        has(self.version.as_ref(), stated.version.as_ref())
            && has(self.published.as_ref(), stated.published.as_ref())
            && has(self.model_version.as_ref(), stated.model_version.as_ref())
    }

    /// Compares two releases by the rules of the order, without places.
    pub fn cmp_by_rules(&self, other: &Self) -> Ordering {
        self.model_version
            .cmp(&other.model_version)
            .then(self.published.cmp(&other.published))
            .then_with(|| self.numbers().cmp(other.numbers()))
    }

    /// The place in the order, with the numbers of `Version` or without, which is less than with any.
    fn place(&self, with_numbers: bool) -> Version {
        let ticks = self.published.map_or(0, ticks);
        let (triple, mut prerelease) = match &self.model_version {
            None => (format!("0.{ticks}.0"), "0".to_owned()),
            Some(model) => {
                let triple = format!("{}.{}.{}", model.major() + 1, model.minor(), model.patch());
                let mut prerelease = if model.is_prerelease() {
                    let identifiers = model.prerelease().split('.');
                    let escaped: String = identifiers.map(|next| format!(".1.{next}")).collect();
                    format!("0{escaped}.0")
                } else {
                    "1".to_owned()
                };
                write!(prerelease, ".{ticks}").expect("a string can be written to");
                (triple, prerelease)
            }
        };
        if with_numbers {
            for number in self.numbers() {
                write!(prerelease, ".{}", number.digits).expect("a string can be written to");
            }
        }
        Version::parse(&format!("{triple}-{prerelease}"))
            .expect("the parts are valid and their length is limited")
    }

    /// The numbers in `Version`.
    fn numbers(&self) -> impl Iterator<Item = Number<'_>> {
        let version = self.version.as_deref().unwrap_or_default();
        let parts = version.split(|next: char| !next.is_ascii_digit());
        parts
            .filter(|digits| !digits.is_empty())
            .map(|digits| Number {
                digits: match digits.trim_start_matches('0') {
                    "" => "0",
                    digits => digits,
                },
            })
    }
}

/// A number of any length, without leading zeros.
#[derive(PartialEq, Eq)]
struct Number<'text> {
    digits: &'text str,
}

impl Ord for Number<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_length = self.digits.len().cmp(&other.digits.len());
        by_length.then_with(|| self.digits.cmp(other.digits))
    }
}

impl PartialOrd for Number<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Writes `VERSION@DATE`.
impl fmt::Display for ModelRelease {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let version = self.version.as_deref().unwrap_or_default();
        write!(formatter, "{version}@")?;
        let Some(published) = self.published else {
            return Ok(());
        };
        if published.time() == Time::midnight() {
            write!(formatter, "{}", published.date())
        } else {
            write!(formatter, "{published}Z")
        }
    }
}

/// The spec of any release.
const ANY: &str = "*";
/// What a spec of a least release begins with.
const AT_LEAST: &str = ">=";
/// What a spec of a single release begins with, if it is written in full.
const EXACTLY: &str = "=";

/// Reads a version as the ecosystem writes it.
pub(super) fn read_version(text: &str) -> Result<Version, VersionError> {
    ModelRelease::read(text)
        .map(|release| release.to_version())
        .ok_or_else(|| {
            let reason =
                "a release of a model is written `VERSION@DATE`, as in `1.05.03@2023-12-15`";
            VersionError::new(text, reason.to_owned(), None)
        })
}

/// Reads a spec: `*`, `>=VERSION@DATE`, or a single release with or without `=`.
pub(super) fn read_spec(text: &str) -> Result<Spec, SpecError> {
    let text = text.trim();
    if text == ANY {
        return Ok(ModelRelease::default().to_spec());
    }
    let (release, is_least) = match text.strip_prefix(AT_LEAST) {
        Some(release) => (release, true),
        None => (text.trim_start_matches('='), false),
    };
    let Some(release) = ModelRelease::read(release.trim()) else {
        let reason = "a requirement of a model is written `>=VERSION@DATE` or `=VERSION@DATE`, as in `>=1.05.03@2023-12-15`";
        return Err(SpecError::new(text, reason.to_owned(), None));
    };
    if is_least {
        return Ok(release.to_spec());
    }
    if text.starts_with(EXACTLY) {
        return Ok(release.to_exact_spec());
    }
    // Written anew, as blanks around the parts of a release could be line breaks.
    let set = VersionSet::exactly(&release.to_version());
    Ok(Spec::native(&release.full_text(), set, false))
}

/// Whether a text can be the `Version` of a release.
fn is_version_text(text: &str) -> bool {
    let is_allowed =
        |next: char| next == ' ' || next.is_ascii_graphic() && !r#"@"'`\<>{}|^,"#.contains(next);
    text.len() <= MAX_VERSION_BYTES && text.chars().all(is_allowed)
}

/// Reads a `ModelVersion`; build metadata does not matter.
fn read_model_version(text: &str) -> Option<Version> {
    let version = Version::parse(text).ok()?.without_build();
    let is_short = text.len() <= MAX_MODEL_VERSION_BYTES;
    (is_short && version.major() < u64::MAX).then_some(version)
}

/// Reads an `xs:dateTime` or a date. A time without an offset is in UTC. 24:00 is the end of a day.
fn read_time(text: &str) -> Option<DateTime> {
    if let Some((date, rest)) = text.split_once("T24:00:00") {
        // Only zeros can follow.
        let (zeros, offset) = rest.split_at(rest.find(['Z', '+', '-']).unwrap_or(rest.len()));
        let is_end = zeros.is_empty() || zeros.starts_with('.') && zeros.len() > 1;
        if !is_end || zeros.contains(|next| !matches!(next, '.' | '0')) {
            return None;
        }
        let midnight = read_time(&format!("{date}T00:00:00{zeros}{offset}"))?;
        return midnight.checked_add(1.day()).ok();
    }
    let has_offset = |time: &str| time.contains(['+', '-']);
    let time = match text.parse::<Timestamp>() {
        Ok(time) => TimeZone::UTC.to_datetime(time),
        Err(_)
            if text
                .split_once('T')
                .is_some_and(|(_, time)| has_offset(time)) =>
        {
            return None;
        }
        // Also the last day of all, which no `Timestamp` reaches.
        Err(_) => {
            let in_utc = text.strip_suffix('Z').unwrap_or(text);
            let day = || Some(in_utc.parse::<Date>().ok()?.into());
            in_utc.parse::<DateTime>().ok().or_else(day)?
        }
    };
    // In whole ticks, so that equal places are equal texts.
    let rest = time.subsec_nanosecond() % TICK_NANOSECONDS;
    let time = time
        .with()
        .subsec_nanosecond(time.subsec_nanosecond() - rest)
        .build()
        .ok()?;
    (1..=9999).contains(&time.year()).then_some(time)
}

/// The ticks from the beginning of the year 1 to a time, plus one.
fn ticks(time: DateTime) -> i128 {
    time.duration_since(FIRST_TIME).as_nanos() / i128::from(TICK_NANOSECONDS) + 1
}

/// The `ModelVersion` in the place of a version.
fn model_version_of(version: &Version) -> Option<Version> {
    let major = version.major().checked_sub(1)?;
    let mut rest = version.prerelease().split('.');
    let mut prerelease = Vec::new();
    if rest.next() == Some("0") {
        while rest.next() == Some("1") {
            prerelease.push(rest.next()?);
        }
    }
    let mut text = format!("{major}.{}.{}", version.minor(), version.patch());
    if !prerelease.is_empty() {
        write!(text, "-{}", prerelease.join(".")).expect("a string can be written to");
    }
    Version::parse(&text).ok()
}
