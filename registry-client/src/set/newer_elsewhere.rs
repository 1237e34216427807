//! Newer releases in registries that are not used for their package.
//!
//! A package comes from the first registry that has its name. Tools of other ecosystems take the newest release of all
//! registries, so their users should know where the two differ.

use std::collections::BTreeMap;

use pkgres_manifest::{PackageName, RegistryName, ReleaseSource, Spec, Version};
use pkgres_resolver::{Resolution, ResolvedOwner};

use super::RegistrySet;
use crate::registry::{RegistryError, records_of};

/// A release that all requirements on its package allow, and that is newer than the one that was chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewerElsewhere {
    /// The package.
    pub package: PackageName,
    /// The version of the newer release.
    pub version: Version,
    /// The registry that has it.
    pub registry: RegistryName,
    /// The registry from which the package comes, because it is preferred.
    pub used: RegistryName,
}

impl RegistrySet {
    /// The newest release of each chosen package that another registry has and that is newer than the chosen one. Yanked
    /// releases do not count, nor do prereleases unless one was chosen. Registries that a package is not bound to are
    /// not asked.
    ///
    /// # Errors
    ///
    /// A registry cannot be read.
    pub fn newer_elsewhere(
        &self,
        resolution: &Resolution,
    ) -> Result<Vec<NewerElsewhere>, RegistryError> {
        let mut specs: BTreeMap<&PackageName, Vec<&Spec>> = BTreeMap::new();
        for bound in resolution.owners().flat_map(ResolvedOwner::requires) {
            specs.entry(&bound.package).or_default().push(&bound.spec);
        }
        let mut newer: BTreeMap<PackageName, NewerElsewhere> = BTreeMap::new();
        let mut earlier: Vec<&RegistryName> = Vec::new();
        for registry in &self.registries {
            let registry = registry.as_ref();
            // Packages of registries before this one.
            let chosen = resolution.packages().iter().filter_map(|chosen| {
                let ReleaseSource::Registry(used) = &chosen.source else {
                    return None;
                };
                let is_asked = earlier.contains(&used) && self.may_have(registry, &chosen.name);
                is_asked.then_some((chosen, used))
            });
            let chosen: Vec<_> = chosen.collect();
            let names: Vec<PackageName> = chosen
                .iter()
                .map(|(chosen, _)| chosen.name.clone())
                .collect();
            earlier.push(registry.name());
            if names.is_empty() {
                continue;
            }
            for ((chosen, used), records) in chosen.into_iter().zip(records_of(registry, &names)?) {
                let least = newer.get(&chosen.name).map(|newer| &newer.version);
                let least = least.unwrap_or(&chosen.version);
                let specs = specs.get(&chosen.name).map_or(&[][..], Vec::as_slice);
                let versions = records.iter().flatten().filter_map(|record| {
                    let version = &record.version;
                    let is_candidate = !record.yanked
                        && (!version.is_prerelease() || chosen.version.is_prerelease());
                    let fits = specs.iter().all(|spec| spec.matches(version));
                    (is_candidate && fits && version > least).then_some(version)
                });
                if let Some(version) = versions.max() {
                    let found = NewerElsewhere {
                        package: chosen.name.clone(),
                        version: version.clone(),
                        registry: registry.name().clone(),
                        used: used.clone(),
                    };
                    newer.insert(chosen.name.clone(), found);
                }
            }
        }
        Ok(newer.into_values().collect())
    }
}
