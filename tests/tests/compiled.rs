//! Compiled indexes: they give the same answers as records, in memory and after writing and reading
//! them, and tampered bytes do no harm.
//!
//! `SEEDS` sets the number of seeds; see `pkgres_tests::seeds` for long runs.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use pkgres_manifest::ClassName;
use pkgres_resolver::{CompiledIndex, IndexBytesError, SolveOptions};
use pkgres_tests::build::{Build as _, package, release, version};
use pkgres_tests::drive::{NoPackages, attached, drive};
use pkgres_tests::examples::variation;
use pkgres_tests::random::Random;
use pkgres_tests::seeds;
use pkgres_tests::solver::{
    SOURCE, Supplies, Verdict, compiled, request, run_on, solve, solve_with,
};
use pkgres_tests::universe::Universe;
use twox_hash::XxHash3_128;

const SEEDS: u64 = 2_000;
const CHECKSUM_BYTES: usize = 16;
/// A budget that ends searches in tampered indexes soon.
const MAX_STEPS: u64 = 20_000;

#[test]
fn compiled_indexes_and_records_give_the_same_answers() {
    let universes = |seed| [Universe::random(seed), variation(seed)];
    for (seed, universe) in
        (0..seeds::count(SEEDS)).flat_map(|seed| universes(seed).map(|universe| (seed, universe)))
    {
        let expected = solve(&universe);
        let conflict_limit = SolveOptions::default().conflict_limit;
        // Steps are compared too: nothing may depend on whether there is a cache.
        for supplies in [
            Supplies::Compiled,
            Supplies::PartlyCompiled,
            Supplies::AttachedWhenNeeded,
        ] {
            let found = solve_with(&universe, supplies, conflict_limit);
            assert_eq!(found, expected, "seed {seed}, {supplies:?}\n{universe}");
        }
    }
}

/// The search is in the order of conflicts from the start, so that learned clauses decide.
#[test]
fn compiled_indexes_and_records_give_the_same_searches() {
    for seed in 0..seeds::count(SEEDS) {
        let universe = Universe::random(seed);
        for conflict_limit in [0, 3] {
            let expected = solve_with(&universe, Supplies::OnDemand, conflict_limit);
            let found = solve_with(&universe, Supplies::Compiled, conflict_limit);
            assert_eq!(found, expected, "seed {seed}\n{universe}");
        }
    }
}

/// Solvers pass their memory on to later solvers that use the same index. Answers, steps and reasons
/// must not depend on what was in it.
#[test]
fn reused_memory_does_not_change_the_answer() {
    for seed in 0..seeds::count(SEEDS / 10) {
        let mut universe = Universe::random(seed);
        let mut roots = vec![universe.root.clone()];
        for record in &universe.records {
            let root = release("Another.Root", "1");
            roots.push(root.requires(record.name.as_str(), &record.version.to_string()));
        }
        Random::new(seed).shuffle(&mut roots);
        let used = Arc::new(CompiledIndex::compile(&universe.records));
        for root in roots {
            universe.root = root;
            for conflict_limit in [0, SolveOptions::default().conflict_limit] {
                let mut request = request(&universe);
                request.options.conflict_limit = conflict_limit;
                let unused = Arc::new(CompiledIndex::compile(&universe.records));
                let expected = run_on(&unused, request.clone());
                let found = run_on(&used, request);
                assert_eq!(found, expected, "seed {seed}\n{universe}");
            }
        }
    }
}

/// All releases of `X` except the first extend a class that only a release of `Base` defines that cannot
/// be chosen. Each of them also requires one of `packages` packages.
fn requiring_different_things(packages: u64) -> Universe {
    let root = release("Root", "1").requires("X", "1");
    let mut records = vec![
        release("Base", "1.0.0").defines("base.Gone", &[]),
        release("Base", "1.1.0").defines("base.Kept", &[]),
        release("X", "1.0.0"),
    ];
    for at in 1..200 {
        let part = format!("Part{}", at % packages);
        let extending = release("X", &format!("1.{at}"))
            .requires("Base", "1")
            .requires(&part, "*")
            .defines("x.Main", &["base.Gone"]);
        records.push(extending);
        records.push(release(&part, &format!("1.{at}")));
    }
    let mut universe = Universe::new(root.requires("Base", "1.1.0"), records);
    universe.single_version = true;
    universe
}

/// The number of clauses for the classes of `X`, and so the number of steps, depends on whether its
/// releases share requirements. Indexes and records must share them alike.
#[test]
fn searches_are_the_same_where_releases_share_no_requirements() {
    // The first release requires none of them, and the empty list counts too.
    let steps = [8, 63, 64, 199].map(|packages| {
        let universe = requiring_different_things(packages);
        let expected = solve(&universe);
        let conflict_limit = SolveOptions::default().conflict_limit;
        for supplies in [Supplies::Attached, Supplies::Compiled] {
            let found = solve_with(&universe, supplies, conflict_limit);
            assert_eq!(found, expected, "{packages} packages, {supplies:?}");
        }
        let Verdict::Solved(resolution) = expected else {
            panic!("the first release of X can be chosen: {expected:?}");
        };
        let chosen = resolution.package(&package("X"));
        assert_eq!(
            chosen.map(|chosen| &chosen.version),
            Some(&version("1.0.0"))
        );
        resolution.stats().steps
    });
    let [few, most, more, all] = steps;
    assert!(few < most && most < more && more == all, "{steps:?}");
}

#[test]
fn equal_records_give_equal_bytes() {
    for seed in 0..200 {
        let mut universe = Universe::random(seed);
        let bytes = compiled(&universe);
        Random::new(seed).shuffle(&mut universe.records);
        assert!(compiled(&universe) == bytes, "seed {seed}");
        let again = CompiledIndex::from_bytes(bytes.clone(), &SOURCE).expect("it is whole");
        assert!(again.to_bytes(&SOURCE) == Some(bytes), "seed {seed}");
    }
}

#[test]
fn damaged_bytes_are_rejected() {
    let universe = Universe::random(1);
    let bytes = compiled(&universe);
    let open = |bytes: &[u8]| CompiledIndex::from_bytes(bytes.to_vec(), &SOURCE).err();
    assert_eq!(open(&bytes), None);
    for end in 0..bytes.len() {
        assert!(open(&bytes[..end]).is_some(), "cut to {end} bytes");
    }
    for more in [&b"\0"[..], &[0; 8], &bytes] {
        let longer = [&bytes, more].concat();
        assert_eq!(open(&longer), Some(IndexBytesError::Length));
    }
    let mut damaged = bytes.clone();
    for at in 0..bytes.len() {
        for bit in 0..8 {
            damaged[at] ^= 1 << bit;
            assert!(open(&damaged).is_some(), "bit {bit} of byte {at}");
            damaged[at] = bytes[at];
        }
    }
    let other = CompiledIndex::from_bytes(bytes, &[8; 32]).err();
    assert_eq!(other, Some(IndexBytesError::OtherSource));
}

/// Bytes that are not aligned for numbers are copied.
#[test]
fn unaligned_bytes_can_be_read() {
    struct Offset(Vec<u8>, usize);
    impl std::ops::Deref for Offset {
        type Target = [u8];

        fn deref(&self) -> &[u8] {
            &self.0[self.1..]
        }
    }
    let bytes = compiled(&Universe::random(1));
    for offset in 0..8 {
        let behind = Offset([&vec![0; offset], bytes.as_slice()].concat(), offset);
        let index = CompiledIndex::from_bytes(behind, &SOURCE).expect("it is whole");
        assert!(index.to_bytes(&SOURCE).as_ref() == Some(&bytes));
    }
}

/// Replaces a number in the bytes by one that is likely to do harm, with a valid checksum.
fn tamper(random: &mut Random, bytes: &mut [u8]) {
    let end = bytes.len() - CHECKSUM_BYTES;
    // Some positions are in the table of sections, most are after it.
    for _ in 0..=random.below(3) {
        let at = 56 + random.below(end - 56);
        match random.below(5) {
            0 => bytes[at] = u8::try_from(random.below(256)).expect("a byte"),
            1 => bytes[at] ^= 1 << random.below(8),
            2 => bytes[at] = bytes[at].wrapping_add(1),
            3 => {
                // Swap two numbers.
                let (one, two) = (at / 4 * 4, 56 + at % (end - 56) / 4 * 4);
                let two = (two + 4 * random.below(8)).min(end - 4);
                for byte in 0..4 {
                    bytes.swap(one + byte, two + byte);
                }
            }
            _ => {
                let number = at / 4 * 4;
                let value = [0, 1, u32::MAX, u32::MAX - 1][random.below(4)];
                bytes[number..number + 4].copy_from_slice(&value.to_ne_bytes());
            }
        }
    }
    let checksum = XxHash3_128::oneshot(&bytes[..end]);
    bytes[end..].copy_from_slice(&checksum.to_ne_bytes());
}

/// Solves with an index, whatever the answer.
fn use_index(universe: &Universe, index: CompiledIndex) {
    let index = Arc::new(index);
    let _ = index.package_count();
    for record in &universe.records {
        let classes = record.classes.iter().flatten();
        let names: Vec<ClassName> = classes.map(|class| class.name.clone()).collect();
        for name in names {
            let _ = index.defining(&name);
        }
    }
    assert!(index.packages().count() <= index.release_count());
    let mut request = request(universe);
    request.options.max_steps = MAX_STEPS;
    drive(&mut attached(request, index), &mut NoPackages);
}

/// Tampered bytes are rejected, or solving with them ends without a panic.
#[test]
fn tampered_bytes_never_cause_a_panic() {
    let (mut rejected, mut accepted) = (0, 0);
    for seed in 0..seeds::count(SEEDS) {
        let universe = Universe::random(seed);
        let bytes = compiled(&universe);
        let mut random = Random::new(seed);
        for _ in 0..20 {
            let mut bytes = bytes.clone();
            tamper(&mut random, &mut bytes);
            let used = catch_unwind(AssertUnwindSafe(|| {
                let index = CompiledIndex::from_bytes(bytes, &SOURCE).ok()?;
                use_index(&universe, index);
                Some(())
            }));
            match used.ok() {
                Some(None) => rejected += 1,
                Some(Some(())) => accepted += 1,
                None => panic!("seed {seed} panics\n{universe}"),
            }
        }
    }
    assert!(rejected > 1000 && accepted > 1000, "{rejected} {accepted}");
}
