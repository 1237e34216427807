//! Conditional requests (RFC 9110, section 13).

use http::{HeaderMap, StatusCode, header};

use super::response::Response;

/// Replaces a response that the client has already by 304.
pub(super) fn apply(headers: &HeaderMap, response: Response) -> Response {
    if response.status != StatusCode::OK {
        return response;
    }
    let is_known = if headers.contains_key(header::IF_NONE_MATCH) {
        // `If-None-Match` takes precedence over `If-Modified-Since`.
        let etag = response
            .headers
            .get(header::ETAG)
            .and_then(|etag| etag.to_str().ok());
        etag.is_some_and(|etag| is_listed(headers, etag))
    } else {
        is_unchanged_since(headers, &response)
    };
    if !is_known {
        return response;
    }
    let mut short = Response::empty(StatusCode::NOT_MODIFIED);
    // RFC 9110 requires these headers of the whole response.
    for name in [
        header::ETAG,
        header::CACHE_CONTROL,
        header::VARY,
        header::LAST_MODIFIED,
        header::CONTENT_LOCATION,
    ] {
        for value in response.headers.get_all(&name) {
            short.headers.append(name.clone(), value.clone());
        }
    }
    short
}

/// Whether `If-None-Match` lists a tag. Weak tags match as well.
fn is_listed(headers: &HeaderMap, etag: &str) -> bool {
    headers.get_all(header::IF_NONE_MATCH).iter().any(|value| {
        let listed = value.to_str().unwrap_or_default().trim();
        listed == "*"
            || listed.split(',').any(|tag| {
                let tag = tag.trim();
                tag.strip_prefix("W/").unwrap_or(tag) == etag
            })
    })
}

/// Whether a response was not modified since the time of `If-Modified-Since`.
fn is_unchanged_since(headers: &HeaderMap, response: &Response) -> bool {
    let since = headers
        .get(header::IF_MODIFIED_SINCE)
        .and_then(|value| value.to_str().ok());
    let modified = response
        .headers
        .get(header::LAST_MODIFIED)
        .and_then(|value| value.to_str().ok());
    let (Some(since), Some(modified)) = (since, modified) else {
        return false;
    };
    let read = |text: &str| {
        jiff::fmt::rfc2822::parse(text)
            .ok()
            .map(|time| time.timestamp())
    };
    match (read(since), read(modified)) {
        (Some(since), Some(modified)) => modified <= since,
        _ => false,
    }
}

/// A time as the value of a header.
pub(crate) fn http_date(time: jiff::Timestamp) -> Option<http::HeaderValue> {
    let text = time.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
    http::HeaderValue::from_str(&text).ok()
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::super::response::JSON;
    use super::*;
    use crate::index::Document;

    #[test]
    fn a_response_that_the_client_has_is_not_sent_again() {
        let response = || {
            let response = Response::document(JSON, &Document::new("{}"));
            let time = "2026-01-31T12:00:00Z".parse().expect("a time");
            response.header(header::LAST_MODIFIED, http_date(time).expect("a header"))
        };
        let etag = response().headers[header::ETAG]
            .to_str()
            .expect("text")
            .to_owned();
        let status = |name: header::HeaderName, value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(name, HeaderValue::from_str(value).expect("a header"));
            apply(&headers, response()).status.as_u16()
        };
        assert_eq!(status(header::IF_NONE_MATCH, &etag), 304);
        assert_eq!(
            status(header::IF_NONE_MATCH, &format!("\"a\", W/{etag}")),
            304
        );
        assert_eq!(status(header::IF_NONE_MATCH, "*"), 304);
        assert_eq!(status(header::IF_NONE_MATCH, "\"other\""), 200);
        let since = header::IF_MODIFIED_SINCE;
        assert_eq!(status(since.clone(), "Sat, 31 Jan 2026 12:00:00 GMT"), 304);
        assert_eq!(status(since.clone(), "Sat, 31 Jan 2026 11:59:59 GMT"), 200);
        assert_eq!(status(since, "yesterday"), 200);
    }
}
