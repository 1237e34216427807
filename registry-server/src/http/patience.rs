//! For how long a client may take nothing of what it is sent.
//!
//! Whoever stops reading keeps a connection, and what is to be sent stays in memory. That is seen where
//! bytes go to the socket: it takes no more. With HTTP/2 that is not enough, for there a client says
//! how much it takes of each answer, and can stop while it reads what keeps the connection alive; so
//! [`Waiting`] looks at what is left of the bodies of a connection.
//!
//! How long an answer takes as a whole is not limited: a slow reader takes something now and then.

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

use super::reply::Pieces;

/// A connection that breaks when the other side takes nothing for too long.
pub(super) struct Patient<S> {
    stream: S,
    patience: Duration,
    /// The end of patience. It counts while `is_waiting`.
    end: Pin<Box<Sleep>>,
    is_waiting: bool,
}

impl<S> Patient<S> {
    pub(super) fn new(stream: S, patience: Duration) -> Self {
        Self {
            stream,
            patience,
            end: Box::pin(sleep(patience)),
            is_waiting: false,
        }
    }

    /// What came of writing, unless nothing came of it for too long.
    fn unless_too_long<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.is_waiting = false;
            return written;
        }
        if !self.is_waiting {
            self.is_waiting = true;
            self.end.as_mut().reset(Instant::now() + self.patience);
        }
        self.end.as_mut().poll(context).map(|()| Err(too_long()))
    }
}

/// What is told of a connection that was given up.
pub(super) fn too_long() -> io::Error {
    io::Error::new(
        io::ErrorKind::TimedOut,
        "the client takes nothing of what it is sent",
    )
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.unless_too_long(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.unless_too_long(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.unless_too_long(context, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.stream).poll_shutdown(context);
        self.unless_too_long(context, shut)
    }
}

/// What the bodies of a connection still have to be rid of.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    /// How many bytes were handed over and are not sent yet.
    bytes: AtomicU64,
    /// Grows whenever bytes are handed over or sent.
    moves: AtomicU64,
}

impl Waiting {
    /// Ends when there were bytes to be sent, and none was, for at least as long as `patience`, and
    /// at most twice as long.
    pub(super) async fn too_long(&self, patience: Duration) {
        let mut seen = self.moves.load(Ordering::Relaxed);
        loop {
            sleep(patience).await;
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

/// A body of which it is known how much was sent.
pub(super) struct Watched {
    pieces: Pieces,
    waiting: Arc<Waiting>,
}

impl Watched {
    pub(super) fn new(pieces: Pieces, waiting: &Arc<Waiting>) -> Self {
        Self {
            pieces,
            waiting: Arc::clone(waiting),
        }
    }
}

impl Body for Watched {
    type Data = WatchedPiece;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<WatchedPiece>>>> {
        let frame = Pin::new(&mut self.pieces).poll_frame(context);
        let watched = |bytes: Bytes| WatchedPiece::new(bytes, &self.waiting);
        frame.map(|frame| frame.map(|frame| frame.map(|frame| frame.map_data(watched))))
    }

    fn is_end_stream(&self) -> bool {
        self.pieces.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.pieces.size_hint()
    }
}

/// A piece of a body, which tells what is sent of it.
pub(super) struct WatchedPiece {
    bytes: Bytes,
    waiting: Arc<Waiting>,
}

impl WatchedPiece {
    fn new(bytes: Bytes, waiting: &Arc<Waiting>) -> Self {
        waiting.add(bytes.len());
        Self {
            bytes,
            waiting: Arc::clone(waiting),
        }
    }
}

impl Buf for WatchedPiece {
    fn remaining(&self) -> usize {
        self.bytes.remaining()
    }

    fn chunk(&self) -> &[u8] {
        self.bytes.chunk()
    }

    fn advance(&mut self, count: usize) {
        self.bytes.advance(count);
        self.waiting.remove(count);
    }
}

impl Drop for WatchedPiece {
    fn drop(&mut self) {
        // What is not sent any more is not waited for.
        self.waiting.remove(self.bytes.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_or_given_up_is_not_waited_for() {
        let waiting = Arc::new(Waiting::default());
        let left = || waiting.bytes.load(Ordering::Relaxed);
        let mut one = WatchedPiece::new(Bytes::from_static(b"abcdef"), &waiting);
        let two = WatchedPiece::new(Bytes::from_static(b"gh"), &waiting);
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
