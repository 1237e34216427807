//! The way to the answer when nothing conflicts: decide each package once, never look back.
//!
//! Packages are decided in the order of decisions, each at the best release that the requirements
//! met so far leave. If no later requirement and no class rule speaks against any of it, the
//! result is the best resolution there is, because nothing better could have been decided
//! anywhere. Otherwise the walk only finds out which packages the search will probably need.

use crate::engine::{Budget, Exhausted};
use crate::hierarchy;
use crate::index::{NONE, to_u32};
use crate::room::Room as _;
use crate::selection::Selection;
use crate::universe::{ClassDemands, Demand, PackageId, ReleaseId, Universe};
use crate::word_set::WordSet;

/// A walk that can be interrupted while releases are fetched.
#[derive(Debug, Default)]
pub(crate) struct Greedy {
    order: Vec<ReleaseId>,
    /// How many releases of `order` have had their requirements taken in.
    taken_in: usize,
    /// The packages that the releases require, and where those of each release end.
    targets: Vec<PackageId>,
    ends: Vec<u32>,
    /// The requirement that comes next.
    next: usize,
    /// By package.
    constraints: Vec<Constraint>,
    words: Vec<u64>,
    demands: Vec<Demand>,
    classes: ClassDemands,
    /// Whether several packages can define a class that is extended.
    may_lack_classes: bool,
    failed: bool,
}

#[derive(Debug, Clone, Copy)]
struct Constraint {
    /// Where the set of releases stands that are left; [`NONE`] if the package is not required.
    words: u32,
    chosen: u32,
    prerelease_named: bool,
}

impl Constraint {
    const NONE: Self = Self {
        words: NONE,
        chosen: NONE,
        prerelease_named: false,
    };
}

pub(crate) enum Progress {
    Missing(Vec<PackageId>),
    /// The answer, unless a class rule or a requirement spoke against it.
    Done(Option<Selection>),
    GaveUp,
}

impl Greedy {
    pub(crate) fn advance(&mut self, universe: &mut Universe, budget: &mut Budget) -> Progress {
        if self.order.is_empty() {
            for root in universe.roots().to_vec() {
                let constraint = self.constraint(universe, root.package);
                constraint.chosen = root.index;
                self.order.push(root);
            }
        }
        loop {
            while let Some(release) = self.order.get(self.taken_in).copied() {
                let missing = self.take_in(universe, release);
                if !missing.is_empty() {
                    return Progress::Missing(missing);
                }
                self.taken_in += 1;
            }
            if self.failed && universe.has_attached() {
                // Nothing has to be fetched that would be worth to be known about early.
                return Progress::Done(None);
            }
            match self.decide_next(universe, budget) {
                Ok(true) => {}
                Ok(false) => return Progress::Done(self.result(universe)),
                Err(Exhausted) => return Progress::GaveUp,
            }
        }
    }

    /// Takes in what a decided release requires, or says what has to be delivered first.
    fn take_in(&mut self, universe: &mut Universe, release: ReleaseId) -> Vec<PackageId> {
        let mut demands = std::mem::take(&mut self.demands);
        universe.demands(release, &mut demands);
        let mut missing = Vec::new();
        for demand in &demands {
            if !universe.is_delivered(demand.target) {
                missing.push(demand.target);
            }
        }
        if missing.is_empty() {
            for demand in &demands {
                self.targets.make_room(1);
                self.targets.push(demand.target);
                let width = universe.width(demand.target);
                let allowed = universe.set(demand.allowed, width);
                self.restrict(universe, demand.target, allowed);
                if demand.names_prerelease {
                    self.constraint(universe, demand.target).prerelease_named = true;
                }
            }
            self.ends.make_room(1);
            self.ends.push(to_u32(self.targets.len()));
            if !self.failed && !universe.extends_nothing(release) {
                self.take_in_classes(universe, release, &demands);
            }
        }
        self.demands = demands;
        missing
    }

    fn take_in_classes(&mut self, universe: &mut Universe, release: ReleaseId, demands: &[Demand]) {
        let mut classes = std::mem::take(&mut self.classes);
        universe.class_demands(release, demands, &mut classes);
        self.failed |= classes.has_circle;
        for demanded in &classes.all {
            if let Some(found) = demanded.found {
                let target = demands[found.demand].target;
                let allowed = universe.set(found.allowed, universe.width(target));
                self.restrict(universe, target, allowed);
                continue;
            }
            let mut defining: Option<(PackageId, WordSet)> = None;
            let mut several = false;
            for demand in demands {
                let by_target = universe.definers(demand.target, demanded.class);
                if !by_target.is_empty() {
                    several |= defining.is_some();
                    defining = Some((demand.target, by_target));
                }
            }
            match defining {
                None => self.failed = true,
                // The check at the end decides.
                Some(_) if several => self.may_lack_classes = true,
                Some((package, defining)) => {
                    let mut allowed = vec![0; universe.width(package)];
                    defining.copy_to(&mut allowed);
                    self.restrict(universe, package, &allowed);
                }
            }
        }
        self.classes = classes;
    }

    fn constraint(&mut self, universe: &Universe, package: PackageId) -> &mut Constraint {
        let at = package.position();
        if self.constraints.len() <= at {
            let met = universe.package_count().max(at + 1);
            self.constraints.make_room(met - self.constraints.len());
            self.constraints.resize(met, Constraint::NONE);
        }
        let constraint = &mut self.constraints[at];
        if constraint.words == NONE {
            constraint.words = to_u32(self.words.len());
            let width = universe.width(package);
            self.words.make_room(width);
            self.words.resize(self.words.len() + width, u64::MAX);
        }
        constraint
    }

    fn restrict(&mut self, universe: &Universe, package: PackageId, to: &[u64]) {
        let constraint = *self.constraint(universe, package);
        let from = constraint.words as usize;
        let words = &mut self.words[from..from + to.len()];
        let mut rest = 0;
        for (word, to) in words.iter_mut().zip(to) {
            *word &= to;
            rest |= *word;
        }
        let chosen = constraint.chosen;
        let fits = if chosen == NONE {
            rest != 0
        } else {
            words[(chosen / 64) as usize] >> (chosen % 64) & 1 == 1
        };
        self.failed |= !fits;
    }

    /// Decides the next package; says whether there was one.
    fn decide_next(
        &mut self,
        universe: &mut Universe,
        budget: &mut Budget,
    ) -> Result<bool, Exhausted> {
        while let Some(package) = self.targets.get(self.next).copied() {
            self.next += 1;
            let constraint = self.constraints[package.position()];
            if constraint.chosen != NONE {
                continue;
            }
            let from = constraint.words as usize;
            let words = &self.words[from..from + universe.width(package)];
            let best = universe.best_of_words(package, words, constraint.prerelease_named);
            let Some(index) = best else {
                continue;
            };
            if !self.failed {
                // What comes after is looked at only if something has to be fetched.
                budget.take()?;
            }
            self.constraints[package.position()].chosen = index;
            self.order.make_room(1);
            self.order.push(ReleaseId { package, index });
            return Ok(true);
        }
        Ok(false)
    }

    fn result(&self, universe: &mut Universe) -> Option<Selection> {
        if self.failed {
            return None;
        }
        let bound = self.targets.iter().map(|package| ReleaseId {
            package: *package,
            index: self.constraints[package.position()].chosen,
        });
        let selection = Selection::new(&self.order, bound.collect(), &self.ends);
        let is_sound = !self.may_lack_classes && hierarchy::is_tame(universe, &selection)
            || hierarchy::violation(universe, &selection).is_none();
        is_sound.then_some(selection)
    }
}
