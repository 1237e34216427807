//! Hints about excluded releases: they would fit, but are not candidates.

use pkgres_manifest::{PackageName, ReleaseSource};
use rustc_hash::{FxHashMap, FxHashSet};

use super::Hint;
use super::missing_classes::extending;
use super::phrases::kind_and_name;
use super::summary::ConstraintSource;
use crate::class_rules::Violation;
use crate::problem::{Fact, NogoodCause, Problem};
use crate::set::PositionSet;
use crate::universe::{ClassId, PackageId, PolicyExclusion, ReleaseId, Universe};

/// A hint about a release that is not a candidate. `release` is in words, as is what makes it useful; `is_obvious` if the
/// option that lets it in is enough to say.
fn excluded_hint(
    exclusions: &[PolicyExclusion],
    release: &str,
    matches: &str,
    is_obvious: bool,
) -> Hint {
    match exclusions {
        [PolicyExclusion::Yanked] => Hint::packages(format!(
            "{release} {matches} but was yanked; it is chosen only if it is locked, or requested by an update"
        )),
        [PolicyExclusion::Prerelease] if is_obvious => prerelease_hint(release),
        [PolicyExclusion::Prerelease] => Hint::option(format!(
            "`--prerelease allow` lets {release} in, which {matches}"
        )),
        exclusions => {
            let reasons = exclusions.iter().map(|exclusion| match exclusion {
                PolicyExclusion::Yanked => "was yanked",
                PolicyExclusion::TooNew => "was published too late for `exclude-newer`",
                PolicyExclusion::Prerelease => {
                    "is a prerelease, which `--prerelease never` refuses"
                }
            });
            let reasons: Vec<&str> = reasons.collect();
            Hint::option(format!(
                "{release} {matches} but {}",
                reasons.join(", and ")
            ))
        }
    }
}

/// A release in words.
fn shown(universe: &Universe, release: ReleaseId) -> String {
    let name = universe.catalog.name(release.package);
    format!("{name} {}", universe.catalog.version(release))
}

/// Of some releases of a package, one with the fewest exclusions; of equals, one that is not yanked, then the newest.
fn least_excluded(
    universe: &Universe,
    package: PackageId,
    releases: &PositionSet,
) -> Option<(ReleaseId, Vec<PolicyExclusion>)> {
    let excluded = releases.intersection(&universe.catalog.candidates_of(package).complement());
    let releases = excluded.iter().map(|index| ReleaseId { package, index });
    releases
        .map(|release| {
            (
                release,
                PolicyExclusion::all_of(universe, release).collect(),
            )
        })
        .filter(|(_, exclusions): &(_, Vec<_>)| !exclusions.is_empty())
        .min_by_key(|(release, exclusions)| {
            let newest_first = std::cmp::Reverse(release.index);
            let is_yanked = exclusions.contains(&PolicyExclusion::Yanked);
            (exclusions.len(), is_yanked, newest_first)
        })
}

/// Whether a release has a requirement that the facts have of its package, or one that allows less.
fn is_also_in_conflict(universe: &mut Universe, facts: &[Fact], release: ReleaseId) -> bool {
    let details = universe.details(release);
    facts.iter().any(|fact| match fact {
        Fact::Requires {
            owner,
            target,
            allowed,
        } if *owner == release.package => details.requirements.iter().any(|stated| {
            stated.package == *target && universe.allowed(stated).is_subset_of(allowed)
        }),
        _ => false,
    })
}

/// A hint about a version that matches all requirements on a package but is not a candidate, and does not have the
/// reasons that its candidates have. It is the newest of the versions with the fewest reasons, and rather one that an
/// option lets in than a yanked one, which no option does.
pub(super) fn excluded_release_hint(
    universe: &mut Universe,
    facts: &[Fact],
    package: PackageId,
) -> Option<Hint> {
    let mut by_source: FxHashMap<ConstraintSource, (PackageId, FxHashSet<&PositionSet>)> =
        FxHashMap::default();
    for (at, fact) in facts.iter().enumerate() {
        match fact {
            Fact::Requires {
                owner,
                target,
                allowed,
            } if *target == package => {
                let source = ConstraintSource::of(universe, *owner, at);
                let (_, allowed_sets) = by_source
                    .entry(source)
                    .or_insert((*owner, FxHashSet::default()));
                allowed_sets.insert(allowed);
            }
            Fact::Wanted { package: other } | Fact::Stays { package: other }
                if *other == package =>
            {
                return None;
            }
            _ => {}
        }
    }
    let has_several = by_source.len() > 1;
    let matching = (by_source.into_values())
        .map(|(owner, allowed_sets)| matching(universe, owner, package, &allowed_sets))
        .reduce(|one, other| one.intersection(&other))?;
    let candidates = universe.catalog.candidates_of(package);
    let excluded = matching.intersection(&candidates.complement());
    let excluded = excluded.iter();
    let useful: PositionSet = excluded
        .filter(|index| {
            let index = *index;
            !is_also_in_conflict(universe, facts, ReleaseId { package, index })
        })
        .collect();
    let (release, exclusions) = least_excluded(universe, package, &useful)?;
    let matches = if has_several {
        "matches all of these"
    } else {
        "matches"
    };
    Some(excluded_hint(
        &exclusions,
        &shown(universe, release),
        matches,
        !has_several,
    ))
}

/// All versions, candidates or not, that match requirements of a package for which the allowed
/// candidates are one of these sets.
fn matching(
    universe: &mut Universe,
    owner: PackageId,
    target: PackageId,
    allowed_sets: &FxHashSet<&PositionSet>,
) -> PositionSet {
    let mut matching = PositionSet::EMPTY;
    for release in universe.catalog.candidate_releases(owner) {
        let details = universe.details(release);
        for stated in details
            .requirements
            .iter()
            .filter(|stated| stated.package == target)
        {
            if allowed_sets.contains(&universe.allowed(stated)) {
                let mut versions = (universe.catalog).versions_in(target, &stated.spec);
                if let Some((_, class)) = stated.object {
                    versions = versions.intersection(&universe.catalog.definers(target, class));
                }
                matching = matching.union(&versions);
            }
        }
    }
    matching
}

/// Why a required package does not have a missing class: a release that has it and that the requirement matches is not a
/// candidate, or the host provides the package.
pub(super) fn excluded_definer(
    universe: &mut Universe,
    owner: PackageId,
    class: ClassId,
) -> Option<Hint> {
    let mut found: FxHashMap<PackageId, PositionSet> = FxHashMap::default();
    for release in extending(universe, owner, class) {
        let details = universe.details(release);
        for stated in &details.requirements {
            let package = stated.package;
            if !universe.catalog.is_delivered(package)
                || universe.catalog.release_count(package) == 0
            {
                continue;
            }
            let matching = (universe.catalog).versions_in(package, &stated.spec);
            let defining = matching.intersection(&universe.catalog.definers(package, class));
            let known = found.entry(package).or_insert(PositionSet::EMPTY);
            *known = known.union(&defining);
        }
    }
    let mut found: Vec<(PackageId, PositionSet)> = found.into_iter().collect();
    found.sort_unstable_by(|(one, _), (other, _)| {
        universe
            .catalog
            .name(*one)
            .cmp(universe.catalog.name(*other))
    });
    let (what, name) = kind_and_name(universe.catalog.class_name(class));
    let excluded = found.iter().find_map(|(package, defining)| {
        let (release, exclusions) = least_excluded(universe, *package, defining)?;
        let is_known = !universe.catalog.has_unknown_classes(release);
        let defines = format!("defines the {what} {name}");
        is_known.then(|| excluded_hint(&exclusions, &shown(universe, release), &defines, false))
    });
    // The core library is required by all packages, and callers know what is built in.
    let is_of_host = |package: &PackageId| {
        let catalog = &universe.catalog;
        catalog.source(*package) == Some(&ReleaseSource::Host) && catalog.core() != Some(*package)
    };
    let names: Vec<PackageName> = name.enclosing_packages().collect();
    excluded.or_else(|| {
        let mut packages = found.iter().map(|(package, _)| *package);
        let package = packages.find(|package| {
            is_of_host(package) && names.contains(universe.catalog.name(*package))
        })?;
        let package = universe.catalog.name(package);
        Some(Hint::option(format!(
            "the host provides {package}, as `--provide` or `provide` in pkgres.toml says, so its releases in registries are not used"
        )))
    })
}

/// A hint about the prerelease that a nogood excludes because no requirement names it.
pub(super) fn unnamed_prerelease_hint(problem: &Problem<'_>, number: u32) -> Option<Hint> {
    let nogood = &problem.nogoods()[number as usize];
    let NogoodCause::Rule(Violation::UnnamedPrerelease(release)) = &nogood.cause else {
        return None;
    };
    let catalog = &problem.universe.catalog;
    let (name, version) = (catalog.name(release.package), catalog.version(*release));
    Some(prerelease_hint(&format!("{name} {version}")))
}

/// A hint about a prerelease that would fit. `release` is in words.
fn prerelease_hint(release: &str) -> Hint {
    Hint::option(format!("`--prerelease allow` lets {release} in"))
}
