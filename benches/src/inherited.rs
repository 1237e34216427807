//! Classes for generated universes: packages extend classes of packages that they require, and
//! versions that are newer than the plan no longer define all that older ones did.

use crate::random::Random;
use crate::universe::Release;

/// How many classes a package has that others extend, numbered from 1.
const CLASSES: u32 = 4;

/// A class that no package has.
pub(crate) const NO_CLASS: u32 = CLASSES + 1;

/// Of a hundred requirements, how many come with a class that is extended.
const EXTENDED_PERCENT: u32 = 60;

/// Adds classes. Of a thousand versions newer than the plan, `dropping` no longer define a class
/// that the one before defined. The planned versions keep fitting each other: they define all.
pub(crate) fn add_classes(
    random: &mut Random,
    plan: &[u32],
    dropping: u32,
    packages: &mut [Vec<Release>],
) {
    for (releases, planned) in packages.iter_mut().zip(plan) {
        let mut classes = (1_u32 << (CLASSES + 1)) - 1;
        for release in releases {
            for class in 1..=CLASSES {
                if release.version > *planned && random.below(1000) < dropping {
                    classes &= !(1_u32 << class);
                }
            }
            release.classes = classes;
            for (target, _) in &release.dependencies {
                if random.below(100) < EXTENDED_PERCENT {
                    release.extends.push((*target, 1 + random.below(CLASSES)));
                }
            }
        }
    }
}
