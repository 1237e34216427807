//! The clock and the random numbers of a registry, which tests can replace.

use std::sync::Arc;

use jiff::Timestamp;
use pkgres_manifest::Hexadecimal;

/// A clock and a source of randomness. Libraries read neither themselves, and tests set both.
#[derive(Clone)]
pub struct Environment {
    now: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    #[allow(clippy::type_complexity, reason = "a name would only hide what it is")]
    random: Arc<dyn Fn(&mut [u8]) + Send + Sync>,
}

impl Environment {
    /// An environment with a clock, and a function that fills bytes with randomness that no attacker can
    /// guess: tokens and the signing key are made of it.
    pub fn new(
        now: impl Fn() -> Timestamp + Send + Sync + 'static,
        random: impl Fn(&mut [u8]) + Send + Sync + 'static,
    ) -> Self {
        Self {
            now: Arc::new(now),
            random: Arc::new(random),
        }
    }

    /// The time, in whole seconds.
    pub(crate) fn now(&self) -> Timestamp {
        // Times are stored and shown as RFC 3339 without a fraction.
        let now = (self.now)();
        Timestamp::from_second(now.as_second()).unwrap_or(now)
    }

    /// Random bytes.
    pub(crate) fn random<const LENGTH: usize>(&self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        (self.random)(&mut bytes);
        bytes
    }

    /// A random UUID (version 4).
    pub(crate) fn uuid(&self) -> String {
        let mut bytes: [u8; 16] = self.random();
        bytes[6] = bytes[6] & 0x0f | 0x40;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        let text = Hexadecimal(&bytes).to_string();
        let parts = [
            &text[..8],
            &text[8..12],
            &text[12..16],
            &text[16..20],
            &text[20..],
        ];
        parts.join("-")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uuids_are_of_version_four() {
        let environment = Environment::new(|| Timestamp::UNIX_EPOCH, |bytes| bytes.fill(0xff));
        assert_eq!(environment.uuid(), "ffffffff-ffff-4fff-bfff-ffffffffffff");
    }
}
