//! Reads `FILES.json`, the list of the files and folders of a collection with their SHA-256.

use std::collections::BTreeMap;

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped, Location, SourceText, Span};
use pkgres_manifest::{
    Hexadecimal, Limits, PackagePath, check_distinct, from_hexadecimal, read_json, sha256,
};
use serde::Deserialize;

use super::metadata::{COLLECTION_MANIFEST, CollectionManifest};

/// The usual name of the list.
pub const FILE_LIST: &str = "FILES.json";

/// A file or folder as the list has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListedFile {
    /// A folder.
    Folder,
    /// A file.
    File {
        /// The SHA-256 of its content.
        digest: [u8; 32],
    },
}

/// The files and folders of a collection by path.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileList(BTreeMap<String, ListedFile>);

#[derive(Deserialize)]
struct StatedList {
    files: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    name: String,
    ftype: String,
    chksum_sha256: Option<String>,
}

impl Entry {
    /// What it says, or what is wrong with it, as a part of a sentence.
    fn listed(&self) -> Result<ListedFile, &'static str> {
        let stated = self.chksum_sha256.as_deref().and_then(digest);
        match (&*self.ftype, stated) {
            ("dir", _) => Ok(ListedFile::Folder),
            ("file", Some(digest)) => Ok(ListedFile::File { digest }),
            ("file", None) => Err("has no SHA-256"),
            _ => Err("is neither a file nor a folder"),
        }
    }
}

impl FileList {
    /// Reads the list and compares it with the digest in the manifest. `name` is the name of the collection's artifact
    /// or folder, for messages.
    pub fn read(
        manifest: &CollectionManifest,
        bytes: &[u8],
        name: &str,
        limits: &Limits,
    ) -> Result<Self, Diagnostic> {
        let source = SourceText::new(format!("{name}/{FILE_LIST}"), "");
        let error = |code, message: String| {
            Diagnostic::error(code, message).at(Location::new(&source, Span::default()))
        };
        let (stated_name, stated_digest) = &manifest.file_list;
        if stated_name != FILE_LIST {
            let shown = Escaped::shortened(stated_name);
            let message =
                format!("MANIFEST.json names `{shown}` as the list of files, not {FILE_LIST}");
            return Err(error(Code::PackageShape, message));
        }
        let actual = sha256(bytes);
        if digest(stated_digest) != Some(actual) {
            let message = format!(
                "it has the SHA-256 {}, and MANIFEST.json says {}",
                Hexadecimal(&actual),
                Escaped::shortened(stated_digest)
            );
            return Err(error(Code::Digest, message));
        }
        let document: StatedList =
            read_json(bytes).map_err(|problem| error(Code::Syntax, problem.to_string()))?;
        let most = limits.archive_entries;
        if u64::try_from(document.files.len()).is_ok_and(|count| count > most) {
            return Err(Limits::exceeded("files in a collection", most)
                .at(Location::new(&source, Span::default())));
        }
        let mut files = BTreeMap::new();
        let path_of = |path: &str| {
            PackagePath::parse(path).map_err(|problem| error(Code::Path, problem.to_string()))
        };
        // These two are not in the list.
        let mut paths = vec![
            (path_of(FILE_LIST)?, false),
            (path_of(COLLECTION_MANIFEST)?, false),
        ];
        for entry in document.files {
            if entry.name == "." {
                continue;
            }
            let shown = Escaped::shortened(&entry.name).to_string();
            let path = path_of(&entry.name)?;
            let listed = entry.listed().map_err(|wrong| {
                let message = format!("`{shown}` {wrong}");
                error(Code::Field, message)
            })?;
            paths.push((path, listed == ListedFile::Folder));
            if files.insert(entry.name, listed).is_some() {
                return Err(error(
                    Code::DuplicateKey,
                    format!("`{shown}` appears twice"),
                ));
            }
        }
        let distinct = check_distinct(paths.iter().map(|(path, is_folder)| (path, *is_folder)));
        distinct.map_err(|problem| problem.at(Location::new(&source, Span::default())))?;
        Ok(Self(files))
    }

    /// The entry of a path.
    pub fn get(&self, path: &str) -> Option<&ListedFile> {
        self.0.get(path)
    }

    /// All files and folders by path.
    pub fn all(&self) -> impl Iterator<Item = (&str, &ListedFile)> {
        self.0.iter().map(|(path, listed)| (path.as_str(), listed))
    }

    /// The files with their SHA-256.
    pub fn files(&self) -> impl Iterator<Item = (&str, [u8; 32])> {
        self.all().filter_map(|(path, listed)| match listed {
            ListedFile::Folder => None,
            ListedFile::File { digest } => Some((path, *digest)),
        })
    }
}

/// Reads a SHA-256 in hexadecimal.
fn digest(text: &str) -> Option<[u8; 32]> {
    let mut digest = [0; 32];
    from_hexadecimal(text, &mut digest).then_some(digest)
}
