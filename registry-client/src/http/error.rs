//! Errors of requests: of one attempt, and of all attempts.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{PackageName, RegistryName};

use super::address::shown;
use super::request::Request;
use super::tls_error::CertificateProblem;
use crate::registry_error::{LATER_HINT, RegistryError, RequestErrorKind};
use crate::registry_title::titled;

/// The most characters of text from a server in a message.
const SHOWN_CHARACTERS: usize = 300;

/// The most hints of a server that are shown.
const MAX_HINTS: usize = 10;

/// The error of one attempt.
#[derive(Debug)]
pub(super) struct AttemptError {
    pub(super) kind: ErrorKind,
    pub(super) reason: String,
    /// The error that the reason describes, if it is one of the HTTP library.
    pub(super) cause: Option<reqwest::Error>,
    /// The details of the error.
    pub(super) answer: Box<ErrorAnswer>,
    /// The delay before the next attempt, if the registry sets one.
    pub(super) retry_after: Option<Duration>,
    /// Whether another attempt may succeed.
    pub(super) is_transient: bool,
    /// Whether the registry certainly did not carry out the request, and an attempt for that reason cannot do it twice.
    pub(super) was_refused: bool,
}

/// What is known of an error besides its reason.
#[derive(Debug, Default)]
pub(super) struct ErrorAnswer {
    /// The code of the error; empty if it sent none.
    pub(super) code: String,
    /// What it suggests.
    pub(super) hints: Vec<String>,
    /// The address that the registry seems to have moved to.
    pub(super) moved_to: Option<String>,
    /// The origin of the answer, if credentials are not sent there.
    pub(super) elsewhere: Option<String>,
    /// The place of the credentials that were sent, if it is one that commands cannot change.
    pub(super) place_of_credentials: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ErrorKind {
    /// The registry cannot be reached, or has an internal error.
    Unreachable,
    /// The response violates the protocol.
    Malformed,
    /// The bytes have a different digest than announced.
    Digest,
    /// The credential is missing or not sufficient.
    Denied,
    /// A proxy on the way requires a credential.
    ProxyDenied,
    /// The registry rejected the request.
    Rejected,
    /// The connection would not be encrypted.
    Plain,
    /// The certificate of the registry is not trusted.
    Certificate(Box<CertificateProblem>),
    /// The server does not speak TLS.
    WithoutTls,
    /// The response is a web page or a redirect to another server, such as networks and proxies send that require a
    /// login.
    Intercepted,
    /// The registry exceeds a limit of the reading.
    Limit(ExceededLimit),
}

/// The hint for a server whose answers are not those of a registry.
pub(super) fn address_hint(address: &str) -> String {
    format!("check that {address} is the address of a registry, or ask its operator")
}

/// The limit that a registry exceeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExceededLimit {
    Answer,
    Rate,
    /// The time until an answer begins, which is there if there is a lowest rate.
    Begin,
    Packages,
    Bytes,
}

impl ExceededLimit {
    /// Whether the registry was too slow.
    fn is_of_time(self) -> bool {
        matches!(self, Self::Answer | Self::Rate | Self::Begin)
    }

    /// The hint that names the setting.
    pub(super) fn hint(self) -> &'static str {
        match self {
            Self::Answer => {
                "if the network is slow, raise `network-timeout` in pkgres.toml or PKGRES_NETWORK_TIMEOUT"
            }
            Self::Rate => {
                "if the network is slow, lower `network-min-rate` in pkgres.toml or PKGRES_NETWORK_MIN_RATE"
            }
            Self::Begin => {
                "if the network is slow, set `network-min-rate` to 0 in pkgres.toml or PKGRES_NETWORK_MIN_RATE"
            }
            Self::Packages => {
                "if so many are needed, raise `max-packages` in pkgres.toml or PKGRES_MAX_PACKAGES"
            }
            Self::Bytes => {
                "if so much is needed, raise `max-download` in pkgres.toml or PKGRES_MAX_DOWNLOAD"
            }
        }
    }
}

impl AttemptError {
    pub(super) fn new(kind: ErrorKind, reason: impl Into<String>) -> Self {
        Self {
            kind,
            reason: reason.into(),
            cause: None,
            answer: Box::default(),
            retry_after: None,
            is_transient: false,
            was_refused: false,
        }
    }

    /// The error of the HTTP library. Its address is left out, which can have secrets.
    pub(super) fn of_library(kind: ErrorKind, error: reqwest::Error) -> Self {
        let error = error.without_url();
        let reason = causes(&error);
        Self {
            cause: Some(error),
            ..Self::new(kind, reason)
        }
    }

    pub(super) fn transient(kind: ErrorKind, reason: impl Into<String>) -> Self {
        Self {
            is_transient: true,
            ..Self::new(kind, reason)
        }
    }
}

/// A request that failed, with all its attempts.
#[derive(Debug)]
pub(super) struct RequestError {
    pub(super) error: AttemptError,
    pub(super) attempts: usize,
    request: Box<FailedRequest>,
}

/// What is known of a request that failed.
#[derive(Debug, Default)]
struct FailedRequest {
    /// The method and the address, as they can be shown.
    shown: String,
    /// Whether the request changes something.
    is_write: bool,
    /// Whether the request creates something.
    creates: bool,
    /// The package that the request is about.
    package: Option<PackageName>,
}

impl RequestError {
    /// The error of a request after some attempts.
    pub(super) fn new(error: AttemptError, attempts: usize, request: &Request) -> Self {
        Self {
            error,
            attempts,
            request: Box::new(FailedRequest {
                shown: format!("{} {}", request.method, shown(&request.url)),
                is_write: request.is_write(),
                creates: request.creates,
                package: request.package(),
            }),
        }
    }

    /// The error of a request that was not sent. `request` has the method and the address, as they can be shown.
    pub(super) fn unsent(error: AttemptError, request: impl Into<String>) -> Self {
        Self {
            error,
            attempts: 0,
            request: Box::new(FailedRequest {
                shown: request.into(),
                ..FailedRequest::default()
            }),
        }
    }

    /// The error of an exchange of a token. A server that rejects the token would need another one.
    pub(super) fn of_token_exchange(mut self) -> Self {
        if self.error.kind == ErrorKind::Rejected {
            self.error.kind = ErrorKind::Denied;
        }
        self
    }

    /// The error of a registry with this name. `address` is what `pkgres login` takes.
    pub(super) fn into_error(self, registry: &RegistryName, address: &str) -> RegistryError {
        RegistryError::Request {
            registry: registry.clone(),
            kind: self.kind(),
            finding: Box::new(self.to_finding(registry, address)),
            cache_may_help: self.cache_may_help(),
            source: self.error.cause.map(|cause| Arc::new(cause) as _),
        }
    }

    fn kind(&self) -> RequestErrorKind {
        let answer = &self.error.answer;
        let is_elsewhere = answer.elsewhere.is_some() || answer.moved_to.is_some();
        match self.error.kind {
            ErrorKind::Intercepted => RequestErrorKind::Intercepted,
            ErrorKind::Rejected => RequestErrorKind::Rejected,
            ErrorKind::Denied if is_elsewhere => RequestErrorKind::Denied,
            ErrorKind::Denied => match answer.code.as_str() {
                "pkgres.forbidden" => RequestErrorKind::Insufficient,
                "pkgres.not_owner" => RequestErrorKind::Denied,
                // Another token would not be used instead.
                _ if answer.place_of_credentials.is_some() => RequestErrorKind::Denied,
                _ => RequestErrorKind::Unauthorized,
            },
            _ => RequestErrorKind::Failed,
        }
    }

    /// Whether what was requested may be in the cache.
    fn cache_may_help(&self) -> bool {
        let is_gone = match &self.error.kind {
            ErrorKind::Unreachable => true,
            ErrorKind::Limit(limit) => limit.is_of_time(),
            _ => false,
        };
        is_gone && !self.request.is_write
    }

    fn to_finding(&self, registry: &RegistryName, address: &str) -> Diagnostic {
        let Self {
            error,
            attempts,
            request,
        } = self;
        let reason = Escaped::within(&error.reason, SHOWN_CHARACTERS);
        let tried = match attempts {
            0 | 1 => String::new(),
            attempts => format!(" (tried {attempts} times)"),
        };
        let may_be_done = request.creates
            && !error.was_refused
            && matches!(
                error.kind,
                ErrorKind::Unreachable | ErrorKind::Malformed | ErrorKind::Limit(_)
            );
        let (code, what) = self.summary(may_be_done);
        let title = titled(registry);
        let message = format!("{title} {what}: {}: {reason}{tried}", request.shown);
        let mut finding = Diagnostic::error(code, message);
        if may_be_done {
            let option = registry_option(registry, address);
            finding = finding.hint(format!(
                "the token may have been created: `pkgres token list --registry {option}` shows it, and \
                 `pkgres token revoke` revokes it"
            ));
        }
        match error.kind {
            ErrorKind::Unreachable | ErrorKind::Malformed if may_be_done => finding,
            ErrorKind::Rejected => {
                for hint in error.answer.hints.iter().take(MAX_HINTS) {
                    let hint = Escaped::within(hint, SHOWN_CHARACTERS);
                    finding = finding.hint(hint.to_string());
                }
                self.with_hint_of_rejection(finding, &registry_option(registry, address))
            }
            _ => self.with_hints(finding, registry, address),
        }
    }

    /// The code of the finding, and what the registry did. `may_be_done` says whether the request may have had its
    /// effect.
    fn summary(&self, may_be_done: bool) -> (Code, &'static str) {
        match &self.error.kind {
            ErrorKind::Unreachable if may_be_done => {
                (Code::RegistryUnreachable, "did not confirm the request")
            }
            ErrorKind::Unreachable | ErrorKind::Intercepted if self.request.is_write => {
                (Code::RegistryUnreachable, "did not carry out the request")
            }
            ErrorKind::Unreachable | ErrorKind::WithoutTls | ErrorKind::Intercepted => {
                (Code::RegistryUnreachable, "cannot be read")
            }
            ErrorKind::Malformed => (Code::RegistryUnreachable, "violates the protocol"),
            ErrorKind::Digest => (Code::Digest, "sent something else than it announced"),
            ErrorKind::Denied => (Code::Denied, "denies access"),
            ErrorKind::ProxyDenied => (
                Code::RegistryUnreachable,
                "cannot be reached through the proxy",
            ),
            ErrorKind::Rejected => (Code::Rejected, "rejected the request"),
            ErrorKind::Plain => (Code::RegistryUnreachable, "is not used without encryption"),
            ErrorKind::Certificate(_) => (
                Code::RegistryUnreachable,
                "has a certificate that is not trusted",
            ),
            ErrorKind::Limit(_) => (Code::Limit, "exceeds a limit"),
        }
    }

    /// Adds what helps against an error that is not a rejection.
    fn with_hints(
        &self,
        finding: Diagnostic,
        registry: &RegistryName,
        address: &str,
    ) -> Diagnostic {
        let error = &self.error;
        if let Some(moved_to) = &error.answer.moved_to {
            return finding.hint(format!(
                "if the registry is now at {moved_to}, use that address"
            ));
        }
        match &error.kind {
            ErrorKind::Unreachable => match unreachable_hint(error, address) {
                Some(hint) => finding.hint(hint),
                None if self.request.is_write => finding.hint(LATER_HINT),
                None => finding,
            },
            // The caller is known: another token would help, logging in with the same one would not.
            ErrorKind::Denied if self.kind() == RequestErrorKind::Insufficient => {
                finding.hint(format!(
                    "a token that permits this is necessary; `pkgres login {address}` stores it"
                ))
            }
            // The package is somebody else's. Its owners can change that, a token cannot.
            ErrorKind::Denied
                if error.answer.code == "pkgres.not_owner" && error.answer.elsewhere.is_none() =>
            {
                let package = self.request.package.as_ref().map_or("PACKAGE", PackageName::as_str);
                let option = registry_option(registry, address);
                finding.hint(format!(
                    "`pkgres owner list {package} --registry {option}` shows the owners; one of them can add you with \
                     `pkgres owner add`"
                ))
            }
            ErrorKind::Denied => match (&error.answer.elsewhere, &error.answer.place_of_credentials) {
                (Some(elsewhere), _) => finding.hint(format!(
                    "no credentials were sent: those for {address} are not sent to {elsewhere}; ask the operator of the registry"
                )),
                (None, Some(place)) => finding.hint(format!(
                    "the rejected credentials are those {place}; `pkgres login {address}` stores a token, which is used \
                     instead"
                )),
                (None, None) => finding.hint(format!("`pkgres login {address}` stores a token")),
            },
            ErrorKind::ProxyDenied => finding.hint(
                "the proxy needs a user and a password: `https://USER:PASSWORD@HOST:PORT` in HTTPS_PROXY or HTTP_PROXY",
            ),
            ErrorKind::Malformed => finding.hint(address_hint(address)),
            ErrorKind::Intercepted => finding
                .hint(format!(
                    "open {} in a browser: the network or a proxy may require a login",
                    address.strip_prefix("galaxy:").unwrap_or(address)
                ))
                .hint(address_hint(address)),
            ErrorKind::Limit(limit) => finding.hint(limit.hint()),
            ErrorKind::Certificate(problem) => finding.hint(problem.hint()),
            ErrorKind::WithoutTls => finding.hint(format!(
                "did you mean `{}`? Another machine also needs `--allow-http`",
                address.replacen("https:", "http:", 1)
            )),
            ErrorKind::Plain => finding.hint("use `https://`, or allow it with `--allow-http`"),
            _ => finding,
        }
    }

    /// Adds what helps after a rejection with the code of the error.
    fn with_hint_of_rejection(&self, finding: Diagnostic, option: &str) -> Diagnostic {
        match self.error.answer.code.as_str() {
            "pkgres.no_such_token" => finding.hint(format!(
                "`pkgres token list --registry {option}` shows the tokens with their ids"
            )),
            "pkgres.no_such_version" => match &self.request.package {
                Some(package) => finding.hint(format!(
                    "`pkgres info {package} --registry {option}` lists its versions"
                )),
                None => finding,
            },
            "pkgres.concurrent_update" => {
                finding.hint("somebody else changed it at the same time: run the command again")
            }
            "pkgres.version_exists" => {
                finding.hint("a published release cannot change: publish this as another version")
            }
            "pkgres.unsatisfiable" => finding.hint(
                "publish what it requires first; `--allow-unsatisfiable` publishes it anyway",
            ),
            _ => finding,
        }
    }
}

/// What to look at if no answer came from an address.
fn unreachable_hint(error: &AttemptError, address: &str) -> Option<String> {
    let reason = &error.reason;
    if reason.contains("tunnel error") {
        return Some("check the proxy in HTTPS_PROXY or ALL_PROXY".to_owned());
    }
    if error
        .cause
        .as_ref()
        .is_some_and(|cause| nothing_listens(cause))
    {
        return Some(format!(
            "no server listens at {address}: check the address and the port, or start the server"
        ));
    }
    let is_unknown = ["dns error", "failed to lookup", "Name or service not known"]
        .iter()
        .any(|words| reason.contains(words));
    is_unknown.then(|| {
        format!("nothing is known by the name in {address}: check its spelling, and the network")
    })
}

/// Whether nothing listens at an address. The words of the system differ.
fn nothing_listens(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut causes = std::iter::successors(Some(error), |error| error.source());
    causes.any(|cause| {
        let cause = cause.downcast_ref::<io::Error>();
        cause.is_some_and(|cause| cause.kind() == io::ErrorKind::ConnectionRefused)
    })
}

/// The causes of an error of the HTTP library, whose own message names no cause.
pub(super) fn causes(error: &dyn std::error::Error) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut cause = Some(error);
    while let Some(error) = cause {
        let part = error.to_string();
        if parts.last().is_none_or(|last| !last.ends_with(&part)) {
            parts.push(part);
        }
        cause = error.source();
    }
    let is_specific = |part: &String| {
        !part.starts_with("error sending request") && !part.starts_with("client error (")
    };
    if parts.iter().any(is_specific) {
        parts.retain(is_specific);
    }
    parts.join(": ")
}

/// The value of `--registry` for a registry. With its name, it keeps the token that belongs to the name.
fn registry_option(name: &RegistryName, location: &str) -> String {
    if name.is_default() {
        location.to_owned()
    } else {
        format!("{name}={location}")
    }
}

#[cfg(test)]
mod tests;
