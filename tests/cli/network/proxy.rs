//! A proxy between the user and registries.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};

use crate::server::Server;
use crate::user::User;

/// A server that gives the same answer to each request. Returns its address, and the first lines of the requests.
fn answering(answer: &'static str) -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let (sender, requests) = channel();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut lines = BufReader::new(&stream).lines().map_while(Result::ok);
            let first = lines.next().unwrap_or_default();
            lines.find(String::is_empty);
            let _ = sender.send(first);
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    (format!("http://{address}/"), requests)
}

/// The proxy is for other machines, also if this one refers to them, and its refusal is not one of the registry.
#[test]
fn a_proxy_that_requires_a_password_is_named() {
    let (local, _) = answering(
        "HTTP/1.1 302 Found\r\nLocation: http://mirror.example/config.json\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
    );
    let (proxy, proxied) = answering(
        "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
    );
    let data = tempfile::tempdir().expect("a temporary folder");
    let server = Server::start(&data.path().join("data"));
    let user = User::new(&server);
    let registry = format!("acme={local}");
    let run = user.run_with(
        &[
            "info",
            "org.acme.Web",
            "--allow-http",
            "--registry",
            &registry,
        ],
        "",
        &[("http_proxy", &proxy), ("PKGRES_TOKEN_ACME", "secret")],
    );
    assert_eq!(run.exit, 3, "{}", run.stderr);
    let message = "the registry `acme` cannot be reached through the proxy";
    assert!(run.stderr.contains(message), "{}", run.stderr);
    assert!(
        run.stderr.contains("in HTTPS_PROXY or HTTP_PROXY"),
        "{}",
        run.stderr
    );
    assert!(!run.stderr.contains("PKGRES_TOKEN_ACME"), "{}", run.stderr);
    let requests: Vec<String> = proxied.try_iter().collect();
    let expected = "GET http://mirror.example/config.json HTTP/1.1";
    assert!(!requests.is_empty(), "{}", run.stderr);
    assert!(
        requests.iter().all(|request| request == expected),
        "{requests:?}"
    );
}
