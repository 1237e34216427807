//! Package folders.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use pkgres_files::{FileError, Follow, read_file};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Location, Parsed, SourceText, Span};
use pkgres_manifest::{
    ArtifactDigest, LOCK_FILE, MANIFEST_FILE, Package, PackageManifest, PackageName, PackagePath,
    ReadOptions, Release, Version, sha256,
};

use crate::vendored_archives::VendoredArchives;

/// Files at the top of a package folder that belong to the project, not to the package.
const OF_PROJECT: [&str; 3] = [LOCK_FILE, "pkgres.toml", IGNORE_FILE];

/// The file at the top of a package folder that says which files are not part of the package, in the syntax of
/// `.gitignore`.
pub(crate) const IGNORE_FILE: &str = ".pkgresignore";

/// The beginning of the names that pkgres reserves in packages, in lower case.
const RESERVED: &str = ".pkgres-";

/// The longest ignore file in bytes.
const MAX_IGNORE_FILE_BYTES: u64 = 64 * 1024;

/// What version control, file managers and editors leave in folders. An ignore file can take it in again.
const LEFTOVERS: [&str; 9] = [
    ".git",
    ".hg",
    ".svn",
    ".bzr",
    ".DS_Store",
    "Thumbs.db",
    "*~",
    ".*.swp",
    ".#*",
];

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
    pub reason: ExclusionReason,
}

/// Why a file is not part of a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ExclusionReason {
    /// It belongs to the project: the lockfile, the settings, the ignore file.
    OfProject,
    /// It is an archive that packing the folder made.
    Archive,
    /// The ignore file says so.
    Ignored,
    /// Version control, a file manager or an editor left it.
    Leftover,
    /// `pkgres vendor` wrote it.
    Vendored,
    /// pkgres needs it while it runs, and an interrupted run can leave it.
    OfPkgres,
}

impl ExclusionReason {
    /// The reason in words that continue "not packed: ".
    pub fn text(self) -> &'static str {
        match self {
            Self::OfProject => "project file",
            Self::Archive => "an archive of this package",
            Self::Ignored => "ignored by .pkgresignore",
            Self::Leftover => "left by version control or an editor",
            Self::Vendored => "written by `pkgres vendor`",
            Self::OfPkgres => "a file of pkgres itself",
        }
    }
}

/// The rules of an ignore file, and those that hold without one.
#[derive(Debug, Clone)]
pub(crate) struct IgnoreRules {
    of_file: Gitignore,
    leftovers: Gitignore,
    /// The ignore file, if there is one.
    source: Option<Arc<SourceText>>,
}

impl IgnoreRules {
    /// Reads the ignore file of a package folder.
    fn read(folder: &Path) -> Result<Self, FileError> {
        let file = inside(folder, IGNORE_FILE);
        let rejected = |error: ignore::Error| FileError::Rejected {
            path: file.clone(),
            reason: error.to_string(),
        };
        let mut of_file = GitignoreBuilder::new(folder);
        let mut source = None;
        match read_file(&file, MAX_IGNORE_FILE_BYTES, Follow::Nothing) {
            Ok(bytes) => {
                let text = String::from_utf8_lossy(&bytes);
                // Some editors begin files with a byte order mark. git skips it as well.
                let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
                for line in text.lines() {
                    let line = without_alternatives(line);
                    of_file.add_line(None, &line).map_err(rejected)?;
                }
                source = Some(SourceText::new(file.to_string_lossy(), text));
            }
            Err(error) if error.is_not_found() => {}
            Err(error) => return Err(error),
        }
        Ok(Self {
            of_file: of_file.build().map_err(rejected)?,
            source,
            ..Self::without_file()
        })
    }

    /// The rules that hold without an ignore file.
    pub(crate) fn without_file() -> Self {
        let mut leftovers = GitignoreBuilder::new("");
        for pattern in LEFTOVERS {
            let added = leftovers.add_line(None, pattern);
            added.expect("the pattern is valid");
        }
        Self {
            of_file: Gitignore::empty(),
            leftovers: leftovers.build().expect("the patterns are valid"),
            source: None,
        }
    }

    /// The place of the rule of the ignore file that excludes a file or folder.
    fn location_of(&self, relative: &str, is_folder: bool) -> Option<Location> {
        let source = self.source.as_ref()?;
        let matched = self.of_file.matched(relative, is_folder);
        let pattern = matched.inner()?.original();
        // The last of equal lines decides.
        let lines = source.text().split_inclusive('\n').scan(0, |end, line| {
            let start = *end;
            *end += line.len();
            Some((start, line))
        });
        let (start, _) = lines
            .filter(|(_, line)| line.trim_end() == pattern.trim_end())
            .last()?;
        let end = start + pattern.len();
        Some(Location::new(source, Span { start, end }))
    }

    /// Why a file or folder is not part of the package, if a rule says so.
    pub(crate) fn leave_out(&self, relative: &str, is_folder: bool) -> Option<ExclusionReason> {
        if OF_PROJECT.contains(&relative) {
            return Some(ExclusionReason::OfProject);
        }
        match self.of_file.matched(relative, is_folder) {
            Match::Ignore(_) => Some(ExclusionReason::Ignored),
            Match::Whitelist(_) => None,
            Match::None => {
                let is_leftover = self.leftovers.matched(relative, is_folder).is_ignore();
                is_leftover.then_some(ExclusionReason::Leftover)
            }
        }
    }
}

/// Why an entry of a package folder is not part of the package, if pkgres wrote it. `vendored` is of the folder that the
/// entry is in.
fn written_by_pkgres(
    path: &Path,
    name: &str,
    is_folder: bool,
    vendored: &VendoredArchives,
) -> Result<Option<ExclusionReason>, FileError> {
    if name.to_ascii_lowercase().starts_with(RESERVED) {
        return Ok(Some(ExclusionReason::OfPkgres));
    }
    let is_vendored = if is_folder {
        VendoredArchives::are_all_of(path)?
    } else {
        vendored.has(name)
    };
    Ok(is_vendored.then_some(ExclusionReason::Vendored))
}

/// The path of a file in a folder, which messages show: in the current folder, it is without `./`.
fn inside(folder: &Path, file: &str) -> PathBuf {
    if folder == Path::new(".") {
        PathBuf::from(file)
    } else {
        folder.join(file)
    }
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
    /// Lists the files of a package folder, and what is [excluded](Self::excluded): what the file
    /// `.pkgresignore` says, what version control and editors leave, vendored archives, the lockfile and
    /// the settings, and at the top archives that packing the folder [writes](Self::archive_name).
    ///
    /// # Errors
    ///
    /// The folder cannot be read, has a link or a name that an archive cannot hold, or exceeds a limit.
    pub fn open(path: &Path, options: &ReadOptions) -> Result<Self, FileError> {
        let mut files = Vec::new();
        let mut excluded = Vec::new();
        let mut archives = Vec::new();
        let rules = IgnoreRules::read(path)?;
        let mut total = 0_u64;
        let mut rest: Vec<(PathBuf, String)> = vec![(path.to_owned(), String::new())];
        while let Some((folder, prefix)) = rest.pop() {
            let read = |source| FileError::System {
                action: "cannot read",
                path: folder.clone(),
                source,
            };
            let vendored = VendoredArchives::of(&folder)?;
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
                let mut relative = format!("{prefix}{name}");
                let is_folder = entry.file_type().map_err(read)?.is_dir();
                let reason = written_by_pkgres(&entry.path(), name, is_folder, &vendored)?
                    .or_else(|| rules.leave_out(&relative, is_folder));
                if let Some(reason) = reason {
                    if is_folder {
                        relative.push('/');
                    }
                    let path = relative;
                    excluded.push(ExcludedFile { path, reason });
                    continue;
                }
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
            excluded.extend(archives.into_iter().map(|path| ExcludedFile {
                path,
                reason: ExclusionReason::Archive,
            }));
        }
        files.sort_by(|one, two| one.path.cmp(&two.path));
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
        let file = inside(path, MANIFEST_FILE);
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
    ) -> Result<bool, FileError> {
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
pub(crate) fn is_executable(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;

    metadata.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
pub(crate) fn is_executable(_: &fs::Metadata) -> bool {
    false
}

/// A line of an ignore file in which braces are plain characters, as they are for git. The library takes `{a,b}` for
/// alternatives.
fn without_alternatives(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut is_in_class = false;
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => {
                plain.push(character);
                plain.extend(characters.next());
                continue;
            }
            '[' => is_in_class = true,
            ']' => is_in_class = false,
            '{' | '}' if !is_in_class => plain.push('\\'),
            _ => {}
        }
        plain.push(character);
    }
    plain
}
