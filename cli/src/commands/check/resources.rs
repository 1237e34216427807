//! The check of resources, as far as it needs no machine.

use std::collections::BTreeSet;
use std::sync::Arc;

use pkgres_engine::{Kinds, PackageFiles, ResourceCheck};
use pkgres_manifest::diagnostic::Diagnostic;
use pkgres_manifest::{
    Package, PackageManifest, PackageName, PackagePath, PackageResources, ReadOptions,
    ReadableResources, Version,
};

use crate::commands::deployment::with_unread_collections;

/// The files that a package has; what is in them does not matter.
struct ListedFiles(BTreeSet<PackagePath>);

impl PackageFiles for ListedFiles {
    fn read(
        &self,
        _: &(PackageName, Version),
        path: &PackagePath,
    ) -> Result<Option<Vec<u8>>, String> {
        Ok(self.0.contains(path).then(Vec::new))
    }
}

/// Any files: which ones there are is not known.
struct AnyFiles;

impl PackageFiles for AnyFiles {
    fn read(&self, _: &(PackageName, Version), _: &PackagePath) -> Result<Option<Vec<u8>>, String> {
        Ok(Some(Vec::new()))
    }
}

/// The kinds that `plan` and `apply` know.
fn kinds() -> Kinds {
    with_unread_collections(Kinds::default())
}

/// Checks the resources of a package with these files.
pub(super) fn check_resources_of(
    package: &Package,
    files: impl Iterator<Item = PackagePath>,
    options: &ReadOptions,
) -> Vec<Diagnostic> {
    let Some(resources) = &package.resources else {
        return Vec::new();
    };
    let check = ResourceCheck {
        resources,
        release: &release_of(&package.manifest),
        files: Arc::new(ListedFiles(files.collect())),
        classes: package.classes.as_ref(),
        is_alone: package.manifest.requirements.is_empty(),
        is_complete: true,
    };
    check.findings(&kinds(), &options.limits)
}

/// Checks the resources that can be read of a package with these files that cannot be read as a whole.
pub(super) fn check_readable_resources(
    manifest: &PackageManifest,
    readable: &ReadableResources,
    files: impl Iterator<Item = PackagePath>,
    options: &ReadOptions,
) -> Vec<Diagnostic> {
    let check = ResourceCheck {
        resources: &readable.resources,
        release: &release_of(manifest),
        files: Arc::new(ListedFiles(files.collect())),
        classes: None,
        is_alone: manifest.requirements.is_empty(),
        is_complete: readable.is_complete,
    };
    check.findings(&kinds(), &options.limits)
}

fn release_of(manifest: &PackageManifest) -> (PackageName, Version) {
    (manifest.name.value.clone(), manifest.version.clone())
}

/// Checks a resources file, of whose package nothing is known.
pub(super) fn check_resources_file(
    shown: &str,
    bytes: &[u8],
    options: &ReadOptions,
) -> Vec<Diagnostic> {
    let read = PackageResources::read(shown, bytes, options);
    let mut findings = read.diagnostics().to_vec();
    let readable = PackageResources::readable(shown, bytes, options);
    let (Some(readable), Ok(name)) = (readable, PackageName::parse("unknown.Package")) else {
        return findings;
    };
    let check = ResourceCheck {
        resources: &readable.resources,
        release: &(name, Version::ZERO),
        files: Arc::new(AnyFiles),
        classes: None,
        is_alone: false,
        is_complete: readable.is_complete,
    };
    findings.extend(check.findings(&kinds(), &options.limits));
    findings
}
