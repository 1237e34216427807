//! Folders in which collections are installed, as ansible-core finds them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use pkgres_files::{
    Access, FileError, FileSystem as _, Follow, NewTreeFile, NewTreeLink, PreparedTree,
    RealFileSystem, make_folder, prepare_tree, read_file, remove_empty_folder, replace_tree,
};
use pkgres_formats::ansible::{
    COLLECTION_MANIFEST, COLLECTIONS_FOLDER, CollectionFiles, Difference, SOURCE_FILE,
    installed_version, is_collection_name, source_text,
};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{PackageName, PackagePath, ReadOptions, Release, Version};

use crate::artifact::Artifact;
use crate::folder_tree::FolderTree;

/// The largest file about the source of a collection, in bytes.
const MAX_SOURCE_BYTES: u64 = 1 << 20;

/// A folder in which collections are installed: each in `ansible_collections/NAMESPACE/NAME`, with the file
/// `ansible_collections/NAMESPACE.NAME-VERSION.info/GALAXY.yml` about its source.
#[derive(Debug, Clone)]
pub struct Installation {
    root: PathBuf,
}

/// An installed collection, compared with a release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InstalledState {
    /// It is the release.
    Same,
    /// It is not installed.
    Absent,
    /// It is another version; `None` if it does not say which one.
    OtherVersion(Option<Version>),
    /// It is that version, with other files.
    Different(Vec<Difference>),
}

/// A release that is ready to be installed, beside the place where it will be.
pub struct PreparedCollection {
    before: InstalledState,
    /// Its files; `None` if it is installed already.
    tree: Option<PreparedTree<'static, RealFileSystem>>,
}

impl PreparedCollection {
    /// Installs the release; returns what was installed before. At any time, the collection is there with all of its
    /// files or, for a moment, not at all.
    pub fn commit(self) -> Result<InstalledState, FileError> {
        if let Some(tree) = self.tree {
            tree.commit()?;
        }
        Ok(self.before)
    }
}

impl Installation {
    /// The collections below a folder, which need not exist. As for `ansible-galaxy`, a path that ends with
    /// `ansible_collections` means its parent folder.
    pub fn new(folder: &Path) -> Self {
        let is_root = folder.file_name() == Some(COLLECTIONS_FOLDER.as_ref());
        Self {
            root: if is_root {
                folder.to_owned()
            } else {
                folder.join(COLLECTIONS_FOLDER)
            },
        }
    }

    /// The folder `ansible_collections`.
    pub fn path(&self) -> &Path {
        &self.root
    }

    /// The folder of a collection.
    pub fn collection_path(&self, name: &PackageName) -> PathBuf {
        let mut path = self.root.clone();
        path.extend(name.as_str().split('.'));
        path
    }

    /// Compares which version of a collection is installed with one. Its files are not compared.
    pub fn state_of_version(
        &self,
        name: &PackageName,
        version: &Version,
        options: &ReadOptions,
    ) -> InstalledState {
        let path = self.collection_path(name);
        if !path.is_dir() {
            return InstalledState::Absent;
        }
        let installed = installed_version(&FolderTree::new(&path), options);
        if installed.as_ref() == Some(version) {
            InstalledState::Same
        } else {
            InstalledState::OtherVersion(installed)
        }
    }

    /// Compares what is installed with a release.
    pub fn state(
        &self,
        release: &CollectionFiles,
        options: &ReadOptions,
    ) -> Result<InstalledState, Diagnostic> {
        let state = self.state_of_version(&release.name, &release.version, options);
        if state != InstalledState::Same {
            return Ok(state);
        }
        let tree = FolderTree::new(&self.collection_path(&release.name));
        let differences = release.differences(&tree, options)?;
        Ok(if differences.is_empty() {
            InstalledState::Same
        } else {
            InstalledState::Different(differences)
        })
    }

    /// Compares what is installed with a release, which can be installed in its place.
    ///
    /// # Errors
    ///
    /// In its place is a working copy, which would be lost.
    pub fn replaceable_state(
        &self,
        release: &CollectionFiles,
        options: &ReadOptions,
    ) -> Result<InstalledState, Diagnostic> {
        let state = self.state(release, options)?;
        if state != InstalledState::Same {
            reject_working_copy(&self.collection_path(&release.name))?;
        }
        Ok(state)
    }

    /// Prepares the installation of a release, unless it is installed already. Nothing changes before it is committed.
    ///
    /// # Errors
    ///
    /// In its place is a working copy, which would be lost, or the folder cannot be written.
    pub fn prepare(
        &self,
        release: &CollectionFiles,
        options: &ReadOptions,
    ) -> Result<PreparedCollection, Diagnostic> {
        let failed = |error: FileError| error.to_diagnostic();
        let before = self.replaceable_state(release, options)?;
        if before == InstalledState::Same {
            return Ok(PreparedCollection { before, tree: None });
        }
        let path = self.collection_path(&release.name);
        make_folder(&RealFileSystem, path.parent().unwrap_or(&self.root)).map_err(failed)?;
        // Where there are no links, what they lead to is written under their paths.
        let is_linked = |path: &str| cfg!(unix) && release.is_linked(path);
        let files = release.files();
        let files = files.filter(|file| !is_linked(file.path.as_str()));
        let files = files.map(|file| {
            Ok(NewTreeFile {
                path: file.path.clone(),
                bytes: file.bytes.clone(),
                access: if file.is_executable {
                    Access::Program
                } else {
                    Access::Data
                },
            })
        });
        let links = release.links().filter(|_| cfg!(unix));
        let links: Vec<NewTreeLink> = links
            .map(|link| NewTreeLink {
                path: link.path.clone(),
                target: link.target.clone(),
            })
            .collect();
        let folders = release.folders();
        let folders = folders.filter(|folder| !is_linked(folder.as_str()));
        let folders: Vec<PackagePath> = folders.cloned().collect();
        let tree = prepare_tree(&RealFileSystem, &path, files, &links, &folders).map_err(failed)?;
        Ok(PreparedCollection {
            before,
            tree: Some(tree),
        })
    }

    /// Removes the folders around collections that have none: those that were made for releases that were not installed.
    pub fn remove_empty_folders<'name>(&self, names: impl Iterator<Item = &'name PackageName>) {
        for name in names {
            if let Some(namespace) = self.collection_path(name).parent() {
                remove_empty_folder(namespace);
            }
        }
        remove_empty_folder(&self.root);
    }

    /// Writes the file about the source of an installed collection, and removes those of other versions.
    pub fn write_source(
        &self,
        name: &PackageName,
        version: &Version,
        server: Option<&str>,
    ) -> Result<(), FileError> {
        let prefix = format!("{name}-");
        let folder = format!("{prefix}{version}.info");
        let entries = RealFileSystem.names(&self.root).unwrap_or_default();
        for entry in entries {
            let is_info = entry.starts_with(&prefix) && entry.ends_with(".info");
            let path = self.root.join(&entry);
            if is_info && entry != folder && path.join(SOURCE_FILE).is_file() {
                let removed = RealFileSystem.remove(&path);
                removed.map_err(|source| FileError::System {
                    action: "cannot clean",
                    path,
                    source,
                })?;
            }
        }
        let folder = self.root.join(folder);
        let text = source_text(name, version, server);
        let known = read_file(&folder.join(SOURCE_FILE), MAX_SOURCE_BYTES, Follow::Nothing);
        // What ansible-galaxy wrote says more.
        if known.is_ok() {
            return Ok(());
        }
        let file = NewTreeFile {
            path: PackagePath::parse(SOURCE_FILE).expect("it is a path"),
            bytes: text.into_bytes(),
            access: Access::Data,
        };
        replace_tree(&RealFileSystem, &folder, [Ok(file)], &[])
    }

    /// The installed collections that are not among some, sorted.
    pub fn others(&self, names: &BTreeSet<PackageName>) -> Vec<PackageName> {
        let children = |folder: &Path| {
            let names = RealFileSystem.names(folder).unwrap_or_default();
            names
                .into_iter()
                .filter(|name| folder.join(name).is_dir())
                .collect::<Vec<_>>()
        };
        let mut others: Vec<PackageName> = children(&self.root)
            .into_iter()
            .flat_map(|namespace| {
                let names = children(&self.root.join(&namespace)).into_iter();
                names.map(move |name| format!("{namespace}.{name}"))
            })
            .filter(|name| is_collection_name(name))
            .filter_map(|name| PackageName::native(&name).ok())
            .filter(|name| !names.contains(name))
            .collect();
        others.sort();
        others
    }
}

/// The files in the artifact of a release, after checking that they belong to this release and match their chain of
/// digests.
pub fn collection_files(
    artifact: &Artifact,
    release: &Release,
    options: &ReadOptions,
) -> Result<CollectionFiles, Vec<Diagnostic>> {
    let shown = release.to_string();
    let files = match artifact {
        Artifact::File(bytes) => CollectionFiles::of_artifact(&shown, bytes, options)?,
        Artifact::Tree(folder) => {
            let tree = FolderTree::new(folder);
            let path = folder.to_string_lossy();
            CollectionFiles::of_folder(&path, &tree, options).map_err(|mut errors| {
                if let Some(error) = errors.last_mut()
                    && error.code == Code::PackageShape
                {
                    error.hints.push(
                        "only artifacts and installed collections can be installed: \
                         `ansible-galaxy collection build` makes an artifact of a source folder"
                            .to_owned(),
                    );
                }
                errors
            })?
        }
        Artifact::Archive(_) | Artifact::Folder(_) => {
            let message = format!("{shown} is a class package, not a collection");
            return Err(vec![Diagnostic::error(Code::PackageShape, message)]);
        }
    };
    if files.name != release.name || files.version != release.version {
        let message = format!(
            "the artifact of {shown} is that of {} {}",
            files.name, files.version
        );
        return Err(vec![Diagnostic::error(Code::Digest, message)]);
    }
    Ok(files)
}

/// Rejects a folder that is no installed collection: collections are developed in such folders, too.
fn reject_working_copy(path: &Path) -> Result<(), Diagnostic> {
    let names = RealFileSystem.names(path).unwrap_or_default();
    let has = |name: &str| names.iter().any(|one| one == name);
    if names.is_empty() || has(COLLECTION_MANIFEST) && !has(".git") {
        return Ok(());
    }
    let reason = if has(".git") {
        "is a git repository"
    } else {
        "holds files, but no installed collection"
    };
    let message = format!("{} {reason}, and is left as it is", Escaped::path(&path));
    let finding = Diagnostic::error(Code::Usage, message);
    Err(finding.hint("move it away, or install into another folder"))
}
