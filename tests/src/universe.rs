//! Universes: everything that an answer depends on, small enough for a search by brute force.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use pkgres_manifest::{IndexRecord, PackageName, Release, Shared, Version};

use crate::build::Build as _;
use crate::solution::Solution;

/// When prereleases are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrereleasePolicy {
    /// After the stable versions, unless a requirement names a prerelease.
    IfNecessary,
    /// Like stable versions.
    Allow,
    /// Only if they are locked.
    Never,
}

/// Everything that an answer depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Universe {
    /// The release to resolve: the only candidate of its name.
    pub root: IndexRecord,
    /// All releases in registries, in any order, without duplicates.
    pub records: Vec<IndexRecord>,
    /// The core library; `None` if it is switched off.
    pub core: Option<PackageName>,
    /// An earlier answer.
    pub locked: Option<Solution>,
    /// Releases that stay candidates even if they are yanked, or prereleases that the policy rejects.
    pub kept: BTreeSet<Release>,
    /// When prereleases are chosen.
    pub prerelease: PrereleasePolicy,
    /// Whether each package may have one release only.
    pub single_version: bool,
}

impl Universe {
    /// A universe with the default settings: no core library, no lock.
    pub fn new(root: IndexRecord, records: Vec<IndexRecord>) -> Self {
        Self {
            root,
            records,
            core: None,
            locked: None,
            kept: BTreeSet::new(),
            prerelease: PrereleasePolicy::IfNecessary,
            single_version: false,
        }
    }

    /// The same universe with at least this many releases of each package. No added release can be
    /// chosen, so the answer is the same.
    #[must_use]
    pub fn padded(&self, releases: usize) -> Self {
        let mut padded = self.clone();
        let mut known: BTreeMap<&PackageName, BTreeSet<Version>> = BTreeMap::new();
        for record in &self.records {
            let versions = known.entry(&record.name).or_default();
            versions.insert(record.version.clone());
        }
        for (name, mut versions) in known {
            let written: Vec<Version> = versions.iter().cloned().collect();
            let later = (1..).flat_map(|more| {
                let after = written.iter();
                after.map(move |one| Version::new(one.major(), one.minor(), one.patch() + more))
            });
            for version in later {
                if versions.len() >= releases {
                    break;
                }
                if versions.insert(version.clone()) {
                    let mut dead = IndexRecord::new(name.clone(), version);
                    // Some have no classes; those of the others are unknown.
                    dead.classes = (versions.len() % 2 == 0).then(Shared::new);
                    padded.records.push(dead.requires("Dead.End", "*"));
                }
            }
        }
        padded
    }
}

/// The records as lines of an index, the root first, and the settings that are not the default.
impl fmt::Display for Universe {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "{}", self.root.to_line())?;
        for record in &self.records {
            writeln!(formatter, "{}", record.to_line())?;
        }
        if let Some(core) = &self.core {
            writeln!(formatter, "core library: {core}")?;
        }
        writeln!(formatter, "prereleases: {:?}", self.prerelease)?;
        if self.single_version {
            writeln!(formatter, "single version")?;
        }
        for Release { name, version } in &self.kept {
            writeln!(formatter, "kept: {name} {version}")?;
        }
        if let Some(locked) = &self.locked {
            write!(formatter, "locked:\n{locked}")?;
        }
        Ok(())
    }
}
