//! The lockfile that there is before another one takes its place.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use pkgres_manifest::diagnostic::Code;
use pkgres_manifest::{ArtifactDigest, LockDiff, Lockfile, PackageName, ReadOptions, Version};
use pkgres_resolver::Locked;

use crate::failure::Result;
use crate::project::with_commands;

/// A lockfile that is to be replaced, as far as it can be read.
pub(crate) enum EarlierLock {
    /// There is none.
    Missing,
    /// One as it should be.
    Whole(Lockfile),
    /// The result of a merge that nobody resolved: it has the releases of both sides.
    Merged(Lockfile),
    /// The releases of one that cannot be read, and the digests that they may have.
    Damaged(BTreeMap<(PackageName, Version), BTreeSet<ArtifactDigest>>),
}

impl EarlierLock {
    /// Reads a lockfile of which as much as possible is to stay. One that a newer pkgres wrote is
    /// refused.
    pub(crate) fn read(path: &Path, bytes: Option<&[u8]>, options: &ReadOptions) -> Result<Self> {
        let Some(bytes) = bytes else {
            return Ok(Self::Missing);
        };
        match Lockfile::read(&path.to_string_lossy(), bytes, &options.limits).into_result() {
            Ok((lock, _)) => Ok(Self::of(lock)),
            Err(findings)
                if findings
                    .iter()
                    .any(|finding| finding.code == Code::LockFormat) =>
            {
                Err(with_commands(findings).into())
            }
            Err(_) => Ok(Self::damaged(bytes, options)),
        }
    }

    /// Reads a lockfile of which nothing is to stay, whatever is in it.
    pub(crate) fn to_replace(path: &Path, bytes: Option<&[u8]>, options: &ReadOptions) -> Self {
        Self::read(path, bytes, options)
            .unwrap_or_else(|_| Self::damaged(bytes.unwrap_or_default(), options))
    }

    fn of(lock: Lockfile) -> Self {
        if lock.merge_problems().is_empty() {
            Self::Whole(lock)
        } else {
            Self::Merged(lock)
        }
    }

    fn damaged(bytes: &[u8], options: &ReadOptions) -> Self {
        Self::Damaged(Lockfile::salvage(bytes, &options.limits))
    }

    /// What there is to say about it.
    pub(crate) fn note(&self) -> Option<&'static str> {
        match self {
            Self::Missing | Self::Whole(_) => None,
            Self::Merged(_) => Some(
                "The lockfile is an unresolved merge: the releases of both sides are preferred",
            ),
            Self::Damaged(_) => {
                Some("The lockfile cannot be read: what can be saved of it is preferred")
            }
        }
    }

    /// What is kept of it: all, or, where that is not to be had, the releases.
    pub(crate) fn locked(&self) -> Locked {
        match self {
            Self::Missing => Locked::default(),
            Self::Whole(lock) => Locked::from_lockfile(lock),
            Self::Merged(lock) => Locked::preferring_releases_of(lock),
            Self::Damaged(saved) => Locked::salvaged(saved.clone()),
        }
    }

    /// What is different in the lockfile that takes its place.
    pub(crate) fn diff(&self, after: &Lockfile) -> LockDiff {
        match self {
            Self::Missing => LockDiff::between(&Lockfile::default(), after),
            Self::Whole(lock) | Self::Merged(lock) => LockDiff::between(lock, after),
            Self::Damaged(saved) => LockDiff::from_salvaged(saved, after),
        }
    }

    /// What of that is worth a line. Where nothing was locked everything is new, and whoever wrote the
    /// requirements knows them: only the packages are.
    pub(crate) fn news(&self, diff: LockDiff) -> LockDiff {
        match self {
            Self::Missing => LockDiff {
                packages: diff.packages,
                ..LockDiff::default()
            },
            _ => diff,
        }
    }
}
