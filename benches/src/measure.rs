//! Time that a thread spent computing, which other work on the machine disturbs less than the time
//! that passed.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// How many runs a median is taken of at least, unless they take too long.
const RUNS: usize = 5;

/// The computing time of this thread.
pub fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(
        u64::try_from(time.tv_sec).expect("time goes forward"),
        u32::try_from(time.tv_nsec).expect("fewer nanoseconds than a second has"),
    )
}

/// Runs something several times, for about `enough` altogether, and says what came out and the
/// median of the computing times.
pub fn median<T>(enough: Duration, mut run: impl FnMut() -> T) -> (T, Duration) {
    let begin = thread_time();
    let mut times = Vec::new();
    loop {
        let start = thread_time();
        let result = run();
        let end = thread_time();
        times.push(end.saturating_sub(start));
        let spent = end.saturating_sub(begin);
        if spent > enough * 4 || (times.len() >= RUNS && spent > enough) {
            times.sort_unstable();
            return (result, times[times.len() / 2]);
        }
    }
}
