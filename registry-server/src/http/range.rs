//! Ranges of artifacts.

use http::{HeaderMap, HeaderValue, StatusCode, header};
use pkgres_registry_client::protocol::Digest;

use super::reply::Reply;
use super::service::Service;
use crate::problem::{Problem, ProblemCode};

/// An artifact, or the range of it that is asked for, if there is one that makes sense. Several
/// ranges are answered with the whole, as RFC 9110 allows.
pub(crate) fn artifact(
    service: &Service,
    headers: &HeaderMap,
    digest: &Digest,
    kind: &'static str,
    missing: impl Fn() -> Problem,
) -> Result<Reply, Problem> {
    let etag = HeaderValue::from_str(&digest.to_etag()).map_err(Problem::internal)?;
    let registry = &service.registry;
    let mut part = None;
    if let Some(asked) = asked(headers, &etag) {
        let length = registry.artifact_length(digest)?.ok_or_else(&missing)?;
        match parse(asked, length) {
            Range::Whole => {}
            Range::Outside => {
                let detail = format!("the artifact has {length} bytes");
                let mut problem = Problem::new(ProblemCode::RangeNotSatisfiable, detail);
                problem.length = Some(length);
                return Err(problem);
            }
            Range::Part(first, last) => part = Some((first, last, length)),
        }
    }
    let range = part.map(|(first, last, _)| first..last + 1);
    let content = registry.artifact_content(digest, range)?;
    let mut reply = Reply::empty(StatusCode::OK)
        .header(header::CONTENT_TYPE, HeaderValue::from_static(kind))
        .header(header::ETAG, etag)
        .header(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    reply.body = content.ok_or_else(missing)?.into();
    if let Some((first, last, length)) = part {
        reply.status = StatusCode::PARTIAL_CONTENT;
        let told = format!("bytes {first}-{last}/{length}");
        let told = HeaderValue::from_str(&told).map_err(Problem::internal)?;
        reply = reply.header(header::CONTENT_RANGE, told);
    }
    Ok(reply)
}

/// The range that is asked for, unless it is asked for of other bytes than those that are there.
fn asked<'headers>(headers: &'headers HeaderMap, etag: &HeaderValue) -> Option<&'headers str> {
    let asked = headers.get(header::RANGE)?.to_str().ok()?;
    let is_other = headers
        .get(header::IF_RANGE)
        .is_some_and(|known| known != etag);
    (!is_other).then_some(asked)
}

#[derive(Debug, PartialEq, Eq)]
enum Range {
    Whole,
    Outside,
    /// The first and the last byte.
    Part(u64, u64),
}

fn parse(text: &str, length: u64) -> Range {
    let Some(range) = text.strip_prefix("bytes=") else {
        return Range::Whole;
    };
    let Some((first, last)) = range
        .trim()
        .split_once('-')
        .filter(|_| !range.contains(','))
    else {
        return Range::Whole;
    };
    let number = |text: &str| {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| text.parse::<u64>().unwrap_or(u64::MAX))
    };
    match (number(first), number(last)) {
        (Some(first), Some(last)) if first > last => Range::Whole,
        (Some(first), _) if first >= length => Range::Outside,
        (Some(first), Some(last)) => Range::Part(first, last.min(length - 1)),
        (Some(first), None) if last.is_empty() => Range::Part(first, length - 1),
        (None, Some(0)) if first.is_empty() => Range::Outside,
        (None, Some(_)) if first.is_empty() && length == 0 => Range::Outside,
        (None, Some(count)) if first.is_empty() => {
            Range::Part(length.saturating_sub(count), length - 1)
        }
        _ => Range::Whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_as_the_standard_says() {
        for (text, expected) in [
            ("bytes=0-0", Range::Part(0, 0)),
            ("bytes=2-4", Range::Part(2, 4)),
            ("bytes=2-99", Range::Part(2, 9)),
            ("bytes=9-", Range::Part(9, 9)),
            ("bytes=-3", Range::Part(7, 9)),
            ("bytes=-99", Range::Part(0, 9)),
            ("bytes=10-", Range::Outside),
            ("bytes=99999999999999999999-", Range::Outside),
            ("bytes=-0", Range::Outside),
            ("bytes=4-2", Range::Whole),
            ("bytes=0-1,3-4", Range::Whole),
            ("bytes=a-b", Range::Whole),
            ("bytes=-", Range::Whole),
            ("items=0-1", Range::Whole),
        ] {
            assert_eq!(parse(text, 10), expected, "{text}");
        }
    }
}
