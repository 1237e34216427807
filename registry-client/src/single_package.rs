//! One package of a registry, as a registry.

use std::sync::Arc;
use std::time::SystemTime;

#[cfg(feature = "index")]
use pkgres_manifest::ArtifactDigest;
use pkgres_manifest::diagnostic::Diagnostic;
use pkgres_manifest::{ClassName, IndexRecord, Package, PackageName, ReadOptions, RegistryName};

#[cfg(feature = "index")]
use crate::artifact::{Artifact, TakeArtifact, WantedArtifact};
use crate::registry::Registry;
use crate::registry_error::RegistryError;
use crate::whole_registry::defined_classes;

/// The override of a package: a folder whose release replaces those of other registries. Other packages in the folder
/// are ignored.
pub struct SinglePackage {
    inner: Box<dyn Registry>,
    package: PackageName,
}

impl SinglePackage {
    /// The releases of `package` in a registry.
    pub fn new(inner: Box<dyn Registry>, package: PackageName) -> Self {
        Self { inner, package }
    }
}

impl Registry for SinglePackage {
    fn name(&self) -> &RegistryName {
        self.inner.name()
    }

    fn is_override(&self) -> bool {
        true
    }

    fn reread(&self, now: SystemTime) -> Result<Option<Box<dyn Registry>>, RegistryError> {
        let inner = self.inner.reread(now)?;
        Ok(
            inner
                .map(|inner| Box::new(Self::new(inner, self.package.clone())) as Box<dyn Registry>),
        )
    }

    fn records(
        &self,
        names: &[PackageName],
    ) -> Result<Vec<Option<Vec<IndexRecord>>>, RegistryError> {
        let mut found = self.inner.records(std::slice::from_ref(&self.package))?;
        let found = found.pop().flatten();
        Ok(names
            .iter()
            .map(|name| found.clone().filter(|_| *name == self.package))
            .collect())
    }

    fn defining(&self, class: &ClassName) -> Result<Vec<PackageName>, RegistryError> {
        let mut names = self.inner.defining(class)?;
        names.retain(|name| *name == self.package);
        Ok(names)
    }

    fn defined_classes(&self) -> Vec<ClassName> {
        let found = self.inner.records(std::slice::from_ref(&self.package));
        // Errors are reported to the caller that needs the records.
        defined_classes(found.unwrap_or_default().iter().flatten().flatten())
    }

    fn known_packages(&self) -> Vec<PackageName> {
        let mut packages = self.inner.known_packages();
        packages.retain(|package| *package == self.package);
        packages
    }

    #[cfg(feature = "index")]
    fn artifact(&self, digest: &ArtifactDigest) -> Result<Option<Artifact>, RegistryError> {
        self.inner.artifact(digest)
    }

    #[cfg(feature = "index")]
    fn artifacts(&self, wanted: &[WantedArtifact<'_>], take: TakeArtifact<'_>) {
        self.inner.artifacts(wanted, take);
    }

    fn package(
        &self,
        record: &IndexRecord,
        options: &ReadOptions,
    ) -> Result<Option<Arc<Package>>, RegistryError> {
        self.inner.package(record, options)
    }

    fn take_findings(&self) -> Vec<Diagnostic> {
        self.inner.take_findings()
    }
}
