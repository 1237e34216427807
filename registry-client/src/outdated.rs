//! Newer versions of the packages of a resolution, and what blocks them.
//!
//! The latest version of a package is compared with the one in use and with the one that an update of everything would
//! choose. If the update does not choose the latest, the requirements that exclude it are listed; if none does by
//! itself, the solver tries exactly that version, and its proof is the explanation.

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::diagnostic::Location;
use pkgres_manifest::{IndexRecord, PackageName, ReadOptions, Spec, Version};
use pkgres_resolver::{
    BoundRequirement, Conflict, Locked, Owner, PackageUpdate, Preference, PrereleasePolicy, Reason,
    ReasonKind, Request, Resolution, ResolvedOwner, ResolvedPackage, Root, Update, UpdateTarget,
};

use crate::drive::{Answer, solve};
use crate::registry_error::RegistryError;
use crate::set::RegistrySet;

/// What an update of everything finds in a resolution.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct OutdatedReport {
    /// The releases for which there is a newer version.
    pub packages: Vec<Outdated>,
    /// The releases that the update replaces by older ones. Empty if older versions are preferred.
    pub downgrades: Vec<Downgrade>,
    /// Why there is no update, if it fails: no downgrade, and no version that it allows, is known then.
    pub failure: Option<UpdateFailure>,
}

/// Why an update of everything fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum UpdateFailure {
    /// It has no resolution.
    Conflict,
    /// None was found within the limits of the search.
    GaveUp,
}

/// A release that an update of everything replaces by an older one.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Downgrade {
    /// The package.
    pub package: PackageName,
    /// The version in use.
    pub now: Version,
    /// The older version.
    pub to: Version,
}

/// A release for which there is a newer version.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outdated {
    /// The package.
    pub package: PackageName,
    /// The version in use.
    pub now: Version,
    /// The version that an update of everything chooses; `None` if the package is no longer needed then, or the
    /// update has no solution.
    pub allowed: Option<Version>,
    /// Whether an update of everything removes the release, because nothing requires it any more.
    pub is_removed: bool,
    /// The newest version that is neither yanked nor too new: a stable one, unless prereleases are allowed or one is
    /// in use. If older versions are preferred, the newer version that an update chooses.
    pub latest: Version,
    /// The requirements that exclude the latest version.
    pub held_back_by: Vec<BlockingRequirement>,
    /// If no requirement does by itself: why the latest version is impossible.
    pub conflict: Option<Box<Conflict>>,
    /// If the latest version is possible, but an update does not choose it: sentences on the packages that would move
    /// with it.
    pub because: Vec<String>,
}

impl Outdated {
    /// The reasons why the latest version is impossible, if no requirement is the reason by itself.
    pub fn reasons(&self) -> impl Iterator<Item = &Reason> {
        let reasons = self.conflict.iter().flat_map(|conflict| &conflict.reasons);
        // That the version is wanted goes without saying.
        reasons.filter(|reason| !matches!(reason.kind, ReasonKind::Wanted { .. }))
    }
}

/// A requirement that excludes a version.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlockingRequirement {
    /// The owner of the requirement.
    pub owner: Owner,
    /// Its spec.
    pub spec: Spec,
    /// Whether an override replaces the written spec.
    pub is_override: bool,
    /// The place where it is written, if known.
    pub location: Option<Location>,
}

/// Finds the packages of a resolution that are not at their latest version, and those that an update would move back.
///
/// `request` is the request of the resolution, or one with more roots that are solved together with its roots: what an
/// update of all of them keeps of these counts. Its locked versions are ignored, except for those that are only kept. A
/// version that is newer than all others is not outdated, whatever an update would choose. If older versions are
/// preferred, neither is a version that an update would not replace by a newer one.
///
/// # Errors
///
/// A registry cannot be read.
pub fn outdated(
    request: &Request,
    resolution: &Resolution,
    registries: &RegistrySet,
    options: &ReadOptions,
) -> Result<OutdatedReport, RegistryError> {
    let mut afresh = request.clone();
    // As in an update of everything, which may keep yanked releases.
    let mut kept = std::mem::take(&mut afresh.locked.kept);
    let packages = resolution.packages().iter();
    kept.extend(packages.map(ResolvedPackage::release));
    afresh.locked = Locked::default();
    afresh.locked.kept = kept;
    afresh.update = None;
    let (fresh, failure) = match solve(afresh.clone(), registries, options)? {
        Answer::Solved(fresh) => (Some(fresh), None),
        Answer::Conflict(_) => (None, Some(UpdateFailure::Conflict)),
        Answer::GaveUp { .. } | Answer::Cancelled => (None, Some(UpdateFailure::GaveUp)),
    };
    let names: Vec<PackageName> = resolution
        .packages()
        .iter()
        .map(|package| package.name.clone())
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect();
    let latest = latest_versions(request, &names, registries)?;
    let mut report = OutdatedReport {
        failure,
        ..OutdatedReport::default()
    };
    let seen = fresh.as_deref().unwrap_or(resolution);
    let requirers = Requirers::new(request, seen);
    let replacements = replacements(
        &releases(resolution),
        &(fresh.as_deref())
            .map(|fresh| releases_for(fresh, resolution))
            .unwrap_or_default(),
    );
    for (package, replacement) in resolution.packages().iter().zip(replacements) {
        let Some(candidates) = latest.get(&package.name) else {
            continue;
        };
        let latest = match request.options.prerelease {
            PrereleasePolicy::Allow => candidates.any.as_ref(),
            _ if package.version.is_prerelease() => candidates.any.as_ref(),
            _ => candidates.stable.as_ref(),
        };
        let older = replacement.filter(|allowed| **allowed < package.version);
        if let (Preference::Newest, Some(older)) = (request.options.prefer, older) {
            report.downgrades.push(Downgrade {
                package: package.name.clone(),
                now: package.version.clone(),
                to: older.clone(),
            });
        }
        let is_newer = |other: &&Version| **other > package.version;
        let newer = replacement.filter(is_newer);
        let wanted = match request.options.prefer {
            Preference::Oldest => newer,
            Preference::Newest => latest.filter(is_newer).max(newer),
        };
        let Some(latest) = wanted.cloned() else {
            continue;
        };
        let mut outdated = Outdated {
            package: package.name.clone(),
            now: package.version.clone(),
            held_back_by: Vec::new(),
            conflict: None,
            because: Vec::new(),
            latest,
            allowed: replacement.cloned(),
            is_removed: fresh.is_some() && replacement.is_none(),
        };
        if outdated.is_removed {
            let removed = "an update removes it: nothing requires it then";
            outdated.because.push(removed.to_owned());
        } else if replacement != Some(&outdated.latest) {
            outdated.held_back_by = requirers.blocking(&outdated);
            if outdated.held_back_by.is_empty()
                && let Some(fresh) = &fresh
            {
                match proof(&afresh, fresh, &outdated, registries, options)? {
                    Answer::Conflict(conflict) => outdated.conflict = Some(conflict),
                    Answer::Solved(other) => outdated.because = price(&other, &outdated.package),
                    Answer::GaveUp { .. } | Answer::Cancelled => {}
                }
            }
        }
        report.packages.push(outdated);
    }
    Ok(report)
}

/// The names and versions of the releases of a resolution.
fn releases(resolution: &Resolution) -> Vec<(&PackageName, &Version)> {
    let packages = resolution.packages().iter();
    packages
        .map(|package| (&package.name, &package.version))
        .collect()
}

/// The releases of a resolution that the roots of another one require, directly or through others.
fn releases_for<'fresh>(
    fresh: &'fresh Resolution,
    other: &Resolution,
) -> Vec<(&'fresh PackageName, &'fresh Version)> {
    if fresh.roots().len() == other.roots().len() {
        return releases(fresh);
    }
    let mut owners = BTreeMap::new();
    for owner in fresh.owners() {
        if let Some((name, version)) = owner.release() {
            owners.insert((name, version), owner);
        }
    }
    let names = other.roots().iter().filter_map(|root| root.owner.name());
    let names: BTreeSet<&PackageName> = names.collect();
    let roots = fresh.roots().iter().map(ResolvedOwner::Root);
    let is_of_other =
        |root: &ResolvedOwner<'_>| root.release().is_some_and(|(name, _)| names.contains(name));
    let mut queue: Vec<ResolvedOwner<'fresh>> = roots.filter(is_of_other).collect();
    let mut found: BTreeSet<(&PackageName, &Version)> = BTreeSet::new();
    while let Some(owner) = queue.pop() {
        for bound in owner.requires() {
            let Some((release, owner)) = owners.get_key_value(&(&bound.package, &bound.version))
            else {
                continue;
            };
            if found.insert(*release) {
                queue.push(*owner);
            }
        }
    }
    found.into_iter().collect()
}

/// The versions that replace releases in another resolution: the release itself if it stays, otherwise the next higher
/// one; of releases side by side one that is new.
fn replacements<'release, N: Ord, V: Ord>(
    now: &[(&'release N, &'release V)],
    fresh: &[(&'release N, &'release V)],
) -> Vec<Option<&'release V>> {
    let known: BTreeSet<&(&N, &V)> = now.iter().collect();
    let mut chosen: BTreeMap<&N, BTreeSet<&'release V>> = BTreeMap::new();
    let mut added: BTreeMap<&N, BTreeSet<&'release V>> = BTreeMap::new();
    for release in fresh {
        let (name, version) = release;
        chosen.entry(name).or_default().insert(version);
        if !known.contains(release) {
            added.entry(name).or_default().insert(version);
        }
    }
    let replacement = |(name, version): &(&N, &'release V)| -> Option<&'release V> {
        let chosen = chosen.get(name)?;
        let others = added.get(name).filter(|_| !chosen.contains(version));
        let versions = others.unwrap_or(chosen);
        let higher = versions.range::<&V, _>(version..).next();
        higher.or(versions.last()).copied()
    };
    now.iter().map(replacement).collect()
}

/// The newest versions of a package that are neither yanked nor too new.
struct Newest {
    stable: Option<Version>,
    any: Option<Version>,
}

fn latest_versions(
    request: &Request,
    names: &[PackageName],
    registries: &RegistrySet,
) -> Result<BTreeMap<PackageName, Newest>, RegistryError> {
    let supplies = registries.supply(names)?;
    let mut provided: BTreeMap<&PackageName, Vec<&IndexRecord>> = BTreeMap::new();
    for record in &request.host_releases {
        provided.entry(&record.name).or_default().push(record);
    }
    let mut latest = BTreeMap::new();
    for (name, supply) in names.iter().zip(supplies) {
        let hosted = provided.get(name);
        let records: Vec<&IndexRecord> = match hosted {
            Some(hosted) => hosted.clone(),
            None => supply.records().iter().collect(),
        };
        let usable = || {
            let cutoff = request.options.exclude_newer;
            let usable = records.iter().filter(move |record| {
                let is_old = cutoff.is_none_or(|cutoff| record.is_published_before(cutoff));
                !record.yanked && is_old
            });
            usable.map(|record| &record.version)
        };
        let newest = Newest {
            stable: usable()
                .filter(|version| !version.is_prerelease())
                .max()
                .cloned(),
            any: usable().max().cloned(),
        };
        latest.insert(name.clone(), newest);
    }
    Ok(latest)
}

/// The requirements of a resolution, by the release that they are bound to.
struct Requirers<'resolution> {
    bound_to: BTreeMap<
        (&'resolution PackageName, &'resolution Version),
        Vec<(ResolvedOwner<'resolution>, &'resolution BoundRequirement)>,
    >,
    /// The locations of the requirements of roots, by root and package. A resolution does not have the locations of
    /// others.
    locations:
        BTreeMap<(&'resolution PackageName, &'resolution PackageName), &'resolution Location>,
}

impl<'resolution> Requirers<'resolution> {
    fn new(request: &'resolution Request, resolution: &'resolution Resolution) -> Self {
        let mut bound_to: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for owner in resolution.owners() {
            for bound in owner.requires() {
                let of_release = bound_to.entry((&bound.package, &bound.version));
                of_release.or_default().push((owner, bound));
            }
        }
        let mut locations = BTreeMap::new();
        for record in request.roots.iter().filter_map(Root::record) {
            for requirement in &record.requirements {
                if let Some(location) = &requirement.location {
                    let key = (&record.name, &requirement.package);
                    locations.entry(key).or_insert(location);
                }
            }
        }
        Self {
            bound_to,
            locations,
        }
    }

    /// The requirements that exclude the latest version. With releases side by side, those count that are bound to the
    /// outdated one.
    fn blocking(&self, outdated: &Outdated) -> Vec<BlockingRequirement> {
        let bound_to = outdated.allowed.as_ref().unwrap_or(&outdated.now);
        let requirers = self.bound_to.get(&(&outdated.package, bound_to));
        let requirers = requirers.into_iter().flatten();
        let excluding = requirers.filter(|(_, bound)| !bound.spec.matches(&outdated.latest));
        let blocking = excluding.map(|(owner, bound)| {
            let owner = owner.owner();
            let location = owner
                .name()
                .and_then(|name| self.locations.get(&(name, &outdated.package)));
            BlockingRequirement {
                location: location.map(|location| Location::clone(location)),
                owner,
                spec: bound.spec.clone(),
                is_override: bound.overridden.is_some(),
            }
        });
        blocking.collect()
    }
}

/// The packages that would move with the latest version of a package, as sentences: they are decided before it.
fn price(moved: &Resolution, package: &PackageName) -> Vec<String> {
    let differing = moved.update().map_or(&[][..], |update| &update.moved);
    differing
        .iter()
        .filter(|moved| moved.package != *package)
        .map(|moved| {
            let name = &moved.package;
            match (&moved.from, &moved.to) {
                (Some(from), Some(to)) => format!("{name} would go from {from} to {to}"),
                (Some(from), None) => format!("{name} {from} would go"),
                (None, Some(to)) => format!("{name} {to} would come in"),
                (None, None) => unreachable!("what moved was or is there"),
            }
        })
        .collect()
}

/// Why the latest version is impossible although every requirement allows it.
fn proof(
    afresh: &Request,
    fresh: &Resolution,
    outdated: &Outdated,
    registries: &RegistrySet,
    options: &ReadOptions,
) -> Result<Answer, RegistryError> {
    let mut request = afresh.clone();
    request.locked = fresh.to_locked();
    // One release of each package may be the reason.
    request.options.single_version |= fresh.side_by_side().is_empty();
    let moving = PackageUpdate {
        from: outdated.allowed.iter().cloned().collect(),
        to: UpdateTarget::Exactly(outdated.latest.clone()),
    };
    let mut update = Update::default();
    update.packages.insert(outdated.package.clone(), moving);
    request.update = Some(update);
    solve(request, registries, options)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::cmp::Ordering;

    use super::*;

    thread_local! {
        static COMPARISONS: Cell<usize> = const { Cell::new(0) };
    }

    /// A number that counts how often it is compared.
    #[derive(Debug, PartialEq, Eq)]
    struct Counted(usize);

    impl Ord for Counted {
        fn cmp(&self, other: &Self) -> Ordering {
            COMPARISONS.set(COMPARISONS.get() + 1);
            self.0.cmp(&other.0)
        }
    }

    impl PartialOrd for Counted {
        fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
            Some(self.cmp(other))
        }
    }

    /// How many comparisons find the replacements of many packages, and of as many releases of one package.
    fn comparisons(count: usize) -> usize {
        COMPARISONS.set(0);
        let numbers: Vec<Counted> = (0..=count).map(Counted).collect();
        let one = Counted(0);
        let packages: Vec<(&Counted, &Counted)> = numbers.iter().map(|name| (name, &one)).collect();
        let found = replacements(&packages, &packages);
        assert_eq!(found, vec![Some(&one); count + 1]);
        let releases: Vec<(&Counted, &Counted)> =
            numbers.iter().map(|one| (&numbers[0], one)).collect();
        let (last, others) = releases.split_last().expect("there are some");
        let found = replacements(others, std::slice::from_ref(last));
        assert_eq!(found, vec![Some(&numbers[count]); count]);
        COMPARISONS.get()
    }

    #[test]
    fn replacements_are_found_without_looking_at_all_releases_each_time() {
        let (few, many) = (comparisons(1_000), comparisons(10_000));
        assert!(many <= 15 * few, "{few}, then {many}");
    }

    #[test]
    fn a_release_that_goes_is_replaced_by_the_next_higher_one_that_is_new() {
        let find = |now: &[u32], fresh: &[u32]| -> Vec<Option<u32>> {
            let pairs = |versions: &'static [u32]| versions.iter().map(|one| (&"a", one)).collect();
            let (now, fresh): (Vec<_>, Vec<_>) =
                (pairs(now.to_vec().leak()), pairs(fresh.to_vec().leak()));
            let found = replacements(&now, &fresh);
            found.into_iter().map(Option::<&u32>::copied).collect()
        };
        assert_eq!(find(&[1], &[]), [None]);
        assert_eq!(find(&[1, 2], &[2, 3]), [Some(3), Some(2)]);
        assert_eq!(find(&[1, 5], &[2, 4]), [Some(2), Some(4)]);
        assert_eq!(find(&[3], &[1, 2]), [Some(2)]);
        assert_eq!(find(&[1, 2], &[2]), [Some(2), Some(2)]);
    }
}
