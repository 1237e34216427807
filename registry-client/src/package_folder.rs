//! Package folders.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pkgres_files::{FileError, Follow, entry_path, read_file};
use pkgres_formats::{ClassPackages, Format as _};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped, Parsed};
use pkgres_manifest::{
    ArtifactDigest, ClassName, Limits, MANIFEST_FILE, Package, PackageManifest, PackageName,
    PackagePath, ReadOptions, Release, Version, check_names, sha256, write_archive,
};

use crate::folder_tree::is_executable;
use crate::ignore_rules::{IGNORE_FILE, IgnoreRules, NotPackedReason};
use crate::vendored_archives::VendoredArchives;

/// The beginning of the names that pkgres reserves in packages, in lower case.
const RESERVED: &str = ".pkgres-";

/// A package folder with the list of its files.
#[derive(Debug, Clone)]
pub struct PackageFolder {
    path: PathBuf,
    files: Vec<FolderFile>,
    excluded: Vec<ExcludedFile>,
    rules: Arc<IgnoreRules>,
}

/// A file or folder that is not part of the package.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct ExcludedFile {
    /// Its path in the folder. That of a folder ends with `/`.
    pub path: String,
    /// Why it is not part of the package.
    pub reason: NotPackedReason,
}

/// The folder below the root of a machine in which pkgres keeps its states of deployments and its store, by default.
pub(crate) const STATE_FOLDER: &str = "var/lib/pkgres";

/// Why an entry of a package folder is not part of the package, if pkgres wrote it. `vendored` is of the folder that the
/// entry is in.
fn written_by_pkgres(
    path: &Path,
    name: &str,
    is_folder: bool,
    vendored: &VendoredArchives,
) -> Result<Option<NotPackedReason>, FileError> {
    if name.to_ascii_lowercase().starts_with(RESERVED) {
        return Ok(Some(NotPackedReason::OfPkgres));
    }
    // A package can contain parts of a system. Only files of pkgres show that something was deployed there.
    if is_folder && path.join(STATE_FOLDER).is_dir() {
        return Ok(Some(NotPackedReason::Deployed));
    }
    let is_vendored = if is_folder {
        VendoredArchives::are_all_of(path)?
    } else {
        vendored.has(name)
    };
    Ok(is_vendored.then_some(NotPackedReason::Vendored))
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

/// The files of a folder, while they are listed.
struct Listing<'rules> {
    rules: &'rules IgnoreRules,
    limits: &'rules Limits,
    files: Vec<FolderFile>,
    /// The size of the files in bytes.
    total: u64,
    excluded: Vec<ExcludedFile>,
    /// The folders that are still to be read, each with the beginning of the paths in it.
    rest: Vec<(PathBuf, String)>,
}

impl Listing<'_> {
    fn add_folder(&mut self, folder: &Path, prefix: &str) -> Result<(), Diagnostic> {
        let vendored = VendoredArchives::of(folder)?;
        let failed = |source| FileError::System {
            action: "cannot read",
            path: folder.to_owned(),
            source,
        };
        for entry in fs::read_dir(folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let metadata = entry.metadata().map_err(failed)?;
            self.add(&entry.path(), &metadata, prefix, &vendored)?;
        }
        Ok(())
    }

    /// Adds an entry of a folder. `vendored` is of that folder.
    fn add(
        &mut self,
        path: &Path,
        metadata: &fs::Metadata,
        prefix: &str,
        vendored: &VendoredArchives,
    ) -> Result<(), Diagnostic> {
        let rejected = |reason: String| {
            Diagnostic::from(FileError::Rejected {
                path: path.to_owned(),
                reason,
            })
        };
        let Some(name) = path.file_name().and_then(OsStr::to_str) else {
            return Err(rejected("the name is not UTF-8".to_owned()));
        };
        let mut relative = format!("{prefix}{name}");
        let is_folder = metadata.is_dir();
        let reason = written_by_pkgres(path, name, is_folder, vendored)?
            .or_else(|| self.rules.leave_out(&relative, is_folder));
        if let Some(reason) = reason {
            if is_folder {
                relative.push('/');
            }
            let path = relative;
            self.excluded.push(ExcludedFile { path, reason });
            return Ok(());
        }
        let package_path =
            PackagePath::parse(&relative).map_err(|error| rejected(error.to_string()))?;
        if is_folder {
            self.rest.push((path.to_owned(), format!("{relative}/")));
        } else if metadata.is_file() {
            self.total = self.total.saturating_add(metadata.len());
            self.files.push(FolderFile {
                path: package_path,
                size: metadata.len(),
                executable: is_executable(metadata),
            });
        } else {
            let reason = "a package has only plain files and folders";
            return Err(rejected(reason.to_owned()));
        }
        let (entries, bytes) = (self.limits.archive_entries, self.limits.unpacked_bytes);
        if self.files.len() as u64 > entries {
            let reason = format!("more than the limit of {entries} files in a package");
            return Err(rejected(reason));
        }
        if self.total > bytes {
            let reason = format!("more than the limit of {bytes} bytes in a package");
            return Err(rejected(reason));
        }
        Ok(())
    }
}

impl PackageFolder {
    /// Lists the files of a package folder, and what is [excluded](Self::excluded): what the file
    /// `.pkgresignore` says, what version control and editors leave, vendored archives, the lockfile and
    /// the settings, and at the top archives that packing the folder [writes](Self::archive_name).
    ///
    /// # Errors
    ///
    /// The folder cannot be read, has a link or names that an archive cannot hold, or exceeds a limit.
    pub fn open(path: &Path, options: &ReadOptions) -> Result<Self, Diagnostic> {
        let rules = IgnoreRules::read(path)?;
        let mut listing = Listing {
            rules: &rules,
            limits: &options.limits,
            files: Vec::new(),
            total: 0,
            excluded: Vec::new(),
            rest: vec![(path.to_owned(), String::new())],
        };
        while let Some((folder, prefix)) = listing.rest.pop() {
            listing.add_folder(&folder, &prefix)?;
        }
        let Listing {
            mut files,
            mut excluded,
            ..
        } = listing;
        let may_be_archive = |file: &FolderFile| {
            let path = file.path.as_str();
            path.ends_with(ARCHIVE_ENDING) && !path.contains('/')
        };
        if files.iter().any(may_be_archive)
            && let Ok(manifest) = Self::read_manifest(path, options)
        {
            let name = &manifest.name.value;
            let archives = files.extract_if(.., |file| is_archive_name(file.path.as_str(), name));
            excluded.extend(archives.map(|file| ExcludedFile {
                path: file.path.as_str().to_owned(),
                reason: NotPackedReason::Archive,
            }));
        }
        files.sort_by(|one, two| one.path.cmp(&two.path));
        let names = files.iter().map(|file| (&file.path, false));
        check_names(names, &options.limits).map_err(|error| about(path, error))?;
        excluded.sort_unstable();
        Ok(Self {
            path: path.to_owned(),
            files,
            excluded,
            rules: Arc::new(rules),
        })
    }

    /// Reads the manifest of a package folder and nothing else.
    pub fn read_manifest(
        path: &Path,
        options: &ReadOptions,
    ) -> Result<PackageManifest, Vec<Diagnostic>> {
        let file = entry_path(path, MANIFEST_FILE);
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
        ClassPackages.artifact_name(name, version)
    }

    /// The release whose archive has this [file name](Self::archive_name).
    pub fn release_of_archive(file: &str) -> Option<Release> {
        let stem = file.strip_suffix(ARCHIVE_ENDING)?;
        // Both names and versions can have a `-`.
        let mut dashes = stem.match_indices('-');
        dashes.find_map(|(at, dash)| {
            let name = PackageName::parse(&stem[..at]).ok()?;
            let version = Version::parse(&stem[at + dash.len()..]).ok()?;
            let is_its_name = Self::archive_name(&name, &version) == file;
            is_its_name.then(|| Release::new(name, version))
        })
    }

    /// Whether a file at a path would be part of the package in a folder. The path is relative to the folder,
    /// without `.` and `..`.
    ///
    /// # Errors
    ///
    /// The ignore file cannot be read.
    pub fn would_take(
        folder: &Path,
        path: &Path,
        package: &PackageName,
    ) -> Result<bool, Diagnostic> {
        let rules = IgnoreRules::read(folder)?;
        let is_left_out = |part: &Path| {
            let is_folder = part != path;
            let part = part.to_str();
            part.is_some_and(|part| rules.leave_out(part, is_folder).is_some())
        };
        let mut parts = path.ancestors().filter(|part| *part != Path::new(""));
        let is_archive = path
            .to_str()
            .is_some_and(|name| is_archive_name(name, package));
        Ok(!is_archive && !parts.any(is_left_out))
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The files of the package, sorted by path.
    pub fn files(&self) -> &[FolderFile] {
        &self.files
    }

    /// The size of the files in bytes.
    pub fn size(&self) -> u64 {
        self.files.iter().map(|file| file.size).sum()
    }

    /// The files and folders that are not part of the package, sorted by path.
    pub fn excluded(&self) -> &[ExcludedFile] {
        &self.excluded
    }

    /// Reads a file of the package.
    pub fn read(&self, path: &PackagePath, limit: u64) -> Result<Vec<u8>, FileError> {
        read_file(&self.path.join(path.as_str()), limit, Follow::Nothing)
    }

    /// Reads the package: its manifest and the files that it names. None of them can be [excluded](Self::excluded).
    pub fn package(&self, options: &ReadOptions) -> Parsed<Package> {
        let manifest = match Self::read_manifest(&self.path, options) {
            Ok(manifest) => manifest,
            Err(errors) => return Parsed::new(None, errors),
        };
        if let Some(excluded) = self.exclusion_of(MANIFEST_FILE) {
            return Parsed::failed(self.needed(MANIFEST_FILE, excluded));
        }
        let limit = options.limits.class_file_bytes;
        Package::assemble_from(manifest, options, |path| {
            if let Some(excluded) = self.exclusion_of(path.as_str())
                && self.path.join(path.as_str()).exists()
            {
                return Err(self.needed(path.as_str(), excluded));
            }
            match self.read(path, limit) {
                Ok(bytes) => Ok(Some(bytes)),
                Err(error) if error.is_not_found() => Ok(None),
                Err(error) => Err(error.to_diagnostic()),
            }
        })
    }

    /// The class file that defines a class of the package, but that the manifest does not list: see
    /// [`Package::unlisted_file`].
    pub fn unlisted_class_file(
        &self,
        package: &Package,
        class: &ClassName,
        options: &ReadOptions,
    ) -> Option<PackagePath> {
        let files = self.files.iter().map(|file| &file.path);
        let limit = options.limits.class_file_bytes;
        package.unlisted_file(class, files, options, |path| self.read(path, limit).ok())
    }

    /// What leaves a file out: itself or a folder around it.
    fn exclusion_of(&self, path: &str) -> Option<&ExcludedFile> {
        self.excluded.iter().find(|excluded| {
            excluded.path == path
                || excluded.path.ends_with('/') && path.starts_with(&excluded.path)
        })
    }

    /// Reports that a file is left out although the package needs it.
    fn needed(&self, path: &str, excluded: &ExcludedFile) -> Diagnostic {
        let reason = excluded.reason.text();
        let message = format!("the package needs `{path}`, which is not packed: {reason}");
        let error = Diagnostic::error(Code::PackageShape, message);
        let is_folder = excluded.path.ends_with('/');
        let excluded = excluded.path.trim_end_matches('/');
        match self.rules.location_of(excluded, is_folder) {
            Some(location) => error.at(location),
            None => error,
        }
    }

    /// Packs the files of the folder without reading them as a package.
    ///
    /// # Errors
    ///
    /// A file cannot be read, or the archive exceeds a limit.
    pub fn archive(&self, options: &ReadOptions) -> Result<Vec<u8>, Diagnostic> {
        let mut files = Vec::with_capacity(self.files.len());
        for file in &self.files {
            let bytes = self.read(&file.path, options.limits.unpacked_bytes)?;
            files.push((file.path.clone(), file.executable, bytes));
        }
        write_archive(files, &options.limits).map_err(|error| {
            let is_limit = error.code == Code::Limit;
            let hint = format!("`{IGNORE_FILE}` names files that are not part of the package");
            about(&self.path, error).maybe_hint(is_limit.then_some(hint))
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

/// An error about the files of a folder, whose path it then names.
fn about(folder: &Path, mut error: Diagnostic) -> Diagnostic {
    error.message = format!("{}: {}", Escaped::path(folder), error.message);
    error
}

const ARCHIVE_ENDING: &str = ".zip";

/// Whether a file is called like an archive of some version of a package.
fn is_archive_name(file: &str, package: &PackageName) -> bool {
    file.strip_prefix(package.as_str())
        .and_then(|rest| rest.strip_prefix('-'))
        .and_then(|rest| rest.strip_suffix(ARCHIVE_ENDING))
        .is_some_and(|version| Version::parse(version).is_ok())
}
