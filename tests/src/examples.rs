//! Universes with known answers, written by hand, each for one rule. Every solver must find these
//! answers.

mod candidates;
mod classes;
mod locks;
mod packages;
mod splits;

use std::sync::LazyLock;

use crate::build::solution;
use crate::reference::Answer;
use crate::universe::Universe;

/// A universe with its answer.
#[derive(Debug, Clone)]
pub struct Example {
    /// The rule that it shows.
    pub name: &'static str,
    /// The universe.
    pub universe: Universe,
    /// Its answer.
    pub answer: Answer,
}

impl Example {
    /// A universe with a resolution, written as lines `REQUIRER VERSION REQUIRED VERSION`.
    fn solved(name: &'static str, universe: Universe, bindings: &[&str]) -> Self {
        Self {
            name,
            universe,
            answer: Answer::Solved(solution(bindings)),
        }
    }

    /// A universe without a resolution.
    fn unsolvable(name: &'static str, universe: Universe) -> Self {
        Self {
            name,
            universe,
            answer: Answer::NoSolution,
        }
    }
}

/// All examples.
pub fn examples() -> &'static [Example] {
    static EXAMPLES: LazyLock<Vec<Example>> = LazyLock::new(|| {
        [
            packages::examples(),
            classes::examples(),
            splits::examples(),
            candidates::examples(),
            locks::examples(),
        ]
        .concat()
    });
    &EXAMPLES
}

/// The variation of this seed of one of the examples; the seed selects the example too.
pub fn variation(seed: u64) -> Universe {
    let examples = examples();
    let among = u64::try_from(examples.len()).expect("there are few examples");
    let position = usize::try_from(seed % among).expect("there are few examples");
    examples[position].universe.varied(seed)
}
