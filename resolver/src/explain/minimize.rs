//! Minimal unsatisfiable subsets by deletion: of facts, then of the lines in which facts are
//! reported.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use super::effort::sorted;
use super::effort::{Effort, MAX_STEPS};
use super::missing_classes::{extending, not_defining, required_packages};
use super::requirements::Spellings;
use super::smallest::{Smallest, SmallestSearch};
use crate::budget::{Budget, Interrupt};
use crate::index::to_u32;
use crate::problem::{Fact, Nogood, NogoodCause, Problem, Variable};
use crate::search::{Proof, Verdict, check_satisfiability};
use crate::set::PositionSet;
use crate::tiers::split_more;
use crate::universe::{PackageId, ReleaseId, Universe};

/// Unsatisfiable facts that are being reduced to a minimal subset.
///
/// Each fact is tried once: either there is still no selection without it, or it is needed. A fact
/// is kept if its attempt exceeds the step limit. Progress is kept when packages have to be
/// provided first.
#[derive(Debug)]
pub(super) struct Reduction {
    /// The remaining facts, in an order that depends only on the metadata.
    kept: Vec<Fact>,
    /// The number of facts at the end that were tried and kept.
    tried: usize,
    /// Whether all of these are proved to be needed.
    all_needed: bool,
    effort: Effort,
    smallest: SmallestSearch,
    effort_of_smallest: Effort,
    may_split: bool,
    /// Whether it is proved that no other set is smaller.
    is_smallest: Option<bool>,
}

/// The result of a reduction.
pub(super) struct Reduced<'reduction> {
    pub(super) facts: &'reduction [Fact],
    /// Whether it is proved that no fact can be left out.
    pub(super) is_minimal: bool,
    /// Whether it is proved that no other set of facts is smaller, see [`SmallestSearch`].
    pub(super) is_smallest: bool,
}

impl Reduction {
    /// Facts that are unsatisfiable. If `may_split` is set, they are so whichever packages have several releases, and
    /// what is left of them must be so, too.
    pub(super) fn new(universe: &Universe, facts: Vec<Fact>, may_split: bool) -> Self {
        let kept = sorted(universe, facts.into_iter().collect());
        Self {
            smallest: SmallestSearch::new(&kept, may_split),
            may_split,
            kept,
            tried: 0,
            all_needed: true,
            effort: Effort::of_deletion(),
            effort_of_smallest: Effort::of_smallest(),
            is_smallest: None,
        }
    }

    /// The same reduction, which ends with a minimal set and does not look for a smallest one.
    pub(super) fn without_smallest(self) -> Self {
        Self {
            is_smallest: Some(false),
            ..self
        }
    }

    /// The remaining facts.
    pub(super) fn facts(&self) -> &[Fact] {
        &self.kept
    }

    /// Continues until no fact can be left out, within the limits.
    pub(super) fn finish(
        &mut self,
        problem: &mut Problem<'_>,
        budget: &Budget,
    ) -> Result<Reduced<'_>, Interrupt> {
        while self.tried < self.kept.len()
            && self.effort.allows(self.kept.len())
            && !budget.cancellation().is_cancelled()
        {
            // Later facts are further from the root and are removed first.
            let candidate = self.kept.len() - 1 - self.tried;
            let without = |_: &mut Problem<'_>| {
                let others = self.kept.iter().enumerate();
                let others = others.filter(|(at, _)| *at != candidate);
                others.map(|(_, fact)| fact.clone()).collect()
            };
            let mut side_budget = budget.for_side_question(MAX_STEPS);
            let refutation =
                check_satisfiability_splitting(problem, self.may_split, &mut side_budget, without);
            if !matches!(refutation, Err(Interrupt::Missing(_))) {
                self.effort.add(self.kept.len(), &mut side_budget);
            }
            match refutation {
                // Facts that the new proof does not use are removed as well, except those that were
                // kept.
                Ok(Verdict::Impossible(proof)) => {
                    let tried = self.kept.split_off(self.kept.len() - self.tried);
                    let used: FxHashSet<Fact> = proof.facts.into_iter().collect();
                    self.kept.retain(|fact| used.contains(fact));
                    self.kept.extend(tried);
                }
                Ok(Verdict::Solved(())) => self.tried += 1,
                Err(Interrupt::Exhausted) => {
                    self.tried += 1;
                    self.all_needed = false;
                }
                Err(missing) => return Err(missing),
            }
        }
        let is_minimal = self.all_needed && self.tried == self.kept.len();
        let is_smallest = match self.is_smallest {
            Some(known) => known,
            None => is_minimal && self.take_smallest(problem, budget)?,
        };
        self.is_smallest = Some(is_smallest);
        Ok(Reduced {
            facts: &self.kept,
            is_minimal,
            is_smallest,
        })
    }

    /// Replaces the facts by a smallest set, if there is a smaller one. Returns whether none is
    /// smaller now. Goals and packages side by side are not supported.
    fn take_smallest(
        &mut self,
        problem: &mut Problem<'_>,
        budget: &Budget,
    ) -> Result<bool, Interrupt> {
        if self.kept.len() <= 1 {
            return Ok(true);
        }
        if !problem.split().is_empty() || !problem.goals().is_empty() {
            return Ok(false);
        }
        let effort = &mut self.effort_of_smallest;
        let found = (self.smallest).smaller_than(problem, self.kept.len(), effort, budget)?;
        if let Smallest::Smaller(facts) = found {
            self.kept = sorted(problem.universe, facts.into_iter().collect());
            self.tried = self.kept.len();
            return Ok(true);
        }
        Ok(found == Smallest::NoneSmaller)
    }
}

/// Whether some facts alone have a solution, in which any package may have several releases if `may_split` is set; if
/// not, the facts that a proof uses. `facts` returns them for the packages that the problem splits.
///
/// A proof that uses that packages have one release says nothing then, so that these are split and the search starts
/// again. Violations of rules are nogoods about packages as they were split when they were found. If one of these is
/// split now, the question stays open.
fn check_satisfiability_splitting(
    problem: &mut Problem<'_>,
    may_split: bool,
    budget: &mut Budget,
    mut facts: impl FnMut(&mut Problem<'_>) -> FxHashSet<Fact>,
) -> Result<Verdict<(), Proof>, Interrupt> {
    let split_before = problem.split().clone();
    let goals_before = problem.goals().clone();
    let verdict = loop {
        let given = facts(problem);
        let nogoods = given.iter().filter_map(|fact| match fact {
            Fact::Nogood(number) => Some(*number as usize),
            _ => None,
        });
        let nogoods: Vec<usize> = nogoods.collect();
        let verdict = check_satisfiability(problem, given, budget);
        let Ok(Verdict::Impossible(proof)) = &verdict else {
            break verdict;
        };
        let mut split = problem.split().clone();
        if !may_split || !split_more(problem.universe, &mut split, proof, |_| true) {
            break verdict;
        }
        let is_open = nogoods.into_iter().any(|number| {
            let nogood = &problem.nogoods()[number];
            !matches!(nogood.cause, NogoodCause::Line) && nogood.is_about_one_release_of(&split)
        });
        if is_open {
            break Err(Interrupt::Exhausted);
        }
        problem.set_split(split);
    };
    problem.set_split(split_before);
    problem.set_goals(goals_before);
    verdict
}

/// The lines in which facts are reported.
pub(super) struct NeededLines {
    /// For each fact, the releases of its owner whose lines are needed.
    pub(super) reported: Vec<PositionSet>,
    /// Whether it is proved that no line can be left out.
    pub(super) is_minimal: bool,
    /// Whether each fact has one line, so that a smallest set of facts is a smallest set of lines, too.
    pub(super) is_one_each: bool,
}

/// A line of a fact.
struct Line {
    /// The position of the fact.
    at: usize,
    /// The releases of its owner that the line is about.
    releases: PositionSet,
    /// What it states, for the packages that the problem splits.
    nogoods: Vec<Fact>,
}

/// The lines of facts that are needed.
///
/// A fact has several lines if its requirement has several spellings, or if its class is searched
/// in different packages. All of them are one fact of the proof, which may need only some: lines
/// about a release that another reason rules out say nothing.
pub(super) fn needed_lines(
    problem: &mut Problem<'_>,
    facts: &[Fact],
    spellings: &mut Spellings,
    may_split: bool,
    budget: &Budget,
) -> Result<NeededLines, Interrupt> {
    let mut lines: Vec<Vec<PositionSet>> = Vec::new();
    for fact in facts {
        lines.push(lines_of(problem, fact, spellings)?);
    }
    let mut reported = vec![PositionSet::FULL; facts.len()];
    // A fact with one line stays as it is, the others are replaced by their lines.
    let mut whole: FxHashSet<Fact> = FxHashSet::default();
    let mut kept: Vec<Line> = Vec::new();
    for (at, (fact, lines)) in facts.iter().zip(lines).enumerate() {
        if lines.len() < 2 {
            whole.insert(fact.clone());
            continue;
        }
        for releases in lines {
            kept.push(Line {
                at,
                nogoods: add_nogoods(problem, fact, &releases),
                releases,
            });
        }
    }
    let split = problem.split().clone();
    let mut effort = Effort::of_deletion();
    let mut is_minimal = true;
    for tried in (0..kept.len()).rev() {
        let of_lines: usize = kept.iter().map(|line| line.nogoods.len()).sum();
        if !effort.allows(whole.len() + of_lines) {
            is_minimal = false;
            break;
        }
        let mut budget = budget.for_side_question(MAX_STEPS);
        let without = |problem: &mut Problem<'_>| {
            let mut without = whole.clone();
            for (_, line) in kept.iter().enumerate().filter(|(at, _)| *at != tried) {
                if *problem.split() == split {
                    without.extend(line.nogoods.iter().cloned());
                } else {
                    without.extend(add_nogoods(problem, &facts[line.at], &line.releases));
                }
            }
            without
        };
        let refutation = check_satisfiability_splitting(problem, may_split, &mut budget, without);
        effort.add(whole.len() + of_lines, &mut budget);
        match refutation {
            Ok(Verdict::Impossible(_)) => {
                let line = kept.remove(tried);
                let reported = &mut reported[line.at];
                *reported = reported.intersection(&line.releases.complement());
            }
            Ok(Verdict::Solved(())) => {}
            Err(Interrupt::Exhausted) => is_minimal = false,
            Err(missing) => return Err(missing),
        }
    }
    Ok(NeededLines {
        reported,
        is_minimal,
        is_one_each: whole.len() + kept.len() == facts.len(),
    })
}

/// The releases of each line of a fact, oldest first; empty for facts that always have one line.
fn lines_of(
    problem: &mut Problem<'_>,
    fact: &Fact,
    spellings: &mut Spellings,
) -> Result<Vec<PositionSet>, Interrupt> {
    let mut lines: Vec<PositionSet> = match fact {
        Fact::Requires {
            owner,
            target,
            allowed,
        } if !problem.universe.catalog.is_model(*owner) => {
            let spellings = spellings.of(problem.universe, *owner, *target, allowed);
            let releases = spellings.iter().map(|spelling| &spelling.releases);
            releases
                .map(|releases| releases.iter().map(|release| release.index).collect())
                .collect()
        }
        Fact::Extends { owner, class } => {
            let mut by_packages: BTreeMap<Vec<PackageId>, Vec<u32>> = BTreeMap::new();
            for release in extending(problem.universe, *owner, *class) {
                let mut packages = required_packages(problem, release)?;
                packages
                    .retain(|package| not_defining(problem.universe, *package, *class).is_some());
                by_packages.entry(packages).or_default().push(release.index);
            }
            let releases = by_packages.into_values();
            releases
                .map(|releases| releases.into_iter().collect())
                .collect()
        }
        _ => Vec::new(),
    };
    lines.sort_by_key(|line| line.iter().next());
    Ok(lines)
}

/// Adds a line as nogoods, one for each release: the release is chosen, and no release that
/// satisfies its requirement, or defines its class, is.
fn add_nogoods(problem: &mut Problem<'_>, fact: &Fact, line: &PositionSet) -> Vec<Fact> {
    let (Fact::Requires { owner, .. } | Fact::Extends { owner, .. }) = fact else {
        return Vec::new();
    };
    let mut added = Vec::new();
    for index in line.iter() {
        let release = ReleaseId {
            package: *owner,
            index,
        };
        let requirements: Vec<(usize, PositionSet)> = match fact {
            Fact::Requires {
                target, allowed, ..
            } => {
                let details = problem.universe.details(release);
                let position =
                    (details.requirements.iter()).position(|stated| stated.package == *target);
                position
                    .map(|position| (position, allowed.clone()))
                    .into_iter()
                    .collect()
            }
            Fact::Extends { class, .. } => problem.definers_of(release, *class),
            _ => Vec::new(),
        };
        let presence = if problem.is_split(*owner) {
            (Variable::Release(release), PositionSet::single(0))
        } else {
            (Variable::Package(*owner), PositionSet::single(index))
        };
        let mut terms = vec![presence];
        let mut bindings = Vec::new();
        for (position, allowed) in requirements {
            let target = problem.universe.details(release).requirements[position].package;
            // The position after the last release means that none is chosen.
            let count = problem.universe.catalog.release_count(target);
            let all = PositionSet::range(0, count + 1);
            let others = all.intersection(&allowed.complement());
            terms.push((problem.bound_variable(release, position), others));
            bindings.push((*owner, target));
        }
        let number = to_u32(problem.nogoods().len());
        added.push(Fact::Nogood(number));
        problem.add(Nogood {
            terms,
            bindings,
            cause: NogoodCause::Line,
        });
    }
    added
}
