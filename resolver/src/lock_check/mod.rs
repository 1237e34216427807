//! Whether a lockfile still fits: without searching.
//!
//! Stale is what no longer holds: a root requires something else, a binding breaks a rule, a
//! release is gone or has another digest, something is not reached any more. That newer versions
//! exist, that a release was yanked or that a registry moved does not make a lock stale.

mod bindings;
mod staleness;
mod unreached;

pub use staleness::{LockReport, Staleness};

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use pkgres_manifest::{LockedPackage, Lockfile, PackageName, ReleaseSource, Spec, Version};
use rustc_hash::FxHashSet;

use crate::hierarchy::{self, Violation};
use crate::index::CompiledIndex;
use crate::provide::{ProvideError, check_names};
use crate::request::{Locked, PrereleasePolicy, Request, SolveOptions, by_name};
use crate::selection::Selection;
use crate::supply::Supply;
use crate::universe::{PackageId, Policy, ReleaseId, StatedRequirement, Universe};
use bindings::Bindings;
use unreached::leave_out_unreached;

/// Checks a lockfile against a request. Like the solver it does no input or output:
/// [`needs`](Self::needs) says which packages to [`provide`](Self::provide), then
/// [`report`](Self::report) gives the result.
///
/// ```
/// use pkgres_manifest::{IndexRecord, Lockfile};
/// use pkgres_resolver::{LockCheck, Request};
///
/// let line = r#"{"name":"org.acme.Web","version":"1.0.0"}"#;
/// let mut request = Request::new(IndexRecord::parse_line(line, &Default::default()).unwrap());
/// request.core = None;
/// let mut check = LockCheck::new(request, Lockfile::default());
/// assert!(check.needs().is_empty());
/// assert_eq!(check.report().stale.len(), 1, "the lock knows nothing of org.acme.Web");
/// ```
#[derive(Debug)]
pub struct LockCheck {
    universe: Universe,
    lock: Lockfile,
    single_version: bool,
    /// The package of each release of the lock, in its order; nothing before they were looked up.
    packages: Vec<PackageId>,
    bindings: Bindings,
}

impl LockCheck {
    /// A check of a lockfile. What the request has locked is ignored, and of several roots of one
    /// name all but the first.
    pub fn new(request: Request, lock: Lockfile) -> Self {
        let Request {
            roots,
            core,
            provided,
            overrides,
            options,
            ..
        } = request;
        // Nothing is chosen here, so any release is a candidate and none is preferred.
        let policy = Policy::new(
            &SolveOptions {
                prerelease: PrereleasePolicy::Allow,
                ..SolveOptions::default()
            },
            Locked::default(),
        );
        let mut universe = Universe::new(core.as_ref(), policy);
        universe.catalog.override_requirements(overrides);
        let mut names = BTreeSet::new();
        for root in roots {
            if names.insert(root.name().cloned()) {
                universe.add_root(root);
            }
        }
        let mut check = Self {
            universe,
            lock,
            single_version: options.single_version,
            packages: Vec::new(),
            bindings: Bindings::default(),
        };
        for (name, records) in by_name(provided) {
            let source = ReleaseSource::Host;
            let supply = Supply::Releases { source, records };
            check.universe.catalog.provide(&name, supply);
        }
        check
    }

    /// The packages whose releases are needed, sorted.
    pub fn needs(&mut self) -> Vec<PackageName> {
        if self.packages.is_empty() {
            let names = self.lock.packages.keys();
            self.packages = names
                .map(|(name, _)| self.universe.catalog.package_id(name))
                .collect();
        }
        let mut needed: BTreeSet<PackageId> = self.packages.iter().copied().collect();
        for root in self.universe.catalog.roots().to_vec() {
            let details = self.universe.details(root);
            needed.extend(details.requirements.iter().map(|edge| edge.package));
        }
        let names: BTreeSet<PackageName> = needed
            .into_iter()
            .filter(|package| !self.universe.catalog.is_delivered(*package))
            .map(|package| self.universe.catalog.name(package).clone())
            .collect();
        names.into_iter().collect()
    }

    /// Takes a whole index: for the packages that it has there will be no need. What was provided
    /// or attached before goes first.
    pub fn attach(&mut self, source: ReleaseSource, index: Arc<CompiledIndex>) {
        self.universe.catalog.attach(source, index);
    }

    /// Provides all releases of a package. What was provided or attached before takes precedence.
    ///
    /// # Errors
    ///
    /// A record is about another package.
    pub fn provide(&mut self, name: &PackageName, supply: Supply) -> Result<(), ProvideError> {
        check_names(name, &supply)?;
        self.universe.catalog.provide(name, supply);
        Ok(())
    }

    /// What there is to say about the lock. Packages that were not provided count as unknown.
    pub fn report(mut self) -> LockReport {
        for name in self.needs() {
            self.universe.catalog.provide(&name, Supply::Unknown);
        }
        let mut report = LockReport::default();
        self.check_overrides(&mut report);
        self.check_roots(&mut report);
        let lock = std::mem::take(&mut self.lock);
        let packages = std::mem::take(&mut self.packages);
        let mut releases = Vec::with_capacity(packages.len());
        for (((name, version), locked), package) in lock.packages.iter().zip(packages) {
            releases.extend(self.check_release(package, name, version, locked, &mut report));
        }
        leave_out_unreached(&lock, &mut report);
        if self.single_version {
            check_single_version(&lock, &mut report);
        }
        if report.stale.is_empty() {
            self.check_whole(&lock, &releases, &mut report);
        }
        report
    }

    fn check_overrides(&self, report: &mut LockReport) {
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

    /// Whether an override of a requirement came or says something else than when the lock was written.
    fn is_newly_overridden(&self, edge: &StatedRequirement) -> bool {
        let requirement = &edge.requirement;
        let locked = self.lock.overrides.get(&requirement.package);
        edge.overridden.is_some() && locked.map(Spec::set) != Some(requirement.spec.set())
    }

    fn check_roots(&mut self, report: &mut LockReport) {
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
            for edge in &details.requirements {
                let requirement = &edge.requirement;
                let (package, spec) = (requirement.package.clone(), requirement.spec.clone());
                let location = requirement.location.clone();
                match locked.get(&package) {
                    None => report.stale.push(Staleness::RequirementAdded {
                        root: name.clone(),
                        package,
                        spec,
                        location,
                    }),
                    // What an override says and did not say is told once, for all who require it.
                    Some(bound)
                        if bound.spec.set() != spec.set() && !self.is_newly_overridden(edge) =>
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
                        let refused = self.not_allowed(root, edge, &bound.version);
                        report.stale.extend(refused);
                    }
                }
            }
            for package in locked.keys() {
                if !details
                    .requirements
                    .iter()
                    .any(|edge| edge.requirement.package == *package)
                {
                    report.stale.push(Staleness::RequirementRemoved {
                        root: name.clone(),
                        package: package.clone(),
                    });
                }
            }
        }
    }

    /// Checks a release of the lock; gives it if it is there.
    fn check_release(
        &mut self,
        package: PackageId,
        name: &PackageName,
        version: &Version,
        locked: &LockedPackage,
        report: &mut LockReport,
    ) -> Option<ReleaseId> {
        let source = self.universe.catalog.source(package).cloned();
        let Some(index) = self.universe.catalog.index_of(package, version) else {
            let newest = self.universe.catalog.versions(package).last();
            let host_has = newest
                .filter(|_| source == Some(ReleaseSource::Host))
                .cloned();
            report.stale.push(Staleness::Gone {
                package: name.clone(),
                version: version.clone(),
                locked: locked.source.clone(),
                found: source,
                host_has,
            });
            return None;
        };
        let is_hosted = source == Some(ReleaseSource::Host);
        if let Some(source) = source
            && source != locked.source
        {
            report.stale.push(Staleness::SourceDiffers {
                package: name.clone(),
                version: version.clone(),
                locked: locked.source.clone(),
                found: source,
            });
        }
        let release = ReleaseId { package, index };
        let digest = self.universe.catalog.digest(release);
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
            report.yanked.push((name.clone(), version.clone()));
        }
        let count = Some(locked.requires.len());
        if !self.bind(release, count, |name| locked.requires.get(name)) {
            self.check_requirements(release, name, version, locked, report);
        }
        Some(release)
    }

    /// What is wrong with what the requirements of a release are bound to.
    fn check_requirements(
        &mut self,
        release: ReleaseId,
        name: &PackageName,
        version: &Version,
        locked: &LockedPackage,
        report: &mut LockReport,
    ) {
        let details = self.universe.details(release);
        for edge in &details.requirements {
            let requirement = &edge.requirement;
            match locked.requires.get(&requirement.package) {
                None => report.stale.push(Staleness::NotBound {
                    owner: name.clone(),
                    owner_version: version.clone(),
                    package: requirement.package.clone(),
                }),
                Some(bound) => report.stale.extend(self.not_allowed(release, edge, bound)),
            }
        }
        for required in locked.requires.packages() {
            if !details
                .requirements
                .iter()
                .any(|edge| edge.requirement.package == *required)
            {
                report.stale.push(Staleness::NotRequired {
                    owner: name.clone(),
                    owner_version: version.clone(),
                    package: required.clone(),
                });
            }
        }
    }

    /// That a requirement does not allow what the lock binds it to.
    fn not_allowed(
        &self,
        owner: ReleaseId,
        edge: &StatedRequirement,
        locked: &Version,
    ) -> Option<Staleness> {
        let requirement = &edge.requirement;
        let version = if self.universe.catalog.is_root(edge.package) {
            // A root is what it is now, whatever its version was when the lock was written.
            self.universe.catalog.version(ReleaseId {
                package: edge.package,
                index: 0,
            })
        } else {
            locked
        };
        (!requirement.spec.matches(version)).then(|| Staleness::NotAllowed {
            owner: self.universe.catalog.name(owner.package).clone(),
            owner_version: self.universe.catalog.version(owner).clone(),
            package: requirement.package.clone(),
            spec: requirement.spec.clone(),
            is_override: edge.overridden.is_some(),
            version: version.clone(),
            location: requirement.location.clone(),
        })
    }

    /// What can be said only of a lock whose parts are all right: the class rules, and whether
    /// everything is reached.
    fn check_whole(&mut self, lock: &Lockfile, releases: &[ReleaseId], report: &mut LockReport) {
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
            // A lock that is not from a file can lead to releases that it has not.
            report
                .stale
                .extend(unbound.map(|(owner, package)| Staleness::NotBound {
                    owner: self.universe.catalog.name(owner.package).clone(),
                    owner_version: self.universe.catalog.version(owner).clone(),
                    package: self.universe.catalog.name(package).clone(),
                }));
            return;
        };
        match hierarchy::violation(&mut self.universe, &selection) {
            None => {}
            Some(Violation::Missing { release, class }) => {
                report.stale.push(Staleness::ClassNotFound {
                    owner: self.universe.catalog.name(release.package).clone(),
                    owner_version: self.universe.catalog.version(release).clone(),
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
        for ((package, version), release) in lock.packages.keys().zip(releases) {
            if !reached.contains(release) {
                report.stale.push(Staleness::NotReached {
                    package: package.clone(),
                    version: version.clone(),
                });
            }
        }
    }
}

/// No package may have several releases.
fn check_single_version(lock: &Lockfile, report: &mut LockReport) {
    let mut versions: BTreeMap<&PackageName, Vec<&Version>> = BTreeMap::new();
    for (name, version) in lock.packages.keys() {
        versions.entry(name).or_default().push(version);
    }
    for (package, versions) in versions {
        if versions.len() > 1 {
            report.stale.push(Staleness::SeveralReleases {
                package: package.clone(),
                versions: versions.into_iter().cloned().collect(),
            });
        }
    }
}
