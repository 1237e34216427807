//! Repairs: brute force finds the same cheapest ones, and each of them solves.
//!
//! `SEEDS` sets the number of seeds; see `pkgres_tests::seeds` for long runs.

mod resolver_jl;
mod updates;

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::{IndexRecord, Spec};
use pkgres_resolver::{Change, LockCheck, Locked, PrereleasePolicy, Repair, Repairs, Restriction};
use pkgres_tests::build::{Build, package, release, spec};
use pkgres_tests::drive::Records;
use pkgres_tests::reference::repairs::{
    CheapestSets, MAX_SIZES, cheapest_sets, nearest, relaxed, restrictions,
};
use pkgres_tests::reference::{Rules, is_valid};
use pkgres_tests::seeds;
use pkgres_tests::solver::{
    Supplies, Verdict, counted_repairs, repairs, repairs_of, request, run, solution, solve,
};
use pkgres_tests::universe::Universe;

const SEEDS: u64 = 1_500;

/// What was compared.
#[derive(Debug, Default)]
struct Compared {
    conflicts: usize,
    impossible: usize,
    too_large: usize,
    repairs: usize,
    /// Repairs by the number of their changes.
    sizes: BTreeMap<usize, usize>,
    own: usize,
    applied: usize,
}

impl Compared {
    fn add(&mut self, other: Self) {
        self.conflicts += other.conflicts;
        self.impossible += other.impossible;
        self.too_large += other.too_large;
        self.repairs += other.repairs;
        self.own += other.own;
        self.applied += other.applied;
        for (size, count) in other.sizes {
            *self.sizes.entry(size).or_default() += count;
        }
    }
}

fn is_own(restriction: &Restriction) -> bool {
    matches!(restriction, Restriction::Requirement { .. })
}

fn set_of(repair: &Repair) -> BTreeSet<Restriction> {
    repair.changes.iter().map(Change::restriction).collect()
}

/// The sets that brute force expects; `None` if they are too large for it.
fn expected(universe: &Universe) -> Option<BTreeSet<BTreeSet<Restriction>>> {
    let all = restrictions(universe);
    let mut sets = match cheapest_sets(universe, &all, MAX_SIZES.0) {
        CheapestSets::Found(sets) => sets,
        CheapestSets::Impossible => return Some(BTreeSet::new()),
        CheapestSets::TooLarge => return None,
    };
    if !sets.iter().any(|set| set.iter().all(is_own)) {
        let own = all.into_iter().filter(is_own).collect();
        match cheapest_sets(universe, &own, MAX_SIZES.1) {
            CheapestSets::Found(own) => sets.extend(own),
            CheapestSets::Impossible => {}
            CheapestSets::TooLarge => return None,
        }
    }
    let needless = |set: &BTreeSet<Restriction>| {
        set.iter().any(|restriction| {
            let Restriction::Override { package } = restriction else {
                return false;
            };
            let mut instead = set.clone();
            instead.remove(restriction);
            instead.insert(Restriction::Requirement {
                root: universe.root.name.clone(),
                package: package.clone(),
            });
            sets.contains(&instead)
        })
    };
    Some(sets.iter().filter(|set| !needless(set)).cloned().collect())
}

/// Asserts that the resolution of a repair is valid in the universe with its changes, and that requirements of the root
/// are widened as little as possible.
fn assert_repaired(seed: u64, universe: &Universe, repair: &Repair) {
    let mut narrowed = universe.clone();
    for (at, change) in repair.changes.iter().enumerate() {
        if let Change::Requirement {
            from, allow, to, ..
        } = change
        {
            let later = repair.changes[at + 1..].iter().map(Change::restriction);
            let others = later.fold(narrowed.clone(), |universe, restriction| {
                relaxed(&universe, &restriction, &Spec::any())
            });
            let stated = from.clone().unwrap_or_else(Spec::unspecified);
            let expected = nearest(&others, &change.restriction(), &stated);
            assert_eq!(
                Some(allow),
                expected.as_ref(),
                "seed {seed}\n{universe}{change:?}"
            );
            assert!(to.matches(allow), "seed {seed}: {change:?}");
        }
        let spec = match change {
            Change::Requirement { to, .. }
            | Change::Override { to, .. }
            | Change::Release { to, .. } => to.clone(),
            Change::NoOverride { .. }
            | Change::CutOff { .. }
            | Change::Prereleases { .. }
            | Change::SideBySide => Spec::any(),
        };
        narrowed = relaxed(&narrowed, &change.restriction(), &spec);
    }
    let valid = is_valid(&narrowed, &solution(&repair.resolution), &Rules::default());
    assert_eq!(
        valid,
        Ok(()),
        "seed {seed}\n{universe}{:#?}",
        repair.changes
    );
}

/// Applies a repair as `pkgres repair --apply` does, and asserts that the lockfile of the result is up to date. Returns
/// false if somebody has to make a release first.
fn assert_applies(seed: u64, universe: &Universe, repair: &Repair) -> bool {
    if !repair.needs_no_release() {
        return false;
    }
    let mut repaired = universe.clone();
    let mut overrides = BTreeMap::new();
    for change in &repair.changes {
        match change {
            Change::Requirement { to, .. } => {
                repaired = relaxed(&repaired, &change.restriction(), to);
            }
            Change::Override { package, to, .. } => {
                overrides.insert(package.clone(), to.clone());
            }
            _ => repaired = relaxed(&repaired, &change.restriction(), &Spec::any()),
        }
    }
    let mut request = request(&repaired);
    request.overrides = overrides;
    let Verdict::Solved(resolution) = run(&repaired, Supplies::OnDemand, request.clone()) else {
        panic!(
            "seed {seed}: {:?} does not solve\n{universe}",
            repair.changes
        );
    };
    assert_eq!(
        solution(&resolution),
        solution(&repair.resolution),
        "seed {seed}: it is the resolution that the repair promised"
    );
    let lock = resolution.to_lockfile().expect("the root is a package");
    request.locked = Locked::default();
    let mut check = LockCheck::new(request, lock);
    let records = Records::new(repaired.records.iter().cloned());
    for name in check.needs() {
        let provided = check.provide(&name, records.supply_of(&name));
        provided.expect("the records are of the package");
    }
    assert_eq!(
        check.report().stale,
        [],
        "seed {seed}\n{universe}{:#?}",
        repair.changes
    );
    true
}

/// Compares the repairs of a universe with those that brute force finds.
fn compare(seed: u64, universe: &Universe) -> Compared {
    let mut compared = Compared::default();
    let Some(conflict) = solve(universe).conflict() else {
        return compared;
    };
    compared.conflicts = 1;
    let Repairs {
        found, is_complete, ..
    } = repairs(universe, &conflict);
    assert!(is_complete, "seed {seed}\n{universe}");
    for repair in &found {
        assert_repaired(seed, universe, repair);
        compared.applied += usize::from(assert_applies(seed, universe, repair));
        compared.repairs += 1;
        *compared.sizes.entry(repair.changes.len()).or_default() += 1;
        compared.own += usize::from(repair.changes.iter().all(|one| is_own(&one.restriction())));
    }
    assert!(
        found.is_sorted_by_key(Repair::cost),
        "seed {seed}: the cheapest come first"
    );
    let sets: BTreeSet<BTreeSet<Restriction>> = found.iter().map(set_of).collect();
    assert_eq!(sets.len(), found.len(), "seed {seed}: none is found twice");
    match expected(universe) {
        Some(expected) => {
            assert_eq!(sets, expected, "seed {seed}\n{universe}{conflict:#?}");
            compared.impossible += usize::from(expected.is_empty());
        }
        None => compared.too_large += 1,
    }
    compared
}

fn compare_all(count: u64, universe: impl Fn(u64) -> Universe + Sync) -> Compared {
    let mut all = Compared::default();
    for compared in seeds::for_all(count, |seed| compare(seed, &universe(seed))) {
        all.add(compared);
    }
    show(&all);
    all
}

// Long runs are made for these numbers.
#[allow(clippy::print_stdout)]
fn show(compared: &Compared) {
    println!("{compared:?}");
}

#[test]
fn brute_force_finds_the_same_repairs() {
    let all = compare_all(seeds::count(SEEDS), Universe::random);
    assert!(all.conflicts > 100, "{all:?}");
    assert!(all.repairs > all.conflicts / 2, "{all:?}");
    assert!(all.sizes.contains_key(&2), "{all:?}");
    assert!(all.applied > all.repairs / 3, "{all:?}");
}

#[test]
fn brute_force_finds_the_same_repairs_where_packages_share_classes() {
    let all = compare_all(seeds::count(SEEDS) / 3, Universe::around_hubs);
    assert!(all.conflicts > 10, "{all:?}");
}

/// Two packages that move together need two changes of the root; an override of what they share is one.
#[test]
fn own_requirements_are_found_beside_a_smaller_set_of_other_changes() {
    let universe = Universe::new(
        release("p.Root", "1.0.0")
            .requires("p.A", "1")
            .requires("p.B", "2"),
        vec![
            release("p.A", "1.0.0").requires("p.C", "1"),
            release("p.A", "2.0.0").requires("p.C", "3"),
            release("p.B", "2.0.0").requires("p.C", "2"),
            release("p.B", "3.0.0").requires("p.C", "3"),
            release("p.C", "1.0.0"),
            release("p.C", "2.0.0"),
            release("p.C", "3.0.0"),
        ],
    );
    let universe = Universe {
        single_version: true,
        ..universe
    };
    let conflict = solve(&universe).conflict().expect("they clash");
    let found = repairs(&universe, &conflict).found;
    let kinds: Vec<Vec<bool>> = (found.iter())
        .map(|repair| set_of(repair).iter().map(is_own).collect())
        .collect();
    // An override of p.C, a release of p.A, one of p.B, several releases of p.C, and both requirements of the root.
    let others = std::iter::repeat_n(vec![false], 4);
    let all: Vec<Vec<bool>> = others.chain([vec![true, true]]).collect();
    assert_eq!(kinds, all);
    assert_eq!(found[3].changes, [Change::SideBySide]);
    let own = found.last().expect("it is the last");
    for (change, name) in own.changes.iter().zip(["p.A", "p.B"]) {
        let Change::Requirement {
            package: changed, ..
        } = change
        else {
            panic!("{change:?} is no requirement");
        };
        assert_eq!(*changed, package(name));
    }
}

/// A cut-off date is given up if only a newer release fits, and the prerelease policy if only a prerelease does.
#[test]
fn options_are_restrictions() {
    let published = |mut record: IndexRecord, date: &str| {
        record.published = Some(date.to_owned());
        record
    };
    let universe = Universe::new(
        release("p.Root", "1.0.0").requires("p.A", ">=2"),
        vec![
            published(release("p.A", "1.0.0"), "2023-01-01T00:00:00Z"),
            published(release("p.A", "2.0.0"), "2024-06-01T00:00:00Z"),
        ],
    );
    let mut request = request(&universe);
    request.options.exclude_newer = Some("2024-01-01T00:00:00Z".parse().expect("a time"));
    let conflict = run(&universe, Supplies::OnDemand, request.clone()).conflict();
    let found = repairs_of(&universe, &request, &conflict.expect("it is too new")).found;
    let [own, option] = found.as_slice() else {
        panic!("there are two ways: {found:#?}");
    };
    assert!(matches!(&own.changes[..], [Change::Requirement { .. }]));
    // A release has to be published before the date, so the midnight after it is early enough.
    let until = Some("2024-06-02T00:00:00Z".parse().expect("a time"));
    assert_eq!(option.changes, [Change::CutOff { until }]);

    let universe = Universe::new(
        release("p.Root", "1.0.0").requires("p.A", ">=2"),
        vec![published(release("p.A", "2.0.0"), "some day")],
    );
    let conflict = run(&universe, Supplies::OnDemand, request.clone()).conflict();
    let found = repairs_of(
        &universe,
        &request,
        &conflict.expect("no date is late enough"),
    )
    .found;
    let changes: Vec<&[Change]> = found.iter().map(|repair| &repair.changes[..]).collect();
    assert_eq!(changes, [[Change::CutOff { until: None }]]);

    let universe = Universe::new(
        release("p.Root", "1.0.0").requires("p.A", ">=2"),
        vec![release("p.A", "3.0.0-rc.1")],
    );
    let mut request = self::request(&universe);
    request.options.prerelease = PrereleasePolicy::Never;
    let conflict = run(&universe, Supplies::OnDemand, request.clone()).conflict();
    let found = repairs_of(&universe, &request, &conflict.expect("it is a prerelease")).found;
    let policy = PrereleasePolicy::IfNecessary;
    let changes: Vec<&[Change]> = found.iter().map(|repair| &repair.changes[..]).collect();
    assert_eq!(changes, [[Change::Prereleases { policy }]]);
}

/// Each of several releases side by side needs a new release of its own.
#[test]
fn releases_side_by_side_are_changed_one_by_one() {
    let of_c = |version: &str| {
        release("p.C", version)
            .requires("p.B", "2")
            .defines("p.C.K", &["p.B.K"])
    };
    let universe = Universe::new(
        release("p.Root", "1.0.0")
            .requires("p.B", "1")
            .requires("p.C", "0"),
        vec![
            release("p.B", "1.0.0")
                .requires("p.C", "1")
                .defines("p.B.K", &[]),
            release("p.B", "2.0.0"),
            of_c("0.1.0"),
            of_c("1.2.0"),
        ],
    );
    let Verdict::Conflict(conflict) = solve(&universe) else {
        panic!("no release of p.B with the class is required");
    };
    let hints = conflict.suggestions.iter().map(|change| &change.text);
    assert_eq!(hints.collect::<Vec<_>>(), [] as [&String; 0]);
    let found = repairs(&universe, &conflict).found;
    let releases = found.iter().flat_map(|repair| &repair.changes);
    let releases = releases.filter_map(|change| match change {
        Change::Release {
            owner, based_on, ..
        } => Some((owner.as_str(), based_on.as_ref()?.to_string())),
        _ => None,
    });
    let releases: Vec<(&str, String)> = releases.collect();
    let both = ["0.1.0", "1.2.0"].map(|version| ("p.C", version.to_owned()));
    assert!(releases.ends_with(&both), "{found:?}");
}

/// A chosen release of another line that does not have the requirement needs no new release.
#[test]
fn a_release_without_the_requirement_is_not_changed() {
    let universe = Universe::new(
        release("p.Root", "1.0.0").requires("p.D", "<2"),
        vec![
            release("p.D", "1.1.0")
                .requires("p.C", "1.0")
                .defines("p.D.K", &["p.C.L"]),
            release("p.D", "2.1.0"),
            release("p.C", "1.0.0"),
            release("p.C", "2.0.0")
                .requires("p.D", "2")
                .defines("p.C.L", &[]),
        ],
    );
    let Verdict::Conflict(conflict) = solve(&universe) else {
        panic!("the class is in p.C 2 only");
    };
    let found = repairs(&universe, &conflict).found;
    let mut releases: Vec<String> = Vec::new();
    for change in found.iter().flat_map(|repair| &repair.changes) {
        if let Change::Release {
            owner,
            based_on: Some(based_on),
            package,
            ..
        } = change
            && owner.as_str() == "p.D"
        {
            releases.push(format!("{owner} {based_on}: {package}"));
        }
    }
    assert_eq!(releases, ["p.D 1.1.0: p.C"], "{found:?}");
}

/// An override that can be removed is not replaced by another one.
#[test]
fn a_wrong_override_is_removed() {
    let universe = Universe::new(
        release("p.Root", "1.0.0").requires("p.A", "1"),
        vec![release("p.A", "1.0.0"), release("p.A", "2.0.0")],
    );
    let changes = |from: Spec, requirement: &str| {
        let mut universe = universe.clone();
        universe.root = release("p.Root", "1.0.0").requires("p.A", requirement);
        let mut request = request(&universe);
        request.overrides.insert(package("p.A"), from);
        let conflict = run(&universe, Supplies::OnDemand, request.clone()).conflict();
        let found = repairs_of(
            &universe,
            &request,
            &conflict.expect("there is no such version"),
        );
        let changes = found.found.into_iter().map(|repair| repair.changes);
        changes.collect::<Vec<_>>()
    };
    let removed = Change::NoOverride {
        package: package("p.A"),
        from: spec("7"),
    };
    assert_eq!(changes(spec("7"), "1"), [[removed]]);
    let replaced = changes(spec("7"), "9");
    let [replaced] = replaced.as_slice() else {
        panic!("there is one way: {replaced:?}");
    };
    assert!(matches!(
        &replaced[..],
        [Change::Override { from: Some(_), .. }]
    ));
}

/// A chain of packages, at whose end a version is required that does not exist.
fn broken_chain(length: usize) -> Universe {
    let mut records = vec![release("p.End", "1.0.0")];
    records.extend((0..length).map(|at| {
        let record = release(&format!("p.P{at}"), "1.0.0");
        if at + 1 == length {
            record.requires("p.End", "2")
        } else {
            record.requires(&format!("p.P{}", at + 1), "1")
        }
    }));
    Universe::new(release("p.Root", "1.0.0").requires("p.P0", "1"), records)
}

#[test]
fn long_chains_take_few_trials() {
    for (length, most) in [(20, 40), (200, 60), (400, 70)] {
        let universe = broken_chain(length);
        let request = request(&universe);
        let Verdict::Conflict(conflict) = solve(&universe) else {
            panic!("there is a conflict");
        };
        let (repairs, trials) = counted_repairs(&universe, &request, &conflict);
        assert!(trials <= most, "{trials} trials for a chain of {length}");
        assert!(repairs.is_complete);
        let sets: BTreeSet<BTreeSet<Restriction>> = repairs.found.iter().map(set_of).collect();
        let (owner, end) = (package(&format!("p.P{}", length - 1)), package("p.End"));
        let by_release = Restriction::Release {
            owner,
            package: end.clone(),
        };
        let by_override = Restriction::Override { package: end };
        let expected = [by_release, by_override].map(|one| BTreeSet::from([one]));
        assert_eq!(sets, BTreeSet::from(expected));
    }
}

#[test]
fn the_step_limit_bounds_all_trials_together() {
    let universe = broken_chain(500);
    let mut request = request(&universe);
    let Verdict::Conflict(conflict) = solve(&universe) else {
        panic!("there is a conflict");
    };
    let (_, trials) = counted_repairs(&universe, &request, &conflict);
    request.options.max_steps = 5_000;
    let (repairs, fewer_trials) = counted_repairs(&universe, &request, &conflict);
    assert!(
        fewer_trials < trials / 2,
        "{fewer_trials} of {trials} trials"
    );
    assert!(!repairs.is_complete);
}
