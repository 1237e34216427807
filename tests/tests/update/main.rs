//! Updates: the named packages move, and as few others as possible.

mod side_by_side;

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::{IndexRecord, Release, Version};
use pkgres_resolver::{
    Conflict, Preference, Reason, Resolution, SolveOptions, Update, UpdateReport, UpdateTarget,
};
use pkgres_tests::build::{Build, package, release, solution, version};
use pkgres_tests::solver::{self, Supplies, Verdict};
use pkgres_tests::universe::Universe;

fn newest(names: &[&str]) -> Update {
    let packages = names
        .iter()
        .map(|name| (package(name), UpdateTarget::Best.into()));
    Update::from(packages.collect::<BTreeMap<_, _>>())
}

fn exactly(name: &str, number: &str) -> Update {
    Update::from(BTreeMap::from([(
        package(name),
        UpdateTarget::Exactly(version(number)).into(),
    )]))
}

fn update(root: IndexRecord, records: Vec<IndexRecord>, lock: &[&str], update: Update) -> Verdict {
    let universe = Universe {
        locked: Some(solution(lock)),
        ..Universe::new(root, records)
    };
    let conflict_limit = SolveOptions::default().conflict_limit;
    solver::update(&universe, Supplies::OnDemand, update, conflict_limit)
}

/// The answer to an update in which each package must have one release.
fn update_whole(
    root: IndexRecord,
    records: Vec<IndexRecord>,
    lock: &[&str],
    update: Update,
) -> Verdict {
    let universe = Universe {
        locked: Some(solution(lock)),
        single_version: true,
        ..Universe::new(root, records)
    };
    let conflict_limit = SolveOptions::default().conflict_limit;
    solver::update(&universe, Supplies::OnDemand, update, conflict_limit)
}

fn solved(verdict: Verdict) -> Resolution {
    match verdict {
        Verdict::Solved(resolution) => *resolution,
        Verdict::Conflict(conflict) => panic!("{conflict:#?}"),
    }
}

fn conflict(verdict: Verdict) -> Conflict {
    match verdict {
        Verdict::Solved(resolution) => panic!("{resolution:#?}"),
        Verdict::Conflict(conflict) => *conflict,
    }
}

fn report(resolution: &Resolution) -> &UpdateReport {
    resolution.update().expect("an update was asked for")
}

/// The moves as lines `NAME FROM -> TO`.
fn moves(resolution: &Resolution) -> Vec<String> {
    let shown = |version: &Option<Version>| {
        let version = version.as_ref();
        version.map_or_else(|| "-".to_owned(), ToString::to_string)
    };
    let moved = report(resolution).moved.iter();
    moved
        .map(|moved| {
            let (from, to) = (shown(&moved.from), shown(&moved.to));
            format!("{} {from} -> {to}", moved.package)
        })
        .collect()
}

fn texts(reasons: &[Reason]) -> Vec<&str> {
    reasons.iter().map(|reason| reason.text.as_str()).collect()
}

fn root() -> IndexRecord {
    release("R", "1").requires("X", "*").requires("Y", "*")
}

fn two_of_each() -> Vec<IndexRecord> {
    ["X", "Y"]
        .into_iter()
        .flat_map(|name| ["1", "2"].map(|number| release(name, number)))
        .collect()
}

const AT_ONE: &[&str] = &["R 1 X 1", "R 1 Y 1"];

#[test]
fn only_the_named_package_moves() {
    let found = solved(update(root(), two_of_each(), AT_ONE, newest(&["X"])));
    assert_eq!(moves(&found), ["X 1.0.0 -> 2.0.0"]);
    let report = report(&found);
    assert!(report.is_minimal);
    assert_eq!(report.held_back, []);
    assert_eq!(texts(&report.moved[0].because), ["X 2.0.0 was requested"]);
}

#[test]
fn without_names_only_packages_that_must_move_do() {
    let found = solved(update(root(), two_of_each(), AT_ONE, Update::default()));
    assert_eq!(moves(&found), Vec::<String>::new());
    let narrower = release("R", "1").requires("X", "*").requires("Y", "2");
    let found = solved(update(narrower, two_of_each(), AT_ONE, Update::default()));
    assert_eq!(moves(&found), ["Y 1.0.0 -> 2.0.0"]);
    assert_eq!(
        texts(&report(&found).moved[0].because),
        ["R 1.0.0 requires Y 2", "Y is locked at 1.0.0"]
    );
}

/// A package moves to a yanked release last, and stays at one if no other is possible.
#[test]
fn a_yanked_release_is_the_last_resort() {
    let records = || {
        let mut records = two_of_each();
        records[1] = release("X", "2").yanked();
        records
    };
    let lock = &["R 1 X 2", "R 1 Y 1"];
    let found = solved(update(root(), records(), lock, newest(&["X"])));
    assert_eq!(moves(&found), ["X 2.0.0 -> 1.0.0"]);
    assert_eq!(report(&found).held_back, []);
    let found = solved(update(root(), records(), lock, newest(&["Y"])));
    assert_eq!(moves(&found), ["Y 1.0.0 -> 2.0.0"]);
    assert!(!found.excluded()[0].was_asked_for);
    let narrower = || release("R", "1").requires("X", "2").requires("Y", "*");
    let found = solved(update(narrower(), records(), lock, newest(&["X"])));
    assert_eq!(moves(&found), Vec::<String>::new());
    assert_eq!(report(&found).held_back, []);
    // The newer version is still held back.
    let mut newer = records();
    newer.push(release("X", "3"));
    let found = solved(update(narrower(), newer, lock, newest(&["X"])));
    assert_eq!(moves(&found), Vec::<String>::new());
    let [held_back] = &report(&found).held_back[..] else {
        panic!("one version is newer: {:?}", report(&found).held_back);
    };
    assert_eq!(held_back.version, version("3"));
    assert_eq!(held_back.alike, []);
    let at_one = update(root(), records(), AT_ONE, exactly("X", "2"));
    assert!(solved(at_one).excluded()[0].was_asked_for);
}

/// The same in an update of all packages.
#[test]
fn a_yanked_release_does_not_stop_an_update_of_all_packages() {
    let records = vec![
        release("X", "1"),
        release("X", "2").yanked(),
        release("Y", "1"),
    ];
    let version_of_x = |spec| {
        let root = release("R", "1").requires("X", spec).requires("Y", "*");
        let universe = Universe::new(root, records.clone());
        let mut request = solver::request(&universe);
        request.locked.kept = BTreeSet::from([Release::new(package("X"), version("2"))]);
        let found = solved(solver::run(&universe, Supplies::Attached, request));
        let found = found.package(&package("X")).expect("it is required");
        found.version.clone()
    };
    assert_eq!(version_of_x("*"), version("1"));
    assert_eq!(version_of_x("2"), version("2"));
}

#[test]
fn a_package_whose_locked_release_is_missing_must_move() {
    let lock = &["R 1 X 1.5", "R 1 Y 1"];
    let found = solved(update(root(), two_of_each(), lock, Update::default()));
    assert_eq!(moves(&found), ["X 1.5.0 -> 2.0.0"]);
    assert_eq!(
        texts(&report(&found).moved[0].because),
        [
            "R 1.0.0 requires X *",
            "X is locked at 1.5.0, and there is no such version"
        ]
    );
}

#[test]
fn packages_that_require_the_target_must_move() {
    let records = || {
        vec![
            release("X", "1").requires("Y", "1"),
            release("X", "2").requires("Y", "2"),
            release("Y", "1").requires("Z", "1"),
            release("Y", "2").requires("Z", "2"),
            release("Z", "1"),
            release("Z", "2"),
            release("W", "1"),
            release("W", "2"),
        ]
    };
    let root = || release("R", "1").requires("X", "*").requires("W", "*");
    let lock = &["R 1 X 1", "X 1 Y 1", "Y 1 Z 1", "R 1 W 1"];
    let found = solved(update(root(), records(), lock, exactly("X", "2")));
    assert_eq!(
        moves(&found),
        ["X 1.0.0 -> 2.0.0", "Y 1.0.0 -> 2.0.0", "Z 1.0.0 -> 2.0.0"]
    );
    let report = report(&found);
    let because: Vec<Vec<&str>> = (report.moved.iter())
        .map(|moved| texts(&moved.because))
        .collect();
    let of_y = [
        "X 2.0.0 requires Y 2",
        "Y is locked at 1.0.0",
        "X 2.0.0 was requested",
    ];
    let sorted = |mut texts: Vec<&'static str>| {
        texts.sort_unstable();
        texts
    };
    let mut found_of_y = because[1].clone();
    found_of_y.sort_unstable();
    assert_eq!(found_of_y, sorted(of_y.to_vec()));
    assert!(because[2].contains(&"Z is locked at 1.0.0"));
    assert!(because[2].contains(&"Y 2.0.0 requires Z 2"));
}

/// `X` 2 requires that `Y` or `Z` moves. By name, `Y` is the first that may stay.
#[test]
fn of_two_alternatives_one_moves() {
    let records = vec![
        release("X", "1"),
        release("X", "2").requires("V", "*"),
        release("V", "1").requires("Y", "2"),
        release("V", "2").requires("Z", "2"),
        release("Y", "1"),
        release("Y", "2"),
        release("Z", "1"),
        release("Z", "2"),
    ];
    let root = root().requires("Z", "*");
    let lock = &["R 1 X 1", "R 1 Y 1", "R 1 Z 1"];
    let found = solved(update(root, records, lock, newest(&["X"])));
    assert_eq!(
        moves(&found),
        ["V - -> 2.0.0", "X 1.0.0 -> 2.0.0", "Z 1.0.0 -> 2.0.0"]
    );
    assert!(report(&found).is_minimal);
}

#[test]
fn an_impossible_exact_version_is_explained() {
    let records = vec![
        release("X", "1").requires("Z", "1"),
        release("X", "2").requires("Z", "2"),
        release("Y", "1").requires("Z", "1"),
        release("Z", "1"),
        release("Z", "2"),
    ];
    let lock = &["R 1 X 1", "R 1 Y 1", "X 1 Z 1", "Y 1 Z 1"];
    let found = conflict(update_whole(root(), records, lock, exactly("X", "2")));
    let mut texts = texts(&found.reasons);
    texts.sort_unstable();
    assert_eq!(
        texts,
        [
            "R 1.0.0 requires Y *",
            "X 2.0.0 requires Z 2",
            "X 2.0.0 was requested",
            "Y 1.0.0 requires Z 1",
        ]
    );
    let found = conflict(update(root(), two_of_each(), AT_ONE, exactly("X", "3")));
    assert_eq!(found.summary, "there is no such version of `X`");
    assert_eq!(
        found.reasons[0].text,
        "X 3.0.0 was requested, and there is no such version"
    );
}

#[test]
fn the_report_lists_better_versions_and_what_holds_them_back() {
    let mut records = two_of_each();
    records.extend(["3", "4"].map(|number| release("X", number)));
    records.push(release("Y", "1.1").requires("X", "<3"));
    let root = release("R", "1")
        .requires("X", "*")
        .requires("Y", ">=1.1,<2");
    let lock = &["R 1 X 1", "R 1 Y 1.1", "Y 1.1 X 1"];
    let found = solved(update(root, records, lock, newest(&["X"])));
    assert_eq!(moves(&found), ["X 1.0.0 -> 2.0.0"]);
    let [held_back] = &report(&found).held_back[..] else {
        panic!("{found:#?}");
    };
    assert_eq!(held_back.version, version("4"));
    assert_eq!(held_back.alike, [version("3")]);
    let texts = texts(&held_back.because.reasons);
    assert!(texts.contains(&"X 4.0.0 was requested"), "{texts:?}");
    assert!(texts.contains(&"Y 1.1.0 requires X <3"), "{texts:?}");
}

/// If the oldest versions are preferred, lower versions are better.
#[test]
fn lower_versions_are_held_back_if_the_oldest_is_preferred() {
    let root = |wanted: &str| release("A", "1").requires("B", "*").requires("C", wanted);
    let records = |rejected: &str, wanted: &str| {
        let mut records = vec![release("C", "1"), release("C", "2")];
        records.push(release("B", rejected).requires("C", if wanted == "1" { "2" } else { "1" }));
        records.push(release("B", "2"));
        records
    };
    for (prefer, rejected, wanted) in [
        (Preference::Newest, "3", "1"),
        (Preference::Oldest, "1", "2"),
    ] {
        let universe = Universe::new(root(wanted), records(rejected, wanted));
        let mut request = solver::request(&universe);
        request.options.prefer = prefer;
        request.update = Some(newest(&["B"]));
        let found = solved(solver::run(&universe, Supplies::OnDemand, request));
        let [held_back] = &report(&found).held_back[..] else {
            panic!("{prefer:?}: {found:#?}");
        };
        assert_eq!(held_back.version, version(rejected), "{prefer:?}");
        assert_eq!(held_back.alike, []);
    }
}

/// A stable version is better than a newer prerelease.
#[test]
fn a_stable_version_is_held_back_at_a_prerelease() {
    let root = release("A", "1").requires("B", "*").requires("C", "2");
    let records = vec![
        release("B", "1").requires("C", "1"),
        release("B", "1.1").requires("C", "1"),
        release("B", "2.0.0-rc.1"),
        release("C", "1"),
        release("C", "2"),
    ];
    let found = solved(update(root, records, &[], newest(&["B"])));
    let [held_back] = &report(&found).held_back[..] else {
        panic!("{found:#?}");
    };
    assert_eq!(held_back.version, version("1.1"));
    assert_eq!(held_back.alike, [version("1")]);
}

/// Dropping the package would satisfy every requirement, but it is not an update of it.
#[test]
fn an_update_does_not_drop_its_target() {
    let records = vec![
        release("A", "0.9"),
        release("A", "1").requires("P", "1"),
        release("P", "1"),
        release("P", "1.1"),
        release("P", "2"),
    ];
    let root = || release("R", "1").requires("A", "*");
    let lock = &["R 1 A 1", "A 1 P 1"];
    let found = solved(update(root(), records.clone(), lock, newest(&["P"])));
    assert_eq!(moves(&found), ["P 1.0.0 -> 1.1.0"]);
    assert_eq!(report(&found).held_back[0].version, version("2"));
    let found = conflict(update(root(), records, lock, exactly("P", "2")));
    assert_eq!(
        texts(&found.reasons),
        [
            "P 2.0.0 was requested, and A 0.9.0 would drop P",
            "A 1.0.0 requires P 1"
        ]
    );
}

/// The package that would be dropped is required by way of another one.
#[test]
fn a_release_that_would_drop_the_target_by_way_of_others_is_named() {
    let records = vec![
        release("A", "1"),
        release("A", "2").requires("B", "*"),
        release("B", "1").requires("P", "1"),
        release("P", "1"),
        release("P", "2"),
    ];
    let root = release("R", "1").requires("A", "*");
    let lock = &["R 1 A 2", "A 2 B 1", "B 1 P 1"];
    let found = conflict(update(root, records, lock, exactly("P", "2")));
    assert_eq!(
        texts(&found.reasons),
        [
            "P 2.0.0 was requested, and A 1.0.0 would drop P",
            "B 1.0.0 requires P 1",
            "A 2.0.0 requires B *"
        ]
    );
}

#[test]
fn an_update_may_drop_and_add_other_packages() {
    let records = vec![
        release("X", "1").requires("Old", "1"),
        release("X", "2").requires("New", "1"),
        release("Y", "1"),
        release("Old", "1"),
        release("New", "1"),
    ];
    let lock = &["R 1 X 1", "R 1 Y 1", "X 1 Old 1"];
    let found = solved(update(root(), records, lock, newest(&["X"])));
    assert_eq!(
        moves(&found),
        ["New - -> 1.0.0", "Old 1.0.0 -> -", "X 1.0.0 -> 2.0.0"]
    );
    assert!(report(&found).moved[1].because.is_empty());
}

#[test]
fn a_named_package_that_is_no_longer_required_is_dropped() {
    let root = release("R", "1").requires("X", "*");
    let found = solved(update(root, two_of_each(), AT_ONE, newest(&["X", "Y"])));
    assert_eq!(moves(&found), ["X 1.0.0 -> 2.0.0", "Y 1.0.0 -> -"]);
    assert_eq!(report(&found).held_back, []);
}

#[test]
fn an_update_in_the_second_tier_makes_no_claim_of_minimality() {
    let records = vec![
        release("X", "1").requires("Z", "1"),
        release("Y", "1").requires("Z", "2"),
        release("Z", "1"),
        release("Z", "1.1"),
        release("Z", "2"),
    ];
    let lock = &["R 1 X 1", "R 1 Y 1", "X 1 Z 1", "Y 1 Z 2"];
    let found = solved(update(root(), records.clone(), lock, newest(&["Z"])));
    assert_eq!(moves(&found), ["Z 1.0.0 -> 1.1.0"]);
    assert!(!report(&found).is_minimal);
    let found = solved(update(root(), records, lock, newest(&["X"])));
    assert_eq!(moves(&found), Vec::<String>::new());
}

/// An unfounded set cannot reach the target: only `B` 1 requires `C` 2, and only `C` 1 requires `B` 1.
#[test]
fn an_unfounded_set_does_not_reach_the_target() {
    let root = release("R", "1").requires("A", "*");
    let records = vec![
        release("A", "1"),
        release("A", "2").requires("B", ">=1.1"),
        release("B", "1").requires("C", ">=1.1"),
        release("B", "1.1"),
        release("B", "2").requires("C", "1"),
        release("C", "1.1").requires("A", "*").requires("D", "*"),
        release("C", "2"),
        release("D", "1"),
    ];
    let lock = &["R 1 A 2", "A 2 B 2", "B 2 C 1.1", "C 1.1 A 2", "C 1.1 D 1"];
    let found = conflict(update(root, records, lock, exactly("C", "2")));
    assert_eq!(
        texts(&found.reasons),
        [
            "C 2.0.0 was requested, and B 1.1.0 would drop C",
            "B 2.0.0 requires C 1",
            "A 2.0.0 requires B >=1.1"
        ]
    );
}

/// The same with a split package: `A` and `C` would require each other.
#[test]
fn an_unfounded_set_does_not_reach_the_target_of_a_split_lock() {
    let root = release("R", "1").requires("C", "<2");
    let records = vec![
        release("A", "2").requires("C", "2"),
        release("C", "1").requires("A", "2"),
        release("C", "1.1"),
        release("C", "2").requires("A", "2"),
    ];
    let lock = &["R 1 C 1", "C 1 A 2", "A 2 C 2", "C 2 A 2"];
    let found = solved(update(root, records, lock, newest(&["A", "C"])));
    assert_eq!(moves(&found), Vec::<String>::new());
}
