//! Requests before they are sent.

use std::sync::Arc;

use pkgres_manifest::PackageName;
use reqwest::Method;
use url::Url;

use crate::protocol::Digest;

/// The content that a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    /// A document, which may be compressed on the way.
    Document,
    /// An artifact, as it is stored.
    Artifact,
}

impl Content {
    /// The value of `Accept-Encoding`.
    pub(super) fn accepted_codings(self) -> &'static str {
        match self {
            Self::Document => "gzip",
            Self::Artifact => "identity",
        }
    }
}

/// A request before it is sent.
#[derive(Debug, Clone)]
pub(super) struct Request {
    pub(super) method: Method,
    pub(super) url: Url,
    /// The digest of the cached body, which need not be sent again.
    pub(super) cached: Option<Digest>,
    /// A body and its media type.
    pub(super) body: Option<(Arc<Vec<u8>>, &'static str)>,
    /// The content that the response has.
    pub(super) content: Content,
    /// The limit of the body of the response, in bytes.
    pub(super) limit: u64,
    /// The microversion of the API that the request needs, if the oldest is not enough.
    pub(super) api_version: Option<&'static str>,
    /// Whether carrying the request out twice creates two things. It is repeated only if the registry refused it.
    pub(super) creates: bool,
}

impl Request {
    /// Whether the method changes nothing.
    pub(super) fn is_reading(&self) -> bool {
        self.method == Method::GET || self.method == Method::HEAD
    }

    /// Whether it changes something. Other requests have a body as well.
    pub(super) fn is_write(&self) -> bool {
        self.creates || self.method == Method::PUT || self.method == Method::DELETE
    }

    /// The package that it is about.
    pub(super) fn package(&self) -> Option<PackageName> {
        let mut parts = self.url.path_segments()?;
        parts.find(|part| *part == "packages")?;
        PackageName::parse(parts.next()?).ok()
    }

    /// A request for an artifact.
    pub(super) fn artifact(url: Url, limit: u64) -> Self {
        Self {
            content: Content::Artifact,
            ..Self::get(url, limit)
        }
    }

    /// A request for a document.
    pub(super) fn get(url: Url, limit: u64) -> Self {
        Self {
            method: Method::GET,
            url,
            cached: None,
            body: None,
            content: Content::Document,
            limit,
            api_version: None,
            creates: false,
        }
    }
}
