//! The files of a registry on disk: its documents, and its trusted state.
//!
//! The documents are a cache, in one file that is replaced as a whole: the digest of a line of JSON, that line, which
//! lists the documents, then the documents one after the other. A damaged file counts as absent. The trusted state
//! is not a cache, and damage to it is an error.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pkgres_files::{
    FileError, Follow, RealFileSystem, lock_file, make_folder, map_file, read_file,
    write_cache_file, write_cache_pieces, write_private_file,
};
use pkgres_manifest::{ClassName, PackageName, read_json};

use crate::protocol::{Config, Digest};

use super::address::Address;
use super::document::Document;
use super::trust::TrustedState;

/// The format of the file of documents, raised with every change.
const FORMAT: u32 = 2;

/// The limit of the file of documents, in bytes.
const MAX_CACHED_BYTES: u64 = 1 << 30;

/// The limit of the file of a state, in bytes.
const MAX_STATE_BYTES: u64 = 64 << 10;

/// The names of the files of a registry.
const DOCUMENTS: &str = "documents";
const NAMES: &str = "names.ndjson";

/// The data of a registry that earlier runs stored.
pub(super) struct CachedData {
    pub(super) config: Config,
    /// When the config was fetched.
    pub(super) config_at: jiff::Timestamp,
    /// The state that current documents belong to.
    pub(super) serial: u64,
    pub(super) root: Option<Digest>,
    /// For each package its document, and whether that belongs to the state or is older.
    pub(super) documents: Vec<(PackageName, Document, bool)>,
    /// Packages that the registry does not have.
    pub(super) absent: Vec<PackageName>,
    /// The packages that define a class, as of the state.
    pub(super) classes: BTreeMap<ClassName, Vec<PackageName>>,
}

/// The line of JSON at the start of the file of documents.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct CacheHeader {
    format: u32,
    address: String,
    config: Config,
    config_at: jiff::Timestamp,
    serial: u64,
    root: Option<Digest>,
    documents: Vec<CachedDocument>,
    /// The packages that documents require.
    required: Vec<PackageName>,
    pub(super) absent: Vec<PackageName>,
    pub(super) classes: BTreeMap<ClassName, Vec<PackageName>>,
}

/// A document in the file.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
struct CachedDocument {
    name: PackageName,
    sha256: Digest,
    length: usize,
    is_current: bool,
    /// The packages that its releases require: positions in `CacheHeader::required`.
    requires: Vec<u32>,
}

/// The folder of a registry in the cache.
pub(super) fn folder(cache: &Path, address: &Address) -> PathBuf {
    cache.join("registries").join(file_name(address))
}

fn file_name(address: &Address) -> String {
    Digest::of(address.as_str().as_bytes()).to_string()
}

/// Reads the stored data, unless it is damaged. Documents are compared with their digests on use.
pub(super) fn read_cached(folder: &Path, address: &Address) -> Option<CachedData> {
    let file = bytes::Bytes::from_owner(map_file(&folder.join(DOCUMENTS), MAX_CACHED_BYTES).ok()?);
    let (header, mut start) = read_header(&file)?;
    if header.address != address.as_str() {
        return None;
    }
    let mut documents = Vec::with_capacity(header.documents.len());
    for document in header.documents {
        let end = start.checked_add(document.length)?;
        if end > file.len() {
            return None;
        }
        let requires = document.requires.iter();
        let requires = requires
            .map(|at| header.required.get(*at as usize).cloned())
            .collect::<Option<_>>()?;
        let kept = Document::kept(document.sha256, file.slice(start..end), requires);
        documents.push((document.name, kept, document.is_current));
        start = end;
    }
    (start == file.len()).then_some(CachedData {
        config: header.config,
        config_at: header.config_at,
        serial: header.serial,
        root: header.root,
        documents,
        absent: header.absent,
        classes: header.classes,
    })
}

/// The header of a file of documents, and the position of the first document. After a crash of the machine the
/// file may hold anything.
fn read_header(file: &[u8]) -> Option<(CacheHeader, usize)> {
    let first = memchr::memchr(b'\n', file)?;
    let second = first + 1 + memchr::memchr(b'\n', &file[first + 1..])?;
    let (digest, header) = (&file[..first], &file[first + 1..second]);
    if Digest::of(header).to_string().as_bytes() != digest {
        return None;
    }
    let header: CacheHeader = read_json(header).ok()?;
    (header.format == FORMAT).then_some((header, second + 1))
}

/// Writes the documents of packages, each with whether it belongs to the state. A cache that cannot be written
/// is not an error.
pub(super) fn write_cached(
    folder: &Path,
    address: &Address,
    mut header: CacheHeader,
    documents: &[(PackageName, Arc<Document>, bool)],
) {
    let mut places: HashMap<PackageName, u32> = HashMap::new();
    let mut listed: Vec<&[u8]> = Vec::with_capacity(documents.len());
    for (name, document, is_current) in documents {
        // A document that was never read has no known requirements, and is read on use.
        let Some(requires) = document.known_requires() else {
            continue;
        };
        let mut place = |required: &PackageName| {
            *places.entry(required.clone()).or_insert_with(|| {
                header.required.push(required.clone());
                u32::try_from(header.required.len() - 1).expect("packages are counted in 32 bits")
            })
        };
        let requires = requires.iter().map(&mut place).collect();
        header.documents.push(CachedDocument {
            name: name.clone(),
            sha256: document.sha256,
            length: document.bytes.len(),
            is_current: *is_current,
            requires,
        });
        listed.push(&document.bytes);
    }
    address.as_str().clone_into(&mut header.address);
    let header = serde_json::to_vec(&header).expect("texts and numbers are valid JSON");
    let digest = Digest::of(&header).to_string();
    let head = [digest.as_bytes(), b"\n", &header, b"\n"];
    let pieces = head.into_iter().chain(listed);
    let _ = write_cache_pieces(&RealFileSystem, &folder.join(DOCUMENTS), pieces);
}

impl CacheHeader {
    pub(super) fn new(
        config: Config,
        config_at: jiff::Timestamp,
        serial: u64,
        root: Option<Digest>,
    ) -> Self {
        Self {
            format: FORMAT,
            address: String::new(),
            config,
            config_at,
            serial,
            root,
            documents: Vec::new(),
            required: Vec::new(),
            absent: Vec::new(),
            classes: BTreeMap::new(),
        }
    }
}

/// The last list of all documents of a mirror with their digests.
pub(super) fn read_names(folder: &Path) -> Option<Vec<u8>> {
    read_file(&folder.join(NAMES), MAX_CACHED_BYTES, Follow::Nothing).ok()
}

/// Writes that list. A cache that cannot be written is not an error.
pub(super) fn write_names(folder: &Path, bytes: &[u8]) {
    let _ = write_cache_file(&RealFileSystem, &folder.join(NAMES), bytes);
}

/// The file of the trusted state of a registry.
pub(super) fn state_path(folder: &Path, address: &Address) -> PathBuf {
    folder.join("registries").join(file_name(address))
}

/// Reads the trusted state, if there is one.
pub(super) fn read_trusted_state(path: &Path) -> Result<Option<TrustedState>, FileError> {
    let bytes = match read_file(path, MAX_STATE_BYTES, Follow::Nothing) {
        Ok(bytes) => bytes,
        Err(error) if error.is_not_found() => return Ok(None),
        Err(error) => return Err(error),
    };
    let seen = read_json(&bytes).map_err(|_| FileError::Rejected {
        path: path.to_owned(),
        reason: "this file is not a saved state of a registry; delete it to start over".to_owned(),
    })?;
    Ok(Some(seen))
}

/// Writes the trusted state. A newer one that another run wrote meanwhile stays; a lock makes comparing and
/// writing one step.
pub(super) fn write_trusted_state(path: &Path, seen: &TrustedState) -> Result<(), FileError> {
    if let Some(folder) = path.parent() {
        make_folder(&RealFileSystem, folder)?;
    }
    let _alone = lock_file(&path.with_extension("lock"))?;
    if let Some(other) = read_trusted_state(path)?
        && other.registry == seen.registry
        && other.key == seen.key
        && other.serial >= seen.serial
    {
        return Ok(());
    }
    let text = serde_json::to_string_pretty(seen).expect("texts and numbers are valid JSON");
    write_private_file(&RealFileSystem, path, format!("{text}\n").as_bytes())
}

/// A registry of which a cache has documents.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct CachedRegistry {
    /// The address.
    pub address: String,
    /// The number of its documents.
    pub documents: usize,
    /// Their size in bytes.
    pub bytes: u64,
}

/// The registry whose documents are kept in a folder.
pub(super) fn summary(folder: &Path) -> Option<CachedRegistry> {
    let file = map_file(&folder.join(DOCUMENTS), MAX_CACHED_BYTES).ok()?;
    let (header, _) = read_header(&file)?;
    Some(CachedRegistry {
        address: header.address,
        documents: header.documents.len(),
        bytes: file.len() as u64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::SigningKey;

    #[test]
    fn an_older_state_does_not_replace_a_newer_one() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("one");
        let seen = |serial, key: u8| TrustedState {
            registry: "r".to_owned(),
            key: SigningKey::from_bytes(&[key; 32]).public(),
            serial,
            root: Digest::of(b""),
        };
        for (next, expected) in [
            (seen(5, 7), seen(5, 7)),
            (seen(3, 7), seen(5, 7)),
            (seen(6, 7), seen(6, 7)),
            // Another key in the settings starts anew.
            (seen(2, 8), seen(2, 8)),
        ] {
            write_trusted_state(&path, &next).expect("it can be written");
            assert_eq!(
                read_trusted_state(&path).expect("it can be read"),
                Some(expected)
            );
        }
    }

    #[test]
    fn the_newest_of_concurrent_states_is_stored() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("registries").join("one");
        let key = SigningKey::from_bytes(&[7; 32]).public();
        let seen = |serial| TrustedState {
            registry: "r".to_owned(),
            key,
            serial,
            root: Digest::of(b""),
        };
        std::thread::scope(|scope| {
            for first in 0..4 {
                let (path, seen) = (&path, &seen);
                scope.spawn(move || {
                    for serial in 0..8 {
                        write_trusted_state(path, &seen(serial * 4 + first))
                            .expect("it can be written");
                    }
                });
            }
        });
        let newest = read_trusted_state(&path).expect("it can be read");
        assert_eq!(newest, Some(seen(31)));
    }
}
