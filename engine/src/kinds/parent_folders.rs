//! Checks that something can be created at a path, and creates missing folders around it.

use std::path::{Path, PathBuf};

use super::accounts::{GROUPS, USERS};
use crate::resource::{Difference, Identifier, Resource, ResourceError};
use crate::target::{Probe, Target, TargetError, make_folder, missing_folders};

/// The mode of folders that are made around something.
const MODE: u32 = 0o755;

/// Checks that something can be made at a path, where nothing is yet.
pub(super) fn check_place(probe: &dyn Probe, path: &Path) -> Result<(), ResourceError> {
    let folder = path.parent().unwrap_or(path);
    probe.check_writable(folder).map_err(|source| match source {
        TargetError::File(_) | TargetError::Unsupported(_) => ResourceError::NotWritable {
            folder: folder.to_owned(),
            source,
        },
        other => other.into(),
    })
}

/// Checks that nothing is mounted at a path, which is to be removed or replaced, or below it.
pub(super) fn check_not_mounted(probe: &dyn Probe, path: &Path) -> Result<(), ResourceError> {
    match probe.mount_point(path)? {
        None => Ok(()),
        Some(point) => Err(ResourceError::Invalid(format!(
            "something is mounted at {}, so it can be neither removed nor replaced: unmount it first",
            point.display()
        ))),
    }
}

/// Whether a resource that changes nothing but what is at a path, and makes folders around it, may remove the reason
/// why a later one cannot be brought into order. `removes` says whether its change removes what is there.
pub(super) fn may_remedy_at(
    resource: &dyn Resource,
    path: &Path,
    removes: bool,
    error: &ResourceError,
) -> bool {
    match error {
        ResourceError::MissingFolder(folder) => resource.may_make_folder(folder),
        ResourceError::NotWritable { folder, .. } => resource.may_open_folder(folder),
        ResourceError::InTheWay { path: occupied, .. } => removes && occupied.starts_with(path),
        ResourceError::MissingAccount { .. } => lists_accounts(path),
        ResourceError::NotStartable { needs, .. } => needs.iter().any(|needed| match needed {
            // A link may lead there, by which it has another path.
            Identifier::Path(needed) => {
                needed.starts_with(path)
                    || needed.file_name() == path.file_name()
                    || resource.may_make_folder(needed)
            }
            _ => lists_accounts(path),
        }),
        _ => true,
    }
}

/// Whether a path is one of the lists of users and groups, or a folder around them.
fn lists_accounts(path: &Path) -> bool {
    let mut lists = [USERS, GROUPS].into_iter();
    lists.any(|list| Path::new(list).starts_with(path))
}

/// The error that the folder around a path is missing, if it is; otherwise `error`.
fn missing_folder_or(
    error: impl Into<ResourceError>,
    probe: &dyn Probe,
    path: &Path,
) -> ResourceError {
    let folder = path.parent().unwrap_or(path);
    if !matches!(probe.entry(folder), Ok(None)) {
        return error.into();
    }
    ResourceError::MissingFolder(folder.to_owned())
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
        Ok(match path.parent() {
            Some(folder) if are_wanted => Self(missing_folders(probe, folder)?),
            _ => Self::default(),
        })
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
        match self.0.first() {
            Some(outermost) => check_place(probe, outermost),
            None => check_place(probe, path).map_err(|error| missing_folder_or(error, probe, path)),
        }
    }

    /// Makes them, and then what is at `path` in them. Whether the folder around it is missing is asked only after a
    /// failure: a question is a message to another machine.
    pub(super) fn make_around(
        &self,
        path: &Path,
        target: &dyn Target,
        make: impl FnOnce() -> Result<(), TargetError>,
    ) -> Result<(), ResourceError> {
        self.make(target)?;
        make().map_err(|error| missing_folder_or(error, target, path))
    }

    fn make(&self, target: &dyn Target) -> Result<(), ResourceError> {
        for folder in &self.0 {
            make_folder(target, folder, MODE)?;
        }
        Ok(())
    }
}
