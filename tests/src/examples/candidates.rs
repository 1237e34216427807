//! Which releases may be chosen, and which are better: prereleases and yanked releases.

use pkgres_manifest::{IndexRecord, Release};

use super::Example;
use crate::build::{Build, package, release, solution, version};
use crate::universe::{PrereleasePolicy, Universe};

pub(super) fn examples() -> Vec<Example> {
    [policies(), named_prereleases(), yanks(), kept()].concat()
}

fn with_policy(
    prerelease: PrereleasePolicy,
    root: IndexRecord,
    records: Vec<IndexRecord>,
) -> Universe {
    Universe {
        prerelease,
        ..Universe::new(root, records)
    }
}

fn policies() -> Vec<Example> {
    use PrereleasePolicy::{Allow, IfNecessary, Never};
    let root = || release("R", "1").requires("X", "*");
    let both = || vec![release("X", "1"), release("X", "1.1.0-rc.1")];
    let only = || vec![release("X", "1.1.0-rc.1"), release("X", "1.1.0-rc.2")];
    let mut locked = with_policy(Never, root(), only());
    locked.locked = Some(solution(&["R 1 X 1.1.0-rc.1"]));
    let mut locked_among_stable = with_policy(IfNecessary, root().requires("Y", "*"), both());
    locked_among_stable.records.push(release("Y", "1"));
    locked_among_stable.locked = Some(solution(&["R 1 X 1.1.0-rc.1"]));
    let mut locked_twice = locked_among_stable.clone();
    locked_twice.locked = Some(solution(&["R 1 X 1.1.0-rc.1", "Y 1 X 1"]));
    vec![
        Example::solved(
            "of two locked versions the newer one, prerelease or not",
            locked_twice,
            &["R 1 X 1.1.0-rc.1", "R 1 Y 1"],
        ),
        Example::solved(
            "if necessary: stable versions first",
            with_policy(IfNecessary, root(), both()),
            &["R 1 X 1"],
        ),
        Example::solved(
            "allow: the newest first",
            with_policy(Allow, root(), both()),
            &["R 1 X 1.1.0-rc.1"],
        ),
        Example::solved(
            "never: stable versions",
            with_policy(Never, root(), both()),
            &["R 1 X 1"],
        ),
        Example::solved(
            "if necessary: it is necessary",
            with_policy(IfNecessary, root(), only()),
            &["R 1 X 1.1.0-rc.2"],
        ),
        Example::unsolvable("never: nothing is left", with_policy(Never, root(), only())),
        Example::solved("never: unless locked", locked, &["R 1 X 1.1.0-rc.1"]),
        Example::solved(
            "a locked prerelease comes before stable versions",
            locked_among_stable,
            &["R 1 X 1.1.0-rc.1", "R 1 Y 1"],
        ),
    ]
}

fn named_prereleases() -> Vec<Example> {
    let records = || {
        vec![
            release("X", "1"),
            release("X", "1.1.0-rc.1"),
            release("Y", "1").requires("X", "<=1.1.0-rc.1"),
        ]
    };
    let named = release("R", "1").requires("X", "<=1.1.0-rc.1");
    let before = release("R", "1").requires("Y", "*").requires("X", "*");
    let after = release("R", "1").requires("X", "*").requires("Y", "*");
    // The newest V does not go with W, which is found out by a conflict.
    let conflicting = release("R", "1").requires("Y", "*");
    let conflicting = conflicting.requires("V", "*").requires("W", "*");
    let conflict = vec![
        release("Y", "1.1").requires("X", "<=1.1.0-rc.1"),
        release("V", "1"),
        release("V", "2").requires("Z", "1"),
        release("W", "1").requires("Z", "2"),
        release("Z", "1"),
        release("Z", "2"),
    ];
    vec![
        Example::solved(
            "a release names a prerelease beside a conflict",
            Universe::new(conflicting, [records(), conflict].concat()),
            &[
                "R 1 Y 1.1",
                "R 1 V 1",
                "R 1 W 1",
                "Y 1.1 X 1.1.0-rc.1",
                "W 1 Z 2",
            ],
        ),
        Example::solved(
            "the requirement names a prerelease",
            Universe::new(named, records()),
            &["R 1 X 1.1.0-rc.1"],
        ),
        Example::solved(
            "a release that was decided before names a prerelease",
            Universe::new(before, records()),
            &["R 1 X 1.1.0-rc.1", "R 1 Y 1", "Y 1 X 1.1.0-rc.1"],
        ),
        Example::solved(
            "a release that is decided later names a prerelease",
            Universe::new(after, records()),
            &["R 1 X 1", "R 1 Y 1", "Y 1 X 1"],
        ),
    ]
}

fn yanks() -> Vec<Example> {
    let root = || release("R", "1").requires("X", "*");
    let records = || vec![release("X", "1"), release("X", "2").yanked()];
    let only = vec![release("X", "2").yanked()];
    let mut locked = Universe::new(root(), records());
    locked.locked = Some(solution(&["R 1 X 2"]));
    let mut locked_elsewhere = Universe::new(
        root().requires("Y", "*"),
        [records(), vec![release("Y", "1").requires("X", "*")]].concat(),
    );
    locked_elsewhere.locked = Some(solution(&["Y 0.9 X 2"]));
    vec![
        Example::solved(
            "a yanked release is not chosen",
            Universe::new(root(), records()),
            &["R 1 X 1"],
        ),
        Example::unsolvable("everything is yanked", Universe::new(root(), only)),
        Example::solved(
            "a yanked release stays if it is locked",
            locked,
            &["R 1 X 2"],
        ),
        Example::solved(
            "a yanked release is locked for anybody",
            locked_elsewhere,
            &["R 1 X 2", "R 1 Y 1", "Y 1 X 2"],
        ),
    ]
}

fn kept() -> Vec<Example> {
    let root = |spec: &str| release("R", "1").requires("X", spec);
    let kept = |mut universe: Universe, number: &str| {
        universe
            .kept
            .insert(Release::new(package("X"), version(number)));
        universe
    };
    let yanked = || vec![release("X", "1"), release("X", "2").yanked()];
    let locked = || {
        let mut locked = Universe::new(root("*"), yanked());
        locked.locked = Some(solution(&["R 0.9 X 2"]));
        locked
    };
    let prereleases = || vec![release("X", "1.1.0-rc.1"), release("X", "1.2.0-rc.1")];
    let never = PrereleasePolicy::Never;
    vec![
        Example::solved(
            "what is kept comes after what anybody may choose",
            kept(Universe::new(root("*"), yanked()), "2"),
            &["R 1 X 1"],
        ),
        Example::solved(
            "a kept release is chosen where no other is possible",
            kept(Universe::new(root("2"), yanked()), "2"),
            &["R 1 X 2"],
        ),
        Example::solved(
            "what is locked, too, comes first",
            kept(locked(), "2"),
            &["R 1 X 2"],
        ),
        Example::solved(
            "a prerelease is kept",
            kept(with_policy(never, root("*"), prereleases()), "1.1.0-rc.1"),
            &["R 1 X 1.1.0-rc.1"],
        ),
        Example::solved(
            "to keep what may be chosen anyway means nothing",
            kept(Universe::new(root("*"), yanked()), "1"),
            &["R 1 X 1"],
        ),
    ]
}
