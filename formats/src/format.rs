//! What a package system has to say about itself.

use std::fmt;

use pkgres_manifest::diagnostic::{Diagnostic, Parsed};
use pkgres_manifest::{ArtifactDigest, Ecosystem, IndexRecord, PackageName, ReadOptions, Version};

/// A package system: how its files are recognized and read, and which rules of resolution hold.
pub trait Format: fmt::Debug + Send + Sync {
    /// Names, versions, ranges and index records.
    fn ecosystem(&self) -> &'static dyn Ecosystem;

    /// The rules of resolutions.
    fn rules(&self) -> Rules;

    /// Whether a file can be a root: what `pkgres resolve` is given, or finds in the folder that it is given.
    ///
    /// Decides by the name, or by the beginning of the content where the name says nothing.
    fn is_root(&self, file: &FormatFile<'_>) -> bool;

    /// The names that roots usually have, the best first: if a folder has several roots, a file of such a name is taken.
    fn usual_root_names(&self) -> &'static [&'static str] {
        &[]
    }

    /// Reads a root. `tree` has the other files of the folder of `file`.
    ///
    /// What a class [extends](pkgres_manifest::IndexedClass::extends) is binding: no release without it is chosen. What
    /// it [uses](pkgres_manifest::IndexedClass::uses) is only for findings, unless the user asks for strict uses; what
    /// no requirement can provide belongs there. A record without classes counts as one that defines every class. The
    /// same holds for [`read_releases`](Self::read_releases). Records need their
    /// [`ecosystem`](pkgres_manifest::IndexRecord::ecosystem).
    fn read_root(
        &self,
        file: &FormatFile<'_>,
        tree: &dyn FileTree,
        options: &ReadOptions,
    ) -> Parsed<Root>;

    /// Whether a file in a folder of releases can belong to a release, as far as its name says. Other files are not
    /// opened.
    fn is_release_name(&self, name: &str) -> bool;

    /// What the release is that a file of such a name belongs to; `None` if it belongs to none.
    fn release_extent(&self, file: &FormatFile<'_>) -> Option<ReleaseExtent>;

    /// Reads the releases of a file: one, or as many as the file states. `tree` has the other files of the folder of
    /// `file`; a release that is a single file, such as an archive, has no need of it.
    fn read_releases(
        &self,
        file: &FormatFile<'_>,
        tree: &dyn FileTree,
        options: &ReadOptions,
    ) -> Parsed<Vec<Release>>;

    /// The findings of `pkgres check` about a root, errors of reading it among them. `known` has the releases that it
    /// may require.
    fn check_root(
        &self,
        file: &FormatFile<'_>,
        tree: &dyn FileTree,
        known: &dyn ReleaseLookup,
        options: &ReadOptions,
    ) -> Vec<Diagnostic> {
        let _ = known;
        self.read_root(file, tree, options).diagnostics().to_vec()
    }

    /// The file name of the artifact of a release that is a file, with its extension. It is not used for releases that
    /// are folders.
    fn artifact_name(&self, package: &PackageName, version: &Version) -> String {
        format!("{package}-{version}")
    }

    /// The version that a text says of the [host](Rules::host); `None` if it is none.
    fn host_version(&self, text: &str) -> Option<Version> {
        self.ecosystem().version(text).ok()
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

    /// The content of a release, if it is there.
    fn content(&self, record: &IndexRecord) -> Option<ReleaseContent> {
        let _ = record;
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

/// A file that is offered to a format.
#[derive(Clone, Copy)]
pub struct FormatFile<'file> {
    /// The path of the file, for messages. It uses `/`.
    pub path: &'file str,
    /// The content. To recognize a file, its first 4 KiB are enough.
    pub bytes: &'file [u8],
}

impl FormatFile<'_> {
    /// The last part of the path.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(self.path)
    }
}

impl fmt::Debug for FormatFile<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.path)
    }
}

/// The files in and below a folder, by their paths relative to it. Paths use `/`.
pub trait FileTree {
    /// The paths of all files in order. Links count as files if they lead to files of the tree.
    fn paths(&self) -> Result<Vec<String>, Diagnostic>;

    /// The content of a file; `None` if there is none. More than `limit` bytes are an error.
    fn read(&self, path: &str, limit: u64) -> Result<Option<Vec<u8>>, Diagnostic>;
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

/// What a release consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReleaseExtent {
    /// The file alone, such as an archive.
    File,
    /// The folder that the file is in. There are no other releases in it.
    Folder,
}

/// What a root says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// Name, version, requirements and classes. A root that is no package has the name of its file and version 0.0.0.
    pub record: IndexRecord,
    /// Whether the root takes a folder or a single file in it; `None` if it is not a release and only requires others.
    pub extent: Option<ReleaseExtent>,
}

/// A release that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    /// Name, version, requirements and classes.
    pub record: IndexRecord,
    /// The digest by which it is locked: that of the file, or of the list of all files of a folder.
    pub digest: ArtifactDigest,
}

/// The rules of resolutions of a package system, as far as they differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a rule of its own")]
#[non_exhaustive]
pub struct Rules {
    /// Whether every package requires the core library implicitly.
    pub has_core_library: bool,
    /// Whether several releases of a package may be in a resolution.
    pub side_by_side: bool,
    /// Whether classes may extend each other in a circle, as modules may import each other. The solver then checks that
    /// extended classes are defined, and nothing else about classes.
    pub class_cycles: bool,
    /// Whether classes inherit from what they extend, as types do. Modules that import each other do not. It decides what
    /// `pkgres semver` compares.
    pub inheritance: bool,
    /// Whether the steps between versions promise what changed, as Semantic Versioning has it.
    pub semantic_versions: bool,
    /// When a prerelease is a candidate.
    pub prereleases: Prereleases,
    /// Whether artifacts are loaded one after the other, each after those that it requires.
    pub load_order: bool,
    /// The package that the host provides, such as `ansible-core`. `--provide NAME=VERSION` says its version; without it,
    /// requirements on the package are left out.
    pub host: Option<&'static str>,
}

impl Rules {
    /// The rules of class packages.
    pub const CLASS_PACKAGES: Self = Self {
        has_core_library: true,
        side_by_side: true,
        class_cycles: false,
        inheritance: true,
        semantic_versions: true,
        prereleases: Prereleases::Ordered,
        load_order: false,
        host: None,
    };

    /// The rules of most package systems: one release of a package, no core library, and circles of classes.
    pub const SINGLE_RELEASE: Self = Self {
        has_core_library: false,
        side_by_side: false,
        class_cycles: true,
        inheritance: false,
        semantic_versions: true,
        prereleases: Prereleases::Ordered,
        load_order: false,
        host: None,
    };

    /// These rules for artifacts that are loaded one after the other.
    #[must_use]
    pub const fn with_load_order(self) -> Self {
        Self {
            load_order: true,
            ..self
        }
    }

    /// These rules for classes that are types, in releases whose versions promise nothing.
    #[must_use]
    pub const fn with_dated_types(self) -> Self {
        Self {
            inheritance: true,
            semantic_versions: false,
            ..self
        }
    }

    /// These rules with a package that the host provides.
    #[must_use]
    pub const fn with_host(self, host: &'static str) -> Self {
        Self {
            host: Some(host),
            ..self
        }
    }

    /// These rules with another one for prereleases.
    #[must_use]
    pub const fn with_prereleases(self, prereleases: Prereleases) -> Self {
        Self {
            prereleases,
            ..self
        }
    }
}

/// When a prerelease is a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Prereleases {
    /// Always, after all stable releases unless a requirement names a prerelease.
    Ordered,
    /// If a requirement names exactly it, or if the package has no stable release.
    IfNamed,
}
