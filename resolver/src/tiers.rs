//! The two tiers: one release of each package; then several releases of as few packages as possible.
//!
//! # Problem
//!
//! If there is no resolution with one release of each package, some packages are split: they may
//! have several releases side by side. As few packages as possible should be split, and which ones
//! must not depend on the course of the search. If every package were split, a search in a large
//! universe would be hopeless.
//!
//! # Idea
//!
//! The search starts with few split packages. When it fails, its proof lists the packages for which
//! it relies on having only one release; these are split next. A proof without such packages holds
//! for every choice of split packages, so there is no resolution. The first resolution is a
//! witness. It is then made minimal in the order of names: a package gets one release if there is
//! still a valid resolution, in which only packages with later names may be split instead.
//!
//! # Cost
//!
//! Every failed search splits at least one more package, so the first phase needs at most one
//! search for each package with several candidates. The second phase needs such a series of
//! searches for each package that is split in the witness. In practice both numbers are small,
//! because a proof names the packages that matter.

use std::collections::BTreeSet;

use pkgres_manifest::PackageName;
use rustc_hash::FxHashSet;

use crate::budget::{Budget, Interrupt};
use crate::improve::search_and_improve;
use crate::problem::{Goals, Nogood, Problem};
use crate::search::{Proof, Refuted, SearchEngine, Verdict};
use crate::selection::Selection;
use crate::universe::{PackageId, Universe};

/// The search of the first tier, which keeps its progress while packages are missing.
#[derive(Debug, Default)]
pub(crate) struct FirstTier {
    search: Option<SearchEngine>,
    /// The nogoods found so far, for the next [`Problem`]: it borrows the universe, so it is made again after an
    /// interrupt.
    nogoods: Vec<Nogood>,
}

impl FirstTier {
    /// Searches with one release of each package.
    pub(crate) fn advance(
        &mut self,
        universe: &mut Universe,
        budget: &mut Budget,
    ) -> Result<Verdict<Selection, Refuted>, Interrupt> {
        let known = std::mem::take(&mut self.nogoods);
        let mut problem = Problem::with_nogoods(universe, BTreeSet::new(), known);
        match search_and_improve(&mut self.search, &mut problem, budget) {
            Ok(Verdict::Solved(selection)) => Ok(Verdict::Solved(selection)),
            Ok(Verdict::Impossible(proof)) => Ok(Verdict::Impossible(Refuted::new(problem, proof))),
            Err(interrupt) => {
                // A search that starts again finds them again.
                if self.search.is_some() {
                    self.nogoods = problem.into_nogoods();
                }
                Err(interrupt)
            }
        }
    }
}

/// Whether splitting packages could invalidate a proof.
pub(crate) fn can_split(universe: &Universe, proof: &Proof) -> bool {
    split_more(universe, &mut BTreeSet::new(), proof, |_| true)
}

/// The best valid selection among those with the fewest split packages, or a proof that there is
/// none. Some packages may be split already; `first` is the proof that this is not enough.
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
    // Packages with goals for single requirements stay split.
    let kept: BTreeSet<PackageId> = goals.partial_packages().collect();
    while let Some((name, package)) = next_split(universe, &witness, settled.as_ref()) {
        // Packages in between have one release in the witness, and keep it.
        split.retain(|package| {
            let other = universe.catalog.name(*package);
            let is_settled = settled.as_ref().is_some_and(|settled| other <= settled);
            *other >= name || is_settled || kept.contains(package)
        });
        if kept.contains(&package) {
            settled = Some(name);
            continue;
        }
        // Only later packages may be split in place of this one.
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
        let is_settled = |settled: &PackageName| universe.catalog.name(*other) <= settled;
        settled.as_ref().is_some_and(is_settled) || kept.contains(other)
    });
    // The witness may be from a search with more split packages.
    let mut problem = split_problem(universe, goals, split);
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

/// Searches, and splits more packages as proofs demand and `may_split` allows.
fn search_splitting(
    universe: &mut Universe,
    goals: &Goals,
    split: &mut BTreeSet<PackageId>,
    may_split: impl Fn(&PackageName) -> bool,
    budget: &mut Budget,
) -> Result<Verdict<Selection, Box<Refuted>>, Interrupt> {
    loop {
        let mut problem = split_problem(universe, goals, split.clone());
        let proof = match search_and_improve(&mut None, &mut problem, budget)? {
            Verdict::Solved(selection) => return Ok(Verdict::Solved(selection)),
            Verdict::Impossible(proof) => proof,
        };
        if !split_more(problem.universe, split, &proof, &may_split) {
            let refuted = Refuted::new(problem, proof);
            return Ok(Verdict::Impossible(Box::new(refuted)));
        }
    }
}

/// The problem with these packages split, and with the goals.
fn split_problem<'universe>(
    universe: &'universe mut Universe,
    goals: &Goals,
    split: BTreeSet<PackageId>,
) -> Problem<'universe> {
    let mut problem = Problem::new(universe, split);
    let mut goals = goals.clone();
    // Loop nogoods depend on which packages are split.
    goals.clear_loop_nogoods();
    problem.set_goals(goals);
    problem
}

/// Splits the packages for which a proof uses that they have one release; returns whether there
/// were any.
pub(crate) fn split_more(
    universe: &Universe,
    split: &mut BTreeSet<PackageId>,
    proof: &Proof,
    may_split: impl Fn(&PackageName) -> bool,
) -> bool {
    let before = split.len();
    split.extend(proof.single.iter().copied().filter(|package| {
        let several = universe.catalog.is_delivered(*package)
            && universe.catalog.candidates_of(*package).len() > 1;
        several && !universe.catalog.is_root(*package) && may_split(universe.catalog.name(*package))
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
        .map(|package| (universe.catalog.name(package), package))
        .filter(|(name, _)| settled.is_none_or(|settled| *name > settled))
        .min()
        .map(|(name, package)| (name.clone(), package))
}
