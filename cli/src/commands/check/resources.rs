//! The check of resources, as far as it needs no machine.

use std::collections::BTreeSet;
use std::sync::Arc;

use pkgres_engine::{Kinds, PackageFiles, ResourceCheck};
use pkgres_manifest::diagnostic::Diagnostic;
use pkgres_manifest::{Package, PackageName, PackagePath, PackageResources, ReadOptions, Version};

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
        release: &(package.name().clone(), package.manifest.version.clone()),
        files: Arc::new(ListedFiles(files.collect())),
        classes: package.classes.as_ref(),
        is_alone: package.manifest.requirements.is_empty(),
    };
    check.findings(&kinds(), &options.limits)
}

/// Checks a resources file, of whose package nothing is known.
pub(super) fn check_resources_file(
    resources: &PackageResources,
    options: &ReadOptions,
) -> Vec<Diagnostic> {
    let Ok(name) = PackageName::parse("unknown.Package") else {
        return Vec::new();
    };
    let check = ResourceCheck {
        resources,
        release: &(name, Version::ZERO),
        files: Arc::new(AnyFiles),
        classes: None,
        is_alone: false,
    };
    check.findings(&kinds(), &options.limits)
}
