//! Hostile universes: small indexes whose questions are hard for a solver.
//!
//! Anyone who publishes releases chooses what they require, so a registry can ask any question of the
//! solver. These are hard for all known methods, or for methods like ours: puzzles without short proofs,
//! requirements that drag much along at each step, very many versions, and conflicts with very many reasons.

mod questions;

use std::fmt;

use pkgres_tests::universe::Universe;

use questions::{
    all_require_all, chain, class_cycle, class_ladder, clique_in_colors, cycle, diamonds,
    inherited_twice, many_versions, order_without_least, pigeons_in_holes, random_clauses,
    sets_of_pieces, some_require_some, sums_in_a_graph,
};

/// A kind of hostile universe, with its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostileUniverse {
    /// Pigeons in holes, each alone. A pigeon is a package, its hole the version; behind each version is a tail
    /// of packages that change with it.
    Pigeons {
        /// How many packages.
        pigeons: usize,
        /// How many versions each has.
        holes: usize,
        /// How many packages each version requires, one after the other.
        tail: usize,
    },
    /// The same, where packages may have several releases side by side.
    SideBySide {
        /// How many packages.
        pigeons: usize,
        /// How many versions each has.
        holes: usize,
    },
    /// Packages that each require the next, and the last one a package that may be missing.
    Chain {
        /// How many packages.
        length: usize,
        /// Whether the last requirement cannot be met.
        is_broken: bool,
    },
    /// Packages of two versions that each require the same version of the next, the last one the other version
    /// of the first if it is twisted.
    Cycle {
        /// How many packages.
        length: usize,
        /// Whether the last requirement contradicts the first.
        is_twisted: bool,
    },
    /// Packages that all require each other, each version without some versions of the others, by chance.
    Dense {
        /// How many packages.
        packages: usize,
        /// How many versions each has.
        versions: usize,
        /// How many in a hundred pairs of versions exclude each other.
        excluded: usize,
    },
    /// Packages of which each version requires some others, in a range of their versions, by chance.
    Sparse {
        /// How many packages.
        packages: usize,
        /// How many versions each has.
        versions: usize,
        /// How many other packages each version requires.
        required: usize,
        /// How many of the versions of a required package are allowed.
        allowed: usize,
    },
    /// Pairs of packages, each version of which requires three consecutive versions of the next pair; the last
    /// pair requires the oldest version of a package.
    Diamonds {
        /// How many pairs.
        levels: usize,
        /// How many versions each package has.
        versions: usize,
    },
    /// Classes that inherit a class of one package by two ways, so that both have to lead to the same version.
    Inherited {
        /// How many such classes.
        classes: usize,
        /// How many versions each package has.
        versions: usize,
        /// Whether the ways of one class never meet.
        is_broken: bool,
    },
    /// Few packages of very many versions, each of which requires the same version of the next package. The last
    /// package has none.
    Versions {
        /// How many packages.
        packages: usize,
        /// How many versions each has.
        versions: usize,
    },
    /// Random 3-SAT: a variable is a package with two versions, a clause one with three, each of which requires
    /// a version of a variable.
    Satisfiability {
        /// How many variables.
        variables: usize,
        /// How many clauses for a hundred variables. About 426 are the hardest.
        clauses: usize,
    },
    /// Sums modulo two at the vertices of a random graph, which contradict each other as a whole: an edge is a
    /// package with two versions, a vertex one with a version for each way to reach its sum.
    Parity {
        /// How many vertices, each with three edges. Even.
        vertices: usize,
    },
    /// An order without a least element: a pair of elements is a package with two versions, an element one with
    /// a version for each smaller one, and three elements one that excludes going around.
    Order {
        /// How many elements.
        elements: usize,
    },
    /// A clique in a graph whose vertices have few colors: a member of the clique is a package with a version for
    /// each vertex, an edge one with a version for each pair of different colors.
    Clique {
        /// How many vertices the graph has.
        vertices: usize,
        /// How many members the clique has.
        members: usize,
        /// How many colors there are.
        colors: usize,
    },
    /// Classes of a cycle of packages that each inherit the next one's, unless one package has a version whose
    /// class does not.
    ClassCycle {
        /// How many packages.
        length: usize,
        /// Whether no version ends the cycle.
        is_closed: bool,
    },
    /// Classes in pairs that each inherit both classes of the next pair, so that there are very many ways to the
    /// last pair. It requires two versions of one package.
    ClassLadder {
        /// How many pairs.
        levels: usize,
        /// How many versions each package has.
        versions: usize,
    },
    /// Two packages that require a third one in a set of as many pieces as a spec can have; these sets have no version
    /// in common.
    Pieces {
        /// How many pieces.
        pieces: usize,
        /// Whether there is one more version, which is in both sets.
        is_met: bool,
    },
}

/// Whether there is an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// There is a resolution.
    Solved,
    /// There is none.
    Conflict,
    /// Nobody knows beforehand.
    Unknown,
}

use HostileUniverse::{
    Chain, ClassCycle, ClassLadder, Clique, Cycle, Dense, Diamonds, Inherited, Order, Parity,
    Pieces, Pigeons, Satisfiability, SideBySide, Sparse, Versions,
};

const fn pigeons(pigeons: usize, holes: usize, tail: usize) -> HostileUniverse {
    Pigeons {
        pigeons,
        holes,
        tail,
    }
}

const fn dense(packages: usize, versions: usize, excluded: usize) -> HostileUniverse {
    Dense {
        packages,
        versions,
        excluded,
    }
}

const fn sparse(
    packages: usize,
    versions: usize,
    required: usize,
    allowed: usize,
) -> HostileUniverse {
    Sparse {
        packages,
        versions,
        required,
        allowed,
    }
}

const fn clique(vertices: usize, members: usize, colors: usize) -> HostileUniverse {
    Clique {
        vertices,
        members,
        colors,
    }
}

const fn satisfiability(variables: usize, clauses: usize) -> HostileUniverse {
    Satisfiability { variables, clauses }
}

/// Small universes of each kind, which are answered within few steps or give up.
#[rustfmt::skip]
pub const SHORT: &[HostileUniverse] = &[
    pigeons(5, 4, 0), pigeons(5, 5, 0), pigeons(5, 4, 20), pigeons(9, 8, 0), pigeons(20, 19, 0),
    SideBySide { pigeons: 4, holes: 3 }, SideBySide { pigeons: 8, holes: 7 },
    Chain { length: 1_000, is_broken: false }, Chain { length: 300, is_broken: true },
    Cycle { length: 500, is_twisted: false }, Cycle { length: 100, is_twisted: true },
    dense(12, 4, 5), dense(12, 4, 40), dense(30, 8, 12), sparse(40, 20, 4, 15), sparse(60, 70, 8, 30),
    Diamonds { levels: 10, versions: 8 },
    Inherited { classes: 3, versions: 3, is_broken: false }, Inherited { classes: 3, versions: 3, is_broken: true },
    Versions { packages: 5, versions: 200 },
    satisfiability(20, 300), satisfiability(20, 800), satisfiability(60, 426),
    Parity { vertices: 8 }, Parity { vertices: 40 },
    Order { elements: 6 }, Order { elements: 12 },
    clique(5, 3, 3), clique(5, 4, 3), clique(12, 7, 6),
    ClassCycle { length: 50, is_closed: false }, ClassCycle { length: 50, is_closed: true },
    ClassLadder { levels: 40, versions: 3 },
    Pieces { pieces: 50, is_met: false }, Pieces { pieces: 50, is_met: true },
];

/// Universes of each kind up to the sizes at which nobody finds an answer.
#[rustfmt::skip]
pub const WHOLE: &[HostileUniverse] = &[
    pigeons(8, 7, 0), pigeons(10, 9, 0), pigeons(11, 10, 0), pigeons(12, 11, 0), pigeons(20, 19, 0), pigeons(40, 39, 0),
    pigeons(60, 60, 0), pigeons(9, 8, 300), pigeons(20, 19, 50),
    SideBySide { pigeons: 8, holes: 7 }, SideBySide { pigeons: 12, holes: 11 }, SideBySide { pigeons: 30, holes: 29 },
    Chain { length: 100_000, is_broken: false }, Chain { length: 100_000, is_broken: true },
    Chain { length: 2_000, is_broken: true },
    Cycle { length: 100_000, is_twisted: false }, Cycle { length: 20_000, is_twisted: true },
    Cycle { length: 400, is_twisted: true },
    dense(40, 10, 8), dense(40, 10, 11), dense(40, 10, 14), dense(150, 6, 3), dense(300, 4, 0),
    sparse(450, 20, 45, 18), sparse(450, 20, 45, 10), sparse(5_000, 20, 4, 9), sparse(150, 80, 20, 40),
    Diamonds { levels: 100, versions: 60 }, Diamonds { levels: 2_000, versions: 20 },
    Inherited { classes: 30, versions: 8, is_broken: false }, Inherited { classes: 30, versions: 8, is_broken: true },
    Versions { packages: 20, versions: 2_000 }, Versions { packages: 300, versions: 300 },
    satisfiability(60, 500), satisfiability(100, 426), satisfiability(150, 426), satisfiability(200, 426),
    satisfiability(300, 426), satisfiability(150, 600), satisfiability(2_000, 420),
    Parity { vertices: 16 }, Parity { vertices: 30 }, Parity { vertices: 60 }, Parity { vertices: 200 },
    Order { elements: 12 }, Order { elements: 24 },
    clique(6, 4, 3), clique(12, 7, 6), clique(14, 6, 6),
    ClassCycle { length: 2_000, is_closed: false }, ClassCycle { length: 2_000, is_closed: true },
    ClassLadder { levels: 500, versions: 3 },
    Pieces { pieces: 100, is_met: false }, Pieces { pieces: 100, is_met: true },
];

impl HostileUniverse {
    /// Returns whether there is an answer.
    pub fn answer(self) -> Answer {
        let solved = match self {
            Pigeons { pigeons, holes, .. } => pigeons <= holes,
            Chain { is_broken, .. } | Inherited { is_broken, .. } => !is_broken,
            Cycle { is_twisted, .. } => !is_twisted,
            ClassCycle { is_closed, .. } => !is_closed,
            Clique {
                members, colors, ..
            } => members <= colors,
            Pieces { is_met, .. } => is_met,
            ClassLadder { .. } | Order { .. } | Parity { .. } | Versions { .. } => false,
            Diamonds { .. } => true,
            SideBySide { .. } | Dense { .. } | Sparse { .. } | Satisfiability { .. } => {
                return Answer::Unknown;
            }
        };
        if solved {
            Answer::Solved
        } else {
            Answer::Conflict
        }
    }

    /// Returns the universe.
    pub fn universe(self) -> Universe {
        let (root, records) = match self {
            Pigeons {
                pigeons,
                holes,
                tail,
            } => pigeons_in_holes(pigeons, holes, tail),
            SideBySide { pigeons, holes } => pigeons_in_holes(pigeons, holes, 0),
            Chain { length, is_broken } => chain(length, is_broken),
            Cycle { length, is_twisted } => cycle(length, is_twisted),
            Dense {
                packages,
                versions,
                excluded,
            } => all_require_all(packages, versions, excluded),
            Sparse {
                packages,
                versions,
                required,
                allowed,
            } => some_require_some(packages, versions, required, allowed),
            Diamonds { levels, versions } => diamonds(levels, versions),
            Inherited {
                classes,
                versions,
                is_broken,
            } => inherited_twice(classes, versions, is_broken),
            Versions { packages, versions } => many_versions(packages, versions),
            Satisfiability { variables, clauses } => random_clauses(variables, clauses),
            Parity { vertices } => sums_in_a_graph(vertices),
            Order { elements } => order_without_least(elements),
            Clique {
                vertices,
                members,
                colors,
            } => clique_in_colors(vertices, members, colors),
            ClassCycle { length, is_closed } => class_cycle(length, is_closed),
            ClassLadder { levels, versions } => class_ladder(levels, versions),
            Pieces { pieces, is_met } => sets_of_pieces(pieces, is_met),
        };
        let mut universe = Universe::new(root, records);
        universe.single_version = !matches!(
            self,
            SideBySide { .. } | Inherited { .. } | ClassLadder { .. }
        );
        universe
    }
}

impl fmt::Display for HostileUniverse {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let broken = |is_broken: bool| if is_broken { ", broken" } else { "" };
        match *self {
            Pigeons {
                pigeons,
                holes,
                tail: 0,
            } => write!(formatter, "{pigeons} pigeons in {holes} holes"),
            Pigeons {
                pigeons,
                holes,
                tail,
            } => write!(
                formatter,
                "{pigeons} pigeons in {holes} holes, tails of {tail}"
            ),
            SideBySide { pigeons, holes } => {
                write!(
                    formatter,
                    "{pigeons} pigeons in {holes} holes, side by side"
                )
            }
            Chain { length, is_broken } => {
                write!(formatter, "chain of {length}{}", broken(is_broken))
            }
            Cycle { length, is_twisted } => {
                let twisted = if is_twisted { ", twisted" } else { "" };
                write!(formatter, "cycle of {length}{twisted}")
            }
            Dense {
                packages,
                versions,
                excluded,
            } => write!(
                formatter,
                "dense, {packages} of {versions} versions, {excluded} %"
            ),
            Sparse {
                packages,
                versions,
                required,
                allowed,
            } => write!(
                formatter,
                "sparse, {packages} of {versions} versions, each requires {required}, {allowed} allowed"
            ),
            Diamonds { levels, versions } => {
                write!(formatter, "{levels} diamonds of {versions} versions")
            }
            Inherited {
                classes,
                versions,
                is_broken,
            } => write!(
                formatter,
                "{classes} classes inherited twice, {versions} versions{}",
                broken(is_broken)
            ),
            Versions { packages, versions } => {
                write!(formatter, "{packages} packages of {versions} versions")
            }
            Satisfiability { variables, clauses } => {
                let clauses = variables * clauses / 100;
                write!(formatter, "3-SAT, {variables} variables, {clauses} clauses")
            }
            Parity { vertices } => write!(formatter, "parity, {vertices} vertices"),
            Order { elements } => write!(formatter, "order of {elements} elements"),
            Clique {
                vertices,
                members,
                colors,
            } => write!(
                formatter,
                "clique of {members} in {vertices} vertices of {colors} colors"
            ),
            ClassCycle { length, is_closed } => {
                let closed = if is_closed { ", closed" } else { "" };
                write!(formatter, "cycle of {length} classes{closed}")
            }
            ClassLadder { levels, versions } => {
                write!(
                    formatter,
                    "ladder of {levels} pairs of classes, {versions} versions"
                )
            }
            Pieces { pieces, is_met } => {
                let met = if is_met { ", met" } else { "" };
                write!(formatter, "sets of {pieces} pieces{met}")
            }
        }
    }
}
