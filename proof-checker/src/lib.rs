//! Checks proofs that a pseudo-Boolean problem has no solution, and solutions of one.
//!
//! # Problem
//!
//! A solver that says "there is no solution" can be wrong. Its proof can be checked by a program that is much
//! simpler than the solver, and that shares no code with it.
//!
//! # Idea
//!
//! The problem is a file in the OPB format: linear inequalities over variables that are 0 or 1. The proof derives further
//! inequalities from them, in a part of the format of `VeriPB` 3, until one is a contradiction:
//!
//! - `rup C : ids;` adds `C` if its negation and the inequalities with these ids lead to a contradiction by unit
//!   propagation (reverse unit propagation, Goldberg and Novikov 2003). Without ids, all inequalities are used.
//! - `pol 4 7 +;` adds the sum of two inequalities, in reverse Polish notation (cutting planes, Cook, Coullard and
//!   Turán 1987).
//! - `conclusion UNSAT : 9;` says that the inequality 9 is a contradiction, and `conclusion SAT : x1 ~x2;` that these
//!   values satisfy every inequality of the problem.
//!
//! # Cost
//!
//! Each propagation visits each term of its inequalities a few times at most: an occurrence list for each variable says
//! which sums lose something, and the terms are sorted by coefficient. A proof can still be much shorter than what it
//! costs, as a step names a long inequality in a few bytes. So the terms of all sums of `pol` are limited, and so are
//! the visits of all propagations: [`check`] rejects a proof that takes more.

#![doc = include_str!("../README.md")]

mod constraint;
mod database;
mod parse;
mod replay;

pub use constraint::{Constraint, Literal};
pub use database::Database;
pub use parse::leaves_out;
pub use replay::{Conclusion, Verified, check};

/// Why a proof is rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}, {place} {number}: {message}")]
pub struct CheckError {
    /// Which text is wrong: "problem" or "proof".
    pub file: &'static str,
    /// What the number counts: lines or steps.
    pub place: &'static str,
    /// The line of the problem, or the step of the proof, from 1.
    pub number: usize,
    /// What is wrong.
    pub message: String,
}
