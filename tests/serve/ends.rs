//! How the process starts and ends.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Command, Stdio};

use pkgres_tests::answers;
use pkgres_tests::archives::archive;
use pkgres_tests::collections::{artifact, file_name, form};
use pkgres_tests::services;

use crate::server::Server;

/// The first line on stdout is a document, also while the server runs.
#[test]
fn the_address_is_a_document_with_format_json() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut process = Command::new(env!("CARGO_BIN_EXE_pkgres"))
        .args([
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--format",
            "json",
            "--data",
        ])
        .arg(folder.path().join("data"))
        .env("PKGRES_LOG", "error")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut line = String::new();
    let mut stdout = BufReader::new(process.stdout.take().expect("a pipe"));
    stdout.read_line(&mut line).expect("a line");
    process.kill().expect("it runs");
    process.wait().expect("it ends");
    let faults = answers::faults("serve", &line);
    assert!(faults.is_empty(), "{line}: {faults:?}");
    let document: serde_json::Value = serde_json::from_str(&line).expect("a document in a line");
    let address = document["address"].as_str().expect("an address");
    assert!(address.starts_with("http://127.0.0.1:"), "{line}");
}

#[test]
fn open_requests_are_finished_when_the_server_ends() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().join("data");
    let mut server = Server::start_with_log(&data, &[], "info");
    let token = Server::token(&data);
    let bytes = archive("a.Web", "1.0.0", &[]);
    let mut connection = server.connect();
    let silent = server.connect();
    let mut idle = server.connect();
    let answer = idle.ask("GET", "/index/config.json", &[], b"");
    assert_eq!(answer.expect("an answer").0, 200);
    let head = format!(
        "PUT /v1/packages/a.Web/versions/1.0.0 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/zip\r\nContent-Length: {}\r\nExpect: 100-continue\r\n\r\n",
        bytes.len()
    );
    // The server waits for the body when the signal comes.
    connection
        .stream()
        .write_all(head.as_bytes())
        .expect("the server reads");
    let (status, ..) = connection.answer().expect("the server goes on");
    assert_eq!(status, 100);
    connection
        .stream()
        .write_all(&bytes[..10])
        .expect("the server reads");
    let signal = Command::new("kill")
        .args(["-TERM", &server.process.id().to_string()])
        .status();
    assert!(signal.expect("kill runs").success());
    // Once idle connections are closed, the signal has arrived.
    assert!(idle.is_closed());
    connection
        .stream()
        .write_all(&bytes[10..])
        .expect("the server still reads");
    let (status, _, body) = connection.answer().expect("an answer");
    assert_eq!(status, 201, "{}", String::from_utf8_lossy(&body));
    drop((connection, silent));
    let exit = server.process.wait().expect("an end");
    assert_eq!(exit.code(), Some(0));
    let mut rest = String::new();
    server.stdout.read_to_string(&mut rest).expect("the rest");
    assert_eq!(rest, "", "stdout has the address and nothing else");
    let mut stderr_text = String::new();
    let mut stderr = server.process.stderr.take().expect("a pipe");
    stderr
        .read_to_string(&mut stderr_text)
        .expect("the messages");
    let is_json = |line: &str| serde_json::from_str::<serde_json::Value>(line).is_ok();
    assert!(stderr_text.lines().all(is_json), "{stderr_text}");
    assert!(
        stderr_text.contains("the administrator token is in a file"),
        "{stderr_text}"
    );
    assert!(!stderr_text.contains(&token), "{stderr_text}");

    // Everything is there when it starts again, and the token is not created twice.
    let again = Server::start(&data, &[]);
    assert_eq!(Server::token(&data), token);
    let answer = again
        .connect()
        .ask("GET", "/index/v1/packages/a.!web.ndjson", &[], b"");
    assert_eq!(answer.expect("an answer").0, 200);
}

#[test]
fn the_log_says_which_token_changed_something() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().join("data");
    let mut server = Server::start_with_log(&data, &[], "info");
    let token = format!("Authorization: Bearer {}", Server::token(&data));
    let headers = [&*token, "Content-Type: application/json"];
    let mut connection = server.connect();
    let who = connection.ask("GET", "/v1/whoami", &headers, b"");
    let who: serde_json::Value =
        serde_json::from_slice(&who.expect("an answer").2).expect("it is JSON");
    let new = br#"{"scopes":["read"],"owner":"ann"}"#;
    let created = connection.ask("POST", "/v1/tokens", &headers, new);
    let (status, _, created) = created.expect("an answer");
    assert_eq!(status, 201);
    let created: serde_json::Value = serde_json::from_slice(&created).expect("it is JSON");
    let (kind, form) = form(
        &file_name("acme.web", "1.2.0"),
        &artifact("acme.web", "1.2.0", &[]),
    );
    let headers = [&*token, &format!("Content-Type: {kind}")];
    let path = "/api/v3/artifacts/collections/";
    let published = connection.ask("POST", path, &headers, &form);
    assert_eq!(published.expect("an answer").0, 202);
    server.process.kill().expect("it runs");
    let mut log = String::new();
    let mut stderr = server.process.stderr.take().expect("a pipe");
    stderr.read_to_string(&mut log).expect("the log");
    let line = log.lines().find(|line| line.contains("/v1/tokens"));
    let line = line.unwrap_or_else(|| panic!("{log}"));
    let line: serde_json::Value = serde_json::from_str(line).expect("it is JSON");
    let shown = line.to_string();
    assert!(shown.contains(r#""owner":"admin""#), "{shown}");
    assert!(
        shown.contains(&format!(r#""token":{}"#, who["token"])),
        "{shown}"
    );
    // The path alone does not say what was made.
    let line_with = |words: &[&str]| {
        let has_all = |line: &&str| words.iter().all(|words| line.contains(words));
        assert!(log.lines().any(|line| has_all(&line)), "{words:?}: {log}");
    };
    let (new, by) = (created["id"].to_string(), who["token"].to_string());
    line_with(&[
        "created a token",
        &new,
        &by,
        r#""for_owner":"ann""#,
        r#""scopes":"read""#,
    ]);
    line_with(&["published a release", &by, "acme.web", "1.2.0"]);
}

#[test]
#[cfg(unix)]
fn only_the_owner_can_read_secrets() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().join("data");
    let mode = |name: &str| {
        let metadata = std::fs::metadata(data.join(name)).expect("a file");
        metadata.permissions().mode() & 0o777
    };
    let server = Server::start(&data, &[]);
    for name in ["admin-token", "registry.sqlite", "registry.sqlite-wal"] {
        assert_eq!(mode(name), 0o600, "{name}");
    }
    assert_eq!(mode(""), 0o700);
    drop(server);
    // A backup that was put back with other rights. A folder that somebody opened stays open.
    for (name, rights) in [("registry.sqlite", 0o644), ("", 0o750)] {
        let rights = std::fs::Permissions::from_mode(rights);
        std::fs::set_permissions(data.join(name), rights).expect("it is ours");
    }
    let _server = Server::start(&data, &[]);
    assert_eq!(mode("registry.sqlite"), 0o600);
    assert_eq!(mode(""), 0o750);
}

#[test]
#[allow(clippy::disallowed_methods)]
fn a_server_that_cannot_start_reports_the_error() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let blocked = folder.path().join("file");
    std::fs::File::create_new(&blocked).expect("a file");
    let foreign = folder.path().join("foreign/blobs");
    std::fs::create_dir_all(&foreign).expect("a folder");
    std::fs::write(foreign.join("registry-id"), "another\n").expect("a mark");
    for (arguments, exit, expected) in [
        (vec!["--data", "DATA/file"], 2, "file"),
        (
            vec!["--data", "DATA/foreign"],
            3,
            "error[PK0040]: the data belong to another registry",
        ),
        (
            vec![
                "--data",
                "DATA/new",
                "--database",
                "postgres://127.0.0.1:1/none",
            ],
            3,
            "the database cannot be reached",
        ),
        (
            vec!["--data", "DATA/new", "--blobs", "ftp://bucket"],
            2,
            "`ftp://bucket` is no bucket: only `s3://` is known",
        ),
        (
            vec!["--data", "DATA/new", "--blobs", "s3://bucket?zone=here"],
            2,
            "there is no parameter `zone`",
        ),
        (
            vec!["--data", "DATA/new", "--blobs", "s3://bucket?endpoint=here"],
            2,
            "`endpoint` is an address with `http` or `https`",
        ),
        (
            vec!["--data", "DATA/new", "--database", "mysql://host/none"],
            2,
            "the address of the database cannot be used: `postgres://` is expected",
        ),
        (
            vec!["--data", "DATA/new", "--listen", "example.org:80"],
            2,
            "an IP address is expected in front of the port",
        ),
        (
            vec!["--data", "DATA/new", "--listen", "192.0.2.1:1"],
            3,
            "cannot listen on 192.0.2.1:1",
        ),
    ] {
        let root = folder.path().to_str().expect("text");
        let arguments = arguments.iter().map(|text| text.replace("DATA", root));
        let output = Command::new(env!("CARGO_BIN_EXE_pkgres"))
            .arg("serve")
            .args(arguments)
            .stdin(Stdio::null())
            .output()
            .expect("the binary runs");
        let stderr_text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(exit), "{stderr_text}");
        assert!(stderr_text.contains(expected), "{stderr_text}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn a_busy_port_has_a_hint_that_works() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("an address").to_string();
    let output = Command::new(env!("CARGO_BIN_EXE_pkgres"))
        .args(["serve", "--listen", &address, "--data"])
        .arg(folder.path().join("data"))
        .stdin(Stdio::null())
        .output()
        .expect("the binary runs");
    let shown = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{shown}");
    let expected = "`--listen 127.0.0.1:0` takes any free port, and prints its address";
    assert!(shown.contains(expected), "{shown}");
    // The servers of the other tests are started so.
    Server::start(&folder.path().join("other"), &[]);
}

#[test]
fn a_data_folder_has_one_server() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().join("data");
    let server = Server::start(&data, &[]);
    let second = || {
        Command::new(env!("CARGO_BIN_EXE_pkgres"))
            .args(["serve", "--listen", "127.0.0.1:0", "--data"])
            .arg(&data)
            .output()
            .expect("it ends")
    };
    let output = second();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    assert!(
        stderr.contains("error[PK0040]: another server uses") && stderr.contains("`--data`"),
        "{stderr}"
    );
    // The lock ends with the process, however that ends.
    drop(server);
    let _again = Server::start(&data, &[]);
}

#[test]
fn a_static_mirror_has_the_documents_of_the_server() {
    check_static_mirror(&[]);
}

#[test]
fn so_does_one_of_a_registry_in_a_database_server() {
    let Some(postgres) = services::postgres() else {
        return;
    };
    check_static_mirror(&["--database", &postgres.database()]);
}

/// Exports a registry whose storage these options name besides its data folder, and compares the files with the server.
fn check_static_mirror(storage: &[&str]) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().join("data");
    let server = Server::start(&data, storage);
    let mut connection = server.connect();
    let bytes = archive("a.Web", "1.0.0", &[]);
    connection.publish(&Server::token(&data), "a.Web", "1.0.0", &bytes);
    let mirror = folder.path().join("mirror");
    let output = Command::new(env!("CARGO_BIN_EXE_pkgres"))
        .arg("export-static")
        .arg("--data")
        .args([&data, &mirror])
        .args(storage)
        .output()
        .expect("the binary runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let digest = pkgres_manifest::ArtifactDigest::of_archive(&bytes).to_string();
    for path in [
        "index/v1/packages/a.!web.ndjson",
        "index/v1/classes/a.!web.json",
        "index/v1/names.ndjson",
        &format!("blobs/sha256/{digest}"),
    ] {
        let (status, _, body) = connection
            .ask("GET", &format!("/{path}"), &[], b"")
            .expect("an answer");
        assert_eq!(status, 200, "{path}");
        assert_eq!(
            std::fs::read(mirror.join(path)).expect("a file"),
            body,
            "{path}"
        );
    }
    let config = std::fs::read_to_string(mirror.join("index/config.json")).expect("a file");
    for key in ["batch\"", "changes", "api"] {
        assert!(!config.contains(&format!("\"{key}")), "{config}");
    }
    assert!(
        config.contains("\"snapshot\"") && config.contains("\"keys\""),
        "{config}"
    );
}
