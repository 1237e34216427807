//! Universes: everything that an answer depends on, small enough for a search by brute force.
//!
//! | kind | what it exercises |
//! |---|---|
//! | [`Universe::random`] | every rule of resolution; ten families (`families`), mutated (`mutations`) |
//! | [`Universe::varied`] | small changes to a universe written by hand (`variations`) |
//! | [`Universe::around_hubs`] | packages that share classes, and the order of class lookup (`hubs`) |
//! | [`Universe::entangled`] | packages that require each other in cycles (`entangled`) |

mod draft;
mod entangled;
mod families;
mod hubs;
mod kept;
mod locks;
mod mutations;
mod variations;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use pkgres_manifest::{IndexRecord, PackageName, Version};

use crate::build::Build as _;
use crate::random::Random;
use crate::reference::Solution;
use draft::Draft;
use families::Family;

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
    pub kept: BTreeSet<(PackageName, Version)>,
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
                    let dead = IndexRecord::new(name.clone(), version);
                    padded.records.push(dead.requires("Dead.End", "*"));
                }
            }
        }
        padded
    }

    /// The universe of this seed.
    ///
    /// It belongs to one of ten families, each of which exercises other rules; the
    /// [tally](crate::tally) measures how often each rule decides the answer.
    pub fn random(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let family = Family::choose(&mut random);
        let mut draft = family.draft(random);
        mutations::apply(&mut draft, &family.rates());
        mutations::thin_out(&mut draft);
        let (mut random, mut universe) = draft.finish();
        universe.prerelease = [
            PrereleasePolicy::IfNecessary,
            PrereleasePolicy::Allow,
            PrereleasePolicy::Never,
        ][random.weighted(&[76, 12, 12])];
        universe.single_version = random.chance(9);
        if random.chance(family.rates().locked) {
            locks::add(&mut universe, &mut random);
        }
        if random.chance(30) {
            kept::add(&mut universe, &mut random);
        }
        universe
    }

    /// The universe of this seed in which several packages share dependencies and define the same classes.
    pub fn around_hubs(seed: u64) -> Self {
        hubs::universe(&mut Random::new(seed))
    }

    /// The universe of this seed in which packages require each other in cycles.
    pub fn entangled(seed: u64) -> Self {
        entangled::universe(&mut Random::new(seed))
    }

    /// This universe with one to four small changes that depend on the seed.
    #[must_use]
    pub fn varied(&self, seed: u64) -> Self {
        let mut draft = Draft::of(Random::new(seed), self);
        variations::apply(&mut draft);
        mutations::thin_out(&mut draft);
        let (_, varied) = draft.finish();
        Self {
            root: varied.root,
            records: varied.records,
            ..self.clone()
        }
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
        for (name, version) in &self.kept {
            writeln!(formatter, "kept: {name} {version}")?;
        }
        if let Some(locked) = &self.locked {
            write!(formatter, "locked:\n{locked}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::{Example, examples};

    #[test]
    fn random_universes_have_valid_index_records() {
        for seed in 0..3000 {
            let universe = Universe::random(seed);
            assert_eq!(universe, Universe::random(seed));
            assert_valid_records(seed, &universe);
            let packages: BTreeSet<_> = universe.records.iter().map(|one| &one.name).collect();
            assert!((3..=8).contains(&packages.len()), "{seed}: {packages:?}");
        }
    }

    #[test]
    fn varied_universes_have_valid_index_records() {
        let examples = examples();
        let mut same = 0;
        for seed in 0..50 {
            for Example { universe, .. } in examples {
                let varied = universe.varied(seed);
                assert_eq!(varied, universe.varied(seed));
                assert_valid_records(seed, &varied);
                same += usize::from(varied == *universe);
            }
        }
        assert!(same < 5 * examples.len(), "{same} are not varied");
    }

    #[test]
    fn universes_around_hubs_have_valid_index_records() {
        for seed in 0..3000 {
            assert_valid_records(seed, &Universe::around_hubs(seed));
        }
    }

    fn assert_valid_records(seed: u64, universe: &Universe) {
        let mut releases = BTreeSet::new();
        for record in &universe.records {
            let release = (&record.name, record.version.without_build().to_string());
            assert!(releases.insert(release), "{seed}\n{universe}");
        }
        for record in universe.records.iter().chain([&universe.root]) {
            let mut required = BTreeSet::new();
            for requirement in &record.requirements {
                assert_ne!(requirement.package, record.name, "{seed}\n{universe}");
                assert!(required.insert(&requirement.package), "{seed}\n{universe}");
            }
            let classes: Vec<_> = record.classes.iter().flatten().collect();
            assert!(
                classes.is_sorted_by(|one, two| one.name < two.name),
                "{seed}\n{universe}"
            );
            for class in classes {
                let parents: BTreeSet<_> = class.extends.iter().collect();
                assert_eq!(parents.len(), class.extends.len(), "{seed}\n{universe}");
            }
        }
    }
}
