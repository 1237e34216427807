//! The archives that `pkgres vendor` wrote into a folder.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use pkgres_files::{FileError, Follow, read_file};

/// The file in a folder of vendored archives that lists them, one in a line. These archives belong to the project, not to
/// a package that the folder is part of.
pub const VENDORED_FILE: &str = ".pkgres-vendored";

/// The longest list in bytes.
const MAX_LIST_BYTES: u64 = 16 << 20;

/// The names of the archives that `pkgres vendor` wrote into a folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VendoredArchives(pub BTreeSet<String>);

impl VendoredArchives {
    /// Reads the list of a folder. Without a list, there are none.
    ///
    /// # Errors
    ///
    /// The list cannot be read, or is longer than 16 MiB.
    pub fn of(folder: &Path) -> Result<Self, FileError> {
        match read_file(&folder.join(VENDORED_FILE), MAX_LIST_BYTES, Follow::Nothing) {
            Ok(bytes) => {
                let text = String::from_utf8_lossy(&bytes);
                Ok(Self(text.lines().map(str::to_owned).collect()))
            }
            Err(error) if error.is_not_found() => Ok(Self::default()),
            Err(error) => Err(error),
        }
    }

    /// Whether a file with this name is one of them.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains(name)
    }

    /// Whether a folder has a list, and no other file than the archives on it.
    pub(crate) fn are_all_of(folder: &Path) -> Result<bool, FileError> {
        if fs::symlink_metadata(folder.join(VENDORED_FILE)).is_err() {
            return Ok(false);
        }
        let archives = Self::of(folder)?;
        let is_listed = |name: &str| name == VENDORED_FILE || archives.has(name);
        let read = |source| FileError::System {
            action: "cannot read",
            path: folder.to_owned(),
            source,
        };
        for entry in fs::read_dir(folder).map_err(read)? {
            if !entry
                .map_err(read)?
                .file_name()
                .to_str()
                .is_some_and(is_listed)
            {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
