//! The second tier: several releases of as few packages as possible.
//!
//! Which packages are split is decided in the order of their names: each keeps one release if a
//! valid resolution remains. Searching with every package split would be hopeless for a large
//! universe; instead a search begins with few split packages, and each time it fails, the packages
//! are split of which its proof uses that they have one release. A proof that uses none holds for
//! every choice of split packages.

use std::collections::BTreeSet;

use pkgres_manifest::PackageName;
use rustc_hash::FxHashSet;

use crate::budget::{Budget, Interrupt};
use crate::improve::search_and_improve;
use crate::problem::{Goals, Problem};
use crate::search::{Proof, Refuted, Verdict};
use crate::selection::Selection;
use crate::universe::{PackageId, Universe};

/// Whether several releases of any package could change what a proof says.
pub(crate) fn can_split(universe: &Universe, proof: &Proof) -> bool {
    split_more(universe, &mut BTreeSet::new(), proof, |_| true)
}

/// The best valid selection among those with the fewest split packages, or a proof that there is none
/// whatever is split. Some packages may be split already; `first` is the proof that this is not enough.
pub(crate) fn search_second_tier(
    universe: &mut Universe,
    goals: &Goals,
    split: BTreeSet<PackageId>,
    first: &Proof,
    budget: &mut Budget,
) -> Result<Verdict<Selection, Box<Refuted>>, Interrupt> {
    budget.restartable(|budget| minimal_split(universe, goals, split, first, budget))
}

fn minimal_split(
    universe: &mut Universe,
    goals: &Goals,
    mut split: BTreeSet<PackageId>,
    first: &Proof,
    budget: &mut Budget,
) -> Result<Verdict<Selection, Box<Refuted>>, Interrupt> {
    split_more(universe, &mut split, first, |_| true);
    let mut witness = match search_splitting(universe, goals, &mut split, |_| true, budget)? {
        Verdict::Solved(witness) => witness,
        Verdict::Impossible(refuted) => return Ok(Verdict::Impossible(refuted)),
    };
    let mut settled: Option<PackageName> = None;
    // Of which not every requirement was asked about.
    let kept: BTreeSet<PackageId> = goals.partial_packages().collect();
    while let Some((name, package)) = next_split(universe, &witness, settled.as_ref()) {
        // Those in between have one release already, and are to keep it.
        split.retain(|package| {
            let other = universe.name(*package);
            let is_settled = settled.as_ref().is_some_and(|settled| other <= settled);
            *other >= name || is_settled || kept.contains(package)
        });
        if kept.contains(&package) {
            settled = Some(name);
            continue;
        }
        // Only packages that come later may be split to make up for this one.
        let mut without = split.clone();
        without.remove(&package);
        let may_split = |other: &PackageName| *other > name;
        let verdict = search_splitting(universe, goals, &mut without, may_split, budget)?;
        if let Verdict::Solved(better) = verdict {
            witness = better;
            split = without;
        }
        settled = Some(name);
    }
    split.retain(|other| {
        let is_settled = |settled: &PackageName| universe.name(*other) <= settled;
        settled.as_ref().is_some_and(is_settled) || kept.contains(other)
    });
    // The witness may come from a search in which more packages were split.
    let mut problem = limited(universe, goals, split);
    Ok(Verdict::Solved(
        match search_and_improve(&mut None, &mut problem, budget)? {
            Verdict::Solved(selection) => selection,
            Verdict::Impossible(_) => {
                debug_assert!(false, "the witness fulfils all that is asked for here");
                witness
            }
        },
    ))
}

/// Searches, splitting more packages as proofs ask for it and `may_split` allows.
fn search_splitting(
    universe: &mut Universe,
    goals: &Goals,
    split: &mut BTreeSet<PackageId>,
    may_split: impl Fn(&PackageName) -> bool,
    budget: &mut Budget,
) -> Result<Verdict<Selection, Box<Refuted>>, Interrupt> {
    loop {
        let mut problem = limited(universe, goals, split.clone());
        let proof = match search_and_improve(&mut None, &mut problem, budget)? {
            Verdict::Solved(selection) => return Ok(Verdict::Solved(selection)),
            Verdict::Impossible(proof) => proof,
        };
        let goals = problem.take_goals();
        let nogoods = problem.into_nogoods();
        if !split_more(universe, split, &proof, &may_split) {
            return Ok(Verdict::Impossible(Box::new(Refuted {
                proof,
                split: split.clone(),
                nogoods,
                goals,
            })));
        }
    }
}

/// The problem in which these packages may have several releases, within goals.
fn limited<'universe>(
    universe: &'universe mut Universe,
    goals: &Goals,
    split: BTreeSet<PackageId>,
) -> Problem<'universe> {
    let mut problem = Problem::new(universe, split);
    let mut goals = goals.clone();
    // They are about what may have several releases.
    goals.clear_loop_nogoods();
    problem.set_goals(goals);
    problem
}

/// Splits the packages of which a proof uses that they have one release; says whether any were.
pub(crate) fn split_more(
    universe: &Universe,
    split: &mut BTreeSet<PackageId>,
    proof: &Proof,
    may_split: impl Fn(&PackageName) -> bool,
) -> bool {
    let before = split.len();
    split.extend(proof.single.iter().copied().filter(|package| {
        let several = universe.is_delivered(*package) && universe.candidates_of(*package).len() > 1;
        several && !universe.is_root(*package) && may_split(universe.name(*package))
    }));
    split.len() > before
}

/// The first package after `settled`, in the order of names, that has several releases.
fn next_split(
    universe: &Universe,
    selection: &Selection,
    settled: Option<&PackageName>,
) -> Option<(PackageName, PackageId)> {
    let mut seen = FxHashSet::default();
    selection
        .releases()
        .iter()
        .map(|release| release.package)
        .filter(|package| !seen.insert(*package))
        .map(|package| (universe.name(package), package))
        .filter(|(name, _)| settled.is_none_or(|settled| *name > settled))
        .min()
        .map(|(name, package)| (name.clone(), package))
}
