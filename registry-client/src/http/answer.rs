//! Answers: what kind each is, and its body while it arrives.

use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{self, HeaderMap};
use reqwest::{Method, Response, StatusCode};

use crate::protocol::ErrorDocument;

use super::ask::Ask;
use super::fault::{Fault, FaultKind, told};

/// The largest body of an error that is read, in bytes.
const MAX_ERROR_BYTES: u64 = 64 << 10;

/// What is answered.
#[derive(Debug)]
pub(super) enum Reply {
    /// There is a body.
    Found { body: Vec<u8>, is_new: bool },
    /// The body at hand is still right.
    Unchanged,
    /// There is no such thing.
    Absent,
}

impl Reply {
    /// The body of an answer that has to have one.
    pub(super) fn body(self) -> Result<Vec<u8>, Fault> {
        match self {
            Self::Found { body, .. } => Ok(body),
            Self::Unchanged => Err(Fault::new(
                FaultKind::Malformed,
                "it says that nothing changed, but was not asked that",
            )),
            Self::Absent => Err(Fault::new(FaultKind::Malformed, "it is not there (404)")),
        }
    }
}

/// What becomes of the body of an answer while it arrives.
pub(super) trait Reader {
    type Output;

    /// Takes the next piece.
    fn take(&mut self, piece: Bytes) -> Result<(), Fault>;

    /// Says what the whole body is worth.
    fn finish(self) -> Result<Self::Output, Fault>;
}

/// The beginning of an answer.
pub(super) enum Opened {
    Body { response: Response, is_new: bool },
    Unchanged,
    Absent,
}

/// Says what kind of answer it is.
pub(super) async fn judge(response: Response, ask: &Ask) -> Result<Opened, Fault> {
    let status = response.status();
    if status == StatusCode::NOT_MODIFIED {
        return Ok(Opened::Unchanged);
    }
    if status.is_success() {
        let is_new = status == StatusCode::CREATED;
        return Ok(Opened::Body { response, is_new });
    }
    let is_absence = matches!(status.as_u16(), 404 | 410 | 451);
    if is_absence && ask.method == Method::GET {
        return Ok(Opened::Absent);
    }
    let retry_after = retry_after(response.headers());
    let body = read_body(response, MAX_ERROR_BYTES)
        .await
        .unwrap_or_default();
    let detail = ErrorDocument::parse(&body)
        .ok()
        .and_then(|document| document.errors.into_iter().next());
    let code = detail.as_ref().map(|entry| entry.code.clone());
    let code = code.unwrap_or_default();
    let reason = match detail {
        Some(entry) if !entry.detail.is_empty() => {
            let comma = if code.is_empty() { "" } else { ", " };
            format!("{} ({}{comma}{code})", entry.detail, status.as_u16())
        }
        _ => format!("it answers {status}"),
    };
    Err(match status.as_u16() {
        401 | 403 | 407 => Fault {
            code,
            ..Fault::new(FaultKind::Denied, reason)
        },
        408 | 429 | 500 | 502 | 503 | 504 => Fault {
            retry_after,
            ..Fault::transient(FaultKind::Unreachable, reason)
        },
        400..500 if ask.method != Method::GET => Fault {
            code,
            ..Fault::new(FaultKind::Refused, reason)
        },
        _ => Fault::new(FaultKind::Unreachable, reason),
    })
}

/// Reads a body to its end, which has to be where the registry said.
pub(super) async fn read_body(response: Response, limit: u64) -> Result<Vec<u8>, Fault> {
    // What is announced is not believed beyond a point: the body has to come first.
    let announced = response.content_length().unwrap_or_default();
    let room = usize::try_from(announced.min(1 << 20)).unwrap_or_default();
    let mut body = Vec::with_capacity(room);
    each_piece(response, limit, |piece| {
        body.extend_from_slice(&piece);
        Ok(())
    })
    .await?;
    Ok(body)
}

/// Hands on a body in pieces, to its end.
pub(super) async fn each_piece(
    mut response: Response,
    limit: u64,
    mut take: impl FnMut(Bytes) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let too_large = || {
        let reason = format!("the answer has more than the limit of {limit} bytes");
        Fault::new(FaultKind::Malformed, reason)
    };
    if response.content_length().unwrap_or_default() > limit {
        return Err(too_large());
    }
    let mut length = 0;
    loop {
        match response.chunk().await {
            Ok(Some(piece)) => {
                length += piece.len() as u64;
                if length > limit {
                    return Err(too_large());
                }
                take(piece)?;
            }
            Ok(None) => return Ok(()),
            Err(error) => {
                let reason = format!(
                    "the answer was cut off after {length} bytes: {}",
                    told(&error.without_url())
                );
                return Err(Fault::transient(FaultKind::Unreachable, reason));
            }
        }
    }
}

/// How long to wait before the next try, as the registry says: in seconds, or as a time, which is
/// compared with the registry's own clock.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name| headers.get(name)?.to_str().ok();
    let after = text(header::RETRY_AFTER)?.trim();
    if let Ok(seconds) = after.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let time = |text: &str| {
        let zoned = jiff::fmt::rfc2822::parse(text).ok()?;
        Some(zoned.timestamp())
    };
    let wait = time(after)?.duration_since(time(text(header::DATE)?)?);
    Some(wait.try_into().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registries_say_how_long_to_wait_in_two_ways() {
        let wait = |after: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::RETRY_AFTER, after.parse().expect("a header"));
            let date = "Sat, 21 Nov 2026 08:00:00 GMT".parse().expect("a header");
            headers.insert(header::DATE, date);
            retry_after(&headers)
        };
        assert_eq!(wait("7"), Some(Duration::from_secs(7)));
        let seconds = Some(Duration::from_secs(90));
        assert_eq!(wait("Sat, 21 Nov 2026 08:01:30 GMT"), seconds);
        assert_eq!(wait("Sat, 21 Nov 2026 07:00:00 GMT"), Some(Duration::ZERO));
        assert_eq!(wait("soon"), None);
        assert_eq!(retry_after(&HeaderMap::new()), None);
    }
}
