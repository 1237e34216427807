//! Repairs: every cheapest set of changes that makes a conflict solvable.
//!
//! # Problem
//!
//! A conflict says which requirements contradict each other, but its readers want to know what to change. Often there
//! are several repairs, and a repair may need more than one change: a project may have two conflicts, or a package and
//! its plug-in may have to move together.
//!
//! # Definitions
//!
//! A [`Restriction`] is something that could be relaxed: a requirement of a root, all requirements on a package (by an
//! override), the requirement of another package (by a release that somebody would have to make), the cut-off date, the
//! prerelease policy, or that each package may have one release only. To *relax* a requirement means to allow every
//! version. A set of restrictions *repairs* the conflict if there is a resolution with all of them relaxed. The cost of
//! a set is the number of its restrictions, so the cheapest sets are those with the fewest. If each of these contains
//! something besides requirements of roots, the cheapest sets without anything else are found as well. An override is
//! left out if a requirement of a root on the same package can replace it.
//!
//! The relaxed requirements of roots are then narrowed again, one after the other in the order of restrictions, so that
//! each is widened as little as possible: to the nearest version above the allowed ones with which there is a
//! resolution; if there is none, to the nearest one below, and then to the newest one in between. Stable versions come
//! first; prereleases follow in the same order, unless they are allowed or the requirement names one. The changed
//! requirement allows the versions that are compatible with that version. A cut-off date moves by as few days as
//! possible. Other requirements have to allow the version that the solver chooses. If it is enough to remove an
//! existing override, that is the change. The result is a [`Repair`]. It is verified: its resolution was found with
//! exactly these changes.
//!
//! # Idea
//!
//! Implicit hitting sets (Reiter 1987; Davies and Bacchus 2011). The reasons of a conflict are a *core*: a set that
//! repairs it must change at least one of them. The search tries the smallest sets that have a restriction of every
//! known core. A set that does not repair the conflict leads to another conflict, whose reasons are a further core. So
//! the search never tries a set that a known core rules out. It ends when every set of the smallest size was tried.
//!
//! # Cost
//!
//! Each trial solves the whole request, with its own step limit. [`MAX_TRIALS`] bounds their number and [`MAX_CHANGES`]
//! the size of sets. [`Repairs::is_complete`] is false if a limit was reached.

mod change;
mod cores;
mod restriction;
mod trial;
mod widen;

pub use change::{Change, Cost, Repair};
pub use restriction::Restriction;
pub use trial::{Outcome, Trial};

use std::collections::{BTreeMap, BTreeSet};

use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};
use pkgres_manifest::{CLASS_PACKAGES, Ecosystem, PackageName, Spec, Version, VersionSet};

use crate::explain::Conflict;
use crate::request::{PrereleasePolicy, Request, Root};
use crate::resolution::Resolution;
use cores::{Cores, core_of};
use trial::Relaxed;
use widen::{Direction, outside_of};

/// The maximum number of trials.
const MAX_TRIALS: usize = 1_000;

/// The maximum number of changes of a repair.
const MAX_CHANGES: usize = 5;

/// The maximum number of days by which a cut-off date moves. A date that has to move further can be left out.
const MAX_DAYS: i64 = 1 << 15;

/// The cheapest repairs of a conflict.
#[derive(Debug, Clone)]
pub struct Repairs {
    /// The repairs: cheapest first, then by kind and name.
    pub found: Vec<Repair>,
    /// The requirements of roots that take part in the conflict, but cannot repair it if only they change.
    pub blocked: Vec<Blocked>,
    /// Whether these are all cheapest repairs. False if a limit was reached: there may be others then.
    pub is_complete: bool,
}

/// A requirement of a root that cannot repair a conflict alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocked {
    /// The requirement.
    pub restriction: Restriction,
    /// The conflict that remains if it allows every version, in one sentence.
    pub by: String,
}

/// Finds every cheapest repair of a conflict.
///
/// `request` is the request that ended in the conflict. If it has an [update](Request::update), each repair has a
/// resolution with its target: the target itself cannot be given up. `solve` runs the [resolver](Trial::resolver) of each
/// trial to its end.
///
/// # Errors
///
/// Errors of `solve`, which end the search.
pub fn find_repairs<E>(
    request: &Request,
    conflict: &Conflict,
    solve: impl FnMut(&Trial) -> Result<Outcome, E>,
) -> Result<Repairs, E> {
    let mut search = RepairSearch {
        request,
        solve,
        cores: Cores::default(),
        tried: BTreeSet::new(),
        trials: 0,
        is_complete: true,
    };
    let core = core_of(request, conflict, &BTreeSet::new());
    let first: BTreeSet<Restriction> = core.restrictions.clone();
    search.cores.add(core);
    let mut sets = search.cheapest_sets(|_| true)?;
    if !sets.iter().any(|set| set.iter().all(is_own)) {
        sets.extend(search.cheapest_sets(is_own)?);
    }
    let sets = without_needless_overrides(sets);
    let mut found = Vec::new();
    for set in &sets {
        found.extend(search.narrow(set)?);
    }
    found.sort_by_key(|repair: &Repair| {
        let changes: Vec<Restriction> = repair.changes.iter().map(Change::restriction).collect();
        (repair.cost(), changes)
    });
    let repairs_alone =
        |own: &Restriction| sets.iter().any(|set| set.len() == 1 && set.contains(own));
    let blocked = first
        .into_iter()
        .filter(|restriction| is_own(restriction) && !repairs_alone(restriction))
        .filter_map(|restriction| {
            let by = search.cores.without(&restriction)?.to_owned();
            Some(Blocked { restriction, by })
        });
    Ok(Repairs {
        blocked: blocked.collect(),
        found,
        is_complete: search.is_complete,
    })
}

/// The ecosystem of the roots. In others than that of class packages, each package has one release.
fn ecosystem_of(request: &Request) -> &'static dyn Ecosystem {
    let mut records = request.roots.iter().filter_map(Root::record);
    (records.next()).map_or(CLASS_PACKAGES, |record| record.ecosystem)
}

/// The sets without those that override all requirements on a package although it is enough to change that of a root.
fn without_needless_overrides(sets: Vec<BTreeSet<Restriction>>) -> Vec<BTreeSet<Restriction>> {
    let all: BTreeSet<BTreeSet<Restriction>> = sets.iter().cloned().collect();
    let is_needless = |set: &BTreeSet<Restriction>| {
        let own = all
            .iter()
            .flatten()
            .filter(|restriction| is_own(restriction));
        set.iter().any(|one| {
            let Restriction::Override { package } = one else {
                return false;
            };
            own.clone().any(|own| {
                let same = matches!(own, Restriction::Requirement { package: other, .. } if other == package);
                let mut instead = set.clone();
                instead.remove(one);
                instead.insert(own.clone());
                same && all.contains(&instead)
            })
        })
    };
    sets.into_iter().filter(|set| !is_needless(set)).collect()
}

/// Whether a restriction is a requirement of a root.
fn is_own(restriction: &Restriction) -> bool {
    matches!(restriction, Restriction::Requirement { .. })
}

/// A search for repairs in progress.
struct RepairSearch<'request, S> {
    request: &'request Request,
    solve: S,
    cores: Cores,
    /// The sets that were tried with every requirement relaxed.
    tried: BTreeSet<BTreeSet<Restriction>>,
    trials: usize,
    is_complete: bool,
}

impl<E, S: FnMut(&Trial) -> Result<Outcome, E>> RepairSearch<'_, S> {
    /// Every smallest set of the restrictions that may be given up which repairs the conflict.
    fn cheapest_sets(
        &mut self,
        may_change: impl Fn(&Restriction) -> bool,
    ) -> Result<Vec<BTreeSet<Restriction>>, E> {
        let mut found = Vec::new();
        if !self.can_repair(&may_change)? {
            return Ok(found);
        }
        for size in 1..=MAX_CHANGES {
            loop {
                let Some(sets) = self.cores.hitting_sets(size, &may_change) else {
                    self.is_complete = false;
                    break;
                };
                let Some(set) = sets.into_iter().find(|set| !self.tried.contains(set)) else {
                    break;
                };
                if self.trials == MAX_TRIALS {
                    self.is_complete = false;
                    return Ok(found);
                }
                let relaxed = set.iter().map(|one| (one.clone(), Relaxed::Wholly));
                match self.try_with(&relaxed.collect())? {
                    Outcome::Solved(_) => found.push(set.clone()),
                    Outcome::Conflict(conflict) => {
                        self.cores.add(core_of(self.request, &conflict, &set));
                    }
                    Outcome::Unknown => self.is_complete = false,
                }
                self.tried.insert(set);
            }
            if !found.is_empty() {
                return Ok(found);
            }
        }
        self.is_complete = false;
        Ok(found)
    }

    /// Whether the conflict is repaired if everything is given up that may be. This saves trying all small sets in vain.
    fn can_repair(&mut self, may_change: &impl Fn(&Restriction) -> bool) -> Result<bool, E> {
        loop {
            if self.cores.rule_out_all(may_change) {
                return Ok(false);
            }
            let all = self.cores.union(may_change);
            let relaxed = all.iter().map(|one| (one.clone(), Relaxed::Wholly));
            match self.try_with(&relaxed.collect())? {
                Outcome::Conflict(conflict) => {
                    self.cores.add(core_of(self.request, &conflict, &all));
                }
                Outcome::Solved(_) | Outcome::Unknown => return Ok(true),
            }
        }
    }

    /// Solves with some restrictions relaxed. The outcome is unknown if there were too many trials.
    fn try_with(&mut self, relaxed: &BTreeMap<Restriction, Relaxed>) -> Result<Outcome, E> {
        if self.trials == MAX_TRIALS {
            return Ok(Outcome::Unknown);
        }
        self.trials += 1;
        (self.solve)(&Trial::new(self.request, relaxed))
    }

    /// The resolution with some restrictions relaxed, if there is one.
    fn resolution_with(
        &mut self,
        relaxed: &BTreeMap<Restriction, Relaxed>,
    ) -> Result<Option<Box<Resolution>>, E> {
        Ok(match self.try_with(relaxed)? {
            Outcome::Solved(resolution) => Some(resolution),
            Outcome::Conflict(_) => None,
            Outcome::Unknown => {
                self.is_complete = false;
                None
            }
        })
    }

    /// The spec of what is compatible with a version, in the language of the roots.
    fn compatible_with(&self, version: &Version) -> Spec {
        ecosystem_of(self.request).compatible_with(version)
    }

    /// The repair that relaxes the restrictions of a set as little as possible.
    fn narrow(&mut self, set: &BTreeSet<Restriction>) -> Result<Option<Repair>, E> {
        let relaxed = set.iter().map(|one| (one.clone(), Relaxed::Wholly));
        let mut relaxed: BTreeMap<Restriction, Relaxed> = relaxed.collect();
        let mut versions: BTreeMap<Restriction, Version> = BTreeMap::new();
        for restriction in set {
            let narrowed = match restriction {
                Restriction::Requirement { .. } => {
                    let nearest = self.nearest(restriction, &relaxed)?;
                    nearest.map(|version| (self.compatible_with(&version), version))
                }
                Restriction::Override { package } if self.is_removable(package, &relaxed)? => {
                    relaxed.insert(restriction.clone(), Relaxed::Removed);
                    continue;
                }
                Restriction::Override { .. } | Restriction::Release { .. } => {
                    self.chosen(restriction, &relaxed)?
                }
                Restriction::CutOff => {
                    if let Some(until) = self.earliest_cut_off(&relaxed)? {
                        relaxed.insert(Restriction::CutOff, Relaxed::Until(until));
                    }
                    continue;
                }
                Restriction::Prereleases | Restriction::SingleVersion => continue,
            };
            let Some((spec, version)) = narrowed else {
                return Ok(None);
            };
            relaxed.insert(restriction.clone(), Relaxed::To(spec));
            versions.insert(restriction.clone(), version);
        }
        let Some(resolution) = self.resolution_with(&relaxed)? else {
            return Ok(None);
        };
        let changes = relaxed.into_iter().map(|(restriction, relaxed)| {
            let version = versions.remove(&restriction);
            Change::new(self.request, restriction, &relaxed, version, &resolution)
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
        relaxed: &BTreeMap<Restriction, Relaxed>,
    ) -> Result<bool, E> {
        if !self.request.overrides.contains_key(package) {
            return Ok(false);
        }
        let mut relaxed = relaxed.clone();
        let restriction = Restriction::Override {
            package: package.clone(),
        };
        relaxed.insert(restriction, Relaxed::Removed);
        Ok(self.resolution_with(&relaxed)?.is_some())
    }

    /// The version nearest to those that a requirement of a root allows with which there is a resolution. With most
    /// prerelease policies, a stable one is nearer than a prerelease.
    fn nearest(
        &mut self,
        restriction: &Restriction,
        relaxed: &BTreeMap<Restriction, Relaxed>,
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
        relaxed: &BTreeMap<Restriction, Relaxed>,
        counts: impl Fn(&Version) -> bool,
    ) -> Result<Option<Version>, E> {
        let mut relaxed = relaxed.clone();
        for direction in [Direction::Above, Direction::Below, Direction::Between] {
            let mut nearest = None;
            let mut window = outside_of(current.set(), direction);
            while !window.is_empty() {
                let within = Relaxed::Within(window.clone(), direction.preference());
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
        relaxed: &BTreeMap<Restriction, Relaxed>,
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
            relaxed.insert(Restriction::CutOff, Relaxed::Until(until));
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
        relaxed: &BTreeMap<Restriction, Relaxed>,
    ) -> Result<Option<(Spec, Version)>, E> {
        let Some(resolution) = self.resolution_with(relaxed)? else {
            return Ok(None);
        };
        let mut relaxed = relaxed.clone();
        let chosen = restriction.bound_versions(&resolution);
        for version in chosen.iter().rev() {
            let spec = self.compatible_with(version);
            relaxed.insert(restriction.clone(), Relaxed::To(spec.clone()));
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
