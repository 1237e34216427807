//! The rules of a valid resolution as a problem for a solver.
//!
//! # Problem
//!
//! Both engines need the rules in one form, which must be small although packages have hundreds of releases and
//! requirements name ranges of them.
//!
//! # Idea
//!
//! A constraint problem over finite domains. A [`Variable`] is a package, and its values are the package's
//! releases, or "absent". A requirement becomes a dependency: "if this variable has a value in that set, that
//! variable has one in this set". In the second tier, a *split* package may have several releases: each of its
//! releases is a variable of its own, and each requirement on it is a variable whose value is the release that
//! the requirement is bound to.
//!
//! That extended classes are found is stated by dependencies, too. If only one required package can define
//! a class, the class restricts that package. If several can, it is a clause over them.
//!
//! The rules of the class hierarchy (no cycles, and no two versions of one ancestor), contracts and goals would need
//! far too many clauses. They are checked on complete selections, and each violation becomes a [`Nogood`] or a
//! [`LoopNogood`].
//!
//! # Proofs
//!
//! Every clause belongs to a [`Fact`]; explanations are built from facts. To find out whether some facts are
//! enough for a conflict, a problem can be restricted to them. To find out whether a change repairs the
//! conflict, one requirement or override can be relaxed.
//!
//! # Cost
//!
//! The problem itself stores only splits, nogoods and goals. Dependencies are read from the universe when an
//! engine expands a value.

mod contract_nogood;
mod goals;
mod nogood;

pub(crate) use goals::LoopNogood;
pub(crate) use goals::{Goal, GoalScope, Goals};
pub(crate) use nogood::{Nogood, NogoodBuilder, NogoodCause};

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use crate::class_rules::Violation;
use crate::index::to_u32;
use crate::selection::Selection;
use crate::set::PositionSet;
use crate::universe::{ClassId, PackageId, ReleaseId, Universe};

/// A variable of the problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Variable {
    /// A package with one release; the value is its position.
    Package(PackageId),
    /// A release of a split package; the value is 0 if it is present.
    Release(ReleaseId),
    /// The release that a requirement on a split package is bound to, by the number of the
    /// requirement.
    Binding(ReleaseId, u32),
}

impl Variable {
    /// The release of a value; `None` for bindings.
    pub(crate) fn release(self, value: u32) -> Option<ReleaseId> {
        match self {
            Self::Package(package) => Some(ReleaseId {
                package,
                index: value,
            }),
            Self::Release(release) => Some(release),
            Self::Binding(..) => None,
        }
    }
}

/// A rule that proofs refer to. It is about packages: it applies to every version of the owner that has it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Fact {
    /// Versions of `owner` require `target`, which allows only `allowed`.
    Requires {
        owner: PackageId,
        target: PackageId,
        allowed: PositionSet,
    },
    /// Versions of `owner` extend a class that required packages must define.
    Extends { owner: PackageId, class: ClassId },
    /// Versions of `owner` have classes that extend each other in a cycle.
    OwnCycle { owner: PackageId },
    /// The nogood of this number.
    Nogood(u32),
    /// Certain versions of a package are wanted.
    Wanted { package: PackageId },
    /// A package is kept at its locked release, if it is present.
    Stays { package: PackageId },
}

/// How a problem is relaxed: a requirement or an override that allows more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SingleRelaxation {
    /// The requirement of versions of `owner` on `target`, which allows only `allowed`. It allows these instead, or every
    /// version.
    Requirement {
        owner: PackageId,
        target: PackageId,
        allowed: PositionSet,
        instead: Option<PositionSet>,
    },
    /// The override of all requirements on `target`.
    Override { target: PackageId },
}

impl SingleRelaxation {
    /// The package whose requirement is relaxed, unless it is every requirement on a package.
    pub(crate) fn owner(&self) -> Option<PackageId> {
        match self {
            Self::Requirement { owner, .. } => Some(*owner),
            Self::Override { .. } => None,
        }
    }
}

/// The problem for one choice of split packages.
#[derive(Debug)]
pub(crate) struct Problem<'universe> {
    pub(crate) universe: &'universe mut Universe,
    split: BTreeSet<PackageId>,
    nogoods: Vec<Nogood>,
    /// If set, all other facts are dropped.
    restricted_to: Option<FxHashSet<Fact>>,
    /// How it is relaxed.
    relaxation: Option<SingleRelaxation>,
    /// The goals of an update. Only the native engine supports them.
    goals: Goals,
}

impl<'universe> Problem<'universe> {
    pub(crate) fn new(universe: &'universe mut Universe, split: BTreeSet<PackageId>) -> Self {
        Self {
            universe,
            split,
            nogoods: Vec::new(),
            restricted_to: None,
            relaxation: None,
            goals: Goals::default(),
        }
    }

    /// The problem of an earlier search, with its nogoods.
    pub(crate) fn with_nogoods(
        universe: &'universe mut Universe,
        split: BTreeSet<PackageId>,
        nogoods: Vec<Nogood>,
    ) -> Self {
        let mut problem = Self::new(universe, split);
        for nogood in nogoods {
            problem.add(nogood);
        }
        problem
    }

    pub(crate) fn into_nogoods(self) -> Vec<Nogood> {
        self.nogoods
    }

    pub(crate) fn set_goals(&mut self, goals: Goals) {
        self.goals = goals;
    }

    pub(crate) fn goals(&self) -> &Goals {
        &self.goals
    }

    /// Takes the goals, with the loop nogoods that the search added.
    pub(crate) fn take_goals(&mut self) -> Goals {
        std::mem::take(&mut self.goals)
    }

    /// Adds a loop nogood if a selection violates a goal. Returns the package of the goal, and how
    /// many loop nogoods it has.
    pub(crate) fn rule_out_loop(&mut self, selection: &Selection) -> Option<(PackageId, usize)> {
        let mut wanted = self.goals.wanted.iter();
        let at = wanted.position(|goal| {
            let package = goal.package;
            goal.is_violated_by(selection) && self.is_in_force(&Fact::Wanted { package })
        })?;
        let goal = &mut self.goals.wanted[at];
        let loop_nogood = LoopNogood::of(self.universe, &self.split, selection, &goal.loop_nogoods);
        debug_assert!(
            loop_nogood.is_some() || self.restricted_to.is_some(),
            "it was ruled out"
        );
        goal.loop_nogoods.push(loop_nogood?);
        Some((goal.package, goal.loop_nogoods.len()))
    }

    /// Drops all facts but these.
    pub(crate) fn restrict(&mut self, facts: Option<FxHashSet<Fact>>) {
        self.restricted_to = facts;
    }

    /// Relaxes the problem.
    pub(crate) fn relax(&mut self, relaxation: SingleRelaxation) {
        self.relaxation = Some(relaxation);
    }

    /// What a requirement allows instead, if it is relaxed.
    #[inline]
    pub(crate) fn relaxed(
        &self,
        package: PackageId,
        on: PackageId,
        words: &[u64],
    ) -> Option<PositionSet> {
        let candidates = || self.universe.catalog.candidates_of(on);
        match self.relaxation.as_ref()? {
            SingleRelaxation::Requirement {
                owner,
                target,
                allowed,
                instead,
            } => {
                let is_meant =
                    *owner == package && *target == on && *allowed == PositionSet::of_words(words);
                is_meant.then(|| instead.clone().unwrap_or_else(candidates))
            }
            // Requirements of objects are never overridden.
            SingleRelaxation::Override { target } => {
                let is_meant = *target == on && !self.universe.catalog.is_model(package);
                is_meant.then(candidates)
            }
        }
    }

    /// Whether no facts are dropped and nothing is relaxed.
    pub(crate) fn is_unmodified(&self) -> bool {
        self.restricted_to.is_none() && self.relaxation.is_none()
    }

    /// Whether, in addition, no package is split.
    #[inline]
    pub(crate) fn is_ordinary(&self) -> bool {
        self.is_unmodified() && self.split.is_empty()
    }

    /// Whether facts may be dropped.
    pub(crate) fn is_restricted(&self) -> bool {
        self.restricted_to.is_some()
    }

    /// Whether a fact was not dropped.
    pub(crate) fn is_in_force(&self, fact: &Fact) -> bool {
        self.restricted_to
            .as_ref()
            .is_none_or(|facts| facts.contains(fact))
    }

    pub(crate) fn split(&self) -> &BTreeSet<PackageId> {
        &self.split
    }

    /// Splits other packages, and forgets the loop nogoods, which depend on the split. Facts in force must not be nogoods
    /// about packages as they were split before.
    pub(crate) fn set_split(&mut self, split: BTreeSet<PackageId>) {
        self.split = split;
        self.goals.clear_loop_nogoods();
    }

    pub(crate) fn is_split(&self, package: PackageId) -> bool {
        self.split.contains(&package)
    }

    pub(crate) fn nogoods(&self) -> &[Nogood] {
        &self.nogoods
    }

    pub(crate) fn package_of(&self, variable: Variable) -> PackageId {
        match variable {
            Variable::Package(package) => package,
            Variable::Release(release) => release.package,
            Variable::Binding(release, number) => {
                self.universe.required_package(release, number as usize)
            }
        }
    }

    /// The variable that decides what a requirement is bound to.
    pub(crate) fn bound_variable(&self, release: ReleaseId, number: usize) -> Variable {
        let package = self.universe.required_package(release, number);
        if self.is_split(package) {
            Variable::Binding(release, to_u32(number))
        } else {
            Variable::Package(package)
        }
    }

    /// The requirements of a release through which a class can be found, with the candidates that
    /// define it.
    pub(crate) fn definers_of(
        &mut self,
        release: ReleaseId,
        class: ClassId,
    ) -> Vec<(usize, PositionSet)> {
        let details = self.universe.details(release);
        let catalog = &self.universe.catalog;
        let packages = details.requirements.iter().map(|stated| stated.package);
        let definers = packages.map(|package| catalog.defining_candidates(package, class));
        let definers = definers.enumerate();
        definers
            .filter(|(_, allowed)| !allowed.is_empty())
            .collect()
    }

    /// The nogood for a violation of a class rule in a selection.
    pub(crate) fn nogood_for_violation(
        &mut self,
        selection: &Selection,
        violation: Violation,
    ) -> Nogood {
        for release in selection.releases() {
            self.universe.details(*release);
        }
        Nogood::of_violation(self, selection, violation)
    }

    /// Adds a nogood that excludes a selection.
    pub(crate) fn rule_out(&mut self, selection: &Selection, nogood: Nogood) {
        debug_assert!(
            nogood.excludes(selection),
            "the search would find it again for ever"
        );
        self.add(nogood);
    }

    pub(crate) fn add(&mut self, nogood: Nogood) {
        self.nogoods.push(nogood);
    }
}
