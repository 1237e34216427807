//! Narrows a set of relaxed restrictions, so that as little as possible changes: to the nearest version, the earliest
//! cut-off date, or the version that the solver chooses.
//!
//! The relaxed requirements of roots are narrowed again, one after the other in the order of restrictions, so that each
//! is widened as little as possible: to the nearest version above the allowed ones with which there is a
//! resolution; if there is none, to the nearest one below, and then to the newest one in between. Stable versions come
//! first; prereleases follow in the same order, unless they are allowed or the requirement names one. The changed
//! requirement allows the versions that are compatible with that version. A cut-off date moves by as few days as
//! possible. Other requirements have to allow the version that the solver chooses. If it is enough to remove an
//! existing override, that is the change.

use std::collections::{BTreeMap, BTreeSet};

use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};
use pkgres_manifest::{PackageName, Spec, Version, VersionSet};

use super::change::Change;
use super::change::Repair;
use super::restriction::Restriction;
use super::trial::{Outcome, Relaxation, Trial};
use super::{RepairSearch, ecosystem_of};
use crate::request::{Preference, PrereleasePolicy};

/// The maximum number of days by which a cut-off date moves. A date that has to move further can be left out.
const MAX_DAYS: i64 = 1 << 15;

impl<E, S: FnMut(&Trial) -> Result<Outcome, E>> RepairSearch<'_, S> {
    /// The spec of what is compatible with a version, in the language of the roots.
    fn compatible_with(&self, version: &Version) -> Spec {
        ecosystem_of(self.request).compatible_with(version)
    }

    /// The repair that relaxes the restrictions of a set as little as possible.
    pub(super) fn narrow(&mut self, set: &BTreeSet<Restriction>) -> Result<Option<Repair>, E> {
        let relaxed = set.iter().map(|one| (one.clone(), Relaxation::Wholly));
        let mut relaxed: BTreeMap<Restriction, Relaxation> = relaxed.collect();
        for restriction in set {
            let narrowed = match restriction {
                Restriction::Requirement { .. } => {
                    let nearest = self.nearest(restriction, &relaxed)?;
                    nearest.map(|version| (self.compatible_with(&version), version))
                }
                Restriction::Override { package } if self.is_removable(package, &relaxed)? => {
                    relaxed.insert(restriction.clone(), Relaxation::Removed);
                    continue;
                }
                Restriction::Override { .. } | Restriction::Release { .. } => {
                    self.chosen(restriction, &relaxed)?
                }
                Restriction::CutOff => {
                    if let Some(until) = self.earliest_cut_off(&relaxed)? {
                        relaxed.insert(Restriction::CutOff, Relaxation::Until(until));
                    }
                    continue;
                }
                Restriction::Prereleases | Restriction::SingleVersion => continue,
            };
            let Some((spec, version)) = narrowed else {
                return Ok(None);
            };
            relaxed.insert(restriction.clone(), Relaxation::To(spec, version));
        }
        let Some(resolution) = self.resolution_with(&relaxed)? else {
            return Ok(None);
        };
        let changes = relaxed.into_iter().flat_map(|(restriction, relaxed)| {
            Change::all(self.request, restriction, relaxed, &resolution)
        });
        Ok(Some(Repair {
            changes: changes.collect(),
            resolution,
        }))
    }

    /// Whether there is a resolution without an override that exists, with some restrictions relaxed.
    fn is_removable(
        &mut self,
        package: &PackageName,
        relaxed: &BTreeMap<Restriction, Relaxation>,
    ) -> Result<bool, E> {
        if !self.request.overrides.contains_key(package) {
            return Ok(false);
        }
        let mut relaxed = relaxed.clone();
        let restriction = Restriction::Override {
            package: package.clone(),
        };
        relaxed.insert(restriction, Relaxation::Removed);
        Ok(self.resolution_with(&relaxed)?.is_some())
    }

    /// The version nearest to those that a requirement of a root allows with which there is a resolution. With most
    /// prerelease policies, a stable one is nearer than a prerelease.
    fn nearest(
        &mut self,
        restriction: &Restriction,
        relaxed: &BTreeMap<Restriction, Relaxation>,
    ) -> Result<Option<Version>, E> {
        let current = restriction.spec(self.request);
        let current = current.unwrap_or_else(Spec::unspecified);
        let policy = self.request.options.prerelease;
        if policy != PrereleasePolicy::Allow && !current.names_prerelease() {
            let stable = self.nearest_of(restriction, &current, relaxed, |version| {
                !version.is_prerelease()
            })?;
            if stable.is_some() {
                return Ok(stable);
            }
        }
        self.nearest_of(restriction, &current, relaxed, |_| true)
    }

    /// The nearest of certain versions outside of the current spec of a requirement with which there is a resolution.
    fn nearest_of(
        &mut self,
        restriction: &Restriction,
        current: &Spec,
        relaxed: &BTreeMap<Restriction, Relaxation>,
        counts: impl Fn(&Version) -> bool,
    ) -> Result<Option<Version>, E> {
        let mut relaxed = relaxed.clone();
        for direction in [Direction::Above, Direction::Below, Direction::Between] {
            let mut nearest = None;
            let mut window = outside_of(current.set(), direction);
            while !window.is_empty() {
                let within = Relaxation::Within(window.clone(), direction.preference());
                relaxed.insert(restriction.clone(), within);
                let resolution = self.resolution_with(&relaxed)?;
                let found = resolution.and_then(|found| restriction.bound_version(&found));
                let Some(version) = found else {
                    break;
                };
                if counts(&version) {
                    window = direction.nearer_than(&window, &version);
                    nearest = Some(version);
                } else {
                    let others = VersionSet::exactly(&version).complement();
                    window = window.intersection(&others);
                }
            }
            if nearest.is_some() {
                return Ok(nearest);
            }
        }
        Ok(None)
    }

    /// The earliest midnight until which releases have to be published for a resolution. With a later date there are more
    /// releases, so the days after the current date are searched by halves.
    fn earliest_cut_off(
        &mut self,
        relaxed: &BTreeMap<Restriction, Relaxation>,
    ) -> Result<Option<Timestamp>, E> {
        let Some(current) = self.request.options.exclude_newer else {
            return Ok(None);
        };
        let midnight = |days: i64| {
            let start = current.to_zoned(TimeZone::UTC).start_of_day().ok()?;
            Some(start.checked_add(days.days()).ok()?.timestamp())
        };
        let mut relaxed = relaxed.clone();
        let mut is_enough = |search: &mut Self, until: Timestamp| {
            relaxed.insert(Restriction::CutOff, Relaxation::Until(until));
            Ok(search.resolution_with(&relaxed)?.is_some())
        };
        // The last day that is known to be too early, and the first that may be late enough.
        let (mut early, mut late) = (0, 1);
        loop {
            let Some(until) = midnight(late).filter(|_| late <= MAX_DAYS) else {
                return Ok(None);
            };
            if is_enough(self, until)? {
                break;
            }
            (early, late) = (late, 2 * late);
        }
        while late - early > 1 {
            let middle = early.midpoint(late);
            let Some(until) = midnight(middle) else {
                return Ok(None);
            };
            if is_enough(self, until)? {
                late = middle;
            } else {
                early = middle;
            }
        }
        Ok(midnight(late))
    }

    /// The newest version that the solver chooses for a package if a restriction is given up, with a spec for it.
    fn chosen(
        &mut self,
        restriction: &Restriction,
        relaxed: &BTreeMap<Restriction, Relaxation>,
    ) -> Result<Option<(Spec, Version)>, E> {
        let Some(resolution) = self.resolution_with(relaxed)? else {
            return Ok(None);
        };
        let mut relaxed = relaxed.clone();
        let chosen = restriction.bound_versions(&resolution);
        for version in chosen.iter().rev() {
            let spec = self.compatible_with(version);
            relaxed.insert(
                restriction.clone(),
                Relaxation::To(spec.clone(), version.clone()),
            );
            if self.resolution_with(&relaxed)?.is_some() {
                return Ok(Some((spec, version.clone())));
            }
        }
        // Several releases are needed side by side.
        let (oldest, newest) = (chosen.first(), chosen.last());
        Ok(oldest.zip(newest).map(|(oldest, newest)| {
            let from_oldest = Spec::parse(&format!(">={}", oldest.without_build()));
            let is_native = oldest.native_text().is_some();
            let spec = from_oldest.ok().filter(|_| !is_native);
            (spec.unwrap_or_else(Spec::any), newest.clone())
        }))
    }
}

/// Where versions are that a requirement does not allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    /// Above all that it allows.
    Above,
    /// Below all that it allows.
    Below,
    /// In between.
    Between,
}

/// The versions outside of a set, in one direction. Where nothing is allowed, all versions are in between, so that the
/// newest one is the nearest.
fn outside_of(set: &VersionSet, direction: Direction) -> VersionSet {
    let outside = set.complement();
    let intervals = set.intervals();
    let nothing = || VersionSet::all().complement();
    let above = match intervals.last() {
        Some(last) => last
            .until
            .clone()
            .map_or_else(nothing, |until| VersionSet::between(until, None)),
        None => nothing(),
    };
    let from_first = intervals.first().map_or_else(VersionSet::all, |first| {
        VersionSet::between(first.from.clone(), None)
    });
    let chosen = match direction {
        Direction::Above => above,
        Direction::Below => from_first.complement(),
        Direction::Between => from_first.intersection(&above.complement()),
    };
    outside.intersection(&chosen)
}

impl Direction {
    /// The preference with which the solver finds near versions first.
    pub(super) fn preference(self) -> Preference {
        match self {
            Self::Above => Preference::Oldest,
            Self::Below | Self::Between => Preference::Newest,
        }
    }

    /// The versions of a window that are nearer than one of them.
    fn nearer_than(self, window: &VersionSet, version: &Version) -> VersionSet {
        let this = VersionSet::exactly(version);
        let first = this.intervals().first();
        let from = first.map_or_else(|| version.clone(), |first| first.from.clone());
        let from_here = VersionSet::between(from, None);
        let nearer = match self {
            Self::Above => from_here.complement(),
            Self::Below | Self::Between => from_here.intersection(&this.complement()),
        };
        window.intersection(&nearer)
    }
}

#[cfg(test)]
mod tests {
    use pkgres_manifest::Spec;

    use super::*;

    fn set(text: &str) -> VersionSet {
        Spec::parse(text).expect("a spec").set().clone()
    }

    #[test]
    fn every_version_is_inside_or_in_one_direction() {
        for text in [
            "1",
            "^1.2",
            "<2",
            ">=1",
            "!=1.5",
            ">=1,!=1.5.0,<2",
            "*",
            "1.2.3",
            ">2,<1",
        ] {
            let set = set(text);
            let parts = [Direction::Above, Direction::Below, Direction::Between]
                .map(|direction| outside_of(&set, direction));
            let mut all = set.clone();
            for part in &parts {
                assert!(all.intersection(part).is_empty(), "{text}");
                all = all.union(part);
            }
            assert_eq!(all, VersionSet::all(), "{text}");
        }
    }

    #[test]
    fn the_newest_version_is_the_nearest_where_nothing_is_allowed() {
        let nothing = set(">2,<1");
        assert!(outside_of(&nothing, Direction::Above).is_empty());
        assert_eq!(outside_of(&nothing, Direction::Between), VersionSet::all());
        assert_eq!(Direction::Between.preference(), Preference::Newest);
    }

    #[test]
    fn nearer_versions_are_between_a_version_and_the_requirement() {
        let version = |text| Version::parse(text).expect("a version");
        let above = outside_of(&set("1"), Direction::Above);
        let nearer = Direction::Above.nearer_than(&above, &version("3.0.0"));
        assert!(nearer.contains(&version("2.9.0")));
        assert!(!nearer.contains(&version("3.0.0")));
        assert!(!nearer.contains(&version("1.9.0")));
        let below = outside_of(&set("3"), Direction::Below);
        let nearer = Direction::Below.nearer_than(&below, &version("1.0.0"));
        assert!(nearer.contains(&version("1.0.1")));
        assert!(!nearer.contains(&version("1.0.0")));
        assert!(!nearer.contains(&version("3.0.0")));
    }
}
