//! Answers: the result of a search.

use std::fmt;

use crate::solution::Solution;

/// The result of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The best resolution.
    Solved(Solution),
    /// There is no resolution at all.
    NoSolution,
}

impl Answer {
    /// The resolution, if there is one.
    pub fn solution(&self) -> Option<&Solution> {
        match self {
            Self::Solved(solution) => Some(solution),
            Self::NoSolution => None,
        }
    }

    /// Whether there is a resolution with several releases of a package.
    pub fn is_side_by_side(&self) -> bool {
        self.solution()
            .is_some_and(|solution| !solution.side_by_side.is_empty())
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Solved(solution) => solution.fmt(formatter),
            Self::NoSolution => writeln!(formatter, "no solution"),
        }
    }
}
