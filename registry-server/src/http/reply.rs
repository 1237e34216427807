//! What is answered.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Response, StatusCode};
use http_body::{Body, Frame, SizeHint};

use crate::index::Document;

/// The body of an answer: pieces that are sent one after the other, without being copied.
#[derive(Debug, Default)]
pub struct Pieces(VecDeque<Bytes>);

impl Pieces {
    fn length(&self) -> u64 {
        self.0.iter().map(|piece| piece.len() as u64).sum()
    }
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.pop_front().map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.length())
    }
}

/// An answer that is being put together.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Pieces,
}

/// Media types and cache rules that stand in many answers.
pub(crate) const JSON: HeaderValue = HeaderValue::from_static("application/json");
pub(crate) const NO_CACHE: HeaderValue = HeaderValue::from_static("no-cache");

impl Reply {
    /// An answer without a body.
    pub(crate) fn empty(status: StatusCode) -> Self {
        Self {
            status,
            headers: HeaderMap::with_capacity(8),
            body: Pieces::default(),
        }
    }

    /// An answer with a body.
    pub(crate) fn with_body(status: StatusCode, kind: HeaderValue, body: Bytes) -> Self {
        let mut reply = Self::empty(status);
        reply.headers.insert(header::CONTENT_TYPE, kind);
        if !body.is_empty() {
            reply.body.0.push_back(body);
        }
        reply
    }

    /// An answer in several pieces.
    pub(crate) fn with_pieces(kind: HeaderValue, pieces: Vec<Bytes>) -> Self {
        let mut reply = Self::empty(StatusCode::OK);
        reply.headers.insert(header::CONTENT_TYPE, kind);
        reply.body = Pieces(pieces.into());
        reply
    }

    /// A document of the index: to be kept, and asked about.
    pub(crate) fn document(kind: HeaderValue, document: &Document) -> Self {
        let mut reply = Self::with_body(StatusCode::OK, kind, document.body.clone());
        reply.headers.insert(header::ETAG, document.etag.clone());
        reply.headers.insert(header::CACHE_CONTROL, NO_CACHE);
        reply
    }

    /// A JSON document that was put together for this request, with its digest as `ETag`.
    pub(crate) fn json(value: &serde_json::Value) -> Self {
        Self::document(JSON, &Document::new(value.to_string()))
    }

    /// Likewise with another status, and nothing to keep.
    pub(crate) fn json_with(status: StatusCode, value: &serde_json::Value) -> Self {
        let mut reply = Self::with_body(status, JSON, value.to_string().into());
        reply.headers.insert(header::CACHE_CONTROL, NO_CACHE);
        reply
    }

    /// Adds a header.
    #[must_use]
    pub(crate) fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// Leaves the body out, but says how long it would be, as for `HEAD`.
    pub(crate) fn leave_body_out(&mut self) {
        let length = self.body.length();
        self.headers.insert(header::CONTENT_LENGTH, length.into());
        self.body = Pieces::default();
    }

    /// The answer as it is sent.
    pub(crate) fn into_response(self) -> Response<Pieces> {
        let mut response = Response::new(self.body);
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers;
        response
    }
}
