//! The second tier: what is split, and how.

use pkgres_manifest::IndexRecord;

use super::Example;
use crate::build::{Build, release};
use crate::universe::Universe;

/// `X` wants an old `U` or an old `V`, `Y` the new ones of both: either must be split.
fn either(root: IndexRecord) -> Universe {
    Universe::new(
        root.requires("X", "*").requires("Y", "*"),
        vec![
            release("X", "1")
                .requires("V", "1")
                .defines("X.B", &["V.D"]),
            release("X", "2")
                .requires("U", "1")
                .defines("X.B", &["U.D"]),
            release("Y", "1")
                .requires("U", "2")
                .requires("V", "2")
                .defines("Y.C", &["V.D"]),
            release("U", "1").defines("U.D", &[]),
            release("U", "2").defines("U.D", &[]),
            release("V", "1").defines("V.D", &[]),
            release("V", "2").defines("V.D", &[]),
        ],
    )
}

/// `Q` 2 and `W` define what `P` extends. With `Q` 1 it is found in `W`, and inherits the `Z` 1 that `Q` 1
/// wants, while `V` inherits `Z` 2. That `W` wants `Q` 1 is known before it is known that `P` asks `Q` as well.
fn found_elsewhere() -> Universe {
    Universe::new(
        release("R", "1").requires("W", "*").requires("V", "*"),
        vec![
            release("V", "1")
                .requires("P", "*")
                .requires("Z", "2")
                .defines("V.A", &["P.K", "Z.E"]),
            release("P", "1")
                .requires("Q", "*")
                .requires("W", "*")
                .defines("P.K", &["S.C"]),
            release("Q", "1")
                .requires("Z", "1")
                .defines("Q.D", &["Z.E"]),
            release("Q", "2").defines("S.C", &[]),
            release("W", "1")
                .requires("Q", "1")
                .defines("S.C", &["Q.D"]),
            release("Z", "1").defines("Z.E", &[]),
            release("Z", "2").defines("Z.E", &[]),
        ],
    )
}

/// `S.K` is found in `W` as long as `O` has no `Z` 2, which has that class itself: of two `Z.K`, only one is
/// inherited then.
fn defined_on_the_way() -> Universe {
    Universe::new(
        release("R", "1").requires("O", "*"),
        vec![
            release("O", "1")
                .requires("Z", ">=2")
                .requires("W", "*")
                .defines("O.A", &["S.K", "Z.K"]),
            release("W", "1")
                .requires("Z", "1")
                .defines("S.K", &["Z.K"]),
            release("Z", "1").defines("Z.K", &[]),
            release("Z", "2").defines("Z.K", &[]).defines("S.K", &[]),
            release("Z", "3").defines("Z.K", &[]),
        ],
    )
}

/// With `Z` 3 a class of it leads to the `Z` 1 that `V` wants, beside the one that is inherited itself.
fn end_on_the_way() -> Universe {
    Universe::new(
        release("R", "1").requires("O", "*").requires("V", "*"),
        vec![
            release("O", "1")
                .requires("Z", ">=2")
                .defines("O.A", &["Z.J", "Z.K"]),
            release("V", "1")
                .requires("Z", "1")
                .defines("V.L", &["Z.K"]),
            release("Z", "1").defines("Z.K", &[]),
            release("Z", "2").defines("Z.J", &[]).defines("Z.K", &[]),
            release("Z", "3")
                .requires("V", "*")
                .defines("Z.J", &["V.L"])
                .defines("Z.K", &[]),
        ],
    )
}

pub(super) fn examples() -> Vec<Example> {
    let joined = release("R", "1").defines("A", &["X.B", "Y.C"]);
    let both = Universe::new(
        release("R", "1").requires("X", "*").requires("Y", "*"),
        vec![
            release("X", "1").requires("U", "1"),
            release("Y", "1").requires("U", "2"),
            release("U", "1").requires("V", "1"),
            release("U", "2").requires("V", "2"),
            release("V", "1"),
            release("V", "2"),
        ],
    );
    let not_more_than_needed = Universe::new(
        release("R", "1")
            .requires("X", "*")
            .requires("Y", "*")
            .requires("W", "1"),
        vec![
            release("X", "1").requires("Z", "1").requires("W", "*"),
            release("Y", "1").requires("Z", "2").requires("W", "*"),
            release("W", "1"),
            release("W", "2"),
            release("Z", "1"),
            release("Z", "2"),
        ],
    );
    let each_its_best = Universe::new(
        release("R", "1")
            .requires("X", "*")
            .requires("Y", "*")
            .requires("W", "*"),
        vec![
            release("X", "1").requires("Z", "1"),
            release("Y", "1").requires("Z", "2"),
            release("W", "1").requires("Z", "*"),
            release("Z", "1"),
            release("Z", "1.1"),
            release("Z", "2"),
            release("Z", "3"),
        ],
    );
    let two_of_one = |root: IndexRecord| {
        Universe::new(
            root.requires("X", "1").requires("Y", "*"),
            vec![
                release("X", "1").defines("X.B", &[]),
                release("X", "2").defines("X.B", &[]),
                release("Y", "1")
                    .requires("X", "2")
                    .defines("Y.C", &["X.B"]),
            ],
        )
    };
    let two_of_one_joined = two_of_one(
        release("R", "1")
            .defines("A", &["X.B"])
            .defines("B", &["A", "Y.C"]),
    );
    let two_of_one_apart = two_of_one(
        release("R", "1")
            .defines("A", &["X.B"])
            .defines("B", &["Y.C"]),
    );
    let split_in_a_cycle = Universe::new(
        release("R", "1").requires("X", "*"),
        vec![
            release("X", "2").requires("Y", "1"),
            release("Y", "1").requires("X", "1"),
            release("X", "1").requires("Y", "2"),
            release("Y", "2").requires("X", "*"),
        ],
    );
    let class_after_class = Universe {
        root: release("R", "1").requires("X", "2").defines("A", &["X.B"]),
        records: vec![
            release("X", "2")
                .requires("Y", "1")
                .defines("X.B", &["Y.C"]),
            release("Y", "1")
                .requires("X", "1")
                .defines("Y.C", &["X.B"]),
            release("X", "1").defines("X.B", &[]),
        ],
        ..split_in_a_cycle.clone()
    };
    let hopeless = Universe::new(
        release("R", "1").requires("X", "1").requires("Y", "*"),
        vec![release("X", "2"), release("Y", "1").requires("X", "2")],
    );
    vec![
        // X 2 would be the better choice, but with it U is split, and U comes first.
        Example::solved(
            "the last name is split if either is enough",
            either(release("R", "1")),
            &["R 1 X 1", "R 1 Y 1", "X 1 V 1", "Y 1 U 2", "Y 1 V 2"],
        ),
        Example::solved(
            "a diamond forbids to split the last name",
            either(joined),
            &["R 1 X 2", "R 1 Y 1", "X 2 U 1", "Y 1 U 2", "Y 1 V 2"],
        ),
        Example::solved(
            "two packages must be split",
            both,
            &[
                "R 1 X 1", "R 1 Y 1", "X 1 U 1", "Y 1 U 2", "U 1 V 1", "U 2 V 2",
            ],
        ),
        Example::solved(
            "only what must be split is",
            not_more_than_needed,
            &[
                "R 1 X 1", "R 1 Y 1", "R 1 W 1", "X 1 Z 1", "X 1 W 1", "Y 1 Z 2", "Y 1 W 1",
            ],
        ),
        Example::solved(
            "each requirement on a split package takes its best",
            each_its_best,
            &[
                "R 1 X 1",
                "R 1 Y 1",
                "R 1 W 1",
                "X 1 Z 1.1",
                "Y 1 Z 2",
                "W 1 Z 3",
            ],
        ),
        Example::solved(
            "the root and a package want different versions",
            two_of_one_apart,
            &["R 1 X 1", "R 1 Y 1", "Y 1 X 2"],
        ),
        Example::unsolvable(
            "one class inherits what the root and a package want",
            two_of_one_joined,
        ),
        // One package asks Q in vain for a class, another one requires what it then inherits.
        Example::solved(
            "a package is split so that a class is found in another release of it",
            found_elsewhere(),
            &[
                "R 1 W 1", "R 1 V 1", "V 1 P 1", "V 1 Z 2", "P 1 Q 2", "P 1 W 1", "W 1 Q 1",
                "Q 1 Z 1",
            ],
        ),
        // The newest Z would be inherited beside the one that W inherits.
        Example::solved(
            "the end of a path defines the class that the other path goes through",
            defined_on_the_way(),
            &["R 1 O 1", "O 1 W 1", "O 1 Z 2", "W 1 Z 1"],
        ),
        // Z 3 would be newer, and only with it there are two Z.K.
        Example::solved(
            "the other path goes through the end of a path",
            end_on_the_way(),
            &["R 1 O 1", "R 1 V 1", "O 1 Z 2", "V 1 Z 1"],
        ),
        // X 2 would be newer, but only with an X 1 beside it.
        Example::solved(
            "a cycle is no reason to split",
            split_in_a_cycle,
            &["R 1 X 1", "X 1 Y 2", "Y 2 X 1"],
        ),
        Example::unsolvable(
            "a class inherits an older version of itself",
            class_after_class,
        ),
        Example::unsolvable("nothing helps against a missing version", hopeless),
    ]
}
