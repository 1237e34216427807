//! Universes with known answers, each for one idea. Whatever finds resolutions must find these.

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
    /// What it shows.
    pub name: &'static str,
    /// The universe.
    pub universe: Universe,
    /// Its answer.
    pub answer: Answer,
}

impl Example {
    /// A universe with a resolution, given as lines `REQUIRER VERSION REQUIRED VERSION`.
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

/// A universe next to one of the examples; which one depends on the seed.
pub fn variation(seed: u64) -> Universe {
    let examples = examples();
    let among = u64::try_from(examples.len()).expect("there are few examples");
    let position = usize::try_from(seed % among).expect("there are few examples");
    examples[position].universe.varied(seed)
}
