//! A signal to end work on other threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use rustix::process::Signal;

/// Tells work that runs elsewhere to end. Clones share their state.
#[derive(Debug, Clone, Default)]
pub struct Cancellation {
    state: Arc<AtomicU8>,
    deadline: Option<Instant>,
}

const INTERRUPTED: u8 = 1;
const KILLED: u8 = 2;

/// How long commands that are asked to end because time is up may take, until they are killed.
pub(crate) const GRACE: Duration = Duration::from_secs(10);

impl Cancellation {
    /// The same cancellation for work that must also end at a time: its commands are asked to end then, and killed ten
    /// seconds later.
    #[must_use]
    pub fn with_deadline(&self, deadline: Option<Instant>) -> Self {
        Self {
            state: Arc::clone(&self.state),
            deadline,
        }
    }

    /// Asks commands to end, as Ctrl-C does, and lets nothing new start.
    pub fn interrupt(&self) {
        self.state.fetch_max(INTERRUPTED, Ordering::Relaxed);
    }

    /// Kills commands, and lets nothing new start.
    pub fn kill(&self) {
        self.state.fetch_max(KILLED, Ordering::Relaxed);
    }

    /// Whether nothing new may start.
    pub fn is_cancelled(&self) -> bool {
        self.state() > 0
    }

    /// Whether commands are killed.
    pub(super) fn is_killed(&self) -> bool {
        self.state() >= KILLED
    }

    pub(super) fn signal(&self) -> Option<Signal> {
        match self.state() {
            0 => None,
            INTERRUPTED => Some(Signal::INT),
            _ => Some(Signal::KILL),
        }
    }

    fn state(&self) -> u8 {
        let of_deadline = self.deadline.map_or(0, |deadline| {
            let now = Instant::now();
            if now >= deadline + GRACE {
                KILLED
            } else if now >= deadline {
                INTERRUPTED
            } else {
                0
            }
        });
        self.state.load(Ordering::Relaxed).max(of_deadline)
    }
}
