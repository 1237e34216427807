//! Sends requests, with retries and redirects.
//!
//! One attempt is everything from sending to the last byte of the body and its check, because each of these
//! can fail for a reason that is gone the next time. Only this module retries.

use std::error::Error;
use std::future::Future;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use backon::{ExponentialBuilder, Retryable as _};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{PackageName, RegistryName, Version};
use reqwest::header::{self, HeaderValue};
use reqwest::{RequestBuilder, Response, StatusCode};
use tokio::runtime::Runtime;
use url::Url;

use crate::registry_error::{RegistryError, RequestErrorKind};
use crate::registry_title::titled;

use super::address::Address;
use super::clients::Clients;
use super::credential::{Credential, Secret};
use super::credential_sources::CredentialOrigin;
use super::error::{AttemptError, ErrorKind, RequestError, address_hint};
use super::network_limits::Usage;
use super::options::HttpOptions;
use super::redirect::{MAX_REDIRECTS, carries_credentials, followed, moved_to};
use super::request::Request;
use super::response::{Origin, Reader, Reply, ResponseHead, classify, each_piece, read_body};
use super::tls_error::{CertificateProblem, is_without_tls};

/// The header that requests a microversion.
const API_VERSION: &str = "openstack-api-version";

/// How a token is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Authorization {
    /// As a bearer token (RFC 6750).
    Bearer,
    /// As Galaxy servers expect their own tokens. What a token is exchanged for is a bearer token.
    Galaxy,
}

/// The sender of requests to one registry.
pub(super) struct Transport {
    pub(super) name: RegistryName,
    pub(super) address: Address,
    /// The address as programs show it.
    shown_address: String,
    pub(super) options: HttpOptions,
    runtime: Arc<SharedRuntime>,
    clients: Arc<Clients>,
    credential: OnceLock<Option<(Credential, CredentialOrigin)>>,
    authorization: Authorization,
    /// What a token was exchanged for.
    pub(super) exchanged: OnceLock<Secret>,
    requests: AtomicU64,
    usage: Usage,
}

impl Transport {
    pub(super) fn new(
        name: RegistryName,
        address: Address,
        authorization: Authorization,
        options: HttpOptions,
    ) -> Self {
        let kind = match authorization {
            Authorization::Bearer => "",
            Authorization::Galaxy => "galaxy:",
        };
        Self {
            name,
            shown_address: format!("{kind}{address}"),
            authorization,
            exchanged: OnceLock::new(),
            address,
            usage: Usage::new(options.limits),
            options,
            runtime: Arc::default(),
            clients: Arc::default(),
            credential: OnceLock::new(),
            requests: AtomicU64::new(0),
        }
    }

    /// The same for another reading: it shares the connections, has its own limits, and looks up the credentials again,
    /// as tokens expire.
    pub(super) fn reread(&self, now: SystemTime) -> Self {
        let options = HttpOptions {
            now: jiff::Timestamp::try_from(now).unwrap_or(jiff::Timestamp::MAX),
            ..self.options.clone()
        };
        let (name, address) = (self.name.clone(), self.address.clone());
        Self {
            runtime: Arc::clone(&self.runtime),
            clients: Arc::clone(&self.clients),
            ..Self::new(name, address, self.authorization, options)
        }
    }

    /// The number of requests sent, with redirects and retries.
    pub(super) fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    pub(super) fn unreachable(
        &self,
        cause: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> RegistryError {
        let cause = cause.into();
        let message = format!("{} cannot be read: {cause}", titled(&self.name));
        let finding = Diagnostic::error(Code::RegistryUnreachable, message);
        RegistryError::Request {
            registry: self.name.clone(),
            kind: RequestErrorKind::Failed,
            finding: Box::new(finding.hint(address_hint(&self.shown_address))),
            cache_may_help: false,
            source: Some(Arc::from(cause)),
        }
    }

    /// The error of a run that may use the cache only, which lacks something.
    pub(super) fn offline(&self, reason: &str) -> RegistryError {
        let title = self.title();
        let (message, hint) = if self.options.cache_folder.is_none() {
            (
                format!("{title} cannot be read offline without a cache"),
                self.options.cache_hint.clone(),
            )
        } else {
            (
                format!("{title} cannot be read offline, and {reason}"),
                format!("run once {}", self.options.online_run),
            )
        };
        Diagnostic::error(Code::Offline, message).hint(hint).into()
    }

    /// The error of a run that may use the cache only, which lacks the artifact of a release.
    pub(super) fn release_offline(&self, name: &PackageName, version: &Version) -> RegistryError {
        self.offline(&format!(
            "the artifact of {name} {version} is not in the cache"
        ))
    }

    /// The error of a run that may use the cache only, for a request that no cache answers.
    pub(super) fn needs_network(&self) -> RegistryError {
        let message = format!(
            "{} cannot be used offline: no cache has the answer",
            self.title()
        );
        Diagnostic::error(Code::Offline, message)
            .hint(format!("run {}", self.options.online_run))
            .into()
    }

    /// The registry in a message, with its address if it has no name.
    fn title(&self) -> String {
        if self.name.is_default() {
            format!("the registry {}", self.shown_address)
        } else {
            titled(&self.name)
        }
    }

    /// Blocks until some work that sends requests is finished.
    ///
    /// A thread that drives a runtime cannot drive another one. If this one does, another thread waits
    /// in its place, so that a registry can be used in an asynchronous program as everywhere else.
    pub(super) fn wait<T: Send>(
        &self,
        work: impl Future<Output = Result<T, RequestError>> + Send,
    ) -> Result<T, RegistryError> {
        self.prepare()?;
        let runtime = self.runtime.get();
        let runtime = runtime.map_err(|error| self.unreachable(error))?;
        let outcome = if tokio::runtime::Handle::try_current().is_ok() {
            let thread = std::thread::Builder::new();
            let joined = std::thread::scope(|scope| {
                let waiting = thread.spawn_scoped(scope, || runtime.block_on(work));
                waiting.map(std::thread::ScopedJoinHandle::join)
            });
            let joined = joined.map_err(|error| self.unreachable(error))?;
            joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        } else {
            runtime.block_on(work)
        };
        outcome.map_err(|failed| self.error(failed))
    }

    /// The error of a request to this registry.
    pub(super) fn error(&self, failed: RequestError) -> RegistryError {
        failed.into_error(&self.name, &self.shown_address)
    }

    /// The credential, once it was looked up.
    pub(super) fn credential(&self) -> Option<&Credential> {
        let found = self.credential.get().and_then(Option::as_ref);
        found.map(|(credential, _)| credential)
    }

    /// The place of the credentials in words, unless a variable has them or `pkgres login` stored them.
    fn place_of_credentials(&self) -> Option<String> {
        let (_, origin) = self.credential.get()?.as_ref()?;
        match origin {
            CredentialOrigin::Token | CredentialOrigin::TokenFile => None,
            CredentialOrigin::Helper(program) => {
                let program = Escaped::shortened(program);
                Some(format!("from the credential helper `{program}`"))
            }
            CredentialOrigin::Address => Some("in the address of the registry".to_owned()),
            CredentialOrigin::Netrc(path) => Some(format!("in {}", Escaped::path(path))),
        }
    }

    /// Adds to an error which credentials its request had. `asked` is its first address, `answered` the last one.
    fn with_credentials(
        &self,
        mut error: AttemptError,
        asked: &Url,
        answered: &Url,
    ) -> AttemptError {
        if error.kind != ErrorKind::Denied {
            return error;
        }
        if carries_credentials(&self.address, answered) {
            error.answer.place_of_credentials = self.place_of_credentials();
        } else {
            error.answer.elsewhere = Some(answered.origin().ascii_serialization());
            error.answer.moved_to = moved_to(&self.address, asked, answered);
        }
        error
    }

    /// Looks up the credential, once.
    fn prepare(&self) -> Result<(), RegistryError> {
        if self.credential.get().is_none() {
            let credential = self.options.credentials.find(&self.address);
            let credential =
                credential.map_err(|error| RegistryError::from(error.to_diagnostic()))?;
            let _ = self.credential.set(credential);
        }
        Ok(())
    }

    /// Sends a request until an attempt succeeds or retrying is pointless. `check` reads the response, as part
    /// of the attempt.
    pub(super) async fn send<T>(
        &self,
        request: &Request,
        check: impl Fn(Reply) -> Result<T, AttemptError>,
    ) -> Result<T, RequestError> {
        let attempt = || async {
            let (response, is_new) = match self.open(request).await? {
                ResponseHead::Body { response, is_new } => (response, is_new),
                ResponseHead::Unchanged => return check(Reply::Unchanged),
                ResponseHead::Absent => return check(Reply::Absent),
            };
            let origin = Origin::of(&response);
            let body = read_body(response, request.content, request.limit, &self.usage).await?;
            let page = origin.web_page(&body, request);
            match (check(Reply::Body { body, is_new }), page) {
                (Err(error), Some(page))
                    if matches!(error.kind, ErrorKind::Malformed | ErrorKind::Digest) =>
                {
                    Err(page)
                }
                // The status alone would confirm the request.
                (Ok(_), Some(page)) if !request.is_reading() => Err(page),
                (checked, _) => checked,
            }
        };
        self.retry(request, attempt).await
    }

    /// Like [`send`](Self::send), for a body that is read while it arrives. `begin` is called for each attempt.
    pub(super) async fn stream<R: Reader>(
        &self,
        request: &Request,
        begin: impl Fn() -> R,
    ) -> Result<R::Output, RequestError> {
        let attempt = || async {
            let response = match self.open(request).await? {
                ResponseHead::Body { response, .. } => response,
                ResponseHead::Unchanged => {
                    return Err(Reply::Unchanged.body().expect_err("no body"));
                }
                ResponseHead::Absent => return Err(Reply::Absent.body().expect_err("no body")),
            };
            let origin = Origin::of(&response);
            let mut reader = begin();
            let mut is_first = true;
            each_piece(
                response,
                request.content,
                request.limit,
                &self.usage,
                |piece| {
                    if std::mem::take(&mut is_first)
                        && let Some(page) = origin.web_page(&piece, request)
                    {
                        return Err(page);
                    }
                    reader.take(piece)
                },
            )
            .await?;
            reader.finish()
        };
        self.retry(request, attempt).await
    }

    /// Repeats an attempt until it succeeds or retrying is pointless.
    async fn retry<T, F: Future<Output = Result<T, AttemptError>>>(
        &self,
        request: &Request,
        attempt: impl Fn() -> F,
    ) -> Result<T, RequestError> {
        let policy = self.options.retry;
        let attempts = AtomicUsize::new(0);
        let counted = || {
            attempts.fetch_add(1, Ordering::Relaxed);
            attempt()
        };
        let delays = ExponentialBuilder::default()
            .with_min_delay(policy.first_delay)
            .with_max_delay(policy.longest_delay)
            .with_max_times(policy.attempts.saturating_sub(1))
            .with_jitter();
        let attempts_to_end = counted
            .retry(delays)
            .sleep(tokio::time::sleep)
            .when(|error: &AttemptError| {
                error.is_transient
                    && (!request.creates || error.was_refused)
                    && error
                        .retry_after
                        .is_none_or(|delay| delay <= policy.longest_delay)
            })
            .adjust(|error: &AttemptError, planned| match error.retry_after {
                Some(delay) => planned.map(|planned| planned.max(delay)),
                None => planned,
            });
        let open = self.options.activity.begin(&self.shown_address);
        let outcome = self.usage.answer(attempts_to_end).await;
        drop(open);
        outcome.map_err(|mut error| {
            if let Some(delay) = error.retry_after {
                let seconds = delay.as_secs();
                error.reason = format!("{}; it asks to retry in {seconds} s", error.reason);
            }
            RequestError::new(error, attempts.load(Ordering::Relaxed), request)
        })
    }

    /// Sends a request once and follows redirects.
    async fn open(&self, request: &Request) -> Result<ResponseHead, AttemptError> {
        let mut url = request.url.clone();
        for _ in 0..=MAX_REDIRECTS {
            let response = self.send_once(request, &url).await?;
            let status = response.status();
            if !(status.is_redirection() && status != StatusCode::NOT_MODIFIED) {
                let classified = classify(response, request, &self.usage).await;
                return classified
                    .map_err(|error| self.with_credentials(error, &request.url, &url));
            }
            url = followed(
                &self.address,
                &request.method,
                &url,
                status,
                response.headers(),
            )?;
        }
        Err(AttemptError::new(
            ErrorKind::Malformed,
            format!("it redirects more than {MAX_REDIRECTS} times"),
        ))
    }

    async fn send_once(&self, request: &Request, url: &Url) -> Result<Response, AttemptError> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        let mut builder = self
            .clients
            .of(url, &self.options)?
            .request(request.method.clone(), without_credentials(url));
        let codings = request.content.accepted_codings();
        builder = builder.header(header::ACCEPT_ENCODING, codings);
        if let Some(digest) = request.cached {
            builder = builder.header(header::IF_NONE_MATCH, digest.to_etag());
        }
        if let Some(version) = request.api_version {
            builder = builder.header(API_VERSION, format!("pkgres {version}"));
        }
        if let Some((body, media_type)) = &request.body {
            builder = builder
                .header(header::CONTENT_TYPE, *media_type)
                .body(body.as_ref().clone());
        }
        if carries_credentials(&self.address, url) {
            builder = match self.credential() {
                Some(Credential::Token(token)) => match self.authorization {
                    Authorization::Bearer => with_token(builder, "Bearer", token)?,
                    Authorization::Galaxy => with_token(builder, "Token", token)?,
                },
                Some(Credential::Exchanged { .. }) => match self.exchanged.get() {
                    Some(token) => with_token(builder, "Bearer", token)?,
                    None => builder,
                },
                // Registries accept a password for reading alone, because browsers send it by themselves. As a
                // token, it was sent on purpose.
                Some(Credential::Basic { user, password }) if request.is_reading() => {
                    builder.basic_auth(user, Some(password.reveal()))
                }
                Some(Credential::Basic { password, .. }) => {
                    with_token(builder, "Bearer", password)?
                }
                None => builder,
            };
        }
        let length = request.body.as_ref().map_or(0, |(body, _)| body.len());
        let sent = self.usage.head(length, builder.send()).await?;
        sent.map_err(|error| match CertificateProblem::of(&error) {
            // It is the same at the next attempt.
            Some(problem) => {
                let kind = ErrorKind::Certificate(Box::new(problem.clone()));
                let mut failed = AttemptError::of_library(kind, error);
                if let Some(reason) = problem.reason() {
                    failed.reason = reason;
                }
                failed
            }
            None if is_without_tls(&error) => AttemptError {
                reason: "the server does not answer with TLS".to_owned(),
                ..AttemptError::of_library(ErrorKind::WithoutTls, error)
            },
            None => AttemptError {
                was_refused: error.is_connect(),
                is_transient: true,
                ..AttemptError::of_library(ErrorKind::Unreachable, error)
            },
        })
    }
}

/// An address without credentials, which the HTTP library would send: only the user chooses them, not the documents of
/// a registry.
fn without_credentials(url: &Url) -> Url {
    let mut url = url.clone();
    // This fails for addresses that cannot have a user, and have none.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url
}

/// A request with a token, in a header that logs do not show. A password of a netrc file may be no token.
fn with_token(
    builder: RequestBuilder,
    scheme: &str,
    token: &Secret,
) -> Result<RequestBuilder, AttemptError> {
    let text = format!("{scheme} {}", token.reveal());
    let mut value = HeaderValue::from_str(&text).map_err(|_| {
        AttemptError::new(
            ErrorKind::Denied,
            "the token is not one line of ASCII characters",
        )
    })?;
    value.set_sensitive(true);
    Ok(builder.header(header::AUTHORIZATION, value))
}

/// The runtime of a registry, made on first use and shared by all readings.
#[derive(Default)]
struct SharedRuntime(OnceLock<Runtime>);

impl SharedRuntime {
    fn get(&self) -> std::io::Result<&Runtime> {
        if self.0.get().is_none() {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_io()
                .enable_time()
                .build()?;
            if let Err(second) = self.0.set(runtime) {
                // Another thread was faster.
                second.shutdown_background();
            }
        }
        Ok(self.0.get().expect("it was made just now"))
    }
}

impl Drop for SharedRuntime {
    fn drop(&mut self) {
        // Waiting for the runtime to end is not allowed inside another one, and nothing is left to wait for.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}
