//! How fast pkgres is, next to others, on the same universes in the same run.
//!
//! [`universe`] says what is solved, [`generated`] and [`files`] make universes; [`engine`] and
//! [`peer`] solve them, [`measure`] takes the time and [`table`] shows it. Whole runs of the binary
//! are measured by [`process`], on an [`index`] among others.
//!
//! The programs are `solve.rs` and `process.rs`; see there for how to run them. Nothing depends on
//! this crate, and it is not built unless it is asked for.

pub mod engine;
pub mod files;
pub mod generated;
pub mod index;
pub mod measure;
pub mod peer;
pub mod process;
pub mod table;
pub mod universe;
