//! Resolutions by brute force: what the solver's answers must equal.
//!
//! Written from the rules of the design alone. Everything here prefers being obviously right to
//! being fast: the search decides one thing after the other, best candidate first, and goes back
//! when a rule is broken, so that the first resolution it meets is the best one.

mod answer;
mod candidates;
mod classes;
mod exchange;
mod exists;
mod preference;
mod problem;
mod rules;
mod tiers;
mod valid;
mod walk;

#[cfg(test)]
mod tests;

pub use answer::{Answer, Solution};
pub use exchange::better_exchange;
pub use exists::exists;
pub use rules::{Rule, Rules};
pub use tiers::{SplitOrder, search, search_splitting, search_where};
pub use valid::{Class, Classes, Release, is_valid};
