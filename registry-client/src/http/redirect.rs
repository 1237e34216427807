//! Rules for redirects: which are followed, and which requests carry credentials.

use reqwest::header::{self, HeaderMap};
use reqwest::{Method, StatusCode};
use url::Url;

use super::address::{Address, shown};
use super::error::{AttemptError, ErrorKind};

/// The number of redirects that are followed.
pub(super) const MAX_REDIRECTS: usize = 3;

/// Whether a request to an address carries the credentials for a registry: only to the scheme, host and port of the
/// registry, so that no redirect can lead credentials elsewhere.
pub(super) fn carries_credentials(registry: &Address, to: &Url) -> bool {
    registry.is_same_origin(to)
}

/// The target of a redirect, if it may be followed: only to https, or from http to http, and with a request that changes
/// something only to the registry itself.
pub(super) fn followed(
    registry: &Address,
    method: &Method,
    from: &Url,
    status: StatusCode,
    headers: &HeaderMap,
) -> Result<Url, AttemptError> {
    let wrong = |reason: String| AttemptError::new(ErrorKind::Malformed, reason);
    let mut to = headers
        .get(header::LOCATION)
        .and_then(|location| location.to_str().ok())
        .and_then(|location| from.join(location).ok())
        .ok_or_else(|| wrong(format!("the redirect has no target ({status})")))?;
    require_web(&to, "it redirects to")?;
    let elsewhere = |reason: String| AttemptError::new(ErrorKind::Intercepted, reason);
    if from.scheme() == "https" && to.scheme() != "https" {
        let reason = format!("it redirects from https to {}", shown(&to));
        return Err(elsewhere(reason));
    }
    if *method != Method::GET && !registry.is_same_origin(&to) {
        let reason = format!("it redirects a request other than GET to {}", shown(&to));
        let mut error = elsewhere(reason);
        error.answer.moved_to = moved_to(registry, from, &to);
        return Err(error);
    }
    if *method != Method::GET && !matches!(status.as_u16(), 307 | 308) {
        return Err(wrong(format!(
            "it redirects a request other than GET ({status})"
        )));
    }
    // The credentials are those that the user chose, and no others.
    let is_without = to.set_username("").and_then(|()| to.set_password(None));
    is_without.map_err(|()| wrong(format!("it redirects to {}", shown(&to))))?;
    Ok(to)
}

/// The address that a registry seems to have moved to, if a request is redirected to the same path below another base.
/// Pages where users log in to a network have paths of their own.
pub(super) fn moved_to(registry: &Address, from: &Url, to: &Url) -> Option<String> {
    if !registry.is_same_origin(from) || !matches!(to.scheme(), "https" | "http") {
        return None;
    }
    let path = from.path().strip_prefix(registry.url().path())?;
    let base = to.path().strip_suffix(path)?;
    if path.is_empty() || !base.ends_with('/') {
        return None;
    }
    let address = Address::parse(&format!("{}{base}", to.origin().ascii_serialization())).ok()?;
    (address.url() != registry.url()).then(|| address.as_str().to_owned())
}

/// An error unless an address is of http or https. `what` says where the address is from.
pub(super) fn require_web(url: &Url, what: &str) -> Result<(), AttemptError> {
    if matches!(url.scheme(), "https" | "http") {
        return Ok(());
    }
    let reason = format!("{what} {}, which is neither https nor http", shown(url));
    Err(AttemptError::new(ErrorKind::Malformed, reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_stay_with_the_origin_of_the_registry() {
        let registry = Address::parse("https://example.org/base/").expect("an address");
        for (to, expected) in [
            ("https://example.org/elsewhere", true),
            ("https://example.org:443/base/x", true),
            ("http://example.org/base/x", false),
            ("https://example.org:8443/base/x", false),
            ("https://cdn.example.org/base/x", false),
        ] {
            let url = Url::parse(to).expect("an address");
            assert_eq!(carries_credentials(&registry, &url), expected, "{to}");
        }
    }

    #[test]
    fn a_registry_that_moved_is_known_by_the_paths() {
        let registry = Address::parse("http://example.org/base/").expect("an address");
        let url = |text: &str| Url::parse(text).expect("an address");
        let from = url("http://example.org/base/index/v1/batch");
        for (to, expected) in [
            (
                "https://example.org/base/index/v1/batch",
                Some("https://example.org/base/"),
            ),
            (
                "https://user:password@new.example.org:8443/index/v1/batch?x=1",
                Some("https://new.example.org:8443/"),
            ),
            ("https://login.example.org/?from=index/v1/batch", None),
            ("https://login.example.org/reindex/v1/batch", None),
            ("http://example.org/base/index/v1/batch", None),
            ("ftp://example.org/index/v1/batch", None),
        ] {
            let found = moved_to(&registry, &from, &url(to));
            assert_eq!(found.as_deref(), expected, "{to}");
        }
        let elsewhere = url("https://cdn.example.org/index/v1/batch");
        let to = url("https://example.org/index/v1/batch");
        assert_eq!(moved_to(&registry, &elsewhere, &to), None);
    }

    #[test]
    fn only_safe_redirects_are_followed() {
        let registry = Address::parse("https://example.org/base/").expect("an address");
        let from = Url::parse("https://example.org/base/file").expect("an address");
        let followed = |method: Method, status: u16, to: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::LOCATION, to.parse().expect("a header"));
            let status = StatusCode::from_u16(status).expect("a status");
            let to = super::followed(&registry, &method, &from, status, &headers);
            to.map(|to| to.to_string()).map_err(|error| error.reason)
        };
        for (method, status, to, expected) in [
            (
                Method::GET,
                302,
                "other",
                Ok("https://example.org/base/other"),
            ),
            (
                Method::GET,
                302,
                "https://cdn.example.com/x",
                Ok("https://cdn.example.com/x"),
            ),
            (
                Method::GET,
                302,
                "https://user:password@example.org/x",
                Ok("https://example.org/x"),
            ),
            (
                Method::GET,
                302,
                "http://example.org/x",
                Err("it redirects from https to http"),
            ),
            (
                Method::GET,
                302,
                "file:///etc/passwd",
                Err("it redirects to file:///etc/passwd, which is neither https nor http"),
            ),
            (
                Method::GET,
                302,
                "ftp://example.org/x",
                Err("it redirects to ftp://example.org/x, which is neither https nor http"),
            ),
            (
                Method::GET,
                302,
                "data:,x",
                Err("it redirects to data:,x, which is neither https nor http"),
            ),
            (Method::PUT, 307, "/other", Ok("https://example.org/other")),
            (
                Method::PUT,
                302,
                "/other",
                Err("it redirects a request other than GET (302"),
            ),
            (
                Method::PUT,
                307,
                "https://example.com/",
                Err("it redirects a request other than GET to"),
            ),
            (
                Method::GET,
                302,
                "https://[",
                Err("the redirect has no target"),
            ),
        ] {
            let found = followed(method, status, to);
            match (&found, expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected),
                (Err(found), Err(expected)) => assert!(found.starts_with(expected), "{found}"),
                _ => panic!("{to}: {found:?}"),
            }
        }
    }
}
