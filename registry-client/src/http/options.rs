//! How registries on the network are asked.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use crate::protocol::PublicKey;

use super::credentials::CredentialSources;

/// How a registry on the network is asked.
#[derive(Debug, Clone)]
pub struct HttpOptions {
    /// The time, against which the state of a registry expires.
    pub now: jiff::Timestamp,
    /// The folder of the cache; without it nothing is kept but what was seen of the state.
    pub cache_folder: Option<PathBuf>,
    /// The folder where it is kept what was seen of the state of registries. It is not a cache:
    /// without it nobody notices that a registry goes back in time.
    pub state_folder: Option<PathBuf>,
    /// Nothing is asked; what is in the cache has to do.
    pub offline: bool,
    /// Where credentials come from.
    pub credentials: CredentialSources,
    /// Certificates of authorities that are believed besides those of the system, as PEM.
    pub authorities: Vec<Vec<u8>>,
    /// Whether `http://` will do for other machines than this one.
    pub allow_plain_http: bool,
    /// Whether the proxies that the system names are used. They are not for this machine.
    pub system_proxy: bool,
    /// The key that has to sign the state of the registry. Without it the first one is believed.
    pub key: Option<PublicKey>,
    /// How often and how fast something is tried again.
    pub retry: RetryPolicy,
    /// How many requests are under way at once.
    pub concurrency: usize,
    /// How many threads read what is answered, or the lines of an index file.
    pub threads: NonZeroUsize,
}

/// How often and how fast something is tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// How often something is tried, the first time included.
    pub tries: usize,
    /// How long to wait before the second try; it doubles from there, with some chance in it.
    pub first_delay: Duration,
    /// The longest time to wait, also if the registry asks for it. If it asks for more, that is an
    /// error.
    pub longest_delay: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            tries: 4,
            first_delay: Duration::from_millis(200),
            longest_delay: Duration::from_secs(30),
        }
    }
}

impl HttpOptions {
    /// Nothing is kept, and nothing is known of who asks.
    pub fn new(now: jiff::Timestamp) -> Self {
        Self {
            now,
            cache_folder: None,
            state_folder: None,
            offline: false,
            credentials: CredentialSources::default(),
            authorities: Vec::new(),
            allow_plain_http: false,
            system_proxy: false,
            key: None,
            retry: RetryPolicy::default(),
            concurrency: 16,
            threads: NonZeroUsize::MIN,
        }
    }
}
