//! What is answered.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Response, StatusCode};
use http_body::{Body, Frame, SizeHint};

use crate::blobs::{self, Content};
use crate::index::Document;

/// The body of an answer: pieces that are sent one after the other, without being copied. Some are
/// only read when those before them are sent, which can fail.
#[derive(Default)]
pub struct Pieces {
    /// What is there.
    ready: VecDeque<Bytes>,
    /// What is read after that, and how many bytes of it are still to come.
    later: Option<(u64, blobs::Pieces)>,
}

impl Pieces {
    fn length(&self) -> u64 {
        let ready: u64 = self.ready.iter().map(|piece| piece.len() as u64).sum();
        let later = self.later.as_ref().map_or(0, |(length, _)| *length);
        ready + later
    }
}

impl From<Content> for Pieces {
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
                later: Some((length, pieces)),
            },
        }
    }
}

impl fmt::Debug for Pieces {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Pieces")
            .field("length", &self.length())
            .finish_non_exhaustive()
    }
}

impl Body for Pieces {
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
        let next = ready!(pieces.as_mut().poll_next(context));
        let next = match next {
            Some(Ok(piece)) if piece.len() as u64 <= *left => {
                *left -= piece.len() as u64;
                Ok(piece)
            }
            Some(Err(error)) => Err(error),
            // The length was said before: an answer of another one has to be seen to be broken.
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
            reply.body.ready.push_back(body);
        }
        reply
    }

    /// An answer in several pieces.
    pub(crate) fn with_pieces(kind: HeaderValue, pieces: Vec<Bytes>) -> Self {
        let mut reply = Self::empty(StatusCode::OK);
        reply.headers.insert(header::CONTENT_TYPE, kind);
        reply.body.ready = pieces.into();
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

#[cfg(test)]
mod tests {
    use futures_util::{FutureExt as _, stream};
    use http_body_util::BodyExt as _;

    use super::*;

    /// What is sent of pieces of which so many bytes were announced.
    fn sent(length: u64, pieces: &'static [&'static str]) -> Result<Bytes, io::ErrorKind> {
        let pieces = pieces
            .iter()
            .map(|piece| Ok(Bytes::from_static(piece.as_bytes())));
        let body = Pieces::from(Content::Pieces(length, Box::pin(stream::iter(pieces))));
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
    fn what_is_not_as_long_as_was_said_is_no_whole_answer() {
        assert_eq!(sent(6, &["abc", "def"]), Ok("abcdef".into()));
        assert_eq!(sent(0, &[]), Ok(Bytes::new()));
        assert_eq!(sent(6, &["abc"]), Err(io::ErrorKind::UnexpectedEof));
        assert_eq!(sent(6, &["abc", "defg"]), Err(io::ErrorKind::Other));
    }
}
