//! Accepts connections, and answers their requests.
//!
//! A client decides neither how long a connection lives nor what it costs: the head of a request, an
//! idle connection and a client that stops reading each have a timeout, and there is a limit of
//! connections, beyond which clients wait in the backlog of the port. HTTP/1 and HTTP/2 come over the
//! same port without TLS, and are detected by the first bytes.

use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use super::service::Service;
use super::write_timeout::{ClientStream, CountedBody, Unsent, write_timed_out};

/// The number of open files that are left for the database, its connections and those of a bucket.
const FILES_OF_STORAGE: u64 = 64;

/// Limits of connections.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ServeOptions {
    /// How many connections are open at once; more wait.
    pub connections: usize,
    /// How long the head of a request may take, and how long a connection may be idle.
    pub head_timeout: Duration,
    /// How long a client may read nothing of what it is sent. With HTTP/2 that is noticed after twice
    /// as long at the latest. A client that reads slowly has all the time it needs.
    pub write_timeout: Duration,
    /// How long open requests have to finish when the server ends.
    pub shutdown_timeout: Duration,
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            connections: 4096,
            head_timeout: Duration::from_secs(30),
            write_timeout: Duration::from_secs(30),
            shutdown_timeout: Duration::from_secs(30),
        }
    }
}

impl ServeOptions {
    /// These options with another limit of open connections.
    #[must_use]
    pub fn with_connections(mut self, connections: usize) -> Self {
        self.connections = connections;
        self
    }

    /// These options with no more connections than a process can have that may open this many files. Each connection
    /// may also have an artifact open, and some files are left for the database.
    #[must_use]
    pub fn with_open_files(mut self, files: u64) -> Self {
        let most = (files / 2).saturating_sub(FILES_OF_STORAGE).max(1);
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        self.connections = self.connections.min(most);
        self
    }

    /// These options with another timeout of heads and idle connections.
    #[must_use]
    pub fn with_head_timeout(mut self, timeout: Duration) -> Self {
        self.head_timeout = timeout;
        self
    }

    /// These options with another write timeout.
    #[must_use]
    pub fn with_write_timeout(mut self, timeout: Duration) -> Self {
        self.write_timeout = timeout;
        self
    }

    /// These options with another timeout of open requests when the server ends.
    #[must_use]
    pub fn with_shutdown_timeout(mut self, timeout: Duration) -> Self {
        self.shutdown_timeout = timeout;
        self
    }
}

/// Where connections come from: a port, or memory in tests.
trait Listener: Send {
    type Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static;

    /// The next connection.
    fn accept(&mut self) -> impl Future<Output = io::Result<Self::Stream>> + Send;
}

impl Listener for TcpListener {
    type Stream = TcpStream;

    async fn accept(&mut self) -> io::Result<TcpStream> {
        let (stream, _) = TcpListener::accept(self).await?;
        // Responses are written as a whole: waiting for more would only delay them.
        let _ = stream.set_nodelay(true);
        Ok(stream)
    }
}

/// Answers requests until `end` comes. Then it accepts no more connections, and lets open requests
/// finish.
pub async fn serve(
    listener: TcpListener,
    service: Arc<Service>,
    options: ServeOptions,
    end: impl Future<Output = ()>,
) {
    serve_all(listener, service, options, end).await;
}

async fn serve_all(
    mut listener: impl Listener,
    service: Arc<Service>,
    options: ServeOptions,
    end: impl Future<Output = ()>,
) {
    let graceful = GracefulShutdown::new();
    let places = Arc::new(Semaphore::new(options.connections));
    let protocols = Arc::new(Protocols::new(&options));
    // Closed when the server ends.
    let (running, ending) = tokio::sync::watch::channel(());
    tokio::pin!(end);
    loop {
        let accepted = async {
            let place = Arc::clone(&places).acquire_owned().await;
            (place, listener.accept().await)
        };
        let (place, accepted) = tokio::select! {
            accepted = accepted => accepted,
            () = &mut end => break,
        };
        let stream = match accepted {
            Ok(stream) => stream,
            Err(error) => {
                // Too many open files, for example: it does not help to try again at once.
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        let service = Arc::clone(&service);
        let watcher = graceful.watcher();
        let protocols = Arc::clone(&protocols);
        let ending = ending.clone();
        tokio::spawn(async move {
            if let Err(error) = protocols.answer(stream, service, watcher, ending).await {
                // Usually the client went away.
                tracing::debug!(%error, "a connection broke");
            }
            drop(place);
        });
    }
    drop(listener);
    drop(running);
    if tokio::time::timeout(options.shutdown_timeout, graceful.shutdown())
        .await
        .is_err()
    {
        tracing::warn!("some requests were not finished in time");
    }
}

/// The first bytes of a connection with HTTP/2 without TLS, which would negotiate the protocol.
const HTTP2_PREFACE: &[u8; 4] = b"PRI ";

/// HTTP/1 and HTTP/2, set up.
struct Protocols {
    http1: http1::Builder,
    http2: http2::Builder<TokioExecutor>,
    head_timeout: Duration,
    write_timeout: Duration,
}

impl Protocols {
    fn new(options: &ServeOptions) -> Self {
        let mut http1 = http1::Builder::new();
        http1
            // Without a timer there is no timeout of heads.
            .timer(TokioTimer::new())
            .header_read_timeout(options.head_timeout)
            // Not with `pipeline_flush`: it copies responses into one buffer, which grows as long as
            // the client reads more slowly than the artifact is read.
            .max_buf_size(64 * 1024);
        let mut http2 = http2::Builder::new(TokioExecutor::new());
        http2
            .timer(TokioTimer::new())
            .keep_alive_interval(options.head_timeout)
            .keep_alive_timeout(options.head_timeout)
            .max_concurrent_streams(128);
        Self {
            http1,
            http2,
            head_timeout: options.head_timeout,
            write_timeout: options.write_timeout,
        }
    }

    /// Answers the requests of a connection.
    async fn answer(
        &self,
        mut stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        service: Arc<Service>,
        watcher: Watcher,
        mut ending: tokio::sync::watch::Receiver<()>,
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let begin = read_begin(&mut stream);
        let begin = tokio::select! {
            biased;
            begin = tokio::time::timeout(self.head_timeout, begin) => begin??,
            // Nobody waits for a request that has not begun.
            _ = ending.changed() => return Ok(()),
        };
        let is_http2 = begin == HTTP2_PREFACE[..];
        let stream = TokioIo::new(ClientStream::new(stream, begin, self.write_timeout));
        if is_http2 {
            let unsent = Arc::new(Unsent::default());
            let bodies = Arc::clone(&unsent);
            let answer = service_fn(move |request| {
                let (service, bodies) = (Arc::clone(&service), Arc::clone(&bodies));
                async move {
                    let response = service.answer(request).await;
                    Ok::<_, Infallible>(response.map(|body| CountedBody::new(body, &bodies)))
                }
            });
            let connection = watcher.watch(self.http2.serve_connection(stream, answer));
            tokio::select! {
                end = connection => end?,
                () = unsent.timed_out(self.write_timeout) => return Err(write_timed_out().into()),
            }
        } else {
            let answer = service_fn(move |request| {
                let service = Arc::clone(&service);
                async move { Ok::<_, Infallible>(service.answer(request).await) }
            });
            let connection = self.http1.serve_connection(stream, answer);
            watcher.watch(connection).await?;
        }
        Ok(())
    }
}

/// Reads as much of a connection as distinguishes the protocols: the whole preface of
/// HTTP/2, or something else.
async fn read_begin(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<Bytes> {
    let mut room = [0; HTTP2_PREFACE.len()];
    let mut begin = ReadBuf::new(&mut room);
    loop {
        let known = begin.filled().len();
        poll_fn(|context| Pin::new(&mut *stream).poll_read(context, &mut begin)).await?;
        let read = begin.filled();
        if read.len() == known {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if read.len() == HTTP2_PREFACE.len() || !HTTP2_PREFACE.starts_with(read) {
            return Ok(Bytes::copy_from_slice(read));
        }
    }
}

#[cfg(test)]
mod tests;
