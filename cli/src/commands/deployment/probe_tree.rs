//! The files in a folder of a machine, as formats read them.

use std::path::{Path, PathBuf};

use pkgres_engine::{EntryKind, Probe, ResourceError, TargetError};
use pkgres_formats::{FileTree, PathKind};
use pkgres_manifest::diagnostic::{Code, Diagnostic};

/// The most files and folders of a tree.
const MAX_ENTRIES: usize = 100_000;

/// The files in a folder of a machine. Links are not followed: no collection is installed with any.
pub(super) struct ProbeTree<'probe> {
    probe: &'probe dyn Probe,
    root: &'probe Path,
}

/// An entry of a tree: its path, and whether it is a folder.
type TreeEntry = (PathBuf, bool);

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
                let kind = self.probe.entry(&path)?.map(|entry| entry.kind);
                let is_folder = kind == Some(EntryKind::Folder);
                if is_folder {
                    rest.push(path.clone());
                }
                entries.push((path, is_folder));
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
        let folders = entries.filter(|(_, is_folder)| *is_folder);
        let folders = folders.map(|(path, _)| path);
        Ok(std::iter::once(self.root.to_owned())
            .chain(folders)
            .collect())
    }
}

impl FileTree for ProbeTree<'_> {
    fn kind_of(&self, path: &str) -> Option<PathKind> {
        let Some(entry) = self.probe.entry(&self.root.join(path)).ok()? else {
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
        let files = entries.into_iter().filter(|(_, is_folder)| !is_folder);
        let mut paths: Vec<String> = files
            .filter_map(|(path, _)| {
                let relative = path.strip_prefix(self.root).ok()?;
                Some(relative.to_string_lossy().into_owned())
            })
            .collect();
        paths.sort_unstable();
        Ok(paths)
    }

    fn read(&self, path: &str, limit: u64) -> Result<Option<Vec<u8>>, Diagnostic> {
        let path = self.root.join(path);
        let failed = |error: TargetError| Diagnostic::error(Code::File, error.to_string());
        match self.probe.entry(&path).map_err(failed)? {
            Some(entry) if entry.kind == EntryKind::File => {
                self.probe.read(&path, limit).map(Some).map_err(failed)
            }
            _ => Ok(None),
        }
    }
}
