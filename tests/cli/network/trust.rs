//! Registries that are no longer trusted.

use std::path::Path;
use std::process::Command;

use crate::documents::sessions;
use crate::server::Server;
use crate::user::User;

#[test]
fn a_registry_restored_from_an_old_copy_is_rejected() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (data, copy) = (folder.path().join("data"), folder.path().join("copy"));
    let copy_of = |from: &Path, to: &Path| {
        let copied = Command::new("cp").arg("-r").arg(from).arg(to).status();
        assert!(copied.expect("cp runs").success());
    };
    let server = Server::start(&data);
    let mut user = User::new(&server);
    user.login();
    let token = server.token.clone();
    user.does(&["publish", "fixtures/shop/core"]);
    drop(server);
    copy_of(&data, &copy);
    let server = Server::start(&data);
    // The server has another port, and so the registry another address.
    user.registry = format!("acme={}", server.address);
    user.secret = token;
    user.login();
    user.does(&["publish", "fixtures/shop/database-1.0.0"]);
    user.does(&["resolve", "fixtures/shop/database-1.0.0"]);
    let address = server.address.clone();
    drop(server);
    let listen = address.trim_start_matches("http://").trim_end_matches('/');
    let restored = Server::start_at(listen, &copy);
    assert_eq!(restored.address, address);
    let stderr = user.fails(4, &["resolve", "fixtures/shop/database-1.0.0"]);
    assert!(
        stderr.contains("error[PK0044]") && stderr.contains("went back in time"),
        "{stderr}"
    );
    user.does(&["cache", "forget", "acme"]);
    user.does(&["resolve", "fixtures/shop/database-1.0.0"]);
}

#[test]
fn a_registry_with_another_key_is_rejected() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (before, data) = (folder.path().join("before"), folder.path().join("data"));
    let server = Server::start(&before);
    let user = User::new(&server);
    user.login();
    let package = "tests/cli/server/changed.in/db";
    user.does(&["publish", package]);
    let app = "tests/cli/server/changed.in/app";
    user.does(&["tree", app, "--ignore-lock"]);
    let address = server.address.clone();
    drop(server);
    let listen = address.trim_start_matches("http://").trim_end_matches('/');
    let server = Server::start_at(listen, &data);
    let other = User::new(&server);
    other.login();
    other.does(&["publish", package]);
    sessions(
        "../tests/cli/server/changed.md",
        &address,
        &data,
        user.home.path(),
    );
}
