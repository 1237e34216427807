//! Documents whose commands use a registry.

use std::path::{Path, PathBuf};

use crate::server::Server;

/// Runs a document with a registry and the home folder of a user.
pub(crate) fn sessions(document: &str, address: &str, data: &Path, home: &Path) {
    let text = |path: PathBuf| path.to_str().expect("text").to_owned();
    let binary = Path::new(env!("CARGO_BIN_EXE_pkgres"));
    // Documents use `sh` to redirect stdin.
    let programs = std::env::var("PATH").expect("there are programs");
    let folder = binary.parent().expect("a folder").display();
    let cases = trycmd::TestCases::new();
    cases
        .register_bin("pkgres", binary)
        .register_bin("ls", PathBuf::from("/bin/ls"))
        .register_bin("sh", PathBuf::from("/bin/sh"))
        .insert_var("[ADDRESS]", address.to_owned())
        .expect("the name of a variable is valid");
    cases
        .env("PATH", format!("{folder}:{programs}"))
        .env("NO_COLOR", "1")
        .env("LC_ALL", "C")
        .env("HOME", text(home.to_owned()))
        .env("PKGRES_CACHE", text(home.join("cache")))
        .env("PKGRES_STATE", text(home.join("state")))
        .env("PKGRES_CREDENTIALS", text(home.join("config")))
        .env("PKGRES_REGISTRY", format!("acme={address}"))
        .env("DATA", text(data.to_owned()))
        .env("TOKEN_FILE", text(data.join("admin-token")))
        .case(document);
    cases.run();
}

#[test]
fn a_registry_and_its_users() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().join("data");
    let server = Server::start(&data);
    sessions(
        "../tests/cli/server/registry.md",
        &server.address,
        &data,
        folder.path(),
    );
}
