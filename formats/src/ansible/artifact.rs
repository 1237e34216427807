//! Reads the artifacts of collections, `NAMESPACE-NAME-VERSION.tar.gz`.
//!
//! An artifact has a chain of digests: `MANIFEST.json` has the SHA-256 of `FILES.json`, which has the SHA-256 of every
//! other file. The whole chain is checked before any part of an artifact is used. ansible-core checks the first link
//! only in `ansible-galaxy collection verify`.
//!
//! Members are files, folders, and links to members; what is below a linked folder is a file under that path, too.
//! Anything else is an error, and so are a path that leads out of the collection and a duplicate member. Members that
//! `FILES.json` does not list are ignored. The gzip file has to be complete, and nothing may follow the archive: other
//! programs would read an incomplete file not at all, and another one after the first differently.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

use flate2::read::{GzDecoder, MultiGzDecoder};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped, Location, SourceText, Span};
use pkgres_manifest::{Hexadecimal, Limits, PackagePath, ReadOptions};
use sha2::{Digest as _, Sha256};
use tar::EntryType;

use super::facts_of_files::is_of_interest;
use super::file_list::{FILE_LIST, FileList, ListedFile};
use super::metadata::{COLLECTION_MANIFEST, CollectionManifest, read_collection_manifest};
use crate::linked_folders::linked_paths;
use crate::lookup::FileTree;

/// The bit of a mode that says that the owner of a file may run it.
const OWNER_MAY_RUN: u32 = 0o100;

/// The most links from one member to another that are followed.
const MAX_LINKS: usize = 8;

/// An artifact whose chain of digests is right.
#[derive(Debug)]
pub struct CollectionArtifact {
    /// The content of its `MANIFEST.json`.
    pub manifest: CollectionManifest,
    /// The files and folders that it lists.
    pub files: FileList,
    /// The paths of the listed files, and of those that are reached through linked folders.
    paths: BTreeSet<String>,
    /// The content of the files that were kept.
    kept: BTreeMap<String, Vec<u8>>,
    /// The targets of links.
    links: BTreeMap<String, String>,
    /// The links that are symbolic.
    symbolic: BTreeSet<String>,
    /// The files that are programs.
    executables: BTreeSet<String>,
    /// The findings that are no errors.
    findings: Vec<Diagnostic>,
}

/// Writes a file with a path below the collection.
pub type WriteFile<'write, E> = dyn FnMut(&PackagePath, &[u8]) -> Result<(), E> + 'write;

/// A member of an artifact.
enum Member {
    Folder,
    File { digest: [u8; 32], length: u64 },
    Link { target: String },
}

/// The path of the first member of an artifact, from its first bytes; `None` if they do not show it.
pub(super) fn first_member(bytes: &[u8]) -> Option<String> {
    let mut archive = tar::Archive::new(GzDecoder::new(bytes));
    let mut members = archive.entries().ok()?.map_while(Result::ok);
    // Archives made by git begin with a comment.
    let first = members.find(|member| member.header().entry_type() != EntryType::XGlobalHeader)?;
    String::from_utf8(first.path_bytes().into_owned()).ok()
}

/// The place of an artifact in messages.
fn place(name: &str) -> Location {
    Location::new(&SourceText::new(name, ""), Span::default())
}

impl CollectionArtifact {
    /// Reads an artifact and checks its chain of digests.
    pub fn read(name: &str, bytes: &[u8], options: &ReadOptions) -> Result<Self, Vec<Diagnostic>> {
        let is_kept = |path: &str| {
            path == COLLECTION_MANIFEST
                || path == FILE_LIST
                || is_of_interest(path)
                || is_text(path)
        };
        let one = |error: Diagnostic| vec![error];
        let mut reader = MemberReader::new(name, &options.limits);
        reader.read(bytes, &is_kept).map_err(one)?;
        let links = reader.links();
        let targets = reader.unread_targets(&links, &is_kept);
        if !targets.is_empty() {
            let is_target = |path: &str| {
                let mut ends = path
                    .match_indices('/')
                    .map(|(at, _)| at)
                    .chain([path.len()]);
                ends.any(|end| targets.contains(&path[..end]))
            };
            reader = MemberReader::new(name, &options.limits);
            let is_kept = |path: &str| is_kept(path) || is_target(path);
            reader.read(bytes, &is_kept).map_err(one)?;
        }
        let MemberReader {
            members,
            mut kept,
            symbolic,
            executables,
            ..
        } = reader;
        let mut file = |path: &str| {
            kept.remove(path).ok_or_else(|| {
                let message = format!("the artifact has no `{path}`");
                vec![Diagnostic::error(Code::PackageShape, message).at(place(name))]
            })
        };
        let manifest_path = format!("{name}/{COLLECTION_MANIFEST}");
        let manifest = file(COLLECTION_MANIFEST)?;
        let read = read_collection_manifest(&manifest_path, &manifest, &options.limits);
        let (manifest, findings) = read.into_result()?;
        let list_bytes = file(FILE_LIST)?;
        let files = FileList::read(&manifest, &list_bytes, name, &options.limits).map_err(one)?;
        check_members(name, &members, &links, &files)?;
        kept.retain(|path, _| files.get(path).is_some());
        let listed = files.files().map(|(path, _)| path.to_owned()).collect();
        let linked = linked_paths(&listed, &linked_folders(&links, &files)).map_err(one)?;
        let mut paths: BTreeSet<String> = listed;
        paths.extend(linked);
        // Links must not multiply the contents.
        let lengths =
            paths
                .iter()
                .filter_map(|path| match members.get(&follow(path, &links)?)? {
                    Member::File { length, .. } => Some(*length),
                    _ => None,
                });
        let most = most_unpacked(bytes, &options.limits);
        if lengths.fold(0, u64::saturating_add) > most {
            let what = "bytes in the files and links of an archive of this size";
            return Err(one(Limits::exceeded(what, most).at(place(name))));
        }
        Ok(Self {
            manifest,
            files,
            paths,
            kept,
            links,
            symbolic,
            executables,
            findings,
        })
    }

    /// The symbolic links that `FILES.json` lists, with the listed paths to which they lead in the end. None of them is
    /// below another one.
    pub(super) fn symbolic_links(&self) -> impl Iterator<Item = (&str, String)> {
        let listed = self.symbolic.iter().filter(|link| {
            let mut folders = link.match_indices('/').map(|(at, _)| &link[..at]);
            self.files.get(link).is_some() && !folders.any(|folder| self.links.contains_key(folder))
        });
        listed.filter_map(|link| {
            let target = follow(link, &self.links)?;
            self.files.get(&target)?;
            Some((link.as_str(), target))
        })
    }

    /// The readme: the file that the manifest names, or else the one with the usual name.
    pub fn readme(&self) -> Option<(&str, &[u8])> {
        self.text(self.manifest.about.readme.as_deref(), &["readme"])
    }

    /// The licence: the file that the manifest names, or else the one with a usual name.
    pub fn licence(&self) -> Option<(&str, &[u8])> {
        let named = self.manifest.about.license_file.as_deref();
        self.text(named, &["licen", "copying"])
    }

    /// A text at the top of the collection, by its name or by the beginnings of names.
    fn text(&self, named: Option<&str>, beginnings: &[&str]) -> Option<(&str, &[u8])> {
        let texts = || self.kept.iter().filter(|(path, _)| is_text(path));
        let named = named.and_then(|named| texts().find(|(path, _)| *path == named));
        let usual = || {
            texts().find(|(path, _)| {
                let path = path.to_ascii_lowercase();
                beginnings
                    .iter()
                    .any(|beginning| path.starts_with(beginning))
            })
        };
        let (path, content) = named.or_else(usual)?;
        Some((path, content))
    }

    /// Takes the findings that are no errors.
    pub fn take_findings(&mut self) -> Vec<Diagnostic> {
        std::mem::take(&mut self.findings)
    }

    /// Whether a file is a program: its owner may run it.
    pub fn is_executable(&self, path: &str) -> bool {
        let content = follow(path, &self.links);
        content.is_some_and(|path| self.executables.contains(&path))
    }

    /// Passes all files to `write`, in the order of the archive and with links replaced by their targets: first
    /// `MANIFEST.json` and `FILES.json`, then what is listed. `bytes` are those that the artifact was read from.
    pub fn extract<E: From<Diagnostic>>(
        &self,
        name: &str,
        bytes: &[u8],
        limits: &Limits,
        write: &mut WriteFile<'_, E>,
    ) -> Result<(), E> {
        let mut reader = MemberReader::new(name, limits);
        reader.read(bytes, &|_| true)?;
        let own = [COLLECTION_MANIFEST, FILE_LIST].map(str::to_owned);
        for path in own.iter().chain(&self.paths) {
            let content = follow(path, &self.links);
            if let Some(content) = content.and_then(|path| reader.kept.get(&path)) {
                write(&valid_path(name, path)?, content)?;
            }
        }
        Ok(())
    }
}

impl FileTree for CollectionArtifact {
    fn paths(&self) -> Result<Vec<String>, Diagnostic> {
        Ok(self.paths.iter().cloned().collect())
    }

    fn linked_folders(&self) -> Result<BTreeMap<String, String>, Diagnostic> {
        Ok(linked_folders(&self.links, &self.files))
    }

    fn read(&self, path: &str, limit: u64) -> Result<Option<Vec<u8>>, Diagnostic> {
        let content = follow(path, &self.links).and_then(|path| self.kept.get(&path));
        match content {
            Some(content) if u64::try_from(content.len()).is_ok_and(|size| size > limit) => Err(
                Limits::exceeded(&format!("bytes in {}", Escaped::shortened(path)), limit),
            ),
            content => Ok(content.cloned()),
        }
    }
}

/// The most bytes that the contents of an artifact may have.
fn most_unpacked(bytes: &[u8], limits: &Limits) -> u64 {
    let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    let of_ratio = size.saturating_mul(limits.unpacked_ratio);
    limits
        .unpacked_bytes
        .min(of_ratio.max(limits.unpacked_ratio_floor))
}

/// Whether a file is a text for people at the top of a collection.
fn is_text(path: &str) -> bool {
    let is_one = |beginning: &str| {
        path.get(..beginning.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(beginning))
    };
    !path.contains('/') && ["readme", "licen", "copying"].into_iter().any(is_one)
}

/// The links that are listed as folders, with the folders to which they lead in the end.
fn linked_folders(links: &BTreeMap<String, String>, files: &FileList) -> BTreeMap<String, String> {
    let of_folders = links
        .keys()
        .filter(|path| matches!(files.get(path), Some(ListedFile::Folder)));
    of_folders
        .filter_map(|path| Some((path.clone(), follow(path, links)?)))
        .collect()
}

/// The path of the file to which links lead, from the path itself or a folder above it.
fn follow(path: &str, links: &BTreeMap<String, String>) -> Option<String> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        let ends = path
            .match_indices('/')
            .map(|(at, _)| at)
            .chain([path.len()]);
        let mut links_above = ends.filter_map(|end| Some((end, links.get(&path[..end])?)));
        let link = links_above.next();
        match link {
            Some((end, target)) => path = format!("{target}{}", &path[end..]),
            None => return Some(path),
        }
    }
    None
}

fn valid_path(name: &str, path: &str) -> Result<PackagePath, Diagnostic> {
    PackagePath::parse(path)
        .map_err(|error| Diagnostic::error(Code::Path, error.to_string()).at(place(name)))
}

/// The path to which a link leads from the folder of `from`; `None` if it leads out of the collection.
fn link_target(from: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = match from.rsplit_once('/') {
        Some((folder, _)) => folder.split('/').collect(),
        None => Vec::new(),
    };
    if target.starts_with('/') {
        return None;
    }
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

/// The digest and the length of a content. Only content that is to be `kept` is in memory as a whole.
fn digest_of(
    source: &mut dyn Read,
    mut kept: Option<&mut Vec<u8>>,
) -> std::io::Result<([u8; 32], u64)> {
    let mut hasher = Sha256::new();
    let mut length = 0_u64;
    let mut piece = [0; 8192];
    loop {
        let count = source.read(&mut piece)?;
        if count == 0 {
            return Ok((hasher.finalize().into(), length));
        }
        hasher.update(&piece[..count]);
        length += count as u64;
        if let Some(kept) = &mut kept {
            kept.extend_from_slice(&piece[..count]);
        }
    }
}

/// Reads the members of a tar file.
struct MemberReader<'name> {
    name: &'name str,
    limits: &'name Limits,
    members: BTreeMap<String, Member>,
    kept: BTreeMap<String, Vec<u8>>,
    symbolic: BTreeSet<String>,
    executables: BTreeSet<String>,
}

impl<'name> MemberReader<'name> {
    fn new(name: &'name str, limits: &'name Limits) -> Self {
        Self {
            name,
            limits,
            members: BTreeMap::new(),
            kept: BTreeMap::new(),
            symbolic: BTreeSet::new(),
            executables: BTreeSet::new(),
        }
    }

    fn error(&self, message: String) -> Diagnostic {
        Diagnostic::error(Code::Archive, message).at(place(self.name))
    }

    fn limit(&self, what: &str, limit: u64) -> Diagnostic {
        Limits::exceeded(what, limit).at(place(self.name))
    }

    /// The links, with their targets.
    fn links(&self) -> BTreeMap<String, String> {
        let links = self
            .members
            .iter()
            .filter_map(|(path, member)| match member {
                Member::Link { target } => Some((path.clone(), target.clone())),
                _ => None,
            });
        links.collect()
    }

    fn read(&mut self, bytes: &[u8], is_kept: &dyn Fn(&str) -> bool) -> Result<(), Diagnostic> {
        let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if size > self.limits.archive_bytes {
            return Err(self.limit("bytes in an archive", self.limits.archive_bytes));
        }
        let most = most_unpacked(bytes, self.limits);
        let too_large =
            |reader: &Self| reader.limit("bytes in the files of an archive of this size", most);
        // Headers and padding count as well, and one more byte shows that the limit is exceeded.
        // Other programs read all members of a gzip file, too.
        let decoder = MultiGzDecoder::new(bytes);
        let mut archive = tar::Archive::new(decoder.take(most.saturating_add(1)));
        let entries = archive.entries().map_err(|error| self.broken(&error))?;
        let mut unpacked = 0_u64;
        let mut count = 0_u64;
        for entry in entries {
            let entry = match entry {
                Ok(entry) => entry,
                Err(_) if unpacked >= most => return Err(too_large(self)),
                Err(error) => return Err(self.broken(&error)),
            };
            count += 1;
            if count > self.limits.archive_entries {
                return Err(self.limit("entries in an archive", self.limits.archive_entries));
            }
            unpacked = unpacked.saturating_add(entry.size().saturating_add(512));
            if unpacked > most {
                return Err(too_large(self));
            }
            let Some(path) = self.path_of(&entry)? else {
                continue;
            };
            let member = self.member(entry, &path, is_kept)?;
            let shown = Escaped::shortened(&path).to_string();
            if self.members.insert(path, member).is_some() {
                return Err(self.error(format!("`{shown}` appears twice")));
            }
        }
        let mut rest = archive.into_inner();
        let is_padding = is_zero(&mut rest).map_err(|error| self.broken(&error))?;
        if rest.limit() == 0 {
            return Err(too_large(self));
        }
        if !is_padding {
            return Err(self.error("something follows the end of the archive".to_owned()));
        }
        Ok(())
    }

    /// The targets of links that are to be kept under the path of the link, and were not: only now they are known.
    fn unread_targets(
        &self,
        links: &BTreeMap<String, String>,
        is_kept: &dyn Fn(&str) -> bool,
    ) -> BTreeSet<String> {
        let is_file = |path: &String| matches!(self.members.get(path), Some(Member::File { .. }));
        links
            .keys()
            .filter_map(|link| Some((link, follow(link, links)?)))
            .filter(|(link, target)| !is_kept(target) && (is_kept(link) || !is_file(target)))
            .map(|(_, target)| target)
            .collect()
    }

    /// The error about an archive that cannot be read.
    fn broken(&self, error: &std::io::Error) -> Diagnostic {
        let shown = error.to_string();
        self.error(format!(
            "this is not a gzipped tar file: {}",
            Escaped::shortened(&shown)
        ))
    }

    /// The path of a member; `None` for the top folder.
    fn path_of(&self, entry: &tar::Entry<'_, impl Read>) -> Result<Option<String>, Diagnostic> {
        let path = String::from_utf8(entry.path_bytes().into_owned())
            .map_err(|_| self.error("the path of a member is not UTF-8".to_owned()))?;
        let path = path.strip_prefix("./").unwrap_or(&path);
        if entry.header().entry_type() != EntryType::Directory {
            return Ok(Some(valid_path(self.name, path)?.as_str().to_owned()));
        }
        match path.strip_suffix('/').unwrap_or(path) {
            "" | "." => Ok(None),
            path => Ok(Some(valid_path(self.name, path)?.as_str().to_owned())),
        }
    }

    /// Reads a member. `path` is its path in the archive.
    fn member(
        &mut self,
        mut entry: tar::Entry<'_, impl Read>,
        path: &str,
        is_kept: &dyn Fn(&str) -> bool,
    ) -> Result<Member, Diagnostic> {
        let shown = Escaped::shortened(path);
        let kind = entry.header().entry_type();
        match kind {
            EntryType::Directory => Ok(Member::Folder),
            EntryType::Regular | EntryType::Continuous => {
                let mut content = is_kept(path).then(Vec::new);
                let (digest, length) =
                    digest_of(&mut entry, content.as_mut()).map_err(|error| self.broken(&error))?;
                if length != entry.size() {
                    return Err(self.error(format!("the archive ends within `{shown}`")));
                }
                let mode = entry.header().mode().unwrap_or_default();
                if mode & OWNER_MAY_RUN != 0 {
                    self.executables.insert(path.to_owned());
                }
                if let Some(content) = content {
                    self.kept.insert(path.to_owned(), content);
                }
                Ok(Member::File { digest, length })
            }
            EntryType::Symlink | EntryType::Link => {
                let target = entry.link_name_bytes().unwrap_or_default().into_owned();
                let target = String::from_utf8(target).unwrap_or_default();
                // Hard links are written from the top folder.
                let from = if kind == EntryType::Link {
                    ""
                } else {
                    self.symbolic.insert(path.to_owned());
                    path
                };
                let target = link_target(from, &target).ok_or_else(|| {
                    self.error(format!("the link `{shown}` leads out of the collection"))
                })?;
                Ok(Member::Link { target })
            }
            _ => {
                let message = format!("`{shown}` is neither a file, a folder nor a link");
                Err(self.error(message))
            }
        }
    }
}

/// Whether all that is left to read is zero. Reads to the end, where the checksum of a gzip file is.
fn is_zero(rest: &mut impl Read) -> std::io::Result<bool> {
    let mut buffer = [0; 4096];
    let mut is_zero = true;
    loop {
        let length = match rest.read(&mut buffer) {
            Ok(0) => return Ok(is_zero),
            Ok(length) => length,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        is_zero = is_zero && buffer[..length].iter().all(|byte| *byte == 0);
    }
}

/// Compares the members with what the list of files says about them.
fn check_members(
    name: &str,
    members: &BTreeMap<String, Member>,
    links: &BTreeMap<String, String>,
    files: &FileList,
) -> Result<(), Vec<Diagnostic>> {
    // Folders need no member of their own.
    let mut folders = BTreeSet::new();
    for path in members.keys() {
        folders.extend(path.match_indices('/').map(|(at, _)| &path[..at]));
    }
    let mut wrong = Vec::new();
    let mut report = |code, message: String| {
        wrong.push(Diagnostic::error(code, message).at(place(name)));
    };
    for (path, listed) in files.all() {
        let shown = Escaped::shortened(path);
        let target = follow(path, links);
        let member = target.as_ref().and_then(|target| members.get(target));
        let is_folder = target.is_some_and(|target| folders.contains(target.as_str()));
        match (listed, member) {
            (ListedFile::Folder, Some(Member::Folder)) => {}
            (ListedFile::Folder, None) if is_folder => {}
            (ListedFile::File { digest }, Some(Member::File { digest: actual, .. })) => {
                if digest != actual {
                    let actual = Hexadecimal(actual);
                    report(
                        Code::Digest,
                        format!(
                            "`{shown}` has the SHA-256 {actual}, and FILES.json says otherwise"
                        ),
                    );
                }
            }
            (_, None) => report(
                Code::Digest,
                format!("FILES.json lists `{shown}`, which is missing"),
            ),
            (ListedFile::Folder, _) => report(
                Code::Digest,
                format!("`{shown}` is not the folder that FILES.json lists"),
            ),
            (ListedFile::File { .. }, _) => report(
                Code::Digest,
                format!("`{shown}` is not the file that FILES.json lists"),
            ),
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

#[cfg(test)]
mod tests;
