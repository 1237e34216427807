//! Errors of requests: of one attempt, and of all attempts.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{PackageName, RegistryName};

use super::tls_error::CertificateProblem;
use crate::registry_error::RegistryError;
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

/// The hint for a registry that cannot be reached.
pub(super) const OFFLINE_HINT: &str = "`--offline` uses only what is in the cache";

/// The hint for a registry that failed, and whose answer no cache has.
pub(super) const LATER_HINT: &str = "try again later, or ask the operator of the registry";

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
    /// The method and the address, as they can be shown.
    pub(super) request: String,
    /// Whether the request creates something.
    pub(super) creates: bool,
}

impl RequestError {
    /// The error of a request that was not sent. `request` has the method and the address, as they can be shown.
    pub(super) fn unsent(error: AttemptError, request: impl Into<String>) -> Self {
        Self {
            error,
            attempts: 0,
            request: request.into(),
            creates: false,
        }
    }

    /// The error of a registry with this name. `address` is what `pkgres login` takes.
    pub(super) fn into_error(self, registry: &RegistryName, address: &str) -> RegistryError {
        RegistryError::Request {
            finding: Box::new(self.to_finding(registry, address)),
            source: self.error.cause.map(|cause| Arc::new(cause) as _),
        }
    }

    fn to_finding(&self, registry: &RegistryName, address: &str) -> Diagnostic {
        let Self {
            error,
            attempts,
            request,
            creates,
        } = self;
        let reason = Escaped::within(&error.reason, SHOWN_CHARACTERS);
        let tried = match attempts {
            0 | 1 => String::new(),
            attempts => format!(" (tried {attempts} times)"),
        };
        let may_be_done = *creates
            && !error.was_refused
            && matches!(
                error.kind,
                ErrorKind::Unreachable | ErrorKind::Malformed | ErrorKind::Limit(_)
            );
        let (code, what) = self.summary(may_be_done);
        let title = titled(registry);
        let message = format!("{title} {what}: {request}: {reason}{tried}");
        let mut finding = Diagnostic::error(code, message);
        if may_be_done {
            finding = finding.hint(format!(
                "the token may have been created: `pkgres token list --registry {address}` shows it, and \
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
                self.with_hint_of_rejection(finding, address)
            }
            _ => self.with_hints(finding, address),
        }
    }

    /// Whether the request changes something.
    fn is_write(&self) -> bool {
        let methods = ["PUT ", "DELETE "];
        self.creates
            || methods
                .iter()
                .any(|method| self.request.starts_with(method))
    }

    /// The code of the finding, and what the registry did. `may_be_done` says whether the request may have had its
    /// effect.
    fn summary(&self, may_be_done: bool) -> (Code, &'static str) {
        match &self.error.kind {
            ErrorKind::Unreachable if may_be_done => {
                (Code::RegistryUnreachable, "did not confirm the request")
            }
            ErrorKind::Unreachable | ErrorKind::Intercepted if self.is_write() => {
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
    fn with_hints(&self, finding: Diagnostic, address: &str) -> Diagnostic {
        let (error, is_write) = (&self.error, self.is_write());
        if let Some(moved_to) = &error.answer.moved_to {
            return finding.hint(format!(
                "if the registry is now at {moved_to}, use that address"
            ));
        }
        match &error.kind {
            ErrorKind::Unreachable => match unreachable_hint(error, address) {
                Some(hint) if is_write => finding.hint(hint),
                None if is_write => finding.hint(LATER_HINT),
                Some(hint) => finding.hint(hint).hint(OFFLINE_HINT),
                None => finding.hint(OFFLINE_HINT),
            },
            // The caller is known: another token would help, logging in with the same one would not.
            ErrorKind::Denied
                if error.answer.code == "pkgres.forbidden" && error.answer.elsewhere.is_none() =>
            {
                finding.hint(format!(
                "a token that permits this is necessary; `pkgres login {address}` stores it"
            ))
            }
            // The package is somebody else's. Its owners can change that, a token cannot.
            ErrorKind::Denied
                if error.answer.code == "pkgres.not_owner" && error.answer.elsewhere.is_none() =>
            {
                let package = package_in(&self.request).unwrap_or("PACKAGE");
                finding.hint(format!(
                    "`pkgres owner list {package} --registry {address}` shows the owners; one of them can add you with \
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
            ErrorKind::Limit(limit) if limit.is_of_time() && !is_write => {
                finding.hint(limit.hint()).hint(OFFLINE_HINT)
            }
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
    fn with_hint_of_rejection(&self, finding: Diagnostic, address: &str) -> Diagnostic {
        match self.error.answer.code.as_str() {
            "pkgres.no_such_token" => finding.hint(format!(
                "`pkgres token list --registry {address}` shows the tokens with their ids"
            )),
            "pkgres.no_such_version" => match package_in(&self.request) {
                Some(package) => finding.hint(format!(
                    "`pkgres info {package} --registry {address}` lists its versions"
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

/// The package that a request is about.
fn package_in(request: &str) -> Option<&str> {
    let (_, rest) = request.split_once("/packages/")?;
    let (package, _) = rest.split_once('/')?;
    PackageName::parse(package).is_ok().then_some(package)
}

/// What to look at if no answer came from an address.
fn unreachable_hint(error: &AttemptError, address: &str) -> Option<String> {
    let reason = &error.reason;
    if reason.contains("tunnel error") {
        return Some("check the proxy in HTTPS_PROXY or ALL_PROXY".to_owned());
    }
    if error.cause.as_ref().is_some_and(|cause| is_refused(cause)) {
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
fn is_refused(error: &(dyn std::error::Error + 'static)) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_registry_that_cannot_write_is_not_called_unreadable() {
        let registry = RegistryName::parse("acme").expect("a name");
        let shown = |request: &str| {
            let failed = RequestError {
                error: AttemptError::new(ErrorKind::Unreachable, "the disk is full"),
                attempts: 1,
                request: request.to_owned(),
                creates: false,
            };
            let error = failed.into_error(&registry, "https://example.org/");
            let finding = error.to_diagnostic();
            (finding.message, finding.hints)
        };
        let (message, hints) = shown("PUT https://example.org/v1");
        assert!(
            message.contains("did not carry out the request"),
            "{message}"
        );
        assert_eq!(
            hints,
            ["try again later, or ask the operator of the registry"]
        );
        let (message, hints) = shown("GET https://example.org/v1");
        assert!(message.contains("cannot be read"), "{message}");
        assert_eq!(hints, [OFFLINE_HINT]);
    }

    #[test]
    fn a_refused_connection_is_recognized_whatever_the_system_calls_it() {
        #[derive(Debug, thiserror::Error)]
        #[error("cannot connect")]
        struct Failed(#[source] io::Error);

        let refused = |kind| is_refused(&Failed(io::Error::new(kind, "Verbindung abgelehnt")));
        assert!(refused(io::ErrorKind::ConnectionRefused));
        assert!(!refused(io::ErrorKind::ConnectionReset));
    }

    #[test]
    fn a_registry_that_is_too_slow_is_not_needed_offline() {
        let registry = RegistryName::parse("acme").expect("a name");
        let hints = |limit, request: &str| {
            let failed = RequestError {
                error: AttemptError::new(ErrorKind::Limit(limit), "it is slow"),
                attempts: 1,
                request: request.to_owned(),
                creates: false,
            };
            let error = failed.into_error(&registry, "https://example.org/");
            error.to_diagnostic().hints
        };
        let read = hints(ExceededLimit::Begin, "GET https://example.org/v1");
        assert!(read[0].contains("set `network-min-rate` to 0"), "{read:?}");
        assert_eq!(read[1..], [OFFLINE_HINT]);
        let write = hints(ExceededLimit::Begin, "PUT https://example.org/v1");
        assert_eq!(write.len(), 1, "{write:?}");
        let many = hints(ExceededLimit::Packages, "GET https://example.org/v1");
        assert_eq!(many.len(), 1, "{many:?}");
    }

    #[test]
    fn a_proxy_that_cannot_be_reached_is_not_taken_for_the_registry() {
        let reason = "tunnel error: failed to create underlying connection: tcp connect error: Connection refused";
        let error = AttemptError::transient(ErrorKind::Unreachable, reason);
        let hint = unreachable_hint(&error, "https://example.org/");
        assert_eq!(
            hint.as_deref(),
            Some("check the proxy in HTTPS_PROXY or ALL_PROXY")
        );
    }

    #[test]
    fn a_server_that_is_no_registry_has_a_hint_about_its_address() {
        let registry = RegistryName::parse("acme").expect("a name");
        let failed = RequestError {
            error: AttemptError::new(ErrorKind::Malformed, "it redirects more than 3 times"),
            attempts: 1,
            request: "GET https://example.org/v1".to_owned(),
            creates: false,
        };
        let error = failed.into_error(&registry, "https://example.org/");
        assert_eq!(
            error.to_diagnostic().hints,
            ["check that https://example.org/ is the address of a registry, or ask its operator"]
        );
    }

    #[test]
    fn the_hints_of_a_registry_come_before_those_of_the_client() {
        let registry = RegistryName::parse("acme").expect("a name");
        let failed = RequestError {
            error: AttemptError {
                answer: Box::new(ErrorAnswer {
                    code: "pkgres.unsatisfiable".to_owned(),
                    hints: vec!["the versions are 1.0.0\u{1b}[2J".to_owned(); MAX_HINTS + 1],
                    ..ErrorAnswer::default()
                }),
                ..AttemptError::new(ErrorKind::Rejected, "there is no version 7")
            },
            attempts: 1,
            request: "PUT https://example.org/v1".to_owned(),
            creates: false,
        };
        let error = failed.into_error(&registry, "https://example.org/");
        let hints = error.to_diagnostic().hints;
        assert_eq!(hints.len(), MAX_HINTS + 1, "{hints:?}");
        assert!(hints[0].starts_with("the versions are 1.0.0"), "{hints:?}");
        assert!(!hints[0].contains('\u{1b}'), "{hints:?}");
        assert!(
            hints[MAX_HINTS].contains("--allow-unsatisfiable"),
            "{hints:?}"
        );
    }

    #[test]
    fn hints_about_credentials_name_those_that_were_sent() {
        let registry = RegistryName::parse("acme").expect("a name");
        let hint = |answer: ErrorAnswer| {
            let failed = RequestError {
                error: AttemptError {
                    answer: Box::new(answer),
                    ..AttemptError::new(ErrorKind::Denied, "there is no such token")
                },
                attempts: 1,
                request: "GET https://example.org/v1/whoami".to_owned(),
                creates: false,
            };
            let error = failed.into_error(&registry, "https://example.org/");
            error.to_diagnostic().hints.join("; ")
        };
        let elsewhere = ErrorAnswer {
            elsewhere: Some("https://api.example.org".to_owned()),
            ..ErrorAnswer::default()
        };
        let found = hint(elsewhere);
        assert!(
            found.contains("are not sent to https://api.example.org"),
            "{found}"
        );
        let moved = ErrorAnswer {
            moved_to: Some("https://new.example.org/".to_owned()),
            ..ErrorAnswer::default()
        };
        let found = hint(moved);
        assert!(found.contains("now at https://new.example.org/"), "{found}");
        let netrc = ErrorAnswer {
            place_of_credentials: Some("in /home/me/.netrc".to_owned()),
            ..ErrorAnswer::default()
        };
        let found = hint(netrc);
        assert!(found.contains("those in /home/me/.netrc"), "{found}");
    }

    #[test]
    fn a_known_caller_gets_no_hint_to_log_in() {
        let registry = RegistryName::parse("acme").expect("a name");
        let address = "https://example.org/";
        let hints = |code: &str| {
            let failed = RequestError {
                error: AttemptError {
                    answer: Box::new(ErrorAnswer {
                        code: code.to_owned(),
                        ..ErrorAnswer::default()
                    }),
                    ..AttemptError::new(ErrorKind::Denied, "no")
                },
                attempts: 1,
                request: "PUT https://example.org/v1/packages/org.acme.Db/owners".to_owned(),
                creates: false,
            };
            failed.into_error(&registry, address).to_diagnostic().hints
        };
        assert_eq!(
            hints("pkgres.not_owner"),
            [
                "`pkgres owner list org.acme.Db --registry https://example.org/` shows the owners; one of them can add \
                 you with `pkgres owner add`"
            ]
        );
        assert_eq!(
            hints("pkgres.unauthorized"),
            ["`pkgres login https://example.org/` stores a token"]
        );
        assert_eq!(
            hints("pkgres.forbidden"),
            [
                "a token that permits this is necessary; `pkgres login https://example.org/` stores it"
            ]
        );
    }
}
