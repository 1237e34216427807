//! The host of a request: the field `Host`, and the authority of the address.
//!
//! A request names one valid host (RFC 9112, section 3.2, and RFC 9113, section 8.3.1). Otherwise two servers on its way
//! could take it for requests to two hosts.

use fluent_uri::UriRef;
use http::header::{self, HeaderValue};
use http::uri::Scheme;
use http::{HeaderMap, Uri, Version};
use pkgres_manifest::diagnostic::Escaped;

use crate::problem::{Problem, ProblemCode};

/// An error unless a request names one valid host. HTTP/1.0 needs none, and in HTTP/2 the address has it.
pub(super) fn check_host(version: Version, uri: &Uri, headers: &HeaderMap) -> Result<(), Problem> {
    let is_web = |scheme: &Scheme| [Scheme::HTTP, Scheme::HTTPS].contains(scheme);
    if !uri.scheme().map_or(uri.authority().is_none(), is_web) {
        let detail = "the address of a request is a path, or begins with `http://` or `https://`";
        return Err(Problem::new(ProblemCode::AddressInvalid, detail));
    }
    let invalid = |detail: String| Err(Problem::new(ProblemCode::HeaderInvalid, detail));
    let fields: Vec<&HeaderValue> = headers.get_all(header::HOST).iter().collect();
    let is_named = match version {
        Version::HTTP_11 => fields.len() == 1,
        _ if fields.is_empty() => version < Version::HTTP_11 || uri.host().is_some(),
        _ => fields.len() == 1,
    };
    if !is_named {
        return invalid("a request has to have one `Host`".to_owned());
    }
    let mut named = Vec::new();
    let fields = fields.iter().map(|field| field.as_bytes());
    let of_uri = uri
        .authority()
        .map(|authority| authority.as_str().as_bytes());
    for bytes in fields.chain(of_uri) {
        let Some(host) = std::str::from_utf8(bytes).ok().and_then(Host::parse) else {
            let shown = Escaped::shortened(&String::from_utf8_lossy(bytes)).to_string();
            return invalid(format!("`{shown}` is no host and port"));
        };
        named.push(host);
    }
    // HTTP/1.1 ignores the field if the address has a host.
    if let ([field, of_uri], true) = (named.as_slice(), version > Version::HTTP_11)
        && !field.agrees_with(of_uri)
    {
        return invalid("`Host` and `:authority` are different hosts".to_owned());
    }
    Ok(())
}

/// A host in lower case, and the port behind it.
#[derive(Debug, PartialEq, Eq)]
struct Host {
    name: String,
    port: Option<String>,
}

impl Host {
    /// The host that a text names: `uri-host [ ":" port ]` of RFC 9110. The text may be empty, but has no user
    /// information.
    fn parse(text: &str) -> Option<Self> {
        // A relative reference that begins with an authority.
        let reference = format!("//{text}");
        let reference = UriRef::parse(&*reference).ok()?;
        let authority = reference.authority()?;
        let is_alone = authority.as_str() == text && !authority.has_userinfo();
        let port = authority.port().map(|port| port.as_str().to_owned());
        is_alone.then(|| Self {
            name: authority.host().to_ascii_lowercase(),
            port: port.filter(|port| !port.is_empty()),
        })
    }

    /// Whether both can be the same host: a missing port is that of the scheme.
    fn agrees_with(&self, other: &Self) -> bool {
        let has_both = self.port.is_some() && other.port.is_some();
        self.name == other.name && (!has_both || self.port == other.port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a request with these fields `Host` is accepted.
    fn accepts(version: Version, address: &str, fields: &[&[u8]]) -> bool {
        let uri = address.parse().expect("an address");
        let mut headers = HeaderMap::new();
        for field in fields {
            let value = HeaderValue::from_bytes(field).expect("a value");
            headers.append(header::HOST, value);
        }
        check_host(version, &uri, &headers).is_ok()
    }

    #[test]
    fn a_host_is_a_name_or_an_address_with_or_without_a_port() {
        for valid in [
            "",
            "registry.example.org",
            "Registry.Example.ORG:8080",
            "localhost:",
            "127.0.0.1:80",
            "[::1]",
            "[2001:db8::1]:443",
            "[v1.fe:x]",
            "a_b~c",
            "a%20b",
            "a,b",
            "xn--bcher-kva.example",
        ] {
            assert!(
                accepts(Version::HTTP_11, "/", &[valid.as_bytes()]),
                "{valid}"
            );
            assert!(
                accepts(Version::HTTP_10, "/", &[valid.as_bytes()]),
                "{valid}"
            );
        }
        for invalid in [
            &b"a b"[..],
            b"a, b",
            b"user@x",
            b"user:password@x",
            b"@x",
            b"[::1",
            b"::1",
            b"[::1]x",
            b"[::1%25eth0]",
            b"[x]",
            b"x/y",
            b"x/",
            b"x?y",
            b"x#y",
            b"x:8y",
            b"x:-1",
            b"x:80:80",
            b"\"x\"",
            b"x%2",
            b"x%zz",
            b"http://x",
            b"//x",
            b"x\\y",
            b"<x>",
            b"x\ty",
            b"b\xc3\xbccher.example",
            b"b\xfccher.example",
        ] {
            let shown = String::from_utf8_lossy(invalid);
            assert!(!accepts(Version::HTTP_11, "/", &[invalid]), "{shown}");
            assert!(!accepts(Version::HTTP_10, "/", &[invalid]), "{shown}");
        }
    }

    #[test]
    fn a_request_names_one_host() {
        let (http_10, http_11, http_2) = (Version::HTTP_10, Version::HTTP_11, Version::HTTP_2);
        assert!(!accepts(http_11, "/", &[]));
        assert!(!accepts(http_11, "/", &[b"x", b"x"]));
        assert!(!accepts(http_11, "http://x/", &[]));
        assert!(accepts(http_10, "/", &[]));
        assert!(!accepts(http_10, "/", &[b"x", b"x"]));
        assert!(accepts(http_2, "http://x/", &[]));
        assert!(!accepts(http_2, "/", &[]));
    }

    #[test]
    fn the_host_of_an_address_is_valid_too() {
        for version in [Version::HTTP_10, Version::HTTP_11, Version::HTTP_2] {
            assert!(accepts(version, "http://x:80/y", &[b"x:80"]), "{version:?}");
            assert!(!accepts(version, "http://user@x/", &[b"x"]), "{version:?}");
        }
        for address in ["x", "x:80", "ftp://x/y"] {
            assert!(!accepts(Version::HTTP_11, address, &[b"x"]), "{address}");
        }
        // HTTP/1.1 uses the address, and HTTP/2 knows only one of them.
        assert!(accepts(Version::HTTP_11, "http://x/", &[b"y"]));
        for (field, expected) in [("X:443", true), ("x", true), ("y", false), ("x:80", false)] {
            let accepted = accepts(Version::HTTP_2, "https://x:443/", &[field.as_bytes()]);
            assert_eq!(accepted, expected, "{field}");
        }
    }
}
