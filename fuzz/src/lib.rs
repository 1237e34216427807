//! Hostile input: fuzz targets for the parsers of untrusted input, and how work grows with input.
//!
//! A [`Target`] is a function from bytes to nothing. It reads the bytes with one parser, and asserts what must
//! hold for every input: what is written after reading reads as the same value, two readers of one format
//! agree, and printed text cannot act on a terminal. [`TARGETS`] lists them.
//!
//! The same targets run in two ways:
//!
//! - `cargo test -p pkgres-fuzzing` runs each on its seeds and on [mutations](mutation) of them, the same ones
//!   in each run. `EXECUTIONS=1000000` makes the runs longer.
//! - libFuzzer runs one, guided by coverage. `CONTRIBUTING.md` has the commands.
//!
//! [`hostile_universes`] are for the solver, which no bytes reach directly: `tests/solver.rs` runs them.
//!
//! Seeds are the files in `fixtures` and texts beside the targets. Only tests depend on this crate.

mod certificates;
mod collections;
mod engine;
mod galaxy;
pub mod hostile_universes;
mod model_checks;
pub mod mutation;
mod node_sets;
mod packages;
mod projects;
pub mod property;
mod registries;
mod seeds;
mod server;
mod settings;
mod target;
mod values;

pub use target::Target;

/// All fuzz targets.
pub const TARGETS: &[&[Target]] = &[
    values::TARGETS,
    packages::TARGETS,
    projects::TARGETS,
    model_checks::TARGETS,
    registries::TARGETS,
    node_sets::TARGETS,
    collections::TARGETS,
    galaxy::TARGETS,
    settings::TARGETS,
    server::TARGETS,
    certificates::TARGETS,
    engine::TARGETS,
];

/// All fuzz targets, in the order of [`TARGETS`].
pub fn all() -> impl Iterator<Item = &'static Target> {
    TARGETS.iter().copied().flatten()
}

/// Returns the fuzz target of a name.
pub fn target(name: &str) -> Option<&'static Target> {
    all().find(|target| target.name == name)
}
