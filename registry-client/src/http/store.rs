//! What is kept on disk of a registry: the documents that it gave, and what was seen of its state.
//!
//! The documents are a cache, in one file that is replaced as a whole: a line of JSON that says
//! what there is, then the documents one after the other. Whatever is wrong with it, it is as if
//! it were not there. What was seen of the state is no cache, and damage to it is an error.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pkgres_files::{
    FileBytes, FileError, Follow, RealFileSystem, make_folder, map_file, read_file,
    write_cache_file, write_private_file,
};
use pkgres_manifest::{ClassName, PackageName};

use crate::protocol::{Config, Digest};

use super::address::Address;
use super::trust::Seen;

/// Raised whenever the file of documents changes its form.
const FORMAT: u32 = 1;

/// The largest file of documents, in bytes.
const MAX_KEPT_BYTES: u64 = 1 << 30;

/// The largest file of a state, in bytes.
const MAX_STATE_BYTES: u64 = 64 << 10;

/// The names of the files of a registry.
const DOCUMENTS: &str = "documents";
const NAMES: &str = "names.ndjson";

/// What is known of a registry from earlier runs.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub(super) struct Header {
    format: u32,
    pub(super) address: String,
    pub(super) config: Config,
    /// When the config was fetched.
    pub(super) config_at: jiff::Timestamp,
    /// The state that current documents belong to.
    pub(super) serial: u64,
    pub(super) root: Option<Digest>,
    pub(super) documents: Vec<KeptDocument>,
    /// Packages that the registry does not have.
    pub(super) absent: Vec<PackageName>,
    /// Who defines a class, as of the state.
    pub(super) classes: BTreeMap<ClassName, Vec<PackageName>>,
}

/// A document in the file.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub(super) struct KeptDocument {
    pub(super) name: PackageName,
    pub(super) sha256: Digest,
    length: usize,
    /// Whether it belongs to the state, or is older.
    pub(super) is_current: bool,
}

/// The bytes of a document.
#[derive(Debug, Clone)]
pub(super) enum Bytes {
    Own(Arc<[u8]>),
    Kept(Arc<FileBytes>, Range<usize>),
}

impl std::ops::Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Own(bytes) => bytes,
            Self::Kept(file, range) => &file[range.clone()],
        }
    }
}

/// The folder of a registry in that of the cache.
pub(super) fn folder(cache: &Path, address: &Address) -> PathBuf {
    cache.join("registries").join(file_name(address))
}

fn file_name(address: &Address) -> String {
    Digest::of(address.as_str().as_bytes()).to_string()
}

/// Reads what is kept, if it is whole.
pub(super) fn read_kept(folder: &Path, address: &Address) -> Option<(Header, Vec<Bytes>)> {
    let file = map_file(&folder.join(DOCUMENTS), MAX_KEPT_BYTES).ok()?;
    let end = memchr::memchr(b'\n', &file)?;
    let header: Header = serde_json::from_slice(&file[..end]).ok()?;
    if header.format != FORMAT || header.address != address.as_str() {
        return None;
    }
    let file = Arc::new(file);
    let mut start = end + 1;
    let mut all = Vec::with_capacity(header.documents.len());
    for document in &header.documents {
        let end = start.checked_add(document.length)?;
        if end > file.len() {
            return None;
        }
        // After a crash of the machine there may be anything in a file of a cache.
        if Digest::of(&file[start..end]) != document.sha256 {
            return None;
        }
        all.push(Bytes::Kept(Arc::clone(&file), start..end));
        start = end;
    }
    (start == file.len()).then_some((header, all))
}

/// Keeps documents for later runs. That it cannot be done is no error.
pub(super) fn write_kept<'entry>(
    folder: &Path,
    address: &Address,
    mut header: Header,
    documents: impl IntoIterator<Item = (&'entry PackageName, Digest, &'entry [u8], bool)>,
) {
    let mut body = Vec::new();
    header.documents.clear();
    for (name, sha256, bytes, is_current) in documents {
        header.documents.push(KeptDocument {
            name: name.clone(),
            sha256,
            length: bytes.len(),
            is_current,
        });
        body.extend_from_slice(bytes);
    }
    address.as_str().clone_into(&mut header.address);
    let mut file = serde_json::to_vec(&header).expect("texts and numbers are valid JSON");
    file.push(b'\n');
    file.append(&mut body);
    let _ = write_cache_file(&RealFileSystem, &folder.join(DOCUMENTS), &file);
}

impl Header {
    pub(super) fn new(config: Config, config_at: jiff::Timestamp) -> Self {
        Self {
            format: FORMAT,
            address: String::new(),
            config,
            config_at,
            serial: 0,
            root: None,
            documents: Vec::new(),
            absent: Vec::new(),
            classes: BTreeMap::new(),
        }
    }
}

/// The digests of all documents of a mirror, as they were read last.
pub(super) fn read_names(folder: &Path) -> Option<Vec<u8>> {
    read_file(&folder.join(NAMES), MAX_KEPT_BYTES, Follow::Nothing).ok()
}

/// Keeps them. That it cannot be done is no error.
pub(super) fn write_names(folder: &Path, bytes: &[u8]) {
    let _ = write_cache_file(&RealFileSystem, &folder.join(NAMES), bytes);
}

/// The file of what was seen of the state of a registry.
pub(super) fn state_path(folder: &Path, address: &Address) -> PathBuf {
    folder.join("registries").join(file_name(address))
}

/// What was seen of the state, if anything was.
pub(super) fn read_seen(path: &Path) -> Result<Option<Seen>, FileError> {
    let bytes = match read_file(path, MAX_STATE_BYTES, Follow::Nothing) {
        Ok(bytes) => bytes,
        Err(error) if error.is_not_found() => return Ok(None),
        Err(error) => return Err(error),
    };
    let seen = serde_json::from_slice(&bytes).map_err(|_| FileError::Refused {
        path: path.to_owned(),
        reason: "this is not what was seen of a registry; remove it to begin anew".to_owned(),
    })?;
    Ok(Some(seen))
}

/// Keeps what was seen of the state. Another run may have seen a newer one meanwhile, which stays.
pub(super) fn write_seen(path: &Path, seen: &Seen) -> Result<(), FileError> {
    if let Some(other) = read_seen(path)?
        && other.registry == seen.registry
        && other.key == seen.key
        && other.serial >= seen.serial
    {
        return Ok(());
    }
    let text = serde_json::to_string_pretty(seen).expect("texts and numbers are valid JSON");
    if let Some(folder) = path.parent() {
        make_folder(&RealFileSystem, folder)?;
    }
    write_private_file(&RealFileSystem, path, format!("{text}\n").as_bytes())
}

/// The address, number of documents and size of what is kept in a folder.
pub(super) fn summary(folder: &Path) -> Option<(String, usize, u64)> {
    let file = map_file(&folder.join(DOCUMENTS), MAX_KEPT_BYTES).ok()?;
    let end = memchr::memchr(b'\n', &file)?;
    let header: Header = serde_json::from_slice(&file[..end]).ok()?;
    Some((header.address, header.documents.len(), file.len() as u64))
}
