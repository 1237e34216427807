//! Addresses of registries.

use std::fmt;
use std::net::IpAddr;

use percent_encoding::percent_decode_str;
use pkgres_manifest::diagnostic::Escaped;
use url::{Host, Url};

use super::credential::{Credential, Secret};

/// The base address of a registry. Credentials in it are kept apart and never shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    base: Url,
    pub(super) credential: Option<Credential>,
}

/// A string that is not the address of a registry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not the address of a registry: {reason}", Escaped::shortened(.shown))]
pub struct AddressError {
    /// The text without a possible password.
    shown: String,
    /// The reason why it is none.
    reason: String,
}

impl Address {
    /// Reads an address that begins with `https://` or `http://`.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        // Anything before an `@` may be a password.
        let shown = match text.rsplit_once('@') {
            Some((_, rest)) => format!("…@{rest}"),
            None => text.to_owned(),
        };
        let wrong = |reason: String| AddressError {
            shown: shown.clone(),
            reason,
        };
        let mut base = Url::parse(text).map_err(|error| wrong(error.to_string()))?;
        if !matches!(base.scheme(), "https" | "http") {
            return Err(wrong("`https://` is expected".to_owned()));
        }
        if base.query().is_some() || base.fragment().is_some() {
            return Err(wrong("it has a `?` or `#`".to_owned()));
        }
        let credential = match (base.username(), base.password()) {
            ("", None) => None,
            (user, password) => Some(Credential::Basic {
                user: decoded(user),
                password: Secret::new(decoded(password.unwrap_or_default())),
            }),
        };
        let cannot = |()| wrong("it cannot have a user".to_owned());
        base.set_username("").map_err(cannot)?;
        base.set_password(None).map_err(cannot)?;
        if !base.path().ends_with('/') {
            let path = format!("{}/", base.path());
            base.set_path(&path);
        }
        Ok(Self { base, credential })
    }

    /// The address without credentials, ending in `/`.
    pub fn as_str(&self) -> &str {
        self.base.as_str()
    }

    /// Whether it is on this machine. No proxy is used for it.
    pub fn is_local(&self) -> bool {
        is_loopback(&self.base)
    }

    pub(super) fn url(&self) -> &Url {
        &self.base
    }

    /// An address that is relative to the base, or absolute.
    pub(super) fn join(&self, relative: &str) -> Result<Url, AddressError> {
        let url = self.base.join(relative);
        url.map_err(|error| AddressError {
            shown: relative.to_owned(),
            reason: error.to_string(),
        })
    }

    /// Whether a request to an address may carry the credentials of this one.
    pub(super) fn is_same_origin(&self, url: &Url) -> bool {
        self.base.origin() == url.origin()
    }
}

/// Why a string is not the address of a proxy; `None` if it is one. Its scheme is `http` if it has none.
pub fn why_not_proxy(text: &str) -> Option<&'static str> {
    let is_odd = |character: char| !character.is_ascii_graphic();
    if text.contains(is_odd) {
        return Some("it has a character that no address has");
    }
    let with_scheme = format!("http://{text}");
    let parsed = Url::parse(if text.contains("://") {
        text
    } else {
        &with_scheme
    });
    match parsed {
        Ok(url) if !matches!(url.scheme(), "http" | "https") => {
            Some("only `http://` and `https://` are supported")
        }
        Ok(url) if url.host().is_some() => None,
        _ => Some("it has no host, or no valid port"),
    }
}

/// Whether an address is on this machine.
pub(super) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => IpAddr::V6(address).to_canonical().is_loopback(),
        None => false,
    }
}

/// An address for messages: without user, password and query, which can hold a signature.
pub(super) fn shown(url: &Url) -> String {
    let mut url = url.clone();
    // This fails for addresses that cannot have a user, and have none.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    let is_shown = |key: &str| key == "since" || key == "limit";
    let is_left_out = url.query_pairs().any(|(key, _)| !is_shown(&key));
    if is_left_out {
        url.set_query(None);
    }
    let rest = if is_left_out { "?…" } else { "" };
    format!("{}{rest}", Escaped::within(url.as_str(), 300))
}

/// A part of an address without its percent signs.
fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// The address without credentials.
impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.base.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::super::credential::TokenExchange;
    use super::*;

    #[test]
    fn addresses_of_proxies_have_a_host() {
        for (text, is_one) in [
            ("http://proxy.example:3128", true),
            ("https://me:secret@proxy.example/", true),
            ("proxy.example:3128", true),
            ("me:secret@proxy.example:3128", true),
            ("[::1]:3128", true),
            ("socks5://proxy.example:1080", false),
            ("http://", false),
            ("http:// proxy.example", false),
            ("proxy.example:port", false),
            ("http://proxy.example:99999", false),
            ("direct proxy", false),
        ] {
            assert_eq!(why_not_proxy(text).is_none(), is_one, "{text}");
        }
    }

    #[test]
    fn credentials_are_kept_apart_and_never_shown() {
        let address = Address::parse("https://me:s%40cret+1@example.org/base").expect("an address");
        assert_eq!(address.to_string(), "https://example.org/base/");
        assert!(!format!("{address:?}").contains("cret"));
        let of_token = Address::parse("https://sesame@example.org/").expect("an address");
        assert!(!format!("{of_token:?}").contains("sesame"));
        let exchange = TokenExchange {
            url: "https://me:sesame@example.org/token".to_owned(),
            client_id: "cli".to_owned(),
        };
        assert!(!format!("{exchange:?}").contains("sesame"));
        let Some(Credential::Basic { user, password }) = &address.credential else {
            panic!("there are credentials");
        };
        assert_eq!((user.as_str(), password.reveal()), ("me", "s@cret+1"));
        let error = Address::parse("ftp://me:secret@example.org").expect_err("not a registry");
        assert!(!error.to_string().contains("secret"), "{error}");
        let error = Address::parse("https://me:secret@").expect_err("not an address");
        assert!(!error.to_string().contains("secret"), "{error}");
    }

    #[test]
    fn a_query_is_left_out_of_messages() {
        for (text, expected) in [
            (
                "https://example.org/v1?q=a&marker=b",
                "https://example.org/v1?…",
            ),
            (
                "https://example.org/v1?since=7",
                "https://example.org/v1?since=7",
            ),
            ("https://example.org/v1", "https://example.org/v1"),
        ] {
            assert_eq!(shown(&Url::parse(text).expect("an address")), expected);
        }
    }

    #[test]
    fn an_origin_is_scheme_host_and_port() {
        let address = Address::parse("https://example.org/base/").expect("an address");
        for (text, same) in [
            ("https://example.org/other", true),
            ("https://example.org:443/", true),
            ("https://example.org:8443/", false),
            ("http://example.org/", false),
            ("https://example.com/", false),
            ("https://sub.example.org/", false),
        ] {
            let url = Url::parse(text).expect("an address");
            assert_eq!(address.is_same_origin(&url), same, "{text}");
        }
    }

    #[test]
    fn this_machine_is_known_by_its_addresses() {
        for (text, is) in [
            ("http://127.0.0.1:80/", true),
            ("http://127.8.8.8/", true),
            ("http://[::1]/", true),
            ("http://[::ffff:127.0.0.1]/", true),
            ("http://localhost/", true),
            ("http://localhost.example.org/", false),
            ("http://10.0.0.1/", false),
        ] {
            assert_eq!(
                is_loopback(&Url::parse(text).expect("an address")),
                is,
                "{text}"
            );
        }
    }
}
