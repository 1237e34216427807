//! The check of resources, as far as it needs no machine.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use pkgres_engine::{Kinds, PackageFiles, ResourceCheck};
use pkgres_files::read_file_below;
use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_manifest::{
    Package, PackageManifest, PackageName, PackagePath, PackageResources, ReadOptions,
    ReadableResources, Release, Version,
};
use pkgres_registry_client::PackageFolder;

use super::collections_kind::with_unread_collections;
use crate::failure::Failure;

/// The files that a package has; what is in them does not matter.
struct ListedFiles(BTreeSet<PackagePath>);

impl PackageFiles for ListedFiles {
    fn read(&self, _: &Release, path: &PackagePath) -> Result<Option<Vec<u8>>, String> {
        Ok(self.0.contains(path).then(Vec::new))
    }
}

/// Any files: which ones there are is not known.
struct AnyFiles;

impl PackageFiles for AnyFiles {
    fn read(&self, _: &Release, _: &PackagePath) -> Result<Option<Vec<u8>>, String> {
        Ok(Some(Vec::new()))
    }
}

/// The kinds that `plan` and `apply` know.
fn kinds() -> Kinds {
    with_unread_collections(Kinds::default())
}

/// Checks the resources of a package with these files.
pub(in crate::commands) fn check_resources_of(
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

/// Checks the resources that can be read of a package folder that cannot be read as a whole.
pub(in crate::commands) fn check_readable_folder(
    folder: &Path,
    manifest: &PackageManifest,
    options: &ReadOptions,
) -> Vec<Diagnostic> {
    let limit = options.limits.manifest_bytes;
    let readable = Package::readable_resources(manifest, options, |path| {
        read_file_below(folder, Path::new(path.as_str()), limit).ok()
    });
    let (Some(readable), Ok(folder)) = (readable, PackageFolder::open(folder, options)) else {
        return Vec::new();
    };
    let files = folder.files().iter().map(|file| file.path.clone());
    check_readable_resources(manifest, &readable, files, options)
}

/// Adds what else is wrong with the resources of a package folder to the failure of reading it, as far as they can be
/// read.
pub(super) fn with_mistakes_of_resources(
    mut failure: Failure,
    folder: &Path,
    options: &ReadOptions,
) -> Failure {
    let is_about_resources = |finding: &Diagnostic| finding.code == Code::Resource;
    if !failure.findings.iter().any(is_about_resources) {
        return failure;
    }
    if let Ok(manifest) = PackageFolder::read_manifest(folder, options) {
        for finding in check_readable_folder(folder, &manifest, options) {
            if finding.is_error() && !failure.findings.contains(&finding) {
                failure.findings.push(finding);
            }
        }
    }
    failure
}

/// Checks the resources that can be read of a package with these files that cannot be read as a whole.
pub(in crate::commands) fn check_readable_resources(
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

fn release_of(manifest: &PackageManifest) -> Release {
    Release::new(manifest.name.value.clone(), manifest.version.clone())
}

/// Checks a resources file, of whose package nothing is known.
pub(in crate::commands) fn check_resources_file(
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
        release: &Release::new(name, Version::ZERO),
        files: Arc::new(AnyFiles),
        classes: None,
        is_alone: false,
        is_complete: readable.is_complete,
    };
    findings.extend(check.findings(&kinds(), &options.limits));
    findings
}
