//! Responses, with bodies that are sent piece by piece.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::StatusCode;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http_body::{Body, Frame, SizeHint};
use jiff::fmt::rfc2822::DateTimePrinter;

use crate::blobs::{self, Content};
use crate::index::Document;

/// The body of a response, in pieces that are not copied. An artifact is read piece by piece while it
/// is sent, which can fail.
#[derive(Default)]
pub struct ResponseBody {
    /// The pieces in memory.
    ready: VecDeque<Bytes>,
    /// The pieces that are read after them, and how many bytes these have. The mutex is never locked:
    /// it makes the body `Sync`.
    later: Option<(u64, Mutex<blobs::Pieces>)>,
}

impl ResponseBody {
    fn length(&self) -> u64 {
        let ready: u64 = self.ready.iter().map(|piece| piece.len() as u64).sum();
        let later = self.later.as_ref().map_or(0, |(length, _)| *length);
        ready + later
    }
}

impl From<Content> for ResponseBody {
    fn from(content: Content) -> Self {
        match content {
            Content::Whole(bytes) if bytes.is_empty() => Self::default(),
            Content::Whole(bytes) => Self {
                ready: VecDeque::from([bytes]),
                later: None,
            },
            Content::Pieces(0, _) => Self::default(),
            Content::Pieces(length, pieces) => Self {
                ready: VecDeque::new(),
                later: Some((length, Mutex::new(pieces))),
            },
        }
    }
}

impl fmt::Debug for ResponseBody {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ResponseBody")
            .field("length", &self.length())
            .finish_non_exhaustive()
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if let Some(piece) = self.ready.pop_front() {
            return Poll::Ready(Some(Ok(Frame::data(piece))));
        }
        let Some((left, pieces)) = &mut self.later else {
            return Poll::Ready(None);
        };
        let pieces = pieces.get_mut().unwrap_or_else(PoisonError::into_inner);
        let next = ready!(pieces.as_mut().poll_next(context));
        let next = match next {
            Some(Ok(piece)) if piece.len() as u64 <= *left => {
                *left -= piece.len() as u64;
                Ok(piece)
            }
            Some(Err(error)) => Err(error),
            // The head has announced the length, so another length has to break the connection.
            Some(Ok(_)) => Err(io::Error::other("the artifact is longer than it should be")),
            None => Err(io::ErrorKind::UnexpectedEof.into()),
        };
        if let Err(error) = &next {
            tracing::error!(%error, "an artifact could not be sent as a whole");
        }
        if next.is_err() || *left == 0 {
            self.later = None;
        }
        Poll::Ready(Some(next.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        self.ready.is_empty() && self.later.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.length())
    }
}

/// A response.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: ResponseBody,
}

/// Media types and cache rules of many responses.
pub(crate) const JSON: HeaderValue = HeaderValue::from_static("application/json");
pub(crate) const NO_CACHE: HeaderValue = HeaderValue::from_static("no-cache");
pub(crate) const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");

impl Response {
    /// A response without a body.
    pub(crate) fn empty(status: StatusCode) -> Self {
        Self {
            status,
            headers: HeaderMap::with_capacity(8),
            body: ResponseBody::default(),
        }
    }

    /// A response with a body.
    pub(crate) fn with_body(status: StatusCode, kind: HeaderValue, body: Bytes) -> Self {
        let mut response = Self::empty(status);
        response.headers.insert(header::CONTENT_TYPE, kind);
        if !body.is_empty() {
            response.body.ready.push_back(body);
        }
        response
    }

    /// A response with a body in several pieces.
    pub(crate) fn with_pieces(kind: HeaderValue, pieces: Vec<Bytes>) -> Self {
        let mut response = Self::empty(StatusCode::OK);
        response.headers.insert(header::CONTENT_TYPE, kind);
        response.body.ready = pieces.into();
        response
    }

    /// A document that clients store and revalidate: of the index, or a page for people.
    pub(crate) fn document(kind: HeaderValue, document: &Document) -> Self {
        let mut response = Self::with_body(StatusCode::OK, kind, document.body.clone());
        response.headers.insert(header::ETAG, document.etag.clone());
        response.headers.insert(header::CACHE_CONTROL, NO_CACHE);
        response
    }

    /// A JSON document that was made for this request, with its digest as `ETag`.
    pub(crate) fn json(value: &serde_json::Value) -> Self {
        Self::document(JSON, &Document::new(value.to_string()))
    }

    /// A JSON document with another status, which clients do not revalidate.
    pub(crate) fn json_with(status: StatusCode, value: &serde_json::Value) -> Self {
        let mut response = Self::with_body(status, JSON, value.to_string().into());
        response.headers.insert(header::CACHE_CONTROL, NO_CACHE);
        response
    }

    /// This response with a header.
    #[must_use]
    pub(crate) fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// This response with the time of its last change, as RFC 3339.
    #[must_use]
    pub(crate) fn modified(mut self, time: &str) -> Self {
        let time = time.parse().ok().and_then(http_date);
        let header = time.map(|time| (header::LAST_MODIFIED, time));
        self.headers.extend(header);
        self
    }

    /// Marks this response as one that depends on a header of the request.
    pub(crate) fn vary(&mut self, name: &'static str) {
        let known = self.headers.get_all(header::VARY);
        if !known.iter().any(|known| known == name) {
            self.headers
                .append(header::VARY, HeaderValue::from_static(name));
        }
    }

    /// Whether this is a body that was made for the request, and whose time is therefore now.
    pub(crate) fn is_made_now(&self) -> bool {
        let cached = self.headers.get(header::CACHE_CONTROL);
        let is_immutable = cached.is_some_and(|value| value.as_bytes().ends_with(b"immutable"));
        self.status.is_success()
            && self.headers.contains_key(header::CONTENT_TYPE)
            && !self.headers.contains_key(header::LAST_MODIFIED)
            && !is_immutable
    }

    /// Removes the body, and sets its length, as for `HEAD`.
    pub(crate) fn remove_body(&mut self) {
        let length = self.body.length();
        // A 304 says nothing of the length: its own is not that of the representation.
        if self.status == StatusCode::NOT_MODIFIED {
            return;
        }
        self.headers.insert(header::CONTENT_LENGTH, length.into());
        self.body = ResponseBody::default();
    }

    /// The response as the HTTP library sends it.
    pub(crate) fn into_http(self) -> http::Response<ResponseBody> {
        let mut response = http::Response::new(self.body);
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers;
        response
    }
}

/// A time as the value of a header.
pub(crate) fn http_date(time: jiff::Timestamp) -> Option<http::HeaderValue> {
    let text = DateTimePrinter::new().timestamp_to_rfc9110_string(&time);
    http::HeaderValue::from_str(&text.ok()?).ok()
}

#[cfg(test)]
mod tests {
    use futures_util::{FutureExt as _, stream};
    use http_body_util::BodyExt as _;

    use super::*;

    /// The bytes sent of pieces for which a length was announced.
    fn sent(length: u64, pieces: &'static [&'static str]) -> Result<Bytes, io::ErrorKind> {
        let pieces = pieces
            .iter()
            .map(|piece| Ok(Bytes::from_static(piece.as_bytes())));
        let body = ResponseBody::from(Content::Pieces(length, Box::pin(stream::iter(pieces))));
        assert_eq!(body.size_hint().exact(), Some(length));
        let collected = body
            .collect()
            .now_or_never()
            .expect("nothing is waited for");
        collected
            .map(http_body_util::Collected::to_bytes)
            .map_err(|error| error.kind())
    }

    #[test]
    fn a_body_of_another_length_than_announced_is_an_error() {
        assert_eq!(sent(6, &["abc", "def"]), Ok("abcdef".into()));
        assert_eq!(sent(0, &[]), Ok(Bytes::new()));
        assert_eq!(sent(6, &["abc"]), Err(io::ErrorKind::UnexpectedEof));
        assert_eq!(sent(6, &["abc", "defg"]), Err(io::ErrorKind::Other));
    }
}
