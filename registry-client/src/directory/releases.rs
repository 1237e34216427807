//! The releases of other ecosystems in a folder.
//!
//! Their [`Format`]s recognize the files and read them at once, because names and versions are in the files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use pkgres_files::{FileError, FileSystem as _, Follow, RealFileSystem, read_file, read_head};
use pkgres_formats::{Format, FormatFile, HEAD_BYTES, ReleaseExtent, unread_parts};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{
    ArtifactDigest, CLASS_PACKAGES, IndexRecord, PackageName, ReadOptions, Release, Version,
};

use super::shown;
use crate::folder_tree::FolderTree;

/// The formats of other ecosystems than that of class packages whose releases are looked for.
fn formats(options: &ReadOptions) -> impl Iterator<Item = &'static dyn Format> {
    let formats = pkgres_formats::ALL.iter().copied();
    formats.filter(|format| {
        format.ecosystem() != CLASS_PACKAGES && options.looks_for(format.ecosystem().id())
    })
}

/// Whether a format has releases in files of a name, or files of it say that their folder is a release.
pub(super) fn is_release_name(name: &str, options: &ReadOptions) -> bool {
    formats(options).any(|format| format.is_release_name(name))
}

/// A file that belongs to a release.
#[derive(Debug, Clone)]
pub(super) struct ReleaseFile {
    path: PathBuf,
    format: &'static dyn Format,
    pub(super) extent: ReleaseExtent,
}

/// A release that was read.
#[derive(Debug, Clone)]
struct FoundRelease {
    record: IndexRecord,
    file: ReleaseFile,
}

/// The releases in a folder.
#[derive(Debug, Default)]
pub(super) struct Releases {
    found: BTreeMap<PackageName, Vec<FoundRelease>>,
    /// Other forms of releases that were found: the folder in which an artifact is installed.
    other_forms: Vec<FoundRelease>,
    /// Releases with several contents, which are no candidates unless one of the contents is locked.
    ambiguous: Vec<AmbiguousRelease>,
}

/// A release with several contents.
#[derive(Debug)]
struct AmbiguousRelease {
    contents: Vec<FoundRelease>,
    warning: Diagnostic,
}

/// A release that was found by its digest.
#[derive(Debug)]
pub(super) struct LockedRelease {
    pub(super) record: IndexRecord,
    /// If the release has several contents: the warning that it is not used, and the one that replaces it.
    pub(super) warnings: Option<(Diagnostic, Diagnostic)>,
}

impl ReleaseFile {
    /// Recognizes a file; `None` if it belongs to no release.
    pub(super) fn recognize(path: &Path, options: &ReadOptions) -> Option<Self> {
        Self::recognize_link(path, path, options)
    }

    /// Recognizes the file that a link leads to by the name of the link.
    pub(super) fn recognize_link(
        path: &Path,
        target: &Path,
        options: &ReadOptions,
    ) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        let mut beginning = None;
        formats(options).find_map(|format| {
            if !format.is_release_name(name) {
                return None;
            }
            let beginning = beginning.get_or_insert_with(|| {
                // What cannot be read is reported when the release is read.
                read_head(target, HEAD_BYTES, Follow::Nothing).unwrap_or_default()
            });
            let shown = shown(path);
            let file = FormatFile {
                path: &shown,
                bytes: beginning,
            };
            let extent = format.release_extent(&file)?;
            Some(Self {
                path: path.to_owned(),
                format,
                extent,
            })
        })
    }

    /// Recognizes a file by its name that is left out, because it is a part or another form of a release; `None` for
    /// others.
    pub(super) fn recognize_piece(path: &Path, options: &ReadOptions) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        let format = formats(options).find(|format| format.is_piece_name(name))?;
        Some(Self {
            path: path.to_owned(),
            format,
            extent: ReleaseExtent::File,
        })
    }

    /// The path of the file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The path of the release: the file, or its folder.
    fn release_path(&self) -> &Path {
        match self.extent {
            ReleaseExtent::File => &self.path,
            ReleaseExtent::Folder => self.path.parent().unwrap_or(Path::new(".")),
        }
    }

    /// The names of its packages as they are written, if the releases cannot be read.
    pub(super) fn written_names(&self, options: &ReadOptions) -> Vec<String> {
        let limit = match self.extent {
            ReleaseExtent::Folder => options.limits.manifest_bytes,
            ReleaseExtent::File => options.limits.archive_bytes,
        };
        let bytes = read_file(&self.path, limit, Follow::Nothing);
        let file = FormatFile {
            path: &shown(&self.path),
            bytes: &bytes.unwrap_or_default(),
        };
        self.format.written_names(&file, options)
    }

    /// Reads the records of the releases, with their digests.
    fn read(
        &self,
        options: &ReadOptions,
    ) -> Result<(Vec<IndexRecord>, Vec<Diagnostic>), Vec<Diagnostic>> {
        let bytes = read_file(&self.path, options.limits.archive_bytes, Follow::Nothing)
            .map_err(|error| vec![error.to_diagnostic()])?;
        let path = shown(&self.path);
        let file = FormatFile {
            path: &path,
            bytes: &bytes,
        };
        let tree = FolderTree::new(self.path.parent().unwrap_or(Path::new(".")));
        let read = match self.extent {
            ReleaseExtent::File => self.format.read_releases(&file, &(), options),
            ReleaseExtent::Folder => self.format.read_releases(&file, &tree, options),
        };
        let (releases, findings) = read.into_result()?;
        let unread = unread_parts(findings);
        let with_digest = releases.into_iter().map(|release| IndexRecord {
            digest: Some(release.digest),
            size: (self.extent == ReleaseExtent::File).then_some(bytes.len() as u64),
            ..release.record
        });
        Ok((with_digest.collect(), unread))
    }
}

/// The releases of the folder of a release.
///
/// # Errors
///
/// No file of the folder says which release it is, or the release cannot be read.
pub(crate) fn releases_of_folder(
    folder: &Path,
    options: &ReadOptions,
) -> Result<Vec<Release>, Vec<Diagnostic>> {
    let failed = |source| FileError::System {
        action: "cannot read",
        path: folder.to_owned(),
        source,
    };
    let mut names = RealFileSystem
        .names(folder)
        .map_err(|error| vec![failed(error).to_diagnostic()])?;
    names.sort();
    let mut files = names
        .iter()
        .filter_map(|name| ReleaseFile::recognize(&folder.join(name), options));
    let Some(file) = files.find(|file| file.extent == ReleaseExtent::Folder) else {
        return Ok(Vec::new());
    };
    let (records, _) = file.read(options)?;
    Ok(records.iter().map(IndexRecord::release).collect())
}

impl Releases {
    /// Reads the releases of a file. Returns how many it has, and warnings about what of them cannot be read.
    pub(super) fn add(
        &mut self,
        file: &ReleaseFile,
        options: &ReadOptions,
    ) -> Result<(usize, Vec<Diagnostic>), Vec<Diagnostic>> {
        let (records, unread) = file.read(options)?;
        let count = records.len();
        for record in records {
            let releases = self.found.entry(record.name.clone()).or_default();
            releases.push(FoundRelease {
                record,
                file: file.clone(),
            });
        }
        Ok((count, unread))
    }

    /// Sorts the releases of each package by version. Releases with several contents are set aside; the result has a
    /// warning for each.
    pub(super) fn settle(&mut self, options: &ReadOptions) -> Vec<Diagnostic> {
        let mut warnings = Vec::new();
        for releases in self.found.values_mut() {
            releases.sort_by(|one, two| {
                let by_version = one.record.version.cmp(&two.record.version);
                by_version.then_with(|| one.file.path.cmp(&two.file.path))
            });
            let mut settled: Vec<FoundRelease> = Vec::with_capacity(releases.len());
            let same_version =
                |one: &FoundRelease, two: &FoundRelease| one.record.version == two.record.version;
            for group in releases.chunk_by(same_version) {
                if let Some(other) = other_content(group, options) {
                    let warning = two_contents(&group[0], other);
                    warnings.push(warning.clone());
                    self.ambiguous.push(AmbiguousRelease {
                        contents: group.to_vec(),
                        warning,
                    });
                    continue;
                }
                // The digest of an artifact is also that of other registries.
                let artifact = (group.iter())
                    .position(|one| one.file.extent == ReleaseExtent::File)
                    .unwrap_or_default();
                settled.push(group[artifact].clone());
                let digest = group[artifact].record.digest;
                let others = group.iter().filter(|one| one.record.digest != digest);
                self.other_forms.extend(others.cloned());
            }
            *releases = settled;
        }
        warnings
    }

    /// The release with one of some digests, among those of any content and form.
    pub(super) fn locked(
        &self,
        name: &PackageName,
        version: &Version,
        digests: &BTreeSet<ArtifactDigest>,
    ) -> Option<LockedRelease> {
        let is_locked = |one: &&FoundRelease| {
            let digest = one.record.digest;
            one.record.version == *version
                && one.record.name == *name
                && digest.is_some_and(|digest| digests.contains(&digest))
        };
        let found = self.found.get(name).into_iter().flatten();
        if let Some(found) = found.chain(&self.other_forms).find(is_locked) {
            return Some(LockedRelease {
                record: found.record.clone(),
                warnings: None,
            });
        }
        let (used, warnings) = self.locked_content(is_locked)?;
        Some(LockedRelease {
            record: used.record.clone(),
            warnings: Some(warnings),
        })
    }

    /// If the artifact with a digest is one of several contents of a release: the warning that the release is not used,
    /// and the one that replaces it.
    pub(super) fn warnings_about(
        &self,
        digest: &ArtifactDigest,
    ) -> Option<(Diagnostic, Diagnostic)> {
        let is_meant = |one: &&FoundRelease| one.record.digest.as_ref() == Some(digest);
        self.locked_content(is_meant).map(|(_, warnings)| warnings)
    }

    /// The content that is locked, among those of releases with several contents, and the two warnings about it.
    fn locked_content(
        &self,
        is_locked: impl Fn(&&FoundRelease) -> bool,
    ) -> Option<(&FoundRelease, (Diagnostic, Diagnostic))> {
        self.ambiguous.iter().find_map(|ambiguous| {
            let used = ambiguous.contents.iter().find(&is_locked)?;
            let mut others = ambiguous.contents.iter();
            let other = others.find(|other| other.record.digest != used.record.digest)?;
            Some((used, (ambiguous.warning.clone(), is_used(used, other))))
        })
    }

    /// The records of a package, ascending by version.
    pub(super) fn records(&self, name: &PackageName) -> Option<Vec<IndexRecord>> {
        let releases = self.found.get(name)?;
        Some(releases.iter().map(|one| one.record.clone()).collect())
    }

    /// For each release of a package with several contents, a sentence that says so.
    pub(super) fn ambiguous_releases(&self, name: &PackageName) -> impl Iterator<Item = String> {
        let ambiguous = self.ambiguous.iter();
        let of_package = ambiguous.filter(|one| {
            let mut contents = one.contents.iter();
            contents.any(|content| content.record.name == *name)
        });
        of_package.map(|one| one.warning.message.clone())
    }

    /// The names of all packages, sorted.
    pub(super) fn names(&self) -> impl Iterator<Item = &PackageName> {
        self.found.keys()
    }

    /// The records of all releases, package by package.
    pub(super) fn all(&self) -> impl Iterator<Item = &IndexRecord> {
        self.found.values().flatten().map(|one| &one.record)
    }

    /// The path of the release with a digest, and whether the release is a file.
    pub(super) fn path_of(&self, digest: &ArtifactDigest) -> Option<(&Path, ReleaseExtent)> {
        let ambiguous = self.ambiguous.iter().flat_map(|one| &one.contents);
        let releases = self.found.values().flatten();
        let releases = releases.chain(&self.other_forms).chain(ambiguous);
        let mut releases = releases.filter(|one| one.record.digest.as_ref() == Some(digest));
        releases
            .next()
            .map(|one| (one.file.release_path(), one.file.extent))
    }
}

impl FoundRelease {
    /// The digest of its content as a folder; `None` if it has no such form.
    fn folder_digest(&self, options: &ReadOptions) -> Option<ArtifactDigest> {
        match self.file.extent {
            ReleaseExtent::Folder => self.record.digest,
            ReleaseExtent::File => {
                let limit = options.limits.archive_bytes;
                let bytes = read_file(&self.file.path, limit, Follow::Nothing).ok()?;
                self.file.format.folder_digest(&bytes, options)
            }
        }
    }

    /// Its path in messages.
    fn place(&self) -> String {
        let path = shown(self.file.release_path());
        Escaped::new(&path).to_string()
    }
}

/// The first release of one version whose content differs from that of the first one.
fn other_content<'found>(
    group: &'found [FoundRelease],
    options: &ReadOptions,
) -> Option<&'found FoundRelease> {
    let first = group.first()?;
    let mut others = group[1..].iter();
    let mut folder_digest = None;
    others.find(|other| {
        if other.record.digest == first.record.digest {
            return false;
        }
        let expected = *folder_digest.get_or_insert_with(|| first.folder_digest(options));
        expected.is_none() || expected != other.folder_digest(options)
    })
}

/// The warning about a release with two contents.
fn two_contents(first: &FoundRelease, second: &FoundRelease) -> Diagnostic {
    let FoundRelease { record, .. } = first;
    let (name, version) = (&record.name, &record.version);
    let (first, second) = (first.place(), second.place());
    let message =
        format!("{name} {version} has two contents, so it is not used: {first} and {second}");
    Diagnostic::warning(Code::DuplicateRelease, message)
        .hint("remove the one that is not the release")
}

/// The warning about a release with two contents of which one is locked.
fn is_used(used: &FoundRelease, other: &FoundRelease) -> Diagnostic {
    let FoundRelease { record, .. } = used;
    let (name, version) = (&record.name, &record.version);
    let (used, other) = (used.place(), other.place());
    let message = format!(
        "{name} {version} has two contents: {used} has the locked digest and is used, {other} is not"
    );
    Diagnostic::warning(Code::DuplicateRelease, message)
        .hint("remove the one that is not the release")
}
