//! Leaving out the lines that a conflict does not need.
//!
//! A fact is told in several lines where its requirement is spelled in several ways, or where its
//! class is looked for in different packages. All of them are one fact to the proof, which may need
//! only some: a release that another reason rules out has nothing to say.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use crate::budget::Budget;
use crate::encoding::{Breach, Clause, Encoding, Fact, Variable};
use crate::engine::{Refutation, refute};
use crate::universe::{Missing, PackageId, ReleaseId};
use crate::word_set::WordSet;

use super::extends::{asked_by, extending, lacks};
use super::requirements::ways_of_writing;

/// How many facts all tries together look at, see [`super::reduce`].
const MAX_FACTS_LOOKED_AT: usize = 250_000;

/// How many steps each try may take.
const MAX_STEPS: u64 = 20_000;

/// For each fact the releases of its owner whose lines are told.
pub(super) fn needed(
    encoding: &mut Encoding<'_>,
    facts: &[Fact],
    budget: &Budget,
) -> Result<Vec<WordSet>, Missing> {
    let mut lines: Vec<Vec<WordSet>> = Vec::new();
    for fact in facts {
        lines.push(lines_of(encoding, fact)?);
    }
    let mut told = vec![WordSet::FULL; facts.len()];
    // What is told in one line is in force as it stands, the rest line by line.
    let mut in_force: FxHashSet<Fact> = FxHashSet::default();
    let mut tries: Vec<(usize, WordSet, Vec<Fact>)> = Vec::new();
    for (at, (fact, lines)) in facts.iter().zip(lines).enumerate() {
        if lines.len() < 2 {
            in_force.insert(fact.clone());
            continue;
        }
        for line in lines {
            let clauses = add_clauses(encoding, fact, &line);
            in_force.extend(clauses.iter().cloned());
            tries.push((at, line, clauses));
        }
    }
    let mut looked_at = 0;
    for (at, line, clauses) in tries.into_iter().rev() {
        looked_at += in_force.len();
        if looked_at > MAX_FACTS_LOOKED_AT {
            break;
        }
        let mut without = in_force.clone();
        for clause in &clauses {
            without.remove(clause);
        }
        let mut budget = budget.aside(MAX_STEPS);
        let found = refute(encoding, without.clone(), &mut budget)?;
        if let Refutation::Refuted(_) = found {
            in_force = without;
            told[at] = told[at].intersection(&line.complement());
        }
    }
    Ok(told)
}

/// The releases that the lines of a fact are about, the oldest first; nothing where it is told in
/// one line whatever is left out.
fn lines_of(encoding: &mut Encoding<'_>, fact: &Fact) -> Result<Vec<WordSet>, Missing> {
    let mut lines: Vec<WordSet> = match fact {
        Fact::Requires {
            owner,
            target,
            allowed,
        } if !encoding.universe.is_model(*owner) => {
            let written = ways_of_writing(encoding.universe, *owner, *target, allowed);
            let releases = written.into_values().map(|written| written.releases);
            releases
                .map(|releases| releases.iter().map(|release| release.index).collect())
                .collect()
        }
        Fact::Extends { owner, class } => {
            let mut by_asked: BTreeMap<Vec<PackageId>, Vec<u32>> = BTreeMap::new();
            for release in extending(encoding.universe, *owner, *class) {
                let mut asked = asked_by(encoding, release)?;
                asked.retain(|package| lacks(encoding.universe, *package, *class).is_some());
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

/// A line as clauses, one a release: that it is there, and nothing is there that it asks for.
fn add_clauses(encoding: &mut Encoding<'_>, fact: &Fact, line: &WordSet) -> Vec<Fact> {
    let (Fact::Requires { owner, .. } | Fact::Extends { owner, .. }) = fact else {
        return Vec::new();
    };
    let mut added = Vec::new();
    for index in line.iter() {
        let release = ReleaseId {
            package: *owner,
            index,
        };
        let asks: Vec<(usize, WordSet)> = match fact {
            Fact::Requires {
                target, allowed, ..
            } => {
                let details = encoding.universe.details(release);
                let edge = (details.edges.iter()).position(|edge| edge.package == *target);
                edge.map(|edge| (edge, allowed.clone()))
                    .into_iter()
                    .collect()
            }
            // Where no release of a required package is left, that is the reason; that its classes are
            // missing only follows from it.
            Fact::Extends { .. } if encoding.lacks_a_package(release) => continue,
            Fact::Extends { class, .. } => encoding.definers_of(release, *class),
            _ => Vec::new(),
        };
        let there = if encoding.is_split(*owner) {
            (Variable::Release(release), WordSet::single(0))
        } else {
            (Variable::Package(*owner), WordSet::single(index))
        };
        let mut terms = vec![there];
        for (edge, allowed) in asks {
            let target = encoding.universe.details(release).edges[edge].package;
            // The number after the last release says that none is there.
            let all = WordSet::range(0, encoding.universe.release_count(target) + 1);
            let others = all.intersection(&allowed.complement());
            terms.push((encoding.bound_variable(release, edge), others));
        }
        let number = u32::try_from(encoding.clauses().len()).expect("fewer than 2^32 clauses");
        added.push(Fact::Clause(number));
        encoding.add(Clause {
            terms,
            bindings: Vec::new(),
            breach: Breach::Line,
        });
    }
    added
}
