//! Addresses between the documents of the API of Galaxy.
//!
//! Clients resolve addresses against the host alone, so these begin with `/`. A proxy that serves the registry below a
//! path says which in `X-Forwarded-Prefix`.

use http::HeaderMap;
use pkgres_manifest::{PackageName, Version};

use crate::http::request::{FORWARDED_PREFIX, Request};
use crate::http::response::Response;

/// The longest path of a proxy, in bytes.
const MAX_PREFIX: usize = 200;

/// The addresses in the response to a request.
pub(super) struct Addresses {
    /// Empty, or a path that begins with `/` and does not end with one.
    prefix: String,
}

impl Addresses {
    pub(super) fn of(request: &Request) -> Self {
        Self {
            prefix: prefix(&request.headers).unwrap_or_default(),
        }
    }

    /// A path below the base of version 3.
    fn below(&self, path: &str) -> String {
        format!("{}/api/v3/{path}", self.prefix)
    }

    /// All collections.
    pub(super) fn collections(&self) -> String {
        self.below("collections/")
    }

    /// A collection.
    pub(super) fn collection(&self, name: &PackageName) -> String {
        let (namespace, name) = halves(name);
        self.below(&format!("collections/{namespace}/{name}/"))
    }

    /// The versions of a collection.
    pub(super) fn versions(&self, name: &PackageName) -> String {
        format!("{}versions/", self.collection(name))
    }

    /// A version of a collection.
    pub(super) fn version(&self, name: &PackageName, version: &Version) -> String {
        format!("{}{version}/", self.versions(name))
    }

    /// An artifact by its digest, with a name for its file.
    pub(super) fn artifact(&self, sha256: &str, file: &str) -> String {
        self.below(&format!("artifacts/collections/{sha256}/{file}"))
    }

    /// The task of a publish.
    pub(super) fn task(&self, sha256: &str) -> String {
        self.below(&format!("imports/collections/{sha256}/"))
    }
}

/// Marks a response whose addresses depend on the proxy.
pub(super) fn with_addresses(mut response: Response) -> Response {
    response.vary(FORWARDED_PREFIX);
    response
}

/// The namespace and the name of a collection.
pub(super) fn halves(name: &PackageName) -> (&str, &str) {
    name.as_str().split_once('.').unwrap_or((name.as_str(), ""))
}

/// The path that a proxy removed. Anything but plain segments is no path of a proxy, and could lead elsewhere.
fn prefix(headers: &HeaderMap) -> Option<String> {
    let text = headers
        .get(FORWARDED_PREFIX)?
        .to_str()
        .ok()?
        .trim_end_matches('/');
    let is_plain = |segment: &str| {
        let is_known = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
        !segment.is_empty() && segment.bytes().all(is_known) && !matches!(segment, "." | "..")
    };
    let is_path = text.len() <= MAX_PREFIX && text.strip_prefix('/')?.split('/').all(is_plain);
    is_path.then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn only_a_plain_path_is_the_prefix_of_a_proxy() {
        for (text, expected) in [
            ("/packages", Some("/packages")),
            ("/a/b-c_d.e~1/", Some("/a/b-c_d.e~1")),
            ("/", None),
            ("", None),
            ("packages", None),
            ("//example.org", None),
            ("/a//b", None),
            ("/a/../b", None),
            ("/a?b", None),
            ("/a b", None),
            ("/%2e", None),
            ("https://example.org/", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(FORWARDED_PREFIX, HeaderValue::from_static(text));
            assert_eq!(prefix(&headers).as_deref(), expected, "{text}");
        }
        assert_eq!(prefix(&HeaderMap::new()), None);
    }
}
