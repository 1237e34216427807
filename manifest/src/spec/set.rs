//! Sets of versions as intervals over their total order.

use crate::version::Version;

/// The versions from `from` on that are less than `until`, or all of them if `until` is `None`.
///
/// Half-open intervals are enough, because every version has a successor: "up to and including 1.2.3" is
/// "less than 1.2.4-0".
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Interval {
    /// The least version of the interval.
    pub from: Version,
    /// The least version above the interval, if there is one.
    pub until: Option<Version>,
}

impl Interval {
    fn contains(&self, version: &Version) -> bool {
        self.from <= *version && self.until.as_ref().is_none_or(|until| version < until)
    }

    fn is_empty(&self) -> bool {
        self.until.as_ref().is_some_and(|until| *until <= self.from)
    }
}

/// A set of versions: ascending intervals that neither overlap nor touch.
///
/// Two sets are equal if and only if they contain the same versions.
///
/// A set cannot be written, a [`Spec`](super::Spec) can: most sets with gaps, such as the
/// [complement](Self::complement) of `1`, would need one clause for each excluded version.
///
/// ```compile_fail
/// println!("{}", pkgres_manifest::VersionSet::all());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct VersionSet {
    intervals: Vec<Interval>,
}

impl VersionSet {
    /// Returns the set of every version, prereleases of 0.0.0 included.
    pub fn all() -> Self {
        Self {
            intervals: vec![Interval {
                from: least(),
                until: None,
            }],
        }
    }

    /// Returns the set of one version.
    pub fn exactly(version: &Version) -> Self {
        let from = version.without_build().in_order();
        let until = from.successor();
        Self::between(from, until)
    }

    /// Returns the set of the versions from `from` on that are less than `until`.
    pub fn between(from: Version, until: Option<Version>) -> Self {
        let interval = Interval { from, until };
        Self {
            intervals: if interval.is_empty() {
                Vec::new()
            } else {
                vec![interval]
            },
        }
    }

    /// Whether the set contains no version.
    pub fn is_empty(&self) -> bool {
        self.intervals.is_empty()
    }

    /// The intervals, ascending.
    pub fn intervals(&self) -> &[Interval] {
        &self.intervals
    }

    /// Whether the set contains a version.
    pub fn contains(&self, version: &Version) -> bool {
        self.intervals
            .iter()
            .any(|interval| interval.contains(version))
    }

    /// Returns the versions that are in both sets.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        let mut intervals = Vec::new();
        let (mut left, mut right) = (self.intervals.iter(), other.intervals.iter());
        let (mut one, mut two) = (left.next(), right.next());
        while let (Some(a), Some(b)) = (one, two) {
            let candidate = Interval {
                from: a.from.clone().max(b.from.clone()),
                until: lower_end(a.until.as_ref(), b.until.as_ref()).cloned(),
            };
            if !candidate.is_empty() {
                intervals.push(candidate);
            }
            if ends_first(a.until.as_ref(), b.until.as_ref()) {
                one = left.next();
            } else {
                two = right.next();
            }
        }
        Self { intervals }
    }

    /// Returns the versions that are in at least one of both sets.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        self.complement()
            .intersection(&other.complement())
            .complement()
    }

    /// Returns the versions that are not in the set.
    #[must_use]
    pub fn complement(&self) -> Self {
        let mut intervals = Vec::new();
        let mut from = Some(least());
        for interval in &self.intervals {
            let gap = Interval {
                from: from.take().expect("only the last interval has no end"),
                until: Some(interval.from.clone()),
            };
            if !gap.is_empty() {
                intervals.push(gap);
            }
            from.clone_from(&interval.until);
        }
        if let Some(from) = from {
            intervals.push(Interval { from, until: None });
        }
        Self { intervals }
    }

    /// Whether every version of this set is in `other`.
    pub fn is_subset_of(&self, other: &Self) -> bool {
        self.intersection(other) == *self
    }
}

/// The least version of the next major version, which is a prerelease.
pub(super) fn next_major(major: u64) -> Option<Version> {
    Version::first_prerelease_from(major.checked_add(1)?, 0, Some(0))
}

/// The least version of the next minor version, which is a prerelease.
pub(super) fn next_minor(major: u64, minor: u64) -> Option<Version> {
    match minor.checked_add(1) {
        Some(minor) => Version::first_prerelease_from(major, minor, Some(0)),
        None => next_major(major),
    }
}

/// The least version of all.
pub(super) fn least() -> Version {
    Version::first_prerelease_from(0, 0, Some(0)).expect("0.0.0-0 is a version")
}

fn ends_first(one: Option<&Version>, two: Option<&Version>) -> bool {
    match (one, two) {
        (Some(one), Some(two)) => one <= two,
        (one, _) => one.is_some(),
    }
}

fn lower_end<'version>(
    one: Option<&'version Version>,
    two: Option<&'version Version>,
) -> Option<&'version Version> {
    if ends_first(one, two) { one } else { two }
}
