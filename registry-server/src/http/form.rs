//! Reads forms with files (`multipart/form-data`) from bodies of requests.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};

use base64::prelude::{BASE64_STANDARD, Engine as _};
use bytes::Bytes;
use futures_util::{Stream, stream};
use http::header;
use multer::{Field, Multipart};

use super::request::Request;
use crate::blobs::{Incoming, PIECE};
use crate::problem::{Problem, ProblemCode};

/// The limit of parts of a form. No client sends more than a few.
const MAX_PARTS: usize = 20;

/// A part of a form.
pub(super) struct Part {
    /// The name of the field.
    pub(super) name: String,
    /// The name of the file, if the part is one.
    pub(super) file_name: Option<String>,
    /// The content. A large one is in a file.
    pub(super) bytes: Bytes,
}

/// The problem of a form that is not as it should be.
pub(super) fn invalid(detail: impl Into<String>) -> Problem {
    Problem::new(ProblemCode::BodyInvalid, detail)
}

/// The parts of the form in the body of a request, in their order.
pub(super) fn read(request: &Request, incoming: &Incoming) -> Result<Vec<Part>, Problem> {
    let kind = request
        .headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let boundary = multer::parse_boundary(kind)
        .map_err(|_| invalid("the body has to be multipart/form-data, with a boundary"))?;
    let is_over = Arc::new(AtomicBool::new(false));
    let body = with_pauses(&request.body, Arc::clone(&is_over));
    let mut form = Multipart::new(body, boundary);
    let broken = || invalid("the form is invalid, or ends too early");
    let mut parts = Vec::new();
    while let Some(mut field) = finish(form.next_field(), &is_over)
        .ok_or_else(broken)?
        .map_err(|_| broken())?
    {
        if parts.len() == MAX_PARTS {
            return Err(invalid(format!("the form has more than {MAX_PARTS} parts")));
        }
        let mut decoder = is_base64(&field)?.then(Base64Decoder::default);
        let mut receiving = incoming.receive();
        while let Some(piece) = finish(field.chunk(), &is_over)
            .ok_or_else(broken)?
            .map_err(|_| broken())?
        {
            let added = match &mut decoder {
                Some(decoder) => receiving.add(&decoder.decode(&piece)?),
                None => receiving.add(&piece),
            };
            added.map_err(Problem::internal)?;
        }
        if decoder.is_some_and(|decoder| !decoder.is_complete()) {
            return Err(not_base64());
        }
        parts.push(Part {
            name: field.name().unwrap_or_default().to_owned(),
            file_name: field.file_name().map(str::to_owned),
            bytes: receiving.finish().map_err(Problem::internal)?,
        });
    }
    Ok(parts)
}

/// Whether a part is in base64, as programs send it that make forms like e-mails.
fn is_base64(field: &Field<'_>) -> Result<bool, Problem> {
    let Some(encoding) = field.headers().get("content-transfer-encoding") else {
        return Ok(false);
    };
    match encoding.to_str().map(str::to_ascii_lowercase).as_deref() {
        Ok("base64") => Ok(true),
        Ok("binary" | "8bit" | "7bit") => Ok(false),
        _ => Err(invalid(
            "the `Content-Transfer-Encoding` of a part is base64 or binary",
        )),
    }
}

fn not_base64() -> Problem {
    invalid("a part of the form is not the base64 that its `Content-Transfer-Encoding` says")
}

/// Decodes base64 in pieces.
#[derive(Default)]
struct Base64Decoder {
    /// The characters that are no whole group yet.
    rest: Vec<u8>,
    /// Whether the padding was there, after which nothing comes.
    is_padded: bool,
}

impl Base64Decoder {
    /// The bytes of all whole groups so far that were not decoded yet.
    fn decode(&mut self, piece: &[u8]) -> Result<Vec<u8>, Problem> {
        let characters = piece.iter().filter(|byte| !byte.is_ascii_whitespace());
        self.rest.extend(characters);
        let rest = self.rest.split_off(self.rest.len() / 4 * 4);
        let whole = std::mem::replace(&mut self.rest, rest);
        if whole.is_empty() {
            return Ok(whole);
        }
        if self.is_padded {
            return Err(not_base64());
        }
        self.is_padded = whole.ends_with(b"=");
        BASE64_STANDARD.decode(whole).map_err(|_| not_base64())
    }

    /// Whether the text ended with a whole group.
    fn is_complete(&self) -> bool {
        self.rest.is_empty()
    }
}

/// A body in pieces, with a pause after each: the parser takes everything into memory that it gets
/// without a pause.
fn with_pauses(
    body: &Bytes,
    is_over: Arc<AtomicBool>,
) -> impl Stream<Item = Result<Bytes, Infallible>> + Send + 'static {
    let mut rest = body.clone();
    let mut is_pause = false;
    stream::poll_fn(move |_| {
        is_pause = !is_pause;
        if !is_pause {
            return Poll::Pending;
        }
        let piece = rest.split_to(rest.len().min(PIECE));
        is_over.store(piece.is_empty(), Ordering::Relaxed);
        Poll::Ready((!piece.is_empty()).then_some(Ok(piece)))
    })
}

/// Polls a future through the pauses of [`with_pauses`]: it waits for nothing else, because the whole
/// body is here. None if it still waits when the body is over.
fn finish<T>(future: impl Future<Output = T>, is_over: &AtomicBool) -> Option<T> {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        let was_over = is_over.load(Ordering::Relaxed);
        match future.as_mut().poll(&mut context) {
            Poll::Ready(value) => return Some(value),
            Poll::Pending if was_over => return None,
            Poll::Pending => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes_of(pieces: &[&str]) -> Option<Vec<u8>> {
        let mut decoder = Base64Decoder::default();
        let mut bytes = Vec::new();
        for piece in pieces {
            bytes.extend(decoder.decode(piece.as_bytes()).ok()?);
        }
        decoder.is_complete().then_some(bytes)
    }

    #[test]
    fn base64_is_decoded_whatever_its_pieces_are() {
        for (pieces, expected) in [
            (&["aGVsbG8gd29ybGQ="][..], Some("hello world")),
            (
                &["a", "GV", "sbG8g\r\nd2", "9ybGQ", "=", "\r\n"],
                Some("hello world"),
            ),
            (&[], Some("")),
            (&["\r\n"], Some("")),
            (&["aGVsbG8gd29ybGQ"], None),
            (&["aGVsbG8gd29ybGQ=", "aGVs"], None),
            (&["aGVsbG8gd29ybGQ=aGVs"], None),
            (&["aGV*"], None),
            (&["a"], None),
        ] {
            let expected = expected.map(|text| text.as_bytes().to_vec());
            assert_eq!(bytes_of(pieces), expected, "{pieces:?}");
        }
    }
}
