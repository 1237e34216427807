//! Options of registries on the network.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use crate::protocol::PublicKey;

use super::activity::NetworkActivity;
use super::credential_sources::CredentialSources;
use super::network_limits::NetworkLimits;

/// Options of a registry on the network. Start from [`new`](Self::new) and change fields.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HttpOptions {
    /// The time of the [reading](super::HttpRegistry): the signed state of a registry must not have expired at it.
    pub now: jiff::Timestamp,
    /// The folder of the cache. Without it only the trusted state is kept.
    pub cache_folder: Option<PathBuf>,
    /// The folder of the trusted states of registries. It is not a cache: without it, a registry that goes back
    /// in time is not noticed.
    pub state_folder: Option<PathBuf>,
    /// Whether to answer from the cache only. A missing document is then an error.
    pub offline: bool,
    /// How to run the program without [`offline`](Self::offline): the end of a hint that begins with "run".
    pub online_run: String,
    /// How the program gets a cache: the hint of an [`offline`](Self::offline) run without one.
    pub cache_hint: String,
    /// The sources of credentials.
    pub credentials: CredentialSources,
    /// Certificates of authorities to trust in addition to the system, as PEM.
    pub authorities: Vec<Vec<u8>>,
    /// Whether `http://` is allowed for machines other than this one.
    pub allow_plain_http: bool,
    /// Whether to use the proxies of the system: those in the variables `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and
    /// `NO_PROXY`, which are read only then. They are never used for this machine. Off by default.
    pub system_proxy: bool,
    /// The key that has to sign the state of the registry. Without it, the first key seen is trusted.
    pub key: Option<PublicKey>,
    /// The limits on what the registry may cost a [reading](super::HttpRegistry).
    pub limits: NetworkLimits,
    /// The policy for retries.
    pub retry: RetryPolicy,
    /// The counter of requests without a response, for a program that shows them.
    pub activity: NetworkActivity,
    /// The number of requests at once: 16 by default.
    pub concurrency: usize,
    /// The number of threads that read answers, or the lines of an index file: one by default.
    pub threads: NonZeroUsize,
}

/// The policy for retries: their number and delays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RetryPolicy {
    /// The number of attempts, the first one included: 4 by default.
    pub attempts: usize,
    /// The delay before the second attempt: 200 ms by default. It doubles from there, with jitter.
    pub first_delay: Duration,
    /// The longest delay: 30 s by default. If the registry requires more, the request fails.
    pub longest_delay: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            attempts: 4,
            first_delay: Duration::from_millis(200),
            longest_delay: Duration::from_secs(30),
        }
    }
}

impl HttpOptions {
    /// Options without folders and credentials, with one thread and up to 16 requests at once.
    pub fn new(now: jiff::Timestamp) -> Self {
        Self {
            now,
            cache_folder: None,
            state_folder: None,
            offline: false,
            online_run: "without `--offline`".to_owned(),
            cache_hint: "name a folder for the cache".to_owned(),
            credentials: CredentialSources::default(),
            authorities: Vec::new(),
            allow_plain_http: false,
            system_proxy: false,
            key: None,
            limits: NetworkLimits::default(),
            retry: RetryPolicy::default(),
            activity: NetworkActivity::default(),
            concurrency: 16,
            threads: NonZeroUsize::MIN,
        }
    }
}
