//! The problem as packages and dependencies of the `pubgrub` crate.
//!
//! The crate has only packages, versions and dependencies. Every variable of the problem becomes a
//! package, and rules that are not dependencies are expressed by virtual packages, which never
//! appear in an answer. A class that several packages can define becomes a package with one version
//! for each provider. A nogood becomes a package with one version for each term, where version i
//! depends on term i not holding.

use std::fmt;

use crate::budget::Interrupt;
use crate::index::to_u32;
use crate::problem::{Fact, Problem, Variable};
use crate::set::PositionSet;
use crate::universe::{ClassId, ReleaseId};

/// A package of the crate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum VirtualPackage {
    /// The package that requires the roots.
    Start,
    /// A variable of the problem.
    Variable(Variable),
    /// Which of the packages that can define a class is used.
    Provider(ReleaseId, ClassId),
    /// Which term of a nogood does not hold.
    Nogood(u32),
    /// A package without versions, so that nothing may depend on it.
    Never,
}

impl fmt::Display for VirtualPackage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, formatter)
    }
}

impl VirtualPackage {
    /// How many versions it has.
    pub(super) fn version_count(self, problem: &Problem<'_>) -> u32 {
        let universe = &*problem.universe;
        match self {
            Self::Start | Self::Variable(Variable::Release(_)) | Self::Nogood(_) | Self::Never => 1,
            Self::Variable(variable) => {
                (universe.catalog).release_count(problem.package_of(variable))
            }
            Self::Provider(release, _) => {
                u32::try_from(universe.known_details(release).requirements.len())
                    .expect("fewer than 2^32 requirements")
            }
        }
    }
}

/// A dependency of a version.
#[derive(Debug, Clone)]
pub(super) struct Dependency {
    pub(super) target: VirtualPackage,
    pub(super) allowed: PositionSet,
    /// The fact; `None` if the dependency only joins virtual packages.
    pub(super) fact: Option<Fact>,
}

pub(super) fn dependencies(
    problem: &mut Problem<'_>,
    package: VirtualPackage,
    version: u32,
) -> Result<Vec<Dependency>, Interrupt> {
    let mut found = Vec::new();
    match package {
        VirtualPackage::Start => {
            found.extend(
                problem
                    .universe
                    .catalog
                    .roots()
                    .iter()
                    .map(|root| Dependency {
                        target: VirtualPackage::Variable(Variable::Package(root.package)),
                        allowed: PositionSet::single(root.index),
                        fact: None,
                    }),
            );
        }
        VirtualPackage::Variable(variable) => {
            if let Some(release) = variable.release(version) {
                add_release(problem, release, &mut found)?;
            } else {
                let package = problem.package_of(variable);
                found.push(Dependency {
                    target: VirtualPackage::Variable(Variable::Release(ReleaseId {
                        package,
                        index: version,
                    })),
                    allowed: PositionSet::single(0),
                    fact: None,
                });
            }
            add_nogoods(problem, variable, version, &mut found);
        }
        VirtualPackage::Provider(release, class) => {
            let (number, allowed) = problem
                .definers_of(release, class)
                .into_iter()
                .nth(version as usize)
                .expect("there is one version a provider");
            let target = VirtualPackage::Variable(problem.bound_variable(release, number));
            let owner = release.package;
            let fact = Fact::Extends { owner, class };
            add(problem, target, allowed, fact, &mut found);
        }
        VirtualPackage::Nogood(_) | VirtualPackage::Never => {}
    }
    Ok(found)
}

/// Adds a dependency, unless its fact was dropped.
fn add(
    problem: &Problem<'_>,
    target: VirtualPackage,
    allowed: PositionSet,
    fact: Fact,
    found: &mut Vec<Dependency>,
) {
    if problem.is_in_force(&fact) {
        found.push(Dependency {
            target,
            allowed,
            fact: Some(fact),
        });
    }
}

/// Adds the nogoods that have a term which holds at a value of a variable.
fn add_nogoods(problem: &Problem<'_>, variable: Variable, value: u32, found: &mut Vec<Dependency>) {
    for (number, nogood) in (0..).zip(problem.nogoods()) {
        let count = to_u32(nogood.terms.len());
        for (term, (of, values)) in (0..).zip(&nogood.terms) {
            if *of == variable && values.contains(value) {
                let others = PositionSet::range(0, count).without(term);
                let target = VirtualPackage::Nogood(number);
                add(problem, target, others, Fact::Nogood(number), found);
            }
        }
    }
}

/// Adds the requirements and the extended classes of a release.
fn add_release(
    problem: &mut Problem<'_>,
    release: ReleaseId,
    found: &mut Vec<Dependency>,
) -> Result<(), Interrupt> {
    let details = problem.universe.details(release);
    let owner = release.package;
    let required = details.requirements.iter().map(|stated| stated.package);
    problem.universe.catalog.ensure_delivered(required)?;
    let mut is_impossible = false;
    for (number, stated) in details.requirements.iter().enumerate() {
        problem.universe.catalog.set_required(stated.package);
        let allowed = problem.universe.allowed(stated);
        is_impossible |= allowed.is_empty();
        let fact = Fact::Requires {
            owner,
            target: stated.package,
            allowed: allowed.clone(),
        };
        let target = VirtualPackage::Variable(problem.bound_variable(release, number));
        add(problem, target, allowed, fact, found);
    }
    // If a required package has no allowed release, that is the reason. Missing classes only follow
    // from it. A restricted problem may lack the requirement.
    let Some(classes) = &details.classes else {
        return Ok(());
    };
    if is_impossible && !problem.is_restricted() {
        return Ok(());
    }
    if classes.has_cycle {
        let fact = Fact::OwnCycle { owner };
        add(
            problem,
            VirtualPackage::Never,
            PositionSet::EMPTY,
            fact,
            found,
        );
    }
    for class in &classes.external {
        let class = *class;
        let fact = Fact::Extends { owner, class };
        match problem.definers_of(release, class).as_slice() {
            [] => add(
                problem,
                VirtualPackage::Never,
                PositionSet::EMPTY,
                fact,
                found,
            ),
            [(number, allowed)] => {
                let target = VirtualPackage::Variable(problem.bound_variable(release, *number));
                add(problem, target, allowed.clone(), fact, found);
            }
            several => {
                let count = to_u32(several.len());
                let target = VirtualPackage::Provider(release, class);
                add(problem, target, PositionSet::range(0, count), fact, found);
            }
        }
    }
    Ok(())
}
