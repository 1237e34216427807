//! A registry of which only one package counts.

use std::sync::Arc;

use pkgres_manifest::diagnostic::Diagnostic;
use pkgres_manifest::{
    ArtifactDigest, ClassName, IndexRecord, Package, PackageName, ReadOptions, RegistryName,
};

use crate::registry::{Artifact, Registry, RegistryError, defined_classes};

/// A registry of which only one package counts, such as the folder of a package that stands in for
/// the one that others have: what else lies there must not slip in.
pub struct OnlyPackage {
    inner: Box<dyn Registry>,
    package: PackageName,
}

impl OnlyPackage {
    /// What a registry has of a package.
    pub fn new(inner: Box<dyn Registry>, package: PackageName) -> Self {
        Self { inner, package }
    }
}

impl Registry for OnlyPackage {
    fn name(&self) -> &RegistryName {
        self.inner.name()
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
        // What cannot be read is told by whoever needs it.
        defined_classes(found.unwrap_or_default().iter().flatten().flatten())
    }

    fn known_packages(&self) -> Vec<PackageName> {
        let mut packages = self.inner.known_packages();
        packages.retain(|package| *package == self.package);
        packages
    }

    fn artifact(&self, digest: &ArtifactDigest) -> Result<Option<Artifact>, RegistryError> {
        self.inner.artifact(digest)
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
