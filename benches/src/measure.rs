//! Time that a thread spent computing, which other work on the machine disturbs less than the time
//! that passed.

use std::cell::Cell;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// How many questions a [`Deadline`] answers for one look at the clock, which is not cheap.
const QUESTIONS: u32 = 64;

/// The computing time of this thread.
pub fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(
        u64::try_from(time.tv_sec).expect("time goes forward"),
        u32::try_from(time.tv_nsec).expect("fewer nanoseconds than a second has"),
    )
}

/// When this thread has computed enough.
#[derive(Debug)]
pub struct Deadline {
    until: Duration,
    questions: Cell<u32>,
}

impl Deadline {
    /// This much computing time from now.
    pub fn after(limit: Duration) -> Self {
        Self {
            until: thread_time().saturating_add(limit),
            questions: Cell::new(0),
        }
    }

    /// Whether the time is over; it takes some questions to notice.
    pub fn is_over(&self) -> bool {
        self.questions.set(self.questions.get().wrapping_add(1));
        self.questions.get().is_multiple_of(QUESTIONS) && thread_time() > self.until
    }
}

/// The middle one of some times, of which there is at least one.
pub fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// The number in a variable of the environment; another one if it is not set or no number.
pub fn number(variable: &str, otherwise: usize) -> usize {
    let value = std::env::var(variable).ok();
    value
        .and_then(|value| value.parse().ok())
        .unwrap_or(otherwise)
}
