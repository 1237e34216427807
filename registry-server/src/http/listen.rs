//! Taking connections.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use super::Service;

/// How connections are taken.
#[derive(Debug, Clone)]
pub struct ServeOptions {
    /// How many connections there are at once; others wait.
    pub connections: usize,
    /// How long the head of a request may take, and a connection be idle.
    pub head_patience: Duration,
    /// How long open requests have when the server is told to end.
    pub shutdown_patience: Duration,
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            connections: 4096,
            head_patience: Duration::from_secs(30),
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
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        // Without a timer there is no timeout for heads, and slow clients keep connections.
        .timer(TokioTimer::new())
        .header_read_timeout(options.head_patience)
        .max_buf_size(64 * 1024)
        .pipeline_flush(true);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(options.head_patience)
        .max_concurrent_streams(128);
    let builder = Arc::new(builder);
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
        let builder = Arc::clone(&builder);
        tokio::spawn(async move {
            let answer = service_fn(|request| {
                let service = Arc::clone(&service);
                async move { Ok::<_, std::convert::Infallible>(service.answer(request).await) }
            });
            let connection = builder.serve_connection(TokioIo::new(stream), answer);
            if let Err(error) = watcher.watch(connection).await {
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
