//! The trait `Format`, which describes an ecosystem.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use pkgres_manifest::diagnostic::{Code, Diagnostic, Location, Parsed, capped};
use pkgres_manifest::{
    ArtifactDigest, ClassName, Declarations, Ecosystem, IndexRecord, PackageName, ReadOptions,
    Release, Requirement, RequirementEdit, SetOptions, Spec, Version,
};

use crate::lookup::{FileTree, ReleaseLookup};
use crate::references::check_record;
use crate::rules::Rules;

/// An ecosystem: how its files are recognized and read, and which rules of resolution hold.
pub trait Format: fmt::Debug + Send + Sync {
    /// Names, versions, ranges and index records.
    fn ecosystem(&self) -> &'static dyn Ecosystem;

    /// The rules of resolutions.
    fn rules(&self) -> Rules;

    /// The names of files, and words for releases. By default, nothing is known.
    fn names(&self) -> FormatNames {
        FormatNames::default()
    }

    /// Whether a file can be a root: what `pkgres resolve` is given, or finds in the folder that it is given.
    ///
    /// Decides by the name, or by the beginning of the content where the name says nothing or other tools have files of
    /// that name: a root beside a `manifest.yaml` causes a warning.
    fn is_root(&self, file: &FormatFile<'_>) -> bool;

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

    /// The editor for the requirements in the file of a root, or the reason why only a person can edit them. By default,
    /// pkgres edits no roots.
    fn editor(&self, file: &FormatFile<'_>) -> Result<&dyn RootEditor, NotEditable> {
        let _ = file;
        Err(NotEditable::default())
    }

    /// Whether a file in a folder of releases can belong to a release, as far as its name says. Other files are not
    /// opened.
    ///
    /// By default, it has the ending of artifacts, or is called like a root.
    fn is_release_name(&self, name: &str) -> bool {
        let names = self.names();
        let ending = names.artifact_ending;
        !ending.is_empty() && name.ends_with(ending) || names.usual_roots.contains(&name)
    }

    /// Whether the name of a file says that it is only a part or another form of a release. Such files are left out;
    /// whoever looks for a package that only they have gets a hint. By default, none is.
    fn is_piece_name(&self, name: &str) -> bool {
        let _ = name;
        false
    }

    /// The extent of the release that a file belongs to; `None` if it belongs to none. If several formats have artifacts
    /// of one ending, the beginning of the content has to decide.
    ///
    /// By default, it belongs to one if it has [such a name](Self::is_release_name): a root to its folder, and any other
    /// file is a release itself.
    fn release_extent(&self, file: &FormatFile<'_>) -> Option<ReleaseExtent> {
        let extent = if self.is_root(file) {
            ReleaseExtent::Folder
        } else {
            ReleaseExtent::File
        };
        self.is_release_name(file.name()).then_some(extent)
    }

    /// Reads the releases of a file: one, or as many as the file states. `tree` has the other files of the folder of
    /// `file`; a release that is a single file, such as an archive, has no need of it.
    ///
    /// Where a release is used, only warnings with [`Code::BrokenPackage`] are shown: all others are for its author.
    fn read_releases(
        &self,
        file: &FormatFile<'_>,
        tree: &dyn FileTree,
        options: &ReadOptions,
    ) -> Parsed<Vec<DigestedRecord>>;

    /// The releases that an artifact says it is of. An artifact that is a single file is read as far as this takes.
    ///
    /// # Errors
    ///
    /// The file is no artifact.
    fn releases_of_artifact(
        &self,
        file: &FormatFile<'_>,
        options: &ReadOptions,
    ) -> Result<Vec<Release>, Vec<Diagnostic>> {
        let (releases, _) = self.read_releases(file, &(), options).into_result()?;
        Ok(releases.iter().map(|read| read.record.release()).collect())
    }

    /// The names of the packages whose releases a file has, as they are written, although the releases cannot be read:
    /// no other registry must serve the names. By default, they are unknown.
    fn written_names(&self, file: &FormatFile<'_>, options: &ReadOptions) -> Vec<String> {
        let _ = (file, options);
        Vec::new()
    }

    /// The digest that a release which is a file has as a folder, once it is installed; `None` if the bytes are no such
    /// release. By default, releases are not installed as folders.
    fn folder_digest(&self, bytes: &[u8], options: &ReadOptions) -> Option<ArtifactDigest> {
        let _ = (bytes, options);
        None
    }

    /// The findings of `pkgres check` about a root, errors of reading it among them. `known` has the releases that it
    /// may require.
    ///
    /// By default, requirements are checked to guarantee what the classes of the record extend and use of other
    /// packages. The file can also be a release that is no root, such as an archive.
    fn check_root(
        &self,
        file: &FormatFile<'_>,
        tree: &dyn FileTree,
        known: &dyn ReleaseLookup,
        options: &ReadOptions,
    ) -> Vec<Diagnostic> {
        let is_release = self.release_extent(file) == Some(ReleaseExtent::File);
        let read = if is_release && !self.is_root(file) {
            let read = self.read_releases(file, tree, options).into_result();
            read.map(|(releases, findings)| {
                let records = releases.into_iter().map(|release| release.record);
                (records.collect::<Vec<IndexRecord>>(), findings)
            })
        } else {
            let read = self.read_root(file, tree, options).into_result();
            read.map(|(root, findings)| (vec![root.record], findings))
        };
        match read {
            Ok((records, mut findings)) => {
                for record in &records {
                    findings.extend(check_record(record, file.path, self.rules(), known));
                }
                capped(findings)
            }
            Err(errors) => errors,
        }
    }

    /// Reads what the files around a root use of other packages, if the root is no release and has no classes itself,
    /// with warnings about what cannot be read. `tree` has the files of the folder of `file`. By default, nothing.
    fn project_uses(
        &self,
        file: &FormatFile<'_>,
        tree: &dyn FileTree,
        options: &ReadOptions,
    ) -> (Vec<ProjectUse>, Vec<Diagnostic>) {
        let _ = (file, tree, options);
        (Vec::new(), Vec::new())
    }

    /// The first place at which a root refers to a class of its record that another package, or no package, defines.
    /// `file` and `tree` are as in [`read_root`](Self::read_root). By default, it is unknown.
    fn reference_place(
        &self,
        file: &FormatFile<'_>,
        tree: &dyn FileTree,
        class: &ClassName,
        options: &ReadOptions,
    ) -> Option<Location> {
        let _ = (file, tree, class, options);
        None
    }

    /// The classes that a release no longer has itself because they have moved to another package that it does not
    /// require, with the classes that are used instead. By default, there are none.
    fn moved_classes<'record>(
        &self,
        record: &'record IndexRecord,
    ) -> BTreeMap<&'record ClassName, &'record ClassName> {
        let _ = record;
        BTreeMap::new()
    }

    /// Reads what the classes of a root or a release declare for those who use them. `file` and `tree` are as in
    /// [`read_root`](Self::read_root) and [`read_releases`](Self::read_releases). By default, nothing is known.
    fn declarations(
        &self,
        file: &FormatFile<'_>,
        tree: &dyn FileTree,
        options: &ReadOptions,
    ) -> Parsed<Declarations> {
        let _ = (file, tree, options);
        Parsed::new(Some(Declarations::default()), Vec::new())
    }

    /// The file name of the artifact of a release that is a file, with its extension. It is not used for releases that
    /// are folders.
    fn artifact_name(&self, package: &PackageName, version: &Version) -> String {
        format!("{package}-{version}{}", self.names().artifact_ending)
    }
}

/// Changes what a root requires, in the text of its file. Everything else stays as it is.
pub trait RootEditor {
    /// Returns the text of a root in which requirements have other ranges.
    ///
    /// # Errors
    ///
    /// A package is not required, or a range is written in a way that only a person should edit.
    fn with_ranges(
        &self,
        file: &FormatFile<'_>,
        ranges: &[(PackageName, Spec)],
        options: &ReadOptions,
    ) -> Result<String, Diagnostic>;

    /// Returns the text of a root with one requirement added, changed or removed.
    ///
    /// # Errors
    ///
    /// A package is to be removed that is not required, or the requirements are written in a way that only a person
    /// should edit.
    fn with_requirement(
        &self,
        file: &FormatFile<'_>,
        edit: &RequirementEdit,
        options: &ReadOptions,
    ) -> Result<String, Diagnostic>;
}

/// Why only a person can change what a root requires.
#[derive(Debug, Clone, Copy)]
pub struct NotEditable {
    /// The reason, as a part of a sentence.
    pub reason: &'static str,
    /// What to write into the file so that it requires a package, as the end of a sentence: "add … to …".
    pub addition: Option<fn(&PackageName) -> String>,
}

impl Default for NotEditable {
    fn default() -> Self {
        Self::because("pkgres does not edit files of this format")
    }
}

impl NotEditable {
    /// A reason that says nothing about how packages are added.
    pub const fn because(reason: &'static str) -> Self {
        Self {
            reason,
            addition: None,
        }
    }
}

impl From<NotEditable> for Diagnostic {
    fn from(not_editable: NotEditable) -> Self {
        Self::error(Code::Usage, not_editable.reason)
    }
}

/// The names of the files of a format, and how its releases are distributed.
#[derive(Debug, Clone, Copy, Default)]
pub struct FormatNames {
    /// The names that roots usually have, the best first: if a folder has several roots, a file of such a name is taken.
    pub usual_roots: &'static [&'static str],
    /// Those of them that a tool writes when it installs a release. A check of everything below a folder looks for the
    /// others only.
    pub installed_roots: &'static [&'static str],
    /// The paths below the folder of a project at which its root can be, if it is not in that folder itself. Only hints
    /// name them.
    pub nested_roots: &'static [&'static str],
    /// The ending of the names of artifacts, such as `.zip`. Empty if releases are not files, or can have any name.
    pub artifact_ending: &'static str,
    /// How releases are distributed.
    pub distribution: Distribution,
}

impl FormatNames {
    /// The usual names of roots that people write.
    pub fn written_roots(&self) -> impl Iterator<Item = &'static str> {
        let usual = self.usual_roots.iter().copied();
        usual.filter(|name| !self.installed_roots.contains(name))
    }
}

/// How the releases of an ecosystem are distributed, for the hints of commands that are for class packages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Distribution {
    /// The word for a release, with an article.
    pub release: &'static str,
    /// How a release is packed, as a hint.
    pub pack: Option<&'static str>,
    /// How a release is published, as a hint.
    pub publish: Option<&'static str>,
}

impl Default for Distribution {
    fn default() -> Self {
        Self {
            release: "a release of another ecosystem",
            pack: None,
            publish: None,
        }
    }
}

/// The first error of a reader that failed.
pub(crate) fn first_error(findings: Vec<Diagnostic>) -> Diagnostic {
    let first = findings.into_iter().find(Diagnostic::is_error);
    first.expect("a reader that fails has an error")
}

/// The findings about parts of a release that cannot be read, so that its record lacks what they say. All other
/// warnings are for its author.
pub fn unread_parts(mut findings: Vec<Diagnostic>) -> Vec<Diagnostic> {
    findings.retain(|finding| finding.code == Code::BrokenPackage);
    findings
}

/// The number of bytes at the beginning of a file that are enough to recognize it.
pub const HEAD_BYTES: usize = 4096;

/// A file that is offered to a format.
#[derive(Clone, Copy)]
pub struct FormatFile<'file> {
    /// The path of the file, for messages. It uses `/`.
    pub path: &'file str,
    /// The content. [`is_root`](Format::is_root) and [`release_extent`](Format::release_extent) may get only its first
    /// [`HEAD_BYTES`].
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

/// The extent of a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReleaseExtent {
    /// The file alone, such as an archive.
    File,
    /// The folder that the file is in. There are no other releases in it.
    Folder,
}

/// The content of a root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// Name, version, requirements and classes. A root that is no package has the name of its file and version 0.0.0.
    pub record: IndexRecord,
    /// Whether the root takes a folder or a single file in it; `None` if it is not a release and only requires others.
    pub extent: Option<ReleaseExtent>,
    /// The entries of packages that the file requires several times, without those whose range follows from the others.
    /// The record has one requirement for each package, at the first of them.
    pub entries: Vec<Requirement>,
}

/// The record of a release that was read, and the digest of the release. Folders that are registries also write the
/// digest into the record; a format need not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DigestedRecord {
    /// Name, version, requirements and classes.
    pub record: IndexRecord,
    /// The digest by which it is locked: the digest of the file, or of the list of all files of a folder.
    pub digest: ArtifactDigest,
}

/// A class of another package that a file of a project uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectUse {
    /// The path of the file, from the folder of the root.
    pub file: String,
    /// The class.
    pub class: ClassName,
    /// The package that has the class.
    pub package: PackageName,
    /// The first place at which the file names it.
    pub at: Location,
    /// The options of the class that the file sets; `None` if they are unknown.
    pub options: Option<SetOptions>,
    /// The places at which the file uses the class and says which options it sets, in order.
    pub tasks: Vec<(Location, BTreeSet<String>)>,
}

impl ProjectUse {
    /// The first place that sets one of some options, or that sets none of them; if there is none, the first place at
    /// all.
    pub fn place_of(&self, options: &[String], is_set: bool) -> &Location {
        let mut tasks = self.tasks.iter();
        let found = tasks.find(|(_, set)| options.iter().any(|one| set.contains(one)) == is_set);
        found.map_or(&self.at, |(at, _)| at)
    }
}
