//! Conditional requests.

use http::{HeaderMap, StatusCode, header};

use super::reply::Reply;

/// Turns an answer that whoever asked has already into 304.
pub(crate) fn apply(headers: &HeaderMap, reply: Reply) -> Reply {
    if reply.status != StatusCode::OK {
        return reply;
    }
    let is_known = if headers.contains_key(header::IF_NONE_MATCH) {
        // Where there is this one, the other is not looked at.
        let etag = reply
            .headers
            .get(header::ETAG)
            .and_then(|etag| etag.to_str().ok());
        etag.is_some_and(|etag| is_listed(headers, etag))
    } else {
        is_unchanged_since(headers, &reply)
    };
    if !is_known {
        return reply;
    }
    let mut short = Reply::empty(StatusCode::NOT_MODIFIED);
    // What RFC 9110 wants to be the same as in the whole answer.
    for name in [
        header::ETAG,
        header::CACHE_CONTROL,
        header::VARY,
        header::LAST_MODIFIED,
        header::CONTENT_LOCATION,
    ] {
        for value in reply.headers.get_all(&name) {
            short.headers.append(name.clone(), value.clone());
        }
    }
    short
}

/// Whether `If-None-Match` lists a tag; weak ones count as well.
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

fn is_unchanged_since(headers: &HeaderMap, reply: &Reply) -> bool {
    let since = headers
        .get(header::IF_MODIFIED_SINCE)
        .and_then(|value| value.to_str().ok());
    let modified = reply
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

/// A time as it stands in headers.
pub(crate) fn http_date(time: jiff::Timestamp) -> Option<http::HeaderValue> {
    let text = time.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
    http::HeaderValue::from_str(&text).ok()
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;
    use crate::index::Document;

    #[test]
    fn what_is_known_is_not_sent_again() {
        let reply = || {
            let reply = Reply::document(super::super::reply::JSON, &Document::new("{}"));
            let time = "2026-01-31T12:00:00Z".parse().expect("a time");
            reply.header(header::LAST_MODIFIED, http_date(time).expect("a header"))
        };
        let etag = reply().headers[header::ETAG]
            .to_str()
            .expect("text")
            .to_owned();
        let status = |name: header::HeaderName, value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(name, HeaderValue::from_str(value).expect("a header"));
            apply(&headers, reply()).status.as_u16()
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
