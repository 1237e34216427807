//! Solvers that are compared, each behind the trait [`Peer`].
//!
//! [`pubgrub_u32`], [`pubgrub_semver`] and [`astral`] use crates of one interface, so that
//! `provider` writes them; [`resolvo`] runs in this process as well. [`libsolv`] and [`varisat`]
//! run in a [`child`] process: one is written in C, the other cannot be broken off.

pub mod astral;
pub mod child;
pub mod libsolv;
mod provider;
pub mod pubgrub_semver;
pub mod pubgrub_u32;
pub mod resolvo;
pub mod varisat;

use std::fmt;
use std::time::Duration;

use crate::check::Answer;
use crate::measure::thread_time;

/// The time was used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeout;

impl fmt::Display for Timeout {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the time was used up")
    }
}

impl std::error::Error for Timeout {}

/// Bytes that were allocated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Memory {
    /// The data of a universe that is kept between solves.
    pub index: usize,
    /// The most that solving a root took on top of it.
    pub peak: usize,
}

/// A solver with a universe made ready for it.
pub trait Peer {
    /// Solves a root within some computing time; says whether there is an answer.
    fn solve(&mut self, root: usize, limit: Duration) -> Result<bool, Timeout>;

    /// The answer that was found last.
    fn take_answer(&mut self) -> Answer;

    /// The time spent solving. Only differences count.
    fn time(&self) -> Duration {
        thread_time()
    }

    /// The allocations so far, if this process does not see them.
    fn memory(&self) -> Option<Memory> {
        None
    }
}
