//! Universes with known answers, each for one idea. Whatever finds resolutions must find these.

mod candidates;
mod classes;
mod locks;
mod packages;
mod splits;

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
pub fn examples() -> Vec<Example> {
    [
        packages::examples(),
        classes::examples(),
        splits::examples(),
        candidates::examples(),
        locks::examples(),
    ]
    .concat()
}
