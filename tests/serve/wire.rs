//! The rules of HTTP on a connection, also as `gabbi-run` checks them.

use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use pkgres_tests::archives::archive;
use pkgres_tests::services;

use crate::server::Server;

#[test]
fn the_rules_of_gabbi() {
    let Some(gabbi) = services::program("gabbi-run") else {
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().join("data");
    let server = Server::start(&data, &[]);
    let token = Server::token(&data);
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../registry-server/tests/gabbi");
    let mut files: Vec<_> = std::fs::read_dir(&cases)
        .expect("the folder of cases")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "yaml")
        })
        .collect();
    files.sort();
    assert!(!files.is_empty());
    let web = archive("org.acme.Web", "1.0.0", &[]);
    server
        .connect()
        .publish(&token, "org.acme.Web", "1.0.0", &web);
    let digest = pkgres_manifest::ArtifactDigest::of_archive(&web).to_string();
    let output = Command::new(gabbi)
        .arg(server.base.trim_end_matches('/'))
        .arg("--")
        .args(&files)
        .env("TOKEN", &token)
        .env("DIGEST", &digest)
        .output()
        .expect("gabbi runs");
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{out}{err}");
    assert!(
        out.contains("PASS") || err.contains("OK") || out.contains("OK"),
        "{out}{err}"
    );
}

#[test]
fn slow_connections_do_not_keep_others_waiting() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().join("data");
    let server = Server::start(&data, &[]);
    // Heads that never end.
    let slow: Vec<_> = (0..300)
        .map(|_| {
            let mut connection = server.connect();
            let begun = connection
                .stream()
                .write_all(b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ");
            begun.expect("the server reads");
            connection
        })
        .collect();
    for _ in 0..20 {
        let answer = server.connect().ask("GET", "/index/config.json", &[], b"");
        assert_eq!(answer.expect("an answer").0, 200);
    }
    drop(slow);
}

/// `*` is the server, not one of its paths.
#[test]
fn the_methods_of_the_server_are_those_of_all_paths() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let server = Server::start(&folder.path().join("data"), &[]);
    let mut connection = server.connect();
    let (status, head, body) = connection.ask("OPTIONS", "*", &[], b"").expect("an answer");
    assert_eq!((status, body.len()), (204, 0), "{head}");
    let head = head.to_ascii_lowercase();
    assert!(
        head.contains("\r\nallow: get, head, post, put, patch, delete, options\r\n"),
        "{head}"
    );
    assert!(head.contains("\r\nx-openstack-request-id: req-"), "{head}");
    // Other methods are for paths.
    let (status, ..) = connection.ask("GET", "*", &[], b"").expect("an answer");
    assert_eq!(status, 404);
}

#[test]
fn input_that_is_not_http_is_rejected() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().join("data");
    let server = Server::start(&data, &[]);
    for nonsense in [
        &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"[..],
        b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"GET /\x00 HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, gzip\r\n\r\n",
    ] {
        let mut connection = server.connect();
        connection
            .stream()
            .write_all(nonsense)
            .expect("the server reads");
        match connection.answer() {
            Ok((status, ..)) => assert_eq!(status, 400, "{nonsense:?}"),
            // Or it hangs up.
            Err(error) => assert!(
                !matches!(error.kind(), std::io::ErrorKind::WouldBlock),
                "{nonsense:?}"
            ),
        }
    }
    assert_eq!(
        server
            .connect()
            .ask("GET", "/healthz", &[], b"")
            .expect("an answer")
            .0,
        200
    );
}
