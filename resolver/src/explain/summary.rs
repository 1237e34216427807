//! The contradiction at the center of a conflict, and its summary.

use std::collections::BTreeMap;

use pkgres_manifest::PackageName;
use pkgres_manifest::diagnostic::{Code, Escaped};
use rustc_hash::{FxHashMap, FxHashSet};

use super::phrases::kind_and_name;
use crate::class_rules::Violation;
use crate::problem::{Fact, NogoodCause, Problem};
use crate::set::PositionSet;
use crate::universe::{PackageId, Universe};

/// The packages on which the facts of a conflict contradict each other.
pub(super) struct Contradiction {
    /// The package in the summary.
    pub(super) package: Option<PackageId>,
    /// All packages with contradicting facts.
    packages: FxHashSet<PackageId>,
    /// The packages, by name, that each require all of these, if there are several: whatever their
    /// versions are, one of the requirements cannot be satisfied.
    pub(super) common_dependents: Vec<PackageId>,
    /// Whether other requirements exclude some of their versions.
    pub(super) is_restricted: bool,
}

impl Contradiction {
    /// The contradiction of facts with these [unsatisfiable packages](unsatisfiable_packages).
    pub(super) fn of(
        problem: &Problem<'_>,
        facts: &[Fact],
        unsatisfiable_packages: &FxHashSet<PackageId>,
    ) -> Self {
        match first_violation(problem, facts) {
            None => Self::of_requirements(problem, facts, unsatisfiable_packages),
            Some(cause) => Self::of_package(diamond_package(cause)),
        }
    }

    fn of_package(package: Option<PackageId>) -> Self {
        Self {
            package,
            packages: package.into_iter().collect(),
            common_dependents: Vec::new(),
            is_restricted: false,
        }
    }

    fn of_requirements(
        problem: &Problem<'_>,
        facts: &[Fact],
        unsatisfiable_packages: &FxHashSet<PackageId>,
    ) -> Self {
        let common_dependents = common_dependents_of(problem, facts, unsatisfiable_packages);
        if unsatisfiable_packages.len() > 1 && !common_dependents.is_empty() {
            return Self::of_common_dependents(
                problem,
                facts,
                common_dependents,
                unsatisfiable_packages,
            );
        }
        let mut contradiction =
            Self::of_package(most_restricted(problem, facts, unsatisfiable_packages));
        contradiction.packages.extend(unsatisfiable_packages);
        contradiction
    }

    /// The contradiction of packages that each require all unsatisfiable packages, with the
    /// requirements that exclude other versions of them.
    fn of_common_dependents(
        problem: &Problem<'_>,
        facts: &[Fact],
        common_dependents: Vec<PackageId>,
        unsatisfiable_packages: &FxHashSet<PackageId>,
    ) -> Self {
        let universe = &*problem.universe;
        let restricted_dependents = facts.iter().filter_map(|fact| match fact {
            Fact::Requires {
                target, allowed, ..
            } if common_dependents.contains(target) => {
                let is_restricted = !(universe.catalog)
                    .candidates_of(*target)
                    .is_subset_of(allowed);
                is_restricted.then_some(*target)
            }
            _ => None,
        });
        let restricted_dependents: Vec<PackageId> = restricted_dependents.collect();
        let is_restricted = !restricted_dependents.is_empty();
        let mut packages = unsatisfiable_packages.clone();
        packages.extend(restricted_dependents);
        Self {
            package: common_dependents.first().copied(),
            packages,
            common_dependents,
            is_restricted,
        }
    }

    /// Whether a fact is part of the contradiction, rather than leading to it.
    pub(super) fn is_of(&self, fact: &Fact) -> bool {
        match fact {
            Fact::Requires { target, .. } => self.packages.contains(target),
            Fact::Wanted { package } | Fact::Stays { package } => self.packages.contains(package),
            Fact::Extends { .. } | Fact::OwnCycle { .. } | Fact::Nogood(_) => true,
        }
    }
}

/// The source of constraints on a package, over all its versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum ConstraintSource {
    /// A package, whose versions may constrain differently.
    Package(PackageId),
    /// A single fact, by its position.
    Fact(usize),
}

impl ConstraintSource {
    /// The source of a requirement. Each fact about the objects of a model is a source by itself.
    pub(super) fn of(universe: &Universe, owner: PackageId, fact: usize) -> Self {
        if universe.catalog.is_model(owner) {
            Self::Fact(fact)
        } else {
            Self::Package(owner)
        }
    }
}

/// The cause of the first nogood among the facts.
pub(super) fn first_violation<'problem>(
    problem: &'problem Problem<'_>,
    facts: &[Fact],
) -> Option<&'problem NogoodCause> {
    facts.iter().find_map(|fact| match fact {
        Fact::Nogood(number) => Some(&problem.nogoods()[*number as usize].cause),
        _ => None,
    })
}

/// The package from which a class would be inherited in two versions.
fn diamond_package(cause: &NogoodCause) -> Option<PackageId> {
    let NogoodCause::Rule(Violation::Diamond([one, two])) = cause else {
        return None;
    };
    let (one, two) = (one.last()?.release.package, two.last()?.release.package);
    (one == two).then_some(one)
}

/// The packages without a version that all sources of constraints allow. A package allows what any
/// of its versions allows.
pub(super) fn unsatisfiable_packages(
    problem: &Problem<'_>,
    facts: &[Fact],
) -> FxHashSet<PackageId> {
    let goals = problem.goals();
    let mut allowed: FxHashMap<PackageId, FxHashMap<ConstraintSource, PositionSet>> =
        FxHashMap::default();
    for (at, fact) in facts.iter().enumerate() {
        let (package, source, allowed_here) = match fact {
            Fact::Requires {
                owner,
                target,
                allowed,
            } => (
                *target,
                ConstraintSource::of(problem.universe, *owner, at),
                allowed,
            ),
            Fact::Wanted { package } => match goals.goal(*package) {
                Some(goal) => (*package, ConstraintSource::Fact(at), &goal.allowed),
                None => continue,
            },
            Fact::Stays { package } => {
                (*package, ConstraintSource::Fact(at), &goals.stays[package])
            }
            _ => continue,
        };
        let union = allowed.entry(package).or_default().entry(source);
        let union = union.or_insert(PositionSet::EMPTY);
        *union = union.union(allowed_here);
    }
    let unsatisfiable = allowed.into_iter().filter(|(_, by_source)| {
        let mut sets = by_source.values();
        let first = sets.next().cloned().unwrap_or(PositionSet::FULL);
        sets.fold(first, |one, other| one.intersection(other))
            .is_empty()
    });
    unsatisfiable.map(|(package, _)| package).collect()
}

/// The packages except roots that require all unsatisfiable ones in some version, by name.
fn common_dependents_of(
    problem: &Problem<'_>,
    facts: &[Fact],
    unsatisfiable: &FxHashSet<PackageId>,
) -> Vec<PackageId> {
    let universe = &*problem.universe;
    let mut required: FxHashMap<PackageId, FxHashSet<PackageId>> = FxHashMap::default();
    for fact in facts {
        if let Fact::Requires { owner, target, .. } = fact
            && unsatisfiable.contains(target)
            && !universe.catalog.is_root(*owner)
        {
            required.entry(*owner).or_default().insert(*target);
        }
    }
    let common_dependents = required
        .into_iter()
        .filter(|(_, of)| of.len() == unsatisfiable.len());
    let mut common_dependents: Vec<PackageId> =
        common_dependents.map(|(package, _)| package).collect();
    common_dependents.sort_by_key(|package| universe.catalog.name(*package));
    common_dependents
}

/// The most restricted package, among the unsatisfiable ones if there are any. First come packages
/// without an allowed version, then those with requirements of a root, then those with the most
/// requirements; of equals the first by name.
fn most_restricted(
    problem: &Problem<'_>,
    facts: &[Fact],
    unsatisfiable_packages: &FxHashSet<PackageId>,
) -> Option<PackageId> {
    let universe = &*problem.universe;
    let mut restricted: BTreeMap<&PackageName, (PackageId, Restrictedness)> = BTreeMap::new();
    for fact in facts {
        let (package, has_versions, by_root) = match fact {
            Fact::Requires {
                owner,
                target,
                allowed,
            } => (
                *target,
                !allowed.is_empty(),
                universe.catalog.is_root(*owner),
            ),
            Fact::Wanted { package } | Fact::Stays { package } => (*package, true, true),
            _ => continue,
        };
        if unsatisfiable_packages.is_empty() || unsatisfiable_packages.contains(&package) {
            let entry = restricted.entry(universe.catalog.name(package));
            let (_, how) = entry.or_insert((package, Restrictedness::default()));
            how.has_no_version |= !has_versions;
            how.by_root |= by_root;
            how.requirements += 1;
        }
    }
    let restricted = restricted.into_values().rev();
    let (package, _) = restricted.max_by_key(|(_, how)| *how)?;
    Some(package)
}

/// How restricted a package is; the first field that differs decides.
#[derive(Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Restrictedness {
    has_no_version: bool,
    by_root: bool,
    requirements: usize,
}

/// The conflict in one sentence.
pub(super) struct Summary {
    pub(super) code: Code,
    pub(super) text: String,
}

impl Summary {
    fn new(code: Code, text: String) -> Self {
        Self { code, text }
    }

    /// Sums a conflict up by the first of these that takes part in it: a violated rule, a class that is not found, the
    /// package that is most restricted.
    pub(super) fn of(problem: &Problem<'_>, facts: &[Fact], contradiction: &Contradiction) -> Self {
        violation_summary(problem, facts)
            .or_else(|| class_summary(problem.universe, facts))
            .unwrap_or_else(|| package_summary(problem, facts, contradiction))
    }
}

fn violation_summary(problem: &Problem<'_>, facts: &[Fact]) -> Option<Summary> {
    let catalog = &problem.universe.catalog;
    let summary = match first_violation(problem, facts)? {
        NogoodCause::Contract(violation) => {
            let model = catalog.model().expect("only models have contracts");
            let text = format!(
                "the contract of `{}` of the object {} is not met",
                Escaped::shortened(&violation.path),
                model.shown(violation.holder)
            );
            Summary::new(Code::ModelContract, text)
        }
        NogoodCause::Rule(Violation::Diamond([one, _])) => {
            let class = catalog.class_name(one[0].class);
            let inherited = catalog.class_name(one.last().expect("a path has an end").class);
            let text = match inherited.interface_name() {
                Some(interface) => format!("`{class}` would implement `{interface}` twice"),
                None => format!("`{class}` would inherit `{inherited}` twice"),
            };
            Summary::new(Code::Diamond, text)
        }
        NogoodCause::Rule(Violation::Cycle(cycle)) => {
            let class = catalog.class_name(cycle[0].class);
            Summary::new(Code::ClassCycle, format!("`{class}` would extend itself"))
        }
        NogoodCause::Rule(Violation::Missing { .. } | Violation::UnnamedPrerelease(_))
        | NogoodCause::Line => return None,
    };
    Some(summary)
}

fn class_summary(universe: &Universe, facts: &[Fact]) -> Option<Summary> {
    let catalog = &universe.catalog;
    facts.iter().find_map(|fact| match fact {
        Fact::OwnCycle { owner } => {
            let name = catalog.name(*owner);
            let text = format!("classes of `{name}` extend each other");
            Some(Summary::new(Code::ClassCycle, text))
        }
        Fact::Extends { class, .. } => {
            let (what, name) = kind_and_name(catalog.class_name(*class));
            let text = format!("no version that could be chosen defines the {what} `{name}`");
            Some(Summary::new(Code::ClassUnavailable, text))
        }
        _ => None,
    })
}

fn package_summary(
    problem: &Problem<'_>,
    facts: &[Fact],
    contradiction: &Contradiction,
) -> Summary {
    let catalog = &problem.universe.catalog;
    let no_version = |text: String| Summary::new(Code::NoVersion, text);
    let Some(package) = contradiction.package else {
        return no_version("there is no resolution".to_owned());
    };
    let name = catalog.name(package);
    let version = if contradiction.is_restricted {
        "allowed version"
    } else {
        "version"
    };
    if let [_, other] = contradiction.common_dependents.as_slice() {
        let other = catalog.name(*other);
        return no_version(format!(
            "no {version} of `{name}` goes with one of `{other}`"
        ));
    }
    if catalog.release_count(package) == 0 {
        let text = format!("no registry has a package `{name}`");
        return Summary::new(Code::UnknownPackage, text);
    }
    if let [Fact::Wanted { .. }] = facts {
        let goal = problem.goals().goal(package);
        return no_version(if goal.is_some_and(|goal| goal.allowed.is_empty()) {
            format!("there is no such version of `{name}`")
        } else {
            format!("nothing requires `{name}`")
        });
    }
    let mut allows_nothing = false;
    let mut requirements = 0;
    for fact in facts {
        match fact {
            Fact::Requires {
                target, allowed, ..
            } if *target == package => {
                allows_nothing |= allowed.is_empty();
                requirements += 1;
            }
            Fact::Wanted { package: other } | Fact::Stays { package: other }
                if *other == package =>
            {
                requirements += 1;
            }
            _ => {}
        }
    }
    let has_common_dependent = !contradiction.common_dependents.is_empty();
    no_version(
        if requirements == 1 || allows_nothing || has_common_dependent {
            format!("no {version} of `{name}` can be used")
        } else {
            format!("no version of `{name}` satisfies all requirements")
        },
    )
}
