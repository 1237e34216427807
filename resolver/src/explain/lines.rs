//! Leaving out the lines that a conflict does not need.
//!
//! A fact is told in several lines where its requirement is spelled in several ways, or where its
//! class is looked for in different packages. All of them are one fact to the proof, which may need
//! only some: a release that another reason rules out has nothing to say.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use crate::budget::{Budget, Interrupt};
use crate::problem::{Fact, Nogood, NogoodCause, Problem, Variable};
use crate::search::{Verdict, refute};
use crate::set::PositionSet;
use crate::universe::{PackageId, ReleaseId};

use super::extends::{asked_by, extending, lacks};
use super::requirements::ways_of_writing;

/// How many facts all tries together look at, see [`super::reduce`].
const MAX_FACTS_LOOKED_AT: usize = 250_000;

/// How many steps each try may take.
const MAX_STEPS: u64 = 20_000;

/// For each fact the releases of its owner whose lines are told.
pub(super) fn needed(
    problem: &mut Problem<'_>,
    facts: &[Fact],
    budget: &Budget,
) -> Result<Vec<PositionSet>, Interrupt> {
    let mut lines: Vec<Vec<PositionSet>> = Vec::new();
    for fact in facts {
        lines.push(lines_of(problem, fact)?);
    }
    let mut told = vec![PositionSet::FULL; facts.len()];
    // What is told in one line is in force as it stands, the rest line by line.
    let mut in_force: FxHashSet<Fact> = FxHashSet::default();
    let mut tries: Vec<(usize, PositionSet, Vec<Fact>)> = Vec::new();
    for (at, (fact, lines)) in facts.iter().zip(lines).enumerate() {
        if lines.len() < 2 {
            in_force.insert(fact.clone());
            continue;
        }
        for line in lines {
            let nogoods = add_nogoods(problem, fact, &line);
            in_force.extend(nogoods.iter().cloned());
            tries.push((at, line, nogoods));
        }
    }
    let mut looked_at = 0;
    for (at, line, nogoods) in tries.into_iter().rev() {
        looked_at += in_force.len();
        if looked_at > MAX_FACTS_LOOKED_AT {
            break;
        }
        let mut without = in_force.clone();
        for nogood in &nogoods {
            without.remove(nogood);
        }
        let mut budget = budget.for_side_question(MAX_STEPS);
        match refute(problem, without.clone(), &mut budget) {
            Ok(Verdict::Impossible(_)) => {
                in_force = without;
                told[at] = told[at].intersection(&line.complement());
            }
            Ok(Verdict::Solved(())) | Err(Interrupt::Exhausted) => {}
            Err(missing) => return Err(missing),
        }
    }
    Ok(told)
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
            let written = ways_of_writing(problem.universe, *owner, *target, allowed);
            let releases = written.into_values().map(|written| written.releases);
            releases
                .map(|releases| releases.iter().map(|release| release.index).collect())
                .collect()
        }
        Fact::Extends { owner, class } => {
            let mut by_asked: BTreeMap<Vec<PackageId>, Vec<u32>> = BTreeMap::new();
            for release in extending(problem.universe, *owner, *class) {
                let mut asked = asked_by(problem, release)?;
                asked.retain(|package| lacks(problem.universe, *package, *class).is_some());
                by_asked.entry(asked).or_default().push(release.index);
            }
            let releases = by_asked.into_values();
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
        let asks: Vec<(usize, PositionSet)> = match fact {
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
            Fact::Extends { .. } if problem.lacks_package(release) => continue,
            Fact::Extends { class, .. } => problem.definers_of(release, *class),
            _ => Vec::new(),
        };
        let there = if problem.is_split(*owner) {
            (Variable::Release(release), PositionSet::single(0))
        } else {
            (Variable::Package(*owner), PositionSet::single(index))
        };
        let mut terms = vec![there];
        for (edge, allowed) in asks {
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
            cause: NogoodCause::Line,
        });
    }
    added
}
