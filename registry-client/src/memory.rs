//! Packages that are in memory, for programs that embed the solver.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use pkgres_manifest::{ClassName, IndexRecord, Package, PackageName, ReadOptions, RegistryName};
use pkgres_resolver::CompiledIndex;

use crate::registry::Registry;
use crate::registry_error::RegistryError;
use crate::whole_registry::defined_classes;

/// A registry of packages in memory.
///
/// The first request compiles the packages into an index, which all later requests share. Adding a release drops that
/// index.
#[derive(Debug)]
pub struct MemoryRegistry {
    name: RegistryName,
    packages: BTreeMap<PackageName, Vec<StoredRelease>>,
    compiled: OnceLock<Arc<CompiledIndex>>,
}

/// A release, with its package if it was added.
#[derive(Debug)]
struct StoredRelease {
    record: IndexRecord,
    package: Option<Arc<Package>>,
}

impl MemoryRegistry {
    /// A registry without packages.
    pub fn new(name: RegistryName) -> Self {
        Self {
            name,
            packages: BTreeMap::new(),
            compiled: OnceLock::new(),
        }
    }

    /// Adds a release by its record alone. A version should be added once: of two different records one counts,
    /// whatever their order.
    pub fn add_record(&mut self, record: IndexRecord) {
        self.compiled.take();
        let releases = self.packages.entry(record.name.clone()).or_default();
        releases.push(StoredRelease {
            record,
            package: None,
        });
    }

    /// Adds a release with its package, whose classes the contracts of object models need.
    pub fn add_package(&mut self, package: Arc<Package>) {
        let record = package.index_record();
        self.compiled.take();
        let releases = self.packages.entry(record.name.clone()).or_default();
        releases.push(StoredRelease {
            record,
            package: Some(package),
        });
    }
}

impl Registry for MemoryRegistry {
    fn name(&self) -> &RegistryName {
        &self.name
    }

    fn records(
        &self,
        names: &[PackageName],
    ) -> Result<Vec<Option<Vec<IndexRecord>>>, RegistryError> {
        let records = |releases: &Vec<StoredRelease>| {
            releases
                .iter()
                .map(|release| release.record.clone())
                .collect()
        };
        Ok(names
            .iter()
            .map(|name| self.packages.get(name).map(records))
            .collect())
    }

    fn compiled(&self) -> Result<Option<Arc<CompiledIndex>>, RegistryError> {
        let compile = || {
            let releases = self.packages.values().flatten();
            let records = releases.map(|release| &release.record);
            Arc::new(CompiledIndex::compile(records))
        };
        Ok(Some(Arc::clone(self.compiled.get_or_init(compile))))
    }

    fn defining(&self, class: &ClassName) -> Result<Vec<PackageName>, RegistryError> {
        let defines = |release: &&StoredRelease| release.record.exports(class);
        let names: BTreeSet<&PackageName> = self
            .packages
            .iter()
            .filter(|(_, releases)| releases.iter().any(|release| defines(&release)))
            .map(|(name, _)| name)
            .collect();
        Ok(names.into_iter().cloned().collect())
    }

    fn defined_classes(&self) -> Vec<ClassName> {
        let releases = self.packages.values().flatten();
        defined_classes(releases.map(|release| &release.record))
    }

    fn known_packages(&self) -> Vec<PackageName> {
        self.packages.keys().cloned().collect()
    }

    fn package(
        &self,
        record: &IndexRecord,
        _: &ReadOptions,
    ) -> Result<Option<Arc<Package>>, RegistryError> {
        let releases = self
            .packages
            .get(&record.name)
            .map_or(&[][..], Vec::as_slice);
        let release = releases
            .iter()
            .find(|release| release.record.version == record.version);
        Ok(release.and_then(|release| release.package.clone()))
    }
}
