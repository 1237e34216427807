//! The report of a conflict: facts as reasons and their order, its summary and its hints.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use pkgres_manifest::PackageName;
use rustc_hash::FxHashSet;

use super::SuggestedChange;
use super::conflict::{Conflict, Reason, ReasonKind};
use super::hints::hints;
use super::minimize::{Reduced, needed_lines};
use super::missing_classes::{extends_reasons, own_cycle_reason};
use super::possible::keep_possible;
use super::requirements::{Spellings, goal_reason, object_requirements, requirements};
use super::summary::{Contradiction, Summary, unsatisfiable_packages};
use super::violations::ViolationGroups;
use crate::budget::{Budget, Interrupt};
use crate::problem::{Fact, Problem};
use crate::set::PositionSet;
use crate::universe::{PackageId, Universe};

/// The report of facts. Without `suggestions`, it has no hints.
pub(super) fn report(
    problem: &mut Problem<'_>,
    reduced: &Reduced<'_>,
    suggestions: Option<&[SuggestedChange]>,
    may_split: bool,
    budget: &Budget,
) -> Result<Conflict, Interrupt> {
    let facts = reduced.facts;
    let unsatisfiable = unsatisfiable_packages(problem, facts);
    let contradiction = Contradiction::of(problem, facts, &unsatisfiable);
    let mut spellings = Spellings::default();
    let mut lines = needed_lines(problem, facts, &mut spellings, may_split, budget)?;
    keep_possible(problem, facts, &mut lines.reported, &mut spellings);
    let violations = ViolationGroups::among(problem, facts);
    let mut reasons = Vec::new();
    let mut missing_classes: FxHashSet<String> = FxHashSet::default();
    for (fact, reported) in facts.iter().zip(&lines.reported) {
        let mut of_fact = reasons_of(
            problem,
            (fact, facts),
            reported,
            &violations,
            &mut spellings,
        )?;
        let clashes = contradiction.is_of(fact);
        for reason in &mut of_fact {
            reason.clashes = clashes;
        }
        // Several facts may depend on the same missing class.
        of_fact.retain(|reason| {
            let is_lack = matches!(
                reason.kind,
                ReasonKind::Lacks { .. } | ReasonKind::LacksInterface { .. }
            );
            !is_lack || missing_classes.insert(reason.text.clone())
        });
        reasons.extend(of_fact);
    }
    sort(&mut reasons, problem.universe, facts);
    let Summary { code, text } = Summary::of(problem, facts, &contradiction);
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
        summary: text,
        packages: packages.into_iter().collect(),
        is_minimal: reduced.is_minimal && lines.is_minimal,
        is_smallest: reduced.is_smallest && lines.is_minimal && lines.is_one_each,
        hints: suggestions.map_or_else(Vec::new, |suggestions| {
            hints(problem, facts, unsatisfiable, suggestions)
        }),
        suggestions: suggestions.unwrap_or_default().to_vec(),
        reasons,
    })
}

/// The reasons of a fact among all facts of a proof. `reported` are the releases whose lines are needed. Violations of
/// the same shape have one reason. All reasons are marked as contradicting; the caller knows which do.
pub(super) fn reasons_of(
    problem: &mut Problem<'_>,
    (fact, facts): (&Fact, &[Fact]),
    reported: &PositionSet,
    violations: &ViolationGroups,
    spellings: &mut Spellings,
) -> Result<Vec<Reason>, Interrupt> {
    Ok(match fact {
        Fact::Requires {
            owner,
            target,
            allowed,
        } if problem.universe.catalog.is_model(*owner) => {
            object_requirements(problem.universe, *owner, (*target, allowed), violations)
        }
        Fact::Requires {
            owner,
            target,
            allowed,
        } => {
            let requirement = (*owner, *target, allowed);
            requirements(problem.universe, requirement, reported, spellings)
        }
        Fact::Extends { owner, class } => {
            extends_reasons(problem, *owner, *class, reported, facts)?
        }
        Fact::OwnCycle { owner } => vec![own_cycle_reason(problem.universe, *owner)],
        Fact::Wanted { package } | Fact::Stays { package } => {
            vec![goal_reason(problem, fact, *package)]
        }
        Fact::Nogood(number) => violations.reason(problem, *number).into_iter().collect(),
    })
}

/// Sorts the reasons of facts. What contradicts each other comes first, then violated class rules and contracts, then
/// the requirements that led there, from the roots on. Equal reasons keep their order.
pub(super) fn sort(reasons: &mut [Reason], universe: &Universe, facts: &[Fact]) {
    let distances = distances(reasons, universe, facts);
    let distance = |reason: &Reason| distances.get(&reason.owner).copied().unwrap_or(usize::MAX);
    let is_about_requirements =
        |reason: &Reason| matches!(reason.kind, ReasonKind::Requires { .. } | ReasonKind::Stays);
    reasons.sort_by_key(|reason| {
        (
            !reason.clashes,
            is_about_requirements(reason),
            distance(reason),
        )
    });
}

/// The distance of packages from the roots along the requirements among the facts, and from classes to the packages in
/// which they are looked up.
fn distances(
    reasons: &[Reason],
    universe: &Universe,
    facts: &[Fact],
) -> BTreeMap<Option<PackageName>, usize> {
    let name = |package: PackageId| universe.catalog.package_name(package).cloned();
    let mut required: BTreeMap<Option<PackageName>, Vec<Option<PackageName>>> = BTreeMap::new();
    for fact in facts {
        if let Fact::Requires { owner, target, .. } = fact {
            let of_owner = required.entry(name(*owner)).or_default();
            of_owner.push(name(*target));
        }
    }
    for reason in reasons.iter().filter(|reason| !reason.searched.is_empty()) {
        let of_owner = required.entry(reason.owner.clone()).or_default();
        of_owner.extend(reason.searched.iter().cloned().map(Some));
    }
    let mut distances = BTreeMap::new();
    let mut queue: VecDeque<Option<PackageName>> = VecDeque::new();
    for root in universe.catalog.roots() {
        distances.insert(name(root.package), 0);
        queue.push_back(name(root.package));
    }
    while let Some(package) = queue.pop_front() {
        let next = distances[&package] + 1;
        for target in required.remove(&package).unwrap_or_default() {
            if let Entry::Vacant(entry) = distances.entry(target.clone()) {
                entry.insert(next);
                queue.push_back(target);
            }
        }
    }
    distances
}
