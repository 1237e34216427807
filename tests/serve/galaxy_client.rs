//! This program as a client of its own Galaxy server: `galaxy:ADDRESS` as a registry.

use std::path::PathBuf;
use std::process::{Command, Output};

use pkgres_tests::collections::{ArtifactBuilder, file_name, form};
use tempfile::TempDir;

use crate::server::Server;

/// A private server with collections, and a folder for a project.
struct Place {
    server: Server,
    token: String,
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let data = folder.path().join("data");
        let server = Server::start(&data, &["--private"]);
        let place = Self {
            token: Server::token(&data),
            server,
            folder,
        };
        let tcp: (&str, &[u8]) = ("plugins/module_utils/tcp.py", b"def connect():\n    pass\n");
        let import: (&str, &[u8]) = (
            "plugins/action/page.py",
            b"from ansible_collections.acme.net.plugins.module_utils.tcp import connect\n",
        );
        place.publish("acme.net", "1.0.0", &[], &[tcp]);
        place.publish("acme.net", "1.1.0", &[], &[tcp]);
        place.publish("acme.net", "2.0.0", &[], &[]);
        place.publish("acme.net", "2.1.0", &[], &[]);
        place.publish("acme.web", "1.0.0", &[("acme.net", ">=1.0.0")], &[import]);
        place.write("requirements.yml", "collections: [acme.web]\n");
        place
    }

    fn publish(
        &self,
        name: &str,
        version: &str,
        requires: &[(&str, &str)],
        files: &[(&str, &[u8])],
    ) {
        let mut artifact = ArtifactBuilder::new(name, version, requires);
        for (path, content) in files {
            artifact.file(path, content);
        }
        let (kind, body) = form(&file_name(name, version), &artifact.finish());
        let headers = [
            format!("Authorization: Token {}", self.token),
            format!("Content-Type: {kind}"),
        ];
        let headers = [&*headers[0], &*headers[1]];
        let (status, _, answer) = self
            .server
            .connect()
            .ask("POST", "/api/v3/artifacts/collections/", &headers, &body)
            .expect("an answer");
        assert_eq!(status, 202, "{}", String::from_utf8_lossy(&answer));
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        self.write_bytes(name, text.as_bytes());
    }

    // Tests write files as plainly as a user would.
    #[allow(clippy::disallowed_methods)]
    fn write_bytes(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.path(name), bytes).expect("a file");
    }

    fn run(&self, arguments: &[&str], token: Option<&str>) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pkgres"));
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env("NO_COLOR", "1")
            .env("PKGRES_CACHE", self.path("cache"))
            .env("PKGRES_STATE", self.path("state"))
            .env("PKGRES_CREDENTIALS", self.path("credentials"))
            .env(
                "PKGRES_REGISTRY",
                format!("hub=galaxy:{}", self.server.base),
            );
        if let Some(token) = token {
            command.env("PKGRES_TOKEN_HUB", token);
        }
        command.output().expect("the binary runs")
    }

    /// Runs a command; returns what it prints and reports.
    fn does(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments, Some(&self.token));
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text).into_owned();
        assert!(output.status.success(), "{arguments:?}: {text}");
        text
    }
}

#[test]
fn every_command_works_with_a_galaxy_server() {
    let place = Place::new();
    let root = "requirements.yml";
    let locked = place.does(&["lock", root]);
    // 2.1.0 is newer, and lacks what is imported.
    assert!(locked.contains("+ acme.net 1.1.0"), "{locked}");
    place.does(&["lock", "--check", root]);
    let tree = place.does(&["tree", root]);
    assert!(
        tree.contains("acme.web 1.0.0") && tree.contains("acme.net 1.1.0"),
        "{tree}"
    );
    let why = place.does(&["why", "acme.net", root]);
    assert!(why.contains(">=1.0.0: 1.1.0"), "{why}");
    let why_not = place.run(&["why-not", "acme.net@2.1.0", root], Some(&place.token));
    let why_not = String::from_utf8_lossy(&why_not.stdout).into_owned();
    assert!(why_not.contains("tcp"), "{why_not}");
    let outdated = place.does(&["outdated", root]);
    assert!(outdated.contains("2.1.0"), "{outdated}");
    place.does(&["fetch", root]);
    place.does(&["verify", root, "--offline"]);
    place.does(&["vendor", "vendored", root]);
    assert!(place.path("vendored/acme-net-1.1.0.tar.gz").is_file());
    place.does(&["install", "installed", root]);
    place.does(&["verify", root, "--installed", "installed"]);
    let source = place.path("installed/ansible_collections/acme.net-1.1.0.info/GALAXY.yml");
    let source = std::fs::read_to_string(source).expect("it was written");
    assert!(source.contains(&*place.server.base), "{source}");

    // A new release that fits is found, and an old lockfile stays as it is until it is updated.
    let tcp: (&str, &[u8]) = ("plugins/module_utils/tcp.py", b"def connect():\n    pass\n");
    place.publish("acme.net", "2.2.0", &[], &[tcp]);
    place.does(&["lock", "--check", root]);
    let updated = place.does(&["update", "--manifest-path", root]);
    assert!(updated.contains("acme.net 1.1.0 -> 2.2.0"), "{updated}");
    let resolved = place.does(&["resolve", root, "--ignore-classes", "--offline"]);
    assert!(resolved.contains("acme.net 2.2.0"), "{resolved}");
}

#[test]
fn artifacts_come_by_the_protocol_of_the_registry() {
    let place = Place::new();
    let registry = format!("hub={}", place.server.base);
    let does = |arguments: &[&str]| {
        let root = ["requirements.yml", "--registry", &registry];
        place.does(&[arguments, &root].concat())
    };
    let locked = does(&["lock"]);
    assert!(locked.contains("+ acme.net 1.1.0"), "{locked}");
    does(&["fetch"]);
    does(&["verify"]);
    does(&["vendor", "vendored"]);
    assert!(place.path("vendored/acme-net-1.1.0.tar.gz").is_file());
    // The folder of the name means the one that it is in.
    let named = "installed/ansible_collections";
    does(&["install", named]);
    assert!(
        place
            .path("installed/ansible_collections/acme/net")
            .is_dir()
    );
    does(&["verify", "--installed", named]);
    does(&["verify", "--installed", "installed"]);
    // Without the cache, the artifacts are downloaded.
    does(&["verify", "--no-cache"]);
}

#[test]
fn releases_of_a_galaxy_server_are_compared() {
    let place = Place::new();
    let module = |options: &str| {
        format!("DOCUMENTATION = \"\"\"\nmodule: fan\noptions:\n{options}\"\"\"\n").into_bytes()
    };
    let speed = "  speed: {description: How fast., type: int}\n";
    let both = module(&format!(
        "{speed}  sound: {{description: How loud., type: int}}\n"
    ));
    let one = module(speed);
    place.publish(
        "acme.fan",
        "1.0.0",
        &[],
        &[("plugins/modules/fan.py", &both)],
    );
    place.publish(
        "acme.fan",
        "1.1.0",
        &[],
        &[("plugins/modules/fan.py", &one)],
    );

    let compared = place.run(&["semver", "acme.fan@1.0.0", "@newest"], Some(&place.token));
    assert_eq!(compared.status.code(), Some(1));
    let listed = String::from_utf8_lossy(&compared.stdout);
    assert!(
        listed.contains("`sound`") && listed.contains("(option-removed)"),
        "{listed}"
    );
    // The step of the numbers is right.
    let removed = place.does(&["semver", "acme.net@1.1.0", "acme.net@2.0.0"]);
    assert!(
        removed.contains("module_utils.tcp") && removed.contains("(class-removed)"),
        "{removed}"
    );
    // The newest release before one that is not published yet.
    let mut next = ArtifactBuilder::new("acme.fan", "1.2.0", &[]);
    next.file("plugins/modules/fan.py", &one);
    let path = file_name("acme.fan", "1.2.0");
    place.write_bytes(&path, &next.finish());
    let same = place.does(&["semver", "@newest", &path]);
    assert!(
        same.contains("acme.fan 1.1.0 -> 1.2.0: no differences"),
        "{same}"
    );

    for (old, new, says) in [
        (
            "acme.fan@9.0.0",
            "@newest",
            "no version 9.0.0 of `acme.fan`",
        ),
        ("acme.fan@one", "@newest", "`acme.fan@one`"),
        ("@newest", "HEAD", "neither a package nor a git revision"),
        (
            "HEAD",
            &*path,
            "a file, a folder or `NAME@VERSION` of a registry",
        ),
    ] {
        let wrong = place.run(&["semver", old, new], Some(&place.token));
        let said = String::from_utf8_lossy(&wrong.stderr);
        assert!(
            !wrong.status.success() && said.contains(says),
            "{old} {new}: {said}"
        );
    }
}

#[test]
fn a_private_galaxy_server_wants_a_token() {
    let place = Place::new();
    for token in [None, Some("wrong")] {
        let output = place.run(&["lock", "requirements.yml"], token);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(3), "{text}");
        assert!(text.contains("PK0046"), "{text}");
        assert!(!place.path("pkgres.lock").exists());
    }
    place.write("token", &place.token);
    let login = ["login", "hub", "--token-file", "token"];
    let output = place.run(&login, None);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{text}");
    let output = place.run(&["lock", "requirements.yml"], None);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{text}");
}
