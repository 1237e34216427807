//! Locks: kept as they are, or as far as possible.

use pkgres_manifest::IndexRecord;

use super::Example;
use crate::build::{Build, release, solution};
use crate::universe::Universe;

fn locked(root: IndexRecord, records: Vec<IndexRecord>, bindings: &[&str]) -> Universe {
    Universe {
        locked: Some(solution(bindings)),
        ..Universe::new(root, records)
    }
}

pub(super) fn examples() -> Vec<Example> {
    let root = || release("R", "1").requires("X", "*").requires("Y", "*");
    let records = || {
        vec![
            release("X", "1"),
            release("X", "2"),
            release("Y", "1"),
            release("Y", "2"),
        ]
    };
    let newer_y = release("R", "1").requires("X", "*").requires("Y", "2");
    let half = &["R 1 X 1", "R 1 Y 1"];
    vec![
        Example::solved(
            "a lock is kept though newer versions exist",
            locked(root(), records(), half),
            half,
        ),
        Example::solved(
            "a lock is kept as far as the root still agrees",
            locked(newer_y, records(), half),
            &["R 1 X 1", "R 1 Y 2"],
        ),
        Example::solved(
            "a locked version is gone",
            locked(root(), records(), &["R 1 X 1.5", "R 1 Y 1"]),
            &["R 1 X 2", "R 1 Y 1"],
        ),
        Example::solved(
            "of a lock with a binding too much the rest is kept",
            locked(root(), records(), &["R 1 X 1", "R 1 Y 1", "Y 1 X 2"]),
            &["R 1 X 1", "R 1 Y 1"],
        ),
        Example::solved(
            "a lock of another version of the root is a preference",
            locked(root(), records(), &["R 0.9 X 1", "R 0.9 Y 1"]),
            half,
        ),
    ]
    .into_iter()
    .chain(split_locks())
    .collect()
}

fn split_locks() -> Vec<Example> {
    let root = || {
        release("R", "1")
            .requires("W", "*")
            .requires("X", "*")
            .requires("Y", "*")
    };
    let records = |other: IndexRecord| {
        vec![
            other,
            release("X", "1").requires("Z", "1"),
            release("Y", "1").requires("Z", "2"),
            release("Z", "1.0"),
            release("Z", "1.1"),
            release("Z", "1.2"),
            release("Z", "2"),
            release("Z", "2.1"),
        ]
    };
    let kept = &[
        "R 1 W 1",
        "R 1 X 1",
        "R 1 Y 1",
        "W 1 Z 1.1",
        "X 1 Z 1.0",
        "Y 1 Z 2",
    ];
    let with_new = Universe {
        locked: Some(solution(kept)),
        ..Universe::new(
            root().requires("V", "*"),
            [
                records(release("W", "1").requires("Z", "1")),
                vec![release("V", "1").requires("Z", "*")],
            ]
            .concat(),
        )
    };
    let unneeded = vec![
        release("X", "1").requires("Z", "*"),
        release("Y", "1").requires("Z", "*"),
        release("Z", "1"),
        release("Z", "2"),
    ];
    let unneeded_root = release("R", "1").requires("X", "*").requires("Y", "*");
    let unneeded_lock = &["R 1 X 1", "R 1 Y 1", "X 1 Z 1", "Y 1 Z 2"];
    let mut single_version = locked(unneeded_root.clone(), unneeded.clone(), unneeded_lock);
    single_version.single_version = true;
    vec![
        Example::solved(
            "a lock side by side is kept",
            locked(root(), records(release("W", "1").requires("Z", "1")), kept),
            kept,
        ),
        // The new V takes the newest locked version of Z, not the newest.
        Example::solved(
            "each requirement on a split package keeps its own binding",
            with_new,
            &[
                "R 1 W 1",
                "R 1 X 1",
                "R 1 Y 1",
                "R 1 V 1",
                "W 1 Z 1.1",
                "X 1 Z 1.0",
                "Y 1 Z 2",
                "V 1 Z 2",
            ],
        ),
        Example::solved(
            "a lock side by side is kept though one release would do",
            locked(unneeded_root, unneeded, unneeded_lock),
            unneeded_lock,
        ),
        Example::solved(
            "a lock side by side, and a single version was asked for",
            single_version,
            &["R 1 X 1", "R 1 Y 1", "X 1 Z 2", "Y 1 Z 2"],
        ),
    ]
}
