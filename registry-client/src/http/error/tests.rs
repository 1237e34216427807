//! Messages and hints of failed requests.

use reqwest::Method;
use url::Url;

use super::*;

/// A request for a path that failed once.
fn failed(error: AttemptError, method: Method, path: &str) -> RegistryError {
    let url = Url::parse("https://example.org/").and_then(|url| url.join(path));
    let request = Request {
        method,
        ..Request::get(url.expect("an address"), 0)
    };
    let registry = RegistryName::parse("acme").expect("a name");
    RequestError::new(error, 1, &request).into_error(&registry, "https://example.org/")
}

#[test]
fn a_registry_that_cannot_write_is_not_called_unreadable() {
    let shown = |method| {
        let error = AttemptError::new(ErrorKind::Unreachable, "the disk is full");
        let finding = failed(error, method, "v1").to_diagnostic();
        (finding.message, finding.hints)
    };
    let later = ["try again later, or ask the operator of the registry"];
    let (message, hints) = shown(Method::PUT);
    assert!(
        message.contains("did not carry out the request"),
        "{message}"
    );
    assert_eq!(hints, later);
    let (message, hints) = shown(Method::GET);
    assert!(message.contains("cannot be read"), "{message}");
    assert_eq!(hints, ["`--offline` uses only what is in the cache"]);
    let error = AttemptError::new(ErrorKind::Unreachable, "the disk is full");
    let error = failed(error, Method::GET, "v1").without_cache();
    assert_eq!(error.to_diagnostic().hints, later);
}

#[test]
fn a_refused_connection_is_recognized_whatever_the_system_calls_it() {
    #[derive(Debug, thiserror::Error)]
    #[error("cannot connect")]
    struct Failed(#[source] io::Error);

    let refused = |kind| nothing_listens(&Failed(io::Error::new(kind, "Verbindung abgelehnt")));
    assert!(refused(io::ErrorKind::ConnectionRefused));
    assert!(!refused(io::ErrorKind::ConnectionReset));
}

#[test]
fn a_registry_that_is_too_slow_is_not_needed_offline() {
    let hints = |limit, method| {
        let error = AttemptError::new(ErrorKind::Limit(limit), "it is slow");
        failed(error, method, "v1").to_diagnostic().hints
    };
    let read = hints(ExceededLimit::Begin, Method::GET);
    assert!(read[0].contains("set `network-min-rate` to 0"), "{read:?}");
    assert_eq!(read[1..], ["`--offline` uses only what is in the cache"]);
    let write = hints(ExceededLimit::Begin, Method::PUT);
    assert_eq!(write.len(), 1, "{write:?}");
    let many = hints(ExceededLimit::Packages, Method::GET);
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
    let error = AttemptError::new(ErrorKind::Malformed, "it redirects more than 3 times");
    let error = failed(error, Method::GET, "v1");
    assert_eq!(
        error.to_diagnostic().hints,
        ["check that https://example.org/ is the address of a registry, or ask its operator"]
    );
}

#[test]
fn the_hints_of_a_registry_come_before_those_of_the_client() {
    let error = AttemptError {
        answer: Box::new(ErrorAnswer {
            code: "pkgres.unsatisfiable".to_owned(),
            hints: vec!["the versions are 1.0.0\u{1b}[2J".to_owned(); MAX_HINTS + 1],
            ..ErrorAnswer::default()
        }),
        ..AttemptError::new(ErrorKind::Rejected, "there is no version 7")
    };
    let error = failed(error, Method::PUT, "v1");
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
    let hint = |answer: ErrorAnswer| {
        let error = AttemptError {
            answer: Box::new(answer),
            ..AttemptError::new(ErrorKind::Denied, "there is no such token")
        };
        let error = failed(error, Method::GET, "v1/whoami");
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
    let hints = |code: &str| {
        let error = AttemptError {
            answer: Box::new(ErrorAnswer {
                code: code.to_owned(),
                ..ErrorAnswer::default()
            }),
            ..AttemptError::new(ErrorKind::Denied, "no")
        };
        let error = failed(error, Method::PUT, "v1/packages/org.acme.Db/owners");
        error.to_diagnostic().hints
    };
    assert_eq!(
        hints("pkgres.not_owner"),
        [
            "`pkgres owner list org.acme.Db --registry acme=https://example.org/` shows the owners; one of them can add \
             you with `pkgres owner add`"
        ]
    );
    assert_eq!(
        hints("pkgres.unauthorized"),
        ["`pkgres login https://example.org/` stores a token"]
    );
    assert_eq!(
        hints("pkgres.forbidden"),
        ["a token that permits this is necessary; `pkgres login https://example.org/` stores it"]
    );
}
