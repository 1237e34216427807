//! What a format can read besides the file of a root: the files around it, and releases of other packages.

use std::collections::BTreeMap;
use std::fmt;

use pkgres_manifest::diagnostic::Diagnostic;
use pkgres_manifest::{IndexRecord, PackageName, Version};

/// The files in and below a folder, by their paths relative to it. Paths use `/`.
pub trait FileTree {
    /// The paths of all files in order. Links count as files if they lead to files of the tree, and as folders if they
    /// lead to folders of it.
    fn paths(&self) -> Result<Vec<String>, Diagnostic>;

    /// The content of a file; `None` if there is none. More than `limit` bytes are an error.
    fn read(&self, path: &str, limit: u64) -> Result<Option<Vec<u8>>, Diagnostic>;

    /// What is at a path. `None` if the tree cannot say it, which is the default.
    fn kind_of(&self, path: &str) -> Option<PathKind> {
        let _ = path;
        None
    }

    /// The links to folders of the tree: their paths, with those of the folders. By default, there are none.
    fn linked_folders(&self) -> Result<BTreeMap<String, String>, Diagnostic> {
        Ok(BTreeMap::new())
    }

    /// The links that lead out of the tree, or nowhere: they are not among the [`paths`](Self::paths). By default, there
    /// are none.
    fn links_to_elsewhere(&self) -> Result<Vec<String>, Diagnostic> {
        Ok(Vec::new())
    }

    /// The tree of the folder around this one, if this one is called `name`. By default, nothing is around it.
    fn around(&self, name: &str) -> Option<Box<dyn FileTree>> {
        let _ = name;
        None
    }
}

/// What is at a path of a tree. Links count as what they lead to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathKind {
    /// There is nothing.
    Nothing,
    /// A folder.
    Folder,
    /// A file that is no program.
    Data,
    /// A file that can be run.
    Program,
}

/// A tree without files.
impl FileTree for () {
    fn paths(&self) -> Result<Vec<String>, Diagnostic> {
        Ok(Vec::new())
    }

    fn read(&self, _: &str, _: u64) -> Result<Option<Vec<u8>>, Diagnostic> {
        Ok(None)
    }
}

/// The releases that are known to a check.
///
/// A check should count prereleases only where the solver takes them.
pub trait ReleaseLookup {
    /// The releases of a package; `None` if there is no such package.
    fn releases(&self, package: &PackageName) -> Option<Vec<IndexRecord>>;

    /// The releases of a package with the classes of some versions, as far as they can be found out; `None` if there is
    /// no such package. By default, the releases as they are known.
    fn complete(&self, package: &PackageName, versions: &[Version]) -> Option<Vec<IndexRecord>> {
        let _ = versions;
        self.releases(package)
    }

    /// A package with a name similar to one that there is not. By default, none is known.
    fn similar(&self, package: &PackageName) -> Option<PackageName> {
        let _ = package;
        None
    }

    /// The content of a release, if it is there.
    fn content(&self, record: &IndexRecord) -> Option<ReleaseContent> {
        let _ = record;
        None
    }
}

/// No releases.
impl ReleaseLookup for () {
    fn releases(&self, _: &PackageName) -> Option<Vec<IndexRecord>> {
        None
    }
}

/// The content of a release.
pub enum ReleaseContent {
    /// A file, such as an archive.
    File(Vec<u8>),
    /// A folder.
    Folder(Box<dyn FileTree>),
}

impl fmt::Debug for ReleaseContent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(bytes) => write!(formatter, "a file of {} bytes", bytes.len()),
            Self::Folder(_) => formatter.write_str("a folder"),
        }
    }
}
