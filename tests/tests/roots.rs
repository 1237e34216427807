//! Requests with several roots.
//!
//! `SEEDS` sets the number of seeds; see `pkgres_tests::seeds` for long runs.

use std::sync::Arc;

use pkgres_manifest::{IndexRecord, LockDiff, Lockfile, Release, Spec};
use pkgres_resolver::{
    CompiledIndex, Conflict, Engine, LockCheck, Request, Resolution, Resolver, Root, Staleness,
    Step,
};
use pkgres_tests::build::{Build, package, release, spec, version};
use pkgres_tests::drive::attached;
use pkgres_tests::random::Random;
use pkgres_tests::reference::{Answer, Rules, search};
use pkgres_tests::seeds;
use pkgres_tests::solver::{Supplies, Verdict, request, run, run_on};
use pkgres_tests::universe::Universe;

const SEEDS: u64 = 10_000;

fn resolver(roots: &[IndexRecord], records: &[IndexRecord]) -> Resolver {
    let mut request = Request::new(roots[0].clone());
    request.core = None;
    let roots = roots
        .iter()
        .map(|root| Root::Package(Box::new(root.clone())));
    request.roots = roots.collect();
    attached(request, Arc::new(CompiledIndex::compile(records)))
}

fn solve(roots: &[IndexRecord], records: &[IndexRecord]) -> Resolution {
    match resolver(roots, records).step() {
        Step::Solved(resolution) => *resolution,
        other => panic!("{other:?}"),
    }
}

fn read_back(lock: &Lockfile) -> Lockfile {
    let text = lock.to_text();
    let read = Lockfile::read(
        "pkgres.lock",
        text.as_bytes(),
        &pkgres_manifest::Limits::default(),
    );
    read.into_result().expect("it was written").0
}

#[test]
fn a_frozen_lock_of_one_root_includes_the_roots_that_it_requires() {
    let roots = [
        release("A", "1").requires("B", "*"),
        release("B", "2").requires("C", ">=1").requires("A", "1"),
        release("E", "1").requires("F", "1"),
    ];
    let records = [
        release("C", "1").requires("D", "*").requires("B", "2"),
        release("D", "1"),
        release("F", "1"),
    ];
    let solved = solve(&roots, &records);
    let lock = read_back(&solved.to_lockfile().expect("the roots are packages"));
    let found = Resolution::from_lockfile(&lock, &package("A"), Some(&version("1")));
    let found = found.expect("the lock was not edited");
    let expected = solve(&roots[..2], &records);
    assert_eq!(found.roots().len(), 2);
    assert_eq!(found.roots()[1].owner.name(), Some(&package("B")));
    assert_eq!(found.roots()[1].owner.version(), Some(&version("2")));
    let diff = LockDiff::between(
        &expected.to_lockfile().expect("the roots are packages"),
        &found.to_lockfile().expect("the roots are packages"),
    );
    assert!(diff.is_empty(), "{diff:?}");
    // The version of the root is the current one.
    let found = Resolution::from_lockfile(&lock, &package("A"), Some(&version("3")));
    assert_eq!(
        found.expect("the same").roots()[0].owner.version(),
        Some(&version("3"))
    );
    let found = Resolution::from_lockfile(&lock, &package("E"), Some(&version("1")));
    assert_eq!(found.expect("it requires no root").roots().len(), 1);
}

/// The root has a version that the lock does not know, even a prerelease of 0.0.0.
#[test]
fn a_frozen_lock_may_require_a_root_in_any_version() {
    let roots = [
        release("A", "1").requires("B", "1").requires("C", "1"),
        release("B", "1").requires("A", "1"),
    ];
    let solved = solve(&roots, &[release("C", "1").requires("A", "1")]);
    let lock = read_back(&solved.to_lockfile().expect("the roots are packages"));
    for current in ["1", "2", "0.0.0-dev"] {
        let found = Resolution::from_lockfile(&lock, &package("A"), Some(&version(current)));
        let found = found.expect("the version of the root is not locked");
        assert_eq!(found.roots()[0].owner.version(), Some(&version(current)));
        assert!(found.package(&package("C")).is_some());
    }
}

/// The requirement of a root on another root is checked against the current version of that root.
#[test]
fn a_root_can_be_too_new_for_another_root() {
    let roots = |moved| [release("A", "1").requires("B", "1"), release("B", moved)];
    let lock = solve(&roots("1"), &[])
        .to_lockfile()
        .expect("the roots are packages");
    let mut request = Request::new(roots("2")[0].clone());
    request.core = None;
    request.roots = (roots("2").into_iter())
        .map(|root| Root::Package(Box::new(root)))
        .collect();
    let report = LockCheck::new(request, lock).report();
    let expected = Staleness::NotAllowed {
        owner: package("A"),
        owner_version: version("1"),
        package: package("B"),
        spec: spec("1"),
        is_override: false,
        version: version("2"),
        location: None,
    };
    assert_eq!(report.stale, [expected]);
}

#[test]
fn a_root_requires_the_parsed_spec_of_its_record() {
    // The text of this spec allows less: `*` excludes prereleases of 0.0.0.
    let records = [release("X", "0.0.0-rc.1")];
    let index = Arc::new(CompiledIndex::compile(&records));
    for number in ["1.0.0", "1.0.0-rc.1"] {
        for engine in [Engine::Native, Engine::Pubgrub] {
            let mut root = release("Root", number).requires("X", "*");
            root.requirements.change(|all| all[0].spec = Spec::any());
            let mut request = Request::new(root);
            request.core = None;
            request.options.engine = engine;
            let verdict = run_on(&index, request);
            let Verdict::Solved(resolution) = verdict else {
                panic!("{number}, {engine:?}: {verdict:?}");
            };
            let lock = resolution.to_lockfile().expect("the root is a package");
            let requirements = &lock.roots[&package("Root")];
            assert_eq!(requirements[&package("X")].spec, Spec::any());
        }
    }
}

/// A root is usually read from its record. If more than its requirements matters, for example a
/// preference for its version, it is indexed like any release. Both must give the same answer.
#[test]
fn an_indexed_root_gives_the_same_answer() {
    for seed in 0..seeds::count(SEEDS / 5) {
        let universe = Universe::random(seed);
        let root = Release::new(universe.root.name.clone(), universe.root.version.clone());
        for supplies in [Supplies::OnDemand, Supplies::Compiled] {
            for engine in [Engine::Native, Engine::Pubgrub] {
                let mut request = request(&universe);
                request.options.engine = engine;
                let expected = run(&universe, supplies, request.clone());
                request.locked.preferred.insert(root.clone());
                let found = run(&universe, supplies, request);
                assert_eq!(found, expected, "seed {seed}, {engine:?}\n{universe}");
            }
        }
    }
}

#[test]
fn two_roots_of_one_name_are_a_conflict() {
    let roots = [
        release("A", "1").requires("B", "*"),
        release("X", "1"),
        release("A", "2").requires("C", "*"),
    ];
    let records = [release("B", "1"), release("C", "1")];
    let mut resolver = resolver(&roots, &records);
    assert_eq!(resolver.step(), Step::Impossible);
    let Step::Conflict(conflict) = resolver.step() else {
        panic!("a name has one root");
    };
    let Conflict {
        summary,
        packages,
        reasons,
        is_minimal,
        ..
    } = *conflict;
    assert_eq!(summary, "several roots have the name `A`");
    assert_eq!(packages, [package("A")]);
    assert_eq!(reasons[0].versions, [version("1"), version("2")]);
    assert_eq!(reasons[0].text, "A 1.0.0 and A 2.0.0 are roots");
    assert!(is_minimal);
}

/// A random universe, a release of one of its packages as a second root, and the universe with one root
/// that requires exactly these two.
fn two_roots(seed: u64) -> Option<(Universe, IndexRecord, Universe)> {
    let mut random = Random::new(seed);
    let mut universe = Universe::random(seed);
    universe.locked = None;
    let name = universe.root.name.clone();
    let others: Vec<&IndexRecord> = (universe.records.iter())
        .filter(|record| record.name != name && Some(&record.name) != universe.core.as_ref())
        .filter(|record| !record.version.is_prerelease())
        .collect();
    if others.is_empty() {
        return None;
    }
    let mut second = (*random.pick(&others)).clone();
    second.yanked = false;
    let mut joint = universe.clone();
    joint.root = release("Both", "1")
        .requires(name.as_str(), "*")
        .requires(second.name.as_str(), "*");
    if let Some(core) = &universe.core {
        // The requirements of the core library would be decided earlier.
        let mut of_core = (universe.records.iter()).filter(|record| record.name == *core);
        if of_core.any(|record| !record.requirements.is_empty()) {
            return None;
        }
        joint.root = joint.root.requires(core.as_str(), "*");
    }
    // A root is the only candidate of its name.
    let is_root = |record: &IndexRecord| record.name == name || record.name == second.name;
    joint.records.retain(|record| !is_root(record));
    joint.records.push(universe.root.clone());
    joint.records.push(second.clone());
    Some((universe, second, joint))
}

#[test]
fn several_roots_equal_one_root_that_requires_them() {
    let mut solved = 0;
    for seed in 0..seeds::count(SEEDS) {
        let Some((universe, second, joint)) = two_roots(seed) else {
            continue;
        };
        let mut expected = search(&joint, &Rules::default());
        if let Answer::Solved(solution) = &mut expected {
            let bindings = &mut solution.bindings;
            bindings.retain(|(owner, _, _), _| *owner != joint.root.name);
            solved += 1;
        }
        for supplies in [Supplies::OnDemand, Supplies::Attached] {
            let mut request = request(&universe);
            request.roots.push(Root::Package(Box::new(second.clone())));
            let found = run(&universe, supplies, request).answer();
            assert_eq!(
                found, expected,
                "seed {seed} {supplies:?} {second:?}\n{joint}"
            );
        }
    }
    assert!(solved > 1_000, "{solved}");
}
