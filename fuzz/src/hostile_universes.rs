//! Hostile universes: small indexes whose questions are hard for a solver.
//!
//! Anyone who publishes releases chooses what they require, so a registry can ask any question of the
//! solver. These are hard for all known methods, or for methods like ours: puzzles without short proofs,
//! requirements that drag much along at each step, very many versions, and conflicts with very many reasons.

use std::fmt;

use pkgres_manifest::IndexRecord;
use pkgres_tests::build::{Build as _, release};
use pkgres_tests::random::Random;
use pkgres_tests::universe::Universe;

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
    /// Two packages that require a third one in a set of as many pieces as a spec can have; these sets have no version in common.
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
    Pieces, Pigeons, Satisfiability, SideBySide, Versions,
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
    dense(12, 4, 5), dense(12, 4, 40), dense(30, 8, 12),
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
            SideBySide { .. } | Dense { .. } | Satisfiability { .. } => return Answer::Unknown,
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

/// The root, which requires whatever version of some packages.
fn root(required: impl IntoIterator<Item = String>) -> IndexRecord {
    required
        .into_iter()
        .fold(release("h.Root", "1"), |root, name| {
            root.requires(&name, "*")
        })
}

/// A version of a package.
fn of(name: &str, version: usize) -> IndexRecord {
    release(name, &format!("{version}.0.0"))
}

fn pigeons_in_holes(pigeons: usize, holes: usize, tail: usize) -> (IndexRecord, Vec<IndexRecord>) {
    let name = |pigeon: usize| format!("h.P{pigeon}");
    let mut records = Vec::new();
    for pigeon in 0..pigeons {
        for hole in 1..=holes {
            let mut record = of(&name(pigeon), hole);
            for other in (0..pigeons).filter(|other| *other != pigeon) {
                record = record.requires(&name(other), &format!("!={hole}.0.0"));
            }
            if tail > 0 {
                record = record.requires(&format!("h.T{pigeon}x0"), &hole.to_string());
            }
            records.push(record);
        }
        for place in 0..tail {
            for hole in 1..=holes {
                let mut record = of(&format!("h.T{pigeon}x{place}"), hole);
                if place + 1 < tail {
                    let next = format!("h.T{pigeon}x{}", place + 1);
                    record = record.requires(&next, &hole.to_string());
                }
                records.push(record);
            }
        }
    }
    (root((0..pigeons).map(name)), records)
}

fn chain(length: usize, is_broken: bool) -> (IndexRecord, Vec<IndexRecord>) {
    let name = |number: usize| format!("h.P{number}");
    let ends_at = if is_broken { length } else { length - 1 };
    let records = (0..length).map(|number| {
        let record = of(&name(number), 1);
        if number < ends_at {
            record.requires(&name(number + 1), "1")
        } else {
            record
        }
    });
    (root([name(0)]), records.collect())
}

fn cycle(length: usize, is_twisted: bool) -> (IndexRecord, Vec<IndexRecord>) {
    let name = |number: usize| format!("h.P{number}");
    let mut records = Vec::new();
    for number in 0..length {
        for version in [1, 2] {
            let is_last = number + 1 == length;
            let wanted = if is_last && is_twisted {
                3 - version
            } else {
                version
            };
            let next = name((number + 1) % length);
            records.push(of(&name(number), version).requires(&next, &wanted.to_string()));
        }
    }
    (root([name(0)]), records)
}

fn all_require_all(
    packages: usize,
    versions: usize,
    excluded: usize,
) -> (IndexRecord, Vec<IndexRecord>) {
    let name = |number: usize| format!("h.P{number}");
    let mut random = Random::new(1);
    let mut records = Vec::new();
    for package in 0..packages {
        for version in 1..=versions {
            let mut record = of(&name(package), version);
            for other in (0..packages).filter(|other| *other != package) {
                // Each pair is met twice.
                let left_out = (1..=versions).filter(|_| random.below(200) < excluded);
                let left_out: Vec<String> =
                    left_out.map(|version| format!("!={version}.0.0")).collect();
                let spec = if left_out.is_empty() {
                    "*".to_owned()
                } else {
                    left_out.join(",")
                };
                record = record.requires(&name(other), &spec);
            }
            records.push(record);
        }
    }
    (root((0..packages).map(name)), records)
}

fn diamonds(levels: usize, versions: usize) -> (IndexRecord, Vec<IndexRecord>) {
    let name = |level: usize, side: &str| format!("h.{side}{level}");
    let mut records = vec![of("h.End", 1), of("h.End", 2)];
    for level in 0..levels {
        for version in 1..=versions {
            for side in ["L", "R"] {
                let record = of(&name(level, side), version);
                records.push(if level + 1 == levels {
                    record.requires("h.End", "1")
                } else {
                    let spec = format!(">={version},<{}", version + 3);
                    let [left, right] = ["L", "R"].map(|side| name(level + 1, side));
                    record.requires(&left, &spec).requires(&right, &spec)
                });
            }
        }
    }
    let ends = ["L", "R"].map(|side| name(0, side));
    (root(ends), records)
}

fn inherited_twice(
    classes: usize,
    versions: usize,
    is_broken: bool,
) -> (IndexRecord, Vec<IndexRecord>) {
    let mut records = Vec::new();
    for number in 0..classes {
        let name = |part: &str| format!("h.{part}{number}");
        let class = |part: &str| format!("h.{part}{number}.C");
        let holder = of(&name("A"), 1)
            .requires(&name("L"), "*")
            .requires(&name("R"), "*");
        let (left, right) = (class("L"), class("R"));
        records.push(holder.defines(&class("A"), &[&left, &right]));
        for version in 1..=versions {
            // The newest version on one side goes with the oldest on the other.
            let meets = !is_broken || number + 1 < classes;
            let mirrored = if meets {
                versions + 1 - version
            } else {
                versions + version
            };
            for (part, wanted) in [("L", version), ("R", mirrored)] {
                let record = of(&name(part), version).requires(&name("D"), &wanted.to_string());
                records.push(record.defines(&class(part), &[&class("D")]));
            }
        }
        for version in 1..=2 * versions {
            records.push(of(&name("D"), version).defines(&class("D"), &[]));
        }
    }
    (
        root((0..classes).map(|number| format!("h.A{number}"))),
        records,
    )
}

fn many_versions(packages: usize, versions: usize) -> (IndexRecord, Vec<IndexRecord>) {
    let name = |number: usize| format!("h.P{number}");
    let mut records = Vec::new();
    for package in 0..packages {
        for version in 1..=versions {
            let next = name(package + 1);
            records.push(of(&name(package), version).requires(&next, &version.to_string()));
        }
    }
    (root([name(0)]), records)
}

fn random_clauses(variables: usize, clauses: usize) -> (IndexRecord, Vec<IndexRecord>) {
    let variable = |number: usize| format!("h.V{number}");
    let clause = |number: usize| format!("h.C{number}");
    let mut random = Random::new(u64::try_from(variables).expect("few variables"));
    let mut records = Vec::new();
    for number in 0..variables {
        records.extend([1, 2].map(|version| of(&variable(number), version)));
    }
    let clauses = variables * clauses / 100;
    for number in 0..clauses {
        for literal in 1..=3 {
            let (of_variable, value) = (random.below(variables), random.between(1, 2));
            let record = of(&clause(number), literal);
            records.push(record.requires(&variable(of_variable), &value.to_string()));
        }
    }
    (root((0..clauses).map(clause)), records)
}

fn sums_in_a_graph(vertices: usize) -> (IndexRecord, Vec<IndexRecord>) {
    let vertex = |number: usize| format!("h.V{number}");
    let edge = |number: usize| format!("h.E{number}");
    // Three ends at each vertex, which are joined in pairs by chance.
    let mut ends: Vec<usize> = (0..3 * vertices).map(|end| end / 3).collect();
    Random::new(u64::try_from(vertices).expect("few vertices")).shuffle(&mut ends);
    let mut edges_at: Vec<Vec<usize>> = vec![Vec::new(); vertices];
    let mut records = Vec::new();
    for (number, pair) in ends.chunks_exact(2).enumerate() {
        // An edge from a vertex to itself counts twice, so not at all.
        if pair[0] != pair[1] {
            for end in pair {
                edges_at[*end].push(number);
            }
        }
        records.extend([1, 2].map(|value| of(&edge(number), value)));
    }
    for (number, edges) in edges_at.iter().enumerate() {
        // Each edge is in two sums, so all sums together are even.
        let wanted = usize::from(number == 0);
        let ways =
            (0..1_usize << edges.len()).filter(|way| way.count_ones() as usize % 2 == wanted);
        for (version, way) in (1..).zip(ways) {
            let mut record = of(&vertex(number), version);
            for (place, of_edge) in edges.iter().enumerate() {
                let value = 1 + (way >> place & 1);
                // Two edges may join the same vertices.
                record = record.requires(&edge(*of_edge), &value.to_string());
            }
            records.push(record);
        }
    }
    (root((0..vertices).map(vertex)), records)
}

fn order_without_least(elements: usize) -> (IndexRecord, Vec<IndexRecord>) {
    let pair = |left: usize, right: usize| format!("h.P{left}x{right}");
    // The first version of a pair says that its first element is the smaller one.
    let is_smaller = |record: IndexRecord, left: usize, right: usize| {
        let version = if left < right { "1" } else { "2" };
        record.requires(&pair(left.min(right), left.max(right)), version)
    };
    let (mut required, mut records) = (Vec::new(), Vec::new());
    for left in 0..elements {
        for right in left + 1..elements {
            records.extend([1, 2].map(|version| of(&pair(left, right), version)));
        }
        let name = format!("h.E{left}");
        let others = (0..elements).filter(|other| *other != left);
        records.extend(
            (1..)
                .zip(others)
                .map(|(version, other)| is_smaller(of(&name, version), other, left)),
        );
        required.push(name);
        for middle in left + 1..elements {
            for right in (left + 1..elements).filter(|right| *right != middle) {
                let name = format!("h.T{left}x{middle}x{right}");
                let around = [(left, middle), (middle, right), (right, left)];
                records.extend((1..).zip(around).map(|(version, (smaller, larger))| {
                    is_smaller(of(&name, version), larger, smaller)
                }));
                required.push(name);
            }
        }
    }
    (root(required), records)
}

fn clique_in_colors(
    vertices: usize,
    members: usize,
    colors: usize,
) -> (IndexRecord, Vec<IndexRecord>) {
    let member = |number: usize| format!("h.M{number}");
    let color = |vertex: usize| format!("h.C{vertex}");
    let edge = |left: usize, right: usize| format!("h.E{}x{}", left.min(right), left.max(right));
    let pairs = |of: usize| (1..=of).flat_map(move |left| (1..=of).map(move |right| (left, right)));
    let different = |of: usize| pairs(of).filter(|(left, right)| left != right);
    let (mut required, mut records) = (Vec::new(), Vec::new());
    for number in 1..=members {
        records.extend((1..=vertices).map(|vertex| of(&member(number), vertex)));
    }
    for vertex in 1..=vertices {
        records.extend((1..=colors).map(|number| of(&color(vertex), number)));
    }
    for (first, second) in pairs(members).filter(|(first, second)| first < second) {
        let name = format!("h.K{first}x{second}");
        for (version, (left, right)) in (1..).zip(different(vertices)) {
            let record = of(&name, version).requires(&edge(left, right), "*");
            let record = record.requires(&member(first), &left.to_string());
            records.push(record.requires(&member(second), &right.to_string()));
        }
        required.push(name);
    }
    for (left, right) in pairs(vertices).filter(|(left, right)| left < right) {
        for (version, (one, other)) in (1..).zip(different(colors)) {
            let record = of(&edge(left, right), version);
            let record = record.requires(&color(left), &one.to_string());
            records.push(record.requires(&color(right), &other.to_string()));
        }
    }
    (root(required), records)
}

fn class_cycle(length: usize, is_closed: bool) -> (IndexRecord, Vec<IndexRecord>) {
    let name = |number: usize| format!("h.P{number}");
    let class = |number: usize| format!("h.P{number}.C");
    let mut records = Vec::new();
    for number in 0..length {
        let next = (number + 1) % length;
        for version in [1, 2] {
            let ends = !is_closed && number == length / 2 && version == 1;
            let inherited = class(next);
            let extends: &[&str] = if ends { &[] } else { &[&inherited] };
            let record = of(&name(number), version).requires(&name(next), "*");
            records.push(record.defines(&class(number), extends));
        }
    }
    (root([name(0)]), records)
}

fn class_ladder(levels: usize, versions: usize) -> (IndexRecord, Vec<IndexRecord>) {
    let name = |level: usize, side: &str| format!("h.{side}{level}");
    let mut records = Vec::new();
    for level in 0..levels {
        for (number, side) in (1..).zip(["L", "R"]) {
            for version in 1..=versions {
                let record = of(&name(level, side), version);
                let (record, parents) = if level + 1 == levels {
                    let wanted = format!("{number}");
                    (record.requires("h.Z", &wanted), vec!["h.Z.C".to_owned()])
                } else {
                    let next = ["L", "R"].map(|side| name(level + 1, side));
                    let record =
                        (next.iter()).fold(record, |record, next| record.requires(next, "*"));
                    (record, next.map(|next| format!("{next}.C")).to_vec())
                };
                let parents: Vec<&str> = parents.iter().map(String::as_str).collect();
                records.push(record.defines(&format!("{}.C", name(level, side)), &parents));
            }
        }
    }
    records.extend([1, 2].map(|version| of("h.Z", version).defines("h.Z.C", &[])));
    (root(["L", "R"].map(|side| name(0, side))), records)
}

fn sets_of_pieces(pieces: usize, is_met: bool) -> (IndexRecord, Vec<IndexRecord>) {
    let last = 2 * pieces;
    let mut records = Vec::new();
    for (name, first) in [("h.A", 1), ("h.B", 2)] {
        let excluded = (first..=last).step_by(2);
        let spec: Vec<String> = excluded.map(|version| format!("!={version}.0.0")).collect();
        let releases = (1..=5).map(|version| of(name, version).requires("h.C", &spec.join(",")));
        records.extend(releases);
    }
    records.extend((1..=last + usize::from(is_met)).map(|version| of("h.C", version)));
    (root(["h.A", "h.B"].map(String::from)), records)
}
