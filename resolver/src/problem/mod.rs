//! The rules of a valid resolution as a problem of variables and dependencies.
//!
//! Every [`Variable`] has a small domain; a dependency says "if this variable has a value in that
//! set, that variable must have one in this set". A package is one variable whose values are its
//! releases. In the second tier a *split* package may have several releases: each of its releases
//! is a variable of its own, and each requirement on it is a variable whose value is the release
//! that the requirement is bound to.
//!
//! Rule 2 becomes dependencies too: a class that only one required package can define restricts
//! that package; a class that several can define is a variable with one value a provider. Rule 3
//! is checked on whole selections, and each violation becomes a [`Nogood`]: not all of its terms
//! may hold. A nogood is a variable with one value a term, where term i forbids value i.

mod contract_nogood;
mod goals;
mod nogood;

pub(crate) use goals::{Goal, GoalScope, Goals, LoopNogood};
pub(crate) use nogood::{Nogood, NogoodBuilder, NogoodCause};

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use crate::hierarchy::Violation;
use crate::selection::Selection;
use crate::set::PositionSet;
use crate::universe::{ClassId, PackageId, ReleaseId, Universe};

/// Something that has to be decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Variable {
    /// A package that has one release; the value is its position.
    Package(PackageId),
    /// A release of a split package; the value is 0 if it is there.
    Release(ReleaseId),
    /// What a requirement on a split package is bound to, by the number of the edge.
    Binding(ReleaseId, u32),
}

impl Variable {
    /// The release that a value of the variable stands for.
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

/// A rule that a proof uses, without regard to which versions of the owner it holds for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Fact {
    /// Versions of `owner` require `target`, which leaves `allowed`.
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
    /// Certain versions of a package were asked for.
    Wanted { package: PackageId },
    /// A package is to stay at what the lock holds, if it is there at all.
    Stays { package: PackageId },
}

/// Something that is written once and can be changed to allow every version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Relaxation {
    /// What versions of `owner` require of `target`, which leaves `allowed`.
    Requirement {
        owner: PackageId,
        target: PackageId,
        allowed: PositionSet,
    },
    /// What stands in place of every requirement on `target`.
    Override { target: PackageId },
}

/// The problem for one choice of split packages.
#[derive(Debug)]
pub(crate) struct Problem<'universe> {
    pub(crate) universe: &'universe mut Universe,
    split: BTreeSet<PackageId>,
    nogoods: Vec<Nogood>,
    /// If set, only these facts hold.
    only: Option<FxHashSet<Fact>>,
    /// What allows every version.
    relaxation: Option<Relaxation>,
    /// What an update adds. Only the native engine heeds it.
    goals: Goals,
}

impl<'universe> Problem<'universe> {
    pub(crate) fn new(universe: &'universe mut Universe, split: BTreeSet<PackageId>) -> Self {
        Self {
            universe,
            split,
            nogoods: Vec::new(),
            only: None,
            relaxation: None,
            goals: Goals::default(),
        }
    }

    /// The problem of an earlier search, with the nogoods that it found.
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

    /// Heeds what an update adds to the rules.
    pub(crate) fn set_goals(&mut self, goals: Goals) {
        self.goals = goals;
    }

    pub(crate) fn goals(&self) -> &Goals {
        &self.goals
    }

    /// Takes the goals out, with what the search added to them.
    pub(crate) fn take_goals(&mut self) -> Goals {
        std::mem::take(&mut self.goals)
    }

    /// Rules out the way in which a selection comes to be without what was asked for; says of which
    /// package that is, and how many there are by now.
    pub(crate) fn rule_out_loop(&mut self, selection: &Selection) -> Option<(PackageId, usize)> {
        let mut wanted = self.goals.wanted.iter();
        let at = wanted.position(|goal| {
            let package = goal.package;
            goal.is_violated_by(selection) && self.is_in_force(&Fact::Wanted { package })
        })?;
        let goal = &mut self.goals.wanted[at];
        let loop_nogood = LoopNogood::of(self.universe, &self.split, selection, &goal.loop_nogoods);
        debug_assert!(
            loop_nogood.is_some() || self.only.is_some(),
            "it was ruled out"
        );
        goal.loop_nogoods.push(loop_nogood?);
        Some((goal.package, goal.loop_nogoods.len()))
    }

    /// Drops all facts but these.
    pub(crate) fn restrict(&mut self, only: Option<FxHashSet<Fact>>) {
        self.only = only;
    }

    /// Lets a requirement, or all that are overridden with one spec, allow every version.
    pub(crate) fn relax(&mut self, relaxation: Relaxation) {
        self.relaxation = Some(relaxation);
    }

    /// Whether a requirement on a package that allows some versions is one that allows every.
    #[inline]
    pub(crate) fn is_relaxed(&self, package: PackageId, on: PackageId, words: &[u64]) -> bool {
        match &self.relaxation {
            Some(Relaxation::Requirement {
                owner,
                target,
                allowed,
            }) => *owner == package && *target == on && *allowed == PositionSet::of_words(words),
            // What objects require nothing overrides.
            Some(Relaxation::Override { target }) => {
                *target == on && !self.universe.is_model(package)
            }
            None => false,
        }
    }

    /// Whether everything is in force as it stands.
    pub(crate) fn is_unmodified(&self) -> bool {
        self.only.is_none() && self.relaxation.is_none()
    }

    /// Whether, beside that, every package has one release.
    #[inline]
    pub(crate) fn is_ordinary(&self) -> bool {
        self.is_unmodified() && self.split.is_empty()
    }

    /// Whether some facts may be dropped.
    pub(crate) fn is_restricted(&self) -> bool {
        self.only.is_some()
    }

    /// Whether a fact was not dropped.
    pub(crate) fn is_in_force(&self, fact: &Fact) -> bool {
        self.only.as_ref().is_none_or(|only| only.contains(fact))
    }

    pub(crate) fn split(&self) -> &BTreeSet<PackageId> {
        &self.split
    }

    pub(crate) fn is_split(&self, package: PackageId) -> bool {
        self.split.contains(&package)
    }

    pub(crate) fn nogoods(&self) -> &[Nogood] {
        &self.nogoods
    }

    /// The variable that stands for what a requirement is bound to.
    pub(crate) fn bound_variable(&self, release: ReleaseId, edge: usize) -> Variable {
        let package = self.universe.known_details(release).edges[edge].package;
        if self.is_split(package) {
            Variable::Binding(release, u32::try_from(edge).expect("fewer than 2^32 edges"))
        } else {
            Variable::Package(package)
        }
    }

    /// Whether a release requires something of which no candidate is left. Its classes are not looked
    /// at then.
    pub(crate) fn lacks_package(&mut self, release: ReleaseId) -> bool {
        let details = self.universe.details(release);
        (details.edges.iter()).any(|edge| self.universe.allowed(edge).is_empty())
    }

    /// The requirements of a release through which a class can be found, with the candidates that
    /// define it.
    pub(crate) fn definers_of(
        &mut self,
        release: ReleaseId,
        class: ClassId,
    ) -> Vec<(usize, PositionSet)> {
        let details = self.universe.details(release);
        let mut found = Vec::new();
        for (number, edge) in details.edges.iter().enumerate() {
            let defining = self.universe.definers(edge.package, class);
            let allowed = defining.intersection(&self.universe.candidates_of(edge.package));
            if !allowed.is_empty() {
                found.push((number, allowed));
            }
        }
        found
    }

    /// What forbids a violation of rule 3 that a selection was found to have.
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

    /// Rules out a selection by what a nogood says.
    pub(crate) fn rule_out(&mut self, selection: &Selection, nogood: Nogood) {
        debug_assert!(
            nogood.excludes(selection),
            "the search would find it again for ever"
        );
        self.add(nogood);
    }

    /// Forbids what a nogood says.
    pub(crate) fn add(&mut self, nogood: Nogood) {
        self.nogoods.push(nogood);
    }
}
