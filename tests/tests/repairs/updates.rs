//! Repairs of updates: each moves the package to the version that was asked for, and brute force finds the same ones.
//!
//! *Idea.* If a root requires the package, an update to a version has the resolutions of the universe without the package's
//! other versions. Its cheapest repairs are those of that universe.

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::{IndexRecord, PackageName, Release, Version};
use pkgres_resolver::{
    Locked, PackageUpdate, Repair, ResolvedPackage, Restriction, Update, UpdateTarget,
};
use pkgres_tests::seeds;
use pkgres_tests::solver::{Supplies, Verdict, repairs_of, request, run, solve};
use pkgres_tests::universe::Universe;

use crate::{Compared, SEEDS, assert_repaired, expected, is_own, set_of, show};

/// A lock of a universe, and the packages and versions to which an update of it may move.
fn updates(universe: &Universe) -> Option<(Locked, Vec<Release>)> {
    let Verdict::Solved(before) = solve(universe) else {
        return None;
    };
    let required = universe.root.requirements.iter();
    let required: BTreeSet<&PackageName> = required.map(|required| &required.package).collect();
    let targets = universe.records.iter().filter(|record| {
        let mut locked = before.packages().iter();
        let is_other =
            |one: &ResolvedPackage| one.name == record.name && one.version != record.version;
        required.contains(&record.name) && locked.any(is_other)
    });
    let targets = targets.map(IndexRecord::release);
    Some((before.to_locked(), targets.collect()))
}

/// The universe in which a package has only this version, with the candidates that a lock and an update keep.
fn with_only(
    universe: &Universe,
    locked: &Locked,
    (name, version): (&PackageName, &Version),
) -> Universe {
    let mut only = universe.clone();
    let kept = locked.bound().chain([(name, version)]);
    let kept = kept.map(|(name, version)| Release::new(name.clone(), version.clone()));
    only.kept.extend(kept);
    only.records
        .retain(|record| record.name != *name || record.version == *version);
    only
}

/// Compares the repairs of all updates of a universe with those that brute force finds.
fn compare(seed: u64, universe: &Universe) -> Compared {
    let mut compared = Compared::default();
    let Some((locked, targets)) = updates(universe) else {
        return compared;
    };
    for Release { name, version } in targets {
        let mut request = request(universe);
        request.locked = locked.clone();
        let moving = PackageUpdate::from(UpdateTarget::Exactly(version.clone()));
        request.update = Some(Update::from(BTreeMap::from([(name.clone(), moving)])));
        let Some(conflict) = run(universe, Supplies::OnDemand, request.clone()).conflict() else {
            continue;
        };
        let about = format!("seed {seed}: {name} {version}\n{universe}{conflict:#?}");
        let repairs = repairs_of(universe, &request, &conflict);
        assert!(repairs.is_complete, "{about}");
        compared.conflicts += 1;
        let only = with_only(universe, &locked, (&name, &version));
        for repair in &repairs.found {
            assert_repaired(seed, &only, repair);
            let mut moved = repair.resolution.packages().iter();
            let is_target =
                |package: &PackageName, found: &Version| *package == name && *found == version;
            assert!(
                moved.any(|moved| is_target(&moved.name, &moved.version)),
                "{about}"
            );
            compared.repairs += 1;
            *compared.sizes.entry(repair.changes.len()).or_default() += 1;
        }
        let sets: BTreeSet<BTreeSet<Restriction>> = repairs.found.iter().map(set_of).collect();
        compared.own += sets.iter().filter(|set| set.iter().all(is_own)).count();
        match expected(&only) {
            Some(expected) => {
                assert_eq!(sets, expected, "{about}");
                compared.impossible += usize::from(expected.is_empty());
            }
            None => compared.too_large += 1,
        }
        assert!(repairs.found.is_sorted_by_key(Repair::cost), "{about}");
    }
    compared
}

#[test]
fn brute_force_finds_the_same_repairs_of_updates() {
    let mut all = Compared::default();
    let universe = |seed| Universe {
        single_version: true,
        // The lock that the update starts from is the only one.
        locked: None,
        kept: BTreeSet::new(),
        ..Universe::random(seed)
    };
    for compared in seeds::for_all(seeds::count(SEEDS), |seed| compare(seed, &universe(seed))) {
        all.add(compared);
    }
    show(&all);
    assert!(all.conflicts > 50, "{all:?}");
    assert!(all.repairs > all.conflicts / 2, "{all:?}");
    assert!(all.sizes.contains_key(&2), "{all:?}");
    assert!(all.own > 0, "{all:?}");
}
