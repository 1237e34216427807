//! Universes of a few packages without classes, in which any package may require any other: cycles
//! of packages, and several releases of a package that reach each other.

use crate::build::{Build as _, release};
use crate::random::Random;
use crate::universe::Universe;

const NAMES: [&str; 4] = ["A", "B", "C", "D"];

/// The versions that releases may have.
const VERSIONS: [&str; 4] = ["1.0.0", "1.1.0", "2.0.0", "2.1.0"];

/// The specs of requirements.
const SPECS: [&str; 7] = ["*", "1", "2", "1.0", ">=1.1", "<2", "2.0.0"];

pub(super) fn universe(random: &mut Random) -> Universe {
    let names = &NAMES[..random.between(3, NAMES.len())];
    let mut records = Vec::new();
    for name in names {
        for version in VERSIONS {
            if random.chance(35) {
                continue;
            }
            let mut record = release(name, version);
            for other in names.iter().filter(|other| *other != name) {
                if random.chance(30) {
                    record = record.requires(other, spec(random));
                }
            }
            random.shuffle(&mut record.requirements);
            records.push(record);
        }
    }
    let mut root = release("R", "1").requires(names[0], spec(random));
    for name in &names[1..] {
        if random.chance(25) {
            root = root.requires(name, spec(random));
        }
    }
    random.shuffle(&mut root.requirements);
    Universe::new(root, records)
}

fn spec(random: &mut Random) -> &'static str {
    SPECS[random.below(SPECS.len())]
}
