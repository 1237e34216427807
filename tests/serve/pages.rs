//! The pages of a server as a browser shows them.

use std::path::{Path, PathBuf};
use std::process::Command;

use pkgres_tests::archives::{archive_with, files};
use pkgres_tests::collections::{ArtifactBuilder, file_name, form};
use pkgres_tests::{services, skip};
use serde_json::json;

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
    for (name, archive) in services() {
        connection.publish(&token, name, "1.2.0", &archive);
    }
    let authorization = format!("Authorization: Bearer {token}");
    for (name, version, artifact) in collections() {
        let (kind, body) = form(&file_name(name, version), &artifact);
        let headers = [&*authorization, &format!("Content-Type: {kind}")];
        let path = "/api/v3/artifacts/collections/";
        let (status, ..) = connection
            .ask("POST", path, &headers, &body)
            .expect("an answer");
        assert_eq!(status, 202);
    }
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

/// The artifacts of a collection with plug-ins and roles in two versions, and of one that imports from it.
fn collections() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let mut artifacts = Vec::new();
    let name = "acme.network_services";
    for version in ["1.4.0", "2.0.0-rc.1"] {
        let mut artifact = ArtifactBuilder::new(name, version, &[]);
        artifact.set(
            "authors",
            json!(["Zoë Müller", "The network team <network@acme.example>"]),
        );
        artifact.set("tags", json!(["network", "dns"]));
        for module in [
            "dns_zone",
            "dns_record",
            "a_module_with_a_rather_long_name_that_fills_the_line",
        ] {
            let path = format!("plugins/modules/{module}.py");
            artifact.file(&path, b"def main():\n    pass\n");
        }
        for number in 0..40 {
            let path = format!("plugins/filter/filter_{number}.py");
            artifact.file(&path, b"class FilterModule:\n    pass\n");
        }
        artifact.file(
            "plugins/module_utils/client.py",
            b"def connect():\n    pass\n",
        );
        artifact.file("plugins/lookup/dig.py", b"class LookupModule:\n    pass\n");
        artifact.file(
            "roles/name_server/tasks/main.yml",
            b"- acme.network_services.dns_zone:\n",
        );
        artifact.file("LICENSE", b"Apache License\nVersion 2.0, January 2004\n");
        artifacts.push((name, version, artifact.finish()));
    }
    let mut artifact = ArtifactBuilder::new("acme.web", "0.3.0", &[(name, ">=1.0.0,<2")]);
    artifact.file(
        "plugins/modules/site.py",
        b"from ansible_collections.acme.network_services.plugins.module_utils.client import connect\n",
    );
    artifact.file("meta/runtime.yml", b"requires_ansible: '>=2.15'\n");
    artifacts.push(("acme.web", "0.3.0", artifact.finish()));
    artifacts
}

/// The page of every kind: its path without the leading slash.
const PAGES: &[&str] = &[
    "",
    "packages",
    "packages?q=wiki",
    "packages?q=nothing-of-this-name",
    "packages/org.acme.apps.Wiki",
    "packages/org.acme.apps.Wiki/1.0.0",
    "packages/org.acme.databases.PostgreSql",
    "packages/x.Hostile",
    "classes/io.murano.Application",
    "classes/org.acme.databases.PostgreSql",
    "packages/org.acme.apps.Wikki",
    "packages/org.acme.contracts",
    "interfaces/org.acme.contracts.Service",
    "interfaces/org.acme.contracts.None",
    "classes/org.acme.services.Nginx",
    "packages?q=dns_zone",
    "packages/acme.network_services",
    "packages/acme.network_services/2.0.0-rc.1",
    "packages/acme.web",
    "classes/acme.network_services.plugins.modules.dns_zone",
    "classes/acme.web.plugins.modules.site",
    "classes/acme.network_services.dns_zone",
];

#[test]
fn pages_are_valid_and_accessible_in_all_windows() {
    let Some(chromium) = services::program("chromium") else {
        return;
    };
    let Some(node) = services::program("node") else {
        return;
    };
    let project = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let tools = match std::env::var_os("PKGRES_BROWSER_TOOLS") {
        Some(folder) => folder.into(),
        None => project.join("target/tools/browser"),
    };
    if !tools.join("node_modules").is_dir() {
        skip::without_rights("the tools of tests/serve/browser are not installed");
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    // To look at the pictures, set the variable to an empty folder.
    let own = folder.path().join("pictures");
    std::fs::create_dir(&own).expect("a folder");
    let pictures = std::env::var_os("PKGRES_PICTURES").map_or(own, PathBuf::from);
    let server = Server::start(&folder.path().join("data"), &[]);
    fill(&server, &folder.path().join("data"));
    let output = Command::new(node)
        .arg(project.join("tests/serve/browser/check.mjs"))
        .args([&tools, &chromium])
        .arg(&server.base)
        .arg(&pictures)
        .args(PAGES)
        .output()
        .expect("node runs");
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    let is_clean = output.status.success() && stdout.trim() == "0";
    assert!(is_clean, "{stdout}{stderr}");
    // Two windows, light and dark.
    let taken: Vec<PathBuf> = std::fs::read_dir(&pictures)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    assert_eq!(taken.len(), PAGES.len() * 4);
    for picture in taken {
        let png = std::fs::read(&picture).expect("a picture");
        let (width, height) = dimensions(&png);
        assert!(
            matches!(width, 390 | 1280) && height >= 500,
            "{width} x {height}"
        );
    }
}

fn application(name: &str, version: &str, require: &str) -> Vec<u8> {
    let last = name.rsplit('.').next().unwrap_or(name);
    let manifest = format!(
        "Format: 1.4\nType: Application\nFullName: {name}\nVersion: {version}\nName: {last}\n\
         Description: |\n  {last}, installed and kept up to date on virtual machines.\n\
         Author: Acme\nTags: [web, high-availability]\nClasses: {{{name}: Main.yaml}}\n{require}"
    );
    let class = format!(
        "Namespaces: {{std: io.murano}}\nName: {name}\nExtends: std:Application\nProperties:\n  \
         size:\n    Contract: $.int().notNull()\n    Default: 3\n  parts:\n    Usage: Out\n    \
         Contract: [{{name: $.string(), object: $.class(std:Object).owned()}}]\nMethods:\n  \
         deploy:\n    Usage: Action\n    Arguments:\n      - force:\n          Contract: $.bool()\n"
    );
    files(&[
        ("manifest.yaml", manifest.as_bytes()),
        ("Classes/Main.yaml", class.as_bytes()),
        ("README.md", README.as_bytes()),
        ("LICENSE", b"Apache License\nVersion 2.0, January 2004\n"),
    ])
}

/// A readme with everything that pages show of one.
const README: &str = "# What it is\n\nA *service* with `parts`, see [the site](https://example.org/).\n\n\
    ## Use\n\n1. one\n2. two\n   - three\n\n```yaml\nRequire: {org.acme.apps.Wiki: ^1}\n```\n\n\
    > Note this.\n\n| key | value |\n|---|---|\n| size | a rather long text that does not break in a narrow window |\n\n\
    ![a picture](picture.png)\n\n<b>bold</b>\n";

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

/// The archives of an interface, and of classes that implement it more or less.
fn services() -> Vec<(&'static str, Vec<u8>)> {
    let interface = "Name: org.acme.contracts.Service\nFunctions:\n  start:\n    Arguments:\n    \
                     - name: {Contract: $.string().notNull()}\n    Returns: {type: object, required: [changed]}\n  \
                     stop:\n    Arguments:\n    - name: {Contract: $.string().notNull()}\n  \
                     reload: {Supported: {os_family: [Debian, RedHat]}}\n  lock: {NotApplicable: {os: Windows}}\n  \
                     restart: {Deprecated: {since: 1.0, removed_in: 2.0, successor: start}}\n";
    let manifest = "Format: 1.4\nType: Library\nFullName: org.acme.contracts\nVersion: 1.2.0\n\
                    Interfaces: {org.acme.contracts.Service: Service.yaml}\n";
    let mut archives = vec![(
        "org.acme.contracts",
        files(&[
            ("manifest.yaml", manifest.as_bytes()),
            ("Interfaces/Service.yaml", interface.as_bytes()),
        ]),
    )];
    let named = "{Arguments: [name: {Contract: $.string().notNull()}]}";
    for (name, methods) in [
        (
            "org.acme.services.Nginx",
            format!("{{start: {named}, reload: {{}}, lock: {{}}}}"),
        ),
        (
            "org.acme.services.Apache",
            format!("{{start: {named}, stop: {{}}, restart: {{}}}}"),
        ),
        ("org.acme.services.Cron", "{}".to_owned()),
    ] {
        let manifest = format!(
            "Format: 1.4\nType: Application\nFullName: {name}\nVersion: 1.2.0\nClasses: {{{name}: Main.yaml}}\n\
             Require: {{org.acme.contracts: 1}}\nImplements: {{{name}: org.acme.contracts.Service}}\n"
        );
        let class = format!("Name: {name}\nMethods: {methods}\n");
        let archive = files(&[
            ("manifest.yaml", manifest.as_bytes()),
            ("Classes/Main.yaml", class.as_bytes()),
        ]);
        archives.push((name, archive));
    }
    archives
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
        (
            "/",
            &["12 packages with 10 classes.", "role=\"search\""][..],
        ),
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
