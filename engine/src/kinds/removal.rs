//! The change that removes a file, or a folder with everything in it.

use std::path::{Path, PathBuf};

use super::parent_folders::{check_not_mounted, check_place};
use crate::resource::{Change, Difference, ResourceError};
use crate::target::{Probe, Target};

/// Removes what is at a path, with everything in it.
pub(super) struct Removal {
    what: &'static str,
    path: PathBuf,
}

impl Removal {
    /// The removal of a `file`, a `folder` or a `link`.
    pub(super) fn new(what: &'static str, path: &Path) -> Self {
        let path = path.to_owned();
        Self { what, path }
    }
}

impl Change for Removal {
    fn differences(&self) -> Vec<Difference> {
        let path = self.path.display().to_string();
        vec![Difference::new(self.what, Some(path), None::<String>)]
    }

    fn precheck(&self, probe: &dyn Probe) -> Result<(), ResourceError> {
        check_place(probe, &self.path)?;
        check_not_mounted(probe, &self.path)
    }

    fn apply(self: Box<Self>, target: &dyn Target) -> Result<(), ResourceError> {
        Ok(target.remove(&self.path)?)
    }
}
