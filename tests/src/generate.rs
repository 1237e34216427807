//! Generators of random universes.
//!
//! | generator | what it exercises |
//! |---|---|
//! | [`Universe::random`] | every rule of resolution; ten families (`families`), mutated (`mutations`) |
//! | [`Universe::varied`] | small changes to a universe written by hand (`variations`) |
//! | [`Universe::around_hubs`] | packages that share classes, and the order of class lookup (`hubs`) |
//! | [`Universe::entangled`] | packages that require each other in cycles (`entangled`) |
//! | [`Universe::with_interfaces`] | classes that implement interfaces, in place of some that extend others (`interfaces`) |

mod draft;
mod entangled;
mod families;
mod hubs;
mod interfaces;
mod kept;
mod locks;
mod mutations;
mod variations;

use crate::random::Random;
use crate::universe::{PrereleasePolicy, Universe};
use draft::Draft;
use families::Family;

impl Universe {
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

    /// This universe with most of the classes that extend nothing as interfaces.
    #[must_use]
    pub fn with_interfaces(mut self, seed: u64) -> Self {
        interfaces::add(&mut self, &mut Random::new(seed));
        self
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

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
