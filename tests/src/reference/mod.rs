//! The reference solver: brute force that the answers of the solver must equal.
//!
//! *Problem.* A test of the solver needs the right answer from a source that shares no code with it.
//!
//! *Idea.* Plain backtracking over bindings: requirements are bound one after the other in the order
//! of decisions, best candidate first, and the search backtracks when a rule is broken. The first
//! resolution that it finds is therefore the best one. It is written from the rules of resolution
//! alone, and prefers the obvious to the fast. [`is_valid`] states the rules a second time, on
//! complete solutions; the tests of this module compare the two. The documentation of the crate `pkgres-resolver` lists
//! the rules with their numbers.
//!
//! *Cost.* Exponential in the number of requirements: universes have at most `2^22` combinations of
//! bindings. Dropping hopeless candidates first (`problem.rs`) makes most of them take milliseconds.

mod answer;
mod candidates;
mod classes;
mod exchange;
mod exists;
mod preference;
mod problem;
pub mod repairs;
mod rules;
mod tiers;
mod valid;
mod walk;

#[cfg(test)]
mod tests;

pub use answer::Answer;
pub use exchange::better_exchange;
pub use exists::exists;
pub use rules::{Rule, Rules};
pub use tiers::{SplitOrder, search, search_splitting, search_where};
pub use valid::{Class, Classes, is_valid};
