//! Class lookup and the class hierarchy.

use pkgres_manifest::IndexRecord;

use super::Example;
use crate::build::{Build, package, release};
use crate::universe::Universe;

pub(super) fn examples() -> Vec<Example> {
    [
        diamonds(),
        deep_diamonds(),
        definitions(),
        moves(),
        cycles(),
        interfaces(),
    ]
    .concat()
}

/// `X.B` and `Y.C` extend `Z.D`; what `Y` wants of `Z` varies.
fn two_arms(root: IndexRecord, spec: &str) -> Universe {
    Universe::new(
        root.requires("X", "*").requires("Y", "*"),
        vec![
            release("X", "1")
                .requires("Z", "1.2.0")
                .defines("X.B", &["Z.D"]),
            release("Y", "1")
                .requires("Z", spec)
                .defines("Y.C", &["Z.D"]),
            release("Z", "1.2.0").defines("Z.D", &[]),
            release("Z", "1.3.0").defines("Z.D", &[]),
        ],
    )
}

/// `X.B` and `Y.C` implement `Z.I`; what `Y` wants of `Z` varies.
fn two_implementing_arms(root: IndexRecord, spec: &str) -> Universe {
    Universe::new(
        root.requires("X", "*").requires("Y", "*"),
        vec![
            release("X", "1")
                .requires("Z", "1.2.0")
                .implements("X.B", "Z.I"),
            release("Y", "1")
                .requires("Z", spec)
                .implements("Y.C", "Z.I"),
            release("Z", "1.2.0").defines_interface("Z.I"),
            release("Z", "1.3.0").defines_interface("Z.I"),
        ],
    )
}

fn interfaces() -> Vec<Example> {
    let joined = || release("R", "1").defines("A", &["X.B", "Y.C"]);
    let root = || release("R", "1").requires("Z", "*").implements("A", "Z.I");
    let with_core = |root: IndexRecord| {
        let mut universe = Universe::new(
            root.requires("Z", "1").requires("Y", "*"),
            vec![
                release("Z", "1").defines_interface("Z.I"),
                release("Y", "1").requires("Core", "0.2.0"),
                release("Core", "0.2.0").defines("Core.Object", &[]),
                release("Core", "0.1.0").defines("Core.Object", &[]),
            ],
        );
        universe.core = Some(package("Core"));
        universe
    };
    vec![
        Example::unsolvable(
            "a class would implement two versions of one interface",
            two_implementing_arms(joined(), "1.3.0"),
        ),
        Example::solved(
            "one version of the interface for both arms",
            two_implementing_arms(joined(), "1"),
            &["R 1 X 1", "R 1 Y 1", "X 1 Z 1.2.0", "Y 1 Z 1.2.0"],
        ),
        Example::solved(
            "interfaces side by side if no class implements both",
            two_implementing_arms(release("R", "1"), "1.3.0"),
            &["R 1 X 1", "R 1 Y 1", "X 1 Z 1.2.0", "Y 1 Z 1.3.0"],
        ),
        Example::solved(
            "a version that still has the interface",
            Universe::new(
                root(),
                vec![
                    release("Z", "1").defines_interface("Z.I"),
                    release("Z", "2").defines("Z.I", &[]),
                    release("Z", "3"),
                ],
            ),
            &["R 1 Z 1"],
        ),
        Example::unsolvable(
            "no version has the interface, although one has a class of its name",
            Universe::new(root(), vec![release("Z", "2").defines("Z.I", &[])]),
        ),
        Example::unsolvable(
            "an interface is no class",
            Universe::new(
                release("R", "1").requires("Z", "*").defines("A", &["Z.I"]),
                vec![release("Z", "1").defines_interface("Z.I")],
            ),
        ),
        Example::solved(
            "unknown classes may have any interface",
            Universe::new(root(), vec![release("Z", "4").opaque()]),
            &["R 1 Z 4"],
        ),
        Example::solved(
            "a class that only implements extends the root class, and an interface does not",
            with_core(release("R", "1").implements("A", "Z.I")),
            &[
                "R 1 Core 0.2.0",
                "R 1 Y 1",
                "R 1 Z 1",
                "Y 1 Core 0.2.0",
                "Z 1 Core 0.2.0",
            ],
        ),
    ]
}

fn diamonds() -> Vec<Example> {
    let joined = || release("R", "1").defines("A", &["X.B", "Y.C"]);
    let apart = || {
        release("R", "1")
            .defines("A", &["X.B"])
            .defines("B", &["Y.C"])
    };
    let mut single_version = two_arms(apart(), "1.3.0");
    single_version.single_version = true;
    vec![
        Example::unsolvable(
            "a class would inherit two versions of one ancestor",
            two_arms(joined(), "1.3.0"),
        ),
        Example::solved(
            "one version of the ancestor for both arms",
            two_arms(joined(), "1"),
            &["R 1 X 1", "R 1 Y 1", "X 1 Z 1.2.0", "Y 1 Z 1.2.0"],
        ),
        Example::solved(
            "side by side if no class inherits from both",
            two_arms(release("R", "1"), "1.3.0"),
            &["R 1 X 1", "R 1 Y 1", "X 1 Z 1.2.0", "Y 1 Z 1.3.0"],
        ),
        Example::solved(
            "side by side if one class inherits from each",
            two_arms(apart(), "1.3.0"),
            &["R 1 X 1", "R 1 Y 1", "X 1 Z 1.2.0", "Y 1 Z 1.3.0"],
        ),
        Example::unsolvable("a single version was asked for", single_version),
    ]
}

fn deep_diamonds() -> Vec<Example> {
    let long_arm = || {
        vec![
            release("X", "1")
                .requires("U", "*")
                .defines("X.B", &["U.E"]),
            release("U", "1")
                .requires("V", "*")
                .defines("U.E", &["V.F"]),
            release("V", "1")
                .requires("Z", "1")
                .defines("V.F", &["Z.D"]),
            release("Y", "2")
                .requires("Z", "2")
                .defines("Y.C", &["Z.D"]),
            release("Z", "1").defines("Z.D", &[]),
            release("Z", "2").defines("Z.D", &[]),
        ]
    };
    let root = release("R", "1")
        .requires("X", "*")
        .requires("Y", "*")
        .defines("A", &["X.B", "Y.C"]);
    let mut with_way_out = long_arm();
    with_way_out.push(
        release("Y", "1")
            .requires("Z", "*")
            .defines("Y.C", &["Z.D"]),
    );
    let core_arms = |root: IndexRecord| Universe {
        core: Some(package("K")),
        ..Universe::new(
            root.requires("X", "*").requires("Y", "*"),
            vec![
                release("K", "0.9").defines("K.Object", &[]),
                release("K", "1.0").defines("K.Object", &[]),
                release("X", "1").requires("K", "1").defines("X.B", &[]),
                release("Y", "1").defines("Y.C", &[]),
            ],
        )
    };
    vec![
        Example::unsolvable(
            "a diamond three levels deep",
            Universe::new(root.clone(), long_arm()),
        ),
        Example::solved(
            "a diamond three levels deep, and a way out",
            Universe::new(root, with_way_out),
            &[
                "R 1 X 1", "R 1 Y 1", "U 1 V 1", "V 1 Z 1", "X 1 U 1", "Y 1 Z 1",
            ],
        ),
        Example::unsolvable(
            "a diamond through two versions of the core library",
            core_arms(release("R", "1").defines("A", &["X.B", "Y.C"])),
        ),
        Example::unsolvable(
            "the core library extends what extends it",
            Universe {
                core: Some(package("K")),
                ..Universe::new(
                    release("K", "0.9")
                        .requires("X", "*")
                        .defines("K.Object", &["X.B"]),
                    vec![release("X", "1").defines("X.B", &[])],
                )
            },
        ),
        Example::solved(
            "two versions of the core library side by side",
            core_arms(
                release("R", "1")
                    .defines("A", &["X.B"])
                    .defines("B", &["Y.C"]),
            ),
            &["R 1 K 0.9", "R 1 X 1", "R 1 Y 1", "X 1 K 1", "Y 1 K 0.9"],
        ),
    ]
}

fn definitions() -> Vec<Example> {
    let root = || release("R", "1").requires("X", "*").defines("A", &["X.B"]);
    let dropped = vec![
        release("X", "1").defines("X.B", &[]),
        release("X", "2").defines("X.C", &[]),
    ];
    let hidden = vec![
        release("X", "1").defines("X.B", &["X.I"]).hides("X.I", &[]),
        release("X", "2").hides("X.B", &[]),
    ];
    let never_there = vec![release("X", "1").defines("X.C", &[])];
    let opaque = vec![
        release("X", "1").defines("X.B", &[]),
        release("X", "2").opaque(),
        release("X", "3"),
    ];
    let indirect = vec![
        release("X", "1")
            .requires("Y", "*")
            .defines("X.C", &["X.B"]),
        release("Y", "1").defines("X.B", &[]),
    ];
    let missing_inside = vec![
        release("X", "1").defines("X.B", &[]),
        release("X", "2")
            .defines("X.B", &[])
            .hides("X.I", &["X.Gone"]),
    ];
    let mut used = release("R", "1").requires("X", "*").defines("A", &[]);
    if let Some(class) = used
        .classes
        .as_mut()
        .and_then(|classes| classes.first_mut())
    {
        class.uses.push(crate::build::class("X.B"));
    }
    let use_only = Universe::new(used, dropped.clone());
    vec![
        Example::solved(
            "a newer version no longer defines a class",
            Universe::new(root(), dropped),
            &["R 1 X 1"],
        ),
        Example::solved(
            "to use a class that is gone is legal",
            use_only,
            &["R 1 X 2"],
        ),
        Example::solved(
            "an internal class is visible inside only",
            Universe::new(root(), hidden),
            &["R 1 X 1"],
        ),
        Example::unsolvable(
            "no version defines the class",
            Universe::new(root(), never_there),
        ),
        Example::solved(
            "unknown classes are whatever is asked for",
            Universe::new(root(), opaque),
            &["R 1 X 2"],
        ),
        Example::unsolvable(
            "a class of a package that is not required directly",
            Universe::new(root(), indirect),
        ),
        Example::solved(
            "internal classes must find their parents as well",
            Universe::new(root(), missing_inside),
            &["R 1 X 1"],
        ),
    ]
}

fn moves() -> Vec<Example> {
    let root = || release("R", "1").requires("P", "*").requires("Q", "*");
    let packages = |providers: &[&str]| {
        let mut records = vec![release("P", "1").defines("P.K", &[]), release("P", "2")];
        for version in ["1", "2"] {
            let record = release("Q", version);
            records.push(if providers.contains(&version) {
                record.defines("P.K", &[])
            } else {
                record
            });
        }
        records
    };
    let extending = || root().defines("A", &["P.K"]);
    // `U.B` takes the class from the new home. So must `A`, and cannot as long as the old home,
    // which comes first, still has it.
    let mut with_user = packages(&["2"]);
    with_user.push(
        release("U", "1")
            .requires("Q", "*")
            .defines("U.B", &["P.K"]),
    );
    let user_root = |spec| {
        release("R", "1")
            .requires("P", spec)
            .requires("Q", "*")
            .requires("U", "*")
            .defines("A", &["P.K", "U.B"])
    };
    let new_home_first = release("R", "1")
        .requires("Q", "*")
        .requires("P", "1")
        .requires("U", "*")
        .defines("A", &["P.K", "U.B"]);
    let own = vec![
        release("P", "1")
            .defines("P.K", &[])
            .defines("P.J", &["P.K"]),
    ];
    let own_first = release("R", "1")
        .requires("P", "*")
        .defines("A", &["P.K"])
        .defines("B", &["P.J"])
        .hides("P.K", &[]);
    let own_diamond = own_first.clone().defines("C", &["P.K", "P.J"]);
    vec![
        Example::solved(
            "a class moved to another package",
            Universe::new(extending(), packages(&["2"])),
            &["R 1 P 2", "R 1 Q 2"],
        ),
        Example::solved(
            "a class is no longer in its new package either",
            Universe::new(extending(), packages(&["1"])),
            &["R 1 P 2", "R 1 Q 1"],
        ),
        Example::solved(
            "a class never arrived in its new package",
            Universe::new(extending(), packages(&[])),
            &["R 1 P 1", "R 1 Q 2"],
        ),
        Example::solved(
            "both take a class from its new package",
            Universe::new(user_root("*"), with_user.clone()),
            &["R 1 P 2", "R 1 Q 2", "R 1 U 1", "U 1 Q 2"],
        ),
        Example::unsolvable(
            "the first package that defines a class wins",
            Universe::new(user_root("1"), with_user.clone()),
        ),
        Example::solved(
            "the first package that defines a class wins, the other way round",
            Universe::new(new_home_first, with_user),
            &["R 1 P 1", "R 1 Q 2", "R 1 U 1", "U 1 Q 2"],
        ),
        Example::solved(
            "a class of one's own comes before all others",
            Universe::new(own_first, own.clone()),
            &["R 1 P 1"],
        ),
        Example::unsolvable(
            "a class of one's own and a namesake make a diamond",
            Universe::new(own_diamond, own),
        ),
    ]
}

fn cycles() -> Vec<Example> {
    let root = || release("R", "1").requires("X", "*").defines("A", &["X.B"]);
    let looping = || {
        vec![
            release("X", "2")
                .requires("Y", "*")
                .defines("X.B", &["Y.C"]),
            release("Y", "1")
                .requires("X", "*")
                .defines("Y.C", &["X.B"]),
        ]
    };
    let mut with_way_out = looping();
    with_way_out.push(release("X", "1").requires("Y", "*").defines("X.B", &[]));
    let packages_only = vec![
        release("X", "2")
            .requires("Y", "*")
            .defines("X.B", &["Y.C"]),
        release("Y", "1")
            .requires("X", "*")
            .defines("Y.C", &["X.D"]),
        release("X", "1").defines("X.B", &[]),
    ]
    .into_iter()
    .map(|record| match record.name.as_str() {
        "X" => record.defines("X.D", &[]),
        _ => record,
    })
    .collect();
    let own = Universe::new(
        release("R", "1").defines("A", &["B"]).defines("B", &["A"]),
        Vec::new(),
    );
    vec![
        Example::unsolvable(
            "classes of two packages in a cycle",
            Universe::new(root(), looping()),
        ),
        Example::solved(
            "classes of two packages in a cycle, and a way out",
            Universe::new(root(), with_way_out),
            &["R 1 X 1", "X 1 Y 1", "Y 1 X 1"],
        ),
        Example::solved(
            "classes of two packages go there and back, not in a cycle",
            Universe::new(root(), packages_only),
            &["R 1 X 2", "X 2 Y 1", "Y 1 X 2"],
        ),
        Example::unsolvable("the root's own classes in a cycle", own),
    ]
}
