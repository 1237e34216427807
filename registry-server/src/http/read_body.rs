//! Receives the body of a request, within limits of size and time.

use std::pin::pin;
use std::time::Duration;

use bytes::{Buf as _, Bytes};
use http::{HeaderMap, header};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use pkgres_files::FileError;

use crate::blobs::Incoming;
use crate::problem::{Problem, ProblemCode};

/// An error if the announced length is invalid or exceeds a limit, before anything is received.
pub(super) fn check_length(headers: &HeaderMap, limit: u64) -> Result<(), Problem> {
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

/// Receives a body of at most `limit` bytes, within a timeout. A large body goes to a file.
pub(super) async fn receive<B>(
    body: B,
    limit: u64,
    timeout: Duration,
    incoming: &Incoming,
) -> Result<Bytes, Problem>
where
    B: http_body::Body,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let limited = Limited::new(body, usize::try_from(limit).unwrap_or(usize::MAX));
    let received = tokio::time::timeout(timeout, collect(limited, limit, incoming)).await;
    received.unwrap_or_else(|_| {
        let detail = format!("the body did not arrive within {} s", timeout.as_secs());
        Err(Problem::new(ProblemCode::BodyTooSlow, detail))
    })
}

async fn collect<B>(body: Limited<B>, limit: u64, incoming: &Incoming) -> Result<Bytes, Problem>
where
    B: http_body::Body,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let mut body = pin!(body);
    let mut receiving = incoming.receive();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| {
            if error.is::<LengthLimitError>() {
                return too_large(limit);
            }
            let detail = "the body did not arrive as a whole";
            Problem::new(ProblemCode::BodyIncomplete, detail).with_cause(error)
        })?;
        let Ok(mut data) = frame.into_data() else {
            continue;
        };
        while data.has_remaining() {
            let length = data.chunk().len();
            receiving.take(data.chunk());
            data.advance(length);
        }
        if receiving.is_full() {
            receiving = blocking(move || receiving.write().map(|()| receiving)).await?;
        }
    }
    blocking(move || receiving.finish()).await
}

/// Runs work that waits for the disk.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, FileError> + Send + 'static,
) -> Result<T, Problem> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(Problem::internal)?.map_err(Problem::internal)
}

fn too_large(limit: u64) -> Problem {
    let detail = format!("the body has more than the limit of {limit} bytes");
    Problem::new(ProblemCode::BodyTooLarge, detail)
}
