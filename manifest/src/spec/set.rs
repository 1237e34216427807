//! Sets of versions as intervals over their total order.

use std::fmt;

use crate::version::Version;

/// The versions from `from` on, up to but without `until`; without an end if `until` is `None`.
///
/// One kind of bound is enough: above every version there is a next one, so "up to and with
/// 1.2.3" is "below 1.2.4-0".
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Interval {
    /// The least version.
    pub from: Version,
    /// The least version above, if there is one.
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
/// Two sets are equal exactly if they hold the same versions.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct VersionSet {
    intervals: Vec<Interval>,
}

impl VersionSet {
    /// Every version, the prereleases of 0.0.0 included.
    pub fn all() -> Self {
        Self {
            intervals: vec![Interval {
                from: least(),
                until: None,
            }],
        }
    }

    /// One version.
    pub fn exactly(version: &Version) -> Self {
        let from = version.without_build();
        let until = from.successor();
        Self::between(from, until)
    }

    /// The versions from `from` on, below `until`.
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

    /// Whether no version is in the set.
    pub fn is_empty(&self) -> bool {
        self.intervals.is_empty()
    }

    /// The intervals, ascending.
    pub fn intervals(&self) -> &[Interval] {
        &self.intervals
    }

    /// Whether a version is in the set.
    pub fn contains(&self, version: &Version) -> bool {
        self.intervals
            .iter()
            .any(|interval| interval.contains(version))
    }

    /// The versions that are in both sets.
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

    /// The versions that are not in the set.
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

/// Where the versions of the next major version begin, prereleases included.
pub(super) fn next_major(major: u64) -> Option<Version> {
    Version::first_prerelease_from(major.checked_add(1)?, 0, Some(0))
}

/// Where the versions of the next minor version begin, prereleases included.
pub(super) fn next_minor(major: u64, minor: u64) -> Option<Version> {
    match minor.checked_add(1) {
        Some(minor) => Version::first_prerelease_from(major, minor, Some(0)),
        None => next_major(major),
    }
}

/// The least version there is.
fn least() -> Version {
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

/// Whether this is `X.Y.Z-0`, where the versions of a triple begin.
fn begins_triple(version: &Version) -> bool {
    version.prerelease() == "0"
}

/// The normal form: the shortest list of clauses that the grammar of specs has for the set.
impl fmt::Display for VersionSet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Some(first), Some(last)) = (self.intervals.first(), self.intervals.last()) else {
            return formatter.pad("<0.0.0-0");
        };
        if self.intervals.len() == 1 && first.from.successor() == first.until {
            return formatter.pad(&first.from.to_string());
        }
        let mut clauses = Vec::new();
        if let Some(exclusive) = exclusive_lower_bound(&first.from) {
            clauses.push(format!(">{exclusive}"));
        } else if first.from != least() || *self == Self::all() {
            clauses.push(format!(">={}", first.from));
        }
        if let Some(until) = &last.until {
            clauses.push(if begins_triple(until) {
                format!("<{}.{}.{}", until.major(), until.minor(), until.patch())
            } else {
                format!("<{until}")
            });
        }
        for pair in self.intervals.windows(2) {
            let hole = pair[0]
                .until
                .clone()
                .expect("only the last interval has no end");
            write_hole(&mut clauses, hole, &pair[1].from);
        }
        formatter.pad(&clauses.join(","))
    }
}

/// `1.2.3` for `1.2.4-0`, which is where the versions above 1.2.3 begin.
fn exclusive_lower_bound(from: &Version) -> Option<Version> {
    (begins_triple(from) && from.patch() > 0)
        .then(|| Version::new(from.major(), from.minor(), from.patch() - 1))
}

/// Writes a gap between two intervals as `!=` clauses, the widest first.
fn write_hole(clauses: &mut Vec<String>, mut from: Version, until: &Version) {
    while from < *until {
        let (major, minor, patch) = (from.major(), from.minor(), from.patch());
        let mut forms = Vec::with_capacity(3);
        if begins_triple(&from) {
            if minor == 0 && patch == 0 {
                forms.push((format!("!={major}"), next_major(major)));
            }
            if patch == 0 {
                forms.push((format!("!={major}.{minor}"), next_minor(major, minor)));
            }
            forms.push((
                format!("!={major}.{minor}.{patch}"),
                Version::new(major, minor, patch).successor(),
            ));
        }
        let widest = forms.into_iter().find_map(|(clause, next)| {
            next.filter(|next| next <= until).map(|next| (clause, next))
        });
        let (clause, next) = widest.unwrap_or_else(|| {
            let next = from.successor().expect("`until` is above");
            (format!("!={from}"), next)
        });
        clauses.push(clause);
        from = next;
    }
}
