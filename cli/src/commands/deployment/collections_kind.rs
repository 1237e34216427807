//! The kind `collections`: a locked set of Ansible collections, installed as ansible-core finds them and kept as locked.
//!
//! It is here and not in the engine because it needs registries and the format of collections, which the engine does not
//! know.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pkgres_engine::{
    Change, Checked, Difference, Directory, EntryAttributes, EntryKind, FilesOfPackage, Identifier,
    Input, Kinds, Probe, Resource, ResourceError, Target, Watching, Wish,
};
use pkgres_formats::ansible::{
    COLLECTIONS_FOLDER, CollectionFiles, Collections, SOURCE_FILE, installed_version, source_text,
};
use pkgres_formats::{ECOSYSTEMS, Format as _};
use pkgres_manifest::{
    ArtifactDigest, Lockfile, PackageName, PackagePath, Properties, PropertyErrors, ReadOptions,
    RegistryName, Release, ReleaseSource, Version,
};
use pkgres_registry_client::{RegistrySet, WantedArtifact, collection_files};

use super::probe_tree::ProbeTree;
use crate::commands::install::servers;
use crate::context::Context;
use crate::failure::Result;
use crate::project::Project;

/// The modes of folders and programs, and of other files.
const MODES: [u32; 2] = [0o755, 0o644];

/// The most differences of a collection that are shown.
const SHOWN_DIFFERENCES: usize = 3;

/// The registries that locked collections come from.
pub(super) struct CollectionSource {
    registries: RegistrySet,
    /// The addresses of Galaxy servers, by the names of registries.
    servers: BTreeMap<String, String>,
    options: ReadOptions,
}

impl CollectionSource {
    /// Opens the registries of a project.
    pub(super) fn open(project: &Project, context: &Context) -> Result<Self> {
        let options = context
            .read_options
            .of_ecosystem(Collections.ecosystem().id());
        let registries = project.registries(context)?;
        Ok(Self {
            registries: context.registries.open(&registries, &options)?,
            servers: servers(project, context)?,
            options,
        })
    }

    /// The files of a release, once all of their digests were compared.
    fn fetch(
        &self,
        release: &LockedCollection,
    ) -> std::result::Result<CollectionFiles, ResourceError> {
        let LockedCollection { name, version, .. } = release;
        let wanted = WantedArtifact {
            package: name,
            version,
            digest: release.digest,
        };
        let mut found = None;
        self.registries
            .artifacts(&[(&release.registry, wanted)], &mut |_, received| {
                found = Some(received);
                ControlFlow::Break(())
            });
        let invalid = ResourceError::Invalid;
        let received = match found {
            Some(Ok(Some(received))) => received,
            Some(Err(error)) => return Err(invalid(error.to_string())),
            Some(Ok(None)) | None => {
                let message = format!("no registry has {name} {version} with the locked digest");
                return Err(invalid(message));
            }
        };
        let release = Release::new(name.clone(), version.clone());
        collection_files(&received.artifact, &release, &self.options).map_err(|errors| {
            let first = errors.into_iter().next();
            invalid(first.map_or_else(String::new, |error| error.message))
        })
    }
}

/// Returns the kinds with `collections`. `source` is there if resources have this kind.
pub(super) fn with_collections(kinds: Kinds, source: Option<CollectionSource>) -> Kinds {
    let source = source.map(Arc::new);
    kinds.with_files("collections", move |name, properties, files| {
        read(name, properties, files, source.as_ref())
    })
}

/// Returns the kinds with `collections`, to check resources without registries and without a machine.
pub(in crate::commands) fn with_unread_collections(kinds: Kinds) -> Kinds {
    kinds.with_files("collections", |name, properties, files| {
        let (root, _) = read_properties(name, properties, files)?;
        // It has the place and the order of the collections.
        Ok(Directory::new(root))
    })
}

/// The folder `ansible_collections`, and the name and the bytes of the lockfile.
fn read_properties(
    name: &str,
    properties: &mut Properties,
    files: FilesOfPackage<'_>,
) -> std::result::Result<(PathBuf, (String, Vec<u8>)), PropertyErrors> {
    let path = Path::new(name);
    let lockfile = properties.take_required_text("lockfile")?;
    if !path.is_absolute() {
        let message = "the name of collections must be the absolute path of a folder";
        return Err(properties.invalid("collections", message).into());
    }
    let bytes = files.read(properties, "lockfile", &lockfile)?;
    let is_root = path.file_name() == Some(COLLECTIONS_FOLDER.as_ref());
    let root = if is_root {
        path.to_owned()
    } else {
        path.join(COLLECTIONS_FOLDER)
    };
    Ok((root, (lockfile, bytes)))
}

fn read(
    name: &str,
    properties: &mut Properties,
    files: FilesOfPackage<'_>,
    source: Option<&Arc<CollectionSource>>,
) -> std::result::Result<InstalledCollections, PropertyErrors> {
    let (root, (lockfile, bytes)) = read_properties(name, properties, files)?;
    let invalid = |message: String| PropertyErrors::from(properties.invalid("lockfile", message));
    // It is opened for every resource of this kind.
    let source = source.ok_or_else(|| invalid("no registry was opened".to_owned()))?;
    let limits = &source.options.limits;
    let lock = Lockfile::read_of_ecosystems(&lockfile, &bytes, limits, ECOSYSTEMS);
    let (lock, _) = lock.into_result().map_err(|errors| {
        let first = errors.into_iter().next().map(|error| error.message);
        invalid(first.unwrap_or_default())
    })?;
    if lock.ecosystem != Collections.ecosystem() {
        return Err(invalid("it is no lockfile of collections".to_owned()));
    }
    let mut releases = Vec::with_capacity(lock.packages.len());
    for (Release { name, version }, locked) in lock.packages {
        match (locked.source, locked.digest) {
            (ReleaseSource::Host, None) => {}
            (ReleaseSource::Registry(registry), Some(digest)) => releases.push(LockedCollection {
                name,
                version,
                registry,
                digest,
            }),
            _ => {
                return Err(invalid(format!(
                    "{name} {version} has no digest to compare"
                )));
            }
        }
    }
    Ok(InstalledCollections {
        root,
        releases,
        source: Arc::clone(source),
    })
}

/// A locked release of a collection.
#[derive(Debug, Clone)]
struct LockedCollection {
    name: PackageName,
    version: Version,
    registry: RegistryName,
    digest: ArtifactDigest,
}

/// Collections that shall be installed below a folder as they are locked. Others there are left alone.
#[derive(Clone)]
struct InstalledCollections {
    /// The folder `ansible_collections`.
    root: PathBuf,
    releases: Vec<LockedCollection>,
    source: Arc<CollectionSource>,
}

impl InstalledCollections {
    fn path_of(&self, release: &LockedCollection) -> PathBuf {
        let mut path = self.root.clone();
        path.extend(release.name.as_str().split('.'));
        path
    }

    fn source_folder(&self, release: &LockedCollection) -> PathBuf {
        let (name, version) = (&release.name, &release.version);
        self.root.join(format!("{name}-{version}.info"))
    }

    /// How an installed collection differs from its release.
    fn difference(
        &self,
        release: &LockedCollection,
        probe: &dyn Probe,
    ) -> std::result::Result<Option<Difference>, ResourceError> {
        let path = self.path_of(release);
        let wanted = release.version.to_string();
        let different = |is: Option<String>| {
            let property = release.name.to_string();
            Ok(Some(Difference::new(property, is, Some(wanted.clone()))))
        };
        match probe.entry(&path)?.map(|entry| entry.kind) {
            None => return different(None),
            Some(EntryKind::Folder) => {}
            Some(_) => return different(Some("no folder".to_owned())),
        }
        let tree = ProbeTree::new(probe, &path);
        let options = &self.source.options;
        let version = installed_version(&tree, options);
        if version.as_ref() != Some(&release.version) {
            let version = version.map_or_else(|| "(unknown)".to_owned(), |it| it.to_string());
            return different(Some(version));
        }
        let files = self.source.fetch(release)?;
        let differences = files.differences(&tree, options);
        let differences = differences.map_err(|finding| ResourceError::Invalid(finding.message))?;
        if !differences.is_empty() {
            let mut shown: Vec<String> = differences
                .iter()
                .take(SHOWN_DIFFERENCES)
                .map(ToString::to_string)
                .collect();
            if differences.len() > SHOWN_DIFFERENCES {
                shown.push(format!("{} more", differences.len() - SHOWN_DIFFERENCES));
            }
            return different(Some(format!("{wanted}, {}", shown.join(", "))));
        }
        let about = self.source_folder(release).join(SOURCE_FILE);
        Ok(match probe.entry(&about)? {
            Some(_) => None,
            None => different(Some(format!("{wanted}, without {SOURCE_FILE}")))?,
        })
    }

    /// Installs a release. At any time the collection is there with all of its files, or for a moment not at all.
    fn install(
        &self,
        release: &LockedCollection,
        target: &dyn Target,
    ) -> std::result::Result<(), ResourceError> {
        let files = self.source.fetch(release)?;
        let path = self.path_of(release);
        let around = path.parent().unwrap_or(&self.root);
        make_folders(around, target)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        // What a crash left behind has the same name, and goes.
        let new = around.join(format!(".{name}.pkgres"));
        target.remove(&new)?;
        make_folders(&new, target)?;
        let is_own = |path: &str| !files.is_linked(path);
        let own_files = files.files().filter(|file| is_own(file.path.as_str()));
        let own_files: Vec<_> = own_files.collect();
        let own_folders = files.folders().filter(|folder| is_own(folder.as_str()));
        let of_files = own_files.iter().flat_map(|file| folders_around(&file.path));
        let of_links = files.links().flat_map(|link| folders_around(&link.path));
        let listed = own_folders.flat_map(|folder| Path::new(folder.as_str()).ancestors());
        let folders: BTreeSet<&Path> = of_files
            .chain(of_links)
            .chain(listed)
            .filter(|folder| *folder != Path::new(""))
            .collect();
        for folder in folders {
            let attributes = EntryAttributes::with_mode(MODES[0]);
            target.make_folder(&new.join(folder), attributes)?;
        }
        for file in own_files {
            let attributes = EntryAttributes::with_mode(MODES[usize::from(!file.is_executable)]);
            target.write_file(&new.join(file.path.as_str()), &file.bytes, attributes)?;
        }
        // Last, so that nothing is written through them.
        for link in files.links() {
            target.make_link(&new.join(link.path.as_str()), Path::new(&link.target))?;
        }
        target.remove(&path)?;
        target.rename(&new, &path)?;
        self.write_source(release, target)
    }

    /// Writes the file about the source of a collection, and removes those of other versions.
    fn write_source(
        &self,
        release: &LockedCollection,
        target: &dyn Target,
    ) -> std::result::Result<(), ResourceError> {
        let folder = self.source_folder(release);
        let prefix = format!("{}-", release.name);
        for name in target.names(&self.root)? {
            let path = self.root.join(&name);
            let name = name.to_string_lossy();
            if name.starts_with(&prefix) && name.ends_with(".info") && path != folder {
                target.remove(&path)?;
            }
        }
        make_folders(&folder, target)?;
        let server = self.source.servers.get(release.registry.as_str());
        let server = server.map(String::as_str);
        let text = source_text(&release.name, &release.version, server);
        let attributes = EntryAttributes::with_mode(MODES[1]);
        Ok(target.write_file(&folder.join(SOURCE_FILE), text.as_bytes(), attributes)?)
    }
}

/// The folders in a collection that a path is in, and the collection itself.
fn folders_around(path: &PackagePath) -> impl Iterator<Item = &Path> {
    Path::new(path.as_str()).ancestors().skip(1)
}

/// Makes a folder, and those around it that are missing.
fn make_folders(folder: &Path, target: &dyn Target) -> std::result::Result<(), ResourceError> {
    let mut missing = Vec::new();
    for folder in folder.ancestors() {
        if target.entry(folder)?.is_some() {
            break;
        }
        missing.push(folder);
    }
    for folder in missing.into_iter().rev() {
        target.make_folder(folder, EntryAttributes::with_mode(MODES[0]))?;
    }
    Ok(())
}

impl Resource for InstalledCollections {
    fn definition(&self) -> String {
        format!("{:?}", (&self.root, &self.releases))
    }

    fn check(&self, probe: &dyn Probe, _: &Input) -> std::result::Result<Checked, ResourceError> {
        let mut outdated = Vec::new();
        let mut differences = Vec::new();
        for release in &self.releases {
            if let Some(difference) = self.difference(release, probe)? {
                outdated.push(release.clone());
                differences.push(difference);
            }
        }
        if differences.is_empty() {
            return Ok(Checked::in_order());
        }
        Ok(Checked::drift(Installation {
            collections: self.clone(),
            outdated,
            differences,
        }))
    }

    fn watching(&self, probe: &dyn Probe) -> Watching {
        let mut watched = vec![self.root.clone()];
        let mut is_whole = true;
        for release in &self.releases {
            let path = self.path_of(release);
            watched.extend(path.parent().map(Path::to_owned));
            let tree = ProbeTree::new(probe, &path);
            if let Ok(folders) = tree.folders() {
                watched.extend(folders);
            } else {
                // Its folders are not known yet.
                watched.push(path);
                is_whole = false;
            }
        }
        if is_whole {
            Watching::Paths(watched)
        } else {
            Watching::UntilInOrder(watched)
        }
    }

    fn identifiers(&self) -> Vec<Identifier> {
        vec![Identifier::path(&self.root)]
    }

    fn wishes(&self) -> Vec<Wish> {
        vec![Wish::nearest_folder(&self.root)]
    }
}

struct Installation {
    collections: InstalledCollections,
    outdated: Vec<LockedCollection>,
    differences: Vec<Difference>,
}

impl Change for Installation {
    fn differences(&self) -> Vec<Difference> {
        self.differences.clone()
    }

    fn apply(self: Box<Self>, target: &dyn Target) -> std::result::Result<(), ResourceError> {
        let mut outdated = self.outdated.iter();
        outdated.try_for_each(|release| self.collections.install(release, target))
    }
}
