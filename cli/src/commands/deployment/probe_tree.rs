//! The files in a folder of a machine, as formats read them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use pkgres_engine::{EntryKind, Probe, ResourceError, RootEntry, TargetError};
use pkgres_formats::{FileTree, PathKind, linked_paths};
use pkgres_manifest::diagnostic::{Code, Diagnostic};

/// The most files and folders of a tree.
const MAX_ENTRIES: usize = 100_000;

/// The files in a folder of a machine. Links are followed if they lead, without further links, to files or folders of the
/// tree, as those do that are installed.
pub(super) struct ProbeTree<'probe> {
    probe: &'probe dyn Probe,
    root: &'probe Path,
}

/// An entry of a tree.
struct TreeEntry {
    path: PathBuf,
    kind: Option<EntryKind>,
    /// The path to which it leads, if it is a link within the tree.
    target: Option<PathBuf>,
}

impl<'probe> ProbeTree<'probe> {
    pub(super) fn new(probe: &'probe dyn Probe, root: &'probe Path) -> Self {
        Self { probe, root }
    }

    /// All entries below the root.
    fn entries(&self) -> Result<Vec<TreeEntry>, ResourceError> {
        let mut entries = Vec::new();
        let mut rest = vec![self.root.to_owned()];
        while let Some(folder) = rest.pop() {
            for name in self.probe.names(&folder)? {
                let path = folder.join(name);
                let entry = self.probe.entry(&path)?;
                let kind = entry.as_ref().map(|entry| entry.kind);
                if kind == Some(EntryKind::Folder) {
                    rest.push(path.clone());
                }
                let target = entry.and_then(|entry| self.target(&path, &entry));
                entries.push(TreeEntry { path, kind, target });
                if entries.len() > MAX_ENTRIES {
                    let root = self.root.display();
                    let message = format!("{root} has more than {MAX_ENTRIES} files and folders");
                    return Err(ResourceError::Invalid(message));
                }
            }
        }
        Ok(entries)
    }

    /// The root, and all folders below it.
    pub(super) fn folders(&self) -> Result<Vec<PathBuf>, ResourceError> {
        let entries = self.entries()?.into_iter();
        let folders = entries.filter(|entry| entry.kind == Some(EntryKind::Folder));
        let folders = folders.map(|entry| entry.path);
        Ok(std::iter::once(self.root.to_owned())
            .chain(folders)
            .collect())
    }

    /// The path of the tree to which a link leads; `None` if it leads elsewhere, or is none.
    fn target(&self, path: &Path, entry: &RootEntry) -> Option<PathBuf> {
        let mut parts: Vec<&str> = self.relative(path)?.split('/').collect();
        parts.pop();
        let mut way = entry.link_target.as_ref()?.to_str()?;
        while let Some(rest) = way.strip_prefix("..") {
            parts.pop()?;
            way = rest.strip_prefix('/').or(rest.is_empty().then_some(""))?;
        }
        let mut target = self.root.to_owned();
        target.extend(parts);
        let names = || way.split('/').filter(|name| !matches!(*name, "" | "."));
        if way.starts_with('/') || names().any(|name| name == "..") {
            return None;
        }
        target.extend(names());
        (target != *self.root).then_some(target)
    }

    /// The path of an entry in the tree.
    fn relative<'path>(&self, path: &'path Path) -> Option<&'path str> {
        path.strip_prefix(self.root).ok()?.to_str()
    }

    /// What is at a path of the tree, or what a link at this path leads to, with its path.
    fn found(&self, path: &str) -> Result<Option<(PathBuf, RootEntry)>, TargetError> {
        let path = self.root.join(path);
        let Some(entry) = self.probe.entry(&path)? else {
            return Ok(None);
        };
        match self.target(&path, &entry) {
            Some(target) => Ok(self.probe.entry(&target)?.map(|entry| (target, entry))),
            None => Ok(Some((path, entry))),
        }
    }
}

impl FileTree for ProbeTree<'_> {
    fn kind_of(&self, path: &str) -> Option<PathKind> {
        let Some((_, entry)) = self.found(path).ok()? else {
            return Some(PathKind::Nothing);
        };
        match entry.kind {
            EntryKind::Folder => Some(PathKind::Folder),
            EntryKind::File if entry.mode & 0o111 != 0 => Some(PathKind::Program),
            EntryKind::File => Some(PathKind::Data),
            _ => None,
        }
    }

    fn paths(&self) -> Result<Vec<String>, Diagnostic> {
        let entries = self.entries();
        let entries = entries.map_err(|error| Diagnostic::error(Code::File, error.to_string()))?;
        let folders: BTreeSet<&Path> = entries
            .iter()
            .filter(|entry| entry.kind == Some(EntryKind::Folder))
            .map(|entry| entry.path.as_path())
            .collect();
        let mut files = BTreeSet::new();
        let mut links = BTreeMap::new();
        for entry in &entries {
            let path = entry.path.strip_prefix(self.root).unwrap_or(&entry.path);
            let path = path.to_string_lossy().into_owned();
            let folder = entry.target.as_deref();
            let folder = folder.filter(|target| folders.contains(target));
            match folder.and_then(|folder| self.relative(folder)) {
                Some(folder) => {
                    links.insert(path, folder.to_owned());
                }
                None if entry.kind == Some(EntryKind::Folder) => {}
                None => {
                    files.insert(path);
                }
            }
        }
        let linked = linked_paths(&files, &links)?;
        files.extend(linked);
        Ok(files.into_iter().collect())
    }

    fn read(&self, path: &str, limit: u64) -> Result<Option<Vec<u8>>, Diagnostic> {
        let failed = |error: TargetError| Diagnostic::error(Code::File, error.to_string());
        match self.found(path).map_err(failed)? {
            Some((path, entry)) if entry.kind == EntryKind::File => {
                self.probe.read(&path, limit).map(Some).map_err(failed)
            }
            _ => Ok(None),
        }
    }
}
