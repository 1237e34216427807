//! The report of a conflict: facts as reasons, its summary and its hints.

use std::collections::BTreeSet;

use pkgres_manifest::PackageName;
use rustc_hash::FxHashSet;

use super::goal_reasons::goal_reason;
use super::hints::hints;
use super::minimize::{Reduced, needed_lines};
use super::missing_classes::{extends_reasons, own_cycle_reason};
use super::requirements::{Spellings, object_requirements, requirements};
use super::summary::{Contradiction, Summary, unsatisfiable_packages};
use super::violations::ViolationGroups;
use super::{Conflict, Reason, ReasonKind, SingleRepair, reason_order};
use crate::budget::{Budget, Interrupt};
use crate::problem::{Fact, Problem};
use crate::set::PositionSet;

pub(super) fn report(
    problem: &mut Problem<'_>,
    reduced: &Reduced<'_>,
    repairs: &[SingleRepair],
    may_split: bool,
    budget: &Budget,
) -> Result<Conflict, Interrupt> {
    let facts = reduced.facts;
    let unsatisfiable = unsatisfiable_packages(problem, facts);
    let contradiction = Contradiction::of(problem, facts, &unsatisfiable);
    let mut spellings = Spellings::default();
    let lines = needed_lines(problem, facts, &mut spellings, may_split, budget)?;
    let violations = ViolationGroups::among(problem, facts);
    let mut reasons = Vec::new();
    let mut missing_classes: FxHashSet<String> = FxHashSet::default();
    for (fact, reported) in facts.iter().zip(&lines.reported) {
        let mut of_fact = reasons_of(problem, fact, reported, &violations, &mut spellings)?;
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
    reason_order::sort(&mut reasons, problem.universe, facts);
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
        is_smallest: reduced.is_smallest && lines.is_minimal,
        hints: hints(problem, facts, unsatisfiable, repairs),
        repairs: repairs.to_vec(),
        reasons,
    })
}

/// The reasons of a fact. `reported` are the releases whose lines are needed. Violations of the
/// same shape have one reason. All reasons are marked as contradicting; the caller knows which do.
pub(super) fn reasons_of(
    problem: &mut Problem<'_>,
    fact: &Fact,
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
        Fact::Extends { owner, class } => extends_reasons(problem, *owner, *class, reported)?,
        Fact::OwnCycle { owner } => vec![own_cycle_reason(problem.universe, *owner)],
        Fact::Wanted { package } | Fact::Stays { package } => {
            vec![goal_reason(problem, fact, *package)]
        }
        Fact::Nogood(number) => violations.reason(problem, *number).into_iter().collect(),
    })
}
