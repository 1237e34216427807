//! What would make it solvable: one requirement allows more. Each is tried by solving.

use std::collections::BTreeSet;

use pkgres_manifest::diagnostic::Location;
use pkgres_manifest::{PackageName, Spec, Version};

use crate::encoding::{Encoding, Fact, Limits, Missing};
use crate::engine::{Budget, Outcome, search};
use crate::universe::{ReleaseId, Universe};

/// How many requirements are tried. Reasons are many where no single change is worth much.
const MAX_TRIES: usize = 24;

/// How many steps each try may take.
const MAX_STEPS: u64 = 20_000;

/// A change that makes a conflict solvable: a requirement that also allows another version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repair {
    /// The package whose requirement it is.
    pub owner: PackageName,
    /// The package's versions that have the requirement, ascending.
    pub versions: Vec<Version>,
    /// The package that is required.
    pub package: PackageName,
    /// The spec, as it is written now.
    pub spec: String,
    /// The version that would have to be allowed.
    pub allow: Version,
    /// Where the requirement is written, if it comes from a file.
    pub location: Option<Location>,
    /// The change in words.
    pub text: String,
}

/// Repairs that are being looked for. What was found out stays when more has to be delivered.
#[derive(Debug)]
pub(super) struct Repairs {
    tries: Vec<Fact>,
    next: usize,
    found: Vec<Repair>,
}

impl Repairs {
    /// Tries the requirements among the facts, those of the roots first.
    pub(super) fn new(universe: &Universe, facts: &[Fact]) -> Self {
        let is_written = universe.model().is_none();
        let mut tries: Vec<Fact> = facts
            .iter()
            .filter(|fact| is_written && matches!(fact, Fact::Requires { .. }))
            .cloned()
            .collect();
        let is_of_root = |fact: &Fact| match fact {
            Fact::Requires { owner, .. } => universe.is_root(*owner),
            _ => false,
        };
        tries.sort_by_key(|fact| !is_of_root(fact));
        tries.truncate(MAX_TRIES);
        Self {
            tries,
            next: 0,
            found: Vec::new(),
        }
    }

    /// Tries nothing.
    pub(super) fn none() -> Self {
        Self {
            tries: Vec::new(),
            next: 0,
            found: Vec::new(),
        }
    }

    /// Goes on until all were tried.
    pub(super) fn finish(
        &mut self,
        universe: &mut Universe,
        limits: &Limits,
        budget: &Budget,
    ) -> Result<&[Repair], Missing> {
        while let Some(fact) = self.tries.get(self.next).cloned() {
            self.found.extend(repair(universe, limits, &fact, budget)?);
            self.next += 1;
        }
        Ok(&self.found)
    }
}

/// What a requirement would have to allow.
fn repair(
    universe: &mut Universe,
    limits: &Limits,
    fact: &Fact,
    budget: &Budget,
) -> Result<Option<Repair>, Missing> {
    let Fact::Requires {
        owner,
        target,
        allowed,
    } = fact
    else {
        return Ok(None);
    };
    // That a search without patience finds is locally best, by the requirements as they are.
    let mut budget = budget.aside(MAX_STEPS);
    let mut encoding = Encoding::new(universe, BTreeSet::new());
    encoding.loosen(fact.clone());
    encoding.limit(limits.clone());
    let selection = match search(&mut encoding, &mut budget) {
        Outcome::Solved(selection) => selection,
        Outcome::Impossible(_) | Outcome::GaveUp => return Ok(None),
        Outcome::Missing(missing) => return Err(missing),
    };
    // Where the package is not chosen at all, nothing is to be allowed.
    let Some(release) = selection.only(*target) else {
        return Ok(None);
    };
    if allowed.contains(release.index) {
        return Ok(None);
    }
    let mut written: Option<(Spec, Option<Location>)> = None;
    let mut versions = Vec::new();
    for index in universe.candidates_of(*owner).iter() {
        let owning = ReleaseId {
            package: *owner,
            index,
        };
        let details = universe.details(owning);
        let edge = details.edges.iter().find(|edge| edge.package == *target);
        if let Some(edge) = edge.filter(|edge| universe.allowed(edge) == *allowed) {
            let requirement = &edge.requirement;
            written.get_or_insert_with(|| (requirement.spec.clone(), requirement.location.clone()));
            versions.push(universe.version(owning).clone());
        }
    }
    let Some((spec, location)) = written else {
        return Ok(None);
    };
    let (name, package) = (universe.name(*owner), universe.name(*target));
    let allow = universe.version(release);
    let text = if universe.overriding(*target).is_some() {
        format!("it can be solved if the override of {package} allows {package} {allow}")
    } else if universe.is_root(*owner) {
        let place = location.as_ref().map(|location| format!(" ({location})"));
        let place = place.unwrap_or_default();
        format!("it can be solved if {name} allows {package} {allow}{place}")
    } else {
        format!("it can be solved with a release of {name} that allows {package} {allow}")
    };
    Ok(Some(Repair {
        owner: name.clone(),
        versions,
        package: package.clone(),
        spec: spec.written().to_owned(),
        allow: allow.clone(),
        location,
        text,
    }))
}
