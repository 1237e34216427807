//! Lockfiles that were checked before.
//!
//! A check of a lockfile depends on the bytes of the lockfile, on what is asked, on what the
//! registries hold, and on the program. Where all of that is known without going through it, one
//! digest stands for it, and a check that found nothing at all to say leaves this digest behind: the
//! same question has the same answer. Nothing else is ever remembered, so that whatever there is to
//! say is worked out when it is said.
//!
//! As with the rest of the cache, whatever is wrong with a file is as if it were not there.

use std::path::{Path, PathBuf};

use pkgres_files::{Follow, RealFileSystem, read_file, write_cache_file};
use pkgres_manifest::Limits;
use pkgres_resolver::{LockReport, Request, Root, SolveOptions};

use crate::index_cache::{Digest, digest_of, hexadecimal};
use crate::set::RegistrySet;

/// The folder in that of the cache.
const FOLDER: &str = "checked";

/// What a file begins with. The number is raised whenever a check comes to look at anything else.
const HEADER: &str = "pkgres checked 1";

/// The largest file, in bytes.
const MAX_BYTES: u64 = 1 << 10;

/// What is known of checks of lockfiles, kept in the folder of a cache.
///
/// The folder has to belong to the user alone: who can write there decides what is taken to fit.
#[derive(Debug, Clone)]
pub struct CheckedLocks {
    folder: PathBuf,
    program: String,
}

impl CheckedLocks {
    /// Checks that are known in the folder of a cache, which need not exist. `program` stands for
    /// the program that checks: what another one found does not count.
    pub fn new(cache: &Path, program: String) -> Self {
        Self {
            folder: cache.join(FOLDER),
            program,
        }
    }

    /// The question whether a lockfile fits; `None` where not all that the answer depends on is
    /// known, as with folders and registries on the network. `path` is where the lockfile is, of
    /// which one answer is kept.
    pub fn question(
        &self,
        path: &Path,
        lock: &[u8],
        request: &Request,
        registries: &RegistrySet,
        limits: &Limits,
    ) -> Option<LockQuestion> {
        let contents = registries.contents()?;
        let asked = asked(request)?;
        let path = std::path::absolute(path).ok()?;
        let context = format!("{HEADER} {} {limits:?}", self.program);
        let key = digest_of(&[context.as_bytes(), &asked, &contents, lock]);
        let name = hexadecimal(&digest_of(&[path.as_os_str().as_encoded_bytes()]));
        Some(LockQuestion {
            path: self.folder.join(name),
            key,
            contents,
        })
    }
}

/// The question whether a lockfile fits.
#[derive(Debug)]
pub struct LockQuestion {
    path: PathBuf,
    /// Stands for all that the answer depends on.
    key: Digest,
    /// What the registries held when it was asked.
    contents: Digest,
}

impl LockQuestion {
    /// How many releases the lockfile holds, if it is known to fit, and that there is nothing else
    /// to say about it.
    pub fn known_to_fit(&self) -> Option<usize> {
        let bytes = read_file(&self.path, MAX_BYTES, Follow::Nothing).ok()?;
        let text = std::str::from_utf8(&bytes).ok()?;
        let releases = text.trim_end().rsplit(' ').next()?.parse().ok()?;
        // Whatever is not exactly what would be written here is something else.
        (text == self.text(releases)).then_some(releases)
    }

    /// Remembers the answer, if it is that there is nothing to say.
    pub fn remember(&self, report: &LockReport, releases: usize, registries: &RegistrySet) {
        // What a registry held may have changed while it was read.
        let is_same = registries.contents() == Some(self.contents);
        if is_same && *report == LockReport::default() {
            // That it cannot be kept is no reason not to go on.
            let text = self.text(releases);
            let _ = write_cache_file(&RealFileSystem, &self.path, text.as_bytes());
        }
    }

    fn text(&self, releases: usize) -> String {
        format!("{HEADER}\n{} {releases}\n", hexadecimal(&self.key))
    }
}

/// All of a request that a check looks at.
fn asked(request: &Request) -> Option<Digest> {
    let Request {
        roots,
        core,
        provided,
        locked: _,
        overrides,
        options: SolveOptions { single_version, .. },
        update: _,
    } = request;
    let mut parts = vec![
        format!("{single_version} {} {}", roots.len(), provided.len()),
        core.as_ref().map(ToString::to_string).unwrap_or_default(),
    ];
    for root in roots {
        match root {
            Root::Package(record) => parts.push(record.to_line()),
            Root::Model(_) => return None,
        }
    }
    parts.extend(provided.iter().map(pkgres_manifest::IndexRecord::to_line));
    for (package, spec) in overrides {
        parts.push(package.to_string());
        parts.push(spec.normal_form());
    }
    let parts: Vec<&[u8]> = parts.iter().map(String::as_bytes).collect();
    Some(digest_of(&parts))
}
