//! The engine that uses the `pubgrub` crate.
//!
//! The crate asks for the next variable by priority, for its value, and for the dependencies of the
//! value. Priorities follow the order of decisions: the earliest requirement of the releases
//! decided so far comes first. The crate does not report backtracking, but it shows when a variable
//! is decided again: all decisions since its previous decision are undone.

mod dependencies;

use std::cell::RefCell;
use std::cmp::Reverse;
use std::fmt;
use std::sync::Arc;

use pubgrub::{
    Dependencies, DependencyProvider, DerivationTree, External, PackageResolutionStatistics,
    PubGrubError,
};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::problem::{Fact, Problem, Variable};
use crate::selection::Selection;
use crate::set::PositionSet;
use crate::universe::PackageId;

use dependencies::{VirtualPackage, dependencies};

use super::proof::SingleReleasePackages;
use super::proof::{Proof, Quality, Verdict};
use crate::budget::{Budget, Interrupt};

/// How many looks of the native engine take as long as a visit of a clause in the crate.
const LOOKS_PER_CLAUSE: u64 = 16;

/// The values of the variables of a solution.
#[derive(Debug, Default)]
pub(crate) struct Values(FxHashMap<VirtualPackage, u32>);

/// Finds a solution of a problem.
pub(super) fn solve(
    problem: &mut Problem<'_>,
    budget: &mut Budget,
    values: &mut Values,
) -> Result<Verdict<Quality>, Interrupt> {
    let provider = Provider {
        state: RefCell::new(Session {
            problem,
            budget,
            trail: DecisionTrail::default(),
            conflicts: 0,
        }),
    };
    let result = pubgrub::resolve(&provider, VirtualPackage::Start, 0_u32);
    let state = provider.state.into_inner();
    let quality = if state.by_activity() {
        Quality::Any
    } else {
        Quality::Best
    };
    let problem = state.problem;
    match result {
        Ok(found) => {
            *values = Values(found.into_iter().collect());
            Ok(Verdict::Solved(quality))
        }
        Err(PubGrubError::NoSolution(tree)) => Ok(Verdict::Impossible(proof(problem, tree))),
        Err(
            PubGrubError::ErrorInShouldCancel(Stop(interrupt))
            | PubGrubError::ErrorChoosingVersion {
                source: Stop(interrupt),
                ..
            }
            | PubGrubError::ErrorRetrievingDependencies {
                source: Stop(interrupt),
                ..
            },
        ) => Err(interrupt),
    }
}

/// The selected releases that the roots reach.
pub(super) fn selection(problem: &mut Problem<'_>, values: &Values) -> Selection {
    let split = problem.split().clone();
    Selection::collect(problem.universe, |_, release, number, requirement| {
        let variable = if split.contains(&requirement.target) {
            Variable::Binding(release, u32::try_from(number).ok()?)
        } else {
            Variable::Package(requirement.target)
        };
        values.0.get(&VirtualPackage::Variable(variable)).copied()
    })
    .expect("a solution binds every requirement")
}

/// The facts at the leaves of a derivation. The tree is taken apart without recursion: derivations
/// can be as deep as the longest chain of packages.
fn proof(
    problem: &mut Problem<'_>,
    tree: DerivationTree<VirtualPackage, PositionSet, Never>,
) -> Proof {
    let mut proof = Proof::default();
    let mut single = SingleReleasePackages::new(problem.universe.catalog.package_count());
    let mut seen = FxHashSet::default();
    let mut rest = vec![Arc::new(tree)];
    while let Some(tree) = rest.pop() {
        if seen.insert(Arc::as_ptr(&tree)) {
            match tree.as_ref() {
                DerivationTree::Derived(derived) => {
                    rest.push(Arc::clone(&derived.cause1));
                    rest.push(Arc::clone(&derived.cause2));
                }
                DerivationTree::External(leaf) => {
                    add_leaf(problem, leaf, &mut proof.facts, &mut single);
                }
            }
        }
        // The last owner moves the parts to the stack, so that dropping does not recurse.
        if let Some(DerivationTree::Derived(derived)) = Arc::into_inner(tree) {
            rest.push(derived.cause1);
            rest.push(derived.cause2);
        }
    }
    proof.single = single.into_packages();
    proof
}

fn add_leaf(
    problem: &mut Problem<'_>,
    leaf: &External<VirtualPackage, PositionSet, Never>,
    facts: &mut Vec<Fact>,
    single: &mut SingleReleasePackages,
) {
    let External::FromDependencyOf(source, from, target, allowed) = leaf else {
        return;
    };
    let variables = [*source, *target];
    let variables = variables.into_iter().filter_map(|package| match package {
        VirtualPackage::Variable(variable) => Some(variable),
        _ => None,
    });
    // Sets that come from the crate may be complements.
    let versions = PositionSet::range(0, source.version_count(problem));
    for version in versions.intersection(from).iter() {
        for dependency in dependencies(problem, *source, version).unwrap_or_default() {
            if dependency.target == *target && dependency.allowed == *allowed {
                let fact = dependency.fact;
                single.add(problem, fact.as_ref(), variables.clone());
                // Most releases have the same requirements.
                if fact.as_ref() != facts.last() {
                    facts.extend(fact);
                }
            }
        }
    }
}

/// An [`Interrupt`] as an error, which the crate requires.
#[derive(Debug)]
struct Stop(Interrupt);

impl fmt::Display for Stop {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self.0 {
            Interrupt::Missing(_) => "releases are missing",
            Interrupt::Exhausted => "the budget is used up",
        })
    }
}

impl std::error::Error for Stop {}

/// There are no reasons beyond dependencies.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Never {}

impl fmt::Display for Never {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {}
    }
}

/// The decisions that are not undone, as far as the calls of the crate show.
#[derive(Debug, Default)]
struct DecisionTrail {
    decided: Vec<Decision>,
    positions: FxHashMap<VirtualPackage, usize>,
    /// For each package, which decided releases require it: their position and the number of the
    /// requirement, ascending.
    required_by: FxHashMap<VirtualPackage, Vec<(usize, usize)>>,
    /// For each package, how many requirements of decided releases name a prerelease.
    prerelease_named: FxHashMap<PackageId, u32>,
}

#[derive(Debug)]
struct Decision {
    package: VirtualPackage,
    /// The targets of the release's requirements, and for each whether it names a prerelease.
    required: Vec<(VirtualPackage, PackageId, bool)>,
}

impl DecisionTrail {
    /// Undoes the decision on a package and all later ones; returns whether there was one.
    fn backtrack(&mut self, package: VirtualPackage) -> bool {
        let Some(position) = self.positions.get(&package).copied() else {
            return false;
        };
        while self.decided.len() > position {
            let decision = self.decided.pop().expect("the length was checked");
            self.positions.remove(&decision.package);
            for (target, package, named) in decision.required {
                let requirers = self.required_by.get_mut(&target).expect("it was entered");
                requirers.pop();
                if named {
                    *self
                        .prerelease_named
                        .get_mut(&package)
                        .expect("it was counted") -= 1;
                }
            }
        }
        true
    }

    fn push(&mut self, package: VirtualPackage, required: Vec<(VirtualPackage, PackageId, bool)>) {
        let position = self.decided.len();
        self.positions.insert(package, position);
        for (number, (target, package, named)) in required.iter().enumerate() {
            self.required_by
                .entry(*target)
                .or_default()
                .push((position, number));
            if *named {
                *self.prerelease_named.entry(*package).or_default() += 1;
            }
        }
        self.decided.push(Decision { package, required });
    }

    /// The earliest requirement on a package.
    fn rank(&self, package: VirtualPackage) -> (usize, usize) {
        self.required_by
            .get(&package)
            .and_then(|requirers| requirers.first())
            .copied()
            .unwrap_or((usize::MAX, usize::MAX))
    }
}

struct Session<'solve, 'universe> {
    problem: &'solve mut Problem<'universe>,
    budget: &'solve mut Budget,
    trail: DecisionTrail,
    conflicts: u64,
}

struct Provider<'solve, 'universe> {
    state: RefCell<Session<'solve, 'universe>>,
}

impl Session<'_, '_> {
    /// Whether variables are decided by activity: finding any selection matters more than finding
    /// the best.
    fn by_activity(&self) -> bool {
        self.conflicts >= self.budget.conflict_limit
    }

    fn choose(&mut self, package: VirtualPackage, set: &PositionSet) -> Option<u32> {
        if self.trail.backtrack(package) {
            self.conflicts += 1;
        }
        let prerelease_named = |trail: &DecisionTrail, package: PackageId| {
            trail
                .prerelease_named
                .get(&package)
                .is_some_and(|count| *count > 0)
        };
        let chosen = match package {
            VirtualPackage::Variable(Variable::Package(package)) => {
                let named = prerelease_named(&self.trail, package);
                self.problem.universe.catalog.best(package, set, named)?
            }
            VirtualPackage::Variable(Variable::Binding(release, number)) => {
                let number = number as usize;
                let package = self.problem.universe.required_package(release, number);
                let named = prerelease_named(&self.trail, package);
                self.problem
                    .universe
                    .catalog
                    .best_binding(release, number, package, set, named)?
            }
            _ => set.contains(0).then_some(0).or_else(|| set.iter().next())?,
        };
        let release = match package {
            VirtualPackage::Variable(variable) => variable.release(chosen),
            _ => None,
        };
        let required = match release {
            Some(release) => {
                let details = self.problem.universe.details(release);
                (0..details.requirements.len())
                    .map(|number| {
                        let spec = &details.requirements[number].spec;
                        let target = self.problem.bound_variable(release, number);
                        let target = VirtualPackage::Variable(target);
                        (
                            target,
                            details.requirements[number].package,
                            spec.names_prerelease(),
                        )
                    })
                    .collect()
            }
            None => Vec::new(),
        };
        self.trail.push(package, required);
        Some(chosen)
    }
}

impl DependencyProvider for Provider<'_, '_> {
    type P = VirtualPackage;
    type V = u32;
    type VS = PositionSet;
    /// Kind of package, conflicts, position of the earliest requirement.
    type Priority = (u8, u32, Reverse<(usize, usize)>);
    type M = Never;
    type Err = Stop;

    fn prioritize(
        &self,
        package: &VirtualPackage,
        _: &PositionSet,
        statistics: &PackageResolutionStatistics,
    ) -> Self::Priority {
        let mut state = self.state.borrow_mut();
        // What the crate learned about a package it visits whenever the package changes. This is all that it shows of
        // its work between two decisions.
        let learned = u64::from(statistics.conflict_count());
        state.budget.take_looks(LOOKS_PER_CLAUSE * (1 + learned));
        let kind = match package {
            // What follows from a decision is part of it.
            VirtualPackage::Start
            | VirtualPackage::Variable(Variable::Release(_))
            | VirtualPackage::Never => 2,
            VirtualPackage::Variable(_) => 1,
            // These are decided after all packages.
            VirtualPackage::Provider(..) | VirtualPackage::Nogood(_) => 0,
        };
        let conflicts = if state.by_activity() {
            statistics.conflict_count()
        } else {
            0
        };
        (kind, conflicts, Reverse(state.trail.rank(*package)))
    }

    fn choose_version(
        &self,
        package: &VirtualPackage,
        set: &PositionSet,
    ) -> Result<Option<u32>, Stop> {
        Ok(self.state.borrow_mut().choose(*package, set))
    }

    fn get_dependencies(
        &self,
        package: &VirtualPackage,
        value: &u32,
    ) -> Result<Dependencies<VirtualPackage, PositionSet, Never>, Stop> {
        let mut state = self.state.borrow_mut();
        let dependencies = dependencies(state.problem, *package, *value).map_err(Stop)?;
        Ok(Dependencies::Available(
            dependencies
                .into_iter()
                .map(|dependency| (dependency.target, dependency.allowed))
                .collect(),
        ))
    }

    fn should_cancel(&self) -> Result<(), Stop> {
        self.state.borrow_mut().budget.take().map_err(Stop)
    }
}
