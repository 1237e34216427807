//! Requests: sending them, sending them again, and following where they lead.
//!
//! One try is everything from sending to the last byte of the body and the check of it, because
//! each of these can fail for a reason that is gone the next time.

use std::cell::{Cell, OnceCell};
use std::future::Future;

use backon::{ExponentialBuilder, Retryable as _};
use pkgres_manifest::RegistryName;
use reqwest::header;
use reqwest::{Response, StatusCode};
use url::Url;

use crate::registry::RegistryError;

use super::address::{Address, shown};
use super::answer::{Opened, Reader, Reply, each_piece, judge, read_body};
use super::ask::Ask;
use super::clients::Clients;
use super::credential::Credential;
use super::fault::{Failed, Fault, FaultKind, told};
use super::options::HttpOptions;
use super::redirect::followed;

/// How many times a request may be sent elsewhere.
const MAX_REDIRECTS: usize = 3;

/// The header that asks for a microversion.
const API_VERSION: &str = "openstack-api-version";

/// Sends requests to one registry.
pub(super) struct Transport {
    pub(super) name: RegistryName,
    pub(super) address: Address,
    pub(super) options: HttpOptions,
    runtime: OnceCell<tokio::runtime::Runtime>,
    clients: Clients,
    credential: OnceCell<Option<Credential>>,
    requests: Cell<u64>,
}

impl Transport {
    pub(super) fn new(name: RegistryName, address: Address, options: HttpOptions) -> Self {
        Self {
            name,
            address,
            options,
            runtime: OnceCell::new(),
            clients: Clients::default(),
            credential: OnceCell::new(),
            requests: Cell::new(0),
        }
    }

    /// How many requests were sent, redirected and repeated ones included.
    pub(super) fn requests(&self) -> u64 {
        self.requests.get()
    }

    pub(super) fn unreachable(&self, reason: impl Into<String>) -> RegistryError {
        RegistryError::Unreachable {
            registry: self.name.clone(),
            reason: reason.into(),
        }
    }

    /// Waits for something that sends requests.
    pub(super) fn wait<T>(
        &self,
        work: impl Future<Output = Result<T, Failed>>,
    ) -> Result<T, RegistryError> {
        self.prepare()?;
        if self.runtime.get().is_none() {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_io()
                .enable_time()
                .build()
                .map_err(|error| self.unreachable(error.to_string()))?;
            let _ = self.runtime.set(runtime);
        }
        let runtime = self.runtime.get().expect("it was made just now");
        runtime
            .block_on(work)
            .map_err(|failed| failed.to_error(&self.name))
    }

    /// Finds out who asks.
    fn prepare(&self) -> Result<(), RegistryError> {
        if self.credential.get().is_none() {
            let found = self.options.credentials.find(&self.address);
            let found = found.map_err(|error| {
                let error = pkgres_manifest::diagnostic::Diagnostic::error(
                    pkgres_manifest::diagnostic::Code::Denied,
                    error.to_string(),
                );
                RegistryError::from(error)
            })?;
            let _ = self.credential.set(found);
        }
        Ok(())
    }

    /// Sends a request until it works or cannot work. `check` says what the answer is worth; it is
    /// part of the try.
    pub(super) async fn send<T>(
        &self,
        ask: &Ask,
        check: impl Fn(Reply) -> Result<T, Fault>,
    ) -> Result<T, Failed> {
        let attempt = || async {
            let reply = match self.open(ask).await? {
                Opened::Body { response, is_new } => Reply::Found {
                    body: read_body(response, ask.limit).await?,
                    is_new,
                },
                Opened::Unchanged => Reply::Unchanged,
                Opened::Absent => Reply::Absent,
            };
            check(reply)
        };
        self.insist(ask, attempt).await
    }

    /// Likewise for an answer that has to have a body, and is read while it arrives. `begin` is
    /// called for each try.
    pub(super) async fn stream<R: Reader>(
        &self,
        ask: &Ask,
        begin: impl Fn() -> R,
    ) -> Result<R::Output, Failed> {
        let attempt = || async {
            let response = match self.open(ask).await? {
                Opened::Body { response, .. } => response,
                Opened::Unchanged => return Err(Reply::Unchanged.body().expect_err("no body")),
                Opened::Absent => return Err(Reply::Absent.body().expect_err("no body")),
            };
            let mut reader = begin();
            each_piece(response, ask.limit, |piece| reader.take(piece)).await?;
            reader.finish()
        };
        self.insist(ask, attempt).await
    }

    /// Tries until it works or cannot work.
    async fn insist<T, F: Future<Output = Result<T, Fault>>>(
        &self,
        ask: &Ask,
        attempt: impl Fn() -> F,
    ) -> Result<T, Failed> {
        let policy = self.options.retry;
        let tries = Cell::new(0);
        let counted = || {
            tries.set(tries.get() + 1);
            attempt()
        };
        let delays = ExponentialBuilder::default()
            .with_min_delay(policy.first_delay)
            .with_max_delay(policy.longest_delay)
            .with_max_times(policy.tries.saturating_sub(1))
            .with_jitter();
        let outcome = counted
            .retry(delays)
            .sleep(tokio::time::sleep)
            .when(|fault: &Fault| {
                fault.is_transient
                    && fault
                        .retry_after
                        .is_none_or(|asked| asked <= policy.longest_delay)
            })
            .adjust(|fault: &Fault, planned| match fault.retry_after {
                Some(asked) => planned.map(|planned| planned.max(asked)),
                None => planned,
            })
            .await;
        outcome.map_err(|mut fault| {
            if let Some(asked) = fault.retry_after {
                let seconds = asked.as_secs();
                fault.reason = format!("{}; it asks to come back in {seconds} s", fault.reason);
            }
            Failed {
                fault,
                tries: tries.get(),
                request: format!("{} {}", ask.method, shown(&ask.url)),
            }
        })
    }

    /// Sends a request once and follows where it leads.
    async fn open(&self, ask: &Ask) -> Result<Opened, Fault> {
        let mut url = ask.url.clone();
        for _ in 0..=MAX_REDIRECTS {
            let response = self.send_once(ask, &url).await?;
            let status = response.status();
            if !(status.is_redirection() && status != StatusCode::NOT_MODIFIED) {
                return judge(response, ask).await;
            }
            url = followed(&self.address, &ask.method, &url, status, response.headers())?;
        }
        Err(Fault::new(
            FaultKind::Malformed,
            format!("it leads on more than {MAX_REDIRECTS} times"),
        ))
    }

    async fn send_once(&self, ask: &Ask, url: &Url) -> Result<Response, Fault> {
        self.requests.set(self.requests.get() + 1);
        let mut request = self
            .clients
            .of(url, &self.options)?
            .request(ask.method.clone(), url.clone());
        if let Some(digest) = ask.at_hand {
            request = request.header(header::IF_NONE_MATCH, digest.to_etag());
        }
        if ask.newest {
            request = request.header(API_VERSION, "pkgres latest");
        }
        if let Some((body, media_type)) = &ask.body {
            request = request
                .header(header::CONTENT_TYPE, *media_type)
                .body(body.as_ref().clone());
        }
        // Nobody else is told who asks: neither another host nor another port or scheme.
        if self.address.is_same_origin(url) {
            request = match self.credential.get().and_then(Option::as_ref) {
                Some(Credential::Token(token)) => request.bearer_auth(token.reveal()),
                Some(Credential::Basic { user, password }) => {
                    request.basic_auth(user, Some(password.reveal()))
                }
                None => request,
            };
        }
        request
            .send()
            .await
            .map_err(|error| Fault::transient(FaultKind::Unreachable, told(&error.without_url())))
    }
}
