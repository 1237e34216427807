//! What is answered to problems, and what all answers of private registries have.

use http::StatusCode;
use http::header::{self, HeaderValue};
use pkgres_registry_client::protocol::{ErrorDocument, ErrorEntry};

use super::Microversion;
use super::reply::{JSON, NO_CACHE, Reply};
use super::route::Surface;
use crate::problem::{Problem, ProblemCode};

/// The answer to a problem, in the shape of a surface.
pub(super) fn refuse(surface: &Surface, problem: &Problem, id: &str) -> Reply {
    if let Some(cause) = &problem.cause {
        tracing::error!(
            request = id,
            code = problem.code.as_str(),
            cause,
            "a request failed"
        );
    }
    let mut reply = (surface.error)(problem, id);
    match problem.code {
        ProblemCode::Unauthorized => {
            let value = HeaderValue::from_static("Bearer realm=\"pkgres\"");
            // Pages ask for a password, for browsers know nothing else.
            let told = reply.headers.entry(header::WWW_AUTHENTICATE);
            told.or_insert(value);
        }
        ProblemCode::Unavailable => {
            reply
                .headers
                .insert(header::RETRY_AFTER, HeaderValue::from_static("2"));
        }
        _ => {}
    }
    if let Some(length) = problem.length
        && let Ok(value) = HeaderValue::from_str(&format!("bytes */{length}"))
    {
        reply.headers.insert(header::CONTENT_RANGE, value);
    }
    reply
}

/// A problem in the shape that the index and the API of pkgres have.
pub(crate) fn errors_document(problem: &Problem, id: &str) -> Reply {
    let status = status_of(problem);
    let document = ErrorDocument {
        errors: vec![ErrorEntry {
            status: status.as_u16(),
            code: problem.code.as_str().to_owned(),
            title: status.canonical_reason().unwrap_or_default().to_owned(),
            detail: problem.detail.clone(),
            request_id: id.to_owned(),
        }],
    };
    let mut text = document.to_json();
    if problem.code == ProblemCode::MicroversionUnknown
        && let Some(end) = text.rfind("}]")
    {
        // As in Placement, so that clients learn what they can ask for.
        let versions = format!(
            ",\"min_version\":\"{}\",\"max_version\":\"{}\"",
            Microversion::OLDEST,
            Microversion::NEWEST
        );
        text.insert_str(end, &versions);
    }
    Reply::with_body(status, JSON, text.into()).header(header::CACHE_CONTROL, NO_CACHE)
}

pub(crate) fn status_of(problem: &Problem) -> StatusCode {
    StatusCode::from_u16(problem.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

/// What only those with a token may read must not be given to others by caches between.
pub(super) fn keep_private(reply: &mut Reply) {
    for name in ["authorization", "x-auth-token"] {
        let name = HeaderValue::from_static(name);
        reply.headers.append(header::VARY, name);
    }
    let is_public = reply
        .headers
        .get(header::CACHE_CONTROL)
        .is_some_and(|value| value.as_bytes().starts_with(b"public"));
    let value = if is_public {
        "private, max-age=31536000, immutable"
    } else {
        "private, no-cache"
    };
    reply
        .headers
        .insert(header::CACHE_CONTROL, HeaderValue::from_static(value));
}
