//! Releases behind links, which are not followed.

use std::fs;
use std::path::Path;

use pkgres_manifest::{MANIFEST_FILE, ReadOptions};

use super::is_zip;
use super::releases::ReleaseFile;

/// How many folders deep releases are looked for in a folder that a link leads to: enough for namespaces of collections.
const LINKED_FOLDERS_DEPTH: usize = 2;
/// The most entries of such a folder that are looked at.
const MAX_LINKED_ENTRIES: usize = 1_000;

/// Whether a link leads to a release, or to a folder with releases.
pub(super) fn leads_to_releases(link: &Path, options: &ReadOptions) -> bool {
    match fs::metadata(link) {
        Ok(target) if target.is_dir() => has_releases(link, LINKED_FOLDERS_DEPTH, options),
        Ok(target) => target.is_file() && is_release(link, options),
        Err(_) => false,
    }
}

/// Whether a folder that a link leads to is a release, or has one. The root of a machine has links to many other folders.
fn has_releases(folder: &Path, depth: usize, options: &ReadOptions) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut entries = entries.take(MAX_LINKED_ENTRIES);
    entries.any(|entry| {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => depth > 0 && has_releases(&path, depth - 1, options),
            Ok(_) => is_release(&path, options),
            Err(_) => false,
        }
    })
}

/// Whether a file is a release, or says that its folder is one.
fn is_release(path: &Path, options: &ReadOptions) -> bool {
    let is_manifest = path.file_name().is_some_and(|name| name == MANIFEST_FILE);
    if is_manifest || is_zip(path) {
        return true;
    }
    let target = fs::canonicalize(path);
    target.is_ok_and(|target| ReleaseFile::recognize_link(path, &target, options).is_some())
}
