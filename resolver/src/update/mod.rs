//! Updates: the named packages move, and as few others as possible.
//!
//! # Problem
//!
//! An update asks for the best versions of some packages, or for exact ones. All other locked packages should stay,
//! unless that is impossible. The packages that have to move are a minimal correction subset of the lock, and users
//! want to know the reason for each of them.
//!
//! # Idea
//!
//! 1. [`Stage::BestVersion`] finds the best version of each named package while all others may move
//!    freely. Versions that are impossible are explained and reported as held back.
//! 2. [`Stage::Unlock`] searches with all other locked packages staying. As long as that is
//!    impossible, the packages in the proof are unlocked.
//! 3. [`Stage::Relock`] tries to keep each unlocked package after all, together with all others that stay. If it cannot
//!    stay, the proof becomes the reason for its move.
//!
//! Unlocking more packages never excludes a solution, so the result is minimal: no proper subset of the moved packages
//! would have been enough.
//!
//! Each package has one release. There are three exceptions ([`Stage::Split`]): the lock has several; there is no
//! resolution with one; or there is none with one that has a requested exact version. Such a package gets the best
//! release for each requirement, and minimality is proved for packages, not for their releases. If only some locked
//! releases of a package are to move, the exact version is requested from the requirements that are bound to these, as
//! far as their owners stay.
//!
//! # Cost
//!
//! One search for each candidate version that is better than the result, one for each proof that unlocks packages, and
//! one for each unlocked package. Nogoods of violated rules and loop nogoods are kept between searches. An impossible
//! version is first checked against the facts that ruled out an earlier one
//! ([`check_satisfiability`](crate::search::check_satisfiability)), which often saves its search. All searches share the
//! step limit of the request.

mod report;
mod wanted;

pub(crate) use report::ReportBuilder;
pub use report::{HeldBack, Moved, UpdateReport};

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::{PackageName, Version};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::budget::{Budget, Interrupt};
use crate::explain::{self, Explanation};
use crate::improve::search_and_improve;
use crate::problem::{Fact, Goal, Goals, Nogood, Problem};
use crate::request::{Locked, PackageUpdate, Update};
use crate::search::{Proof, Refuted, SearchEngine, Verdict};
use crate::selection::Selection;
use crate::set::PositionSet;
use crate::tiers::search_second_tier;
use crate::universe::{PackageId, Universe};
use report::Findings;
use wanted::BestVersion;
use wanted::BoundOwner;

/// The answer to an update: a selection with findings, or a proof that the request is impossible.
pub(crate) type UpdateOutcome = Verdict<(Selection, Findings), Box<Refuted>>;

/// An update in progress.
#[derive(Debug)]
pub(crate) struct UpdateSearch {
    /// The named packages, by name.
    targets: Vec<(PackageName, PackageUpdate)>,
    /// For each of them, the owners of requirements that are bound to a release that is to move.
    bound: FxHashMap<PackageName, Vec<BoundOwner>>,
    /// The locked versions of each package, by name.
    locked_versions: BTreeMap<PackageName, BTreeSet<Version>>,
    /// The locked packages that are not named, by name.
    locked: Vec<StayingPackage>,
    /// The packages that may have several releases: those that the lock has side by side, and
    /// others if there is no resolution otherwise.
    split: BTreeSet<PackageId>,
    may_split: bool,
    /// The goals for the named packages, by name.
    wanted: Vec<Goal>,
    /// The unlocked packages, by their position in `locked`.
    unlocked: BTreeSet<usize>,
    stage: Stage,
    search: Option<SearchEngine>,
    paused_goals: Option<Goals>,
    nogoods: Vec<Nogood>,
    findings: Findings,
}

/// A locked package, and its locked releases.
#[derive(Debug)]
struct StayingPackage {
    package: PackageId,
    releases: PositionSet,
}

#[derive(Debug)]
enum Stage {
    /// Request the releases of all named and locked packages.
    Begin,
    /// Search with the exact versions.
    Exact,
    /// They are impossible, as this proves; search without goals.
    Anything(Box<Refuted>),
    /// No search with single releases succeeds, without goals or with them; find packages that need
    /// several releases.
    Split {
        refuted: Box<Refuted>,
        goal: SplitGoal,
    },
    /// Find the best version of the named package at this position.
    BestVersion {
        target: usize,
        search: Option<BestVersion>,
    },
    /// Search with all packages staying that are not unlocked.
    Unlock,
    /// Try to lock packages again.
    Relock(Relock),
    /// Search once more with everything staying that can.
    Final,
}

/// The unlocked packages that may be locked again.
#[derive(Debug)]
struct Relock {
    /// The positions in [`UpdateSearch::locked`] that are still to be tried, in descending order of names.
    untried: Vec<usize>,
    /// A resolution in which only unlocked packages move.
    resolution: Selection,
    /// The package that was found to have to move, and the unfinished explanation.
    moving: Option<(PackageId, Box<Explanation>)>,
}

/// What follows a part of the work of a stage.
enum Progress {
    /// The stage goes on.
    Continue,
    /// Another stage.
    Next(Stage),
    Answer(UpdateOutcome),
}

/// What packages get several releases for: the requested versions, or any resolution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SplitGoal {
    Requested,
    Anything,
}

impl UpdateSearch {
    /// An update of the locked releases; `may_split` tells whether packages may have several
    /// releases.
    pub(crate) fn new(
        update: &Update,
        locked: &Locked,
        report_builder: &ReportBuilder,
        may_split: bool,
    ) -> Self {
        let targets = update.packages.iter();
        Self {
            targets: targets
                .map(|(name, moving)| (name.clone(), moving.clone()))
                .collect(),
            bound: wanted::bound_owners(update, locked),
            locked_versions: report_builder.locked_versions.clone(),
            locked: Vec::new(),
            split: BTreeSet::new(),
            may_split,
            wanted: Vec::new(),
            unlocked: BTreeSet::new(),
            stage: Stage::Begin,
            search: None,
            paused_goals: None,
            nogoods: Vec::new(),
            findings: Findings::default(),
        }
    }

    /// Advances until there is an answer or packages are missing.
    pub(crate) fn advance(
        &mut self,
        universe: &mut Universe,
        budget: &mut Budget,
    ) -> Result<UpdateOutcome, Interrupt> {
        loop {
            let mut stage = std::mem::replace(&mut self.stage, Stage::Begin);
            let progress = self.advance_stage(&mut stage, universe, budget);
            self.stage = stage;
            match progress? {
                Progress::Continue => {}
                Progress::Next(next) => self.stage = next,
                Progress::Answer(answer) => return Ok(answer),
            }
        }
    }

    /// Does a part of the work of a stage. An interrupt leaves the stage as it was.
    fn advance_stage(
        &mut self,
        stage: &mut Stage,
        universe: &mut Universe,
        budget: &mut Budget,
    ) -> Result<Progress, Interrupt> {
        Ok(match stage {
            Stage::Begin => {
                self.begin(universe)?;
                Progress::Next(Stage::Exact)
            }
            Stage::Exact => Progress::Next(match self.search(universe, budget, None)? {
                Verdict::Solved(_) => Stage::BestVersion {
                    target: 0,
                    search: None,
                },
                Verdict::Impossible(refuted) if self.wanted.is_empty() => Stage::Split {
                    refuted,
                    goal: SplitGoal::Anything,
                },
                Verdict::Impossible(refuted) => Stage::Anything(refuted),
            }),
            Stage::Anything(refuted) => {
                let wanted = std::mem::take(&mut self.wanted);
                let verdict = self.search(universe, budget, None);
                self.wanted = wanted;
                Progress::Next(match verdict? {
                    Verdict::Solved(_) => Stage::Split {
                        refuted: std::mem::take(refuted),
                        goal: SplitGoal::Requested,
                    },
                    Verdict::Impossible(refuted) => Stage::Split {
                        refuted,
                        goal: SplitGoal::Anything,
                    },
                })
            }
            Stage::Split { refuted, goal } => self.split(universe, budget, refuted, *goal)?,
            Stage::BestVersion { target, search } => {
                self.find_best(universe, budget, *target, search)?
            }
            Stage::Unlock => match self.search(universe, budget, Some(&self.unlocked.clone()))? {
                Verdict::Solved(resolution) => Progress::Next(Stage::Relock(Relock {
                    untried: self.unlocked.iter().rev().copied().collect(),
                    resolution,
                    moving: None,
                })),
                Verdict::Impossible(refuted) => {
                    self.unlock_conflicting(&refuted.proof);
                    Progress::Continue
                }
            },
            Stage::Relock(relock) => self.relock(universe, budget, relock)?,
            Stage::Final => {
                let verdict = self.search(universe, budget, Some(&self.unlocked.clone()))?;
                let Verdict::Solved(selection) = verdict else {
                    unreachable!("the last selection that was found keeps to this");
                };
                Progress::Answer(self.solved(universe, selection))
            }
        })
    }

    /// Finds the packages that need several releases, and starts again with these.
    fn split(
        &mut self,
        universe: &mut Universe,
        budget: &mut Budget,
        refuted: &mut Box<Refuted>,
        goal: SplitGoal,
    ) -> Result<Progress, Interrupt> {
        let impossible =
            |refuted: &mut _| Progress::Answer(Verdict::Impossible(std::mem::take(refuted)));
        if !self.may_split {
            return Ok(impossible(refuted));
        }
        let goals = match goal {
            SplitGoal::Requested => self.goals(None),
            SplitGoal::Anything => Goals::default(),
        };
        let split = self.split.clone();
        let selection = match search_second_tier(universe, &goals, split, &refuted.proof, budget)? {
            Verdict::Solved(selection) => selection,
            Verdict::Impossible(refuted) => {
                return Ok(Progress::Answer(Verdict::Impossible(refuted)));
            }
        };
        let before = self.split.len();
        self.split.extend(selection.packages_side_by_side());
        if self.split.len() == before {
            return Ok(impossible(refuted));
        }
        self.nogoods.clear();
        // Loop nogoods depend on which packages may have several releases.
        for goal in &mut self.wanted {
            goal.loop_nogoods.clear();
        }
        Ok(Progress::Next(Stage::Exact))
    }

    /// Searches with the goals. With `unlocked`, all other locked packages stay.
    fn search(
        &mut self,
        universe: &mut Universe,
        budget: &mut Budget,
        unlocked: Option<&BTreeSet<usize>>,
    ) -> Result<Verdict<Selection, Box<Refuted>>, Interrupt> {
        let goals = match self.paused_goals.take() {
            Some(goals) => goals,
            None => self.goals(unlocked),
        };
        let nogoods = std::mem::take(&mut self.nogoods);
        let mut problem = Problem::with_nogoods(universe, self.split.clone(), nogoods);
        problem.set_goals(goals);
        let verdict = search_and_improve(&mut self.search, &mut problem, budget);
        match verdict {
            Ok(Verdict::Solved(selection)) => {
                self.keep_loop_nogoods(problem.take_goals());
                self.nogoods = problem.into_nogoods();
                Ok(Verdict::Solved(selection))
            }
            Ok(Verdict::Impossible(proof)) => {
                let refuted = Refuted::new(problem, proof);
                self.keep_loop_nogoods(refuted.goals.clone());
                self.nogoods.clone_from(&refuted.nogoods);
                Ok(Verdict::Impossible(Box::new(refuted)))
            }
            Err(interrupt) => {
                self.paused_goals = Some(problem.take_goals());
                self.nogoods = problem.into_nogoods();
                Err(interrupt)
            }
        }
    }

    fn goals(&self, unlocked: Option<&BTreeSet<usize>>) -> Goals {
        let stays = unlocked.map(|unlocked| {
            let locked = self.locked.iter().enumerate();
            let stays = locked.filter(|(at, _)| !unlocked.contains(at));
            stays
                .map(|(_, locked)| (locked.package, locked.releases.clone()))
                .collect()
        });
        Goals {
            wanted: self.wanted.clone(),
            stays: stays.unwrap_or_default(),
        }
    }

    /// Keeps loop nogoods: they hold in other searches as well.
    fn keep_loop_nogoods(&mut self, goals: Goals) {
        for goal in goals.wanted {
            let mut known = self.wanted.iter_mut();
            if let Some(known) = known.find(|known| known.package == goal.package) {
                known.loop_nogoods = goal.loop_nogoods;
            }
        }
    }

    /// Unlocks all locked packages that a proof depends on.
    fn unlock_conflicting(&mut self, proof: &Proof) {
        let before = self.unlocked.len();
        let stays = proof.facts.iter().filter_map(|fact| match fact {
            Fact::Stays { package } => Some(*package),
            _ => None,
        });
        let stays: FxHashSet<PackageId> = stays.collect();
        for (at, locked) in self.locked.iter().enumerate() {
            if stays.contains(&locked.package) {
                self.unlocked.insert(at);
            }
        }
        debug_assert!(
            before < self.unlocked.len(),
            "with nothing staying it is possible"
        );
        if before == self.unlocked.len() {
            self.unlocked = (0..self.locked.len()).collect();
        }
    }

    /// Tries to lock the next unlocked package again, or explains why the last one has to move.
    fn relock(
        &mut self,
        universe: &mut Universe,
        budget: &mut Budget,
        relock: &mut Relock,
    ) -> Result<Progress, Interrupt> {
        if let Some((package, explanation)) = &mut relock.moving {
            let conflict = explanation.finish(universe, budget)?;
            let name = universe.catalog.name(*package).clone();
            self.findings.because.insert(name, conflict.reasons);
            relock.moving = None;
        }
        let Some(&at) = relock.untried.last() else {
            return Ok(Progress::Next(Stage::Final));
        };
        let StayingPackage { package, releases } = &self.locked[at];
        let package = *package;
        let mut present = relock.resolution.releases().iter();
        if present.all(|release| release.package != package || releases.contains(release.index)) {
            self.unlocked.remove(&at);
        } else {
            let mut without = self.unlocked.clone();
            without.remove(&at);
            match self.search(universe, budget, Some(&without))? {
                Verdict::Solved(resolution) => {
                    self.unlocked = without;
                    relock.resolution = resolution;
                }
                Verdict::Impossible(refuted) => {
                    let explanation = Explanation::without_suggestions(universe, *refuted, false);
                    relock.moving = Some((package, Box::new(explanation)));
                }
            }
        }
        relock.untried.pop();
        Ok(Progress::Continue)
    }

    /// Finishes the update: the named packages moved because they were requested.
    fn solved(&mut self, universe: &mut Universe, selection: Selection) -> UpdateOutcome {
        let mut goals = self.goals(None);
        debug_assert!(
            !(goals.wanted.iter()).any(|goal| goal.is_violated_by(&selection)),
            "a search ends with what was asked for"
        );
        // Versions that were ruled out on the way are not the reason for a move.
        goals.clear_loop_nogoods();
        let wanted: Vec<PackageId> = goals.wanted.iter().map(|goal| goal.package).collect();
        let mut problem = Problem::new(universe, self.split.clone());
        problem.set_goals(goals);
        for package in wanted {
            let reasons = explain::requested(&mut problem, package);
            let name = problem.universe.catalog.name(package).clone();
            self.findings.because.insert(name, reasons);
        }
        self.findings.is_minimal = self.split.is_empty();
        let findings = std::mem::take(&mut self.findings);
        Verdict::Solved((selection, findings))
    }
}
