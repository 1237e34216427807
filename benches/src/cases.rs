//! The universes that solvers are compared on.

use crate::generated::Shape;
use crate::universe::Universe;
use crate::{files, ladders, puzzles};

/// The difficulty of a case, if it has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// No conflict: the newest versions fit.
    NoConflict,
    /// Random registries, each release in turn required by the root.
    Random,
    /// Many backjumps, or no resolution.
    Conflicts,
}

impl Kind {
    /// All kinds, in the order of the summary.
    pub const ALL: [Self; 3] = [Self::NoConflict, Self::Random, Self::Conflicts];

    /// Its name in the summary.
    pub fn name(self) -> &'static str {
        match self {
            Self::NoConflict => "no conflict",
            Self::Random => "random registries",
            Self::Conflicts => "conflicts or no answer",
        }
    }
}

/// A universe that can be made.
pub struct Case {
    /// Its name in the table.
    pub name: String,
    /// Its difficulty.
    pub kind: Kind,
    make: Box<dyn Fn() -> Option<Universe>>,
}

impl Case {
    fn new(
        kind: Kind,
        name: impl Into<String>,
        make: impl Fn() -> Option<Universe> + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            kind,
            make: Box::new(make),
        }
    }

    /// The universe, unless it comes from a file that is not there.
    pub fn universe(&self) -> Option<Universe> {
        (self.make)()
    }
}

/// All cases; those that are generated at random depend on a seed.
pub fn all(seed: u64) -> Vec<Case> {
    let mut cases = Vec::new();
    for name in ["large_case", "large_case_1", "large_case_2"] {
        let make = move || files::random_registry(name);
        cases.push(Case::new(Kind::Random, name, make));
    }
    let small = Shape::without_conflicts(1_000, 20);
    let middle = Shape::without_conflicts(10_000, 20);
    let large = Shape::without_conflicts(100_000, 10);
    // A tenth of the large one, to see how time grows.
    let tenth = Shape::without_conflicts(10_000, 10);
    let shapes = [
        small,
        middle,
        tenth,
        large,
        small.with_conflicts(300, 1000),
        small.with_conflicts(300, 1000).unsolvable(),
        Shape::without_conflicts(2_000, 20).with_conflicts(300, 1000),
        middle.with_conflicts(10, 20),
        middle.with_conflicts(20, 100),
        middle.with_conflicts(20, 100).unsolvable(),
        tenth.with_conflicts(20, 50),
        large.with_conflicts(20, 50),
        small.with_classes(30),
        small.with_classes(30).unsolvable(),
        middle.with_classes(30),
    ];
    for shape in shapes {
        let has_conflicts = shape.excluding > 0 || shape.dropping > 0 || shape.unsolvable;
        let kind = if has_conflicts {
            Kind::Conflicts
        } else {
            Kind::NoConflict
        };
        let make = move || Some(shape.universe(seed));
        cases.push(Case::new(kind, shape.name(), make));
    }
    let constructed = puzzles::sudokus().chain([
        puzzles::pigeonhole(7, 6),
        puzzles::pigeonhole(8, 7),
        ladders::diamonds(30, 20),
        ladders::diamonds(100, 40),
        ladders::singletons(100, 500),
        ladders::disjoint(300, 200),
    ]);
    for universe in constructed {
        let name = universe.name.clone();
        let make = move || Some(universe.clone());
        cases.push(Case::new(Kind::Conflicts, name, make));
    }
    cases
}

/// Cases with roots that have no answer.
pub fn without_answers(seed: u64) -> Vec<Case> {
    let mut cases = all(seed);
    cases.retain(|case| {
        let name = &case.name;
        case.kind == Kind::Random || name.ends_with("unsat") || name.starts_with("pigeon")
    });
    let wrong = puzzles::wrong_sudoku();
    cases.push(Case::new(Kind::Conflicts, wrong.name.clone(), move || {
        Some(wrong.clone())
    }));
    cases
}
