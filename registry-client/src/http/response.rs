//! Responses: their kinds, and their bodies while they arrive.

use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{self, HeaderMap};
use reqwest::{Method, Response, StatusCode};

use crate::protocol::ErrorDocument;

use super::error::{AttemptError, ErrorKind, causes};
use super::network_limits::Usage;
use super::request::Request;

/// The largest body of an error that is read, in bytes.
const MAX_ERROR_BYTES: u64 = 64 << 10;

/// A response.
#[derive(Debug)]
pub(super) enum Reply {
    /// The response has a body.
    Body { body: Vec<u8>, is_new: bool },
    /// The cached body is up to date (304).
    Unchanged,
    /// The resource does not exist (404, 410, 451).
    Absent,
}

impl Reply {
    /// The body of a response that must have one.
    pub(super) fn body(self) -> Result<Vec<u8>, AttemptError> {
        match self {
            Self::Body { body, .. } => Ok(body),
            Self::Unchanged => Err(AttemptError::new(
                ErrorKind::Malformed,
                "it answers 304 to an unconditional request",
            )),
            Self::Absent => Err(AttemptError::new(
                ErrorKind::Malformed,
                "it is not there (404)",
            )),
        }
    }
}

/// A reader of a body while it arrives.
pub(super) trait Reader {
    type Output;

    /// Takes the next piece.
    fn take(&mut self, piece: Bytes) -> Result<(), AttemptError>;

    /// The result of the whole body.
    fn finish(self) -> Result<Self::Output, AttemptError>;
}

/// A response whose body has not arrived yet.
pub(super) enum ResponseHead {
    Body { response: Response, is_new: bool },
    Unchanged,
    Absent,
}

/// Classifies a response by its status. The body of an error is read.
pub(super) async fn classify(
    response: Response,
    request: &Request,
    usage: &Usage,
) -> Result<ResponseHead, AttemptError> {
    let status = response.status();
    if status == StatusCode::NOT_MODIFIED {
        return Ok(ResponseHead::Unchanged);
    }
    if status.is_success() {
        let is_new = status == StatusCode::CREATED;
        return Ok(ResponseHead::Body { response, is_new });
    }
    let is_absence = matches!(status.as_u16(), 404 | 410 | 451);
    if is_absence && request.method == Method::GET {
        return Ok(ResponseHead::Absent);
    }
    let retry_after = retry_after(response.headers());
    let body = match read_body(response, MAX_ERROR_BYTES, usage).await {
        Ok(body) => body,
        Err(error) if matches!(error.kind, ErrorKind::Limit(_)) => return Err(error),
        // The status is the message.
        Err(_) => Vec::new(),
    };
    let detail = ErrorDocument::parse(&body)
        .ok()
        .and_then(|document| document.errors.into_iter().next());
    let request_id = detail
        .as_ref()
        .filter(|entry| status.is_server_error() && !entry.request_id.is_empty())
        .map_or(String::new(), |entry| {
            format!(", request {}", entry.request_id)
        });
    let code = detail.as_ref().map(|entry| entry.code.clone());
    let code = code.unwrap_or_default();
    let reason = match detail {
        Some(entry) if !entry.detail.is_empty() => {
            let comma = if code.is_empty() { "" } else { ", " };
            format!(
                "{} ({}{comma}{code}{request_id})",
                entry.detail,
                status.as_u16()
            )
        }
        _ => format!("it answers {status}"),
    };
    Err(match status.as_u16() {
        // The answer of a proxy: another token for the registry would not help.
        407 => AttemptError::new(ErrorKind::ProxyDenied, reason),
        // No token may do what cannot be done: logging in would not help.
        401 | 403 if code != "pkgres.not_changeable" => AttemptError {
            code,
            ..AttemptError::new(ErrorKind::Denied, reason)
        },
        status @ (408 | 429 | 500 | 502 | 503 | 504 | 520) => AttemptError {
            retry_after,
            was_refused: matches!(status, 429 | 503),
            ..AttemptError::transient(ErrorKind::Unreachable, reason)
        },
        400..500 if request.method != Method::GET => AttemptError {
            code,
            ..AttemptError::new(ErrorKind::Rejected, reason)
        },
        _ => AttemptError::new(ErrorKind::Unreachable, reason),
    })
}

/// Reads a body to its end. A body that is shorter than announced is an error.
pub(super) async fn read_body(
    response: Response,
    limit: u64,
    usage: &Usage,
) -> Result<Vec<u8>, AttemptError> {
    // The announced length is a claim: beyond a point, memory is allocated for bytes that arrived only.
    let announced = response.content_length().unwrap_or_default();
    let capacity = usize::try_from(announced.min(1 << 20)).unwrap_or_default();
    let mut body = Vec::with_capacity(capacity);
    each_piece(response, limit, usage, |piece| {
        body.extend_from_slice(&piece);
        Ok(())
    })
    .await?;
    Ok(body)
}

/// Passes on a body in pieces, to its end.
pub(super) async fn each_piece(
    mut response: Response,
    limit: u64,
    usage: &Usage,
    mut take: impl FnMut(Bytes) -> Result<(), AttemptError>,
) -> Result<(), AttemptError> {
    let too_large = || {
        let reason = format!("the answer has more than the limit of {limit} bytes");
        AttemptError::new(ErrorKind::Malformed, reason)
    };
    if response.content_length().unwrap_or_default() > limit {
        return Err(too_large());
    }
    let mut meter = usage.meter();
    let mut length = 0;
    loop {
        match meter.wait(response.chunk()).await? {
            Ok(Some(piece)) => {
                meter.count(piece.len())?;
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
                    causes(&error.without_url())
                );
                return Err(AttemptError::transient(ErrorKind::Unreachable, reason));
            }
        }
    }
}

/// The time to wait before the next attempt (`Retry-After`): in seconds, or as a date, which is compared with
/// the registry's own clock.
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
    fn retry_after_is_a_number_or_a_date() {
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
