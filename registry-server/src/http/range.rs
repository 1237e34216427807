//! Ranges of artifacts.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, header};

use super::reply::Reply;
use crate::problem::{Problem, ProblemCode};

/// Cuts the body of a whole answer to the range that is asked for, if there is one that makes
/// sense. Several ranges are answered with the whole, as RFC 9110 allows.
pub(crate) fn apply(headers: &HeaderMap, whole: &Bytes, reply: Reply) -> Result<Reply, Problem> {
    let reply = reply.header(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    let Some(asked) = headers
        .get(header::RANGE)
        .and_then(|value| value.to_str().ok())
    else {
        return Ok(reply);
    };
    let is_other = headers
        .get(header::IF_RANGE)
        .is_some_and(|known| reply.headers.get(header::ETAG) != Some(known));
    if is_other {
        return Ok(reply);
    }
    let length = whole.len() as u64;
    match parse(asked, length) {
        Range::Whole => Ok(reply),
        Range::Outside => {
            let detail = format!("the artifact has {length} bytes");
            let mut problem = Problem::new(ProblemCode::RangeNotSatisfiable, detail);
            problem.length = Some(length);
            Err(problem)
        }
        Range::Part(first, last) => {
            let cut = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(whole.len());
            let kind = reply.headers.get(header::CONTENT_TYPE).cloned();
            let part = whole.slice(cut(first)..cut(last + 1));
            let kind = kind.unwrap_or(HeaderValue::from_static("application/octet-stream"));
            let mut short = Reply::with_body(StatusCode::PARTIAL_CONTENT, kind, part);
            for (name, value) in &reply.headers {
                short.headers.entry(name).or_insert_with(|| value.clone());
            }
            let told = format!("bytes {first}-{last}/{length}");
            let told = HeaderValue::from_str(&told).map_err(Problem::internal)?;
            Ok(short.header(header::CONTENT_RANGE, told))
        }
    }
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
