//! A server on a port, with both protocols. `src/http/listen/tests.rs` tests timeouts, on a paused clock.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

use pkgres_registry_server::{ServeOptions, serve};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::support::Served;

fn send(address: SocketAddr, begin: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(address).expect("a connection");
    stream.write_all(begin).expect("the server reads");
    stream
}

/// Runs a test with the address of a server on a port.
fn with_server(test: impl FnOnce(SocketAddr)) {
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
    let (end, ended) = oneshot::channel::<()>();
    let service = Arc::clone(&served.service);
    let running = runtime.spawn(serve(listener, service, ServeOptions::default(), async {
        let _ = ended.await;
    }));

    test(address);
    let _ = end.send(());
    runtime.block_on(running).expect("the server ends");
}

#[test]
fn both_protocols_share_one_port() {
    with_server(|address| {
        let mut first = send(address, b"G");
        first
            .write_all(b"ET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            .expect("the server reads");
        let mut response = String::new();
        first.read_to_string(&mut response).expect("a response");
        assert!(response.starts_with("HTTP/1.1 200"), "{response}");

        // The preface, and settings without any.
        let mut second = send(address, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
        second
            .write_all(&[0, 0, 0, 4, 0, 0, 0, 0, 0])
            .expect("the server reads");
        let mut head = [0; 9];
        second.read_exact(&mut head).expect("a frame");
        assert_eq!(head[3], 4, "settings come first: {head:?}");
    });
}

#[test]
fn a_client_that_sends_a_large_body_sees_why_it_is_rejected() {
    with_server(|address| {
        let body = vec![0; 30 * 1024 * 1024];
        let head = format!(
            "PUT /v1/packages/org.acme.Web/versions/1.0.0 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\
             Authorization: Bearer pkgres_unknown\r\nContent-Type: application/zip\r\n\
             Content-Length: {}\r\n\r\n",
            body.len()
        );
        let mut stream = send(address, head.as_bytes());
        stream.write_all(&body).expect("the server reads all of it");
        let mut response = String::new();
        stream.read_to_string(&mut response).expect("a response");
        assert!(response.starts_with("HTTP/1.1 401"), "{response}");
    });
}
