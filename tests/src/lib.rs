//! Helpers for tests: a reference solver, random universes and object models, and services.
//!
//! - [`reference`](mod@reference) finds resolutions by brute force. It is written from the rules alone
//!   and shares no code with the solver.
//! - [`universe`] describes small universes, and `generate` makes random ones. [`tally`] measures how
//!   often each rule decides their answers, and [`seeds`] runs a test for many seeds; its page lists
//!   the variables for long runs. [`examples`] are universes with known answers, and [`models`] are
//!   object models. [`solution`] has the type of answers and locks.
//! - [`drive`] runs the solver without registries, and [`solver`] translates between the types of
//!   the solver and the reference.
//! - [`archives`] and [`collections`] are packages to publish, and [`services`] are databases and buckets for a registry.
//! - [`debian`] has systems that tests change.
//! - [`ssh`] has a machine that is reached by ssh: this one.
//! - [`described`] compares responses of a server with its description of itself.
//! - [`answers`] compares JSON documents of commands with their schemas, and [`hints`] tries the commands that hints name.
//! - [`small_disk`] has file systems that are full or read-only, and [`lifeline`] notices when processes have ended.
//! - [`ansible`] has the corpus of Ansible collections, and [`opcua`] that of OPC UA models.
//! - [`shared`] finds test data outside of the repository, [`repository`] runs git, and [`skip`]
//!   reports tests that cannot run here.
//!
//! Only tests depend on this crate. The tests of the solver are in its folder `tests`; those of the
//! binary are in `cli` and `serve` beside it.

pub mod ansible;
pub mod answers;
pub mod archives;
pub mod build;
pub mod collections;
pub mod debian;
pub mod described;
pub mod drive;
pub mod examples;
mod generate;
pub mod hints;
pub mod lifeline;
pub mod models;
pub mod opcua;
pub mod random;
pub mod reference;
pub mod repository;
pub mod seeds;
pub mod services;
pub mod shared;
pub mod skip;
pub mod small_disk;
pub mod solution;
pub mod solver;
pub mod ssh;
pub mod tally;
pub mod universe;
pub mod writers;
