//! Where files, folders and links are made.

use std::path::{Path, PathBuf};

use pkgres_files::{EntryAttributes, EntryKind};

use crate::resource::{Difference, ResourceError};
use crate::target::{Probe, Target};

/// The mode of folders that are made around something.
const MODE: u32 = 0o755;

/// Checks that something can be made at a path, where nothing is yet.
pub(super) fn check_place(probe: &dyn Probe, path: &Path) -> Result<(), ResourceError> {
    let folder = path.parent().unwrap_or(path);
    Ok(probe.check_writable(folder)?)
}

/// Checks that the folder around a path exists.
fn check_parent(probe: &dyn Probe, path: &Path) -> Result<(), ResourceError> {
    let folder = path.parent().unwrap_or(path);
    if probe.entry(folder)?.is_some() {
        return Ok(());
    }
    let folder = folder.display();
    let message = format!(
        "the folder {folder} does not exist: add a resource `directory: {folder}`, or `parents: true`"
    );
    Err(ResourceError::Invalid(message))
}

/// The folders around a path that do not exist, the outermost first. Only a resource that asks for them makes them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Parents(Vec<PathBuf>);

impl Parents {
    /// The missing folders around a path; none unless they are wanted.
    pub(super) fn missing(
        are_wanted: bool,
        path: &Path,
        probe: &dyn Probe,
    ) -> Result<Self, ResourceError> {
        let mut missing = Vec::new();
        if are_wanted {
            for folder in path.ancestors().skip(1) {
                if probe.entry(folder)?.is_some() {
                    break;
                }
                missing.push(folder.to_owned());
            }
        }
        missing.reverse();
        Ok(Self(missing))
    }

    /// How the machine differs by them.
    pub(super) fn difference(&self) -> Option<Difference> {
        let folders: Vec<String> = self
            .0
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        let shown = folders.join(", ");
        (!shown.is_empty()).then(|| Difference::new("parents", None::<String>, Some(shown)))
    }

    /// Whether there is nothing to make.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Checks that they, and what is at `path` in them, can be made.
    pub(super) fn check(&self, path: &Path, probe: &dyn Probe) -> Result<(), ResourceError> {
        if self.0.is_empty() {
            check_parent(probe, path)?;
        }
        check_place(probe, self.0.first().map_or(path, PathBuf::as_path))
    }

    /// Makes them, so that `path` can be made.
    pub(super) fn make(&self, path: &Path, target: &dyn Target) -> Result<(), ResourceError> {
        if self.0.is_empty() {
            check_parent(target, path)?;
        }
        for folder in &self.0 {
            let made = target.make_folder(folder, EntryAttributes::with_mode(MODE));
            if let Err(error) = made {
                // Another resource may have made it at the same time.
                let entry = target.entry(folder)?;
                if entry.is_none_or(|entry| entry.kind != EntryKind::Folder) {
                    return Err(error.into());
                }
            }
        }
        Ok(())
    }
}
