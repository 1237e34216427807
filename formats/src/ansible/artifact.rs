//! Artifacts of collections: `NAMESPACE-NAME-VERSION.tar.gz`.
//!
//! An artifact is a chain: `MANIFEST.json` has the SHA-256 of `FILES.json`, and `FILES.json` that of every other file.
//! All of it is checked before anything of an artifact is used. ansible-core checks the first link only in
//! `ansible-galaxy collection verify`.
//!
//! Members are files, folders, and links to members. Anything else, a path that leads out of the collection, and a
//! member that comes twice are errors. Members that `FILES.json` does not list are left out.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

use flate2::read::GzDecoder;
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped, Location, SourceText, Span};
use pkgres_manifest::{Hexadecimal, Limits, PackagePath, ReadOptions};
use sha2::{Digest as _, Sha256};
use tar::EntryType;

use super::file_list::{FILE_LIST, FileList, ListedFile};
use super::metadata::{COLLECTION_MANIFEST, CollectionManifest, read_collection_manifest};
use super::tree::is_of_interest;
use crate::format::FileTree;

/// The bit of a mode that says that the owner of a file may run it.
const OWNER_MAY_RUN: u32 = 0o100;

/// The most links from one member to another that are followed.
const MAX_LINKS: usize = 8;

/// An artifact whose chain of digests is right.
#[derive(Debug)]
pub struct CollectionArtifact {
    /// What its `MANIFEST.json` says.
    pub manifest: CollectionManifest,
    /// The files and folders that it lists.
    pub files: FileList,
    /// The content of the files that were kept.
    kept: BTreeMap<String, Vec<u8>>,
    /// The targets of links.
    links: BTreeMap<String, String>,
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
    File { digest: [u8; 32] },
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
        let MemberReader {
            members,
            mut kept,
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
        check_members(name, &members, &files)?;
        let links = members
            .into_iter()
            .filter_map(|(path, member)| match member {
                Member::Link { target } => Some((path, target)),
                _ => None,
            });
        kept.retain(|path, _| files.get(path).is_some());
        Ok(Self {
            manifest,
            files,
            links: links.collect(),
            executables,
            kept,
            findings,
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
        let listed = self.files.files().map(|(path, _)| path.to_owned());
        for path in own.into_iter().chain(listed) {
            let content = follow(&path, &self.links);
            if let Some(content) = content.and_then(|path| reader.kept.get(&path)) {
                write(&valid_path(name, &path)?, content)?;
            }
        }
        Ok(())
    }
}

impl FileTree for CollectionArtifact {
    fn paths(&self) -> Result<Vec<String>, Diagnostic> {
        Ok(self
            .files
            .files()
            .map(|(path, _)| path.to_owned())
            .collect())
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

/// Whether a file is a text for people at the top of a collection.
fn is_text(path: &str) -> bool {
    let is_one = |beginning: &str| {
        path.get(..beginning.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(beginning))
    };
    !path.contains('/') && ["readme", "licen", "copying"].into_iter().any(is_one)
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
    executables: BTreeSet<String>,
}

impl<'name> MemberReader<'name> {
    fn new(name: &'name str, limits: &'name Limits) -> Self {
        Self {
            name,
            limits,
            members: BTreeMap::new(),
            kept: BTreeMap::new(),
            executables: BTreeSet::new(),
        }
    }

    fn error(&self, message: String) -> Diagnostic {
        Diagnostic::error(Code::Archive, message).at(place(self.name))
    }

    fn limit(&self, what: &str, limit: u64) -> Diagnostic {
        Limits::exceeded(what, limit).at(place(self.name))
    }

    fn read(&mut self, bytes: &[u8], is_kept: &dyn Fn(&str) -> bool) -> Result<(), Diagnostic> {
        let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if size > self.limits.archive_bytes {
            return Err(self.limit("bytes in an archive", self.limits.archive_bytes));
        }
        let of_ratio = size
            .saturating_mul(self.limits.unpacked_ratio)
            .max(self.limits.unpacked_ratio_floor);
        let most = self.limits.unpacked_bytes.min(of_ratio);
        // Headers and padding count as well, and one more byte shows that the limit is exceeded.
        let mut archive = tar::Archive::new(GzDecoder::new(bytes).take(most.saturating_add(1)));
        let broken = |reader: &Self, error: &std::io::Error| {
            let shown = error.to_string();
            reader.error(format!(
                "it is no gzipped tar file: {}",
                Escaped::shortened(&shown)
            ))
        };
        let entries = archive.entries().map_err(|error| broken(self, &error))?;
        let mut unpacked = 0_u64;
        let mut count = 0_u64;
        for entry in entries {
            let mut entry = match entry {
                Ok(entry) => entry,
                Err(_) if unpacked >= most => {
                    return Err(self.limit("bytes in the files of an archive of this size", most));
                }
                Err(error) => return Err(broken(self, &error)),
            };
            count += 1;
            if count > self.limits.archive_entries {
                return Err(self.limit("entries in an archive", self.limits.archive_entries));
            }
            unpacked = unpacked.saturating_add(entry.size().saturating_add(512));
            if unpacked > most {
                return Err(self.limit("bytes in the files of an archive of this size", most));
            }
            let path = entry.path_bytes().into_owned();
            let path = String::from_utf8(path)
                .map_err(|_| self.error("the path of a member is not UTF-8".to_owned()))?;
            let kind = entry.header().entry_type();
            let relative = path.strip_prefix("./").unwrap_or(&path);
            let relative = match kind {
                EntryType::Directory => relative.strip_suffix('/').unwrap_or(relative),
                _ => relative,
            };
            if kind == EntryType::Directory && matches!(relative, "" | ".") {
                continue;
            }
            let relative = valid_path(self.name, relative)?.as_str().to_owned();
            let shown = Escaped::shortened(&relative).to_string();
            let member = match kind {
                EntryType::Directory => Member::Folder,
                EntryType::Regular | EntryType::Continuous => {
                    let mut content = is_kept(&relative).then(Vec::new);
                    let (digest, length) = digest_of(&mut entry, content.as_mut())
                        .map_err(|error| broken(self, &error))?;
                    if length != entry.size() {
                        return Err(self.error(format!("the archive ends within `{shown}`")));
                    }
                    let mode = entry.header().mode().unwrap_or_default();
                    if mode & OWNER_MAY_RUN != 0 {
                        self.executables.insert(relative.clone());
                    }
                    if let Some(content) = content {
                        self.kept.insert(relative.clone(), content);
                    }
                    Member::File { digest }
                }
                EntryType::Symlink | EntryType::Link => {
                    let target = entry.link_name_bytes().unwrap_or_default().into_owned();
                    let target = String::from_utf8(target).unwrap_or_default();
                    let from = if kind == EntryType::Link {
                        ""
                    } else {
                        &relative
                    };
                    let target = link_target(from, &target).ok_or_else(|| {
                        self.error(format!("the link `{shown}` leads out of the collection"))
                    })?;
                    Member::Link { target }
                }
                _ => {
                    let message = format!("`{shown}` is neither a file, a folder nor a link");
                    return Err(self.error(message));
                }
            };
            if self.members.insert(relative, member).is_some() {
                return Err(self.error(format!("`{shown}` comes twice")));
            }
        }
        Ok(())
    }
}

/// Compares the members with what the list of files says about them.
fn check_members(
    name: &str,
    members: &BTreeMap<String, Member>,
    files: &FileList,
) -> Result<(), Vec<Diagnostic>> {
    let links: BTreeMap<String, String> = members
        .iter()
        .filter_map(|(path, member)| match member {
            Member::Link { target } => Some((path.clone(), target.clone())),
            _ => None,
        })
        .collect();
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
        let target = follow(path, &links);
        let member = target.as_ref().and_then(|target| members.get(target));
        let is_folder = target.is_some_and(|target| folders.contains(target.as_str()));
        match (listed, member) {
            (ListedFile::Folder, Some(Member::Folder)) => {}
            (ListedFile::Folder, None) if is_folder => {}
            (ListedFile::File { digest }, Some(Member::File { digest: actual })) => {
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
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use tar::{Builder, Header};

    use super::*;

    /// A tar file in the making, with the entries that its list of files will have.
    struct Tar {
        builder: Builder<Vec<u8>>,
        listed: Vec<serde_json::Value>,
    }

    impl Tar {
        fn new() -> Self {
            Self {
                builder: Builder::new(Vec::new()),
                listed: Vec::new(),
            }
        }

        fn add(&mut self, kind: EntryType, path: &str, link: &str, content: &[u8]) {
            let mut header = Header::new_ustar();
            header.set_entry_type(kind);
            // `set_path` would not write some of these.
            header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
            header.as_old_mut().linkname[..link.len()].copy_from_slice(link.as_bytes());
            header.set_size(content.len() as u64);
            header.set_mode(0o644);
            header.set_cksum();
            self.builder
                .append(&header, content)
                .expect("memory can be written");
        }

        fn file(&mut self, path: &str, content: &[u8]) {
            self.add(EntryType::Regular, path, "", content);
            let digest = Hexadecimal(&pkgres_manifest::sha256(content)).to_string();
            self.list(path, "file", Some(&digest));
        }

        fn list(&mut self, path: &str, kind: &str, digest: Option<&str>) {
            self.listed.push(serde_json::json!({
                "name": path, "ftype": kind, "chksum_sha256": digest, "chksum_type": digest.map(|_| "sha256"),
                "format": 1,
            }));
        }

        /// Adds the list and the manifest, and compresses everything.
        fn finish(mut self) -> Vec<u8> {
            let list = serde_json::json!({"files": self.listed, "format": 1}).to_string();
            let digest = Hexadecimal(&pkgres_manifest::sha256(list.as_bytes())).to_string();
            let manifest = serde_json::json!({
                "collection_info": {
                    "namespace": "acme", "name": "web", "version": "1.2.0",
                    "dependencies": {"acme.net": ">=1.0.0"},
                },
                "file_manifest_file": {"name": "FILES.json", "chksum_sha256": digest},
                "format": 1,
            });
            let manifest = manifest.to_string();
            self.add(EntryType::Regular, FILE_LIST, "", list.as_bytes());
            self.add(
                EntryType::Regular,
                COLLECTION_MANIFEST,
                "",
                manifest.as_bytes(),
            );
            self.bytes()
        }

        fn bytes(self) -> Vec<u8> {
            let tar = self.builder.into_inner().expect("memory can be written");
            let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(&tar).expect("memory can be written");
            encoder.finish().expect("memory can be written")
        }
    }

    fn errors(bytes: &[u8]) -> Vec<String> {
        match CollectionArtifact::read("a.tar.gz", bytes, &ReadOptions::default()) {
            Ok(_) => Vec::new(),
            Err(errors) => errors.iter().map(ToString::to_string).collect(),
        }
    }

    fn good() -> Tar {
        let mut tar = Tar::new();
        tar.add(EntryType::Directory, "plugins/", "", b"");
        tar.list("plugins", "dir", None);
        tar.list(".", "dir", None);
        tar.file("plugins/modules/page.py", b"X = 1\n");
        tar.add(
            EntryType::Symlink,
            "plugins/modules/link.py",
            "../modules/page.py",
            b"",
        );
        let digest = Hexadecimal(&pkgres_manifest::sha256(b"X = 1\n")).to_string();
        tar.list("plugins/modules/link.py", "file", Some(&digest));
        tar.add(EntryType::Symlink, "plugins/linked", "modules", b"");
        tar.list("plugins/linked/page.py", "file", Some(&digest));
        tar.add(EntryType::Regular, "not-listed", "", b"x");
        tar
    }

    #[test]
    fn a_source_distribution_is_no_artifact() {
        use crate::format::{Format as _, FormatFile, ReleaseExtent};

        let extent = |bytes: &[u8]| {
            let path = "dist/acme-web-1.2.0.tar.gz";
            crate::ansible::Collections.release_extent(&FormatFile { path, bytes })
        };
        let mut distribution = Tar::new();
        distribution.add(EntryType::XGlobalHeader, "pax_global_header", "", b"");
        distribution.file("acme-web-1.2.0/setup.py", &[0; 5000]);
        let bytes = distribution.finish();
        // The beginning is enough.
        assert_eq!(extent(&bytes[..bytes.len() / 2]), None);
        assert_eq!(extent(&bytes), None);
        assert_eq!(extent(&good().finish()), Some(ReleaseExtent::File));
        // What cannot be recognized is reported when it is read.
        assert_eq!(extent(b""), Some(ReleaseExtent::File));
        assert_eq!(extent(b"text"), Some(ReleaseExtent::File));
    }

    #[test]
    fn an_artifact_is_read_and_extracted() {
        let bytes = good().finish();
        let options = ReadOptions::default();
        let artifact = CollectionArtifact::read("a.tar.gz", &bytes, &options).expect("it is right");
        assert_eq!(artifact.manifest.record.name.as_str(), "acme.web");
        let mut written = Vec::new();
        let mut write = |path: &PackagePath, content: &[u8]| -> Result<(), Diagnostic> {
            written.push(format!("{} {}", path.as_str(), content.len()));
            Ok(())
        };
        artifact
            .extract("a.tar.gz", &bytes, &options.limits, &mut write)
            .expect("it is right");
        assert_eq!(
            written[2..],
            [
                "plugins/linked/page.py 6",
                "plugins/modules/link.py 6",
                "plugins/modules/page.py 6"
            ]
        );
        assert!(written[0].starts_with(COLLECTION_MANIFEST) && written[1].starts_with(FILE_LIST));
        let link = FileTree::read(&artifact, "plugins/modules/link.py", 100).expect("it is small");
        assert_eq!(link.as_deref(), Some(&b"X = 1\n"[..]));
    }

    #[test]
    fn hostile_members_are_errors() {
        let with = |kind, path: &str, link: &str| {
            let mut tar = good();
            tar.add(kind, path, link, b"");
            errors(&tar.finish()).join("; ")
        };
        for (kind, path, link, expected) in [
            (EntryType::Regular, "../evil", "", "PK0019"),
            (EntryType::Regular, "/etc/evil", "", "PK0019"),
            (EntryType::Regular, "a/../../evil", "", "PK0019"),
            (EntryType::Symlink, "evil", "../outside", "leads out of"),
            (EntryType::Symlink, "evil", "/etc/passwd", "leads out of"),
            (
                EntryType::Symlink,
                "plugins/evil",
                "../../outside",
                "leads out of",
            ),
            (EntryType::Link, "evil", "../outside", "leads out of"),
            (EntryType::Char, "evil", "", "neither a file"),
            (EntryType::Fifo, "evil", "", "neither a file"),
            (
                EntryType::Regular,
                "plugins/modules/page.py",
                "",
                "comes twice",
            ),
            (EntryType::Directory, "plugins", "", "comes twice"),
        ] {
            let errors = with(kind, path, link);
            assert!(errors.contains(expected), "{path}: {errors}");
        }
    }

    #[test]
    fn links_in_a_circle_lead_nowhere() {
        let mut tar = Tar::new();
        tar.add(EntryType::Symlink, "a", "b", b"");
        tar.add(EntryType::Symlink, "b", "a", b"");
        tar.list("a", "file", Some(&"00".repeat(32)));
        assert_eq!(errors(&tar.finish()).len(), 1);
    }

    #[test]
    fn each_link_of_the_chain_is_checked() {
        let mut changed = good();
        changed.add(EntryType::Regular, "README.md", "", b"changed");
        changed.list("README.md", "file", Some(&"00".repeat(32)));
        assert!(errors(&changed.finish())[0].contains("FILES.json says otherwise"));

        let mut missing = good();
        missing.list("README.md", "file", Some(&"00".repeat(32)));
        assert!(errors(&missing.finish())[0].contains("is missing"));

        let mut folder = good();
        folder.list("not-listed", "dir", None);
        assert!(errors(&folder.finish())[0].contains("not the folder"));

        let mut list = good();
        list.add(EntryType::Regular, FILE_LIST, "", b"{\"files\":[]}");
        let manifest = br#"{"collection_info":{"namespace":"a","name":"b","version":"1.0.0"},
            "file_manifest_file":{"name":"FILES.json","chksum_sha256":"00"},"format":1}"#;
        list.add(EntryType::Regular, COLLECTION_MANIFEST, "", manifest);
        assert!(errors(&list.bytes())[0].contains("MANIFEST.json says 00"));
        assert!(errors(&Tar::new().bytes())[0].contains("has no `MANIFEST.json`"));
    }

    #[test]
    fn texts_for_people_are_at_the_top() {
        let mut tar = Tar::new();
        tar.file("docs/README.md", b"below");
        tar.file("README-first.md", b"other");
        tar.file("readme.rst", b"read me");
        tar.file("LICENSES/MIT", b"below");
        let bytes = tar.finish();
        let options = ReadOptions::default();
        let mut artifact =
            CollectionArtifact::read("a.tar.gz", &bytes, &options).expect("it is right");
        assert_eq!(artifact.readme(), Some(("README-first.md", &b"other"[..])));
        assert_eq!(artifact.licence(), None);
        // The manifest can name another one, but only one that is shown.
        artifact.manifest.about.readme = Some("readme.rst".to_owned());
        assert_eq!(artifact.readme(), Some(("readme.rst", &b"read me"[..])));
        artifact.manifest.about.readme = Some("docs/README.md".to_owned());
        assert_eq!(artifact.readme(), Some(("README-first.md", &b"other"[..])));
    }

    #[test]
    fn bombs_and_broken_archives_are_errors() {
        let mut bomb = good();
        bomb.file("zeros", &vec![0; 8 << 20]);
        assert!(errors(&bomb.finish())[0].contains("PK0001"));
        let good = good().finish();
        assert!(errors(&good).is_empty());
        for length in [0, 10, good.len() / 2] {
            assert_eq!(errors(&good[..length]).len(), 1, "{length}");
        }
        let mut options = ReadOptions::default();
        options.limits.archive_entries = 3;
        assert!(CollectionArtifact::read("a", &good, &options).is_err());
        options = ReadOptions::default();
        options.limits.archive_bytes = 10;
        assert!(CollectionArtifact::read("a", &good, &options).is_err());
    }
}
