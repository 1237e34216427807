//! Connections that are slow, or say nothing.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pkgres_registry_server::{ServeOptions, serve};
use tokio::net::TcpListener;

use crate::support::Served;

#[test]
fn who_says_nothing_is_hung_up_on() {
    let served = Served::new();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime");
    let listener = runtime
        .block_on(TcpListener::bind("127.0.0.1:0"))
        .expect("a port");
    let address = listener.local_addr().expect("an address");
    let options = ServeOptions {
        connections: 4,
        head_patience: Duration::from_millis(200),
        shutdown_patience: Duration::from_secs(1),
    };
    let (end, ended) = tokio::sync::oneshot::channel::<()>();
    let service = Arc::clone(&served.service);
    let running = runtime.spawn(serve(listener, service, options, async {
        let _ = ended.await;
    }));
    // All places are taken by connections that hold back: nothing, a letter that both protocols
    // begin with, half of a head, and nothing after an answer.
    let mut silent: Vec<TcpStream> = [
        "",
        "P",
        "GET / HTTP/1.1\r\nHo",
        "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    ]
    .into_iter()
    .map(|begin| {
        let mut stream = TcpStream::connect(address).expect("a connection");
        stream
            .set_read_timeout(Some(Duration::from_secs(10)))
            .expect("a timeout");
        stream
            .write_all(begin.as_bytes())
            .expect("the server reads");
        stream
    })
    .collect();
    let begun = Instant::now();
    // One more waits for a place, and gets one.
    let mut other = TcpStream::connect(address).expect("a connection");
    other
        .set_read_timeout(Some(Duration::from_secs(10)))
        .expect("a timeout");
    other
        .write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        .expect("the server reads");
    let mut answer = String::new();
    other.read_to_string(&mut answer).expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    for stream in &mut silent {
        let mut rest = Vec::new();
        let end = stream.read_to_end(&mut rest).map_err(|error| error.kind());
        // What was not read by the server makes the end a reset.
        assert!(
            matches!(end, Ok(_) | Err(ErrorKind::ConnectionReset)),
            "{end:?}"
        );
    }
    assert!(
        begun.elapsed() < Duration::from_secs(5),
        "{:?}",
        begun.elapsed()
    );
    let _ = end.send(());
    runtime.block_on(running).expect("the end of the server");
}
