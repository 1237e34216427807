//! A fuzzing client, which makes requests from the description of the API: no response may be a failure of the server,
//! or another one than those that are described.
//!
//! The requests are the same in every run. `FUZZ=60` makes some 14,000, ten times as many as
//! usual.

use std::path::Path;
use std::process::Command;

use pkgres_tests::archives::archive;
use pkgres_tests::collections::{artifact, form};
use pkgres_tests::services;

use crate::server::Server;

/// What is compared for each response.
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,\
    response_headers_conformance,response_schema_conformance,unsupported_method";

/// The random requests for each operation in a short run.
const REQUESTS: u32 = 5;

/// The operations that the client does not try: it would remove its own token, and be nobody from then on.
const LEFT_OUT: &str = "delete_v1_tokens_id";

// Tests write files as plainly as a user would. How many requests there were is what a long run is for.
#[allow(clippy::disallowed_methods, clippy::print_stdout)]
#[test]
fn every_response_is_described() {
    let Some(program) = services::program("st") else {
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().join("data");
    let server = Server::start(&data, &[]);
    let token = Server::token(&data);
    let web = archive("org.acme.Web", "1.0.0", &[]);
    server
        .connect()
        .publish(&token, "org.acme.Web", "1.0.0", &web);
    let file = folder.path().join("web.zip");
    std::fs::write(&file, &web).expect("a file");
    let collection = artifact("acme.web", "1.0.0", &[]);
    let (kind, body) = form("acme-web-1.0.0.tar.gz", &collection);
    let headers = [
        &*format!("Authorization: Token {token}"),
        &*format!("Content-Type: {kind}"),
    ];
    let (status, ..) = server
        .connect()
        .ask("POST", "/api/v3/artifacts/collections/", &headers, &body)
        .expect("an answer");
    assert_eq!(status, 202);
    let published = folder.path().join("acme-web-1.0.0.tar.gz");
    std::fs::write(&published, &collection).expect("a file");
    let times = std::env::var("FUZZ").map_or(1, |text| text.parse().expect("a number"));
    let hooks = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/serve/fuzz_hooks.py");
    let output = Command::new(program)
        .arg("run")
        .arg(format!("{}v1/openapi.json", server.base))
        .args(["--url", server.base.trim_end_matches('/')])
        .args(["--header", &format!("Authorization: Bearer {token}")])
        .args(["--max-examples", &(REQUESTS * times).to_string()])
        .args(["--phases", "examples,coverage,fuzzing"])
        .args(["--checks", CHECKS])
        .args(["--exclude-operation-id", LEFT_OUT])
        .args(["--generation-deterministic", "--no-color"])
        .env("SCHEMATHESIS_HOOKS", hooks)
        .env("PKGRES_FUZZ_ARCHIVE", file)
        .env("PKGRES_FUZZ_ARTIFACT", published)
        .current_dir(folder.path())
        .output()
        .expect("the client runs");
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    assert!(output.status.success(), "{text}");
    assert!(!text.contains("Authentication failed"), "{text}");
    let requests: u32 = text
        .lines()
        .find_map(|line| line.trim().split_once(" generated")?.0.parse().ok())
        .expect("the number of requests");
    println!("{requests} requests");
    assert!(requests > 500, "{text}");
    // The server is still there.
    let (status, ..) = server
        .connect()
        .ask("GET", "/healthz", &[], b"")
        .expect("an answer");
    assert_eq!(status, 200);
}
