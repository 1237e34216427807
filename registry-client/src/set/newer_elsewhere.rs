//! Newer releases in registries that are not used for their package.
//!
//! A package comes from the first registry that has its name. Tools of other ecosystems take the newest release of all
//! registries, so their users should know where the two differ.

use std::collections::BTreeMap;

use pkgres_manifest::{IndexRecord, PackageName, RegistryName, ReleaseSource, Spec, Version};
use pkgres_resolver::{Resolution, ResolvedOwner, SolveOptions};

use super::RegistrySet;
use crate::registry::records_of;
use crate::registry_error::RegistryError;

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
    /// For each chosen package, the newest release of another registry, if it is newer than the chosen one and than all
    /// that the registry of the chosen one has. Yanked releases do not count, nor do those that the options exclude as
    /// too new, nor prereleases unless one was chosen. Registries that a package is not bound to are not asked.
    ///
    /// # Errors
    ///
    /// A registry cannot be read.
    pub fn newer_elsewhere(
        &self,
        resolution: &Resolution,
        options: &SolveOptions,
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
                let newest = |records: &[IndexRecord]| {
                    let candidates = records.iter().filter(|record| {
                        let version = &record.version;
                        let is_asked_for =
                            !version.is_prerelease() || chosen.version.is_prerelease();
                        let fits = specs.iter().all(|spec| spec.matches(version));
                        let is_old_enough = options
                            .exclude_newer
                            .is_none_or(|cutoff| record.is_published_before(cutoff));
                        !record.yanked && is_old_enough && is_asked_for && fits
                    });
                    candidates.map(|record| record.version.clone()).max()
                };
                let version = newest(&records.unwrap_or_default());
                let Some(version) = version.filter(|version| version > least) else {
                    continue;
                };
                // If the preferred registry has newer ones, too, it is not the reason.
                let own = newest(&self.records_in(used, &chosen.name)?);
                if own.is_none_or(|own| version > own) {
                    let found = NewerElsewhere {
                        package: chosen.name.clone(),
                        version,
                        registry: registry.name().clone(),
                        used: used.clone(),
                    };
                    newer.insert(chosen.name.clone(), found);
                }
            }
        }
        Ok(newer.into_values().collect())
    }

    /// The records of a package in a registry.
    fn records_in(
        &self,
        registry: &RegistryName,
        package: &PackageName,
    ) -> Result<Vec<IndexRecord>, RegistryError> {
        let mut registries = self.registries.iter();
        let Some(registry) = registries.find(|one| one.name() == registry) else {
            return Ok(Vec::new());
        };
        let found = records_of(registry.as_ref(), std::slice::from_ref(package))?;
        Ok(found.into_iter().flatten().flatten().collect())
    }
}
