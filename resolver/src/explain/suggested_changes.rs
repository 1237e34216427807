//! Suggested changes: single requirements or overrides that make a conflict solvable if they allow more. Each
//! is verified by solving.

use std::collections::BTreeSet;

use pkgres_manifest::diagnostic::Location;
use pkgres_manifest::{PackageName, Spec, Version};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::budget::{Budget, Interrupt};
use crate::improve::search_and_improve;
use crate::problem::{Fact, Goals, Problem, SingleRelaxation};
use crate::request::PrereleasePolicy;
use crate::search::Verdict;
use crate::set::PositionSet;
use crate::tiers::split_more;
use crate::universe::{PackageId, PolicyExclusion, ReleaseId, Universe};

/// The maximum number of requirements to try. In a conflict with more reasons, no single change is
/// likely to help.
const MAX_CANDIDATES: usize = 24;

/// The step limit of each attempt.
const MAX_STEPS: u64 = 50_000;

/// The step limit of all attempts together: as many as it takes to attempt every requirement once.
const MAX_STEPS_OF_ALL: u64 = MAX_STEPS * MAX_CANDIDATES as u64;

/// The maximum number of versions to try, in order to find the nearest one that a root could allow.
const MAX_VERSIONS: usize = 24;

/// A change that makes a conflict solvable: a requirement that also allows another version, or an
/// override, which changes all requirements on the package.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SuggestedChange {
    /// The package with the requirement. For an override, one of the packages whose requirement is
    /// overridden.
    pub owner: PackageName,
    /// The package's versions with the requirement, ascending.
    pub versions: Vec<Version>,
    /// The package that is required.
    pub package: PackageName,
    /// The current spec, or the spec of the override if there is one.
    pub spec: String,
    /// Whether the override has to change.
    pub is_override: bool,
    /// The version to allow.
    pub allow: Version,
    /// Why only an update that requests the version can choose it, if so.
    pub exclusion: Option<PolicyExclusion>,
    /// The location of the requirement, if it comes from a file.
    pub location: Option<Location>,
    /// The change in one sentence.
    pub text: String,
}

/// A search for suggested changes. Progress is kept when packages have to be provided first.
#[derive(Debug)]
pub(super) struct SuggestedChanges {
    candidates: Vec<ConflictingRequirement>,
    next: usize,
    found: Vec<SuggestedChange>,
    /// The steps of the attempts so far.
    steps: u64,
    /// Whether packages may have several releases, which a solution without the conflict may need.
    may_split: bool,
}

#[derive(Debug, Clone)]
struct ConflictingRequirement {
    owner: PackageId,
    target: PackageId,
    allowed: PositionSet,
}

impl SuggestedChanges {
    /// Repairs to try: the requirements among the facts, those of roots first, and each override
    /// once.
    pub(super) fn new(universe: &Universe, facts: &[Fact], may_split: bool) -> Self {
        let mut candidates: Vec<ConflictingRequirement> = facts
            .iter()
            .filter_map(|fact| match fact {
                // Requirements of objects come from pins in the model, which are changed by other
                // means.
                Fact::Requires { owner, .. } if universe.catalog.is_model(*owner) => None,
                Fact::Requires {
                    owner,
                    target,
                    allowed,
                } => Some(ConflictingRequirement {
                    owner: *owner,
                    target: *target,
                    allowed: allowed.clone(),
                }),
                _ => None,
            })
            .collect();
        // In the order in which [repairs](crate::find_repairs) are listed.
        candidates.sort_by_cached_key(|requirement| {
            let name = |package| universe.catalog.name(package).clone();
            let is_root = universe.catalog.is_root(requirement.owner);
            let names = is_root.then(|| (name(requirement.owner), name(requirement.target)));
            (!is_root, names)
        });
        let mut overridden = FxHashSet::default();
        candidates.retain(|ConflictingRequirement { target, .. }| {
            universe.catalog.policy().overriding(*target).is_none() || overridden.insert(*target)
        });
        if candidates.len() > MAX_CANDIDATES {
            // In a long chain, the end is what conflicts.
            let mut remaining: FxHashMap<PackageId, PositionSet> = FxHashMap::default();
            for ConflictingRequirement {
                target, allowed, ..
            } in &candidates
            {
                let remaining = remaining.entry(*target).or_insert(PositionSet::FULL);
                *remaining = remaining.intersection(allowed);
            }
            candidates.sort_by_key(|ConflictingRequirement { owner, target, .. }| {
                (
                    !universe.catalog.is_root(*owner),
                    !remaining[target].is_empty(),
                )
            });
            candidates.truncate(MAX_CANDIDATES);
        }
        Self {
            candidates,
            next: 0,
            found: Vec::new(),
            steps: 0,
            may_split,
        }
    }

    /// No suggested changes.
    pub(super) fn none() -> Self {
        Self {
            candidates: Vec::new(),
            next: 0,
            found: Vec::new(),
            steps: 0,
            may_split: false,
        }
    }

    /// Continues until all were tried, within the limit.
    pub(super) fn finish(
        &mut self,
        universe: &mut Universe,
        goals: &Goals,
        budget: &Budget,
    ) -> Result<&[SuggestedChange], Interrupt> {
        while let Some(requirement) = self.candidates.get(self.next)
            && self.steps < MAX_STEPS_OF_ALL
        {
            // If packages are missing, the same attempts are made again, and count then.
            let mut steps = 0;
            let may_split = self.may_split;
            let found = try_change(universe, goals, requirement, may_split, budget, &mut steps)?;
            self.found.extend(found);
            self.steps += steps;
            self.next += 1;
        }
        Ok(&self.found)
    }
}

/// The change of a requirement or its override that solves the conflict, if allowing more there is enough.
fn try_change(
    universe: &mut Universe,
    goals: &Goals,
    requirement: &ConflictingRequirement,
    may_split: bool,
    budget: &Budget,
    steps: &mut u64,
) -> Result<Option<SuggestedChange>, Interrupt> {
    let ConflictingRequirement {
        owner,
        target,
        allowed,
    } = requirement;
    let is_overridden = universe.catalog.policy().overriding(*target).is_some();
    let mut chosen_with = |universe: &mut Universe, instead: Option<PositionSet>| {
        let relaxation = if is_overridden {
            SingleRelaxation::Override { target: *target }
        } else {
            SingleRelaxation::Requirement {
                owner: *owner,
                target: *target,
                allowed: allowed.clone(),
                instead,
            }
        };
        // The result of a search without a conflict limit is locally best with the requirements as they are.
        let mut budget = budget.for_side_question(MAX_STEPS);
        budget.conflict_limit = u64::MAX;
        let chosen = chosen(
            universe,
            goals,
            &relaxation,
            *target,
            may_split,
            &mut budget,
        );
        *steps += budget.taken();
        chosen
    };
    // If the package is not chosen, there is no version to allow.
    let Some(mut release) = chosen_with(universe, None)? else {
        return Ok(None);
    };
    if allowed.contains(release.index) {
        return Ok(None);
    }
    let Some((spec, location, versions)) = stated(universe, requirement) else {
        return Ok(None);
    };
    if universe.catalog.is_root(*owner) && !is_overridden {
        // Its owner can change it at once, and as little as possible.
        for index in by_distance(universe, *target, &spec).take(MAX_VERSIONS) {
            if chosen_with(universe, Some(PositionSet::single(index)))?.is_some() {
                release.index = index;
                break;
            }
        }
    }
    // Without an update, only a lock lets such a release in, and goes on to do so.
    let is_update = !goals.is_empty();
    let exclusion = PolicyExclusion::until_requested(universe, release).filter(|_| is_update);
    let catalog = &universe.catalog;
    let change = SuggestedChange {
        owner: catalog.name(*owner).clone(),
        versions,
        package: catalog.name(*target).clone(),
        spec: spec.written().to_owned(),
        is_override: is_overridden,
        allow: catalog.version(release).clone(),
        exclusion,
        location,
        text: String::new(),
    };
    Ok(Some(SuggestedChange {
        text: text(&change, catalog.is_root(*owner)),
        ..change
    }))
}

/// The change in one sentence.
fn text(change: &SuggestedChange, is_root: bool) -> String {
    let (owner, package, allow) = (&change.owner, &change.package, &change.allow);
    let text = if change.is_override {
        format!("the conflict can be solved if the override of {package} allows {package} {allow}")
    } else if is_root {
        let place = change.location.as_ref();
        let place = place.map_or(String::new(), |location| format!(" ({location})"));
        format!("the conflict can be solved if {owner} allows {package} {allow}{place}")
    } else {
        format!(
            "the conflict can be solved with a release of {owner} that allows {package} {allow}"
        )
    };
    match change.exclusion {
        Some(exclusion) => format!("{text}, which {exclusion} and also has to be requested"),
        None => text,
    }
}

/// The release of a package in a solution with a restriction relaxed; `None` if there is none, or several.
fn chosen(
    universe: &mut Universe,
    goals: &Goals,
    relaxation: &SingleRelaxation,
    target: PackageId,
    may_split: bool,
    budget: &mut Budget,
) -> Result<Option<ReleaseId>, Interrupt> {
    let mut split = BTreeSet::new();
    // Loop nogoods depend on which packages may have several releases.
    let mut relaxed_goals = goals.clone();
    relaxed_goals.clear_loop_nogoods();
    loop {
        let mut problem = Problem::new(universe, split.clone());
        problem.relax(relaxation.clone());
        problem.set_goals(relaxed_goals.clone());
        let proof = match search_and_improve(&mut None, &mut problem, budget) {
            Ok(Verdict::Solved(selection)) => {
                // If the owner is chosen at several versions, a new release of one of them is not enough.
                let mut split = selection.packages_side_by_side();
                let is_single = split.all(|package| Some(package) != relaxation.owner());
                return Ok(selection.first_release_of(target).filter(|_| is_single));
            }
            Ok(Verdict::Impossible(proof)) => proof,
            Err(Interrupt::Exhausted) => return Ok(None),
            Err(missing) => return Err(missing),
        };
        // The change allows one version of the package, so that package is not split.
        let target = universe.catalog.name(target);
        let is_other = |package: &PackageName| package != target;
        // An update decides by itself which packages it splits.
        let may_split = may_split && goals.is_empty();
        if !may_split || !split_more(universe, &mut split, &proof, is_other) {
            return Ok(None);
        }
    }
}

/// How a requirement is stated: its spec, its location if it comes from a file, and the versions of its owner with it,
/// ascending.
fn stated(
    universe: &mut Universe,
    requirement: &ConflictingRequirement,
) -> Option<(Spec, Option<Location>, Vec<Version>)> {
    let ConflictingRequirement {
        owner,
        target,
        allowed,
    } = requirement;
    let mut spelled: Option<(Spec, Option<Location>)> = None;
    let mut versions = Vec::new();
    for owning in universe.catalog.candidate_releases(*owner) {
        let details = universe.details(owning);
        let stated = details
            .requirements
            .iter()
            .find(|stated| stated.package == *target);
        if let Some(stated) = stated.filter(|stated| universe.allowed(stated) == *allowed) {
            spelled.get_or_insert_with(|| (stated.spec.clone(), stated.location.clone()));
            versions.push(universe.catalog.version(owning).clone());
        }
    }
    spelled.map(|(spec, location)| (spec, location, versions))
}

/// The candidates of a package that a spec does not allow, the nearest first: those above all that it allows, those
/// below, then those in between. Stable ones come before prereleases, unless the policy or the spec accepts prereleases
/// as well.
fn by_distance(
    universe: &Universe,
    package: PackageId,
    spec: &Spec,
) -> impl Iterator<Item = u32> + use<> {
    let catalog = &universe.catalog;
    let intervals = spec.set().intervals();
    let from = intervals
        .first()
        .map_or(0, |first| catalog.versions_below(package, &first.from));
    let until = intervals.last().map_or(0, |last| {
        let until = last.until.as_ref();
        until.map_or_else(
            || catalog.release_count(package),
            |until| catalog.versions_below(package, until),
        )
    });
    let inside = catalog.versions_in(package, spec);
    let candidates = catalog.candidates_of(package);
    let outside = candidates.iter().filter(|index| !inside.contains(*index));
    let outside: Vec<u32> = outside.collect();
    let (above, others): (Vec<u32>, Vec<u32>) = outside.into_iter().partition(|one| *one >= until);
    let (below, between): (Vec<u32>, Vec<u32>) = others.into_iter().partition(|one| *one < from);
    let descending = below.into_iter().rev().chain(between.into_iter().rev());
    // Where nothing is allowed, the newest one is the nearest.
    let above: Vec<u32> = if spec.set().is_empty() {
        above.into_iter().rev().collect()
    } else {
        above
    };
    let nearest = above.into_iter().chain(descending);
    let prefers_stable =
        catalog.policy().prerelease() != PrereleasePolicy::Allow && !spec.names_prerelease();
    let (last, first): (Vec<u32>, Vec<u32>) = nearest.partition(|index| {
        let index = *index;
        prefers_stable && catalog.is_prerelease(ReleaseId { package, index })
    });
    first.into_iter().chain(last)
}
