//! A body that is served, with what goes into its headers.

use bytes::Bytes;
use http::HeaderValue;
use pkgres_registry_client::protocol::Digest;

/// A body that is served, with its digest and `ETag`, which are worked out once.
#[derive(Debug, Clone)]
pub(crate) struct Document {
    pub(crate) body: Bytes,
    pub(crate) digest: Digest,
    pub(crate) etag: HeaderValue,
}

impl Document {
    pub(crate) fn new(body: impl Into<Bytes>) -> Self {
        let body = body.into();
        let digest = Digest::of(&body);
        Self::of_digest(body, digest)
    }

    /// A body whose digest is known.
    pub(crate) fn of_digest(body: impl Into<Bytes>, digest: Digest) -> Self {
        let etag = HeaderValue::from_str(&digest.to_etag())
            .expect("quotes and hexadecimal digits can stand in a header");
        Self {
            body: body.into(),
            digest,
            etag,
        }
    }
}
