//! Package folders.

use std::fs;
use std::path::{Path, PathBuf};

use pkgres_files::{FileError, Follow, read_file};
use pkgres_manifest::diagnostic::{Diagnostic, Parsed};
use pkgres_manifest::{
    ArtifactDigest, LOCK_FILE, MANIFEST_FILE, Package, PackageManifest, PackageName, PackagePath,
    ReadOptions, Version, sha256,
};

/// Files in a package folder that belong to the project, not to the package.
const NOT_PACKED: [&str; 2] = [LOCK_FILE, "pkgres.toml"];

/// A package folder with the list of its files.
#[derive(Debug, Clone)]
pub struct PackageFolder {
    path: PathBuf,
    files: Vec<FolderFile>,
}

/// A file of a package folder.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct FolderFile {
    /// Its path in the package.
    pub path: PackagePath,
    /// Its size in bytes.
    pub size: u64,
    /// Whether it is executable.
    pub executable: bool,
}

impl PackageFolder {
    /// Lists the files of a package folder, without files whose name starts with a dot, the lockfile and the
    /// settings, and at the top without archives that packing the folder [writes](Self::archive_name).
    ///
    /// # Errors
    ///
    /// The folder cannot be read, has a link or a name that an archive cannot hold, or exceeds a limit.
    pub fn open(path: &Path, options: &ReadOptions) -> Result<Self, FileError> {
        let mut files = Vec::new();
        let mut archives = Vec::new();
        let mut total = 0_u64;
        let mut rest: Vec<(PathBuf, String)> = vec![(path.to_owned(), String::new())];
        while let Some((folder, prefix)) = rest.pop() {
            let read = |source| FileError::System {
                action: "cannot read",
                path: folder.clone(),
                source,
            };
            for entry in fs::read_dir(&folder).map_err(read)? {
                let entry = entry.map_err(read)?;
                let rejected = |reason: String| FileError::Rejected {
                    path: entry.path(),
                    reason,
                };
                let name = entry.file_name();
                let Some(name) = name.to_str() else {
                    return Err(rejected("the name is not UTF-8".to_owned()));
                };
                if name.starts_with('.') || (prefix.is_empty() && NOT_PACKED.contains(&name)) {
                    continue;
                }
                let relative = format!("{prefix}{name}");
                let package_path =
                    PackagePath::parse(&relative).map_err(|error| rejected(error.to_string()))?;
                let metadata = entry.metadata().map_err(read)?;
                if metadata.is_file() && prefix.is_empty() && has_archive_ending(name) {
                    archives.push(name.to_owned());
                }
                if metadata.is_dir() {
                    rest.push((entry.path(), format!("{relative}/")));
                } else if metadata.is_file() {
                    total = total.saturating_add(metadata.len());
                    files.push(FolderFile {
                        path: package_path,
                        size: metadata.len(),
                        executable: is_executable(&metadata),
                    });
                } else {
                    return Err(rejected(
                        "a package has only plain files and folders".to_owned(),
                    ));
                }
                let limits = &options.limits;
                if files.len() as u64 > limits.archive_entries {
                    return Err(rejected(format!(
                        "more than the limit of {} files in a package",
                        limits.archive_entries
                    )));
                }
                if total > limits.unpacked_bytes {
                    return Err(rejected(format!(
                        "more than the limit of {} bytes in a package",
                        limits.unpacked_bytes
                    )));
                }
            }
        }
        if !archives.is_empty()
            && let Ok(manifest) = Self::read_manifest(path, options)
        {
            archives.retain(|name| is_archive_name(name, &manifest.name.value));
            files.retain(|file| !archives.iter().any(|name| name == file.path.as_str()));
        }
        files.sort_by(|one, two| one.path.cmp(&two.path));
        Ok(Self {
            path: path.to_owned(),
            files,
        })
    }

    /// Reads the manifest of a package folder and nothing else.
    pub fn read_manifest(
        path: &Path,
        options: &ReadOptions,
    ) -> Result<PackageManifest, Vec<Diagnostic>> {
        let file = path.join(MANIFEST_FILE);
        let limit = options.limits.manifest_bytes;
        let bytes = read_file(&file, limit, Follow::Nothing)
            .map_err(|error| vec![error.to_diagnostic()])?;
        PackageManifest::read(&file.to_string_lossy(), &bytes, options)
            .into_result()
            .map(|(manifest, _)| manifest)
    }

    /// The default file name of the archive of a release. Such archives, of any version, are not part of the package
    /// in whose folder they are, so that packing again gives the same archive.
    pub fn archive_name(name: &PackageName, version: &Version) -> String {
        format!("{name}-{version}.zip")
    }

    /// Whether a file at a path would be part of the package. The path is relative to the folder, without `.` and `..`.
    pub fn would_take(path: &Path, package: &PackageName) -> bool {
        let mut names = path
            .components()
            .map(|part| part.as_os_str().to_string_lossy());
        let is_hidden = names.any(|name| name.starts_with('.'));
        let is_left_out = path
            .to_str()
            .is_some_and(|name| NOT_PACKED.contains(&name) || is_archive_name(name, package));
        !is_hidden && !is_left_out
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The files of the package, sorted by path.
    pub fn files(&self) -> &[FolderFile] {
        &self.files
    }

    /// Reads a file of the package.
    pub fn read(&self, path: &PackagePath, limit: u64) -> Result<Vec<u8>, FileError> {
        read_file(&self.path.join(path.as_str()), limit, Follow::Nothing)
    }

    /// Reads the package: its manifest and class files.
    pub fn package(&self, options: &ReadOptions) -> Parsed<Package> {
        let manifest = match Self::read_manifest(&self.path, options) {
            Ok(manifest) => manifest,
            Err(errors) => return Parsed::new(None, errors),
        };
        let limit = options.limits.class_file_bytes;
        Package::assemble_from(manifest, options, |path| match self.read(path, limit) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error.to_diagnostic()),
        })
    }

    /// The digest of the folder's content.
    pub fn digest(&self, options: &ReadOptions) -> Result<ArtifactDigest, FileError> {
        let limit = options.limits.unpacked_bytes;
        let mut digests = Vec::with_capacity(self.files.len());
        for file in &self.files {
            digests.push((&file.path, sha256(&self.read(&file.path, limit)?)));
        }
        Ok(ArtifactDigest::of_tree(digests))
    }
}

const ARCHIVE_ENDING: &str = ".zip";

fn has_archive_ending(name: &str) -> bool {
    name.ends_with(ARCHIVE_ENDING)
}

/// Whether a file is called like an archive of some version of a package.
fn is_archive_name(file: &str, package: &PackageName) -> bool {
    file.strip_prefix(package.as_str())
        .and_then(|rest| rest.strip_prefix('-'))
        .and_then(|rest| rest.strip_suffix(ARCHIVE_ENDING))
        .is_some_and(|version| Version::parse(version).is_ok())
}

#[cfg(unix)]
fn is_executable(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;

    metadata.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &fs::Metadata) -> bool {
    false
}
