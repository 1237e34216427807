//! Facts as reasons: which versions they hold for, where they are written, and a sentence.

use crate::encoding::{Encoding, Fact};
use crate::universe::Missing;
use crate::word_set::WordSet;

use super::breaches::Breaches;
use super::demands::demands;
use super::extends::extends;
use super::inherited::own_circle;
use super::limits::limit;
use super::reason::Reason;
use super::requirements::requirements;

/// The reasons that a fact amounts to, without the lines that are about no release among `told`.
/// Of the `breaches` that are alike only the first is told, for all. All of them are said to clash: which do
/// not is not for one fact to know.
pub(super) fn of(
    encoding: &mut Encoding<'_>,
    fact: &Fact,
    told: &WordSet,
    breaches: &Breaches,
) -> Result<Vec<Reason>, Missing> {
    Ok(match fact {
        Fact::Requires {
            owner,
            target,
            allowed,
        } if encoding.universe.is_model(*owner) => {
            demands(encoding.universe, *owner, (*target, allowed), breaches)
        }
        Fact::Requires {
            owner,
            target,
            allowed,
        } => requirements(encoding.universe, (*owner, *target, allowed), told),
        Fact::Extends { owner, class } => extends(encoding, *owner, *class, told)?,
        Fact::OwnCycle { owner } => vec![own_circle(encoding.universe, *owner)],
        Fact::Wanted { package } | Fact::Stays { package } => {
            vec![limit(encoding, fact, *package)]
        }
        Fact::Clause(number) => breaches.reason(encoding, *number).into_iter().collect(),
    })
}
