//! The public client of Murano's catalog with a server: what it prints, and what it changes.

use std::path::{Path, PathBuf};
use std::process::Command;

use pkgres_tests::archives::{archive, archive_with};
use pkgres_tests::services;

use crate::server::Server;

/// The client, with the address and the token that it uses.
struct Client {
    program: PathBuf,
    base: String,
    token: String,
    folder: PathBuf,
}

impl Client {
    /// Runs a command. Returns whether it succeeds, and what it prints.
    fn run(&self, arguments: &[&str]) -> (bool, String) {
        let output = Command::new(&self.program)
            .args(["--os-no-client-auth", "--os-tenant-id", "t"])
            .args(["--os-auth-token", &self.token])
            .args(["--murano-url", self.base.trim_end_matches('/')])
            .args(["--murano-repo-url", &self.base])
            .args(arguments)
            .current_dir(&self.folder)
            .output()
            .expect("the client runs");
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text).into_owned();
        (output.status.success(), text)
    }

    fn done(&self, arguments: &[&str]) -> String {
        let (is_done, text) = self.run(arguments);
        assert!(is_done, "{arguments:?}: {text}");
        assert!(!text.contains("Error"), "{arguments:?}: {text}");
        text
    }

    /// The rows of the table that a command prints, by their cells.
    fn rows(&self, arguments: &[&str]) -> Vec<Vec<String>> {
        let text = self.done(arguments);
        let rows = text.lines().filter(|line| line.starts_with('|')).skip(1);
        rows.map(|row| {
            let cells = row.trim_matches('|').split('|');
            cells.map(|cell| cell.trim().to_owned()).collect()
        })
        .collect()
    }

    /// Name and version of each release that is listed.
    fn listed(&self, arguments: &[&str]) -> Vec<String> {
        let rows = self.rows(&[&["package-list"], arguments].concat());
        let mut listed: Vec<String> = rows
            .iter()
            .map(|row| format!("{} {}", row[2], row[7]))
            .collect();
        listed.sort();
        listed
    }

    /// The id of a release.
    fn id(&self, name: &str, version: &str) -> String {
        let rows = self.rows(&["package-list", "--include-disabled", "--fqn", name]);
        let row = rows.iter().find(|row| row[7] == version);
        row.expect("the release is listed")[0].clone()
    }

    // Tests write files as plainly as a user would.
    #[allow(clippy::disallowed_methods)]
    fn write(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.folder.join(name), bytes).expect("a file");
    }
}

fn started(folder: &Path) -> Option<(Client, Server)> {
    let program = services::program("murano")?;
    let data = folder.join("data");
    let server = Server::start(&data, &[]);
    let client = Client {
        program,
        base: server.base.clone(),
        token: Server::token(&data),
        folder: folder.to_owned(),
    };
    Some((client, server))
}

#[test]
fn the_client_imports_shows_changes_downloads_and_deletes() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let Some((client, server)) = started(folder.path()) else {
        return;
    };
    let one = archive("a.Web", "1.0.0", &[("a.Db", ">=1.0,<2")]);
    let two = archive("a.Web", "2.0.0", &[("a.Db", "1.2")]);
    client.write("db.zip", &archive("a.Db", "1.2.0", &[]));
    client.write("one.zip", &one);
    client.write("two.zip", &two);

    // Categories are made first.
    let category = client.rows(&["category-create", "Databases"])[0][0].clone();
    client.done(&[
        "package-import",
        "--is-public",
        "-c",
        "Databases",
        "--",
        "db.zip",
    ]);
    // The client asks the server for what is required, by the spec as it is written there; that is
    // there already, and is passed over.
    let printed = client.done(&["package-import", "--exists-action", "s", "one.zip"]);
    assert!(
        printed.contains("Importing package a.Db failed"),
        "{printed}"
    );
    client.done(&["package-import", "--exists-action", "s", "two.zip"]);
    let all = ["a.Db 1.2.0", "a.Web 1.0.0", "a.Web 2.0.0"];
    assert_eq!(client.listed(&["--limit", "0"]), all);
    assert_eq!(client.listed(&["--limit", "1"]).len(), 1);
    assert_eq!(client.listed(&["--limit", "0", "--search", "db"]), all[..1]);
    let in_category = ["--limit", "0", "--category", "Databases"];
    assert_eq!(client.listed(&in_category), all[..1]);
    assert!(client.done(&["category-show", &category]).contains("a.Db"));

    // Both versions are there, each with its bytes.
    for (version, bytes) in [("1.0.0", &one), ("2.0.0", &two)] {
        let id = client.id("a.Web", version);
        client.done(&["package-download", &id, "out.zip"]);
        let loaded = std::fs::read(folder.path().join("out.zip")).expect("the download");
        assert_eq!(loaded, *bytes);
        assert!(client.done(&["package-show", &id]).contains("a.Web"));
    }

    // Changing one does not change the other.
    let id = client.id("a.Web", "2.0.0");
    let changed = ["--name", "New", "--tags", "x", "y", "--enabled", "false"];
    let shown = client.done(&[&["package-update", &id][..], &changed].concat());
    assert!(shown.contains("New") && shown.contains("x, y"), "{shown}");
    assert_eq!(client.listed(&["--limit", "0"]), all[..2]);

    // Updating exchanges the release of the same version alone.
    let other = archive_with("a.Web", "2.0.0", &[], "other bytes");
    client.write("two.zip", &other);
    let (_, printed) = client.run(&["package-import", "--exists-action", "a", "two.zip"]);
    assert!(printed.contains("Exiting"), "{printed}");
    assert_eq!(client.id("a.Web", "2.0.0"), id);
    client.done(&["package-import", "--exists-action", "u", "two.zip"]);
    assert_eq!(client.listed(&["--limit", "0"]), all);
    let next = client.id("a.Web", "2.0.0");
    assert_ne!(next, id);

    client.done(&["package-delete", &next]);
    assert_eq!(client.listed(&["--limit", "0"]), all[..2]);
    let (is_done, printed) = client.run(&["package-show", &next]);
    assert!(!is_done && printed.contains("not found"), "{printed}");
    // It ignores the warning about a similar name.
    let mut connection = server.connect();
    let token = Server::token(&folder.path().join("data"));
    let (status, _, made) = connection
        .ask(
            "POST",
            "/v1/tokens",
            &[
                &format!("Authorization: Bearer {token}"),
                "Content-Type: application/json",
            ],
            br#"{"scopes":["publish"],"owner":"others"}"#,
        )
        .expect("an answer");
    assert_eq!(status, 201);
    let made: serde_json::Value = serde_json::from_slice(&made).expect("JSON");
    let others = made["token"].as_str().expect("a token");
    connection.publish(others, "a.Wbe", "1.0.0", &archive("a.Wbe", "1.0.0", &[]));
    client.write("webe.zip", &archive("a.Webe", "1.0.0", &[]));
    client.done(&["package-import", "webe.zip"]);
    assert!(
        client
            .listed(&["--limit", "0"])
            .contains(&"a.Webe 1.0.0".to_owned())
    );
    // Everyone else sees the same.
    let (status, _, body) = server
        .connect()
        .ask("GET", "/index/v1/packages/a.!web.ndjson", &[], b"")
        .expect("an answer");
    assert_eq!(
        (status, body.split(|byte| *byte == b'\n').count()),
        (200, 2)
    );
}

#[test]
fn the_client_imports_bundles_and_saves_packages() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let Some((client, server)) = started(folder.path()) else {
        return;
    };
    for (name, version, requires) in [
        ("a.Db", "1.2.0", &[][..]),
        ("a.Db", "1.3.0", &[]),
        ("a.Web", "1.0.0", &[("a.Db", "<1.3")]),
    ] {
        client.write("package.zip", &archive(name, version, requires));
        client.done(&["package-import", "--exists-action", "s", "package.zip"]);
    }
    // The newest is not what is required.
    std::fs::create_dir(folder.path().join("saved")).expect("a folder");
    client.done(&["package-save", "a.Web", "-p", "saved"]);
    let saved = std::fs::read_dir(folder.path().join("saved")).expect("the folder");
    let saved: Vec<Vec<u8>> = saved
        .map(|entry| std::fs::read(entry.expect("an entry").path()).expect("a file"))
        .collect();
    assert!(saved.contains(&archive("a.Db", "1.2.0", &[])));

    let authorization = format!("Authorization: Bearer {}", client.token);
    let headers = [&*authorization, "Content-Type: application/json"];
    let bundle = br#"{"Packages":[{"Name":"a.Web","Version":"1"}]}"#;
    let put = server
        .connect()
        .ask("PUT", "/bundles/web.bundle", &headers, bundle);
    assert_eq!(put.expect("an answer").0, 201);
    // Into another registry.
    let data = folder.path().join("other");
    let other = Server::start(&data, &[]);
    let output = Command::new(&client.program)
        .args(["--os-no-client-auth", "--os-tenant-id", "t"])
        .args(["--os-auth-token", &Server::token(&data)])
        .args(["--murano-url", other.base.trim_end_matches('/')])
        .args(["--murano-repo-url", &client.base])
        .args(["bundle-import", "web"])
        .current_dir(folder.path())
        .output()
        .expect("the client runs");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        printed.contains("a.Web") && printed.contains("1.2.0"),
        "{printed}"
    );
    let (_, _, body) = other
        .connect()
        .ask("GET", "/index/v1/changes", &[], b"")
        .expect("an answer");
    let changes = String::from_utf8_lossy(&body).into_owned();
    assert!(changes.contains("\"serial\":2"), "{changes}");
}
