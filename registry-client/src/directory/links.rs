//! Releases behind links, which are not followed.

use std::path::Path;
use std::{fs, io};

use pkgres_manifest::{CLASS_PACKAGES, MANIFEST_FILE, ReadOptions};

use super::is_zip;
use super::releases::{ReleaseFile, is_release_name};

/// How many folders deep releases are looked for in a folder that a link leads to: enough for
/// `ansible_collections/NAMESPACE/NAME`.
const LINKED_FOLDERS_DEPTH: usize = 3;
/// The most entries that are looked at behind a link. The root of a machine has many other folders.
const MAX_LINKED_ENTRIES: usize = 10_000;

/// Why a link may hide a release.
pub(super) enum LinkProblem {
    /// It leads to a release, or to a folder with releases.
    NotFollowed,
    /// It has the name of a release, and its target does not exist.
    Dangling,
    /// It has the name of a release, and its target cannot be looked at.
    Unreadable(io::Error),
}

/// Why a link hides a release; `None` if it does not seem to.
pub(super) fn problem_of_link(link: &Path, options: &ReadOptions) -> Option<LinkProblem> {
    let leads_to_releases = match fs::metadata(link) {
        Ok(target) if target.is_dir() => {
            let mut rest = MAX_LINKED_ENTRIES;
            has_releases(link, LINKED_FOLDERS_DEPTH, &mut rest, options)
        }
        Ok(target) => target.is_file() && is_release(link, options),
        Err(_) if !may_be_release(link, options) => return None,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Some(LinkProblem::Dangling);
        }
        Err(error) => return Some(LinkProblem::Unreadable(error)),
    };
    leads_to_releases.then_some(LinkProblem::NotFollowed)
}

/// Whether the path alone is that of a file that can be a release.
pub(super) fn may_be_release(path: &Path, options: &ReadOptions) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    let is_package = options.looks_for(CLASS_PACKAGES.id()) && is_zip(path);
    is_package || name.is_some_and(|name| is_release_name(name, options))
}

/// Whether a folder that a link leads to is a release, or has one. `rest` is the number of entries that may still be
/// looked at.
fn has_releases(folder: &Path, depth: usize, rest: &mut usize, options: &ReadOptions) -> bool {
    let mut entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.any(|entry| {
        let Some(fewer) = rest.checked_sub(1) else {
            return false;
        };
        *rest = fewer;
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => depth > 0 && has_releases(&path, depth - 1, rest, options),
            Ok(_) => is_release(&path, options),
            Err(_) => false,
        }
    })
}

/// Whether a file is a release, or says that its folder is one.
fn is_release(path: &Path, options: &ReadOptions) -> bool {
    let is_manifest = path.file_name().is_some_and(|name| name == MANIFEST_FILE);
    if options.looks_for(CLASS_PACKAGES.id()) && (is_manifest || is_zip(path)) {
        return true;
    }
    let target = fs::canonicalize(path);
    target.is_ok_and(|target| ReleaseFile::recognize_link(path, &target, options).is_some())
}
