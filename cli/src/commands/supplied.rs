//! The releases that come from elsewhere than registries.

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::{
    IndexRecord, Lockfile, PackageName, RegistryName, Release, ReleaseSource, Spec, Version,
};
use pkgres_registry_client::{Namespace, built_in_core_library};

use crate::context::Context;
use crate::failure::Result;
use crate::project::Project;
use crate::registries::{ConfiguredRegistry, is_reserved};
use crate::workspace::{REGISTRY_NAME as WORKSPACE, Workspace};

/// What comes from elsewhere than registries, and therefore has no digest, whatever a registry has under its name. A
/// lockfile that claims this of other releases would keep them from being verified.
pub(super) struct Supplied {
    /// The releases that the host provides.
    host: BTreeSet<Release>,
    /// The packages that overrides take from folders.
    folders: BTreeSet<PackageName>,
    /// The specs that override requirements.
    specs: BTreeMap<PackageName, Spec>,
    /// The members of the workspace.
    members: BTreeMap<PackageName, Version>,
    /// The namespaces whose packages come from one registry only.
    bindings: Vec<(Namespace, RegistryName)>,
}

impl Supplied {
    pub(super) fn to(project: &Project, context: &Context) -> Result<Self> {
        let registries = &context.registries;
        let provided = registries.host_releases(&context.read_options)?;
        let configured = project.registries(context)?;
        let workspace = context.workspace()?;
        let members = workspace.into_iter().flat_map(Workspace::versions);
        Ok(Self {
            host: provided.iter().map(IndexRecord::release).collect(),
            folders: registries.overriding_folders().collect(),
            specs: registries.overriding_specs(project.format.ecosystem())?,
            members: members
                .map(|(name, version)| (name.clone(), version.clone()))
                .collect(),
            bindings: (configured.iter().flat_map(ConfiguredRegistry::bindings))
                .map(|(namespace, registry)| (namespace.clone(), registry.clone()))
                .collect(),
        })
    }

    /// Whether a release really comes from the source that a lockfile says.
    pub(super) fn has(&self, release: &Release, source: &ReleaseSource) -> bool {
        match source {
            ReleaseSource::Host => self.host.contains(release),
            ReleaseSource::BuiltIn => *release == built_in_core_library().release(),
            ReleaseSource::Registry(registry) if registry.as_str() == WORKSPACE => {
                self.members.contains_key(&release.name)
            }
            ReleaseSource::Registry(registry) => {
                is_reserved(registry.as_str()) && self.folders.contains(&release.name)
            }
        }
    }

    /// Whether a lockfile was made with the same host, members, overrides and namespaces, as far as its packages say so.
    pub(super) fn agrees_with(&self, lock: &Lockfile) -> bool {
        let provided: BTreeSet<&PackageName> = self.host.iter().map(|it| &it.name).collect();
        let same_sources = lock.packages.iter().all(|(release, locked)| {
            let Release { name, version } = release;
            match &locked.source {
                ReleaseSource::Registry(registry) if registry.as_str() == WORKSPACE => {
                    self.members.get(name) == Some(version)
                }
                ReleaseSource::Registry(registry) if !is_reserved(registry.as_str()) => {
                    let bindings = self.bindings.iter().map(|(namespace, to)| (namespace, to));
                    let bound = Namespace::narrowest(bindings, name);
                    let is_bound_elsewhere = bound.is_some_and(|(_, to)| to != registry);
                    !self.folders.contains(name) && !provided.contains(name) && !is_bound_elsewhere
                }
                // What is built in comes last.
                ReleaseSource::BuiltIn => !provided.contains(name),
                // Most commands need no host, and do not get one.
                ReleaseSource::Host => self.host.contains(release) || !provided.contains(name),
                ReleaseSource::Registry(_) => self.folders.contains(name),
            }
        });
        let recorded = lock.overrides.iter().map(|(name, spec)| (name, spec.set()));
        let stated = self.specs.iter().map(|(name, spec)| (name, spec.set()));
        same_sources && recorded.eq(stated)
    }
}
