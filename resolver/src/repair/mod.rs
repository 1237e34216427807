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
//! The restrictions of a set are then [narrowed](nearest) again, so that as little as possible changes. The result is a
//! [`Repair`]. It is verified: its resolution was found with exactly these changes.
//!
//! # Idea
//!
//! Implicit hitting sets (Reiter 1987; Davies and Bacchus 2011). The reasons of a conflict are a *core*: a set that
//! repairs it must change at least one of them. The search tries the smallest sets that have a restriction of every
//! known core. A set that does not repair the conflict leads to another conflict, whose reasons are a further core. So
//! the search never tries a set that a known core rules out. It ends when every set of the smallest size was tried.
//!
//! A conflict at the end of a long chain of packages has every requirement of the chain among its reasons, although it
//! is in vain to relax most of them. So large cores are first made smaller: if the conflict is left with a part of the
//! core given up, that part does not count (delta debugging, Zeller and Hildebrandt 2002).
//!
//! # Cost
//!
//! Each trial solves the whole request, with its own step limit, and its reasons are not the smallest ones. All trials
//! together take at most the [steps of the request](crate::SolveOptions::max_steps). A quarter of the steps and of the
//! trials is reserved for narrowing; the last trial of the search may use some of it. [`MAX_TRIALS`] bounds their
//! number and [`MAX_CHANGES`] the size of sets. [`Repairs::is_complete`] is false if a limit was reached.

mod change;
mod cores;
mod nearest;
mod restriction;
mod trial;

pub use change::Change;
pub use change::{Cost, Repair};
pub use restriction::Restriction;
pub use trial::{Outcome, Trial};

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::{CLASS_PACKAGES, Ecosystem};

use crate::budget::StepCount;
use crate::explain::Conflict;
use crate::request::{Request, Root};
use crate::resolution::Resolution;
use cores::{Core, Cores, HittingSets, Numbers};
use trial::Relaxation;

/// The maximum number of trials.
const MAX_TRIALS: usize = 1_000;

/// A core with so many restrictions is not made smaller: each can be tried.
const FEW_RESTRICTIONS: usize = 16;

/// The maximum number of changes of a repair.
const MAX_CHANGES: usize = 5;

/// The cheapest repairs of a conflict.
#[derive(Debug, Clone)]
#[non_exhaustive]
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
#[non_exhaustive]
pub struct Blocked {
    /// The requirement.
    pub restriction: Restriction,
    /// The conflict that remains if it allows every version, in one sentence.
    pub by: String,
}

/// Finds every cheapest repair of a conflict, with at most five changes each, in at most 1,000 trials of at most
/// 200,000 steps. All trials together take at most [`max_steps`](crate::SolveOptions::max_steps). If a limit is
/// reached, [`Repairs::is_complete`] is false.
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
        steps: StepCount::default(),
        is_complete: true,
    };
    let core = Core::new(request, conflict, &BTreeSet::new());
    let first: BTreeSet<Restriction> = core.restrictions.clone();
    search.add(core, &BTreeSet::new())?;
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

/// The ecosystem of the roots.
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

struct RepairSearch<'request, S> {
    request: &'request Request,
    solve: S,
    cores: Cores,
    /// The sets that were tried with every requirement relaxed.
    tried: BTreeSet<Numbers>,
    trials: usize,
    /// The steps of all trials.
    steps: StepCount,
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
            let mut sets = HittingSets::new(size);
            loop {
                if sets.update(&self.cores, &may_change).is_none() {
                    self.is_complete = false;
                    break;
                }
                let Some(numbers) = sets.take_next() else {
                    break;
                };
                if self.tried.contains(&numbers) {
                    continue;
                }
                if self.has_searched_enough() {
                    self.is_complete = false;
                    return Ok(found);
                }
                let set = self.cores.of_numbers(&numbers);
                self.tried.insert(numbers);
                match self.try_without(&set)? {
                    Outcome::Solved(_) => found.push(set),
                    Outcome::Conflict(conflict) => {
                        self.add(Core::new(self.request, &conflict, &set), &set)?;
                    }
                    Outcome::Unknown => self.is_complete = false,
                }
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
            match self.try_without(&all)? {
                Outcome::Conflict(conflict) => {
                    self.add(Core::new(self.request, &conflict, &all), &all)?;
                }
                Outcome::Solved(_) | Outcome::Unknown => return Ok(true),
            }
        }
    }

    /// Adds a core of a conflict that is left although some restrictions are given up, or a smaller one.
    fn add(&mut self, core: Core, given_up: &BTreeSet<Restriction>) -> Result<(), E> {
        let mut core = core;
        let mut given_up = given_up.clone();
        let mut parts = 2;
        // If each of more parts is needed, so are more restrictions than a few.
        while core.restrictions.len() > FEW_RESTRICTIONS && parts <= FEW_RESTRICTIONS {
            let all: Vec<Restriction> = core.restrictions.iter().cloned().collect();
            let mut is_smaller = false;
            for part in all.chunks(all.len().div_ceil(parts)) {
                let part = part.iter().filter(|one| core.restrictions.contains(one));
                let mut without = given_up.clone();
                without.extend(part.cloned());
                if without.len() == given_up.len() || self.has_searched_enough() {
                    continue;
                }
                if let Outcome::Conflict(conflict) = self.try_without(&without)? {
                    let smaller = Core::new(self.request, &conflict, &without);
                    if smaller.restrictions.len() < core.restrictions.len() {
                        (core, given_up, is_smaller) = (smaller, without, true);
                    }
                }
            }
            if !is_smaller {
                parts *= 2;
            }
        }
        self.cores.add(core);
        Ok(())
    }

    /// Solves with some restrictions given up.
    fn try_without(&mut self, given_up: &BTreeSet<Restriction>) -> Result<Outcome, E> {
        let relaxed = given_up.iter().map(|one| (one.clone(), Relaxation::Wholly));
        self.try_with(&relaxed.collect())
    }

    /// Whether there are as many trials left, or steps, as it may take to narrow what was found.
    fn has_searched_enough(&self) -> bool {
        let max_steps = self.request.options.max_steps;
        self.trials >= MAX_TRIALS - MAX_TRIALS / 4 || self.steps.get() >= max_steps - max_steps / 4
    }

    /// Solves with some restrictions relaxed. The outcome is unknown if there were too many trials, or too many steps.
    fn try_with(&mut self, relaxed: &BTreeMap<Restriction, Relaxation>) -> Result<Outcome, E> {
        if self.trials == MAX_TRIALS || self.steps.get() >= self.request.options.max_steps {
            return Ok(Outcome::Unknown);
        }
        self.trials += 1;
        (self.solve)(&Trial::new(self.request, relaxed, self.steps.clone()))
    }

    /// The resolution with some restrictions relaxed, if there is one.
    fn resolution_with(
        &mut self,
        relaxed: &BTreeMap<Restriction, Relaxation>,
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
}
