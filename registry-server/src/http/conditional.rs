//! Conditional requests (RFC 9110, section 13).
//!
//! Preconditions are evaluated on the representation that a `GET` of the same address would return, in the
//! order of section 13.2.2. For requests that change something, that happens before anything is done.

use std::time::SystemTime;

use http::{HeaderMap, HeaderName, Method, StatusCode, header};

use super::response::Response;
use crate::problem::{Problem, ProblemCode};

/// The preconditions of a request.
#[derive(Debug, Default)]
pub(super) struct Preconditions {
    /// `If-Match`.
    must_match: Option<Vec<String>>,
    /// `If-None-Match`.
    none_match: Option<Vec<String>>,
    /// `If-Unmodified-Since`.
    unmodified_since: Option<SystemTime>,
    /// `If-Modified-Since`.
    modified_since: Option<SystemTime>,
}

/// What preconditions say about a request.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Go,
    /// The client has the representation.
    NotModified,
    /// The precondition of this header does not hold.
    Failed(HeaderName),
}

/// The validators of a representation.
#[derive(Debug, Default)]
struct Validators {
    etag: Option<String>,
    modified: Option<SystemTime>,
    /// The time of a representation that was made for the request. It does not tell when the content last changed, so it
    /// never leads to a 304.
    made: Option<SystemTime>,
}

impl Preconditions {
    /// Reads the preconditions of a request. Dates that cannot be read are ignored, as the RFC says.
    pub(super) fn of(method: &Method, headers: &HeaderMap) -> Self {
        let is_reading = is_reading(method);
        let date = |name: &HeaderName| headers.get(name).and_then(read_date);
        Self {
            must_match: tags(headers, &header::IF_MATCH),
            none_match: tags(headers, &header::IF_NONE_MATCH),
            unmodified_since: date(&header::IF_UNMODIFIED_SINCE),
            // It is for reading alone.
            modified_since: date(&header::IF_MODIFIED_SINCE).filter(|_| is_reading),
        }
    }

    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        let has_tags = self.must_match.is_some() || self.none_match.is_some();
        !has_tags && self.unmodified_since.is_none() && self.modified_since.is_none()
    }

    /// An error unless a request that changes something may go on. `current` is the representation, if there
    /// is one.
    pub(super) fn check_change(&self, current: Option<&Response>) -> Result<(), Problem> {
        match self.evaluate(current.map(validators).as_ref(), false) {
            Verdict::Failed(header) => Err(failed(&header)),
            Verdict::Go | Verdict::NotModified => Ok(()),
        }
    }

    /// Replaces the response to a request that reads by 304, if the client has it. It is an error if another
    /// precondition does not hold. A response without a time of its own is sent with the time `now`.
    pub(super) fn apply(&self, response: Response, now: SystemTime) -> Result<Response, Problem> {
        if response.status != StatusCode::OK {
            return Ok(response);
        }
        let validators = Validators {
            made: response.is_made_now().then_some(now),
            ..validators(&response)
        };
        match self.evaluate(Some(&validators), true) {
            Verdict::Go => Ok(response),
            Verdict::NotModified => Ok(not_modified(&response)),
            Verdict::Failed(header) => Err(failed(&header)),
        }
    }

    fn evaluate(&self, current: Option<&Validators>, is_reading: bool) -> Verdict {
        let etag = current.and_then(|current| current.etag.as_deref());
        let modified = current.and_then(|current| current.modified);
        let made = current.and_then(|current| current.made);
        if let Some(listed) = &self.must_match {
            // The comparison is strong: no weak tag matches.
            let matches = |tag: &String| match tag.as_str() {
                "*" => current.is_some(),
                tag => Some(tag) == etag,
            };
            if !listed.iter().any(matches) {
                return Verdict::Failed(header::IF_MATCH);
            }
        } else if let Some((limit, shown)) = self.unmodified_since.zip(modified.or(made))
            && shown > limit
        {
            return Verdict::Failed(header::IF_UNMODIFIED_SINCE);
        }
        if let Some(listed) = &self.none_match {
            let matches = |tag: &String| match tag.as_str() {
                "*" => current.is_some(),
                tag => etag == Some(tag.strip_prefix("W/").unwrap_or(tag)),
            };
            return match (listed.iter().any(matches), is_reading) {
                (false, _) => Verdict::Go,
                (true, true) => Verdict::NotModified,
                (true, false) => Verdict::Failed(header::IF_NONE_MATCH),
            };
        }
        match self.modified_since.zip(modified) {
            Some((since, modified)) if modified <= since => Verdict::NotModified,
            _ => Verdict::Go,
        }
    }
}

/// Whether a method only reads.
pub(super) fn is_reading(method: &Method) -> bool {
    *method == Method::GET || *method == Method::HEAD
}

fn failed(header: &HeaderName) -> Problem {
    let detail = format!("the precondition `{header}` does not hold");
    Problem::new(ProblemCode::PreconditionFailed, detail)
}

/// The tags that a header lists.
fn tags(headers: &HeaderMap, name: &HeaderName) -> Option<Vec<String>> {
    let mut values = headers.get_all(name).iter().peekable();
    values.peek()?;
    let texts = values.filter_map(|value| value.to_str().ok());
    let tags = texts.flat_map(|text| text.split(','));
    Some(tags.map(|tag| tag.trim().to_owned()).collect())
}

fn validators(response: &Response) -> Validators {
    let etag = response.headers.get(header::ETAG);
    Validators {
        etag: etag.and_then(|etag| etag.to_str().ok()).map(str::to_owned),
        modified: response
            .headers
            .get(header::LAST_MODIFIED)
            .and_then(read_date),
        made: None,
    }
}

/// A date in any of the three formats that HTTP has had.
fn read_date(value: &http::HeaderValue) -> Option<SystemTime> {
    httpdate::parse_http_date(value.to_str().ok()?).ok()
}

/// The 304 in place of a response.
fn not_modified(response: &Response) -> Response {
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

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::super::response::{JSON, http_date};
    use super::*;
    use crate::index::Document;

    fn response() -> Response {
        let response = Response::document(JSON, &Document::new("{}"));
        let time = "2026-01-31T12:00:00Z".parse().expect("a time");
        response.header(header::LAST_MODIFIED, http_date(time).expect("a header"))
    }

    fn headers(all: &[(HeaderName, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in all {
            headers.append(name, HeaderValue::from_str(value).expect("a header"));
        }
        headers
    }

    /// The time of the requests, 2026-02-01T12:00:00Z.
    const NOW: jiff::Timestamp = jiff::Timestamp::constant(1_769_947_200, 0);

    /// The status of a request that reads.
    fn reading(all: &[(HeaderName, &str)]) -> u16 {
        reading_of(response(), all)
    }

    fn reading_of(response: Response, all: &[(HeaderName, &str)]) -> u16 {
        let conditions = Preconditions::of(&Method::GET, &headers(all));
        match conditions.apply(response, NOW.into()) {
            Ok(response) => response.status.as_u16(),
            Err(problem) => problem.code.status(),
        }
    }

    /// Whether a request that changes something goes on.
    fn changes(all: &[(HeaderName, &str)], exists: bool) -> bool {
        let conditions = Preconditions::of(&Method::PUT, &headers(all));
        let current = response();
        conditions.check_change(exists.then_some(&current)).is_ok()
    }

    #[test]
    fn a_response_that_the_client_has_is_not_sent_again() {
        let etag = response().headers[header::ETAG]
            .to_str()
            .expect("text")
            .to_owned();
        let none_match = |value: &str| reading(&[(header::IF_NONE_MATCH, value)]);
        assert_eq!(none_match(&etag), 304);
        assert_eq!(none_match(&format!("\"a\", W/{etag}")), 304);
        assert_eq!(none_match("*"), 304);
        assert_eq!(none_match("\"other\""), 200);
        let since = |value: &str| reading(&[(header::IF_MODIFIED_SINCE, value)]);
        assert_eq!(since("Sat, 31 Jan 2026 12:00:00 GMT"), 304);
        assert_eq!(since("Sat, 31 Jan 2026 11:59:59 GMT"), 200);
        // The formats of RFC 850 and of asctime.
        assert_eq!(since("Saturday, 31-Jan-26 12:00:00 GMT"), 304);
        assert_eq!(since("Sat Jan 31 12:00:00 2026"), 304);
        assert_eq!(since("yesterday"), 200);
        // Tags take precedence over dates.
        let both = [
            (header::IF_NONE_MATCH, "\"other\""),
            (header::IF_MODIFIED_SINCE, "Sat, 31 Jan 2026 12:00:00 GMT"),
        ];
        assert_eq!(reading(&both), 200);
    }

    #[test]
    fn what_must_match_and_does_not_is_an_error() {
        let etag = response().headers[header::ETAG]
            .to_str()
            .expect("text")
            .to_owned();
        let matching = |value: &str| reading(&[(header::IF_MATCH, value)]);
        assert_eq!(matching(&etag), 200);
        assert_eq!(matching("*"), 200);
        assert_eq!(matching("\"other\""), 412);
        assert_eq!(matching(&format!("W/{etag}")), 412);
        let unmodified = |value: &str| reading(&[(header::IF_UNMODIFIED_SINCE, value)]);
        assert_eq!(unmodified("Sat, 31 Jan 2026 12:00:00 GMT"), 200);
        assert_eq!(unmodified("Sat, 31 Jan 2026 11:00:00 GMT"), 412);
    }

    /// A document that is generated for a request has the time of the request.
    #[test]
    fn a_response_without_a_time_is_modified_now() {
        let made = |name: HeaderName, value: &str| {
            let document = Response::document(JSON, &Document::new("{}"));
            reading_of(document, &[(name, value)])
        };
        let unmodified = |value: &str| made(header::IF_UNMODIFIED_SINCE, value);
        assert_eq!(unmodified("Sun, 01 Feb 2026 12:00:00 GMT"), 200);
        assert_eq!(unmodified("Sun, 01 Feb 2026 11:59:59 GMT"), 412);
        // A change in the same second would go unnoticed.
        let modified = |value: &str| made(header::IF_MODIFIED_SINCE, value);
        assert_eq!(modified("Sun, 01 Feb 2026 12:00:00 GMT"), 200);
    }

    #[test]
    fn changes_are_subject_to_conditions() {
        let any = (header::IF_NONE_MATCH, "*");
        assert!(changes(std::slice::from_ref(&any), false));
        assert!(!changes(&[any], true));
        let exists = (header::IF_MATCH, "*");
        assert!(!changes(std::slice::from_ref(&exists), false));
        assert!(changes(&[exists], true));
        assert!(!changes(&[(header::IF_MATCH, "\"other\"")], true));
        let late = (header::IF_UNMODIFIED_SINCE, "Sat, 31 Jan 2026 11:00:00 GMT");
        assert!(!changes(&[late], true));
        // It is for reading alone.
        let since = (header::IF_MODIFIED_SINCE, "Sat, 31 Jan 2026 12:00:00 GMT");
        assert!(changes(&[since], true));
    }
}
