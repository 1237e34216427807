//! The lockfile that there is before another one takes its place.

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::diagnostic::Code;
use pkgres_manifest::{ArtifactDigest, LockDiff, Lockfile, PackageName, ReadOptions, Version};
use pkgres_resolver::Locked;

use crate::failure::Result;
use crate::project::{Project, with_commands};

/// A lockfile that is to be replaced, as far as it can be read.
pub(crate) struct EarlierLock {
    /// What is in the file, if there is one.
    pub(crate) bytes: Option<Vec<u8>>,
    content: Content,
}

enum Content {
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
    /// Reads the lockfile of a project, of which as much as possible is to stay. One that a newer
    /// pkgres wrote is refused.
    pub(crate) fn read(project: &Project, options: &ReadOptions) -> Result<Self> {
        let bytes = project.lock_bytes(options)?;
        let content = Content::of(project, bytes.as_deref(), options)?;
        Ok(Self { bytes, content })
    }

    /// Reads one of which nothing is to stay, whatever is in it; and what there is to say about it.
    pub(crate) fn to_replace(
        project: &Project,
        options: &ReadOptions,
    ) -> Result<(Self, Option<&'static str>)> {
        let (bytes, note) = project.lock_to_replace(options)?;
        let content = Content::of(project, bytes.as_deref(), options);
        let content = content.unwrap_or_else(|_| {
            let bytes = bytes.as_deref().unwrap_or_default();
            Content::Damaged(Lockfile::salvage(bytes, &options.limits))
        });
        Ok((Self { bytes, content }, note))
    }

    /// Whether there is one, and as it should be.
    pub(crate) fn is_whole(&self) -> bool {
        matches!(self.content, Content::Whole(_))
    }

    /// What there is to say about it.
    pub(crate) fn note(&self) -> Option<&'static str> {
        match &self.content {
            Content::Missing | Content::Whole(_) => None,
            Content::Merged(_) => Some(
                "The lockfile is an unresolved merge: the releases of both sides are preferred",
            ),
            Content::Damaged(_) => {
                Some("The lockfile cannot be read: what can be saved of it is preferred")
            }
        }
    }

    /// What is kept of it: all, or, where that is not to be had, the releases.
    pub(crate) fn locked(&self) -> Locked {
        match &self.content {
            Content::Missing => Locked::default(),
            Content::Whole(lock) => Locked::from_lockfile(lock),
            Content::Merged(lock) => Locked::preferring_releases_of(lock),
            Content::Damaged(saved) => Locked::salvaged(saved.clone()),
        }
    }

    /// What is different in the lockfile that takes its place.
    pub(crate) fn diff(&self, after: &Lockfile) -> LockDiff {
        match &self.content {
            Content::Missing => LockDiff::between(&Lockfile::default(), after),
            Content::Whole(lock) | Content::Merged(lock) => LockDiff::between(lock, after),
            Content::Damaged(saved) => LockDiff::from_salvaged(saved, after),
        }
    }

    /// What of that is worth a line. Where nothing was locked everything is new, and whoever wrote the
    /// requirements knows them: only the packages are.
    pub(crate) fn news(&self, diff: LockDiff) -> LockDiff {
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
    fn of(project: &Project, bytes: Option<&[u8]>, options: &ReadOptions) -> Result<Self> {
        let Some(bytes) = bytes else {
            return Ok(Self::Missing);
        };
        let path = project.lock_path();
        match Lockfile::read(&path.to_string_lossy(), bytes, &options.limits).into_result() {
            Ok((lock, _)) if lock.merge_problems().is_empty() => Ok(Self::Whole(lock)),
            Ok((lock, _)) => Ok(Self::Merged(lock)),
            Err(findings)
                if findings
                    .iter()
                    .any(|finding| finding.code == Code::LockFormat) =>
            {
                Err(with_commands(findings).into())
            }
            Err(_) => Ok(Self::Damaged(Lockfile::salvage(bytes, &options.limits))),
        }
    }
}
