//! The end of rule 5: no release can be exchanged for a better candidate with all others kept.
//!
//! A search in the order of decisions ends in such a selection by itself. One that had to follow
//! conflicts instead ends in any valid selection; here it is made locally best, one exchange after
//! the other. Each exchange makes the first decision that it changes better, so there is an end.

mod allowed;

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use crate::budget::{Budget, Interrupt};
use crate::contracts::violated_contracts;
use crate::hierarchy;
use crate::problem::Problem;
use crate::search::{Quality, SearchEngine, Solution, Verdict, search};
use crate::selection::Selection;
use crate::set::PositionSet;
use crate::universe::{ClassRequirements, PackageId, PackageRequirement, ReleaseId, Universe};
use allowed::AllowedByAll;

/// Searches for a valid selection and makes it locally best, unless the search has ended in the best
/// one. A search that is interrupted goes on from `paused`.
pub(crate) fn search_and_improve(
    paused: &mut Option<SearchEngine>,
    problem: &mut Problem<'_>,
    budget: &mut Budget,
) -> Result<Verdict, Interrupt> {
    if !budget.engine().is_resumable() {
        return budget.restartable(|budget| search_first(&mut None, problem, budget));
    }
    let verdict = search_first(paused, problem, budget)?;
    *paused = None;
    Ok(verdict)
}

fn search_first(
    paused: &mut Option<SearchEngine>,
    problem: &mut Problem<'_>,
    budget: &mut Budget,
) -> Result<Verdict, Interrupt> {
    let Solution { selection, quality } = match search(paused, problem, budget)? {
        Verdict::Solved(found) => found,
        Verdict::Impossible(proof) => return Ok(Verdict::Impossible(proof)),
    };
    // An exchange could lose what an update asked for of single requirements.
    if quality == Quality::Best || problem.goals().has_partial_goals() {
        return Ok(Verdict::Solved(selection));
    }
    let split = problem.split().clone();
    let wanted = problem.goals().wanted.iter().map(|goal| goal.package);
    let fixed: Vec<PackageId> = wanted.collect();
    // All exchanges are tried again.
    let improved = budget
        .restartable(|budget| improve(problem.universe, selection, &split, &fixed, budget))?;
    Ok(Verdict::Solved(improved))
}

/// Makes a valid selection locally best, where `split` packages may have several releases and
/// `fixed` ones stay as they are.
fn improve(
    universe: &mut Universe,
    selection: Selection,
    split: &BTreeSet<PackageId>,
    fixed: &[PackageId],
    budget: &mut Budget,
) -> Result<Selection, Interrupt> {
    let mut improvement = Improvement {
        allowed_by_all: AllowedByAll::by(universe, &selection, split),
        requirements: Vec::new(),
        classes: ClassRequirements::default(),
        any_names_prerelease: universe.any_names_prerelease(),
        universe,
        selection,
        split,
        fixed,
        budget,
    };
    while improvement.pass()? {}
    Ok(improvement.selection)
}

struct Improvement<'search> {
    universe: &'search mut Universe,
    selection: Selection,
    split: &'search BTreeSet<PackageId>,
    fixed: &'search [PackageId],
    budget: &'search mut Budget,
    allowed_by_all: AllowedByAll,
    requirements: Vec<PackageRequirement>,
    classes: ClassRequirements,
    /// Where none does, what names a prerelease need not be looked for.
    any_names_prerelease: bool,
}

/// What was decided up to a point of a walk through a selection.
struct Decided {
    /// By package, whether its release was; of packages that may have several releases, whether any was.
    packages: Vec<bool>,
    /// The packages of which a prerelease is named by a requirement of a decided release.
    prerelease_named: FxHashSet<PackageId>,
}

/// A decision to be taken differently.
#[derive(Clone, Copy)]
struct Exchange {
    owner: ReleaseId,
    edge: usize,
    /// The release that the requirement is bound to now.
    current: ReleaseId,
    better: ReleaseId,
}

impl Improvement<'_> {
    /// Goes through all decisions in their order; says whether any was improved.
    fn pass(&mut self) -> Result<bool, Interrupt> {
        let mut improved = false;
        let mut decided = Decided {
            packages: vec![false; self.universe.package_count()],
            prerelease_named: FxHashSet::default(),
        };
        for root in self.universe.roots().to_vec() {
            self.decide(&mut decided, root);
        }
        let mut at = 0;
        while let Some(owner) = self.selection.releases().get(at).copied() {
            for edge in 0..self.selection.bound_at(at).len() {
                while self.improve_decision(owner, at, edge, &decided)? {
                    improved = true;
                }
                let bound = self.selection.bound_at(at)[edge];
                self.decide(&mut decided, bound);
            }
            at += 1;
        }
        Ok(improved)
    }

    fn decide(&mut self, decided: &mut Decided, release: ReleaseId) {
        let package = release.package;
        let is_first = !std::mem::replace(&mut decided.packages[package.position()], true);
        if (is_first || self.split.contains(&package)) && self.any_names_prerelease {
            self.universe.requirements(release, &mut self.requirements);
            let named = self
                .requirements
                .iter()
                .filter(|requirement| requirement.names_prerelease);
            decided
                .prerelease_named
                .extend(named.map(|requirement| requirement.target));
        }
    }

    /// Binds a requirement to a better release, if that is valid.
    fn improve_decision(
        &mut self,
        owner: ReleaseId,
        at: usize,
        edge: usize,
        decided: &Decided,
    ) -> Result<bool, Interrupt> {
        let current = self.selection.bound_at(at)[edge];
        let package = current.package;
        let is_split = self.split.contains(&package);
        let is_fixed = self.universe.is_root(package) || self.fixed.contains(&package);
        if is_fixed || !is_split && decided.packages[package.position()] {
            return Ok(false);
        }
        let named = decided.prerelease_named.contains(&package);
        let mut among = if is_split {
            self.universe.requirements(owner, &mut self.requirements);
            PositionSet::of_words(self.universe.allowed_words(&self.requirements[edge]))
        } else {
            match self.allowed_by_all.of(self.universe, package) {
                Some(words) => PositionSet::of_words(words),
                None => return Ok(false),
            }
        };
        loop {
            let best = if is_split {
                (self.universe).best_binding(owner, edge, package, &among, named)
            } else {
                self.universe.best(package, &among, named)
            };
            let Some(index) = best.filter(|index| *index != current.index) else {
                return Ok(false);
            };
            self.budget.take()?;
            let better = ReleaseId { package, index };
            let exchange = Exchange {
                owner,
                edge,
                current,
                better,
            };
            if let Some(selection) = self.exchanged(exchange)? {
                self.allowed_by_all = AllowedByAll::by(self.universe, &selection, self.split);
                self.selection = selection;
                return Ok(true);
            }
            among = among.intersection(&PositionSet::single(index).complement());
        }
    }

    /// Whether the classes that a better release extends are found among what is there. Where
    /// several releases of a package may be, the check of the whole selection decides.
    fn finds_classes(&mut self, exchange: Exchange) -> bool {
        let better = exchange.better;
        if !self.split.is_empty() || self.universe.finds_classes(better, &self.requirements) {
            return true;
        }
        let mut classes = std::mem::take(&mut self.classes);
        self.universe
            .class_requirements(better, &self.requirements, &mut classes);
        let finds_all = !classes.has_cycle
            && classes.all.iter().all(|allowed_by_all| {
                self.requirements.iter().any(|requirement| {
                    let kept = self.selection.only(requirement.target);
                    let kept = kept.filter(|kept| kept.package != better.package);
                    let defining = self
                        .universe
                        .definers(requirement.target, allowed_by_all.class);
                    kept.is_some_and(|kept| defining.contains(kept.index))
                })
            });
        self.classes = classes;
        finds_all
    }

    /// The selection after an exchange, if it is valid.
    fn exchanged(&mut self, exchange: Exchange) -> Result<Option<Selection>, Interrupt> {
        let Exchange { better, .. } = exchange;
        self.universe.requirements(better, &mut self.requirements);
        let (selection, split) = (&self.selection, self.split);
        // Few exchanges fit; that one does not usually shows in what it requires itself.
        let fits = (self.requirements.iter().enumerate()).all(|required| {
            kept_release(self.universe, selection, split, exchange, better, required).is_some()
        });
        if !fits || !self.finds_classes(exchange) {
            return Ok(None);
        }
        let (universe, selection, split) = (&mut *self.universe, &self.selection, self.split);
        let requirements = &mut self.requirements;
        let roots = universe.roots().to_vec();
        let found = Selection::walk(&roots, |owner, bound| {
            let kept = selection.bound(owner);
            if !kept.is_empty() {
                let is_exchanged = |edge: usize, bound: &ReleaseId| {
                    let is_decision = owner == exchange.owner && edge == exchange.edge;
                    *bound == exchange.current && (is_decision || !split.contains(&bound.package))
                };
                let kept = kept.iter().enumerate();
                bound.extend(kept.map(|(edge, bound)| {
                    if is_exchanged(edge, bound) {
                        better
                    } else {
                        *bound
                    }
                }));
                return Some(());
            }
            universe.requirements(owner, requirements);
            for required in requirements.iter().enumerate() {
                let index = kept_release(universe, selection, split, exchange, owner, required)?;
                let package = required.1.target;
                bound.push(ReleaseId { package, index });
            }
            Some(())
        });
        let Some(found) = found else {
            return Ok(None);
        };
        // An exchange elsewhere can be the end of a package that nothing else requires.
        let mut before = self.selection.releases().iter();
        let is_kept = |release: &ReleaseId| {
            !self.fixed.contains(&release.package) || found.position(*release).is_some()
        };
        if !self.fixed.is_empty() && !before.all(is_kept) {
            return Ok(None);
        }
        // Where packages have one release each, all classes that are extended are found by now.
        let is_harmless = self.split.is_empty() && hierarchy::is_harmless(self.universe, &found);
        if !is_harmless && hierarchy::violation(self.universe, &found).is_some() {
            return Ok(None);
        }
        let violated = violated_contracts(self.universe, &found)?;
        Ok(violated.is_empty().then_some(found))
    }
}

/// What a requirement of a release that comes in is bound to among the releases that are there.
fn kept_release(
    universe: &Universe,
    selection: &Selection,
    split: &BTreeSet<PackageId>,
    exchange: Exchange,
    owner: ReleaseId,
    (edge, requirement): (usize, &PackageRequirement),
) -> Option<u32> {
    let package = requirement.target;
    if !requirement.is_known() {
        // What the search never came across is not among the releases that are there.
        return None;
    }
    if !split.contains(&package) {
        let there = if package == exchange.better.package {
            exchange.better.index
        } else {
            selection.only(package)?.index
        };
        return universe.allows(requirement, there).then_some(there);
    }
    let among: PositionSet = selection
        .releases()
        .iter()
        .filter(|release| release.package == package)
        .map(|release| release.index)
        .filter(|index| universe.allows(requirement, *index))
        .collect();
    universe.best_binding(owner, edge, package, &among, requirement.names_prerelease)
}
