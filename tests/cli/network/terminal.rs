//! Logging in at a terminal: a session in a pseudo-terminal, which `script` provides.

use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use pkgres_tests::skip;

use crate::server::Server;
use crate::user::User;

/// The end of the prompt.
const PROMPT: &str = "(not shown): ";

/// A session of one command, whose terminal does not end before the command does.
struct Session {
    script: Child,
    output: ChildStdout,
    shown: String,
}

impl Session {
    /// Starts a command; `None` without `script`.
    fn start(arguments: &str, user: &User) -> Option<Self> {
        let program = env!("CARGO_BIN_EXE_pkgres");
        let mut script = Command::new("script");
        script
            // The terminal shows what is typed, as that of a person does.
            .args(["--quiet", "--return", "--echo", "always", "--command"])
            .arg(format!("{program} {arguments}"))
            .arg("/dev/null")
            .env("NO_COLOR", "1")
            .env("TERM", "xterm")
            .env("HOME", user.home.path())
            .env("PKGRES_CACHE", user.home.path().join("cache"))
            .env("PKGRES_STATE", user.home.path().join("state"))
            .env("PKGRES_CREDENTIALS", user.home.path().join("config"))
            .env("PKGRES_REGISTRY", &user.registry)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let Ok(mut script) = script.spawn() else {
            skip::without_service("`script` is not there");
            return None;
        };
        let output = script.stdout.take().expect("it was piped");
        Some(Self {
            script,
            output,
            shown: String::new(),
        })
    }

    /// Reads until the terminal shows a text.
    fn wait_for(&mut self, text: &str) {
        let mut buffer = [0; 1024];
        while !self.shown.contains(text) {
            let length = self.output.read(&mut buffer).expect("it can be read");
            assert_ne!(length, 0, "it ended: {}", self.shown);
            self.shown
                .push_str(&String::from_utf8_lossy(&buffer[..length]));
        }
    }

    /// Types a text, once the terminal hides it. What is typed before is dropped.
    fn types(&mut self, text: &str) {
        let terminal = self.terminal();
        loop {
            let stty = Command::new("stty").arg("-F").arg(&terminal).output();
            let output = stty.expect("coreutils are there");
            if String::from_utf8_lossy(&output.stdout).contains("-echo") {
                break;
            }
            let ended = self.script.try_wait().expect("it is a child");
            assert_eq!(ended, None, "it ended: {}", self.shown);
            std::thread::sleep(Duration::from_millis(10));
        }
        let keyboard = self.script.stdin.as_mut().expect("it was piped");
        keyboard.write_all(text.as_bytes()).expect("it reads");
        keyboard.flush().expect("it reads");
    }

    /// The device of the terminal: the standard input of what `script` runs.
    fn terminal(&self) -> PathBuf {
        let script = self.script.id();
        let children = format!("/proc/{script}/task/{script}/children");
        let children = std::fs::read_to_string(children).expect("it is running");
        let child = children.trim();
        std::fs::read_link(format!("/proc/{child}/fd/0")).expect("it has a terminal")
    }

    /// What the terminal showed, and the exit code.
    fn end(mut self) -> (String, Option<i32>) {
        let mut rest = Vec::new();
        self.output.read_to_end(&mut rest).expect("it can be read");
        self.shown.push_str(&String::from_utf8_lossy(&rest));
        let status = self.script.wait().expect("it ends");
        (self.shown, status.code())
    }
}

#[test]
fn login_asks_for_the_token_and_does_not_show_it() {
    let data = tempfile::tempdir().expect("a temporary folder");
    let server = Server::start(&data.path().join("data"));
    let user = User::new(&server);
    let Some(mut session) = Session::start("login acme", &user) else {
        return;
    };
    session.wait_for(PROMPT);
    assert!(session.shown.contains(&server.address), "{}", session.shown);
    // Enter ends it: nothing has to end the input of the terminal.
    session.types(&format!("{}\n", server.token));
    session.wait_for("Logged in to");
    let (shown, exit) = session.end();
    assert_eq!(exit, Some(0), "{shown}");
    assert!(
        !shown.contains(&server.token),
        "the token is shown: {shown}"
    );
    assert_eq!(user.does(&["whoami"]).stdout, "admin\n");

    // The command of the hint works as well: it names the address.
    user.does(&["logout", "acme"]);
    let stderr = user.fails(3, &["whoami"]);
    let (_, hint) = stderr.split_once("`pkgres ").expect("a hint");
    let (command, _) = hint.split_once('`').expect("the end of the command");
    assert_eq!(command, format!("login {}", server.address));
    let mut session = Session::start(command, &user).expect("`script` was there before");
    session.wait_for(PROMPT);
    session.types(&format!("{}\n", server.token));
    let (shown, exit) = session.end();
    assert_eq!(exit, Some(0), "{shown}");
    assert_eq!(user.does(&["whoami"]).stdout, "admin\n");
}

#[test]
fn enter_alone_stores_nothing() {
    let data = tempfile::tempdir().expect("a temporary folder");
    let server = Server::start(&data.path().join("data"));
    let user = User::new(&server);
    let Some(mut session) = Session::start("login acme", &user) else {
        return;
    };
    session.wait_for(PROMPT);
    session.types("\n");
    let (shown, exit) = session.end();
    assert_eq!(exit, Some(2), "{shown}");
    assert!(shown.contains("no token was typed"), "{shown}");
    user.fails(3, &["whoami"]);
}
