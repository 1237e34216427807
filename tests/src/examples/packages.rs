//! Packages and versions, without a thought of classes.

use super::Example;
use crate::build::{Build, package, release};
use crate::universe::Universe;

pub(super) fn examples() -> Vec<Example> {
    let nothing = Universe::new(release("R", "1"), Vec::new());
    let missing = Universe::new(release("R", "1").requires("X", "*"), Vec::new());
    let newest = Universe::new(
        release("R", "1").requires("X", "1"),
        vec![
            release("X", "1.9"),
            release("X", "2.0"),
            release("X", "1.10"),
        ],
    );
    let first_come = Universe::new(
        release("R", "1").requires("Y", "*").requires("X", "*"),
        vec![
            release("X", "1"),
            release("X", "2"),
            release("Y", "1").requires("X", "*"),
            release("Y", "2").requires("X", "1"),
        ],
    );
    let mut breadth_first = Universe::new(
        release("R", "1").requires("X", "*").requires("Y", "*"),
        vec![
            release("X", "1").requires("Z", "*"),
            release("Y", "1").requires("Z", "1"),
            release("Y", "2").requires("Z", "1"),
            release("Z", "1"),
            release("Z", "2"),
        ],
    );
    breadth_first.single_version = true;
    let cycle = Universe::new(
        release("R", "1").requires("X", "*"),
        vec![
            release("X", "1").requires("Y", "*"),
            release("X", "2").requires("Y", "2"),
            release("Y", "2").requires("X", "1"),
            release("Y", "3").requires("X", "2"),
        ],
    );
    vec![
        Example::solved("the root requires nothing", nothing, &[]),
        Example::unsolvable("a package is missing", missing),
        Example::solved("the newest inside the spec", newest, &["R 1 X 1.10"]),
        Example::solved(
            "what the root requires first is decided first",
            first_come,
            &["R 1 Y 2", "R 1 X 1", "Y 2 X 1"],
        ),
        Example::solved(
            "the root's requirements are decided before those of others",
            breadth_first,
            &["R 1 X 1", "R 1 Y 2", "X 1 Z 1", "Y 2 Z 1"],
        ),
        // In the first tier no pair fits except the first X with the Y that wants it.
        Example::solved(
            "packages in a cycle",
            cycle,
            &["R 1 X 1", "X 1 Y 2", "Y 2 X 1"],
        ),
    ]
    .into_iter()
    .chain(roots())
    .chain(cores())
    .collect()
}

fn roots() -> Vec<Example> {
    let registry = vec![
        release("R", "1").requires("Nowhere", "*"),
        release("R", "2"),
        release("X", "1").requires("R", "1"),
        release("X", "2").requires("R", "2"),
    ];
    let in_registry = Universe::new(release("R", "1.0.0").requires("X", "*"), registry.clone());
    let wrong_root = Universe::new(release("R", "3").requires("X", "*"), registry);
    vec![
        Example::solved(
            "the root is the only one of its name",
            in_registry,
            &["R 1 X 1", "X 1 R 1"],
        ),
        Example::unsolvable("no requirement matches the root's version", wrong_root),
    ]
}

fn cores() -> Vec<Example> {
    let core = |version| release("K", version).defines("K.Object", &[]);
    let with_core = |root, records| Universe {
        core: Some(package("K")),
        ..Universe::new(root, records)
    };
    let unpinned = with_core(
        release("R", "1").requires("X", "*"),
        vec![core("0.3"), core("0.4"), core("1.0"), release("X", "1")],
    );
    let pinned = with_core(
        release("R", "1").requires("X", "*").requires("K", "1"),
        vec![
            core("0.3"),
            core("1.0"),
            release("X", "1").requires("K", "*"),
            release("X", "2"),
        ],
    );
    let mut pinned_once = pinned.clone();
    pinned_once.single_version = true;
    let too_new = with_core(release("R", "1"), vec![core("1.0")]);
    let is_root = with_core(
        core("0.9").requires("X", "*"),
        vec![core("0.3"), release("X", "1").defines("X.B", &[])],
    );
    let namesake = with_core(
        release("R", "1").requires("X", "*"),
        vec![
            core("0.3"),
            release("X", "1").defines("X.B", &[]),
            release("X", "2").defines("K.Object", &[]),
            release("X", "3").defines("K.Object", &["K.Application"]),
        ],
    );
    let cyclic = with_core(
        release("R", "1").requires("X", "*").defines("A", &["X.B"]),
        vec![
            core("0.3"),
            release("K", "0.4")
                .defines("K.Object", &["K.Base"])
                .defines("K.Base", &[]),
            release("X", "1").defines("X.B", &[]),
        ],
    );
    vec![
        // In K 0.4 `K.Base` extends, without saying so, the class that extends it.
        Example::solved(
            "the core library's own classes in a cycle",
            cyclic,
            &["R 1 K 0.3", "R 1 X 1", "X 1 K 0.3"],
        ),
        // In X 2 the implicit parent of `K.Object` is found in the release itself: a cycle.
        Example::solved(
            "the root class is exempt in the core library only",
            namesake,
            &["R 1 K 0.3", "R 1 X 1", "X 1 K 0.3"],
        ),
        Example::solved(
            "the core library is required as `0`",
            unpinned,
            &["R 1 K 0.4", "R 1 X 1", "X 1 K 0.4"],
        ),
        Example::solved(
            "a manifest may say which core library",
            pinned,
            &["R 1 K 1", "R 1 X 1", "X 1 K 1"],
        ),
        Example::solved(
            "a manifest may say which core library, once",
            pinned_once,
            &["R 1 K 1", "R 1 X 1", "X 1 K 1"],
        ),
        Example::unsolvable("there is only a core library that is not required", too_new),
        Example::solved(
            "the root is the core library",
            is_root,
            &["K 0.9 X 1", "X 1 K 0.9"],
        ),
    ]
}
