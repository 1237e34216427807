//! The check of a lockfile agrees with the solver, although it does not search: a lockfile is up to date
//! if and only if locking again changes nothing, whether packages are provided by name or as an index.
//!
//! `SEEDS` sets the number of seeds; see `pkgres_tests::seeds` for long runs.

use std::sync::Arc;

use pkgres_manifest::{IndexRecord, LockDiff, Lockfile, Shared, Spec};
use pkgres_resolver::{CompiledIndex, LockCheck, LockReport, Locked};
use pkgres_tests::drive::{Records, source};
use pkgres_tests::random::Random;
use pkgres_tests::seeds;
use pkgres_tests::solver::{Supplies, Verdict, request, run};
use pkgres_tests::universe::Universe;

const SEEDS: u64 = 20_000;

/// A lockfile of a universe, which is then changed in up to two places.
fn locked_before(universe: &mut Universe, random: &mut Random) -> Option<Lockfile> {
    universe.locked = None;
    let Verdict::Solved(resolution) = run(universe, Supplies::OnDemand, request(universe)) else {
        return None;
    };
    let lock = resolution.to_lockfile().expect("the roots are packages");
    for _ in 0..random.between(0, 2) {
        change(universe, random);
    }
    Some(lock)
}

/// Changes a universe in a way that may make a lockfile stale.
fn change(universe: &mut Universe, random: &mut Random) {
    if universe.records.is_empty() {
        return;
    }
    let at = random.below(universe.records.len());
    match random.below(8) {
        0 => {
            universe.records.remove(at);
        }
        1 => universe.records[at].yanked = true,
        2 => universe.records[at].requirements = Shared::new(),
        3 => universe.root.requirements.change(|all| all.truncate(1)),
        4 => change_a_spec(&mut universe.root, random),
        5 => change_a_spec(&mut universe.records[at], random),
        6 => drop_a_class(&mut universe.records[at], random),
        _ => universe.single_version = !universe.single_version,
    }
}

fn change_a_spec(record: &mut IndexRecord, random: &mut Random) {
    let requirements = &mut record.requirements;
    if !requirements.is_empty() {
        let chosen = random.below(requirements.len());
        let spec = *random.pick(&["*", "1", ">=1.1", "<2", "!=1.0.0", "0"]);
        requirements[chosen].spec = Spec::parse(spec).expect("a spec");
    }
}

fn drop_a_class(record: &mut IndexRecord, random: &mut Random) {
    if let Some(classes) = &mut record.classes
        && !classes.is_empty()
    {
        let chosen = random.below(classes.len());
        let kept = classes.iter().enumerate();
        let kept = kept.filter(|(at, _)| *at != chosen);
        record.classes = Some(kept.map(|(_, class)| class.clone()).collect());
    }
}

/// The report of a check with the records that it asks for.
fn report(universe: &Universe, lock: &Lockfile) -> LockReport {
    let mut check = LockCheck::new(request(universe), lock.clone());
    let records = Records::new(universe.records.iter().cloned());
    for name in check.needs() {
        let provided = check.provide(&name, records.supply_of(&name));
        provided.expect("the records are of the package");
    }
    check.report()
}

/// The report of a check with an index of all records.
fn report_by_index(universe: &Universe, lock: &Lockfile) -> LockReport {
    let mut check = LockCheck::new(request(universe), lock.clone());
    let index = CompiledIndex::compile(&universe.records);
    check.attach(source(), Arc::new(index));
    check.report()
}

/// The lockfile that is written when an earlier one exists; `None` if there is no resolution.
fn locked_anew(universe: &Universe, lock: &Lockfile) -> Option<Lockfile> {
    let mut request = request(universe);
    request.locked = Locked::from_lockfile(lock);
    request.locked.kept.clone_from(&universe.kept);
    match run(universe, Supplies::OnDemand, request) {
        Verdict::Solved(resolution) => {
            Some(resolution.to_lockfile().expect("the roots are packages"))
        }
        Verdict::Conflict(_) => None,
    }
}

#[test]
fn a_lockfile_is_up_to_date_exactly_if_locking_again_changes_nothing() {
    let (mut fitting, mut stale) = (0, 0);
    for seed in 0..seeds::count(SEEDS) {
        let mut random = Random::new(seed);
        let mut universe = Universe::random(seed);
        let Some(lock) = locked_before(&mut universe, &mut random) else {
            continue;
        };
        let report = report(&universe, &lock);
        let anew = locked_anew(&universe, &lock);
        let diff = anew.map(|anew| LockDiff::between(&lock, &anew));
        let is_unchanged = diff.as_ref().is_some_and(LockDiff::is_empty);
        assert_eq!(
            report.stale.is_empty(),
            is_unchanged,
            "seed {seed}: {:?}, but {diff:?}\n{}\n{universe}",
            report.stale,
            lock.to_text()
        );
        let by_index = report_by_index(&universe, &lock);
        assert_eq!(by_index, report, "seed {seed}\n{universe}");
        fitting += usize::from(is_unchanged);
        stale += usize::from(!is_unchanged);
    }
    assert!(fitting > 500 && stale > 500, "{fitting} {stale}");
}
