//! What the solver is tested against.
//!
//! [`reference`](mod@reference) finds resolutions by brute force, written from the rules alone and
//! sharing nothing with the solver. [`universe`] makes small random universes on which the rules
//! bite, [`tally`] measures that they do, [`seeds`] goes through many of them, and [`examples`] are universes
//! with known answers.
//! [`models`] puts object models on top of them. [`solver`] puts the same universes to the solver; [`shared`] finds data that lie beside the
//! project. For the registry there are [`archives`] to publish and [`services`] to keep them in;
//! [`repository`] is git, and [`skip`] says where something of all this is missing.
//!
//! Nothing but tests depends on this crate. The tests themselves are in its folder `tests`, those
//! of the binary in `cli` beside it.

pub mod archives;
pub mod build;
pub mod examples;
pub mod models;
pub mod random;
pub mod reference;
pub mod repository;
pub mod seeds;
pub mod services;
pub mod shared;
pub mod skip;
pub mod solver;
pub mod tally;
pub mod universe;
