//! Leaving out what a conflict does not need: facts, then the lines in which facts are reported.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use super::classes::{extending, not_defining, required_packages};
use super::requirements::spellings;
use crate::budget::{Budget, Interrupt};
use crate::problem::{Fact, Nogood, NogoodCause, Problem, Variable};
use crate::search::{Verdict, refute};
use crate::set::PositionSet;
use crate::universe::{PackageId, ReleaseId, Universe};

/// How many facts all tries together look at. Each try takes as long as there are facts, so that
/// the proof of a chain of a hundred thousand packages, which needs them all, would take hours to
/// find that out.
const MAX_FACTS_EXAMINED: usize = 250_000;

/// How many steps each try may take. What the search took before does not count: why there is no
/// resolution must not depend on what it took to find that out.
const MAX_STEPS: u64 = 20_000;

/// Facts that leave no selection, on the way to a set of which none can be left out.
///
/// Each fact is tried once: without it, either there is still no selection, or it is needed. Where
/// that takes too many steps to find out the fact is kept. What was found out stays when more has
/// to be delivered first.
#[derive(Debug)]
pub(super) struct Reduction {
    /// In an order that depends on the metadata alone.
    kept: Vec<Fact>,
    /// How many at the end were tried and kept.
    tried: usize,
    /// Whether all of these are known to be needed.
    all_needed: bool,
    /// How many facts were looked at.
    facts_examined: usize,
}

/// What is left of the facts that a proof uses.
pub(super) struct Reduced<'reduction> {
    pub(super) facts: &'reduction [Fact],
    /// Whether it is known that none can be left out.
    pub(super) is_minimal: bool,
}

impl Reduction {
    pub(super) fn new(universe: &Universe, facts: Vec<Fact>) -> Self {
        Self {
            kept: sorted(universe, facts.into_iter().collect()),
            tried: 0,
            all_needed: true,
            facts_examined: 0,
        }
    }

    /// The facts that were not left out so far.
    pub(super) fn facts(&self) -> &[Fact] {
        &self.kept
    }

    /// Goes on until no fact can be left out, as far as can be found out.
    pub(super) fn finish(
        &mut self,
        problem: &mut Problem<'_>,
        budget: &Budget,
    ) -> Result<Reduced<'_>, Interrupt> {
        while self.tried < self.kept.len()
            && self.facts_examined + self.kept.len() <= MAX_FACTS_EXAMINED
            && !budget.cancellation().is_cancelled()
        {
            // Facts that stand later are further from the root: they go first.
            let candidate = self.kept.len() - 1 - self.tried;
            let without: FxHashSet<Fact> = (self.kept.iter().enumerate())
                .filter(|(at, _)| *at != candidate)
                .map(|(_, fact)| fact.clone())
                .collect();
            let mut side_budget = budget.for_side_question(MAX_STEPS);
            let refutation = refute(problem, without, &mut side_budget);
            if !matches!(refutation, Err(Interrupt::Missing(_))) {
                self.facts_examined += self.kept.len();
            }
            match refutation {
                // What the new proof does not use goes as well, but never what was kept.
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
        Ok(Reduced {
            facts: &self.kept,
            is_minimal: self.all_needed && self.tried == self.kept.len(),
        })
    }
}

/// Orders facts by the names, classes and versions that they are about.
fn sorted(universe: &Universe, facts: FxHashSet<Fact>) -> Vec<Fact> {
    let name = |package: &PackageId| universe.name(*package).to_string();
    let mut facts: Vec<Fact> = facts.into_iter().collect();
    facts.sort_by_cached_key(|fact| {
        let nothing = (0, PositionSet::EMPTY);
        match fact {
            Fact::Requires {
                owner,
                target,
                allowed,
            } => {
                let newest = allowed.last().map_or(0, |last| last + 1);
                let versions = (allowed.len(), allowed.clone());
                let rank = u8::from(!universe.is_root(*owner));
                (rank, name(owner), name(target), newest, versions)
            }
            Fact::Extends { owner, class } => {
                let class = universe.class_name(*class).to_string();
                (2, name(owner), class, 0, nothing)
            }
            Fact::OwnCycle { owner } => (3, name(owner), String::new(), 0, nothing),
            Fact::Nogood(number) => (4, String::new(), String::new(), *number, nothing),
            // What was asked for is the last to go, and what is only to stay the first.
            Fact::Wanted { package } => (0, String::new(), name(package), 0, nothing),
            Fact::Stays { package } => (5, name(package), String::new(), 0, nothing),
        }
    });
    facts
}

/// For each fact the releases of its owner whose lines are told.
pub(super) fn needed_lines(
    problem: &mut Problem<'_>,
    facts: &[Fact],
    budget: &Budget,
) -> Result<Vec<PositionSet>, Interrupt> {
    let mut lines: Vec<Vec<PositionSet>> = Vec::new();
    for fact in facts {
        lines.push(lines_of(problem, fact)?);
    }
    let mut reported = vec![PositionSet::FULL; facts.len()];
    // What is told in one line is in force as it stands, the rest line by line.
    let mut active: FxHashSet<Fact> = FxHashSet::default();
    let mut tries: Vec<(usize, PositionSet, Vec<Fact>)> = Vec::new();
    for (at, (fact, lines)) in facts.iter().zip(lines).enumerate() {
        if lines.len() < 2 {
            active.insert(fact.clone());
            continue;
        }
        for line in lines {
            let nogoods = add_nogoods(problem, fact, &line);
            active.extend(nogoods.iter().cloned());
            tries.push((at, line, nogoods));
        }
    }
    let mut facts_examined = 0;
    for (at, line, nogoods) in tries.into_iter().rev() {
        facts_examined += active.len();
        if facts_examined > MAX_FACTS_EXAMINED {
            break;
        }
        let mut without = active.clone();
        for nogood in &nogoods {
            without.remove(nogood);
        }
        let mut budget = budget.for_side_question(MAX_STEPS);
        match refute(problem, without.clone(), &mut budget) {
            Ok(Verdict::Impossible(_)) => {
                active = without;
                reported[at] = reported[at].intersection(&line.complement());
            }
            Ok(Verdict::Solved(())) | Err(Interrupt::Exhausted) => {}
            Err(missing) => return Err(missing),
        }
    }
    Ok(reported)
}

/// The releases that the lines of a fact are about, the oldest first; nothing where it is told in
/// one line whatever is left out.
fn lines_of(problem: &mut Problem<'_>, fact: &Fact) -> Result<Vec<PositionSet>, Interrupt> {
    let mut lines: Vec<PositionSet> = match fact {
        Fact::Requires {
            owner,
            target,
            allowed,
        } if !problem.universe.is_model(*owner) => {
            let spelling = spellings(problem.universe, *owner, *target, allowed);
            let releases = spelling.into_values().map(|spelling| spelling.releases);
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

/// A line as nogoods, one a release: that it is there, and nothing is there that it asks for.
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
                let edge = (details.edges.iter()).position(|edge| edge.package == *target);
                edge.map(|edge| (edge, allowed.clone()))
                    .into_iter()
                    .collect()
            }
            // Where no release of a required package is left, that is the reason; that its classes are
            // missing only follows from it.
            Fact::Extends { .. } if problem.lacks_a_package(release) => continue,
            Fact::Extends { class, .. } => problem.definers_of(release, *class),
            _ => Vec::new(),
        };
        let presence = if problem.is_split(*owner) {
            (Variable::Release(release), PositionSet::single(0))
        } else {
            (Variable::Package(*owner), PositionSet::single(index))
        };
        let mut terms = vec![presence];
        for (edge, allowed) in requirements {
            let target = problem.universe.details(release).edges[edge].package;
            // The number after the last release says that none is there.
            let all = PositionSet::range(0, problem.universe.release_count(target) + 1);
            let others = all.intersection(&allowed.complement());
            terms.push((problem.bound_variable(release, edge), others));
        }
        let number = u32::try_from(problem.nogoods().len()).expect("fewer than 2^32 nogoods");
        added.push(Fact::Nogood(number));
        problem.add(Nogood {
            terms,
            bindings: Vec::new(),
            breach: NogoodCause::Line,
        });
    }
    added
}
