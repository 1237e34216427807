//! Responses: their kinds, and their bodies while they arrive.

use std::time::Duration;

use bytes::Bytes;
use pkgres_manifest::read_json;
use reqwest::header::{self, HeaderMap};
use reqwest::{Method, Response, StatusCode};
use url::Url;

use crate::protocol::ErrorDocument;

use super::address::shown;
use super::content_coding::Decoder;
use super::error::{AttemptError, ErrorAnswer, ErrorKind};
use super::network_limits::Usage;
use super::request::{Content, Request};

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

/// What is known of a response besides its body.
pub(super) struct Origin {
    url: Url,
    /// Whether it says that its body is HTML.
    is_html: bool,
}

impl Origin {
    pub(super) fn of(response: &Response) -> Self {
        let kind = response.headers().get(header::CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim();
        let is_html = ["text/html", "application/xhtml+xml"]
            .iter()
            .any(|html| kind.eq_ignore_ascii_case(html));
        Self {
            url: response.url().clone(),
            is_html,
        }
    }

    /// The error of a body that is a web page, such as networks and proxies send that require a login.
    pub(super) fn web_page(&self, body: &[u8], request: &Request) -> Option<AttemptError> {
        if !is_web_page(self.is_html, body) {
            return None;
        }
        let reason = if self.url == request.url {
            "the answer is a web page".to_owned()
        } else {
            format!("it redirects to {}, which is a web page", shown(&self.url))
        };
        Some(AttemptError::new(ErrorKind::Intercepted, reason))
    }
}

/// Whether a body is a web page, from its beginning and from what its response says. No document and no artifact of a
/// registry begins like one.
fn is_web_page(is_html: bool, body: &[u8]) -> bool {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    let body = body.trim_ascii_start();
    let begins = |begin: &[u8]| {
        let start = body.get(..begin.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(begin))
    };
    (is_html && begins(b"<")) || begins(b"<!doctype html") || begins(b"<html")
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
        // Anything else has no whole representation: 204 has none, and 206 a part of one.
        let is_whole = matches!(status.as_u16(), 200 | 203);
        if request.is_reading() && !is_whole {
            let reason = format!("it answers {status}");
            return Err(AttemptError::new(ErrorKind::Malformed, reason));
        }
        let is_new = status == StatusCode::CREATED;
        return Ok(ResponseHead::Body { response, is_new });
    }
    let is_absence = matches!(status.as_u16(), 404 | 410 | 451);
    if is_absence && request.method == Method::GET {
        return Ok(ResponseHead::Absent);
    }
    let retry_after = retry_after(response.headers());
    let read = read_body(response, Content::Document, MAX_ERROR_BYTES, usage);
    let body = match read.await {
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
    let answer = detail.as_ref().map(|entry| ErrorAnswer {
        code: entry.code.clone(),
        hints: entry.hints.clone(),
        ..ErrorAnswer::default()
    });
    let answer = Box::new(answer.unwrap_or_default());
    let code = &answer.code;
    let reason = match detail {
        Some(entry) if !entry.detail.is_empty() => {
            let comma = if code.is_empty() { "" } else { ", " };
            format!(
                "{} ({}{comma}{code}{request_id})",
                entry.detail,
                status.as_u16()
            )
        }
        _ => match oauth_description(&body) {
            Some(description) => format!("{description} ({})", status.as_u16()),
            None => format!("it answers {status}"),
        },
    };
    Err(match status.as_u16() {
        // The answer of a proxy: another token for the registry would not help.
        407 => AttemptError::new(ErrorKind::ProxyDenied, reason),
        511 => AttemptError::new(ErrorKind::Intercepted, reason),
        // No token may do what cannot be done: logging in would not help.
        401 | 403 if code != "pkgres.not_changeable" => AttemptError {
            answer,
            ..AttemptError::new(ErrorKind::Denied, reason)
        },
        status @ (408 | 429 | 500 | 502 | 503 | 504 | 520) => AttemptError {
            retry_after,
            was_refused: matches!(status, 429 | 503),
            ..AttemptError::transient(ErrorKind::Unreachable, reason)
        },
        400..500 if request.method != Method::GET => AttemptError {
            answer,
            ..AttemptError::new(ErrorKind::Rejected, reason)
        },
        _ => AttemptError::new(ErrorKind::Unreachable, reason),
    })
}

/// The description in an error of a server that exchanges tokens (RFC 6749, section 5.2).
fn oauth_description(body: &[u8]) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct OauthError {
        error_description: String,
    }
    let error: OauthError = read_json(body).ok()?;
    Some(error.error_description)
}

/// Reads a body to its end. A body that is shorter than announced is an error.
pub(super) async fn read_body(
    response: Response,
    content: Content,
    limit: u64,
    usage: &Usage,
) -> Result<Vec<u8>, AttemptError> {
    // The announced length is a claim: beyond a point, memory is allocated for bytes that arrived only.
    let announced = response.content_length().unwrap_or_default();
    let capacity = usize::try_from(announced.min(1 << 20)).unwrap_or_default();
    let mut body = Vec::with_capacity(capacity);
    each_piece(response, content, limit, usage, |piece| {
        body.extend_from_slice(&piece);
        Ok(())
    })
    .await?;
    Ok(body)
}

/// Passes on a body in pieces, to its end. The limit is that of the decoded body.
pub(super) async fn each_piece(
    mut response: Response,
    content: Content,
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
    let mut decoder = Decoder::of(response.headers(), content)?;
    let mut meter = usage.meter();
    let mut received = 0;
    let mut length = 0;
    let mut take = |piece: Bytes| {
        length += piece.len() as u64;
        if length > limit {
            return Err(too_large());
        }
        take(piece)
    };
    loop {
        match meter.wait(response.chunk()).await? {
            Ok(Some(piece)) => {
                meter.count(piece.len())?;
                received += piece.len();
                decoder.decode(piece, &mut take)?;
            }
            Ok(None) => return decoder.finish(&mut take),
            Err(error) => {
                let failed = AttemptError::of_library(ErrorKind::Unreachable, error);
                return Err(AttemptError {
                    reason: format!(
                        "the answer was cut off after {received} bytes: {}",
                        failed.reason
                    ),
                    is_transient: true,
                    ..failed
                });
            }
        }
    }
}

/// The time to wait before the next attempt (`Retry-After`): in seconds, or as a date, which is compared with
/// the registry's own clock.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name| headers.get(name)?.to_str().ok();
    let after = text(header::RETRY_AFTER)?.trim();
    if !after.is_empty() && after.bytes().all(|byte| byte.is_ascii_digit()) {
        // A number that is too large is longer than anything waits.
        return Some(Duration::from_secs(after.parse().unwrap_or(u64::MAX)));
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
    fn web_pages_are_known_by_their_beginning() {
        for (is_html, body, expected) in [
            (false, "<!DOCTYPE html>", true),
            (false, "\u{feff}\r\n<HTML lang=en>", true),
            (true, " <!-- login --><html>", true),
            (false, "<?xml version=\"1.0\"?><UANodeSet/>", false),
            (true, "{}", false),
            (true, "", false),
            (false, "<htm", false),
        ] {
            assert_eq!(is_web_page(is_html, body.as_bytes()), expected, "{body}");
        }
    }

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
        assert_eq!(wait("+7"), None);
        let longest = Some(Duration::from_secs(u64::MAX));
        assert_eq!(wait("99999999999999999999999"), longest);
        assert_eq!(retry_after(&HeaderMap::new()), None);
    }
}
