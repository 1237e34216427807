//! The manifest file of a package folder, and the package read from it.

use std::path::{Path, PathBuf};

use ignore::WalkBuilder;
use pkgres_files::{FileError, Follow, read_file, read_file_below};
use pkgres_manifest::diagnostic::Diagnostic;
use pkgres_manifest::{
    LOCK_FILE, MANIFEST_FILE, Package, PackageManifest, PackagePath, ReadOptions,
};

use crate::failure::{self, Failure};

/// Whether a path names a package folder. A folder with the name of a manifest is in its place, and an error there.
fn is_folder(path: &Path) -> bool {
    path.is_dir() && path.file_name() != Some(MANIFEST_FILE.as_ref())
}

/// The folder of a path that names a package folder, or a file in one.
pub(crate) fn folder_of(path: &Path) -> PathBuf {
    if is_folder(path) {
        return path.to_owned();
    }
    let parent = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    parent.unwrap_or(Path::new(".")).to_owned()
}

/// The package at a path. The path of a manifest means the folder that it is in.
pub(crate) fn package_of(path: &Path) -> PathBuf {
    if path.is_file() && path.file_name() == Some(MANIFEST_FILE.as_ref()) {
        folder_of(path)
    } else {
        path.to_owned()
    }
}

/// The manifest of a path that names a package folder or a manifest.
pub(crate) fn manifest_at(path: &Path) -> PathBuf {
    if is_folder(path) {
        path.join(MANIFEST_FILE)
    } else {
        path.to_owned()
    }
}

/// The folders with lockfiles in and below the current folder, except for those that git ignores.
pub(crate) fn locked_folders() -> failure::Result<Vec<PathBuf>> {
    let here = Path::new(".");
    let mut folders = Vec::new();
    for entry in WalkBuilder::new(here).sort_by_file_name(Ord::cmp).build() {
        let entry = entry.map_err(|error| Failure::usage(error.to_string()))?;
        if entry.file_name() == LOCK_FILE
            && let Some(folder) = entry.path().parent()
        {
            folders.push(folder.strip_prefix(here).unwrap_or(folder).to_owned());
        }
    }
    Ok(folders)
}

/// The name of a file in messages whose line numbers do not refer to the file on the disk.
pub(crate) fn edited_name(name: &str) -> String {
    format!("{name} (edited)")
}

/// A manifest file that was read, but not parsed yet.
pub(crate) struct ManifestFile {
    /// The folder of the package.
    pub(crate) folder: PathBuf,
    pub(crate) path: PathBuf,
    pub(crate) bytes: Vec<u8>,
    /// Whether `bytes` are what is about to be written, and not what the file holds.
    pub(crate) is_edited: bool,
}

impl ManifestFile {
    /// Reads the file that a path names: a manifest, or the one in a package folder.
    pub(crate) fn read(path: &Path, options: &ReadOptions) -> Result<Self, FileError> {
        let manifest = manifest_at(path);
        Ok(Self {
            folder: folder_of(path),
            bytes: read_file(&manifest, options.limits.manifest_bytes, Follow::Links)?,
            path: manifest,
            is_edited: false,
        })
    }

    /// The lockfile beside it, which need not exist.
    pub(crate) fn lock_path(&self) -> PathBuf {
        self.folder.join(LOCK_FILE)
    }

    /// The bytes of a file of the package.
    pub(crate) fn file(
        &self,
        path: &PackagePath,
        options: &ReadOptions,
    ) -> Result<Vec<u8>, FileError> {
        let limit = options.limits.class_file_bytes;
        read_file_below(&self.folder, Path::new(path.as_str()), limit)
    }

    /// Parses the package. `on_file` sees each file that is read beside the manifest.
    pub(crate) fn parse(
        &self,
        options: &ReadOptions,
        mut on_file: impl FnMut(&PackagePath, &[u8]),
    ) -> Result<Package, Vec<Diagnostic>> {
        // As everywhere else, paths in the current folder are shown without it.
        let path = self.path.strip_prefix(".").unwrap_or(&self.path);
        let name = path.to_string_lossy();
        let name = if self.is_edited {
            edited_name(&name)
        } else {
            name.into_owned()
        };
        let (manifest, _) = PackageManifest::read(&name, &self.bytes, options).into_result()?;
        // Only class files are read: the folder can hold any number of others.
        let package =
            Package::assemble_from(manifest, options, |path| match self.file(path, options) {
                Ok(bytes) => {
                    on_file(path, &bytes);
                    Ok(Some(bytes))
                }
                Err(error) if error.is_not_found() => Ok(None),
                Err(error) => Err(error.to_diagnostic()),
            });
        let (package, _) = package.into_result()?;
        Ok(package)
    }
}
