//! Write timeouts: closes the connections of clients that stop reading what they are sent.
//!
//! Such a client occupies a connection, and the rest of its response stays in memory. It is noticed in
//! two places:
//!
//! - The socket takes no more bytes. [`ClientStream`] notices that.
//! - With HTTP/2 a client has a flow-control window for each response. It can stop opening the window,
//!   and still read and answer the pings that keep the connection alive. [`Unsent`] therefore counts
//!   the bytes of the bodies of a connection that are not sent yet.
//!
//! How long a response takes as a whole is not limited: a slow client reads something now and then.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Buf, Bytes};
use http_body::{Body, Frame, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

use super::response::ResponseBody;

/// The connection of a client. Writing fails if the client reads nothing for too long.
pub(super) struct ClientStream<S> {
    stream: S,
    /// The bytes that were read to detect the protocol, and are read once more.
    first: Bytes,
    timeout: Duration,
    /// When the timeout is over. It counts while `is_blocked`.
    deadline: Pin<Box<Sleep>>,
    is_blocked: bool,
}

impl<S> ClientStream<S> {
    pub(super) fn new(stream: S, first: Bytes, timeout: Duration) -> Self {
        Self {
            stream,
            first,
            timeout,
            deadline: Box::pin(sleep(timeout)),
            is_blocked: false,
        }
    }

    /// The outcome of a write, or an error if writes have been blocked for too long.
    fn unless_timed_out<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.is_blocked = false;
            return written;
        }
        if !self.is_blocked {
            self.is_blocked = true;
            self.deadline.as_mut().reset(Instant::now() + self.timeout);
        }
        self.deadline
            .as_mut()
            .poll(context)
            .map(|()| Err(write_timed_out()))
    }
}

/// The error of a connection that is closed by a write timeout.
pub(super) fn write_timed_out() -> io::Error {
    io::Error::new(
        io::ErrorKind::TimedOut,
        "the client stopped reading the response",
    )
}

impl<S: AsyncRead + Unpin> AsyncRead for ClientStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.first.is_empty() {
            return Pin::new(&mut self.stream).poll_read(context, into);
        }
        let count = self.first.len().min(into.remaining());
        into.put_slice(&self.first.split_to(count));
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for ClientStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.unless_timed_out(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.unless_timed_out(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.unless_timed_out(context, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.stream).poll_shutdown(context);
        self.unless_timed_out(context, shut)
    }
}

/// How much of the bodies of a connection is not sent yet.
#[derive(Debug, Default)]
pub(super) struct Unsent {
    /// The bytes that were handed over to be sent and are not sent yet.
    bytes: AtomicU64,
    /// Grows whenever bytes are handed over or sent.
    moves: AtomicU64,
}

impl Unsent {
    /// Ends when bytes were to be sent, and none was, for the time of the timeout. That is noticed
    /// after twice the time at the latest.
    pub(super) async fn timed_out(&self, timeout: Duration) {
        let mut seen = self.moves.load(Ordering::Relaxed);
        loop {
            sleep(timeout).await;
            let moves = self.moves.load(Ordering::Relaxed);
            if moves == seen && self.bytes.load(Ordering::Relaxed) > 0 {
                return;
            }
            seen = moves;
        }
    }

    fn add(&self, bytes: usize) {
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        self.moves.fetch_add(1, Ordering::Relaxed);
    }

    fn remove(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes as u64, Ordering::Relaxed);
        self.moves.fetch_add(1, Ordering::Relaxed);
    }
}

/// A body whose unsent bytes are counted.
pub(super) struct CountedBody {
    pieces: ResponseBody,
    unsent: Arc<Unsent>,
}

impl CountedBody {
    pub(super) fn new(pieces: ResponseBody, unsent: &Arc<Unsent>) -> Self {
        Self {
            pieces,
            unsent: Arc::clone(unsent),
        }
    }
}

impl Body for CountedBody {
    type Data = CountedPiece;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<CountedPiece>>>> {
        let frame = Pin::new(&mut self.pieces).poll_frame(context);
        let counted = |bytes: Bytes| CountedPiece::new(bytes, &self.unsent);
        frame.map(|frame| frame.map(|frame| frame.map(|frame| frame.map_data(counted))))
    }

    fn is_end_stream(&self) -> bool {
        self.pieces.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.pieces.size_hint()
    }
}

/// A piece of a body whose unsent bytes are counted.
pub(super) struct CountedPiece {
    bytes: Bytes,
    unsent: Arc<Unsent>,
}

impl CountedPiece {
    fn new(bytes: Bytes, unsent: &Arc<Unsent>) -> Self {
        unsent.add(bytes.len());
        Self {
            bytes,
            unsent: Arc::clone(unsent),
        }
    }
}

impl Buf for CountedPiece {
    fn remaining(&self) -> usize {
        self.bytes.remaining()
    }

    fn chunk(&self) -> &[u8] {
        self.bytes.chunk()
    }

    fn advance(&mut self, count: usize) {
        self.bytes.advance(count);
        self.unsent.remove(count);
    }
}

impl Drop for CountedPiece {
    fn drop(&mut self) {
        // Bytes that will never be sent do not count.
        self.unsent.remove(self.bytes.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_sent_or_dropped_do_not_count() {
        let unsent = Arc::new(Unsent::default());
        let left = || unsent.bytes.load(Ordering::Relaxed);
        let mut one = CountedPiece::new(Bytes::from_static(b"abcdef"), &unsent);
        let two = CountedPiece::new(Bytes::from_static(b"gh"), &unsent);
        assert_eq!(left(), 8);
        assert_eq!(one.copy_to_bytes(4), "abcd");
        assert_eq!(left(), 4);
        drop(two);
        assert_eq!(left(), 2);
        one.advance(2);
        assert_eq!(left(), 0);
        drop(one);
        assert_eq!(left(), 0);
    }
}
