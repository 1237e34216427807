//! A signal to end work on other threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use rustix::process::Signal;

/// Tells work that runs elsewhere to end. Clones share their state.
#[derive(Debug, Clone, Default)]
pub struct Cancellation(Arc<AtomicU8>);

const INTERRUPTED: u8 = 1;
const KILLED: u8 = 2;

impl Cancellation {
    /// Asks commands to end, as Ctrl-C does, and lets nothing new start.
    pub fn interrupt(&self) {
        self.0.fetch_max(INTERRUPTED, Ordering::Relaxed);
    }

    /// Kills commands, and lets nothing new start.
    pub fn kill(&self) {
        self.0.fetch_max(KILLED, Ordering::Relaxed);
    }

    /// Whether nothing new may start.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }

    pub(super) fn signal(&self) -> Option<Signal> {
        match self.0.load(Ordering::Relaxed) {
            0 => None,
            INTERRUPTED => Some(Signal::INT),
            _ => Some(Signal::KILL),
        }
    }
}
