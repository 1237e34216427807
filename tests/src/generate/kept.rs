//! Kept releases: they stay candidates although they are yanked, or prereleases that the policy
//! rejects.

use crate::random::Random;
use crate::universe::{PrereleasePolicy, Universe};

/// Keeps some releases of a universe, mostly ones that could not be chosen otherwise.
pub(super) fn add(universe: &mut Universe, random: &mut Random) {
    if random.chance(70) {
        yank_required_release(universe, random);
    }
    for record in &universe.records {
        let is_rejected = universe.prerelease == PrereleasePolicy::Never;
        let matters = record.yanked || is_rejected && record.version.is_prerelease();
        if random.chance(if matters { 85 } else { 10 }) {
            let release = record.release();
            universe.kept.insert(release);
        }
    }
}

/// Yanks the newest release of a package that the root requires.
fn yank_required_release(universe: &mut Universe, random: &mut Random) {
    if universe.root.requirements.is_empty() {
        return;
    }
    let requirements = universe.root.requirements.iter();
    let required: Vec<_> = requirements.map(|one| one.package.clone()).collect();
    let name = random.pick(&required).clone();
    let records = universe.records.iter_mut();
    let of_package = records.filter(|record| record.name == name);
    if let Some(newest) = of_package.max_by(|one, two| one.version.cmp(&two.version)) {
        newest.yanked = true;
    }
}
