//! Registries that cost too much: one clear error names the limit and the setting that raises it.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use pkgres_files::{RealFileSystem, write_file};
use serde_json::{Value, json};

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

/// The address of a Galaxy server that lists versions of `acme.util`, and sends none of their artifacts.
fn galaxy_without_artifacts(versions: &'static [&'static str]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    let base = address.clone();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut request = [0; 4096];
            let length = stream.read(&mut request).unwrap_or_default();
            let request = String::from_utf8_lossy(&request[..length]);
            let path = request.split_whitespace().nth(1).unwrap_or_default();
            let path = path.split('?').next().unwrap_or_default();
            let of_version = path.strip_prefix("/api/v3/collections/acme/util/versions/");
            let (status, body) = match (path, of_version) {
                ("/api/", _) => ("200 OK", json!({"available_versions": {"v3": "v3/"}})),
                ("/api/v3/collections/acme/util/", _) => (
                    "200 OK",
                    json!({"namespace": "acme", "name": "util", "updated_at": "2026-05-01T00:00:00Z"}),
                ),
                (_, Some("")) => {
                    let listed = versions.iter();
                    let listed: Vec<Value> = listed
                        .map(|version| json!({"version": version, "created_at": "2026-01-01T00:00:00Z"}))
                        .collect();
                    ("200 OK", json!({"data": listed, "links": {"next": null}}))
                }
                (_, Some(version)) => {
                    let version = version.trim_end_matches('/');
                    let file = format!("acme-util-{version}.tar.gz");
                    let described = json!({
                        "version": version,
                        "namespace": {"name": "acme"},
                        "collection": {"name": "util"},
                        "artifact": {"filename": file, "sha256": "0".repeat(64), "size": 9},
                        "download_url": format!("{base}/download/{file}"),
                        "metadata": {"dependencies": {}},
                        "signatures": [],
                    });
                    ("200 OK", described)
                }
                _ if path.starts_with("/download/") => ("403 Forbidden", json!({})),
                _ => ("404 Not Found", json!({})),
            };
            let body = body.to_string();
            let length = body.len();
            let answer = format!(
                "HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
            );
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    address
}

/// A check asks for the newest versions first, then for some, then for all.
// Tests write files as plainly as a user would.
#[allow(clippy::disallowed_methods)]
#[test]
fn a_check_reports_the_error_of_a_registry_once() {
    let data = tempfile::tempdir().expect("a temporary folder");
    let server = Server::start_alone(&data.path().join("data"));
    let mut user = User::new(&server);
    let versions = &["1.0.0", "2.0.0", "3.0.0"];
    user.registry = format!("hub=galaxy:{}", galaxy_without_artifacts(versions));
    let folder = user.home.path().join("web");
    for (path, text) in [
        (
            "galaxy.yml",
            "namespace: acme\nname: web\nversion: 1.0.0\nreadme: README.md\nauthors: [acme]\n\
             dependencies: {acme.util: '*'}\n",
        ),
        (
            "plugins/modules/page.py",
            "from ansible_collections.acme.util.plugins.module_utils.tcp import connect\n",
        ),
    ] {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }
    let stderr = user.fails(3, &["check", folder.to_str().expect("text")]);
    assert_eq!(stderr.matches("error[").count(), 1, "{stderr}");
    let newest = "/download/acme-util-3.0.0.tar.gz: it answers 403";
    assert!(stderr.contains(newest), "{stderr}");
}
