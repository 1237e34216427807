//! Sends browsers from an address with a slash too many at its end to the page that was meant.

use http::StatusCode;
use http::header::{self, HeaderValue};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::{PAGE, SEARCH, text};
use crate::http::request::Request;
use crate::http::response::{NO_CACHE, Response};
use crate::http::route::{AnswerBody, Handler};
use crate::problem::Problem;

/// The characters that are encoded in an address.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// The handler of an address that ends with a parameter and a slash.
pub(super) const MOVED: Handler = Handler {
    summary: "The same page is at the address without the slash",
    answers: &[(308, AnswerBody::Nothing)],
    run: |_, request| {
        let last = request.parts.last().map_or("", String::as_str);
        let last = utf8_percent_encode(last, RESERVED).to_string();
        moved(&format!("../{last}"))
    },
    ..PAGE
};

/// Moves a search.
pub(super) fn search(
    _: &crate::http::service::Service,
    request: &Request,
) -> Result<Response, Problem> {
    let parameters = SEARCH.iter().filter_map(|name| {
        let value = request.query.get(name)?;
        Some(format!("{name}={}", text::parameter(value)))
    });
    let parameters: Vec<String> = parameters.collect();
    let query = if parameters.is_empty() { "" } else { "?" };
    moved(&format!("../packages{query}{}", parameters.join("&")))
}

/// The response for a page at a relative address: a proxy may have put the registry below any path.
fn moved(address: &str) -> Result<Response, Problem> {
    let address = HeaderValue::from_str(address).map_err(Problem::internal)?;
    Ok(Response::empty(StatusCode::PERMANENT_REDIRECT)
        .header(header::LOCATION, address)
        .header(header::CACHE_CONTROL, NO_CACHE))
}
