//! Search engines: they find values for the variables of an encoding, or prove that there are
//! none.

mod pubgrub;

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::encoding::{Clause, Encoding, Fact, Missing, Variable};
use crate::hierarchy;
use crate::improve::{Stopped, improve};
use crate::model;
use crate::selection::Selection;
use crate::universe::{PackageId, ReleaseId};

/// What is left of the steps that the solver may take.
#[derive(Debug)]
pub(crate) struct Budget {
    limit: u64,
    taken: u64,
    /// After how many conflicts a search no longer insists on the best selection.
    patience: u64,
}

/// The budget is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exhausted;

impl Budget {
    pub(crate) fn new(limit: u64, patience: u64) -> Self {
        Self {
            limit,
            taken: 0,
            patience,
        }
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

    /// Forgets the steps since an earlier count. A search that begins again once more is delivered
    /// counts once: whether the solver gives up must not depend on what was there beforehand.
    pub(crate) fn rewind(&mut self, taken: u64) {
        self.taken = taken;
    }
}

/// Values of variables that fulfil an encoding.
#[derive(Debug, Default)]
pub(crate) struct Values {
    values: FxHashMap<Variable, u32>,
    /// Whether there are none better in the order of decisions.
    are_best: bool,
}

/// How a search ended.
#[derive(Debug)]
pub(crate) enum Outcome<T> {
    /// With a result.
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
/// breaks rule 3 or a contract of the model, another one. What it finds is the best selection in
/// the order of decisions or, if that takes more conflicts than there is patience for, a locally
/// best one.
pub(crate) fn search(encoding: &mut Encoding<'_>, budget: &mut Budget) -> Outcome<Selection> {
    loop {
        let (selection, is_best) = match pubgrub::solve(encoding, budget) {
            Outcome::Solved(values) => (selection(encoding, &values.values), values.are_best),
            Outcome::Impossible(proof) => return Outcome::Impossible(proof),
            Outcome::Missing(missing) => return Outcome::Missing(missing),
            Outcome::GaveUp => return Outcome::GaveUp,
        };
        if let Some(violation) = hierarchy::violation(encoding.universe, &selection) {
            encoding.forbid(&selection, violation);
            continue;
        }
        match model::unmet_contract(encoding.universe, &selection) {
            Ok(None) if is_best => return Outcome::Solved(selection),
            Ok(None) => {
                let split = encoding.split().clone();
                return match improve(encoding.universe, selection, &split, budget) {
                    Ok(selection) => Outcome::Solved(selection),
                    Err(Stopped::Missing(missing)) => Outcome::Missing(missing),
                    Err(Stopped::Exhausted) => Outcome::GaveUp,
                };
            }
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
fn selection(encoding: &mut Encoding<'_>, values: &FxHashMap<Variable, u32>) -> Selection {
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

/// Why a search was in vain, and what it was about.
#[derive(Debug)]
pub(crate) struct Impossible {
    pub(crate) proof: Proof,
    /// The packages that may have several releases.
    pub(crate) split: BTreeSet<PackageId>,
    /// The clauses that the facts of the proof refer to.
    pub(crate) clauses: Vec<Clause>,
}

/// Whether these facts alone leave no selection, and if so, which of them a proof uses.
pub(crate) fn refute(
    encoding: &mut Encoding<'_>,
    facts: FxHashSet<Fact>,
    budget: &mut Budget,
) -> Result<Option<Proof>, Missing> {
    let taken = budget.taken();
    encoding.restrict(Some(facts));
    let outcome = pubgrub::solve(encoding, budget);
    encoding.restrict(None);
    match outcome {
        Outcome::Impossible(proof) => Ok(Some(proof)),
        Outcome::Solved(_) | Outcome::GaveUp => Ok(None),
        Outcome::Missing(missing) => {
            budget.rewind(taken);
            Err(missing)
        }
    }
}
