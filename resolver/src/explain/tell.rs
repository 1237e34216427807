//! Putting facts into words: what the conflict is, and the reasons in order.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use pkgres_manifest::PackageName;
use pkgres_manifest::diagnostic::{Code, Escaped};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::budget::{Budget, Interrupt};
use crate::hierarchy::Violation;
use crate::problem::{Fact, NogoodCause, Problem};
use crate::universe::{PackageId, Universe};

use super::breaches::Breaches;
use super::clash::{Clash, breach, dead_ends};
use super::reduce::Reduced;
use super::{Conflict, Reason, ReasonKind, Repair, hints, lines, reasons};

pub(super) fn tell(
    problem: &mut Problem<'_>,
    reduced: &Reduced<'_>,
    repairs: &[Repair],
    budget: &Budget,
) -> Result<Conflict, Interrupt> {
    let facts = reduced.facts;
    let dead_ends = dead_ends(problem, facts);
    let clash = Clash::of(problem, facts, &dead_ends);
    let told = lines::needed(problem, facts, budget)?;
    let breaches = Breaches::among(problem, facts);
    let mut reasons = Vec::new();
    let mut lacking: FxHashSet<String> = FxHashSet::default();
    for (fact, told) in facts.iter().zip(&told) {
        let mut of_fact = reasons::of(problem, fact, told, &breaches)?;
        let clashes = clash.is_of(fact);
        for reason in &mut of_fact {
            reason.clashes = clashes;
        }
        // Several facts may rest on one class that is missing.
        of_fact.retain(|reason| {
            !matches!(reason.kind, ReasonKind::Lacks { .. }) || lacking.insert(reason.text.clone())
        });
        reasons.extend(of_fact);
    }
    let order = distances(problem.universe, facts);
    let distance = |reason: &Reason| order.get(&reason.owner).copied().unwrap_or(usize::MAX);
    // What classes inherit and contracts want is the point; requirements are how it came about.
    let is_point = |reason: &Reason| {
        let is_about_requirements =
            matches!(reason.kind, ReasonKind::Requires { .. } | ReasonKind::Stays);
        !is_about_requirements
    };
    reasons.sort_by_key(|reason| (!reason.clashes, !is_point(reason), distance(reason)));
    let (code, summary) = summary(problem, facts, &clash);
    let packages: BTreeSet<PackageName> = reasons
        .iter()
        .flat_map(|reason| {
            let required = match &reason.kind {
                ReasonKind::Requires { package, .. } => Some(package.clone()),
                _ => None,
            };
            required.into_iter().chain(reason.owner.clone())
        })
        .collect();
    Ok(Conflict {
        code,
        summary,
        packages: packages.into_iter().collect(),
        is_minimal: reduced.is_minimal,
        hints: hints::hints(problem, facts, dead_ends, repairs),
        repairs: repairs.to_vec(),
        reasons,
    })
}

/// How far packages are from the roots along the requirements among the facts.
fn distances(universe: &Universe, facts: &[Fact]) -> BTreeMap<Option<PackageName>, usize> {
    let name = |package: PackageId| universe.catalog.package_name(package).cloned();
    let mut required: FxHashMap<PackageId, Vec<PackageId>> = FxHashMap::default();
    for fact in facts {
        if let Fact::Requires { owner, target, .. } = fact {
            required.entry(*owner).or_default().push(*target);
        }
    }
    let mut distances = BTreeMap::new();
    let mut queue: VecDeque<PackageId> = VecDeque::new();
    for root in universe.catalog.roots() {
        distances.insert(name(root.package), 0);
        queue.push_back(root.package);
    }
    while let Some(package) = queue.pop_front() {
        let next = distances[&name(package)] + 1;
        for target in required.remove(&package).unwrap_or_default() {
            if let Entry::Vacant(entry) = distances.entry(name(target)) {
                entry.insert(next);
                queue.push_back(target);
            }
        }
    }
    distances
}

fn summary(problem: &Problem<'_>, facts: &[Fact], about: &Clash) -> (Code, String) {
    let universe = &*problem.universe;
    match breach(problem, facts) {
        Some(NogoodCause::Contract(breach)) => {
            let model = universe
                .catalog
                .model()
                .expect("only models have contracts");
            let message = format!(
                "the contract of `{}` of the object {} is not met",
                Escaped::shortened(&breach.path),
                model.shown(breach.holder)
            );
            return (Code::ModelContract, message);
        }
        Some(NogoodCause::Rule(Violation::Diamond([one, _]))) => {
            let class = universe.catalog.class_name(one[0].class);
            let inherited = universe
                .catalog
                .class_name(one.last().expect("a path has an end").class);
            return (
                Code::Diamond,
                format!("`{class}` would inherit `{inherited}` twice"),
            );
        }
        Some(NogoodCause::Rule(Violation::Cycle(cycle))) => {
            let class = universe.catalog.class_name(cycle[0].class);
            return (Code::ClassCycle, format!("`{class}` would extend itself"));
        }
        Some(NogoodCause::Rule(Violation::Missing { .. }) | NogoodCause::Line) | None => {}
    }
    for fact in facts {
        match fact {
            Fact::OwnCycle { owner } => {
                let name = universe.catalog.name(*owner);
                return (
                    Code::ClassCycle,
                    format!("classes of `{name}` extend each other"),
                );
            }
            Fact::Extends { class, .. } => {
                let class = universe.catalog.class_name(*class);
                let message =
                    format!("no version that could be chosen defines the class `{class}`");
                return (Code::ClassUnavailable, message);
            }
            _ => {}
        }
    }
    let Some(clashing) = about.package else {
        return (Code::NoVersion, "there is no resolution".to_owned());
    };
    let name = universe.catalog.name(clashing);
    let version = if about.is_limited {
        "allowed version"
    } else {
        "version"
    };
    if let [_, other] = about.leading.as_slice() {
        let other = universe.catalog.name(*other);
        return (
            Code::NoVersion,
            format!("no {version} of `{name}` goes with one of `{other}`"),
        );
    }
    if universe.catalog.release_count(clashing) == 0 {
        return (
            Code::UnknownPackage,
            format!("no registry has a package `{name}`"),
        );
    }
    if let [Fact::Wanted { .. }] = facts {
        let goal = problem.goals().goal(clashing);
        let message = if goal.is_some_and(|goal| goal.allowed.is_empty()) {
            format!("there is no such version of `{name}`")
        } else {
            format!("nothing requires `{name}`")
        };
        return (Code::NoVersion, message);
    }
    let requirements = facts.iter().filter_map(|fact| match fact {
        Fact::Requires {
            target, allowed, ..
        } if *target == clashing => Some(allowed.is_empty()),
        Fact::Wanted { package } | Fact::Stays { package } if *package == clashing => Some(false),
        _ => None,
    });
    let requirements: Vec<bool> = requirements.collect();
    let allows_nothing = requirements.contains(&true);
    if requirements.len() == 1 || allows_nothing || !about.leading.is_empty() {
        (Code::NoVersion, format!("no {version} of `{name}` will do"))
    } else {
        (
            Code::NoVersion,
            format!("no version of `{name}` satisfies everyone"),
        )
    }
}
