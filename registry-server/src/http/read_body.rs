//! Receives the body of a request, within limits of size and time.

use std::pin::pin;
use std::time::Duration;

use bytes::{Buf as _, Bytes};
use http::{HeaderMap, header};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use pkgres_files::FileError;
use tokio::time::Instant;

use super::query::digits;
use crate::blobs::Incoming;
use crate::problem::{Problem, ProblemCode};

/// An error if the announced length is invalid or exceeds a limit, before anything is received.
pub(super) fn check_length(headers: &HeaderMap, limit: u64) -> Result<(), Problem> {
    let Some(value) = headers.get(header::CONTENT_LENGTH) else {
        return Ok(());
    };
    let text = value.to_str().unwrap_or_default();
    let Some(length) = digits(text) else {
        let detail = "`Content-Length` is not a number";
        return Err(Problem::new(ProblemCode::HeaderInvalid, detail));
    };
    if length > limit {
        return Err(too_large(limit));
    }
    Ok(())
}

/// An error if a body has a transfer coding other than chunked, which the HTTP library decodes. It ignores the others
/// (RFC 9112, section 6.1), so that the body would be something else than the client means.
pub(super) fn check_transfer_coding(headers: &HeaderMap) -> Result<(), Problem> {
    let values = headers.get_all(header::TRANSFER_ENCODING).iter();
    let codings: Vec<&str> = values
        .flat_map(|value| value.to_str().unwrap_or("?").split(','))
        .map(str::trim)
        .filter(|coding| !coding.is_empty())
        .collect();
    match codings.as_slice() {
        [] => Ok(()),
        [coding] if coding.eq_ignore_ascii_case("chunked") => Ok(()),
        _ => {
            let detail = "the only transfer coding of a body is `chunked`, once";
            Err(Problem::new(ProblemCode::TransferCodingUnsupported, detail))
        }
    }
}

/// The least average rate of a body after its timeout, in bytes per second: a large archive may come over a slow line.
const MIN_RATE: u64 = 10_000;

/// Receives a body of at most `limit` bytes. A large body goes to a file. A body has the timeout, and more time for what
/// has arrived, at [`MIN_RATE`], but may not pause for longer than the timeout.
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
    let body = Limited::new(body, usize::try_from(limit).unwrap_or(usize::MAX));
    let mut body = pin!(body);
    let mut receiving = incoming.receive();
    let begin = Instant::now();
    let mut received = 0;
    loop {
        let earned = timeout + Duration::from_secs(received / MIN_RATE);
        let left = earned.saturating_sub(begin.elapsed()).min(timeout);
        let frame = tokio::time::timeout(left, body.frame()).await;
        let Some(frame) = frame.map_err(|_| too_slow(timeout))? else {
            break;
        };
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
            received += length as u64;
            receiving.take(data.chunk());
            data.advance(length);
        }
        if receiving.is_full() {
            receiving = blocking(move || receiving.write().map(|()| receiving)).await?;
        }
    }
    blocking(move || receiving.finish()).await
}

/// How long the body of a rejected request is read on.
const DISCARD_TIME: Duration = Duration::from_secs(10);

/// Reads the body of a rejected request and drops it, until it reaches a limit of bytes or the [time](DISCARD_TIME) is over.
/// A connection that is closed while a client is still sending is reset, and the client may never see the answer (RFC 9112,
/// section 9.6).
pub(super) async fn discard<B>(body: B, limit: u64)
where
    B: http_body::Body,
{
    let mut body = pin!(body);
    let read = async {
        let mut received = 0;
        while received <= limit
            && let Some(Ok(frame)) = body.frame().await
        {
            received += frame.data_ref().map_or(0, |data| data.remaining() as u64);
        }
    };
    // A client that is slower has to live with a closed connection.
    let _ = tokio::time::timeout(DISCARD_TIME, read).await;
}

/// Runs work that waits for the disk.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, FileError> + Send + 'static,
) -> Result<T, Problem> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(Problem::internal)?.map_err(Problem::internal)
}

fn too_slow(timeout: Duration) -> Problem {
    let detail = format!(
        "the body arrives too slowly: after {} s, it needs {MIN_RATE} bytes per second",
        timeout.as_secs()
    );
    Problem::new(ProblemCode::BodyTooSlow, detail)
}

fn too_large(limit: u64) -> Problem {
    let detail = format!("the body has more than the limit of {limit} bytes");
    Problem::new(ProblemCode::BodyTooLarge, detail)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures_util::stream;
    use http_body::Frame;
    use http_body_util::StreamBody;

    use super::*;

    /// Receives pieces of some bytes, each after some seconds; returns how many bytes arrived.
    async fn received(
        pieces: impl IntoIterator<Item = (u64, usize)>,
    ) -> Result<usize, ProblemCode> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let incoming = Incoming::open(folder.path()).expect("a folder");
        let pieces: Vec<(u64, usize)> = pieces.into_iter().collect();
        let frames = stream::unfold(pieces.into_iter(), async |mut pieces| {
            let (seconds, length) = pieces.next()?;
            tokio::time::sleep(Duration::from_secs(seconds)).await;
            let frame = Frame::data(Bytes::from(vec![0; length]));
            Some((Ok::<_, Infallible>(frame), pieces))
        });
        let body = StreamBody::new(frames);
        let body = receive(body, 1 << 30, Duration::from_mins(1), &incoming).await;
        body.map(|body| body.len()).map_err(|problem| problem.code)
    }

    #[tokio::test(start_paused = true)]
    async fn a_large_body_may_come_over_a_slow_line() {
        let slow = std::iter::repeat_n((5, 60_000), 200);
        assert_eq!(received(slow).await, Ok(12_000_000));
        assert_eq!(received([(59, 1)]).await, Ok(1));
        assert_eq!(received([]).await, Ok(0));
        let too_slow = Err(ProblemCode::BodyTooSlow);
        let slower = std::iter::repeat_n((5, 40_000), 200);
        assert_eq!(received(slower).await, too_slow);
        let drip = std::iter::repeat_n((1, 1), 100);
        assert_eq!(received(drip).await, too_slow);
        // Much in advance does not permit a long pause.
        assert_eq!(received([(0, 10_000_000), (61, 1)]).await, too_slow);
    }
}
