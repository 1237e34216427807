//! A user of the binary, and the packages that they publish.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::server::Server;

/// The home folder and the credentials of a user.
pub(crate) struct User {
    pub(crate) home: tempfile::TempDir,
    pub(crate) registry: String,
    pub(crate) secret: String,
}

/// A finished run.
pub(crate) struct Finished {
    pub(crate) exit: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl User {
    pub(crate) fn new(server: &Server) -> Self {
        Self {
            home: tempfile::tempdir().expect("a temporary folder"),
            registry: format!("acme={}", server.address),
            secret: server.token.clone(),
        }
    }

    /// The binary with the folders and the registry of the user.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pkgres"));
        command
            .args(arguments)
            .env("NO_COLOR", "1")
            .env("HOME", self.home.path())
            .env("PKGRES_CACHE", self.home.path().join("cache"))
            .env("PKGRES_STATE", self.home.path().join("state"))
            .env("PKGRES_CREDENTIALS", self.home.path().join("config"))
            .env("PKGRES_REGISTRY", &self.registry)
            .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."));
        command
    }

    /// A copy of the application of the shop in the home folder, locked with the registry, which has the packages.
    pub(crate) fn locked_app(&self) -> String {
        let app = self.home.path().join("app");
        let copied = Command::new("cp")
            .arg("-r")
            .arg("fixtures/shop/app")
            .arg(&app)
            .current_dir("..")
            .status();
        assert!(copied.expect("cp runs").success());
        let app = app.to_str().expect("text").to_owned();
        self.does(&["lock", &app]);
        app
    }

    pub(crate) fn run(&self, arguments: &[&str], input: &str) -> Finished {
        self.run_with(arguments, input, &[])
    }

    /// Runs the binary with more environment variables.
    pub(crate) fn run_with(
        &self,
        arguments: &[&str],
        input: &str,
        variables: &[(&str, &str)],
    ) -> Finished {
        let mut child = self
            .command(arguments)
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        let mut stdin = child.stdin.take().expect("it was piped");
        // A program that does not read stdin may have ended.
        let _ = stdin.write_all(input.as_bytes());
        drop(stdin);
        let output = child.wait_with_output().expect("it ends");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
        let run = Finished {
            exit: output.status.code().expect("it was not killed"),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        };
        for text in [&run.stdout, &run.stderr] {
            assert!(!text.contains(&self.secret), "the token is shown: {text}");
        }
        run
    }

    /// Runs the binary, which must succeed.
    pub(crate) fn does(&self, arguments: &[&str]) -> Finished {
        let run = self.run(arguments, "");
        assert_eq!(run.exit, 0, "{arguments:?}: {}", run.stderr);
        run
    }

    /// Runs the binary, which must fail, and returns its stderr.
    pub(crate) fn fails(&self, exit: i32, arguments: &[&str]) -> String {
        let run = self.run(arguments, "");
        assert_eq!(
            run.exit, exit,
            "{arguments:?}: {}{}",
            run.stdout, run.stderr
        );
        run.stderr
    }

    pub(crate) fn login(&self) {
        let run = self.run(&["login", "acme"], &format!("{}\n", self.secret));
        assert_eq!(run.exit, 0, "{}", run.stderr);
        assert!(
            run.stderr.starts_with("Logged in to http://127.0.0."),
            "{}",
            run.stderr
        );
    }
}

/// The packages of the shop, required ones first.
fn packages() -> Vec<String> {
    let mut folders: Vec<String> = std::fs::read_dir("../fixtures/shop")
        .expect("the fixtures are there")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.join("manifest.yaml").is_file() && !path.ends_with("app"))
        .map(|path| {
            let path: PathBuf = path.components().skip(1).collect();
            path.to_str().expect("text").to_owned()
        })
        .collect();
    folders.sort_by_key(|folder| (!folder.ends_with("core"), folder.clone()));
    folders
}

pub(crate) fn publish_all(user: &User) {
    for folder in packages() {
        user.does(&["publish", &folder]);
    }
}
