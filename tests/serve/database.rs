//! TLS to the database: what the server reports when it does not start.

use std::path::Path;
use std::process::Command;

use pkgres_tests::services;

use crate::server::Server;

/// The exit code and the messages of a server that does not start.
fn output(data: &Path, address: &str) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_pkgres"))
        .args(["serve", "--listen", "127.0.0.1:0", "--data"])
        .arg(data)
        .env("PKGRES_DATABASE", address)
        .env("NO_COLOR", "1")
        .output()
        .expect("the binary runs");
    assert!(output.stdout.is_empty(), "nothing is listened to");
    let stderr = String::from_utf8(output.stderr).expect("text");
    (output.status.code(), stderr)
}

#[test]
fn a_database_without_tls_is_an_error_if_the_address_requires_it() {
    let Some(postgres) = services::postgres() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let database = postgres.database();
    let (code, stderr) = output(folder.path(), &format!("{database}?sslmode=verify-full"));
    assert_eq!(code, Some(3), "{stderr}");
    assert!(
        stderr.starts_with("error[PK0048]: the database offers no TLS"),
        "{stderr}"
    );
    let (code, stderr) = output(folder.path(), &format!("{database}?sslmode=sometimes"));
    assert_eq!(code, Some(2), "{stderr}");
    assert!(
        stderr.contains("`sslmode=sometimes` is none of"),
        "{stderr}"
    );
}

#[test]
fn a_trusted_certificate_is_required() {
    let Some(postgres) = services::postgres_with_tls() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let database = postgres.database();
    let authority = postgres.authority();
    let authority = authority.to_str().expect("text");
    // The certificate is for `localhost`, and the password is not shown.
    let other = database.replace("pkgres@", "pkgres:sesame@");
    let query = format!("sslmode=verify-full&sslrootcert={authority}");
    let (code, stderr) = output(folder.path(), &format!("{other}?{query}"));
    assert_eq!(code, Some(3), "{stderr}");
    assert!(
        stderr.starts_with("error[PK0049]: the certificate of the database"),
        "{stderr}"
    );
    assert!(!stderr.contains("sesame"), "{stderr}");
    let named = database.replace("127.0.0.1", "localhost");
    let address = format!("{named}?{query}");
    let server = Server::start(folder.path(), &["--database", &address]);
    let token = Server::token(folder.path());
    assert!(token.starts_with("pkgres_"), "{token}");
    drop(server);
}
