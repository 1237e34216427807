//! A cache of lockfile checks without findings.
//!
//! **Problem.** `lock --check` runs often, and mostly nothing has changed since the last time.
//!
//! **Idea.** A check depends on the lockfile, the files of the root, the request, the content of the registries and the
//! program. If all of these are known without reading them in full, one digest is the key of the check, and a check
//! without findings leaves this digest behind. Nothing else is remembered: findings are always computed.
//!
//! The files of the root follow from its manifest. Their paths are kept with the digest, so that the manifest need
//! not be parsed: while it is the same, so are they.
//!
//! A damaged file counts as absent, as in the rest of the cache.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use pkgres_files::{Follow, RealFileSystem, open_file, read_file, write_cache_file};
use pkgres_manifest::{Hexadecimal, Limits, PackagePath, ReadOptions};
use pkgres_resolver::{LockCheck, LockReport, Request};
use sha2::{Digest as _, Sha256};

use crate::index_cache::{IndexCache, Sha256Digest, digest_of};
use crate::set::RegistrySet;

/// The folder in the cache.
const FOLDER: &str = "checked";

/// The first line of a file. The number is raised when a check comes to depend on anything else.
const HEADER: &str = "pkgres checked 3";

/// The limit of a file, in bytes. A check with a larger one is not remembered.
const MAX_BYTES: u64 = 1 << 16;

/// A cache of lockfile checks, in a folder.
///
/// The folder must belong to the user alone: write access to it decides which lockfiles pass.
#[derive(Debug, Clone)]
pub struct CheckedLocks {
    folder: PathBuf,
    program: String,
    contents: IndexCache,
}

/// Everything that a check depends on, as far as it is known before anything is parsed.
#[derive(Clone, Copy)]
pub struct LockCheckInputs<'inputs> {
    /// The path of the lockfile. One check is kept for each path.
    pub path: &'inputs Path,
    /// Its content.
    pub lock: LockContent,
    /// The bytes of the manifest of the root.
    pub manifest: &'inputs [u8],
    /// The request. Its roots and locked versions follow from the manifest and the lockfile, and do not count.
    pub request: &'inputs Request,
    /// The registries.
    pub registries: &'inputs RegistrySet,
    /// The options with which the root and the lockfile are read.
    pub options: &'inputs ReadOptions,
}

impl CheckedLocks {
    /// A cache in a folder, which need not exist. `program` names the checking program: checks by another
    /// one do not count. `now` is the time at which the program started.
    pub fn new(cache: &Path, program: String, now: SystemTime) -> Self {
        Self {
            folder: cache.join(FOLDER),
            program,
            contents: IndexCache::new(cache.to_owned(), now),
        }
    }

    /// The content of the lockfile at a path, if it can be read. A file with the same metadata as last time is not
    /// read again, as with index files. Links are not followed.
    pub fn content(&self, path: &Path, limits: &Limits) -> Option<LockContent> {
        let file = open_file(path, limits.lock_bytes, Follow::Nothing).ok()?;
        let content = self.contents.entry(path, limits, None).content(&file);
        content.ok().map(LockContent)
    }

    /// The key of a check with these inputs; `None` if not everything that it depends on is known, as with folders and
    /// registries on the network.
    pub fn key(&self, inputs: LockCheckInputs<'_>) -> Option<LockCheckKey> {
        let contents = inputs.registries.contents()?;
        let path = std::path::absolute(inputs.path).ok()?;
        let context = format!("{HEADER} {} {:?}", self.program, inputs.options);
        let request = request_digest(inputs.request);
        let known = [
            context.as_bytes(),
            &request,
            &contents,
            &inputs.lock.0,
            inputs.manifest,
        ];
        let name = digest_of(&[path.as_os_str().as_encoded_bytes()]);
        Some(LockCheckKey {
            path: self.folder.join(Hexadecimal(&name).to_string()),
            known: digest_of(&known),
            contents,
        })
    }
}

/// The content of a lockfile, by its digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LockContent(Sha256Digest);

impl LockContent {
    /// The content with these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }
}

/// A file of a root beside its manifest, by its path and digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RootFile {
    path: PackagePath,
    content: Sha256Digest,
}

impl RootFile {
    /// The file with this path in the package and these bytes.
    pub fn new(path: PackagePath, bytes: &[u8]) -> Self {
        let content = Sha256::digest(bytes).into();
        Self { path, content }
    }
}

/// The key of a check in the cache.
#[derive(Debug)]
pub struct LockCheckKey {
    path: PathBuf,
    /// A digest of everything that the answer depends on, except for the files beside the manifest.
    known: Sha256Digest,
    /// The content of the registries at the time when the key was made.
    contents: Sha256Digest,
}

impl LockCheckKey {
    /// The number of releases in the lockfile, if it is known to pass without findings. `file` returns the bytes of a
    /// file of the root.
    pub fn has_passed(
        &self,
        mut file: impl FnMut(&PackagePath) -> Option<Vec<u8>>,
    ) -> Option<usize> {
        let bytes = read_file(&self.path, MAX_BYTES, Follow::Nothing).ok()?;
        let text = std::str::from_utf8(&bytes).ok()?;
        let mut lines = text.lines().skip(1);
        let (_, releases) = lines.next()?.split_once(' ')?;
        let releases = releases.parse().ok()?;
        let files = lines.map(|line| {
            let path = PackagePath::parse(line).ok()?;
            let bytes = file(&path)?;
            Some(RootFile::new(path, &bytes))
        });
        let files: Vec<RootFile> = files.collect::<Option<_>>()?;
        // Only exactly the text that `remember` writes counts.
        (text == self.text(releases, &files)).then_some(releases)
    }

    /// Remembers a check without findings. `files` are the files of the root beside its manifest.
    pub fn remember(
        &self,
        report: &LockReport,
        releases: usize,
        files: &[RootFile],
        registries: &RegistrySet,
    ) {
        // A registry may have changed during the check.
        let is_same = registries.contents() == Some(self.contents);
        let text = self.text(releases, files);
        if is_same && *report == LockReport::default() && text.len() as u64 <= MAX_BYTES {
            // A cache that cannot be written costs time only.
            let _ = write_cache_file(&RealFileSystem, &self.path, text.as_bytes());
        }
    }

    fn text(&self, releases: usize, files: &[RootFile]) -> String {
        let mut parts: Vec<&[u8]> = vec![&self.known];
        for file in files {
            parts.extend([file.path.as_str().as_bytes(), &file.content]);
        }
        let digest = digest_of(&parts);
        let key = Hexadecimal(&digest);
        let mut text = format!("{HEADER}\n{key} {releases}\n");
        for file in files {
            writeln!(text, "{}", file.path).expect("memory can be written");
        }
        text
    }
}

/// A digest of everything in a request that a check depends on, except for the roots and the lockfile.
fn request_digest(request: &Request) -> Sha256Digest {
    let parts = LockCheck::cache_key_parts(request);
    let parts: Vec<&[u8]> = parts.iter().map(String::as_bytes).collect();
    digest_of(&parts)
}
