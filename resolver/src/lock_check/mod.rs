//! Checks of lockfiles without searching.
//!
//! # Problem
//!
//! Commands that keep a lockfile only have to know whether it is still valid and, if not, why. A
//! search takes longer than necessary, and its result does not show what is wrong with the lock.
//!
//! # Idea
//!
//! A lock is verified like a certificate. [`LockCheck`] looks up each locked release, compares its
//! source and digest, and checks that each requirement is bound to a version that it allows. If all
//! of this is correct, the lock is a selection, and [`class_rules`] checks its class rules. Each
//! difference is a [`Staleness`]. [`locked_selection`] does the same for the solver, which needs
//! only the selection: a lock that is still valid is the answer.
//!
//! A lock is stale if it violates the current rules: a root requires something else, a binding is
//! not allowed, a release is gone or has a different digest, or a release is no longer required. Newer
//! versions, yanked releases and a new address of a registry do not make a lock stale.
//!
//! # Cost
//!
//! Linear in the locked packages and their requirements.

mod comparison;

use std::collections::BTreeSet;
use std::sync::Arc;

use pkgres_manifest::diagnostic::Location;
use pkgres_manifest::{
    ArtifactDigest, CapabilityChange, ClassName, Lockfile, PackageName, RegistryName, Release,
    ReleaseSource, Spec, Version,
};

use crate::budget::Interrupt;
use crate::class_rules;
use crate::index::CompiledIndex;
use crate::request::{
    ClassRules, Locked, LockedArtifacts, PrereleasePolicy, Request, Root, SolveOptions, artifacts,
};
use crate::selection::Selection;
use crate::universe::{PackageId, Policy, Universe};
use crate::universe::{ProvideError, Supply, check_names};
use comparison::{BoundReleases, check_release_counts, remove_unreached};

/// A check of a lockfile against a request. Like the solver, it does no input or output:
/// [`needs`](Self::needs) names the packages to [`provide`](Self::provide), then
/// [`report`](Self::report) returns the result.
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
    /// Whether class rules are checked.
    has_class_rules: bool,
    /// Whether a root has classes.
    roots_have_classes: bool,
    /// The package of each locked release, in the order of the lock; empty before the first call of
    /// `needs`.
    packages: Vec<PackageId>,
    bindings: BoundReleases,
}

impl LockCheck {
    /// A check of a lockfile. What the request has locked is ignored. Of several roots with one
    /// name, only the first is checked.
    pub fn new(request: Request, lock: Lockfile) -> Self {
        let Request {
            roots,
            core,
            host_releases,
            overrides,
            options,
            ..
        } = request;
        let roots_have_classes = roots.iter().any(Root::has_classes);
        // A check chooses nothing, so it needs no preferences.
        let policy = Policy::new(
            &SolveOptions {
                prerelease: PrereleasePolicy::Allow,
                classes: options.classes,
                host_package_of_unknown_version: options.host_package_of_unknown_version.clone(),
                ..SolveOptions::default()
            },
            Locked::default(),
        );
        let mut universe = Universe::new(core.as_ref(), policy, overrides);
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
            has_class_rules: options.classes != ClassRules::Ignored,
            roots_have_classes,
            packages: Vec::new(),
            bindings: BoundReleases::default(),
        };
        check.universe.catalog.provide_by_host(host_releases);
        check
    }

    /// Everything in a request that a check depends on, except for the roots, as texts: checks of one lockfile with
    /// equal roots, registries and texts have the same result. For caches of checks by one version of this library.
    pub fn cache_key_parts(request: &Request) -> Vec<String> {
        // Each field is named, so that no new one is forgotten. A check chooses nothing: how to choose, and how long to
        // search, does not matter to it.
        let Request {
            roots: _,
            core,
            host_releases,
            locked: _,
            overrides,
            options:
                SolveOptions {
                    prerelease: _,
                    classes,
                    prefer: _,
                    exclude_newer: _,
                    allowed_versions: _,
                    single_version,
                    host_package_of_unknown_version,
                    max_steps: _,
                    conflict_limit: _,
                    engine: _,
                    record_derivation: _,
                },
            update: _,
        } = request;
        let name = |package: &Option<PackageName>| {
            package
                .as_ref()
                .map(ToString::to_string)
                .unwrap_or_default()
        };
        let mut texts = vec![
            format!("{single_version} {classes:?} {}", host_releases.len()),
            name(core),
            name(host_package_of_unknown_version),
        ];
        texts.extend(host_releases.iter().map(|record| format!("{record:?}")));
        for (package, spec) in overrides {
            texts.push(package.to_string());
            texts.push(spec.normal_form());
        }
        texts
    }

    /// The locked registry releases to which class rules apply: releases that require another one, or are required
    /// by something with classes. None if class rules are ignored.
    pub fn related_releases(&self) -> Vec<(&RegistryName, Release)> {
        if !self.has_class_rules {
            return Vec::new();
        }
        let mut required: BTreeSet<(&PackageName, &Version)> = BTreeSet::new();
        for locked in self.lock.packages.values() {
            required.extend(locked.requires.iter());
        }
        if self.roots_have_classes {
            let requirements = self.lock.roots.values().flatten();
            required.extend(requirements.map(|(name, locked)| (name, &locked.version)));
        }
        let packages = self.lock.packages.iter();
        packages
            .filter(|(Release { name, version }, locked)| {
                locked.requires.iter().next().is_some() || required.contains(&(name, version))
            })
            .filter_map(|(release, locked)| match &locked.source {
                ReleaseSource::Registry(registry) => Some((registry, release.clone())),
                _ => None,
            })
            .collect()
    }

    /// The packages whose releases are needed, sorted.
    pub fn needs(&mut self) -> Vec<PackageName> {
        if self.packages.is_empty() {
            let names = self.lock.packages.keys();
            self.packages = names
                .map(|Release { name, .. }| self.universe.catalog.package_id(name))
                .collect();
        }
        let mut needed: BTreeSet<PackageId> = self.packages.iter().copied().collect();
        for root in self.universe.catalog.roots().to_vec() {
            let details = self.universe.details(root);
            needed.extend(details.requirements.iter().map(|stated| stated.package));
        }
        let names: BTreeSet<PackageName> = needed
            .into_iter()
            .filter(|package| !self.universe.catalog.is_delivered(*package))
            .map(|package| self.universe.catalog.name(package).clone())
            .collect();
        names.into_iter().collect()
    }

    /// Attaches an index: its packages are not needed any more. What was provided or attached
    /// before takes precedence.
    pub fn attach(&mut self, source: ReleaseSource, index: Arc<CompiledIndex>) {
        self.universe.catalog.attach(source, index);
    }

    /// The artifacts in the lockfile. A registry that has several contents of a release has to provide the locked one.
    pub fn locked_artifacts(&self) -> LockedArtifacts {
        artifacts(&self.lock)
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

    /// The result. Packages that were not provided count as unknown.
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
        for ((Release { name, version }, locked), package) in lock.packages.iter().zip(packages) {
            releases.extend(self.check_release(package, name, version, locked, &mut report));
        }
        remove_unreached(&lock, &mut report);
        check_release_counts(&lock, self.single_version, &mut report);
        if report.stale.is_empty() {
            self.check_whole(&lock, &releases, &mut report);
        }
        report
    }
}

/// The lock as a selection, if it is complete and valid, and has one release of each package if
/// that is required.
///
/// The packages of the lock and the requirements of the roots have to be provided first.
pub(crate) fn locked_selection(
    universe: &mut Universe,
    single_version: bool,
) -> Result<Option<Selection>, Interrupt> {
    let missing = missing_packages(universe);
    universe.catalog.ensure_delivered(missing)?;
    let selection = Selection::collect(universe, |universe, release, number, requirement| {
        if !requirement.is_known() {
            return None;
        }
        let index = (universe.catalog).locked_binding(release, number, requirement.target)?;
        universe.allows(requirement, index).then_some(index)
    });
    Ok(selection.filter(|selection| {
        let has_several = selection.packages_side_by_side().next().is_some();
        class_rules::violation(universe, selection).is_none() && !(has_several && single_version)
    }))
}

fn missing_packages(universe: &mut Universe) -> Vec<PackageId> {
    let names: Vec<PackageName> = (universe.catalog.policy().locked().releases())
        .map(|(name, _)| name.clone())
        .collect();
    let mut packages: Vec<PackageId> = names
        .iter()
        .map(|name| universe.catalog.package_id(name))
        .collect();
    for root in universe.catalog.roots().to_vec() {
        let details = universe.details(root);
        packages.extend(details.requirements.iter().map(|stated| stated.package));
    }
    packages.retain(|package| !universe.catalog.is_delivered(*package));
    packages
}

/// A reason why a lockfile is stale.
///
/// Not `#[non_exhaustive]`: whoever presents a stale lockfile has to handle every reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Staleness {
    /// A root is not in the lock.
    RootNotLocked(PackageName),
    /// There is an object model, which a lock never has.
    ModelNotLocked,
    /// The lock has a root that the request does not have.
    NotARoot(PackageName),
    /// A root requires a package that the lock does not bind.
    RequirementAdded {
        /// The root.
        root: PackageName,
        /// The package.
        package: PackageName,
        /// The required versions.
        spec: Spec,
        /// The location of the requirement.
        location: Option<Location>,
    },
    /// The lock binds a package that the root does not require any more.
    RequirementRemoved {
        /// The root.
        root: PackageName,
        /// The package.
        package: PackageName,
    },
    /// A root requires different versions than when the lock was written.
    RequirementChanged {
        /// The root.
        root: PackageName,
        /// The package.
        package: PackageName,
        /// The spec when the lock was written.
        locked: Spec,
        /// The spec now.
        spec: Spec,
        /// The location of the requirement.
        location: Option<Location>,
    },
    /// An override was added, removed or changed since the lock was written.
    OverrideChanged {
        /// The package.
        package: PackageName,
        /// The spec of the override when the lock was written, if there was one.
        locked: Option<Spec>,
        /// The spec of the override now, if there is one.
        spec: Option<Spec>,
    },
    /// A release does not exist any more.
    Gone {
        /// The package.
        package: PackageName,
        /// The version.
        version: Version,
        /// The source when the lock was written.
        locked: ReleaseSource,
        /// The source of the package now; `None` if the package is unknown.
        found: Option<ReleaseSource>,
        /// The newest version that this source has, if any.
        newest: Option<Version>,
    },
    /// A release comes from a different source.
    SourceDiffers {
        /// The package.
        package: PackageName,
        /// The version.
        version: Version,
        /// The source when the lock was written.
        locked: ReleaseSource,
        /// The source now.
        found: ReleaseSource,
    },
    /// A release has a different digest.
    DigestDiffers {
        /// The package.
        package: PackageName,
        /// The version.
        version: Version,
        /// The digest when the lock was written.
        locked: Option<ArtifactDigest>,
        /// The digest now.
        found: Option<ArtifactDigest>,
    },
    /// A release requires a package that the lock does not bind.
    NotBound {
        /// The release that requires it.
        owner: PackageName,
        /// Its version.
        owner_version: Version,
        /// The package.
        package: PackageName,
    },
    /// A requirement does not allow its locked version.
    NotAllowed {
        /// The release whose requirement it is.
        owner: PackageName,
        /// Its version.
        owner_version: Version,
        /// The package.
        package: PackageName,
        /// The versions that are allowed.
        spec: Spec,
        /// Whether this is the spec of an override.
        is_override: bool,
        /// The version that it is bound to.
        version: Version,
        /// The location of the requirement.
        location: Option<Location>,
    },
    /// The lock has a binding without a requirement.
    NotRequired {
        /// The release.
        owner: PackageName,
        /// Its version.
        owner_version: Version,
        /// The package.
        package: PackageName,
    },
    /// A class that another one extends is not found.
    ClassNotFound {
        /// The release whose class extends it.
        owner: PackageName,
        /// Its version.
        owner_version: Version,
        /// The class.
        class: ClassName,
    },
    /// A class inherits two classes of one name.
    InheritsTwice {
        /// The class.
        class: ClassName,
        /// The class that it inherits twice.
        inherited: ClassName,
    },
    /// Classes extend each other.
    ClassCycle(Vec<ClassName>),
    /// A package has several releases, but the request allows one.
    SeveralReleases {
        /// The package.
        package: PackageName,
        /// Its versions, ascending.
        versions: Vec<Version>,
    },
    /// The lock says that a package has several releases, but it has one or none.
    NotSideBySide(PackageName),
    /// A locked release is not reached from the roots.
    NotReached {
        /// The package.
        package: PackageName,
        /// The version.
        version: Version,
    },
    /// A class conforms to an interface otherwise than when the lock was written. [`LockCheck`] has no classes to find this
    /// with: whoever has them adds what [`capability_changes`](pkgres_manifest::capability_changes) finds.
    CapabilityChanged(CapabilityChange),
}

impl Staleness {
    /// Whether the content of a release differs from what was locked, or is unknown, although it must
    /// [not change](ArtifactDigest::is_final). This is worse than a stale lock.
    pub fn is_violation(&self) -> bool {
        matches!(self, Self::DigestDiffers { locked: Some(locked), .. } if locked.is_final())
    }
}

/// The result of a lock check.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct LockReport {
    /// The reasons why the lock is stale; empty if it is valid.
    pub stale: Vec<Staleness>,
    /// The locked releases that were yanked.
    pub yanked: Vec<Release>,
}
