//! Content negotiation: which media types a client accepts and prefers.

use http::{HeaderMap, header};
use pkgres_manifest::diagnostic::Escaped;

use crate::problem::{Problem, ProblemCode};

/// An error if the client does not accept a media type.
pub(super) fn check_accept(headers: &HeaderMap, offered: &str) -> Result<(), Problem> {
    if ranges(headers).next().is_none() || weight(headers, offered) > 0.0 {
        return Ok(());
    }
    let detail = format!("the response is {offered}, which the client does not accept");
    Err(Problem::new(ProblemCode::NotAcceptable, detail))
}

/// Whether the client prefers one media type to another. Without a header it does not.
pub(super) fn prefers(headers: &HeaderMap, one: &str, other: &str) -> bool {
    weight(headers, one) > weight(headers, other)
}

/// The ranges of media types that the client accepts, with their parameters.
fn ranges(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let values = headers.get_all(header::ACCEPT).iter();
    let texts = values.map(|value| value.to_str().unwrap_or_default());
    let ranges = texts.flat_map(|text| text.split(',')).map(str::trim);
    ranges.filter(|range| !range.is_empty())
}

/// The weight of a media type: that of the most specific range (RFC 9110), so `*/*;q=0.5, text/html` accepts JSON.
fn weight(headers: &HeaderMap, offered: &str) -> f32 {
    let mut best: Option<(u8, f32)> = None;
    for range in ranges(headers) {
        let mut parts = range.split(';').map(str::trim);
        let Some(specific) = specificity(parts.next().unwrap_or_default(), offered) else {
            continue;
        };
        let weight = parts.find_map(|part| {
            part.strip_prefix("q=")
                .or_else(|| part.strip_prefix("Q="))?
                .parse()
                .ok()
        });
        if best.is_none_or(|(known, _)| specific >= known) {
            best = Some((specific, weight.unwrap_or(1.0)));
        }
    }
    best.map_or(0.0, |(_, weight)| weight)
}

/// How specific a range of media types is for one; none if it does not match.
fn specificity(range: &str, offered: &str) -> Option<u8> {
    if range == "*/*" {
        return Some(0);
    }
    if range.eq_ignore_ascii_case(offered) {
        return Some(2);
    }
    let (group, any) = range.split_once('/')?;
    let (offered, _) = offered.split_once('/')?;
    (any == "*" && group.eq_ignore_ascii_case(offered)).then_some(1)
}

/// An error unless the body has a media type.
pub(super) fn check_content(headers: &HeaderMap, expected: &str) -> Result<(), Problem> {
    let header = headers.get(header::CONTENT_TYPE);
    let header = header.map(|value| value.to_str().unwrap_or_default());
    let kind = header.map(|header| header.split(';').next().unwrap_or_default().trim());
    if kind.is_some_and(|kind| kind.eq_ignore_ascii_case(expected)) {
        return Ok(());
    }
    let detail = match kind {
        Some(kind) => format!(
            "the body has to be {expected}, not {}",
            Escaped::shortened(kind)
        ),
        None => format!("the body has to be {expected}: `Content-Type` is missing"),
    };
    Err(Problem::new(ProblemCode::MediaTypeUnsupported, detail))
}

/// Whether a body has a content coding: nothing here is decoded.
pub(super) fn is_encoded(headers: &HeaderMap) -> bool {
    let mut values = headers.get_all(header::CONTENT_ENCODING).iter();
    values.any(|value| {
        let mut codings = value.to_str().unwrap_or("?").split(',').map(str::trim);
        codings.any(|coding| !coding.is_empty() && !coding.eq_ignore_ascii_case("identity"))
    })
}

/// An error if a body is only a part of what is to be stored.
pub(super) fn check_whole(headers: &HeaderMap) -> Result<(), Problem> {
    if !headers.contains_key(header::CONTENT_RANGE) {
        return Ok(());
    }
    let detail = "a body has to be whole: `Content-Range` is not supported";
    Err(Problem::new(ProblemCode::HeaderInvalid, detail))
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn accept_is_read_as_the_rfc_says() {
        for (value, is_accepted) in [
            ("*/*", true),
            ("application/json", true),
            ("application/*", true),
            ("APPLICATION/JSON", true),
            ("text/html,application/xhtml+xml,*/*;q=0.8", true),
            ("text/html", false),
            ("text/html, application/json;q=0", false),
            ("*/*, application/json;q=0.0", false),
            ("application/json;q=0.1, */*;q=0", true),
            ("", true),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(
                header::ACCEPT,
                HeaderValue::from_str(value).expect("a header"),
            );
            let accepted = check_accept(&headers, "application/json");
            assert_eq!(accepted.is_ok(), is_accepted, "{value}");
        }
        assert!(check_accept(&HeaderMap::new(), "application/json").is_ok());
    }

    #[test]
    fn browsers_prefer_html_and_programs_do_not() {
        for (value, is_html) in [
            (
                "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
                true,
            ),
            ("text/html", true),
            ("*/*", false),
            ("application/json", false),
            ("text/html, application/json", false),
            ("text/html;q=0.5, application/json", false),
            ("text/html;q=0, */*", false),
            ("", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(
                header::ACCEPT,
                HeaderValue::from_str(value).expect("a header"),
            );
            let preferred = prefers(&headers, "text/html", "application/json");
            assert_eq!(preferred, is_html, "{value}");
        }
        assert!(!prefers(&HeaderMap::new(), "text/html", "application/json"));
    }
}
