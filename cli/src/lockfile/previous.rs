//! The lockfile that is about to be replaced.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use pkgres_files::{Follow, read_file};
use pkgres_manifest::diagnostic::Code;
use pkgres_manifest::{ArtifactDigest, LockDiff, Lockfile, PackageName, Release};
use pkgres_resolver::Locked;

use super::{read_lock_bytes, with_commands};
use crate::context::Context;
use crate::failure::Result;

/// A lockfile that is about to be replaced, as far as it can be read.
pub(crate) struct PreviousLock {
    /// The bytes of the file, if there is one.
    pub(crate) bytes: Option<Vec<u8>>,
    content: Content,
}

enum Content {
    /// There is no lockfile.
    Missing,
    /// A complete lockfile.
    Complete(Lockfile),
    /// An unresolved merge: it has the releases of both sides.
    Merged(Lockfile),
    /// A file that cannot be parsed: the releases that could be salvaged, with the digests they may have.
    Damaged(BTreeMap<Release, BTreeSet<ArtifactDigest>>),
}

impl PreviousLock {
    /// Reads a lockfile of which as much as possible is kept. A format of a newer pkgres is an error.
    pub(crate) fn read(path: &Path, context: &Context) -> Result<Self> {
        let bytes = read_lock_bytes(path, context)?;
        let parsed = Content::parse(path, bytes.as_deref(), context)?;
        Ok(Self {
            bytes,
            content: parsed,
        })
    }

    /// Reads a lockfile of which nothing is kept, whatever is in it; and a note about it, if it is too large
    /// to be read.
    pub(crate) fn read_to_discard(
        path: &Path,
        context: &Context,
    ) -> Result<(Self, Option<&'static str>)> {
        let limits = &context.read_options.limits;
        let (bytes, note) = match read_file(path, limits.lock_bytes, Follow::Nothing) {
            Ok(bytes) => (Some(bytes), None),
            Err(error) if error.is_too_large() => {
                let note = "The lockfile is too large to be read: digests are not compared";
                (None, Some(note))
            }
            Err(_) => (read_lock_bytes(path, context)?, None),
        };
        let parsed = Content::parse(path, bytes.as_deref(), context).unwrap_or_else(|_| {
            let bytes = bytes.as_deref().unwrap_or_default();
            Content::Damaged(Lockfile::salvage(bytes, limits))
        });
        let previous = Self {
            bytes,
            content: parsed,
        };
        Ok((previous, note))
    }

    /// The roots that the lockfile was made for, as far as it can be read.
    pub(crate) fn roots(&self) -> impl Iterator<Item = &PackageName> {
        let lock = match &self.content {
            Content::Complete(lock) | Content::Merged(lock) => Some(lock),
            Content::Missing | Content::Damaged(_) => None,
        };
        lock.into_iter().flat_map(|lock| lock.roots.keys())
    }

    /// Whether there is a complete lockfile.
    pub(crate) fn is_complete(&self) -> bool {
        matches!(self.content, Content::Complete(_))
    }

    /// A note about a lockfile of which only the releases are kept.
    pub(crate) fn note(&self) -> Option<&'static str> {
        match &self.content {
            Content::Missing | Content::Complete(_) => None,
            Content::Merged(_) => Some(
                "The lockfile is an unresolved merge: the releases of both sides are kept where possible",
            ),
            Content::Damaged(_) => Some(
                "The lockfile is damaged: the releases that can be read are kept where possible",
            ),
        }
    }

    /// The part that the solver keeps: everything, or only the releases.
    pub(crate) fn locked(&self) -> Locked {
        match &self.content {
            Content::Missing => Locked::default(),
            Content::Complete(lock) => Locked::from_lockfile(lock),
            Content::Merged(lock) => Locked::preferring_releases_of(lock),
            Content::Damaged(saved) => Locked::salvaged(saved.clone()),
        }
    }

    /// The differences to the lockfile that replaces it.
    pub(crate) fn diff(&self, after: &Lockfile) -> LockDiff {
        match &self.content {
            Content::Missing => LockDiff::between(&Lockfile::default(), after),
            Content::Complete(lock) | Content::Merged(lock) => LockDiff::between(lock, after),
            Content::Damaged(saved) => LockDiff::from_salvaged(saved, after),
        }
    }

    /// The differences that are worth a line. Without a previous lockfile everything is new, and the user knows
    /// the requirements: only the packages are shown.
    pub(crate) fn shown_diff(&self, diff: LockDiff) -> LockDiff {
        match &self.content {
            Content::Missing => LockDiff {
                packages: diff.packages,
                ..LockDiff::default()
            },
            _ => diff,
        }
    }
}

impl Content {
    fn parse(path: &Path, bytes: Option<&[u8]>, context: &Context) -> Result<Self> {
        let Some(bytes) = bytes else {
            return Ok(Self::Missing);
        };
        let limits = &context.read_options.limits;
        match Lockfile::read_of_ecosystems(
            &path.to_string_lossy(),
            bytes,
            limits,
            pkgres_formats::ECOSYSTEMS,
        )
        .into_result()
        {
            Ok((lock, _)) if lock.merge_problems().is_empty() => Ok(Self::Complete(lock)),
            Ok((lock, _)) => Ok(Self::Merged(lock)),
            Err(findings)
                if findings
                    .iter()
                    .any(|finding| finding.code == Code::LockFormat) =>
            {
                Err(with_commands(findings, context).into())
            }
            Err(_) => Ok(Self::Damaged(Lockfile::salvage(bytes, limits))),
        }
    }
}
