//! Search engines: they find values for the variables of an encoding, or prove that there are
//! none.

mod pubgrub;

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::encoding::{Encoding, Fact, Missing, Variable};
use crate::hierarchy;
use crate::model;
use crate::selection::Selection;
use crate::universe::{PackageId, ReleaseId};

/// What is left of the steps that the solver may take.
#[derive(Debug)]
pub(crate) struct Budget {
    limit: u64,
    taken: u64,
}

/// The budget is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exhausted;

impl Budget {
    pub(crate) fn new(limit: u64) -> Self {
        Self { limit, taken: 0 }
    }

    pub(crate) fn take(&mut self) -> Result<(), Exhausted> {
        if self.taken >= self.limit {
            return Err(Exhausted);
        }
        self.taken += 1;
        Ok(())
    }

    pub(crate) fn taken(&self) -> u64 {
        self.taken
    }
}

/// Values of variables.
pub(crate) type Values = FxHashMap<Variable, u32>;

/// How a search ended.
#[derive(Debug)]
pub(crate) enum Outcome<T> {
    /// With a result, the best in the order of decisions.
    Solved(T),
    /// There is none.
    Impossible(Proof),
    /// Releases are needed that were not delivered.
    Missing(Missing),
    /// The budget is used up.
    GaveUp,
}

/// What a search without result rests on.
#[derive(Debug, Default)]
pub(crate) struct Proof {
    /// Facts that leave no valid selection.
    pub(crate) facts: FxHashSet<Fact>,
    /// Packages of which the proof uses that they have one release.
    pub(crate) single: BTreeSet<PackageId>,
}

/// Searches for a valid selection: first one that fulfils the encoding, then, as long as that
/// breaks rule 3 or a contract of the model, another one.
pub(crate) fn search(encoding: &mut Encoding<'_>, budget: &mut Budget) -> Outcome<Selection> {
    loop {
        let selection = match pubgrub::solve(encoding, budget) {
            Outcome::Solved(values) => selection(encoding, &values),
            Outcome::Impossible(proof) => return Outcome::Impossible(proof),
            Outcome::Missing(missing) => return Outcome::Missing(missing),
            Outcome::GaveUp => return Outcome::GaveUp,
        };
        if let Some(violation) = hierarchy::violation(encoding.universe, &selection) {
            encoding.forbid(&selection, violation);
            continue;
        }
        match model::unmet_contract(encoding.universe, &selection) {
            Ok(None) => return Outcome::Solved(selection),
            Ok(Some(unmet)) => {
                let clause = unmet.clause(encoding, &selection);
                encoding.add(clause);
            }
            Err(missing) => return Outcome::Missing(missing),
        }
    }
}

/// What the requirements are bound to by the values of a solution. Packages that only a virtual
/// variable asked for are not reached from the roots and so are left out.
fn selection(encoding: &mut Encoding<'_>, values: &Values) -> Selection {
    let split = encoding.split().clone();
    Selection::collect(encoding.universe, |universe, release, edge| {
        let package = universe.known_details(release).edges[edge].package;
        let variable = if split.contains(&package) {
            Variable::Binding(release, u32::try_from(edge).ok()?)
        } else {
            Variable::Package(package)
        };
        Some(ReleaseId {
            package,
            index: *values.get(&variable)?,
        })
    })
    .expect("a solution binds every requirement")
}

/// Whether these facts alone leave no selection, and if so, which of them a proof uses.
pub(crate) fn refute(
    encoding: &mut Encoding<'_>,
    facts: FxHashSet<Fact>,
    budget: &mut Budget,
) -> Option<Proof> {
    encoding.restrict(Some(facts));
    let outcome = pubgrub::solve(encoding, budget);
    encoding.restrict(None);
    match outcome {
        Outcome::Impossible(proof) => Some(proof),
        _ => None,
    }
}
