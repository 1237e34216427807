//! Renders error responses, and sets the headers of private responses.

use http::StatusCode;
use http::header::{self, HeaderValue};
use pkgres_registry_client::protocol::{ErrorDocument, ErrorEntry};

use super::microversion::Microversion;
use super::response::{JSON, NO_CACHE, NO_STORE, Response};
use super::route::Surface;
use crate::problem::{Problem, ProblemCode};

/// The response to a request that failed, in the form of its surface.
pub(super) fn error_response(surface: &Surface, problem: &Problem, id: &str) -> Response {
    if let Some(cause) = &problem.cause {
        tracing::error!(
            request = id,
            code = problem.code.as_str(),
            cause = cause.to_string(),
            "a request failed"
        );
    }
    let mut response = (surface.error)(problem, id);
    match problem.code {
        ProblemCode::Unauthorized => {
            let value = HeaderValue::from_static("Bearer realm=\"pkgres\"");
            // Pages have asked for a password already: browsers know nothing else.
            let header = response.headers.entry(header::WWW_AUTHENTICATE);
            header.or_insert(value);
        }
        ProblemCode::Unavailable => {
            response
                .headers
                .insert(header::RETRY_AFTER, HeaderValue::from_static("2"));
        }
        ProblemCode::NotAcceptable => response.vary("accept"),
        ProblemCode::TransferCodingUnsupported => {
            // What follows may not be where the HTTP library looks for it.
            let close = HeaderValue::from_static("close");
            response.headers.insert(header::CONNECTION, close);
        }
        _ => {}
    }
    if let Some(length) = problem.length
        && let Ok(value) = HeaderValue::from_str(&format!("bytes */{length}"))
    {
        response.headers.insert(header::CONTENT_RANGE, value);
    }
    response
}

/// A problem in the form of the index and of the native API.
pub(super) fn errors_document(problem: &Problem, id: &str) -> Response {
    let status = status_of(problem);
    // As in Placement, so that clients learn which versions they can request.
    let supported = |version: Microversion| {
        (problem.code == ProblemCode::MicroversionUnknown).then(|| version.to_string())
    };
    let document = ErrorDocument {
        errors: vec![ErrorEntry {
            status: status.as_u16(),
            code: problem.code.as_str().to_owned(),
            title: status.canonical_reason().unwrap_or_default().to_owned(),
            detail: problem.detail.clone(),
            hints: problem.hints.clone(),
            request_id: id.to_owned(),
            min_version: supported(Microversion::OLDEST),
            max_version: supported(Microversion::NEWEST),
        }],
    };
    Response::with_body(status, JSON, document.to_json().into())
        .header(header::CACHE_CONTROL, NO_CACHE)
}

/// The status of a problem.
pub(super) fn status_of(problem: &Problem) -> StatusCode {
    StatusCode::from_u16(problem.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

/// Marks a response that only some clients may read, so that shared caches do not store it.
pub(super) fn keep_private(response: &mut Response) {
    response.vary("authorization");
    response.vary("x-auth-token");
    let cached = response.headers.get(header::CACHE_CONTROL);
    if cached == Some(&NO_STORE) {
        return;
    }
    let is_public = cached.is_some_and(|value| value.as_bytes().starts_with(b"public"));
    let value = if is_public {
        "private, max-age=31536000, immutable"
    } else {
        "private, no-cache"
    };
    response
        .headers
        .insert(header::CACHE_CONTROL, HeaderValue::from_static(value));
}
