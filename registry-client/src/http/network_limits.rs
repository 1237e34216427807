//! Limits of what a registry may cost a reading: time, packages and bytes.
//!
//! A registry that is broken or hostile can send a byte every few seconds, an answer without an end, or packages that
//! each require a new one. Every single answer is bounded by its request; these limits bound the rest.
//!
//! The rate is measured over a window while an answer is waited for. A program that was stopped for a while finds too
//! few bytes in its window although the registry sent all of them. Therefore a second, short window decides.

use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::{Instant, timeout, timeout_at};

use super::error::{AttemptError, ErrorKind, ExceededLimit};

/// The window that decides after one with too few bytes.
const SECOND_WINDOW: Duration = Duration::from_secs(1);

/// Limits of what a registry may cost a reading. Start from [`default`](Self::default) and change fields. The largest
/// value of a type means no limit. (In the settings of the command line, 0 means that.)
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct NetworkLimits {
    /// The longest time for an answer: from the request to the last byte, with redirects and retries; ten minutes by
    /// default.
    pub answer: Duration,
    /// The slowest rate of an answer, in bytes per second; 0 for any; 1,000 by default.
    pub rate: u64,
    /// The time over which the rate is measured, and in which an answer has to begin unless the rate is 0; 30 seconds
    /// by default.
    pub window: Duration,
    /// The number of packages that are looked up in a reading of the registry: 50,000 by default. 0 allows none.
    pub packages: usize,
    /// The number of bytes that the registry sends in a reading: 4 GiB by default. 0 allows none.
    pub bytes: u64,
}

impl Default for NetworkLimits {
    fn default() -> Self {
        Self {
            answer: Duration::from_mins(10),
            rate: 1000,
            window: Duration::from_secs(30),
            packages: 50_000,
            bytes: 4 << 30,
        }
    }
}

impl NetworkLimits {
    /// The error of a registry that has more packages than a reading may look up.
    pub(super) fn too_many_packages(&self) -> AttemptError {
        let reason = format!("the run needs more than {} packages from it", self.packages);
        exceeded(ExceededLimit::Packages, reason)
    }
}

/// The limits of a registry, and what a reading used of them.
pub(super) struct Usage {
    limits: NetworkLimits,
    bytes: AtomicU64,
}

impl Usage {
    pub(super) fn new(limits: NetworkLimits) -> Self {
        Self {
            limits,
            bytes: AtomicU64::new(0),
        }
    }

    /// Waits for an answer with all of its attempts.
    pub(super) async fn answer<T>(
        &self,
        attempts: impl Future<Output = Result<T, AttemptError>>,
    ) -> Result<T, AttemptError> {
        match timeout(self.limits.answer, attempts).await {
            Ok(outcome) => outcome,
            Err(_) => Err(exceeded(
                ExceededLimit::Answer,
                format!("no whole answer within {}", seconds(self.limits.answer)),
            )),
        }
    }

    /// Waits for the head of an answer to a request whose body has a length. The rate holds for that body, too.
    pub(super) async fn head<T>(
        &self,
        length: usize,
        head: impl Future<Output = T>,
    ) -> Result<T, AttemptError> {
        let NetworkLimits { rate, window, .. } = self.limits;
        if rate == 0 {
            return Ok(head.await);
        }
        let sending = Duration::from_secs(length as u64 / rate);
        let longest = window.saturating_add(sending);
        timeout(longest, head).await.map_err(|_| {
            let reason = format!("the answer did not begin within {}", seconds(longest));
            exceeded(ExceededLimit::Begin, reason)
        })
    }

    /// A meter for the body of an answer.
    pub(super) fn meter(&self) -> Meter<'_> {
        Meter {
            usage: self,
            window: self.limits.window,
            end: Instant::now().checked_add(self.limits.window),
            bytes: 0,
        }
    }
}

/// Measures the body of an answer while it arrives.
pub(super) struct Meter<'usage> {
    usage: &'usage Usage,
    /// The length of the current window, and its end, unless it has none.
    window: Duration,
    end: Option<Instant>,
    /// The bytes that arrived in the window.
    bytes: u64,
}

impl Meter<'_> {
    /// Waits for the next piece.
    pub(super) async fn wait<T>(
        &mut self,
        piece: impl Future<Output = T>,
    ) -> Result<T, AttemptError> {
        let mut piece = std::pin::pin!(piece);
        loop {
            let (Some(end), 1..) = (self.end, self.usage.limits.rate) else {
                return Ok(piece.await);
            };
            match timeout_at(end, piece.as_mut()).await {
                Ok(piece) => return Ok(piece),
                Err(_) => self.close_window()?,
            }
        }
    }

    /// Counts the bytes of a piece.
    pub(super) fn count(&mut self, bytes: usize) -> Result<(), AttemptError> {
        let bytes = bytes as u64;
        self.bytes += bytes;
        let limit = self.usage.limits.bytes;
        let before = self.usage.bytes.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) > limit {
            let reason = format!("it sent more than {limit} bytes in this run");
            return Err(exceeded(ExceededLimit::Bytes, reason));
        }
        match self.end {
            Some(end) if Instant::now() >= end => self.close_window(),
            _ => Ok(()),
        }
    }

    /// Begins the next window, unless this one and the one before it were too slow.
    fn close_window(&mut self) -> Result<(), AttemptError> {
        let NetworkLimits { rate, window, .. } = self.usage.limits;
        let second = SECOND_WINDOW.min(window);
        let is_slow = u128::from(self.bytes) * 1_000 < u128::from(rate) * self.window.as_millis();
        let next = match (is_slow, self.window == second) {
            (false, _) => window,
            (true, false) => second,
            (true, true) => {
                let reason = format!("the answer is slower than {rate} bytes per second");
                return Err(exceeded(ExceededLimit::Rate, reason));
            }
        };
        self.window = next;
        self.end = Instant::now().checked_add(next);
        self.bytes = 0;
        Ok(())
    }
}

fn exceeded(limit: ExceededLimit, reason: String) -> AttemptError {
    AttemptError::new(ErrorKind::Limit(limit), reason)
}

fn seconds(duration: Duration) -> String {
    format!("{} s", duration.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use tokio::time::sleep;

    use super::*;

    /// Reads pieces of some bytes, each after some milliseconds; returns how many arrived, and the error.
    async fn read(
        limits: NetworkLimits,
        pieces: impl IntoIterator<Item = (u64, usize)>,
    ) -> (usize, Option<ExceededLimit>) {
        let usage = Usage::new(limits);
        let mut meter = usage.meter();
        let mut arrived = 0;
        for (milliseconds, bytes) in pieces {
            let piece = sleep(Duration::from_millis(milliseconds));
            let outcome = meter.wait(piece).await.and_then(|()| meter.count(bytes));
            match outcome {
                Ok(()) => arrived += 1,
                Err(error) => match error.kind {
                    ErrorKind::Limit(limit) => return (arrived, Some(limit)),
                    other => panic!("{other:?}"),
                },
            }
        }
        (arrived, None)
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_drips_ends_after_the_windows() {
        let begin = Instant::now();
        let drip = std::iter::repeat((5_000, 1));
        let (arrived, limit) = read(NetworkLimits::default(), drip).await;
        assert_eq!((arrived, limit), (6, Some(ExceededLimit::Rate)));
        assert_eq!(begin.elapsed(), Duration::from_secs(31));
        // Nothing at all is as slow.
        let begin = Instant::now();
        let (arrived, limit) = read(NetworkLimits::default(), [(1_000_000, 1)]).await;
        assert_eq!((arrived, limit), (0, Some(ExceededLimit::Rate)));
        assert_eq!(begin.elapsed(), Duration::from_secs(31));
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_is_fast_enough_may_pause() {
        // 1,000 bytes per second on average over 30 s, though 29 s pass without any.
        let slow = (0..100).map(|at| {
            if at % 2 == 0 {
                (29_000, 1)
            } else {
                (500, 30_000)
            }
        });
        assert_eq!(read(NetworkLimits::default(), slow).await, (100, None));
        let even = std::iter::repeat_n((10, 10), 20_000);
        assert_eq!(read(NetworkLimits::default(), even).await, (20_000, None));
        let slower = std::iter::repeat_n((11, 10), 20_000);
        let (_, limit) = read(NetworkLimits::default(), slower).await;
        assert_eq!(limit, Some(ExceededLimit::Rate));
        let any = NetworkLimits {
            rate: 0,
            ..NetworkLimits::default()
        };
        assert_eq!(read(any, [(10_000_000, 1); 3]).await, (3, None));
    }

    /// The registry sent everything while the program was stopped: the next window is fast.
    #[tokio::test(start_paused = true)]
    async fn a_program_that_was_stopped_does_not_blame_the_registry() {
        let pieces = [(0, 100), (3_600_000, 0)];
        let usage = Usage::new(NetworkLimits::default());
        let mut meter = usage.meter();
        for (milliseconds, bytes) in pieces {
            meter
                .wait(std::future::ready(()))
                .await
                .expect("it is there");
            tokio::time::advance(Duration::from_millis(milliseconds)).await;
            meter.count(bytes).expect("one window is not enough");
        }
        for _ in 0..10 {
            meter
                .wait(std::future::ready(()))
                .await
                .expect("it is there");
            meter.count(10_000).expect("it is fast");
            tokio::time::advance(Duration::from_millis(400)).await;
        }
        assert_eq!(meter.window, NetworkLimits::default().window);
    }

    #[tokio::test(start_paused = true)]
    async fn the_bytes_of_all_answers_count() {
        let limits = NetworkLimits {
            bytes: 1_000,
            ..NetworkLimits::default()
        };
        let usage = Usage::new(limits);
        usage.meter().count(600).expect("it is below");
        usage.meter().count(400).expect("it is the limit");
        let error = usage.meter().count(1).expect_err("it is above");
        assert_eq!(error.kind, ErrorKind::Limit(ExceededLimit::Bytes));
        assert!(error.reason.contains("1000 bytes"), "{}", error.reason);
        assert!(!error.is_transient);
    }

    #[tokio::test(start_paused = true)]
    async fn heads_and_whole_answers_have_deadlines() {
        let usage = Usage::new(NetworkLimits::default());
        let begin = Instant::now();
        let never = std::future::pending::<()>;
        let error = usage.head(0, never()).await.expect_err("it never comes");
        assert_eq!(error.kind, ErrorKind::Limit(ExceededLimit::Begin));
        assert_eq!(begin.elapsed(), Duration::from_secs(30));
        // A large body takes its time.
        let begin = Instant::now();
        let error = usage
            .head(60_000, never())
            .await
            .expect_err("it never comes");
        assert!(error.reason.contains("90 s"), "{}", error.reason);
        assert_eq!(begin.elapsed(), Duration::from_secs(90));
        let begin = Instant::now();
        let never = std::future::pending::<Result<(), AttemptError>>();
        let error = usage.answer(never).await.expect_err("it never ends");
        assert_eq!(error.kind, ErrorKind::Limit(ExceededLimit::Answer));
        assert!(error.reason.contains("600 s"), "{}", error.reason);
        assert_eq!(begin.elapsed(), Duration::from_mins(10));
    }
}
