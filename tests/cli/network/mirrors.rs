//! A registry as static files.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};

use crate::server::Server;
use crate::user::{User, publish_all};

/// Serves the files of a folder over HTTP, and returns the address.
fn serve_files(folder: PathBuf) -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}/", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut lines = BufReader::new(stream.try_clone().expect("a copy")).lines();
            let first = lines.next().and_then(Result::ok).unwrap_or_default();
            let path = first.split_whitespace().nth(1).unwrap_or("/").to_owned();
            while lines
                .next()
                .and_then(Result::ok)
                .is_some_and(|line| !line.is_empty())
            {}
            let (status, body) = match std::fs::read(folder.join(path.trim_start_matches('/'))) {
                Ok(body) => ("200 OK", body),
                Err(_) => ("404 Not Found", Vec::new()),
            };
            let length = body.len();
            let head = format!(
                "HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
            );
            let _ = stream.write_all(head.as_bytes());
            let _ = stream.write_all(&body);
        }
    });
    address
}

#[test]
fn a_mirror_of_static_files_is_a_registry() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (data, files) = (folder.path().join("data"), folder.path().join("files"));
    let server = Server::start(&data);
    let mut user = User::new(&server);
    user.login();
    publish_all(&user);
    let resolve = ["resolve", "fixtures/shop/app", "--format", "json"];
    let from_server = user.does(&resolve).stdout;
    drop(server);
    let text = |path: &Path| path.to_str().expect("text").to_owned();
    user.does(&["export-static", "--data", &text(&data), &text(&files)]);
    user.registry = format!("acme={}", serve_files(files.clone()));
    assert_eq!(user.does(&resolve).stdout, from_server);
    let publish = ["publish", "fixtures/shop/core", "--dry-run"];
    for arguments in [&publish[..2], &publish] {
        let stderr = user.fails(3, arguments);
        assert!(stderr.contains("error[PK0047]"), "{stderr}");
        assert!(
            stderr.contains("it is a mirror, and has no API"),
            "{stderr}"
        );
        let hint = "hint: use the address of the server that it was exported from";
        assert!(stderr.contains(hint), "{stderr}");
    }

    // Names of packages can be searched, and other registries besides it.
    let found = user.does(&["search", "Database", "org.example"]).stdout;
    assert!(found.contains("org.example.Database "), "{found}");
    assert_eq!(found.lines().count(), 1, "{found}");

    // A file that differs from the signed list is rejected.
    let document = files.join("index/v1/packages/org.example.!database.ndjson");
    let mut bytes = std::fs::read(&document).expect("it was exported");
    let end = bytes.len() - 3;
    bytes[end] ^= 1;
    #[allow(clippy::disallowed_methods)]
    std::fs::write(&document, bytes).expect("it is ours");
    user.does(&["cache", "clean"]);
    let stderr = user.fails(4, &resolve[..2]);
    assert!(
        stderr.contains("error[PK0032]") && stderr.contains("(tried 4 times)"),
        "{stderr}"
    );
}
