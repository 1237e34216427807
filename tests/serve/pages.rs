//! The pages of a server as a browser shows them.

use std::path::Path;
use std::process::Command;

use pkgres_tests::archives::{archive_with, files};
use pkgres_tests::services;

use crate::server::Server;

/// Publishes a core library, packages that build on each other, and one that is hostile.
fn fill(server: &Server, data: &Path) {
    let token = Server::token(data);
    let mut connection = server.connect();
    let core = files(&[
        (
            "manifest.yaml",
            b"Format: 1.4\nType: Library\nFullName: io.murano\nVersion: 0.23.0\nName: Core library\n\
              Classes: {io.murano.Object: Object.yaml, io.murano.Application: Application.yaml}\n",
        ),
        ("Classes/Object.yaml", b"Name: io.murano.Object\n"),
        (
            "Classes/Application.yaml",
            b"Name: io.murano.Application\nExtends: io.murano.Object\n",
        ),
    ]);
    connection.publish(&token, "io.murano", "0.23.0", &core);
    let database = application("org.acme.databases.PostgreSql", "3.2.1", "");
    let name = "org.acme.databases.PostgreSql";
    connection.publish(&token, name, "3.2.1", &database);
    for version in ["1.0.0", "1.1.0", "2.0.0-rc.1"] {
        let require = "Require:\n  org.acme.databases.PostgreSql: '>=3.1,<4'\n";
        let wiki = application("org.acme.apps.Wiki", version, require);
        connection.publish(&token, "org.acme.apps.Wiki", version, &wiki);
    }
    for name in ["org.acme.apps.WikiFarm", "org.example.intranet.Portal"] {
        let archive = archive_with(name, "0.4.0", &[("org.acme.apps.Wiki", "1.1")], "");
        connection.publish(&token, name, "0.4.0", &archive);
    }
    let hostile = archive_with(
        "x.Hostile",
        "1.0.0",
        &[],
        "<script>document.title='x'</script>",
    );
    connection.publish(&token, "x.Hostile", "1.0.0", &hostile);
    let authorization = format!("Authorization: Bearer {token}");
    let (status, ..) = connection
        .ask(
            "PUT",
            "/v1/packages/org.acme.apps.Wiki/versions/1.0.0/yank",
            &[&authorization, "Content-Type: application/json"],
            br#"{"reason":"loses pages when two people save at once"}"#,
        )
        .expect("an answer");
    assert_eq!(status, 204);
}

fn application(name: &str, version: &str, require: &str) -> Vec<u8> {
    let last = name.rsplit('.').next().unwrap_or(name);
    let manifest = format!(
        "Format: 1.4\nType: Application\nFullName: {name}\nVersion: {version}\nName: {last}\n\
         Description: |\n  {last}, installed and kept up to date on virtual machines.\n\
         Classes: {{{name}: Main.yaml}}\n{require}"
    );
    let class = format!("Name: {name}\nExtends: io.murano.Application\n");
    files(&[
        ("manifest.yaml", manifest.as_bytes()),
        ("Classes/Main.yaml", class.as_bytes()),
    ])
}

/// Chromium with a profile of its own, that sends requests to no other server.
fn browse(chromium: &Path, folder: &Path, arguments: &[&str]) -> String {
    let profile = tempfile::tempdir_in(folder).expect("a folder");
    let output = Command::new(chromium)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
        ])
        .args(["--no-first-run", "--disable-background-networking"])
        .args(["--disable-component-update", "--disable-sync"])
        .args(["--disable-dev-shm-usage", "--hide-scrollbars"])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("chromium runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    assert!(!errors.contains("Content Security Policy"), "{errors}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Width and height of a PNG.
fn dimensions(png: &[u8]) -> (u32, u32) {
    assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"), "not a PNG");
    let number = |at: usize| {
        let bytes = png[at..at + 4].try_into().expect("four bytes");
        u32::from_be_bytes(bytes)
    };
    (number(16), number(20))
}

#[test]
fn a_browser_shows_the_pages() {
    let Some(chromium) = services::program("chromium") else {
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().join("data");
    let server = Server::start(&data, &[]);
    fill(&server, &data);
    let base = server.base.trim_end_matches('/');
    for (path, parts) in [
        ("/", &["6 packages with 7 classes.", "role=\"search\""][..]),
        (
            "/packages?q=wiki",
            &["org.acme.apps.Wiki", "packages/org.acme.apps.WikiFarm"],
        ),
        (
            "/packages/org.acme.apps.Wiki",
            &[
                "Wiki <span class=\"version\">1.1.0</span>",
                "loses pages when two people save at once",
                "pre-release",
                "../packages/org.acme.databases.PostgreSql",
                "../packages/org.example.intranet.Portal",
                "org.acme.apps.Wiki: \"^1.1.0\"",
                "../classes/io.murano.Application",
            ],
        ),
        (
            "/classes/io.murano.Application",
            &[
                "../packages/io.murano",
                "../classes/org.acme.databases.PostgreSql",
            ],
        ),
        (
            "/packages/org.acme.apps.Wikki",
            &["Did you mean", "../packages/org.acme.apps.Wiki"],
        ),
        (
            "/packages/x.Hostile",
            &["<title>The x.Hostile", "&lt;script&gt;"],
        ),
    ] {
        let address = format!("{base}{path}");
        let shown = browse(&chromium, folder.path(), &["--dump-dom", &address]);
        for part in parts {
            assert!(shown.contains(part), "{path} has no {part}: {shown}");
        }
    }
    let picture = folder.path().join("page.png");
    let to = format!("--screenshot={}", picture.display());
    let address = format!("{base}/packages/org.acme.apps.Wiki");
    browse(
        &chromium,
        folder.path(),
        &["--window-size=1280,900", &to, &address],
    );
    let png = std::fs::read(&picture).expect("a screenshot");
    assert_eq!(dimensions(&png), (1280, 900));
    // A page without its style, or an empty one, is far smaller.
    assert!(png.len() > 30_000, "{} bytes", png.len());
}
