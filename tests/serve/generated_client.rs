//! A client that is generated from the description of the API: nothing in the description is beyond the generator,
//! and the client lists, shows, publishes and reads back.

use std::path::Path;
use std::process::{Command, Output};

use pkgres_tests::archives::archive;
use pkgres_tests::services;

use crate::server::Server;

/// What the program on top of the generated client prints.
const PRINTED: &str = "\
show 404 pkgres.no_such_package
publish 401 pkgres.unauthorized
whoami admin ['admin']
publish 201 org.acme.Web 1.0.0 []
digest True
publish 200
list ['org.acme.Db', 'org.acme.Web']
show org.acme.Web [('1.0.0', False)] UTC
requirements [['org.acme.Db', '1']]
read back True
";

fn run(command: &mut Command) -> String {
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().expect("the program runs");
    let text = String::from_utf8_lossy(&stdout);
    assert!(
        status.success(),
        "{text}{}",
        String::from_utf8_lossy(&stderr)
    );
    text.into_owned()
}

// Tests write files as plainly as a user would.
#[allow(clippy::disallowed_methods)]
#[test]
fn a_generated_client_lists_shows_and_publishes() {
    let Some(generator) = services::program("openapi-python-client") else {
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().join("data");
    let server = Server::start(&data, &[]);
    let token = Server::token(&data);
    let database = archive("org.acme.Db", "1.2.0", &[]);
    let mut connection = server.connect();
    connection.publish(&token, "org.acme.Db", "1.2.0", &database);
    let web = folder.path().join("web.zip");
    let content = archive("org.acme.Web", "1.0.0", &[("org.acme.Db", "1")]);
    std::fs::write(&web, content).expect("a file");
    // The client is generated from what the server sends. A warning means that an operation or a response is missing.
    let (_, _, description) = connection
        .ask("GET", "/v1/openapi.json", &[], b"")
        .expect("an answer");
    let document = folder.path().join("openapi.json");
    std::fs::write(&document, description).expect("a file");
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/serve");
    run(Command::new(&generator)
        .args(["generate", "--meta", "none", "--fail-on-warning"])
        .arg("--path")
        .arg(document)
        .arg("--config")
        .arg(sources.join("generated_client.yaml"))
        .arg("--output-path")
        .arg(folder.path().join("registry")));
    let python = generator.with_file_name("python");
    let printed = run(Command::new(python)
        .arg(sources.join("generated_client.py"))
        .args([server.base.trim_end_matches('/'), &token])
        .arg(web)
        .env("PYTHONPATH", folder.path()));
    assert_eq!(printed, PRINTED);
}
