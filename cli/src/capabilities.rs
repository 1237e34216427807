//! The conformance of a resolution's classes to their interfaces, as the lockfile records it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use pkgres_checks::{BoundPackage, BoundPackages, conformance};
use pkgres_manifest::{
    LockedCapability, LockedConformance, LockedImplementation, Lockfile, Package, PackageName,
    Release, Version, capability_changes,
};
use pkgres_registry_client::RegistrySet;
use pkgres_resolver::{Resolution, Staleness};

use crate::context::Context;
use crate::failure::Result;
use crate::lockfile::lock_of;
use crate::project::Project;

/// The capabilities of a lockfile.
type Capabilities = BTreeMap<LockedImplementation, LockedConformance>;

/// The lockfile of the resolution of a project, with capabilities. `root` is the project, if it is a class package.
pub(crate) fn lock_with_capabilities(
    resolution: &Resolution,
    root: Option<&Arc<Package>>,
    registries: &RegistrySet,
    context: &Context,
) -> Result<Lockfile> {
    let mut lock = lock_of(resolution);
    let implementing = resolution.implementing();
    lock.capabilities = capabilities(&lock, &implementing, root, registries, context)?;
    Ok(lock)
}

/// The differences between the capabilities of a lockfile, and those of its releases and of the project as it is.
pub(crate) fn stale_capabilities(
    lock: &Lockfile,
    project: &Project,
    registries: &RegistrySet,
    context: &Context,
) -> Result<Vec<Staleness>> {
    let Some(root) = project.package() else {
        return Ok(Vec::new());
    };
    let of_lock = lock.capabilities.keys();
    let of_lock = of_lock.map(|it| Release::new(it.package.clone(), it.version.clone()));
    let mut implementing: BTreeSet<Release> = of_lock.collect();
    // The project may have a different version than when it was locked.
    implementing.retain(|Release { name, .. }| name != root.name());
    if !root.manifest.implements.is_empty() {
        implementing.insert(root.release());
    }
    let implementing: Vec<_> = implementing.into_iter().collect();
    let now = capabilities(lock, &implementing, Some(root), registries, context)?;
    let changes = capability_changes(&lock.capabilities, &now).into_iter();
    Ok(changes.map(Staleness::CapabilityChanged).collect())
}

/// The capabilities of some releases of a lockfile.
fn capabilities(
    lock: &Lockfile,
    implementing: &[Release],
    root: Option<&Arc<Package>>,
    registries: &RegistrySet,
    context: &Context,
) -> Result<Capabilities> {
    let mut capabilities = Capabilities::new();
    if implementing.is_empty() {
        return Ok(capabilities);
    }
    let packages = bound_packages(lock, implementing, root, registries, context)?;
    for release in implementing {
        for class in conformance(&packages, release) {
            for interface in &class.interfaces {
                let implementation = LockedImplementation {
                    class: class.class.value.clone(),
                    package: release.name.clone(),
                    version: release.version.clone(),
                    interface: interface.interface.value.clone(),
                };
                let functions = interface.functions.iter().filter_map(|function| {
                    let cases = function.cases();
                    let capability = (!cases.is_empty()).then_some(LockedCapability { cases })?;
                    Some((function.name.to_owned(), capability))
                });
                let defined_by = interface.definition.as_ref();
                let conformance = LockedConformance {
                    defined_by: defined_by.map(|(release, _)| release.clone()),
                    functions: functions.collect(),
                };
                capabilities.insert(implementation, conformance);
            }
        }
    }
    Ok(capabilities)
}

/// Some releases of a lockfile with all that they require.
fn bound_packages(
    lock: &Lockfile,
    releases: &[Release],
    root: Option<&Arc<Package>>,
    registries: &RegistrySet,
    context: &Context,
) -> Result<BoundPackages> {
    let core = context.core();
    let mut bound = BoundPackages {
        root_class: core.map(PackageName::root_class),
        ..BoundPackages::default()
    };
    let mut open = releases.to_vec();
    while let Some(release) = open.pop() {
        if bound.releases.contains_key(&release) {
            continue;
        }
        let Release { name, version } = &release;
        let own_root = root.filter(|root| root.name() == name);
        let (package, versions): (_, BTreeMap<PackageName, Version>) = if let Some(root) = own_root
        {
            let bound = lock.roots.get(name).into_iter().flatten();
            let bound = bound.map(|(name, bound)| (name.clone(), bound.version.clone()));
            (Some(Arc::clone(root)), bound.collect())
        } else {
            let locked = lock.packages.get(&release);
            let bound = locked.into_iter().flat_map(|locked| locked.requires.iter());
            let bound = bound.map(|(name, version)| (name.clone(), version.clone()));
            let package = registries.package(name, version, &context.read_options)?;
            (package, bound.collect())
        };
        // Classes are looked up in the order of the manifest, the core library first.
        let stated = package
            .iter()
            .flat_map(|package| &package.manifest.requirements);
        let order = core
            .into_iter()
            .chain(stated.map(|requirement| &requirement.package));
        let mut requires: Vec<Release> = Vec::new();
        for name in order {
            if let Some(version) = versions.get(name) {
                let release = Release::new(name.clone(), version.clone());
                if !requires.contains(&release) {
                    requires.push(release);
                }
            }
        }
        open.extend(requires.iter().cloned());
        bound
            .releases
            .insert(release, BoundPackage { package, requires });
    }
    Ok(bound)
}
