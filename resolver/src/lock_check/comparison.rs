//! Finds out whether a lockfile is stale, by comparing it with its roots, the registries, and the requirements of
//! its releases.

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::{
    LockedPackage, Lockfile, PackageName, Release, ReleaseSource, Spec, Version,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{LockCheck, LockReport, Staleness};
use crate::class_rules::{self, Violation};
use crate::index::to_u32;
use crate::selection::Selection;
use crate::universe::{PackageId, PackageRequirement, ReleaseId, ReleaseRequirement};

/// The bindings of the requirements of locked releases.
#[derive(Debug, Default)]
pub(super) struct BoundReleases {
    /// The position of the first binding of each release.
    starts: FxHashMap<ReleaseId, u32>,
    /// In the order of the requirements of each release.
    bound: Vec<(PackageId, u32)>,
    /// Scratch memory.
    requirements: Vec<PackageRequirement>,
    specs: FxHashMap<(u32, u32), Spec>,
}

impl BoundReleases {
    /// The release to which a requirement on `target` is bound; `None` if the lock does not bind
    /// it, or binds it to a release that is not locked.
    pub(super) fn of(&self, release: ReleaseId, number: usize, target: PackageId) -> Option<u32> {
        let start = *self.starts.get(&release)? as usize;
        let (package, index) = *self.bound.get(start + number)?;
        let is_locked = self.starts.contains_key(&ReleaseId { package, index });
        (package == target && is_locked).then_some(index)
    }
}

impl LockCheck {
    pub(super) fn check_overrides(&self, report: &mut LockReport) {
        let now = self.universe.catalog.overrides();
        let names: BTreeSet<&PackageName> = self.lock.overrides.keys().chain(now.keys()).collect();
        for name in names {
            let (locked, spec) = (self.lock.overrides.get(name), now.get(name));
            if locked.map(Spec::set) != spec.map(Spec::set) {
                report.stale.push(Staleness::OverrideChanged {
                    package: name.clone(),
                    locked: locked.cloned(),
                    spec: spec.cloned(),
                });
            }
        }
    }

    /// Whether the override of a requirement is new or has changed since the lock was written.
    fn is_newly_overridden(&self, stated: &ReleaseRequirement) -> bool {
        let name = self.universe.catalog.name(stated.package);
        let locked = self.lock.overrides.get(name);
        stated.manifest_spec.is_some() && locked.map(Spec::set) != Some(stated.spec.set())
    }

    pub(super) fn check_roots(&mut self, report: &mut LockReport) {
        let roots = self.universe.catalog.roots().to_vec();
        for name in self.lock.roots.keys() {
            if !roots
                .iter()
                .any(|root| self.universe.catalog.package_name(root.package) == Some(name))
            {
                report.stale.push(Staleness::NotARoot(name.clone()));
            }
        }
        for root in roots {
            let Some(name) = self.universe.catalog.package_name(root.package).cloned() else {
                report.stale.push(Staleness::ModelNotLocked);
                continue;
            };
            let details = self.universe.details(root);
            let Some(locked) = self.lock.roots.get(&name) else {
                report.stale.push(Staleness::RootNotLocked(name));
                continue;
            };
            for stated in &details.requirements {
                let package = self.universe.catalog.name(stated.package).clone();
                let (spec, location) = (stated.spec.clone(), stated.location.clone());
                match locked.get(&package) {
                    None => report.stale.push(Staleness::RequirementAdded {
                        root: name.clone(),
                        package,
                        spec,
                        location,
                    }),
                    // A changed override is reported once, not for each requirement on the package.
                    Some(bound)
                        if bound.spec.set() != spec.set() && !self.is_newly_overridden(stated) =>
                    {
                        report.stale.push(Staleness::RequirementChanged {
                            root: name.clone(),
                            package,
                            locked: bound.spec.clone(),
                            spec,
                            location,
                        });
                    }
                    Some(bound) => {
                        let violation = self.not_allowed(root, stated, &bound.version);
                        report.stale.extend(violation);
                    }
                }
            }
            for package in locked.keys() {
                if !details
                    .requirements
                    .iter()
                    .any(|stated| self.universe.catalog.name(stated.package) == package)
                {
                    report.stale.push(Staleness::RequirementRemoved {
                        root: name.clone(),
                        package: package.clone(),
                    });
                }
            }
        }
    }

    /// Checks a locked release; returns it if it exists.
    pub(super) fn check_release(
        &mut self,
        package: PackageId,
        name: &PackageName,
        version: &Version,
        locked: &LockedPackage,
        report: &mut LockReport,
    ) -> Option<ReleaseId> {
        let source = self.universe.catalog.source(package).cloned();
        let Some(index) = self.universe.catalog.index_of(package, version) else {
            let versions = self.universe.catalog.versions(package);
            let mut newest_first = versions.iter().rev();
            let stable = newest_first.find(|version| !version.is_prerelease());
            let newest = stable.or(versions.last()).cloned();
            report.stale.push(Staleness::Gone {
                package: name.clone(),
                version: version.clone(),
                locked: locked.source.clone(),
                found: source,
                newest,
            });
            return None;
        };
        let release = ReleaseId { package, index };
        let digest = self.universe.catalog.digest(release);
        let is_same_artifact = digest.is_some() && digest == locked.digest;
        let is_hosted = source == Some(ReleaseSource::Host);
        if let Some(source) = source
            && source != locked.source
            && !(is_same_artifact && source.can_replace(&locked.source))
        {
            report.stale.push(Staleness::SourceDiffers {
                package: name.clone(),
                version: version.clone(),
                locked: locked.source.clone(),
                found: source,
            });
        }
        // The host answers for what it supplies, and its releases are locked without digest.
        if digest != locked.digest && !is_hosted {
            report.stale.push(Staleness::DigestDiffers {
                package: name.clone(),
                version: version.clone(),
                locked: locked.digest,
                found: digest,
            });
        }
        if self.universe.catalog.is_yanked(release) {
            report
                .yanked
                .push(Release::new(name.clone(), version.clone()));
        }
        let count = Some(locked.requires.len());
        if !self.bind(release, count, |name| locked.requires.get(name)) {
            self.check_requirements(release, name, version, locked, report);
        }
        Some(release)
    }

    /// Reports the wrong bindings of a release.
    fn check_requirements(
        &mut self,
        release: ReleaseId,
        name: &PackageName,
        version: &Version,
        locked: &LockedPackage,
        report: &mut LockReport,
    ) {
        let details = self.universe.details(release);
        for stated in &details.requirements {
            let required = self.universe.catalog.name(stated.package);
            match locked.requires.get(required) {
                None => report.stale.push(Staleness::NotBound {
                    owner: name.clone(),
                    owner_version: version.clone(),
                    package: required.clone(),
                }),
                Some(bound) => report
                    .stale
                    .extend(self.not_allowed(release, stated, bound)),
            }
        }
        for required in locked.requires.packages() {
            if !details
                .requirements
                .iter()
                .any(|stated| self.universe.catalog.name(stated.package) == required)
            {
                report.stale.push(Staleness::NotRequired {
                    owner: name.clone(),
                    owner_version: version.clone(),
                    package: required.clone(),
                });
            }
        }
    }

    /// Reports a requirement that does not allow its locked version.
    fn not_allowed(
        &self,
        owner: ReleaseId,
        stated: &ReleaseRequirement,
        locked: &Version,
    ) -> Option<Staleness> {
        let version = if self.universe.catalog.is_root(stated.package) {
            // A root is what it is now, whatever its version was when the lock was written.
            self.universe.catalog.version(ReleaseId {
                package: stated.package,
                index: 0,
            })
        } else {
            locked
        };
        (!stated.spec.matches(version)).then(|| Staleness::NotAllowed {
            owner: self.universe.catalog.name(owner.package).clone(),
            owner_version: self.universe.catalog.version(owner).clone(),
            package: self.universe.catalog.name(stated.package).clone(),
            spec: stated.spec.clone(),
            is_override: stated.manifest_spec.is_some(),
            version: version.clone(),
            location: stated.location.clone(),
        })
    }

    /// Checks what only a lock with valid bindings allows to check: the class rules, and whether
    /// each release is reached.
    pub(super) fn check_whole(
        &mut self,
        lock: &Lockfile,
        releases: &[ReleaseId],
        report: &mut LockReport,
    ) {
        for root in self.universe.catalog.roots().to_vec() {
            let Some(locked) = lock.roots.get(self.universe.catalog.name(root.package)) else {
                return;
            };
            // Several objects of a model may require one package.
            self.bind(root, None, |name| Some(&locked.get(name)?.version));
        }
        let bindings = &self.bindings;
        let mut unbound = None;
        let selection =
            Selection::collect(&mut self.universe, |_, release, number, requirement| {
                let bound = bindings.of(release, number, requirement.target);
                if bound.is_none() {
                    unbound = Some((release, requirement.target));
                }
                bound
            });
        let Some(selection) = selection else {
            // A lock that was not read from a file can bind releases that it does not have.
            report.stale.extend(unbound.map(|(owner, package)| {
                let Release {
                    name: owner,
                    version: owner_version,
                } = self.universe.catalog.named_version(owner);
                let package = self.universe.catalog.name(package).clone();
                Staleness::NotBound {
                    owner,
                    owner_version,
                    package,
                }
            }));
            return;
        };
        match class_rules::violation(&mut self.universe, &selection) {
            // The locked releases are candidates in any case.
            None | Some(Violation::UnnamedPrerelease(_)) => {}
            Some(Violation::Missing { release, class }) => {
                let Release {
                    name: owner,
                    version: owner_version,
                } = self.universe.catalog.named_version(release);
                report.stale.push(Staleness::ClassNotFound {
                    owner,
                    owner_version,
                    class: self.universe.catalog.class_name(class).clone(),
                });
            }
            Some(Violation::Cycle(cycle)) => {
                let classes = cycle
                    .iter()
                    .map(|at| self.universe.catalog.class_name(at.class).clone());
                report.stale.push(Staleness::ClassCycle(classes.collect()));
            }
            Some(Violation::Diamond([path, _])) => {
                let [first, .., last] = path.as_slice() else {
                    return;
                };
                report.stale.push(Staleness::InheritsTwice {
                    class: self.universe.catalog.class_name(first.class).clone(),
                    inherited: self.universe.catalog.class_name(last.class).clone(),
                });
            }
        }
        let reached: FxHashSet<ReleaseId> = selection.releases().iter().copied().collect();
        for (
            Release {
                name: package,
                version,
            },
            release,
        ) in lock.packages.keys().zip(releases)
        {
            if !reached.contains(release) {
                report.stale.push(Staleness::NotReached {
                    package: package.clone(),
                    version: version.clone(),
                });
            }
        }
    }

    /// Whether each requirement of a release is bound to a release that it allows and, if `count`
    /// is given, whether there are no other bindings. If so, its bindings are kept.
    fn bind<'lock>(
        &mut self,
        release: ReleaseId,
        count: Option<usize>,
        locked: impl Fn(&PackageName) -> Option<&'lock Version>,
    ) -> bool {
        let universe = &mut self.universe;
        let BoundReleases {
            starts,
            bound,
            requirements,
            specs,
        } = &mut self.bindings;
        // This interns the names of required packages.
        universe.requirements(release, requirements);
        let universe = &*universe;
        let start = bound.len();
        let mut all_allowed = true;
        universe.visit_requirements(
            release,
            specs,
            |ReleaseRequirement { package, spec, .. }| {
                let version = locked(universe.catalog.name(package));
                let index = match version {
                    // A root is what it is now, whatever its version was when the lock was written.
                    Some(_) if universe.catalog.is_root(package) => {
                        let root = ReleaseId { package, index: 0 };
                        spec.matches(universe.catalog.version(root)).then_some(0)
                    }
                    Some(version)
                        if universe.catalog.is_delivered(package) && spec.matches(version) =>
                    {
                        universe.catalog.index_of(package, version)
                    }
                    _ => None,
                };
                match index {
                    Some(index) => bound.push((package, index)),
                    None => all_allowed = false,
                }
            },
        );
        if all_allowed && count.is_none_or(|count| bound.len() - start == count) {
            starts.insert(release, to_u32(start));
            return true;
        }
        bound.truncate(start);
        false
    }
}

/// Checks how many releases packages have: one if the request says so, and several if the lock says so.
pub(super) fn check_release_counts(lock: &Lockfile, single_version: bool, report: &mut LockReport) {
    let mut versions: BTreeMap<&PackageName, Vec<&Version>> = BTreeMap::new();
    for Release { name, version } in lock.packages.keys() {
        versions.entry(name).or_default().push(version);
    }
    if single_version {
        for (package, versions) in versions.iter().filter(|(_, versions)| versions.len() > 1) {
            report.stale.push(Staleness::SeveralReleases {
                package: (*package).clone(),
                versions: versions.iter().copied().cloned().collect(),
            });
        }
    }
    let has_several =
        |package: &&PackageName| versions.get(*package).is_some_and(|all| all.len() > 1);
    for package in lock
        .side_by_side
        .iter()
        .filter(|package| !has_several(package))
    {
        report.stale.push(Staleness::NotSideBySide(package.clone()));
    }
}

/// Removes reports of missing releases that nothing reaches any more: they go with the requirement
/// that led to them.
pub(super) fn remove_unreached(lock: &Lockfile, report: &mut LockReport) {
    let stale = report.stale.iter();
    let removed = stale.filter_map(|entry| match entry {
        Staleness::RequirementRemoved { root, package } => Some((root.clone(), package.clone())),
        _ => None,
    });
    let removed: BTreeSet<(PackageName, PackageName)> = removed.collect();
    if removed.is_empty() {
        return;
    }
    let mut queue: Vec<(&PackageName, &Version)> = Vec::new();
    for (root, requirements) in &lock.roots {
        let remaining = requirements.iter().filter(|(package, _)| {
            let requirement = (root.clone(), (*package).clone());
            !removed.contains(&requirement)
        });
        queue.extend(remaining.map(|(package, bound)| (package, &bound.version)));
    }
    let mut reached = BTreeSet::new();
    while let Some((name, version)) = queue.pop() {
        if reached.insert((name, version))
            && let Some(locked) = lock
                .packages
                .get(&Release::new(name.clone(), version.clone()))
        {
            queue.extend(locked.requires.iter());
        }
    }
    report.stale.retain(|entry| match entry {
        Staleness::Gone {
            package, version, ..
        } => reached.contains(&(package, version)),
        _ => true,
    });
}
