//! Lockfiles that were checked before.
//!
//! A check of a lockfile depends on the bytes of the lockfile, on the files of the root, on what is
//! asked, on what the registries hold, and on the program. Where all of that is known without going
//! through it, one digest stands for it, and a check that found nothing at all to say leaves this
//! digest behind: the same question has the same answer. Nothing else is ever remembered, so that
//! whatever there is to say is worked out when it is said.
//!
//! Which files make the root is known once its manifest was understood. So that it need not be, their
//! paths are remembered as well: as long as the manifest is the same, so are they.
//!
//! As with the rest of the cache, whatever is wrong with a file is as if it were not there.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use pkgres_files::{Follow, RealFileSystem, open_file, read_file, write_cache_file};
use pkgres_manifest::{Hexadecimal, Limits, PackagePath, ReadOptions};
use pkgres_resolver::{LockReport, Request, SolveOptions};
use sha2::{Digest as _, Sha256};

use crate::index_cache::{Digest, IndexCache, digest_of};
use crate::set::RegistrySet;

/// The folder in that of the cache.
const FOLDER: &str = "checked";

/// What a file begins with. The number is raised whenever a check comes to look at anything else.
const HEADER: &str = "pkgres checked 2";

/// The largest file, in bytes. What takes more is not remembered.
const MAX_BYTES: u64 = 1 << 16;

/// What is known of checks of lockfiles, kept in the folder of a cache.
///
/// The folder has to belong to the user alone: who can write there decides what is taken to fit.
#[derive(Debug, Clone)]
pub struct CheckedLocks {
    folder: PathBuf,
    program: String,
    contents: IndexCache,
}

/// All that the answer to a question about a lockfile depends on, as far as it is known before any of
/// it is understood.
#[derive(Clone, Copy)]
pub struct LockCase<'case> {
    /// Where the lockfile is, of which one answer is kept.
    pub path: &'case Path,
    /// What is in it.
    pub lock: LockContent,
    /// The manifest of the root, as it is written.
    pub manifest: &'case [u8],
    /// What is asked. The roots, and what is locked, follow from the manifest and the lockfile.
    pub request: &'case Request,
    /// Where releases come from.
    pub registries: &'case RegistrySet,
    /// How the root and the lockfile are read.
    pub options: &'case ReadOptions,
}

impl CheckedLocks {
    /// Checks that are known in the folder of a cache, which need not exist. `program` stands for
    /// the program that checks: what another one found does not count. `now` is the time at which it
    /// began.
    pub fn new(cache: &Path, program: String, now: SystemTime) -> Self {
        Self {
            folder: cache.join(FOLDER),
            program,
            contents: IndexCache::new(cache.to_owned(), now),
        }
    }

    /// What is in the lockfile at a path, if there is one that can be read. It is not read if it looks as
    /// it did when it was last read, as with index files. Links are not followed.
    pub fn content(&self, path: &Path, limits: &Limits) -> Option<LockContent> {
        let file = open_file(path, limits.lock_bytes, Follow::Nothing).ok()?;
        let content = self.contents.entry(path, limits).content(&file);
        content.ok().map(LockContent)
    }

    /// The question whether a lockfile fits; `None` where not all that the answer depends on is
    /// known, as with folders and registries on the network.
    pub fn question(&self, case: LockCase<'_>) -> Option<LockQuestion> {
        let contents = case.registries.contents()?;
        let path = std::path::absolute(case.path).ok()?;
        let context = format!("{HEADER} {} {:?}", self.program, case.options);
        let asked = asked(case.request);
        let known = [
            context.as_bytes(),
            &asked,
            &contents,
            &case.lock.0,
            case.manifest,
        ];
        let name = digest_of(&[path.as_os_str().as_encoded_bytes()]);
        Some(LockQuestion {
            path: self.folder.join(Hexadecimal(&name).to_string()),
            known: digest_of(&known),
            contents,
        })
    }
}

/// What is in a lockfile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LockContent(Digest);

impl LockContent {
    /// The content of a lockfile that was read.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }
}

/// A file of a root beside its manifest, as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RootFile {
    path: PackagePath,
    content: Digest,
}

impl RootFile {
    /// The file with this path in the package, and these bytes in it.
    pub fn new(path: PackagePath, bytes: &[u8]) -> Self {
        let content = Sha256::digest(bytes).into();
        Self { path, content }
    }
}

/// The question whether a lockfile fits.
#[derive(Debug)]
pub struct LockQuestion {
    path: PathBuf,
    /// Stands for all that the answer depends on, but the files beside the manifest.
    known: Digest,
    /// What the registries held when it was asked.
    contents: Digest,
}

impl LockQuestion {
    /// How many releases the lockfile holds, if it is known to fit, and that there is nothing else
    /// to say about it. `file` gives the bytes of a file of the root.
    pub fn known_to_fit(
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
        // Whatever is not exactly what would be written here is something else.
        (text == self.text(releases, &files)).then_some(releases)
    }

    /// Remembers the answer, if it is that there is nothing to say. `files` are those of the root
    /// beside its manifest.
    pub fn remember(
        &self,
        report: &LockReport,
        releases: usize,
        files: &[RootFile],
        registries: &RegistrySet,
    ) {
        // What a registry held may have changed while it was read.
        let is_same = registries.contents() == Some(self.contents);
        let text = self.text(releases, files);
        if is_same && *report == LockReport::default() && text.len() as u64 <= MAX_BYTES {
            // That it cannot be kept is no reason not to go on.
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

/// All of a request that a check looks at, but the roots and the lockfile.
fn asked(request: &Request) -> Digest {
    let Request {
        roots: _,
        core,
        provided,
        locked: _,
        overrides,
        options: SolveOptions { single_version, .. },
        update: _,
    } = request;
    let mut parts = vec![
        format!("{single_version} {}", provided.len()),
        core.as_ref().map(ToString::to_string).unwrap_or_default(),
    ];
    parts.extend(provided.iter().map(pkgres_manifest::IndexRecord::to_line));
    for (package, spec) in overrides {
        parts.push(package.to_string());
        parts.push(spec.normal_form());
    }
    let parts: Vec<&[u8]> = parts.iter().map(String::as_bytes).collect();
    digest_of(&parts)
}
