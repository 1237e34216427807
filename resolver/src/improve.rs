//! Locally best selections: no release can be exchanged for a better candidate while all others stay.
//!
//! # Problem
//!
//! A search that makes decisions in order finds the best selection. After
//! [`conflict_limit`](crate::SolveOptions::conflict_limit) conflicts, a search is guided by the
//! conflicts instead of the order, and finds just some valid selection. Users would see old
//! versions for no reason.
//!
//! # Idea
//!
//! Hill climbing: go through the decisions in order, and exchange each release for a better one if
//! the selection stays valid. Each exchange improves the first decision that it changes, so the
//! process terminates. [`AllowedByAll`] holds what the other requirements on a package allow, which
//! excludes most candidates without building a selection.
//!
//! # Cost
//!
//! Each pass is linear in the selection, plus one check of the class rules and contracts for each
//! exchange that the requirements allow. Each attempt counts as a step.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::budget::{Budget, Interrupt};
use crate::class_rules;
use crate::contracts::violated_contracts;
use crate::problem::Problem;
use crate::search::{Quality, SearchEngine, Solution, Verdict, search};
use crate::selection::Selection;
use crate::set::{PositionSet, bits};
use crate::universe::{ClassRequirements, PackageId, PackageRequirement, ReleaseId, Universe};

/// Searches for a valid selection and makes it locally best, unless it is the best already. An
/// interrupted search continues from `paused`.
pub(crate) fn search_and_improve(
    paused: &mut Option<SearchEngine>,
    problem: &mut Problem<'_>,
    budget: &mut Budget,
) -> Result<Verdict, Interrupt> {
    if !budget.engine.is_resumable() {
        return budget.restartable(|budget| search_once(&mut None, problem, budget));
    }
    let verdict = search_once(paused, problem, budget)?;
    *paused = None;
    Ok(verdict)
}

fn search_once(
    paused: &mut Option<SearchEngine>,
    problem: &mut Problem<'_>,
    budget: &mut Budget,
) -> Result<Verdict, Interrupt> {
    let Solution { selection, quality } = match search(paused, problem, budget)? {
        Verdict::Solved(found) => found,
        Verdict::Impossible(proof) => return Ok(Verdict::Impossible(proof)),
    };
    // An exchange could violate goals for single requirements.
    if quality == Quality::Best || problem.goals().has_partial_goals() {
        return Ok(Verdict::Solved(selection));
    }
    let split = problem.split().clone();
    let wanted = problem.goals().wanted.iter().map(|goal| goal.package);
    let fixed: Vec<PackageId> = wanted.collect();
    // After an interrupt, all exchanges are tried again.
    let improved = budget
        .restartable(|budget| improve(problem.universe, selection, &split, &fixed, budget))?;
    Ok(Verdict::Solved(improved))
}

/// Makes a valid selection locally best. `split` packages may have several releases, `fixed` ones
/// do not change.
fn improve(
    universe: &mut Universe,
    selection: Selection,
    split: &BTreeSet<PackageId>,
    fixed: &[PackageId],
    budget: &mut Budget,
) -> Result<Selection, Interrupt> {
    let mut improvement = Improvement {
        allowed_by_all: AllowedByAll::compute(universe, &selection, split),
        requirements: Vec::new(),
        classes: ClassRequirements::default(),
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
}

/// The decisions up to a point of a walk through a selection.
struct Decided {
    /// For each package, whether it is decided; for split packages, whether any release is.
    packages: Vec<bool>,
    /// The packages with a prerelease that a requirement of a decided release names.
    prerelease_named: FxHashSet<PackageId>,
}

/// An exchange: a requirement that is bound to a better release.
#[derive(Clone, Copy)]
struct Exchange {
    owner: ReleaseId,
    number: usize,
    current: ReleaseId,
    better: ReleaseId,
}

impl Improvement<'_> {
    /// Goes through all decisions in order; returns whether any was improved.
    fn pass(&mut self) -> Result<bool, Interrupt> {
        let mut improved = false;
        let mut decided = Decided {
            packages: vec![false; self.universe.catalog.package_count()],
            prerelease_named: FxHashSet::default(),
        };
        for root in self.universe.catalog.roots().to_vec() {
            self.decide(&mut decided, root);
        }
        let mut at = 0;
        while let Some(owner) = self.selection.releases().get(at).copied() {
            for number in 0..self.selection.bound_at(at).len() {
                while self.improve_decision(owner, at, number, &decided)? {
                    improved = true;
                }
                let bound = self.selection.bound_at(at)[number];
                self.decide(&mut decided, bound);
            }
            at += 1;
        }
        Ok(improved)
    }

    fn decide(&mut self, decided: &mut Decided, release: ReleaseId) {
        let package = release.package;
        let is_first = !std::mem::replace(&mut decided.packages[package.position()], true);
        if is_first || self.split.contains(&package) {
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

    /// Binds a requirement to a better release if the selection stays valid.
    fn improve_decision(
        &mut self,
        owner: ReleaseId,
        at: usize,
        number: usize,
        decided: &Decided,
    ) -> Result<bool, Interrupt> {
        let current = self.selection.bound_at(at)[number];
        let package = current.package;
        let is_split = self.split.contains(&package);
        let is_fixed = self.universe.catalog.is_root(package) || self.fixed.contains(&package);
        if is_fixed || !is_split && decided.packages[package.position()] {
            return Ok(false);
        }
        let named = decided.prerelease_named.contains(&package);
        let mut candidates = if is_split {
            self.universe.requirements(owner, &mut self.requirements);
            PositionSet::of_words(self.universe.allowed_words(&self.requirements[number]))
        } else {
            match self.allowed_by_all.0.get(&package) {
                Some(allowed) => allowed.clone(),
                None => return Ok(false),
            }
        };
        loop {
            let best = if is_split {
                (self.universe.catalog).best_binding(owner, number, package, &candidates, named)
            } else {
                self.universe.catalog.best(package, &candidates, named)
            };
            let Some(index) = best.filter(|index| *index != current.index) else {
                return Ok(false);
            };
            self.budget.take()?;
            let better = ReleaseId { package, index };
            let exchange = Exchange {
                owner,
                number,
                current,
                better,
            };
            if let Some(selection) = self.exchanged(exchange)? {
                self.allowed_by_all = AllowedByAll::compute(self.universe, &selection, self.split);
                self.selection = selection;
                return Ok(true);
            }
            candidates = candidates.without(index);
        }
    }

    /// Whether the classes that a better release extends are found among the current releases. With
    /// split packages, the check of the whole selection decides.
    fn finds_classes(&mut self, exchange: Exchange) -> bool {
        let better = exchange.better;
        if !self.split.is_empty()
            || self
                .universe
                .requirements_define_all_classes(better, &self.requirements)
        {
            return true;
        }
        let mut classes = std::mem::take(&mut self.classes);
        self.universe
            .class_requirements(better, &self.requirements, &mut classes);
        let finds_all = !classes.has_cycle
            && classes.all.iter().all(|class_requirement| {
                self.requirements.iter().any(|requirement| {
                    let kept = self.selection.first_release_of(requirement.target);
                    let kept = kept.filter(|kept| kept.package != better.package);
                    let defining = (self.universe.catalog)
                        .definers(requirement.target, class_requirement.class);
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
        // Most exchanges fail because of the requirements of the better release, so these are
        // checked first.
        let fits = (self.requirements.iter().enumerate()).all(|required| {
            binding_after(self.universe, selection, split, exchange, better, required).is_some()
        });
        if !fits || !self.finds_classes(exchange) {
            return Ok(None);
        }
        let (universe, selection, split) = (&mut *self.universe, &self.selection, self.split);
        let requirements = &mut self.requirements;
        let roots = universe.catalog.roots().to_vec();
        self.budget.take_looks(selection.bound_count() as u64);
        let found = Selection::walk(&roots, |owner, bound| {
            let kept = selection.bound(owner);
            if !kept.is_empty() {
                let is_exchanged = |number: usize, bound: &ReleaseId| {
                    let is_decision = owner == exchange.owner && number == exchange.number;
                    *bound == exchange.current && (is_decision || !split.contains(&bound.package))
                };
                let kept = kept.iter().enumerate();
                bound.extend(kept.map(|(number, bound)| {
                    if is_exchanged(number, bound) {
                        better
                    } else {
                        *bound
                    }
                }));
                return Some(());
            }
            universe.requirements(owner, requirements);
            for required in requirements.iter().enumerate() {
                let index = binding_after(universe, selection, split, exchange, owner, required)?;
                let package = required.1.target;
                bound.push(ReleaseId { package, index });
            }
            Some(())
        });
        let Some(found) = found else {
            return Ok(None);
        };
        // An exchange can remove a package that nothing else requires.
        let mut before = self.selection.releases().iter();
        let is_kept = |release: &ReleaseId| {
            !self.fixed.contains(&release.package) || found.position(*release).is_some()
        };
        if !self.fixed.is_empty() && !before.all(is_kept) {
            return Ok(None);
        }
        // Without split packages, all extended classes are known to be found here.
        let is_separate =
            self.split.is_empty() && class_rules::is_known_valid(self.universe, &found);
        if !is_separate && class_rules::violation(self.universe, &found).is_some() {
            return Ok(None);
        }
        let violated = violated_contracts(self.universe, &found, self.budget)?;
        Ok(violated.is_empty().then_some(found))
    }
}

/// The binding of a requirement of a new release, among the current releases.
fn binding_after(
    universe: &Universe,
    selection: &Selection,
    split: &BTreeSet<PackageId>,
    exchange: Exchange,
    owner: ReleaseId,
    (number, requirement): (usize, &PackageRequirement),
) -> Option<u32> {
    let package = requirement.target;
    if !requirement.is_known() {
        // A package that the search never met is not among the current releases.
        return None;
    }
    if !split.contains(&package) {
        let there = if package == exchange.better.package {
            exchange.better.index
        } else {
            selection.first_release_of(package)?.index
        };
        return universe.allows(requirement, there).then_some(there);
    }
    let allowed = bits::numbers(universe.allowed_words(requirement));
    let is_selected = |index: &u32| {
        let index = *index;
        selection.position(ReleaseId { package, index }).is_some()
    };
    let candidates: PositionSet = allowed.filter(is_selected).collect();
    universe.catalog.best_binding(
        owner,
        number,
        package,
        &candidates,
        requirement.names_prerelease,
    )
}

/// What all requirements on a package allow together, for packages with better candidates than the chosen one.
#[derive(Default)]
struct AllowedByAll(FxHashMap<PackageId, PositionSet>);

impl AllowedByAll {
    fn compute(
        universe: &mut Universe,
        selection: &Selection,
        split: &BTreeSet<PackageId>,
    ) -> Self {
        let improvable = selection.releases().iter().filter(|release| {
            !universe.catalog.is_root(release.package)
                && !split.contains(&release.package)
                && !universe.catalog.is_best(**release)
        });
        let improvable = improvable.map(|release| (release.package, PositionSet::FULL));
        let mut allowed_by_all = Self(improvable.collect());
        let (mut requirements, mut classes) = (Vec::new(), ClassRequirements::default());
        for (at, release) in selection.releases().iter().enumerate() {
            let mut bound = selection.bound_at(at).iter();
            if !bound.any(|bound| allowed_by_all.0.contains_key(&bound.package)) {
                continue;
            }
            universe.requirements(*release, &mut requirements);
            for requirement in &requirements {
                allowed_by_all.restrict(requirement.target, || {
                    PositionSet::of_words(universe.allowed_words(requirement))
                });
            }
            if !universe.requirements_define_all_classes(*release, &requirements) {
                universe.class_requirements(*release, &requirements, &mut classes);
                allowed_by_all.restrict_to_definers(universe, selection, *release, &classes);
            }
        }
        allowed_by_all
    }

    fn restrict(&mut self, package: PackageId, allowed: impl FnOnce() -> PositionSet) {
        if let Some(all) = self.0.get_mut(&package) {
            *all = all.intersection(&allowed());
        }
    }

    /// Intersects with the classes that a release extends: if only one of its bound releases
    /// defines a class, that package has to define it.
    fn restrict_to_definers(
        &mut self,
        universe: &mut Universe,
        selection: &Selection,
        release: ReleaseId,
        classes: &ClassRequirements,
    ) {
        for class_requirement in &classes.all {
            let bound = selection.bound(release).iter();
            let mut defining = bound
                .map(|bound| {
                    let class = class_requirement.class;
                    (*bound, universe.catalog.definers(bound.package, class))
                })
                .filter(|(bound, defining)| defining.contains(bound.index));
            if let (Some((bound, only)), None) = (defining.next(), defining.next()) {
                self.restrict(bound.package, || only);
            }
        }
    }
}
