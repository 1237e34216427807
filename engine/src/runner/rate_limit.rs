//! A token bucket: limits how often a resource with the parameter `limit` is checked.

use std::time::Duration;

use pkgres_manifest::RateLimit;

/// A bucket of tokens, one of which each event takes.
#[derive(Debug, Clone)]
pub(super) struct Bucket {
    limit: RateLimit,
    tokens: f64,
    filled_at: Duration,
}

impl Bucket {
    /// A full bucket.
    pub(super) fn new(limit: RateLimit, now: Duration) -> Self {
        Self {
            limit,
            tokens: f64::from(limit.burst.max(1)),
            filled_at: now,
        }
    }

    /// Takes a token; returns the time from which it may be used.
    pub(super) fn take(&mut self, now: Duration) -> Duration {
        let passed = now.saturating_sub(self.filled_at).as_secs_f64();
        let full = f64::from(self.limit.burst.max(1));
        self.tokens = (self.tokens + passed * self.limit.per_second).min(full);
        self.filled_at = now;
        if self.tokens >= 1.0 {
            self.tokens -= 1.0;
            return now;
        }
        let missing = 1.0 - self.tokens;
        let pause = Duration::try_from_secs_f64(missing / self.limit.per_second);
        // The token that comes then is taken in advance.
        let pause = pause.unwrap_or(Duration::from_hours(24));
        self.tokens = 0.0;
        self.filled_at = now + pause;
        self.filled_at
    }
}
