//! The files of an installed collection, and how a folder differs from them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped, Location, SourceText, Span};
use pkgres_manifest::{
    ArtifactDigest, Hexadecimal, IndexRecord, PackageName, PackagePath, ReadOptions, Requirement,
    Shared, Version, sha256,
};

use super::artifact::CollectionArtifact;
use super::file_list::{FILE_LIST, FileList, ListedFile};
use super::metadata::{COLLECTION_MANIFEST, read_collection_manifest};
use super::name::is_collection_name;
use crate::linked_folders::linked_paths;
use crate::lookup::{FileTree, PathKind};

/// The folder in which collections are installed, as Python imports it.
pub const COLLECTIONS_FOLDER: &str = "ansible_collections";

/// The name of the collection that is installed where a `MANIFEST.json` is, by its path alone.
pub(super) fn installed_name(manifest: &str) -> Option<String> {
    let mut folders = Path::new(manifest).ancestors().skip(1).map(Path::file_name);
    let mut folder = || folders.next()??.to_str();
    let (name, namespace) = (folder()?, folder()?);
    let full = format!("{namespace}.{name}");
    (folder()? == COLLECTIONS_FOLDER && is_collection_name(&full)).then_some(full)
}

/// The file beside an installed collection that says where it comes from.
pub const SOURCE_FILE: &str = "GALAXY.yml";

/// All files of a collection as it is installed. Their chain of digests was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CollectionFiles {
    /// The collection.
    pub name: PackageName,
    /// The version.
    pub version: Version,
    /// The requirements on other collections.
    pub requirements: Shared<Requirement>,
    files: BTreeMap<String, CollectionFile>,
    /// The folders that are listed, also those without files.
    folders: BTreeMap<String, PackagePath>,
    /// The symbolic links by path. What they lead to is among the files and folders under their paths, too.
    links: BTreeMap<String, CollectionLink>,
}

/// A symbolic link of a collection, which leads to a file or folder of the collection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CollectionLink {
    /// Its path in the collection.
    pub path: PackagePath,
    /// Where it leads, relative to its own folder.
    pub target: String,
}

/// A file of a collection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CollectionFile {
    /// Its path in the collection.
    pub path: PackagePath,
    /// Its content.
    pub bytes: Vec<u8>,
    /// Whether it is a program.
    pub is_executable: bool,
}

/// A difference between an installed collection and its release.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Difference {
    /// A file is missing.
    Missing(String),
    /// A file has a different content.
    Changed(String),
    /// A program cannot be run, because its file lost the permission.
    NotExecutable(String),
    /// A file does not belong to the release.
    Added(String),
}

impl fmt::Display for Difference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, what) = match self {
            Self::Missing(path) => (path, "is missing"),
            Self::Changed(path) => (path, "was changed"),
            Self::NotExecutable(path) => (path, "is not executable"),
            Self::Added(path) => (path, "was added"),
        };
        write!(formatter, "`{}` {what}", Escaped::shortened(path))
    }
}

/// Whether a file is what Python leaves beside the modules that it runs.
pub(super) fn is_compiled(path: &str) -> bool {
    path.split('/').any(|part| part == "__pycache__")
}

impl CollectionFiles {
    /// Reads the files of an artifact. `name` is the name of the artifact, for messages.
    pub fn of_artifact(
        name: &str,
        bytes: &[u8],
        options: &ReadOptions,
    ) -> Result<Self, Vec<Diagnostic>> {
        let artifact = CollectionArtifact::read(name, bytes, options)?;
        let mut files = Self::empty(&artifact.manifest.record);
        let mut add = |path: &PackagePath, bytes: &[u8]| -> Result<(), Diagnostic> {
            let is_executable = artifact.is_executable(path.as_str());
            files.add(path.clone(), bytes.to_vec(), is_executable);
            Ok(())
        };
        artifact
            .extract(name, bytes, &options.limits, &mut add)
            .map_err(|error| vec![error])?;
        files.add_folders(&artifact.files);
        for (link, target) in artifact.symbolic_links() {
            files.add_link(link, &target);
        }
        Ok(files)
    }

    /// Reads the files of an installed collection. `name` is the name of its folder, for messages.
    pub fn of_folder(
        name: &str,
        tree: &dyn FileTree,
        options: &ReadOptions,
    ) -> Result<Self, Vec<Diagnostic>> {
        let one = |error: Diagnostic| vec![error];
        let error = |code, message: String| {
            let place = Location::new(&SourceText::new(name, ""), Span::default());
            vec![Diagnostic::error(code, message).at(place)]
        };
        let limit = options.limits.unpacked_bytes;
        let read = |path: &str| -> Result<Vec<u8>, Vec<Diagnostic>> {
            tree.read(path, limit).map_err(one)?.ok_or_else(|| {
                let message = format!("there is no `{}`", Escaped::shortened(path));
                error(Code::PackageShape, message)
            })
        };
        let manifest_bytes = read(COLLECTION_MANIFEST)?;
        let path = format!("{name}/{COLLECTION_MANIFEST}");
        let read_manifest = read_collection_manifest(&path, &manifest_bytes, &options.limits);
        let (manifest, _) = read_manifest.into_result()?;
        let list_bytes = read(FILE_LIST)?;
        let list = FileList::read(&manifest, &list_bytes, name, &options.limits).map_err(one)?;
        let mut files = Self::empty(&manifest.record);
        let parse = |path: &str| {
            PackagePath::parse(path).map_err(|problem| error(Code::Path, problem.to_string()))
        };
        files.add(parse(COLLECTION_MANIFEST)?, manifest_bytes, false);
        files.add(parse(FILE_LIST)?, list_bytes, false);
        for (path, digest) in list.files() {
            let bytes = read(path)?;
            if sha256(&bytes) != digest {
                let message = format!(
                    "`{}` has the SHA-256 {}, and FILES.json says otherwise",
                    Escaped::shortened(path),
                    Hexadecimal(&sha256(&bytes))
                );
                return Err(error(Code::Digest, message));
            }
            let is_executable = tree.kind_of(path) == Some(PathKind::Program);
            files.add(parse(path)?, bytes, is_executable);
        }
        let mut links = tree.linked_folders().map_err(one)?;
        links.retain(|path, _| matches!(list.get(path), Some(ListedFile::Folder)));
        let listed = list.files().map(|(path, _)| path.to_owned()).collect();
        for path in linked_paths(&listed, &links).map_err(one)? {
            let bytes = read(&path)?;
            let is_executable = tree.kind_of(&path) == Some(PathKind::Program);
            files.add(parse(&path)?, bytes, is_executable);
        }
        files.add_folders(&list);
        for (link, target) in &links {
            let is_listed = list.get(target).is_some();
            if is_listed && !links.keys().any(|other| is_below(link, other)) {
                files.add_link(link, target);
            }
        }
        Ok(files)
    }

    fn empty(record: &IndexRecord) -> Self {
        Self {
            name: record.name.clone(),
            version: record.version.clone(),
            requirements: record.requirements.clone(),
            files: BTreeMap::new(),
            folders: BTreeMap::new(),
            links: BTreeMap::new(),
        }
    }

    /// Adds a link to a path that is no link, and not below one.
    fn add_link(&mut self, link: &str, target: &str) {
        if let Ok(path) = PackagePath::parse(link) {
            let target = relative_target(link, target);
            self.links
                .insert(link.to_owned(), CollectionLink { path, target });
        }
    }

    /// The symbolic links, sorted by path. None of them is below another one.
    pub fn links(&self) -> impl Iterator<Item = &CollectionLink> {
        self.links.values()
    }

    /// Whether a path is that of a link, or below one.
    pub fn is_linked(&self, path: &str) -> bool {
        let ends = path.match_indices('/').map(|(at, _)| at);
        ends.chain([path.len()])
            .any(|end| self.links.contains_key(&path[..end]))
    }

    fn add_folders(&mut self, list: &FileList) {
        let listed = list
            .all()
            .filter(|(_, listed)| **listed == ListedFile::Folder);
        let folders = listed.filter_map(|(path, _)| {
            let parsed = PackagePath::parse(path).ok()?;
            Some((path.to_owned(), parsed))
        });
        self.folders.extend(folders);
    }

    fn add(&mut self, path: PackagePath, bytes: Vec<u8>, is_executable: bool) {
        let key = path.as_str().to_owned();
        let file = CollectionFile {
            path,
            bytes,
            is_executable,
        };
        self.files.insert(key, file);
    }

    /// The digest of the folder in which the collection is installed.
    pub fn digest(&self) -> ArtifactDigest {
        let files = self.files.values();
        ArtifactDigest::of_tree(files.map(|file| (&file.path, sha256(&file.bytes))))
    }

    /// The files, sorted by path.
    pub fn files(&self) -> impl Iterator<Item = &CollectionFile> {
        self.files.values()
    }

    /// The folders that the list of files names, sorted by path. Some of them can be empty.
    pub fn folders(&self) -> impl Iterator<Item = &PackagePath> {
        self.folders.values()
    }

    /// The differences in an installed collection, sorted. Files that Python compiled there do not count.
    pub fn differences(
        &self,
        installed: &dyn FileTree,
        options: &ReadOptions,
    ) -> Result<Vec<Difference>, Diagnostic> {
        let paths: BTreeSet<String> = installed.paths()?.into_iter().collect();
        let mut differences = Vec::new();
        for (path, file) in &self.files {
            // A release may list files that are left out of `paths`, such as those of file managers.
            let bytes = installed.read(path, options.limits.unpacked_bytes)?;
            if bytes.is_none() {
                differences.push(Difference::Missing(path.clone()));
            } else if bytes.as_ref() != Some(&file.bytes) {
                differences.push(Difference::Changed(path.clone()));
            } else if file.is_executable && installed.kind_of(path) == Some(PathKind::Data) {
                differences.push(Difference::NotExecutable(path.clone()));
            }
        }
        let is_missing = |path: &&String| {
            let kind = installed.kind_of(path);
            kind.is_some_and(|kind| kind != PathKind::Folder)
        };
        let missing = self.folders.keys().filter(is_missing).cloned();
        differences.extend(missing.map(Difference::Missing));
        let added = paths
            .into_iter()
            .filter(|path| !self.files.contains_key(path) && !is_compiled(path));
        differences.extend(added.map(Difference::Added));
        differences.sort();
        Ok(differences)
    }
}

/// The text of `GALAXY.yml`, which says which server a collection comes from. ansible-core reads it.
pub fn source_text(name: &PackageName, version: &Version, server: Option<&str>) -> String {
    let name = name.as_str();
    let (namespace, name) = name.split_once('.').unwrap_or((name, ""));
    let text = |text: &str| serde_json::Value::from(text).to_string();
    let mut lines = format!(
        "format_version: 1.0.0\nname: {}\nnamespace: {}\n",
        text(name),
        text(namespace)
    );
    if let Some(server) = server {
        lines.push_str(&format!("server: {}\n", text(server)));
    }
    lines.push_str(&format!(
        "signatures: []\nversion: {}\n",
        text(&version.to_string())
    ));
    lines
}

/// Whether a path is below a folder.
fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder)
        .is_some_and(|rest| rest.starts_with('/'))
}

/// The way from the folder of a link to a path, as the link states it.
fn relative_target(link: &str, target: &str) -> String {
    let mut from: Vec<&str> = link.split('/').collect();
    from.pop();
    let to: Vec<&str> = target.split('/').collect();
    let pairs = from.iter().zip(&to);
    let shared = pairs.take_while(|(one, two)| one == two).count();
    let up = std::iter::repeat_n("..", from.len() - shared);
    let way: Vec<&str> = up.chain(to[shared..].iter().copied()).collect();
    if way.is_empty() {
        ".".to_owned()
    } else {
        way.join("/")
    }
}

/// The version of an installed collection; `None` if its `MANIFEST.json` is missing or wrong.
pub fn installed_version(tree: &dyn FileTree, options: &ReadOptions) -> Option<Version> {
    let limit = options.limits.manifest_bytes;
    let bytes = tree.read(COLLECTION_MANIFEST, limit).ok()??;
    let read = read_collection_manifest(COLLECTION_MANIFEST, &bytes, &options.limits);
    Some(read.into_result().ok()?.0.record.version)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files in memory.
    #[derive(Default, Clone)]
    struct Files(BTreeMap<String, Vec<u8>>, BTreeMap<String, PathKind>);

    impl FileTree for Files {
        fn paths(&self) -> Result<Vec<String>, Diagnostic> {
            Ok(self.0.keys().cloned().collect())
        }

        fn read(&self, path: &str, _: u64) -> Result<Option<Vec<u8>>, Diagnostic> {
            Ok(self.0.get(path).cloned())
        }

        fn kind_of(&self, path: &str) -> Option<PathKind> {
            self.1.get(path).copied()
        }
    }

    fn installed() -> Files {
        let digest = |bytes: &[u8]| Hexadecimal(&sha256(bytes)).to_string();
        let list = serde_json::json!({"format": 1, "files": [
            {"name": ".", "ftype": "dir"},
            {"name": "files/empty", "ftype": "dir"},
            {"name": "README.md", "ftype": "file", "chksum_sha256": digest(b"# Web\n")},
        ]})
        .to_string();
        let manifest = serde_json::json!({
            "collection_info": {"namespace": "acme", "name": "web", "version": "1.2.0"},
            "file_manifest_file": {"name": "FILES.json", "chksum_sha256": digest(list.as_bytes())},
            "format": 1,
        })
        .to_string();
        let files = [
            (COLLECTION_MANIFEST, manifest),
            (FILE_LIST, list),
            ("README.md", "# Web\n".to_owned()),
        ];
        Files(
            files
                .map(|(path, text)| (path.to_owned(), text.into_bytes()))
                .into(),
            [
                ("files/empty".to_owned(), PathKind::Folder),
                ("README.md".to_owned(), PathKind::Program),
            ]
            .into(),
        )
    }

    #[test]
    fn the_chain_of_an_installed_collection_is_checked() {
        let options = ReadOptions::default();
        let read = |tree: &Files| CollectionFiles::of_folder("acme/web", tree, &options);
        let files = read(&installed()).expect("it is valid");
        assert_eq!(files.files().count(), 3);
        let programs = files.files().filter(|file| file.is_executable);
        let programs: Vec<&str> = programs.map(|file| file.path.as_str()).collect();
        assert_eq!(programs, ["README.md"]);
        let folders: Vec<&str> = files.folders().map(PackagePath::as_str).collect();
        assert_eq!(folders, ["files/empty"]);
        assert_eq!(
            installed_version(&installed(), &options),
            Some(Version::new(1, 2, 0))
        );
        for (path, expected) in [
            ("README.md", "FILES.json says otherwise"),
            (FILE_LIST, "MANIFEST.json says"),
        ] {
            let mut changed = installed();
            changed.0.insert(path.to_owned(), b"changed".to_vec());
            let errors = read(&changed).expect_err("it is changed");
            assert!(errors[0].message.contains(expected), "{}", errors[0]);
            changed.0.remove(path);
            assert!(read(&changed).is_err(), "{path}");
        }
    }

    #[test]
    fn differences_are_what_is_missing_changed_and_added() {
        let options = ReadOptions::default();
        let files = CollectionFiles::of_folder("acme/web", &installed(), &options);
        let files = files.expect("it is valid");
        let differences = |tree: &Files| -> Vec<String> {
            let found = files
                .differences(tree, &options)
                .expect("memory can be read");
            found.iter().map(ToString::to_string).collect()
        };
        let mut tree = installed();
        assert!(differences(&tree).is_empty());
        tree.0
            .insert("plugins/__pycache__/x.pyc".to_owned(), Vec::new());
        assert!(differences(&tree).is_empty());
        let mut bare = tree.clone();
        bare.1.insert("files/empty".to_owned(), PathKind::Nothing);
        bare.1.insert("README.md".to_owned(), PathKind::Data);
        assert_eq!(
            differences(&bare),
            ["`files/empty` is missing", "`README.md` is not executable"]
        );
        tree.0.insert("plugins/x.py".to_owned(), Vec::new());
        tree.0.insert("README.md".to_owned(), Vec::new());
        tree.0.remove(FILE_LIST);
        assert_eq!(
            differences(&tree),
            [
                "`FILES.json` is missing",
                "`README.md` was changed",
                "`plugins/x.py` was added"
            ]
        );
    }

    /// A tree that leaves out its files, as one of a folder does with those of file managers.
    struct Hidden(Files);

    impl FileTree for Hidden {
        fn paths(&self) -> Result<Vec<String>, Diagnostic> {
            Ok(Vec::new())
        }

        fn read(&self, path: &str, limit: u64) -> Result<Option<Vec<u8>>, Diagnostic> {
            self.0.read(path, limit)
        }
    }

    #[test]
    fn files_that_a_release_lists_are_found_whatever_they_are_called() {
        let options = ReadOptions::default();
        let files = CollectionFiles::of_folder("acme/web", &installed(), &options);
        let files = files.expect("it is valid");
        let differences = |tree| files.differences(&tree, &options).expect("memory");
        assert!(differences(Hidden(installed())).is_empty());
        let mut bare = installed();
        bare.0.remove("README.md");
        assert_eq!(
            differences(Hidden(bare)),
            [Difference::Missing("README.md".to_owned())]
        );
    }

    #[test]
    fn links_lead_from_their_folder() {
        for (link, target, expected) in [
            ("playbooks/roles", "roles", "../roles"),
            ("plugins/a/link", "plugins/b/c", "../b/c"),
            ("plugins/link.py", "plugins/a.py", "a.py"),
            ("plugins/link", "plugins", "."),
            ("link", "plugins/a", "plugins/a"),
        ] {
            assert_eq!(relative_target(link, target), expected, "{link}");
        }
    }

    #[test]
    fn the_source_of_a_collection_is_yaml_without_surprises() {
        let name = PackageName::native("acme.web").expect("a name");
        let text = |server| source_text(&name, &Version::new(1, 2, 0), server);
        assert_eq!(
            text(Some("https://hub.example/\n#")),
            "format_version: 1.0.0\nname: \"web\"\nnamespace: \"acme\"\n\
             server: \"https://hub.example/\\n#\"\nsignatures: []\nversion: \"1.2.0\"\n"
        );
        assert!(!text(None).contains("server"));
    }
}
