//! Taking connections.

use std::convert::Infallible;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use super::Service;
use super::patience::{Patient, Waiting, Watched, too_long};

/// How connections are taken.
#[derive(Debug, Clone)]
pub struct ServeOptions {
    /// How many connections there are at once; others wait.
    pub connections: usize,
    /// How long the head of a request may take, and a connection be idle.
    pub head_patience: Duration,
    /// How long a client may take nothing of what it is sent. With HTTP/2 that is noticed after twice as
    /// long at the latest. What is taken slowly may take as long as it does.
    pub write_patience: Duration,
    /// How long open requests have when the server is told to end.
    pub shutdown_patience: Duration,
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            connections: 4096,
            head_patience: Duration::from_secs(30),
            write_patience: Duration::from_secs(30),
            shutdown_patience: Duration::from_secs(30),
        }
    }
}

/// Answers requests until `end` comes; then takes no more, and lets those that are open finish.
pub async fn serve(
    listener: TcpListener,
    service: Arc<Service>,
    options: ServeOptions,
    end: impl Future<Output = ()>,
) {
    let graceful = GracefulShutdown::new();
    let room = Arc::new(Semaphore::new(options.connections));
    let protocols = Arc::new(Protocols::new(&options));
    tokio::pin!(end);
    loop {
        let accepted = async {
            let place = Arc::clone(&room).acquire_owned().await;
            (place, listener.accept().await)
        };
        let (place, accepted) = tokio::select! {
            accepted = accepted => accepted,
            () = &mut end => break,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Too many open files, for example: it does not help to try at once again.
                tracing::warn!(%error, "a connection could not be taken");
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        // Answers are written as a whole: waiting for more would only delay them.
        let _ = stream.set_nodelay(true);
        let service = Arc::clone(&service);
        let watcher = graceful.watcher();
        let protocols = Arc::clone(&protocols);
        tokio::spawn(async move {
            if let Err(error) = protocols.converse(stream, service, watcher).await {
                // Usually the client went away.
                tracing::debug!(%error, "a connection broke");
            }
            drop(place);
        });
    }
    drop(listener);
    if tokio::time::timeout(options.shutdown_patience, graceful.shutdown())
        .await
        .is_err()
    {
        tracing::warn!("some requests were not finished in time");
    }
}

/// How a connection of HTTP/2 begins when there is no TLS that says so.
const HTTP2: &[u8; 4] = b"PRI ";

/// The protocols that are spoken.
struct Protocols {
    http1: http1::Builder,
    http2: http2::Builder<TokioExecutor>,
    head_patience: Duration,
    write_patience: Duration,
}

impl Protocols {
    fn new(options: &ServeOptions) -> Self {
        let mut http1 = http1::Builder::new();
        http1
            // Without a timer there is no timeout for heads, and slow clients keep connections.
            .timer(TokioTimer::new())
            .header_read_timeout(options.head_patience)
            // Not with `pipeline_flush`: it copies answers into one buffer, which grows as long as
            // whoever reads is slower than what is read.
            .max_buf_size(64 * 1024);
        let mut http2 = http2::Builder::new(TokioExecutor::new());
        http2
            .timer(TokioTimer::new())
            .keep_alive_interval(options.head_patience)
            .keep_alive_timeout(options.head_patience)
            .max_concurrent_streams(128);
        Self {
            http1,
            http2,
            head_patience: options.head_patience,
            write_patience: options.write_patience,
        }
    }

    /// Answers the requests of a connection.
    async fn converse(
        &self,
        stream: TcpStream,
        service: Arc<Service>,
        watcher: Watcher,
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        // Whoever connects and says nothing is not waited for any longer than others.
        let is_http2 = tokio::time::timeout(self.head_patience, is_http2(&stream)).await??;
        let stream = TokioIo::new(Patient::new(stream, self.write_patience));
        if is_http2 {
            let waiting = Arc::new(Waiting::default());
            let bodies = Arc::clone(&waiting);
            let answer = service_fn(move |request| {
                let (service, bodies) = (Arc::clone(&service), Arc::clone(&bodies));
                async move {
                    let answer = service.answer(request).await;
                    Ok::<_, Infallible>(answer.map(|pieces| Watched::new(pieces, &bodies)))
                }
            });
            let conversation = watcher.watch(self.http2.serve_connection(stream, answer));
            tokio::select! {
                end = conversation => end?,
                () = waiting.too_long(self.write_patience) => return Err(too_long().into()),
            }
        } else {
            let answer = service_fn(move |request| {
                let service = Arc::clone(&service);
                async move { Ok::<_, Infallible>(service.answer(request).await) }
            });
            let conversation = self.http1.serve_connection(stream, answer);
            watcher.watch(conversation).await?;
        }
        Ok(())
    }
}

/// Whether a connection begins as HTTP/2 does, without taking anything from it.
async fn is_http2(stream: &TcpStream) -> std::io::Result<bool> {
    let mut begin = [0; HTTP2.len()];
    loop {
        let count = stream.peek(&mut begin).await?;
        if count == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        if begin[..count] != HTTP2[..count] {
            return Ok(false);
        }
        if count == HTTP2.len() {
            return Ok(true);
        }
        // What was seen stays to be seen: waiting for more would not wait.
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
