//! What to watch for a resource: the paths that can change it, or the interval at which to poll it.

use std::path::{Path, PathBuf};

/// The way in which a resource is watched.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Watching {
    /// Files, folders or links, which need not exist. Whatever changes at a path, or in a folder at it, counts; what is
    /// deeper in a folder does not.
    Paths(Vec<PathBuf>),
    /// Most changes can be seen at paths, as with [`Paths`](Self::Paths), and others cannot, so that the resource is also
    /// checked again after some time.
    PathsAndPolling(Vec<PathBuf>),
    /// Changes cannot be seen, so that the resource is checked again after some time.
    Polling,
    /// The paths to watch are only known once the resource is in order, such as the folders of an archive that is not
    /// unpacked yet. They are then asked for again. Until then, these paths are watched, and the resource is also
    /// checked from time to time.
    UntilInOrder(Vec<PathBuf>),
    /// The resource cannot change by itself.
    Nothing,
}

impl Watching {
    /// A path is watched.
    pub fn path(path: impl AsRef<Path>) -> Self {
        Self::Paths(vec![path.as_ref().to_owned()])
    }
}
