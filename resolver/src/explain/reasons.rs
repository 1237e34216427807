//! Facts as reasons: which versions they hold for, where they are written, and a sentence.

use crate::budget::Interrupt;
use crate::problem::{Fact, Problem};
use crate::set::PositionSet;

use super::breaches::Breaches;
use super::extends::extends;
use super::goals::limit_to_goals;
use super::inherited::own_cycle;
use super::object_requirements::object_requirements;
use super::reason::Reason;
use super::requirements::requirements;

/// The reasons that a fact amounts to, without the lines that are about no release among `told`.
/// Of the `breaches` that are alike only the first is told, for all. All of them are said to clash: which do
/// not is not for one fact to know.
pub(super) fn of(
    problem: &mut Problem<'_>,
    fact: &Fact,
    told: &PositionSet,
    breaches: &Breaches,
) -> Result<Vec<Reason>, Interrupt> {
    Ok(match fact {
        Fact::Requires {
            owner,
            target,
            allowed,
        } if problem.universe.catalog.is_model(*owner) => {
            object_requirements(problem.universe, *owner, (*target, allowed), breaches)
        }
        Fact::Requires {
            owner,
            target,
            allowed,
        } => requirements(problem.universe, (*owner, *target, allowed), told),
        Fact::Extends { owner, class } => extends(problem, *owner, *class, told)?,
        Fact::OwnCycle { owner } => vec![own_cycle(problem.universe, *owner)],
        Fact::Wanted { package } | Fact::Stays { package } => {
            vec![limit_to_goals(problem, fact, *package)]
        }
        Fact::Nogood(number) => breaches.reason(problem, *number).into_iter().collect(),
    })
}
