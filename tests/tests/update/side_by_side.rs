//! Updates of locks with several releases of a package.

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::IndexRecord;
use pkgres_resolver::{PackageUpdate, ReasonKind, Update, UpdateTarget};
use pkgres_tests::build::{Build, package, release, version};

use crate::{conflict, exactly, moves, newest, report, solved, texts, update, update_whole};

/// Packages with a lock in which one of them is split.
fn side_by_side() -> (Vec<IndexRecord>, &'static [&'static str]) {
    let records = vec![
        release("A", "1").requires("Q", "1"),
        release("A", "2").requires("Q", "2"),
        release("P", "1"),
        release("P", "2").requires("Q", "2"),
        release("Q", "1"),
        release("Q", "2"),
        release("X", "1").requires("Z", "1"),
        release("Y", "1").requires("Z", "1"),
        release("Y", "2").requires("Z", "2"),
        release("Z", "1"),
        release("Z", "2"),
    ];
    let lock = &[
        "R 1 A 1", "R 1 P 1", "R 1 X 1", "R 1 Y 2", "A 1 Q 1", "X 1 Z 1", "Y 2 Z 2",
    ];
    (records, lock)
}

fn root_of_five() -> IndexRecord {
    let packages = ["A", "P", "X", "Y"];
    packages
        .iter()
        .fold(release("R", "1"), |root, name| root.requires(name, "*"))
}

#[test]
fn a_package_moves_while_another_stays_split() {
    let (records, lock) = side_by_side();
    let to_newest = update(root_of_five(), records.clone(), lock, newest(&["P"]));
    let moved = ["A 1.0.0 -> 2.0.0", "P 1.0.0 -> 2.0.0", "Q 1.0.0 -> 2.0.0"];
    assert_eq!(moves(&solved(to_newest)), moved);
    let to_two = update(root_of_five(), records, lock, exactly("P", "2"));
    assert_eq!(moves(&solved(to_two)), moved);
}

#[test]
fn one_release_of_a_split_package_moves() {
    let root = || release("R", "1").requires("A", "1").requires("B", "1");
    let mut records = vec![
        release("A", "1").requires("D", "1"),
        release("B", "1").requires("D", "2"),
    ];
    records.extend(["1.0", "1.1", "1.2", "2.0", "2.1"].map(|number| release("D", number)));
    let lock = &["R 1 A 1", "R 1 B 1", "A 1 D 1.1", "B 1 D 2.0"];
    let moved = |from: &str, to: UpdateTarget| {
        let from = BTreeSet::from([version(from)]);
        let packages = BTreeMap::from([(package("D"), PackageUpdate { from, to })]);
        update(root(), records.clone(), lock, Update::from(packages))
    };
    let exactly = |number: &str| UpdateTarget::Exactly(version(number));
    let moves_to = |from, to| moves(&solved(moved(from, to)));
    assert_eq!(moves_to("1.1", exactly("1.0")), ["D 1.1.0 -> 1.0.0"]);
    assert_eq!(moves_to("2.0", exactly("2.1")), ["D 2.0.0 -> 2.1.0"]);
    assert_eq!(moves_to("1.1", UpdateTarget::Best), ["D 1.1.0 -> 1.2.0"]);
    assert_eq!(moves_to("2.0", UpdateTarget::Best), ["D 2.0.0 -> 2.1.0"]);
    let found = conflict(moved("2.0", exactly("1.0")));
    assert_eq!(
        texts(&found.reasons),
        [
            "D 1.0.0 was requested",
            "B 1.0.0 requires D 2",
            "R 1.0.0 requires B 1"
        ]
    );
    assert_eq!(found.suggestions, []);
}

/// If an exact version is impossible with one release of each package, some packages are split.
#[test]
fn an_exact_version_may_split_packages() {
    let root = || release("R", "1").requires("D", "1").requires("A", "*");
    let records = vec![
        release("A", "1").requires("D", "2"),
        release("A", "2"),
        release("D", "1"),
        release("D", "2"),
    ];
    let lock = &["R 1 A 2", "R 1 D 1"];
    let found = solved(update(root(), records.clone(), lock, exactly("A", "1")));
    assert_eq!(moves(&found), ["A 2.0.0 -> 1.0.0", "D - -> 2.0.0"]);
    assert!(!report(&found).is_minimal);
    let whole = update_whole(root(), records, lock, exactly("A", "1"));
    assert_eq!(
        texts(&conflict(whole).reasons),
        [
            "R 1.0.0 requires D 1",
            "A 1.0.0 requires D 2",
            "A 1.0.0 was requested"
        ]
    );
}

#[test]
fn a_split_package_stays_split() {
    let (records, lock) = side_by_side();
    // There is a resolution with one release of each package, but `Y` would move to an older version.
    let found = update(root_of_five(), records, lock, newest(&["X"]));
    assert_eq!(moves(&solved(found)), Vec::<String>::new());
}

#[test]
fn an_impossible_exact_version_of_a_split_lock_is_explained() {
    let (records, lock) = side_by_side();
    let found = conflict(update(root_of_five(), records, lock, exactly("P", "3")));
    let mut reasons = found.reasons.iter();
    assert!(reasons.any(|reason| matches!(reason.kind, ReasonKind::Wanted { .. })));
}
