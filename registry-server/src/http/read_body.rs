//! Receiving the body of a request.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, header};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};

use crate::problem::{Problem, ProblemCode};

/// Refuses a length that is not one, or that is over a limit, before anything is received.
pub(crate) fn check_length(headers: &HeaderMap, limit: u64) -> Result<(), Problem> {
    let Some(value) = headers.get(header::CONTENT_LENGTH) else {
        return Ok(());
    };
    let text = value.to_str().unwrap_or_default();
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number {
        let detail = "`Content-Length` is not a number";
        return Err(Problem::new(ProblemCode::HeaderInvalid, detail));
    }
    if text.parse::<u64>().map_or(true, |length| length > limit) {
        return Err(too_large(limit));
    }
    Ok(())
}

/// Receives a body of at most `limit` bytes, for at most `patience`.
pub(crate) async fn receive<B>(body: B, limit: u64, patience: Duration) -> Result<Bytes, Problem>
where
    B: http_body::Body,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let limited = Limited::new(body, usize::try_from(limit).unwrap_or(usize::MAX));
    match tokio::time::timeout(patience, limited.collect()).await {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large(limit)),
        Ok(Err(error)) => Err(Problem {
            cause: Some(error.to_string()),
            ..Problem::new(
                ProblemCode::BodyIncomplete,
                "the body did not arrive as a whole",
            )
        }),
        Err(_) => {
            let detail = format!("the body did not arrive within {} s", patience.as_secs());
            Err(Problem::new(ProblemCode::BodyTooSlow, detail))
        }
    }
}

fn too_large(limit: u64) -> Problem {
    let detail = format!("the body has more than the limit of {limit} bytes");
    Problem::new(ProblemCode::BodyTooLarge, detail)
}
