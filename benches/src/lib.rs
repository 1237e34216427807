//! How fast pkgres is, next to others, on the same universes in the same run.
//!
//! [`universe`] says what is solved; [`generated`], [`files`], [`puzzles`] and [`ladders`] make
//! universes, [`cases`] lists those that solvers are compared on. [`engine`] and [`peers`] solve
//! them, [`check`] looks at the answers, [`measure`] takes the time and [`memory`] the bytes;
//! [`compare`] does all of that for a case, and shows it; [`growth`] does so for cases that differ in size, and
//! [`explained`] for explanations.
//! Whole runs of the binary are measured by [`process`], on an [`index`] among others and next to
//! others by [`whole`], and shown by [`table`]; [`server`] starts a registry, and [`reading`] measures one.
//!
//! The programs are `solve.rs`, `explain.rs`, `certify.rs`, `process.rs`, `registry.rs`, `collections.rs`,
//! `node_sets.rs` and `checks.rs`; see there for how to run them. Nothing depends on this crate, and it is not built
//! unless it is asked for.

pub mod cases;
pub mod check;
pub mod compare;
pub mod engine;
pub mod explained;
pub mod files;
pub mod generated;
pub mod growth;
pub mod index;
mod inherited;
pub mod ladders;
pub mod locked;
pub mod measure;
pub mod memory;
pub mod peers;
pub mod process;
pub mod puzzles;
mod random;
pub mod reading;
pub mod server;
pub mod table;
pub mod universe;
pub mod whole;
