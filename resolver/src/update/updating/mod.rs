//! The stages of an update.

mod begin;
mod best;

use std::collections::BTreeSet;

use pkgres_manifest::{PackageName, Version};
use rustc_hash::{FxHashMap, FxHashSet};

use super::report::{Findings, Told};
use crate::budget::Budget;
use crate::conflict::{self, Explanation};
use crate::encoding::{Clause, Encoding, Fact, Limits, Wish};
use crate::engine::{Impossible, Outcome, Proof, Search, search_from};
use crate::request::{Locked, Moving, Update};
use crate::second_tier::{Tier, search_second_tier};
use crate::selection::Selection;
use crate::universe::{Missing, PackageId, ReleaseId, Universe};
use crate::word_set::WordSet;
use begin::BoundOwner;
use best::Best;

/// How an update ended, or why it stopped.
pub(crate) enum Ended {
    /// With a resolution.
    Solved(Box<Selection>, Box<Findings>),
    /// What was asked for is impossible.
    Impossible(Box<Impossible>),
    /// Something is needed before it can go on.
    Missing(Missing),
    /// The budget is used up.
    GaveUp,
}

impl From<Missing> for Ended {
    fn from(missing: Missing) -> Self {
        Self::Missing(missing)
    }
}

/// An update in progress.
#[derive(Debug)]
pub(crate) struct Updating {
    /// The named packages, by name.
    targets: Vec<(PackageName, Moving)>,
    /// For each of them who is bound to what is to move.
    bound: FxHashMap<PackageName, Vec<BoundOwner>>,
    /// What the lock holds, by name.
    held: Vec<(PackageName, Vec<Version>)>,
    /// The locked packages that are not named, by name, and their locked releases.
    locked: Vec<(PackageId, WordSet)>,
    /// The packages that may have several releases: those that the lock has side by side and, where
    /// nothing is possible otherwise, others.
    split: BTreeSet<PackageId>,
    may_split: bool,
    /// What the named packages are to be at, by name.
    wishes: Vec<Wish>,
    /// The locked packages that are let go, by their place in `locked`.
    let_go: BTreeSet<usize>,
    stage: Stage,
    search: Option<Search>,
    /// What the search that is going on is limited to.
    limits: Option<Limits>,
    clauses: Vec<Clause>,
    findings: Findings,
}

#[derive(Debug)]
enum Stage {
    /// What is named and what is locked has to be known.
    Begin,
    /// Whether the exact versions are possible.
    Exact,
    /// They are not; whether anything is.
    Anything(Box<Impossible>),
    /// Nothing is, or, if that is said, not with what was asked for; which packages need several
    /// releases.
    Split(Box<Impossible>, Asked),
    /// The best version of the named package at this position.
    Best(usize, Option<Best>),
    /// With everything staying that was not let go.
    Grow,
    /// What was let go and was not looked at yet, by name backwards; and a resolution.
    Shrink(Vec<usize>, Box<Selection>),
    /// Why a package has to move.
    Reason(Vec<usize>, Box<Selection>, usize, Box<Explanation>),
    /// With everything staying that can.
    Last,
}

/// Whether packages get several releases for what was asked for, or for anything at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    AsAsked,
    Anything,
}

impl Updating {
    /// An update of what is locked; `may_split` says whether a package may have several releases.
    pub(crate) fn new(update: &Update, locked: &Locked, told: &Told, may_split: bool) -> Self {
        let targets = update.packages.iter();
        let held = told.held.iter();
        Self {
            targets: targets
                .map(|(name, moving)| (name.clone(), moving.clone()))
                .collect(),
            bound: begin::bound_owners(update, locked),
            held: held
                .map(|(name, versions)| (name.clone(), versions.iter().cloned().collect()))
                .collect(),
            locked: Vec::new(),
            split: BTreeSet::new(),
            may_split,
            wishes: Vec::new(),
            let_go: BTreeSet::new(),
            stage: Stage::Begin,
            search: None,
            limits: None,
            clauses: Vec::new(),
            findings: Findings::default(),
        }
    }

    /// Goes on until there is an answer or something is needed.
    pub(crate) fn advance(&mut self, universe: &mut Universe, budget: &mut Budget) -> Ended {
        loop {
            if let Err(ended) = self.go_on(universe, budget) {
                return ended;
            }
        }
    }

    fn go_on(&mut self, universe: &mut Universe, budget: &mut Budget) -> Result<(), Ended> {
        match std::mem::replace(&mut self.stage, Stage::Begin) {
            Stage::Begin => {
                self.begin(universe)?;
                self.stage = Stage::Exact;
            }
            Stage::Exact => {
                self.stage = Stage::Exact;
                match self.search(universe, budget, None)? {
                    Ok(_) => self.stage = Stage::Best(0, None),
                    Err(impossible) if self.wishes.is_empty() => {
                        self.stage = Stage::Split(impossible, Asked::Anything);
                    }
                    Err(impossible) => self.stage = Stage::Anything(impossible),
                }
            }
            Stage::Anything(impossible) => {
                let wishes = std::mem::take(&mut self.wishes);
                let found = self.search(universe, budget, None);
                self.wishes = wishes;
                match found {
                    Ok(Ok(_)) => self.stage = Stage::Split(impossible, Asked::AsAsked),
                    Ok(Err(impossible)) => {
                        self.stage = Stage::Split(impossible, Asked::Anything);
                    }
                    Err(ended) => {
                        self.stage = Stage::Anything(impossible);
                        return Err(ended);
                    }
                }
            }
            Stage::Split(impossible, asked) => self.split(universe, budget, impossible, asked)?,
            Stage::Best(at, best) => self.find_best(universe, budget, at, best)?,
            Stage::Grow => {
                self.stage = Stage::Grow;
                match self.search(universe, budget, Some(&self.let_go.clone()))? {
                    Ok(witness) => {
                        let rest = self.let_go.iter().rev().copied().collect();
                        self.stage = Stage::Shrink(rest, Box::new(witness));
                    }
                    Err(impossible) => self.let_go_of(&impossible.proof),
                }
            }
            Stage::Shrink(rest, witness) => self.shrink(universe, budget, rest, witness)?,
            Stage::Reason(rest, witness, at, mut explanation) => {
                match explanation.finish(universe, budget) {
                    Ok(conflict) => {
                        let name = universe.name(self.locked[at].0).clone();
                        self.findings.because.insert(name, conflict.reasons);
                        self.stage = Stage::Shrink(rest, witness);
                    }
                    Err(missing) => {
                        self.stage = Stage::Reason(rest, witness, at, explanation);
                        return Err(Ended::Missing(missing));
                    }
                }
            }
            Stage::Last => {
                self.stage = Stage::Last;
                let found = self.search(universe, budget, Some(&self.let_go.clone()))?;
                let selection = found.expect("the last resolution that was found keeps to this");
                return Err(self.solved(universe, selection));
            }
        }
        Ok(())
    }

    /// Finds out which packages need several releases for what was asked for, or anything, to be possible,
    /// and begins again with these.
    fn split(
        &mut self,
        universe: &mut Universe,
        budget: &mut Budget,
        impossible: Box<Impossible>,
        asked: Asked,
    ) -> Result<(), Ended> {
        if !self.may_split {
            return Err(Ended::Impossible(impossible));
        }
        let taken = budget.taken();
        let limits = match asked {
            Asked::AsAsked => self.limits(None),
            Asked::Anything => Limits::default(),
        };
        let split = self.split.clone();
        match search_second_tier(universe, &limits, split, &impossible.proof, budget) {
            Tier::Solved(selection) => {
                let before = self.split.len();
                self.split.extend(selection.packages_side_by_side());
                if self.split.len() == before {
                    return Err(Ended::Impossible(impossible));
                }
                self.clauses.clear();
                // They are about what may have several releases.
                for wish in &mut self.wishes {
                    wish.detours.clear();
                }
                self.stage = Stage::Exact;
                Ok(())
            }
            Tier::Impossible(impossible) => Err(Ended::Impossible(impossible)),
            Tier::Missing(missing) => {
                budget.rewind(taken);
                self.stage = Stage::Split(impossible, asked);
                Err(Ended::Missing(missing))
            }
            Tier::GaveUp => Err(Ended::GaveUp),
        }
    }

    fn is_held(&self, name: &PackageName) -> bool {
        let position = self.held.binary_search_by(|(held, _)| held.cmp(name));
        position.is_ok()
    }

    /// Searches with the wishes and, if it is said what is let go, with all other locked packages
    /// staying.
    fn search(
        &mut self,
        universe: &mut Universe,
        budget: &mut Budget,
        let_go: Option<&BTreeSet<usize>>,
    ) -> Result<Result<Selection, Box<Impossible>>, Ended> {
        let limits = match self.limits.take() {
            Some(limits) => limits,
            None => self.limits(let_go),
        };
        let clauses = std::mem::take(&mut self.clauses);
        let mut encoding = Encoding::with_clauses(universe, self.split.clone(), clauses);
        encoding.limit(limits);
        let outcome = search_from(&mut self.search, &mut encoding, budget);
        let limits = encoding.take_limits();
        self.clauses = encoding.into_clauses();
        match outcome {
            Outcome::Solved(selection) => {
                self.keep_detours(limits);
                Ok(Ok(selection))
            }
            Outcome::Impossible(proof) => {
                self.keep_detours(limits.clone());
                Ok(Err(Box::new(Impossible {
                    proof,
                    split: self.split.clone(),
                    clauses: self.clauses.clone(),
                    limits,
                })))
            }
            Outcome::Missing(missing) => {
                self.limits = Some(limits);
                Err(Ended::Missing(missing))
            }
            Outcome::GaveUp => Err(Ended::GaveUp),
        }
    }

    fn limits(&self, let_go: Option<&BTreeSet<usize>>) -> Limits {
        let stays = let_go.map(|let_go| {
            let locked = self.locked.iter().enumerate();
            let stays = locked.filter(|(at, _)| !let_go.contains(at));
            stays
                .map(|(_, (package, allowed))| (*package, allowed.clone()))
                .collect()
        });
        Limits {
            wanted: self.wishes.clone(),
            stays: stays.unwrap_or_default(),
        }
    }

    /// What makes a package absent does so in other searches as well.
    fn keep_detours(&mut self, limits: Limits) {
        for wish in limits.wanted {
            let mut known = self.wishes.iter_mut();
            if let Some(known) = known.find(|known| known.package == wish.package) {
                known.detours = wish.detours;
            }
        }
    }

    /// Lets go of all locked packages that a proof holds on to.
    fn let_go_of(&mut self, proof: &Proof) {
        let before = self.let_go.len();
        let stays = proof.facts.iter().filter_map(|fact| match fact {
            Fact::Stays { package } => Some(*package),
            _ => None,
        });
        let stays: FxHashSet<PackageId> = stays.collect();
        for (at, (package, _)) in self.locked.iter().enumerate() {
            if stays.contains(package) {
                self.let_go.insert(at);
            }
        }
        debug_assert!(
            before < self.let_go.len(),
            "with nothing staying it is possible"
        );
        if before == self.let_go.len() {
            self.let_go = (0..self.locked.len()).collect();
        }
    }

    /// Tries whether the next package that was let go can stay.
    fn shrink(
        &mut self,
        universe: &mut Universe,
        budget: &mut Budget,
        mut rest: Vec<usize>,
        witness: Box<Selection>,
    ) -> Result<(), Ended> {
        let Some(at) = rest.pop() else {
            self.stage = Stage::Last;
            return Ok(());
        };
        let (package, allowed) = &self.locked[at];
        let mut there = witness.releases().iter();
        let stays =
            |release: &ReleaseId| release.package != *package || allowed.contains(release.index);
        if there.all(stays) {
            self.let_go.remove(&at);
            self.stage = Stage::Shrink(rest, witness);
            return Ok(());
        }
        let mut without = self.let_go.clone();
        without.remove(&at);
        match self.search(universe, budget, Some(&without)) {
            Ok(Ok(witness)) => {
                self.let_go.remove(&at);
                self.stage = Stage::Shrink(rest, Box::new(witness));
            }
            Ok(Err(impossible)) => {
                let explanation = Explanation::without_repairs(universe, *impossible);
                self.stage = Stage::Reason(rest, witness, at, Box::new(explanation));
            }
            Err(ended) => {
                rest.push(at);
                self.stage = Stage::Shrink(rest, witness);
                return Err(ended);
            }
        }
        Ok(())
    }

    /// The end: a resolution, and that the named packages moved because they were named.
    fn solved(&mut self, universe: &mut Universe, selection: Selection) -> Ended {
        let mut limits = self.limits(None);
        debug_assert!(
            !(limits.wanted.iter()).any(|wish| wish.is_left_out(&selection)),
            "a search ends with what was asked for"
        );
        // What was ruled out on the way is not why something moved.
        limits.forget_detours();
        let wanted: Vec<PackageId> = limits.wanted.iter().map(|wish| wish.package).collect();
        let mut encoding = Encoding::new(universe, self.split.clone());
        encoding.limit(limits);
        for package in wanted {
            let reasons = conflict::wanted(&mut encoding, package);
            let name = encoding.universe.name(package).clone();
            self.findings.because.insert(name, reasons);
        }
        self.findings.is_minimal = self.split.is_empty();
        let findings = std::mem::take(&mut self.findings);
        Ended::Solved(Box::new(selection), Box::new(findings))
    }
}
