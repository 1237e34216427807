//! How fast pkgres is, next to others, on the same universes in the same run.
//!
//! [`universe`] says what is solved, [`generated`] and [`files`] make universes; [`engine`] and
//! [`peer`] solve them, [`measure`] takes the time and [`table`] shows it.

pub mod engine;
pub mod files;
pub mod generated;
pub mod measure;
pub mod peer;
pub mod table;
pub mod universe;
