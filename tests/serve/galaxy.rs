//! `ansible-galaxy` with a server: what it publishes, and what it installs.
//!
//! `PKGRES_ANSIBLE` names an environment with ansible-core, which `.ci/run` makes.

use std::path::{Path, PathBuf};
use std::process::Command;

use pkgres_tests::collections::{artifact, file_name, form};
use pkgres_tests::skip;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::server::Server;

/// A folder with a server, its token and a home of `ansible-galaxy`.
struct Galaxy {
    program: PathBuf,
    server: Server,
    token: String,
    folder: TempDir,
}

/// What a command prints and whether it succeeds.
struct Printed {
    is_done: bool,
    text: String,
}

/// The collections of these tests: name, version, and required collections with their ranges.
const COLLECTIONS: &[(&str, &str, &str)] = &[
    ("acme.base", "1.0.0", ""),
    ("acme.base", "1.1.0", ""),
    ("acme.base", "2.0.0", ""),
    ("acme.base", "2.1.0-rc.1", ""),
    ("acme.beta", "0.1.0-beta.1", ""),
    ("acme.net", "1.0.0", "acme.base: '>=1.0.0,<2.0.0'"),
    ("acme.net", "2.0.0", "acme.base: '>=2.0.0'"),
    ("acme.old", "1.0.0", "acme.base: '<2.0.0'"),
    ("acme.web", "1.0.0", "acme.net: '>=1.0.0'"),
];

impl Galaxy {
    /// Starts a server without collections.
    fn start(arguments: &[&str]) -> Option<Self> {
        let Some(environment) = std::env::var_os("PKGRES_ANSIBLE") else {
            skip::without_service("PKGRES_ANSIBLE is not set");
            return None;
        };
        let folder = tempfile::tempdir().expect("a temporary folder");
        let data = folder.path().join("data");
        let server = Server::start(&data, arguments);
        Some(Self {
            program: PathBuf::from(environment).join("bin/ansible-galaxy"),
            token: Server::token(&data),
            server,
            folder,
        })
    }

    /// Starts a server, builds the collections, and publishes them.
    fn filled() -> Option<Self> {
        let galaxy = Self::start(&[])?;
        let mut sources = Vec::new();
        for (name, version, requires) in COLLECTIONS {
            sources.push(galaxy.source(name, version, requires));
        }
        let mut build = vec!["build", "--output-path", "dist"];
        build.extend(sources.iter().map(String::as_str));
        galaxy.done(&build);
        for (name, version, _) in COLLECTIONS {
            let file = format!("dist/{}", file_name(name, version));
            let printed = galaxy.publish(&file);
            assert!(printed.is_done, "{}", printed.text);
        }
        Some(galaxy)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    // Tests write files as plainly as a user would.
    #[allow(clippy::disallowed_methods)]
    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }

    /// Writes the source of a collection. Returns its folder.
    fn source(&self, name: &str, version: &str, requires: &str) -> String {
        let (namespace, short) = name.split_once('.').expect("two names");
        let folder = format!("source/{name}-{version}");
        let manifest = format!(
            "namespace: {namespace}\nname: {short}\nversion: {version}\nreadme: README.md\nauthors: [Ann]\n\
             description: The collection {name}\nlicense: [MIT]\ndependencies: {{{requires}}}\n"
        );
        self.write(&format!("{folder}/galaxy.yml"), &manifest);
        self.write(&format!("{folder}/README.md"), &format!("# {name}\n"));
        let module = format!("\"\"\"Of {name} {version}.\"\"\"\n\n\ndef main():\n    pass\n");
        self.write(&format!("{folder}/plugins/modules/page.py"), &module);
        folder
    }

    /// Runs `ansible-galaxy collection`.
    fn run(&self, arguments: &[&str]) -> Printed {
        let output = Command::new(&self.program)
            .arg("collection")
            .args(arguments)
            .current_dir(self.folder.path())
            .env("HOME", self.path("home"))
            .env("ANSIBLE_HOME", self.path("home"))
            .env("ANSIBLE_NOCOLOR", "1")
            .env("ANSIBLE_CONFIG", self.path("ansible.cfg"))
            .output()
            .expect("the client runs");
        let text = [output.stdout, output.stderr].concat();
        // Messages are broken into lines for a terminal.
        let text = String::from_utf8_lossy(&text)
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        Printed {
            is_done: output.status.success(),
            text,
        }
    }

    fn done(&self, arguments: &[&str]) -> String {
        let printed = self.run(arguments);
        assert!(printed.is_done, "{arguments:?}: {}", printed.text);
        printed.text
    }

    fn failed(&self, arguments: &[&str]) -> String {
        let printed = self.run(arguments);
        assert!(!printed.is_done, "{arguments:?}: {}", printed.text);
        printed.text
    }

    fn publish(&self, file: &str) -> Printed {
        let server = &self.server.base;
        self.run(&["publish", file, "--server", server, "--token", &self.token])
    }

    /// Installs into a folder. Returns what the folder then has.
    fn install(&self, folder: &str, arguments: &[&str]) -> Vec<String> {
        let server = &self.server.base;
        let fixed = ["install", "--server", server, "-p", folder];
        self.done(&[&fixed, arguments].concat());
        self.installed(folder)
    }

    /// The collections that a folder has, as the client lists them.
    fn installed(&self, folder: &str) -> Vec<String> {
        let output = Command::new(&self.program)
            .args(["collection", "list", "--format", "json", "-p", folder])
            .current_dir(self.folder.path())
            .env("HOME", self.path("home"))
            .env("ANSIBLE_HOME", self.path("home"))
            .output()
            .expect("the client runs");
        let listed: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let here = self.path(folder).join("ansible_collections");
        let here = &listed[here.to_str().expect("a path")];
        let here = here.as_object().unwrap_or_else(|| panic!("{listed}"));
        here.iter()
            .map(|(name, about)| format!("{name} {}", about["version"].as_str().expect("a text")))
            .collect()
    }

    /// The collections of a resolution of this program.
    fn resolved(&self, requirements: &str, registry: &str) -> Vec<String> {
        let output = Command::new(env!("CARGO_BIN_EXE_pkgres"))
            .args([
                "resolve",
                requirements,
                "--registry",
                registry,
                "--format",
                "json",
            ])
            .current_dir(self.folder.path())
            .env("PKGRES_CACHE", self.path("cache"))
            .env("XDG_STATE_HOME", self.path("state"))
            .output()
            .expect("the binary runs");
        let text = String::from_utf8_lossy(&output.stderr);
        let resolution: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{registry}: {error}: {text}"));
        let packages = resolution["packages"].as_array().expect("packages");
        let mut all: Vec<String> = packages
            .iter()
            .map(|package| {
                let text = |key: &str| package[key].as_str().expect("a text");
                format!("{} {}", text("name"), text("version"))
            })
            .collect();
        all.sort();
        all
    }
}

#[test]
fn what_the_client_installs_is_what_this_program_resolves() {
    let Some(galaxy) = Galaxy::filled() else {
        return;
    };
    for (at, (requirements, expected)) in [
        (
            "collections: [acme.web]\n",
            &["acme.base 2.0.0", "acme.net 2.0.0", "acme.web 1.0.0"][..],
        ),
        (
            "collections: [acme.web, acme.old]\n",
            &["acme.base 1.1.0", "acme.net 1.0.0", "acme.old 1.0.0", "acme.web 1.0.0"],
        ),
        (
            "collections: [acme.beta, {name: acme.base, version: '>=1.0.0,!=1.1.0,<2'}]\n",
            &["acme.base 1.0.0", "acme.beta 0.1.0-beta.1"],
        ),
        (
            "collections: [{name: acme.base, version: 2.1.0-rc.1}, {name: acme.net, version: '*'}]\n",
            &["acme.base 2.1.0-rc.1", "acme.net 2.0.0"],
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let file = format!("{at}/requirements.yml");
        galaxy.write(&file, requirements);
        let installed = galaxy.install(&format!("{at}/installed"), &["-r", &file]);
        assert_eq!(installed, expected, "{requirements}");
        assert_eq!(galaxy.resolved(&file, "dir:dist"), expected, "{requirements}");
        // By the protocol of the registry, and by the API of Galaxy as any server has it.
        let base = &galaxy.server.base;
        for registry in [base.clone(), format!("galaxy:{base}")] {
            let served = galaxy.resolved(&file, &registry);
            assert_eq!(served, expected, "{registry}: {requirements}");
        }
    }
    // No release of `acme.base` suits both, and the client says so in its way.
    let server = &galaxy.server.base;
    let printed = galaxy.failed(&[
        "install",
        "--server",
        server,
        "-p",
        "none",
        "acme.net:2.0.0",
        "acme.old",
    ]);
    assert!(printed.contains("acme.base"), "{printed}");
    let printed = galaxy.failed(&["install", "--server", server, "-p", "none", "acme.nothing"]);
    assert!(printed.contains("acme.nothing"), "{printed}");
}

#[test]
fn the_client_upgrades_downloads_and_verifies() {
    let Some(galaxy) = Galaxy::filled() else {
        return;
    };
    let server = galaxy.server.base.clone();
    assert_eq!(
        galaxy.install("i", &["acme.base:1.0.0"]),
        ["acme.base 1.0.0"]
    );
    // What is installed is enough.
    assert_eq!(galaxy.install("i", &["acme.base"]), ["acme.base 1.0.0"]);
    assert_eq!(
        galaxy.install("i", &["acme.base", "--upgrade"]),
        ["acme.base 2.0.0"]
    );
    let newest = galaxy.install("i", &["acme.base", "--upgrade", "--pre"]);
    assert_eq!(newest, ["acme.base 2.1.0-rc.1"]);

    galaxy.done(&[
        "download",
        "--server",
        &server,
        "-p",
        "downloads",
        "acme.web",
    ]);
    for (name, version) in [
        ("acme.web", "1.0.0"),
        ("acme.net", "2.0.0"),
        ("acme.base", "2.0.0"),
    ] {
        let file = file_name(name, version);
        let read = |folder: &str| std::fs::read(galaxy.path(folder).join(&file)).expect("a file");
        assert!(read("downloads") == read("dist"), "{file}");
    }

    let verify = ["verify", "--server", &server, "-p", "i", "acme.base"];
    let printed = galaxy.done(&verify);
    assert!(printed.contains("Successfully verified"), "{printed}");
    galaxy.write("i/ansible_collections/acme/base/README.md", "changed\n");
    let printed = galaxy.failed(&verify);
    assert!(printed.contains("README.md"), "{printed}");

    // Yanked, it is not chosen any more, though it can still be verified.
    let authorization = format!("Authorization: Bearer {}", galaxy.token);
    let headers = [&*authorization, "Content-Type: application/json"];
    let path = "/v1/packages/acme.base/versions/2.0.0/yank";
    let mut connection = galaxy.server.connect();
    let (status, ..) = connection
        .ask("PUT", path, &headers, br#"{"reason":"x"}"#)
        .expect("an answer");
    assert_eq!(status, 204);
    assert_eq!(
        galaxy.install("yanked", &["acme.base"]),
        ["acme.base 1.1.0"]
    );
}

// Tests write files as plainly as a user would.
#[allow(clippy::disallowed_methods)]
#[test]
fn the_client_shows_why_a_publish_is_refused() {
    let Some(galaxy) = Galaxy::start(&[]) else {
        return;
    };
    let build = |note: &str| {
        let folder = galaxy.source("acme.web", "1.0.0", "");
        galaxy.write(&format!("{folder}/NOTES"), note);
        galaxy.done(&["build", &folder, "--output-path", "dist", "--force"]);
    };
    let file = format!("dist/{}", file_name("acme.web", "1.0.0"));
    build("one");
    let server = &galaxy.server.base;
    let printed = galaxy.failed(&["publish", &file, "--server", server, "--token", "wrong"]);
    assert!(printed.contains("HTTP Code: 401"), "{printed}");
    assert!(printed.contains("there is no such token"), "{printed}");
    assert!(galaxy.publish(&file).is_done);
    // The same bytes are the same release, so that a publish can be repeated.
    assert!(galaxy.publish(&file).is_done);
    build("two");
    let printed = galaxy.publish(&file);
    assert!(!printed.is_done);
    let text = printed.text;
    assert!(text.contains("HTTP Code: 409"), "{text}");
    assert!(text.contains("was published with other bytes"), "{text}");
    // Another name than that of the collection in it.
    let renamed = "dist/acme-web-1.0.1.tar.gz";
    std::fs::copy(galaxy.path(&file), galaxy.path(renamed)).expect("a copy");
    let text = galaxy.publish(renamed).text;
    assert!(text.contains("acme-web-1.0.0.tar.gz"), "{text}");
    assert_eq!(galaxy.install("i", &["acme.web"]), ["acme.web 1.0.0"]);
    let notes = galaxy.path("i/ansible_collections/acme/web/NOTES");
    assert_eq!(std::fs::read_to_string(notes).expect("the notes"), "one");
}

#[test]
fn the_client_uses_a_private_server_of_its_settings() {
    let Some(galaxy) = Galaxy::start(&["--private"]) else {
        return;
    };
    let base = galaxy.server.base.trim_end_matches('/').to_owned();
    // With a password, with a token, and with the address of the API itself.
    galaxy.write(
        "ansible.cfg",
        &format!(
            "[galaxy]\nserver_list = password, token\n\
             [galaxy_server.password]\nurl = {base}\nusername = anyone\npassword = {token}\n\
             [galaxy_server.token]\nurl = {base}/api/\ntoken = {token}\n\
             [galaxy_server.nobody]\nurl = {base}/api/\n",
            token = galaxy.token
        ),
    );
    for (server, version) in [("password", "1.0.0"), ("token", "1.1.0")] {
        let folder = galaxy.source("acme.web", version, "");
        galaxy.done(&["build", &folder, "--output-path", "dist"]);
        let file = format!("dist/{}", file_name("acme.web", version));
        galaxy.done(&["publish", &file, "--server", server]);
        let wanted = format!("acme.web:{version}");
        galaxy.done(&["install", "--server", server, "-p", server, &wanted]);
        assert_eq!(galaxy.installed(server), [format!("acme.web {version}")]);
    }
    let printed = galaxy.failed(&["install", "--server", &base, "-p", "none", "acme.web"]);
    assert!(printed.contains("401"), "{printed}");
}

#[test]
fn the_client_follows_the_pages_of_a_long_list() {
    let Some(galaxy) = Galaxy::start(&[]) else {
        return;
    };
    let mut connection = galaxy.server.connect();
    let authorization = format!("Authorization: Token {}", galaxy.token);
    for patch in 0..230 {
        let version = format!("1.0.{patch}");
        let bytes = artifact("acme.many", &version, &[]);
        let (kind, body) = form(&file_name("acme.many", &version), &bytes);
        let kind = format!("Content-Type: {kind}");
        let (status, _, answer) = connection
            .ask(
                "POST",
                "/api/v3/artifacts/collections/",
                &[&authorization, &kind],
                &body,
            )
            .expect("an answer");
        assert_eq!(status, 202, "{}", String::from_utf8_lossy(&answer));
    }
    let (_, _, page) = connection
        .ask(
            "GET",
            "/api/v3/collections/acme/many/versions/?limit=100",
            &[],
            b"",
        )
        .expect("an answer");
    let page: Value = serde_json::from_slice(&page).expect("JSON");
    assert_eq!(page["meta"], json!({ "count": 230 }));
    assert!(page["links"]["next"].is_string());
    assert_eq!(
        galaxy.install("i", &["acme.many:<1.0.5"]),
        ["acme.many 1.0.4"]
    );
    assert_eq!(galaxy.install("j", &["acme.many"]), ["acme.many 1.0.229"]);
}

#[test]
fn a_mirror_of_files_has_the_collections() {
    let Some(galaxy) = Galaxy::filled() else {
        return;
    };
    let data = galaxy.path("data");
    let mirror = galaxy.path("mirror");
    let output = Command::new(env!("CARGO_BIN_EXE_pkgres"))
        .args(["export-static", "--data"])
        .arg(&data)
        .arg(&mirror)
        .output()
        .expect("the binary runs");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    let index = mirror.join("index/v1/packages/acme.web.ndjson");
    let line = std::fs::read_to_string(index).expect("the index");
    assert!(line.contains(r#""ecosystem":"ansible""#), "{line}");
    assert!(has_file(&mirror, "blobs/sha256"));
}

fn has_file(folder: &Path, below: &str) -> bool {
    std::fs::read_dir(folder.join(below)).is_ok_and(|mut entries| entries.next().is_some())
}
