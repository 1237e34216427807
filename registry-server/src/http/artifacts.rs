//! Downloads of artifacts by digest, whole or in ranges.

use http::{HeaderMap, HeaderValue, StatusCode, header};
use pkgres_registry_client::protocol::Digest;

use super::error_response::errors_document;
use super::query::digits;
use super::request::Request;
use super::response::Response;
use super::route::{AnswerBody, GET, Handler, Route, Surface};
use super::service::Service;
use crate::problem::{Problem, ProblemCode};

/// `blobs/`: artifacts.
pub(crate) const SURFACE: Surface = Surface {
    prefix: "blobs/",
    routes: &[Route {
        path: "blobs/sha256/{digest}",
        handlers: &[Handler {
            summary: "An artifact, or a range of it",
            media_type: "application/zip",
            run: blob,
            answers: &[(200, AnswerBody::Raw), (206, AnswerBody::Raw)],
            problems: &[ProblemCode::NoSuchBlob, ProblemCode::RangeNotSatisfiable],
            ..GET
        }],
    }],
    has_microversions: false,
    error_schema: "Errors",
    error: errors_document,
};

/// How long caches may keep what an address with a digest leads to.
pub(super) const FOREVER: &str = "public, max-age=31536000, immutable";

/// Downloads an artifact. It never changes, so that every cache may keep it.
fn blob(service: &Service, request: &Request) -> Result<Response, Problem> {
    let missing = || {
        let detail = "there is no artifact with this digest";
        Problem::new(ProblemCode::NoSuchBlob, detail)
    };
    let digest = Digest::parse(request.part(0)).map_err(|_| missing())?;
    let response = artifact(
        service,
        &request.headers,
        &digest,
        "application/zip",
        missing,
    )?;
    Ok(response.header(header::CACHE_CONTROL, HeaderValue::from_static(FOREVER)))
}

/// An artifact, or the range of it that the headers request. An invalid range, or several ranges, give
/// the whole artifact, as RFC 9110 allows.
pub(super) fn artifact(
    service: &Service,
    headers: &HeaderMap,
    digest: &Digest,
    kind: &'static str,
    missing: impl Fn() -> Problem,
) -> Result<Response, Problem> {
    let etag = HeaderValue::from_str(&digest.to_etag()).map_err(Problem::internal)?;
    let registry = &service.registry;
    let mut part = None;
    if let Some(requested) = requested_range(headers, &etag) {
        let length = registry.artifact_length(digest)?.ok_or_else(&missing)?;
        match parse_range(requested, length) {
            RequestedRange::Whole => {}
            RequestedRange::Outside => {
                let detail = format!("the artifact has {length} bytes");
                let mut problem = Problem::new(ProblemCode::RangeNotSatisfiable, detail);
                problem.length = Some(length);
                return Err(problem);
            }
            RequestedRange::Part(first, last) => part = Some((first, last, length)),
        }
    }
    let range = part.map(|(first, last, _)| first..last + 1);
    let content = registry.artifact_content(digest, range)?;
    let mut response = Response::empty(StatusCode::OK)
        .header(header::CONTENT_TYPE, HeaderValue::from_static(kind))
        .header(header::ETAG, etag)
        .header(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    response.body = content.ok_or_else(missing)?.into();
    if let Some((first, last, length)) = part {
        response.status = StatusCode::PARTIAL_CONTENT;
        let range = format!("bytes {first}-{last}/{length}");
        let range = HeaderValue::from_str(&range).map_err(Problem::internal)?;
        response = response.header(header::CONTENT_RANGE, range);
    }
    Ok(response)
}

/// The range that the headers request, unless they request it of other bytes.
fn requested_range<'headers>(
    headers: &'headers HeaderMap,
    etag: &HeaderValue,
) -> Option<&'headers str> {
    let range = headers.get(header::RANGE)?.to_str().ok()?;
    let is_other = headers
        .get(header::IF_RANGE)
        .is_some_and(|known| known != etag);
    (!is_other).then_some(range)
}

/// A range of an artifact that a header requests.
#[derive(Debug, PartialEq, Eq)]
enum RequestedRange {
    Whole,
    Outside,
    /// The first and the last byte.
    Part(u64, u64),
}

/// The range of a header, for an artifact of a length.
fn parse_range(text: &str, length: u64) -> RequestedRange {
    let range = match text.split_once('=') {
        Some((unit, range)) if unit.eq_ignore_ascii_case("bytes") => range,
        _ => return RequestedRange::Whole,
    };
    let Some((first, last)) = range
        .trim()
        .split_once('-')
        .filter(|_| !range.contains(','))
    else {
        return RequestedRange::Whole;
    };
    match (digits(first), digits(last)) {
        (Some(first), Some(last)) if first > last => RequestedRange::Whole,
        (Some(first), _) if first >= length => RequestedRange::Outside,
        (Some(first), Some(last)) => RequestedRange::Part(first, last.min(length - 1)),
        (Some(first), None) if last.is_empty() => RequestedRange::Part(first, length - 1),
        (None, Some(0)) if first.is_empty() => RequestedRange::Outside,
        (None, Some(_)) if first.is_empty() && length == 0 => RequestedRange::Outside,
        (None, Some(count)) if first.is_empty() => {
            RequestedRange::Part(length.saturating_sub(count), length - 1)
        }
        _ => RequestedRange::Whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_as_the_rfc_says() {
        for (text, expected) in [
            ("bytes=0-0", RequestedRange::Part(0, 0)),
            ("bytes=2-4", RequestedRange::Part(2, 4)),
            ("bytes=2-99", RequestedRange::Part(2, 9)),
            ("Bytes=2-4", RequestedRange::Part(2, 4)),
            ("bytes=9-", RequestedRange::Part(9, 9)),
            ("bytes=-3", RequestedRange::Part(7, 9)),
            ("bytes=-99", RequestedRange::Part(0, 9)),
            ("bytes=10-", RequestedRange::Outside),
            ("bytes=99999999999999999999-", RequestedRange::Outside),
            ("bytes=-0", RequestedRange::Outside),
            ("bytes=4-2", RequestedRange::Whole),
            ("bytes=0-1,3-4", RequestedRange::Whole),
            ("bytes=a-b", RequestedRange::Whole),
            ("bytes=-", RequestedRange::Whole),
            ("items=0-1", RequestedRange::Whole),
        ] {
            assert_eq!(parse_range(text, 10), expected, "{text}");
        }
    }
}
