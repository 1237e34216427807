//! Registries that cost too much: one clear error names the limit and the setting that raises it.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use pkgres_files::{RealFileSystem, write_file};

use crate::server::Server;
use crate::user::{User, publish_all};

/// The address of a server that sends the beginning of an answer, and then nothing.
fn dripping(sent: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let _ = stream.read(&mut [0; 4096]);
                let _ = stream.write_all(sent.as_bytes());
                while matches!(stream.read(&mut [0; 4096]), Ok(1..)) {}
            });
        }
    });
    format!("http://{address}/")
}

fn assert_limit(stderr: &str, parts: &[&str]) {
    assert_eq!(stderr.matches("error[").count(), 1, "{stderr}");
    for part in [
        &["error[PK0001]: the registry `acme` exceeds a limit"],
        parts,
    ]
    .concat()
    {
        assert!(stderr.contains(part), "{part}: {stderr}");
    }
}

#[test]
fn limits_come_from_variables_and_settings_files() {
    let data = tempfile::tempdir().expect("a temporary folder");
    let server = Server::start_alone(&data.path().join("data"));
    let mut user = User::new(&server);
    user.login();
    publish_all(&user);
    let app = user.locked_app();
    let resolve = ["resolve", app.as_str(), "--ignore-lock", "--no-cache"];
    let run = user.run_with(&resolve, "", &[("PKGRES_MAX_PACKAGES", "2")]);
    assert_eq!(run.exit, 3, "{}", run.stderr);
    let packages = [
        "more than 2 packages",
        "raise `max-packages` in pkgres.toml",
    ];
    assert_limit(&run.stderr, &packages);
    let run = user.run_with(&resolve, "", &[("PKGRES_MAX_DOWNLOAD", "300")]);
    assert_eq!(run.exit, 3, "{}", run.stderr);
    let bytes = ["more than 300 bytes", "PKGRES_MAX_DOWNLOAD"];
    assert_limit(&run.stderr, &bytes);
    // No limit at all.
    let none = [
        "MAX_PACKAGES",
        "MAX_DOWNLOAD",
        "NETWORK_TIMEOUT",
        "NETWORK_MIN_RATE",
    ]
    .map(|name| format!("PKGRES_{name}"));
    let none: Vec<(&str, &str)> = none.iter().map(|name| (name.as_str(), "0")).collect();
    let run = user.run_with(&resolve, "", &none);
    assert_eq!(run.exit, 0, "{}", run.stderr);

    let settings = user.home.path().join("pkgres.toml");
    let set = |text: &str| {
        write_file(&RealFileSystem, &settings, text.as_bytes()).expect("the folder is ours");
    };
    set("max-packages = 2\n");
    assert_limit(&user.fails(3, &resolve), &packages);
    let run = user.run_with(&resolve, "", &[("PKGRES_MAX_PACKAGES", "100")]);
    assert_eq!(run.exit, 0, "{}", run.stderr);
    set("max-download = 300\n");
    assert_limit(&user.fails(3, &resolve), &bytes);

    // The table of a registry has limits for this one.
    let named = std::mem::take(&mut user.registry);
    let table = |limit: &str| {
        let address = &server.address;
        set(&format!(
            "max-packages = 2\n[registries.acme]\nlocation = \"{address}\"\n{limit}\n"
        ));
    };
    table("");
    assert_limit(&user.fails(3, &resolve), &packages);
    table("max-packages = 100");
    assert_eq!(user.run_with(&resolve, "", &[]).exit, 0);
    table("max-download = 300\nmax-packages = 0");
    assert_limit(&user.fails(3, &resolve), &bytes);
    user.registry = named;

    // A second of waiting for a server that never answers is enough, however slow this machine is.
    set("network-timeout = 1\n");
    for sent in ["", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"] {
        user.registry = format!("acme={}", dripping(sent));
        let time = ["no whole answer within 1 s", "PKGRES_NETWORK_TIMEOUT"];
        assert_limit(&user.fails(3, &resolve), &time);
    }
    set("network-timeout = \"soon\"\n");
    let stderr = user.fails(2, &resolve);
    assert!(
        stderr.contains("`network-timeout` must be an integer"),
        "{stderr}"
    );
}
