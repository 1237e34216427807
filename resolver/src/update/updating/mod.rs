//! The stages of an update.

mod begin;
mod best;

use std::collections::BTreeSet;

use pkgres_manifest::{PackageName, Version};
use rustc_hash::{FxHashMap, FxHashSet};

use super::report::{Findings, Told};
use crate::budget::{Budget, Interrupt};
use crate::explain::{self, Explanation};
use crate::improve::search_and_improve;
use crate::problem::{Fact, Goal, Goals, Nogood, Problem};
use crate::request::{Locked, Moving, Update};
use crate::search::{Proof, Refuted, SearchEngine, Verdict};
use crate::selection::Selection;
use crate::set::PositionSet;
use crate::tiers::search_second_tier;
use crate::universe::{PackageId, ReleaseId, Universe};
use begin::BoundOwner;
use best::Best;

/// The answer to an update: a selection and what was found out on the way, or a proof that what was
/// asked for is impossible.
pub(crate) type Updated = Verdict<(Selection, Findings), Box<Refuted>>;

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
    locked: Vec<(PackageId, PositionSet)>,
    /// The packages that may have several releases: those that the lock has side by side and, where
    /// nothing is possible otherwise, others.
    split: BTreeSet<PackageId>,
    may_split: bool,
    /// What the named packages are to be at, by name.
    wanted: Vec<Goal>,
    /// The locked packages that are let go, by their place in `locked`.
    let_go: BTreeSet<usize>,
    stage: Stage,
    search: Option<SearchEngine>,
    /// What the search that is going on is limited to.
    paused_goals: Option<Goals>,
    nogoods: Vec<Nogood>,
    findings: Findings,
}

#[derive(Debug)]
enum Stage {
    /// What is named and what is locked has to be known.
    Begin,
    /// Whether the exact versions are possible.
    Exact,
    /// They are not; whether anything is.
    Anything(Box<Refuted>),
    /// Nothing is, or, if that is said, not with what was asked for; which packages need several
    /// releases.
    Split(Box<Refuted>, Asked),
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
            wanted: Vec::new(),
            let_go: BTreeSet::new(),
            stage: Stage::Begin,
            search: None,
            paused_goals: None,
            nogoods: Vec::new(),
            findings: Findings::default(),
        }
    }

    /// Goes on until there is an answer or something is needed.
    pub(crate) fn advance(
        &mut self,
        universe: &mut Universe,
        budget: &mut Budget,
    ) -> Result<Updated, Interrupt> {
        loop {
            if let Some(updated) = self.go_on(universe, budget)? {
                return Ok(updated);
            }
        }
    }

    /// Goes on to the next stage, or to the answer. An interrupt leaves the stage as it was.
    fn go_on(
        &mut self,
        universe: &mut Universe,
        budget: &mut Budget,
    ) -> Result<Option<Updated>, Interrupt> {
        match std::mem::replace(&mut self.stage, Stage::Begin) {
            Stage::Begin => {
                self.begin(universe)?;
                self.stage = Stage::Exact;
            }
            Stage::Exact => {
                self.stage = Stage::Exact;
                self.stage = match self.search(universe, budget, None)? {
                    Verdict::Solved(_) => Stage::Best(0, None),
                    Verdict::Impossible(refuted) if self.wanted.is_empty() => {
                        Stage::Split(refuted, Asked::Anything)
                    }
                    Verdict::Impossible(refuted) => Stage::Anything(refuted),
                };
            }
            Stage::Anything(refuted) => {
                let wanted = std::mem::take(&mut self.wanted);
                let verdict = self.search(universe, budget, None);
                self.wanted = wanted;
                self.stage = match verdict {
                    Ok(Verdict::Solved(_)) => Stage::Split(refuted, Asked::AsAsked),
                    Ok(Verdict::Impossible(refuted)) => Stage::Split(refuted, Asked::Anything),
                    Err(interrupt) => {
                        self.stage = Stage::Anything(refuted);
                        return Err(interrupt);
                    }
                };
            }
            Stage::Split(refuted, asked) => {
                return self.split(universe, budget, refuted, asked);
            }
            Stage::Best(at, best) => self.find_best(universe, budget, at, best)?,
            Stage::Grow => {
                self.stage = Stage::Grow;
                match self.search(universe, budget, Some(&self.let_go.clone()))? {
                    Verdict::Solved(witness) => {
                        let rest = self.let_go.iter().rev().copied().collect();
                        self.stage = Stage::Shrink(rest, Box::new(witness));
                    }
                    Verdict::Impossible(refuted) => self.let_go_of(&refuted.proof),
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
                    Err(interrupt) => {
                        self.stage = Stage::Reason(rest, witness, at, explanation);
                        return Err(interrupt);
                    }
                }
            }
            Stage::Last => {
                self.stage = Stage::Last;
                let verdict = self.search(universe, budget, Some(&self.let_go.clone()))?;
                let Verdict::Solved(selection) = verdict else {
                    unreachable!("the last selection that was found keeps to this");
                };
                return Ok(Some(self.solved(universe, selection)));
            }
        }
        Ok(None)
    }

    /// Finds out which packages need several releases for what was asked for, or anything, to be possible,
    /// and begins again with these.
    fn split(
        &mut self,
        universe: &mut Universe,
        budget: &mut Budget,
        refuted: Box<Refuted>,
        asked: Asked,
    ) -> Result<Option<Updated>, Interrupt> {
        if !self.may_split {
            return Ok(Some(Verdict::Impossible(refuted)));
        }
        let goals = match asked {
            Asked::AsAsked => self.goals(None),
            Asked::Anything => Goals::default(),
        };
        let split = self.split.clone();
        let selection = match search_second_tier(universe, &goals, split, &refuted.proof, budget) {
            Ok(Verdict::Solved(selection)) => selection,
            Ok(Verdict::Impossible(refuted)) => return Ok(Some(Verdict::Impossible(refuted))),
            Err(interrupt) => {
                self.stage = Stage::Split(refuted, asked);
                return Err(interrupt);
            }
        };
        let before = self.split.len();
        self.split.extend(selection.packages_side_by_side());
        if self.split.len() == before {
            return Ok(Some(Verdict::Impossible(refuted)));
        }
        self.nogoods.clear();
        // They are about what may have several releases.
        for goal in &mut self.wanted {
            goal.loop_nogoods.clear();
        }
        self.stage = Stage::Exact;
        Ok(None)
    }

    fn is_held(&self, name: &PackageName) -> bool {
        let position = self.held.binary_search_by(|(held, _)| held.cmp(name));
        position.is_ok()
    }

    /// Searches with the goals and, if it is said what is let go, with all other locked packages
    /// staying.
    fn search(
        &mut self,
        universe: &mut Universe,
        budget: &mut Budget,
        let_go: Option<&BTreeSet<usize>>,
    ) -> Result<Verdict<Selection, Box<Refuted>>, Interrupt> {
        let goals = match self.paused_goals.take() {
            Some(goals) => goals,
            None => self.goals(let_go),
        };
        let nogoods = std::mem::take(&mut self.nogoods);
        let mut problem = Problem::with_nogoods(universe, self.split.clone(), nogoods);
        problem.set_goals(goals);
        let verdict = search_and_improve(&mut self.search, &mut problem, budget);
        let goals = problem.take_goals();
        self.nogoods = problem.into_nogoods();
        Ok(match verdict {
            Ok(Verdict::Solved(selection)) => {
                self.keep_loop_nogoods(goals);
                Verdict::Solved(selection)
            }
            Ok(Verdict::Impossible(proof)) => {
                self.keep_loop_nogoods(goals.clone());
                Verdict::Impossible(Box::new(Refuted {
                    proof,
                    split: self.split.clone(),
                    nogoods: self.nogoods.clone(),
                    goals,
                }))
            }
            Err(interrupt) => {
                self.paused_goals = Some(goals);
                return Err(interrupt);
            }
        })
    }

    fn goals(&self, let_go: Option<&BTreeSet<usize>>) -> Goals {
        let stays = let_go.map(|let_go| {
            let locked = self.locked.iter().enumerate();
            let stays = locked.filter(|(at, _)| !let_go.contains(at));
            stays
                .map(|(_, (package, allowed))| (*package, allowed.clone()))
                .collect()
        });
        Goals {
            wanted: self.wanted.clone(),
            stays: stays.unwrap_or_default(),
        }
    }

    /// What makes a package absent does so in other searches as well.
    fn keep_loop_nogoods(&mut self, goals: Goals) {
        for goal in goals.wanted {
            let mut known = self.wanted.iter_mut();
            if let Some(known) = known.find(|known| known.package == goal.package) {
                known.loop_nogoods = goal.loop_nogoods;
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
    ) -> Result<(), Interrupt> {
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
            Ok(Verdict::Solved(witness)) => {
                self.let_go.remove(&at);
                self.stage = Stage::Shrink(rest, Box::new(witness));
            }
            Ok(Verdict::Impossible(refuted)) => {
                let explanation = Explanation::without_repairs(universe, *refuted);
                self.stage = Stage::Reason(rest, witness, at, Box::new(explanation));
            }
            Err(interrupt) => {
                rest.push(at);
                self.stage = Stage::Shrink(rest, witness);
                return Err(interrupt);
            }
        }
        Ok(())
    }

    /// The end: a resolution, and that the named packages moved because they were named.
    fn solved(&mut self, universe: &mut Universe, selection: Selection) -> Updated {
        let mut goals = self.goals(None);
        debug_assert!(
            !(goals.wanted.iter()).any(|goal| goal.is_violated_by(&selection)),
            "a search ends with what was asked for"
        );
        // What was ruled out on the way is not why something moved.
        goals.clear_loop_nogoods();
        let wanted: Vec<PackageId> = goals.wanted.iter().map(|goal| goal.package).collect();
        let mut problem = Problem::new(universe, self.split.clone());
        problem.set_goals(goals);
        for package in wanted {
            let reasons = explain::wanted(&mut problem, package);
            let name = problem.universe.name(package).clone();
            self.findings.because.insert(name, reasons);
        }
        self.findings.is_minimal = self.split.is_empty();
        let findings = std::mem::take(&mut self.findings);
        Verdict::Solved((selection, findings))
    }
}
