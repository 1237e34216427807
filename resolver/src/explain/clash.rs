//! What a conflict is about.

use std::collections::BTreeMap;

use pkgres_manifest::PackageName;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::hierarchy::Violation;
use crate::problem::{Fact, NogoodCause, Problem};
use crate::set::PositionSet;
use crate::universe::{PackageId, Universe};

/// Where the facts of a conflict contradict each other.
pub(super) struct Clash {
    /// The package that the conflict is about.
    pub(super) package: Option<PackageId>,
    /// The packages of which some facts want what others do not allow.
    on: FxHashSet<PackageId>,
    /// The packages, by name, of which each leads to all of these, if there are several: whatever versions they
    /// have, one is in the way.
    pub(super) leading: Vec<PackageId>,
    /// Whether these may not have all of their versions.
    pub(super) is_limited: bool,
}

impl Clash {
    /// What facts are about of which these are the [dead ends](dead_ends).
    pub(super) fn of(
        problem: &Problem<'_>,
        facts: &[Fact],
        dead_ends: &FxHashSet<PackageId>,
    ) -> Self {
        match breach(problem, facts) {
            None => Self::of_requirements(problem, facts, dead_ends),
            Some(breach) => Self::about(end_of_diamond(breach)),
        }
    }

    fn about(package: Option<PackageId>) -> Self {
        Self {
            package,
            on: package.into_iter().collect(),
            leading: Vec::new(),
            is_limited: false,
        }
    }

    fn of_requirements(
        problem: &Problem<'_>,
        facts: &[Fact],
        dead_ends: &FxHashSet<PackageId>,
    ) -> Self {
        let leading = leading_to_all(problem, facts, dead_ends);
        if dead_ends.len() > 1 && !leading.is_empty() {
            return Self::of_leading(problem, facts, leading, dead_ends);
        }
        let mut clash = Self::about(most_restricted(problem, facts, dead_ends));
        clash.on.extend(dead_ends);
        clash
    }

    /// The clash of packages of which each leads to all dead ends. What keeps other versions of them away is a part
    /// of it.
    fn of_leading(
        problem: &Problem<'_>,
        facts: &[Fact],
        leading: Vec<PackageId>,
        dead_ends: &FxHashSet<PackageId>,
    ) -> Self {
        let universe = &*problem.universe;
        let limited = facts.iter().filter_map(|fact| match fact {
            Fact::Requires {
                target, allowed, ..
            } if leading.contains(target) => {
                let is_limited = !universe.candidates_of(*target).is_subset_of(allowed);
                is_limited.then_some(*target)
            }
            _ => None,
        });
        let limited: Vec<PackageId> = limited.collect();
        let is_limited = !limited.is_empty();
        let mut on = dead_ends.clone();
        on.extend(limited);
        Self {
            package: leading.first().copied(),
            on,
            leading,
            is_limited,
        }
    }

    /// Whether a fact is one of those that contradict each other, rather than what brought one of them in.
    pub(super) fn is_of(&self, fact: &Fact) -> bool {
        match fact {
            Fact::Requires { target, .. } => self.on.contains(target),
            Fact::Wanted { package } | Fact::Stays { package } => self.on.contains(package),
            Fact::Extends { .. } | Fact::OwnCycle { .. } | Fact::Nogood(_) => true,
        }
    }
}

/// Who restricts a package, in one version or another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Restrictor {
    /// A package, which may do so in other ways in other versions.
    Package(PackageId),
    /// A fact by itself, of these.
    Fact(usize),
}

impl Restrictor {
    /// Who requires something by a fact. All objects of a model do so together.
    pub(super) fn of(universe: &Universe, owner: PackageId, fact: usize) -> Self {
        if universe.is_model(owner) {
            Self::Fact(fact)
        } else {
            Self::Package(owner)
        }
    }
}

/// What the first nogood among the facts forbids.
pub(super) fn breach<'problem>(
    problem: &'problem Problem<'_>,
    facts: &[Fact],
) -> Option<&'problem NogoodCause> {
    facts.iter().find_map(|fact| match fact {
        Fact::Nogood(number) => Some(&problem.nogoods()[*number as usize].cause),
        _ => None,
    })
}

/// The package of which a class would be inherited in two versions.
fn end_of_diamond(breach: &NogoodCause) -> Option<PackageId> {
    let NogoodCause::Rule(Violation::Diamond([one, two])) = breach else {
        return None;
    };
    let (one, two) = (one.last()?.release.package, two.last()?.release.package);
    (one == two).then_some(one)
}

/// The packages of which no version is allowed by all who restrict them. What a package allows in any of
/// its versions it allows.
pub(super) fn dead_ends(problem: &Problem<'_>, facts: &[Fact]) -> FxHashSet<PackageId> {
    let goals = problem.goals();
    let mut allowed: FxHashMap<PackageId, FxHashMap<Restrictor, PositionSet>> =
        FxHashMap::default();
    for (at, fact) in facts.iter().enumerate() {
        let (package, restrictor, more) = match fact {
            Fact::Requires {
                owner,
                target,
                allowed,
            } => (
                *target,
                Restrictor::of(problem.universe, *owner, at),
                allowed,
            ),
            Fact::Wanted { package } => match goals.goal(*package) {
                Some(goal) => (*package, Restrictor::Fact(at), &goal.allowed),
                None => continue,
            },
            Fact::Stays { package } => (*package, Restrictor::Fact(at), &goals.stays[package]),
            _ => continue,
        };
        let so_far = allowed.entry(package).or_default().entry(restrictor);
        let so_far = so_far.or_insert(PositionSet::EMPTY);
        *so_far = so_far.union(more);
    }
    let ends = allowed.into_iter().filter(|(_, by_restrictor)| {
        let mut sets = by_restrictor.values();
        let first = sets.next().cloned().unwrap_or(PositionSet::FULL);
        sets.fold(first, |one, other| one.intersection(other))
            .is_empty()
    });
    ends.map(|(package, _)| package).collect()
}

/// The packages, no roots, that require all of some packages, in one version or another; by name.
fn leading_to_all(
    problem: &Problem<'_>,
    facts: &[Fact],
    ends: &FxHashSet<PackageId>,
) -> Vec<PackageId> {
    let universe = &*problem.universe;
    let mut required: FxHashMap<PackageId, FxHashSet<PackageId>> = FxHashMap::default();
    for fact in facts {
        if let Fact::Requires { owner, target, .. } = fact
            && ends.contains(target)
            && !universe.is_root(*owner)
        {
            required.entry(*owner).or_default().insert(*target);
        }
    }
    let leading = required
        .into_iter()
        .filter(|(_, of)| of.len() == ends.len());
    let mut leading: Vec<PackageId> = leading.map(|(package, _)| package).collect();
    leading.sort_by_key(|package| universe.name(*package));
    leading
}

/// The package that is restricted most, of dead ends if there are some: no version is left of it, a root is
/// among those who restrict it, which is there in any case, or most of the facts do so; of equals the first by
/// name.
fn most_restricted(
    problem: &Problem<'_>,
    facts: &[Fact],
    dead_ends: &FxHashSet<PackageId>,
) -> Option<PackageId> {
    let universe = &*problem.universe;
    let mut restricted: BTreeMap<&PackageName, (PackageId, (bool, bool, usize))> = BTreeMap::new();
    for fact in facts {
        let (package, is_left, by_root) = match fact {
            Fact::Requires {
                owner,
                target,
                allowed,
            } => (*target, !allowed.is_empty(), universe.is_root(*owner)),
            Fact::Wanted { package } | Fact::Stays { package } => (*package, true, true),
            _ => continue,
        };
        if dead_ends.is_empty() || dead_ends.contains(&package) {
            let entry = restricted.entry(universe.name(package));
            let (_, (no_version, a_root, count)) = entry.or_insert((package, (false, false, 0)));
            *no_version |= !is_left;
            *a_root |= by_root;
            *count += 1;
        }
    }
    let restricted = restricted.into_values().rev();
    let most = restricted.max_by_key(|(_, how)| *how)?;
    Some(most.0)
}
