//! The kind `artifact`: the archive of a locked release, unpacked on the machine.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pkgres_files::{EntryAttributes, EntryKind};
use pkgres_manifest::{
    Archive, ArtifactDigest, Limits, PackageName, PackagePath, Release, Version, sha256,
};

use crate::resource::{
    Change, Checked, Definition, Difference, Identifier, Input, Resource, ResourceError, Watching,
    Wish,
};
use crate::store::STORE;
use crate::target::{Probe, Target, TargetError, has_content, make_data_folder};

/// The archive as it was published.
const ARCHIVE: &str = "archive.zip";
/// The folder with its files.
const FILES: &str = "files";

/// The mode of folders.
const FOLDER_MODE: u32 = 0o755;

/// The mode of files that are no programs.
const FILE_MODE: u32 = 0o644;

fn mode_of(is_executable: bool) -> u32 {
    if is_executable { 0o755 } else { FILE_MODE }
}

/// A source of artifacts, such as a registry.
pub trait ArtifactSource: Send + Sync {
    /// Returns the bytes of the artifact with a digest, or says why there are none. They are compared with the digest
    /// afterwards, so the source need not be trusted.
    fn fetch(&self, digest: &ArtifactDigest) -> Result<Vec<u8>, String>;
}

/// An archive of a locked release that is kept on the machine: the archive as `archive.zip`, and its unpacked files in
/// `files`, both in a folder of the store that is named after the digest.
///
/// Nothing is unpacked until the digest of all bytes was compared and the whole archive was checked. The folder
/// appears at once, with all files. A check compares each file with the archive on the machine, and fetches the
/// archive again only if that is damaged, too.
#[derive(Clone)]
pub struct Artifact {
    name: PackageName,
    version: Version,
    digest: ArtifactDigest,
    required: Vec<Release>,
    limits: Limits,
    source: Arc<dyn ArtifactSource>,
}

impl fmt::Debug for Artifact {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Artifact")
            .field("name", &self.name)
            .field("version", &self.version)
            .field("digest", &self.digest)
            .field("required", &self.required)
            .finish_non_exhaustive()
    }
}

impl Artifact {
    /// The artifact of a release with this digest.
    pub fn new(
        name: PackageName,
        version: Version,
        digest: ArtifactDigest,
        source: Arc<dyn ArtifactSource>,
    ) -> Self {
        Self {
            name,
            version,
            digest,
            required: Vec::new(),
            limits: Limits::default(),
            source,
        }
    }

    /// Adds releases that the release requires, whose artifacts go first.
    #[must_use]
    pub fn with_required(mut self, releases: impl IntoIterator<Item = Release>) -> Self {
        self.required.extend(releases);
        self
    }

    /// Sets the limits for the archive.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The folder on the machine that has the files of the release.
    pub fn files_path(&self) -> PathBuf {
        self.folder().join(FILES)
    }

    fn folder(&self) -> PathBuf {
        Path::new(STORE).join(self.digest_text())
    }

    /// The digest without the name of its algorithm, which is the name of its folder in the store.
    pub(crate) fn digest_text(&self) -> String {
        let digest = self.digest.to_string();
        let text = digest.rsplit(':').next().unwrap_or_default();
        text.to_owned()
    }

    /// The archive from the source.
    fn fetch(&self) -> Result<Archive, ResourceError> {
        let bytes = self.source.fetch(&self.digest).map_err(|reason| {
            let (name, version) = (&self.name, &self.version);
            let message = format!("cannot get the artifact of {name} {version}: {reason}");
            ResourceError::Invalid(message)
        })?;
        self.open(bytes)
    }

    /// The archive of these bytes, if they have the digest and keep all rules.
    fn open(&self, bytes: Vec<u8>) -> Result<Archive, ResourceError> {
        let name = format!("{}-{}.zip", self.name, self.version);
        let open = |bytes| {
            Archive::open(&name, bytes, &self.limits)
                .map_err(|error| ResourceError::Invalid(error.to_string()))
        };
        match self.digest {
            ArtifactDigest::Archive(_) => {
                self.compare(ArtifactDigest::of_archive(&bytes))?;
                open(bytes)
            }
            // A release of a folder: the digest is that of its files, whatever the bytes of the archive are.
            ArtifactDigest::Tree(_) => {
                let archive = open(bytes)?;
                self.compare(tree_digest(&archive))?;
                Ok(archive)
            }
        }
    }

    /// Fails unless this is the digest of the release.
    fn compare(&self, is: ArtifactDigest) -> Result<(), ResourceError> {
        if is == self.digest {
            return Ok(());
        }
        Err(ResourceError::Invalid(format!(
            "the artifact of {} {} has the digest {is} instead of {}: it is not unpacked",
            self.name, self.version, self.digest
        )))
    }

    /// The archive on the machine; `None` if there is none, or a damaged one.
    fn stored(&self, probe: &dyn Probe) -> Result<Option<Archive>, ResourceError> {
        let path = self.folder().join(ARCHIVE);
        let kind = probe.entry(&path)?.map(|entry| entry.kind);
        if kind != Some(EntryKind::File) {
            return Ok(None);
        }
        match probe.read(&path, self.limits.archive_bytes) {
            Ok(bytes) => Ok(self.open(bytes).ok()),
            Err(TargetError::File(error)) if error.is_too_large() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The first difference between the files on the machine and those of the archive.
    fn first_difference(
        &self,
        archive: &Archive,
        probe: &dyn Probe,
    ) -> Result<Option<String>, ResourceError> {
        let root = self.files_path();
        let mut expected: BTreeMap<PathBuf, Option<&PackagePath>> = folders(&root, archive)
            .into_iter()
            .map(|folder| (folder, None))
            .collect();
        for file in archive.files() {
            expected.insert(root.join(file.path.as_str()), Some(&file.path));
        }
        for (path, file) in &expected {
            if !is_as_expected(path, *file, archive, probe)? {
                return Ok(Some(path.display().to_string()));
            }
            if file.is_none() {
                for name in probe.names(path)? {
                    let inside = path.join(name);
                    if !expected.contains_key(&inside) {
                        return Ok(Some(inside.display().to_string()));
                    }
                }
            }
        }
        Ok(None)
    }
}

/// The digest of the files of an archive.
fn tree_digest(archive: &Archive) -> ArtifactDigest {
    let digests = archive.files().map(|file| {
        let bytes = archive.read(&file.path).unwrap_or_default();
        (&file.path, sha256(&bytes))
    });
    ArtifactDigest::of_tree(digests)
}

/// The folder for the files of an archive, and all folders in it, each after the one around it.
fn folders(root: &Path, archive: &Archive) -> Vec<PathBuf> {
    let mut folders = vec![root.to_owned()];
    for file in archive.files() {
        let path = root.join(file.path.as_str());
        let around = path.ancestors().skip(1);
        folders.extend(
            around
                .take_while(|folder| *folder != root)
                .map(Path::to_owned),
        );
    }
    folders.sort();
    folders.dedup();
    folders
}

/// Whether a folder, or a file of an archive, is on the machine as it was unpacked.
fn is_as_expected(
    path: &Path,
    file: Option<&PackagePath>,
    archive: &Archive,
    probe: &dyn Probe,
) -> Result<bool, ResourceError> {
    let Some(entry) = probe.entry(path)? else {
        return Ok(false);
    };
    let Some(file) = file.and_then(|file| archive.file(file)) else {
        return Ok(entry.kind == EntryKind::Folder && entry.mode == FOLDER_MODE);
    };
    let mode = mode_of(file.executable);
    if entry.kind != EntryKind::File || entry.mode != mode || entry.size != file.size {
        return Ok(false);
    }
    match archive.read(&file.path) {
        Some(bytes) => Ok(has_content(probe, path, entry.size, &bytes)?),
        None => Ok(false),
    }
}

impl Resource for Artifact {
    fn definition(&self) -> String {
        let Self {
            name,
            version,
            digest,
            required,
            // They decide how it is fetched and read.
            limits: _,
            source: _,
        } = self;
        Definition::new("artifact")
            .with("name", name.as_str())
            .with("version", version.to_string())
            .with("digest", digest.to_string())
            .with(
                "required",
                required.iter().map(ToString::to_string).collect::<Vec<_>>(),
            )
            .into_text()
    }

    fn check(&self, probe: &dyn Probe, _: &Input) -> Result<Checked, ResourceError> {
        let folder = self.folder();
        let stored = self.stored(probe)?;
        let damaged = match &stored {
            Some(archive) => match self.first_difference(archive, probe)? {
                None => return Ok(Checked::in_order()),
                Some(path) => Some(format!("{path} differs")),
            },
            None if probe.entry(&folder)?.is_some() => {
                Some(format!("{} differs", folder.join(ARCHIVE).display()))
            }
            None => None,
        };
        let wanted = format!("{} {}, {}", self.name, self.version, self.digest);
        Ok(Checked::drift(Unpack {
            artifact: self.clone(),
            stored,
            difference: Difference::new("artifact", damaged, Some(wanted)),
        }))
    }

    fn watching(&self, probe: &dyn Probe) -> Watching {
        let Ok(Some(archive)) = self.stored(probe) else {
            // Its folders are not known.
            return Watching::UntilInOrder(vec![self.folder()]);
        };
        let mut paths = vec![self.folder(), self.folder().join(ARCHIVE)];
        paths.extend(folders(&self.files_path(), &archive));
        Watching::Paths(paths)
    }

    fn identifiers(&self) -> Vec<Identifier> {
        vec![
            release(&self.name, &self.version),
            Identifier::path(self.folder()),
        ]
    }

    fn wishes(&self) -> Vec<Wish> {
        let required = self.required.iter();
        let mut wishes: Vec<_> = required
            .map(|Release { name, version }| Wish::after(release(name, version)))
            .collect();
        wishes.push(Wish::nearest_folder(&self.folder()));
        wishes
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}

/// The identifier of the artifact of a release.
fn release(name: &PackageName, version: &Version) -> Identifier {
    Identifier::Other("artifact".to_owned(), format!("{name}@{version}"))
}

struct Unpack {
    artifact: Artifact,
    /// The archive, if it is on the machine already.
    stored: Option<Archive>,
    difference: Difference,
}

impl Change for Unpack {
    fn differences(&self) -> Vec<Difference> {
        vec![self.difference.clone()]
    }

    fn apply(self: Box<Self>, target: &dyn Target) -> Result<(), ResourceError> {
        let artifact = &self.artifact;
        let archive = match self.stored {
            Some(archive) => archive,
            None => artifact.fetch()?,
        };
        make_data_folder(target, Path::new(STORE), FOLDER_MODE)?;
        let attributes = EntryAttributes::with_mode(FOLDER_MODE);
        // What a crash left behind has the same name, and goes.
        let unpacked = Path::new(STORE).join(format!(".{}", artifact.digest_text()));
        target.remove(&unpacked)?;
        target.make_folder(&unpacked, attributes)?;
        let root = unpacked.join(FILES);
        for folder in folders(&root, &archive) {
            target.make_folder(&folder, attributes)?;
        }
        for file in archive.files() {
            let mode = mode_of(file.executable);
            let bytes = archive.read(&file.path).unwrap_or_default();
            let path = root.join(file.path.as_str());
            target.write_file(&path, &bytes, EntryAttributes::with_mode(mode))?;
        }
        let attributes = EntryAttributes::with_mode(FILE_MODE);
        target.write_file(&unpacked.join(ARCHIVE), archive.bytes(), attributes)?;
        // A folder that is there is damaged.
        let folder = artifact.folder();
        target.remove(&folder)?;
        Ok(target.rename(&unpacked, &folder)?)
    }
}
