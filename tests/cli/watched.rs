//! Runs of `pkgres apply --watch`, which tests follow by their events.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::Value;

/// The longest time that a test waits for something.
pub(crate) const TIME_LIMIT: Duration = Duration::from_mins(5);

/// The program in a folder, without the settings of the user.
pub(crate) fn pkgres(folder: &Path) -> Command {
    let mut command = Command::new(trycmd::cargo::cargo_bin!("pkgres"));
    command
        .current_dir(folder)
        .env("PKGRES_REGISTRY", "")
        .env("PKGRES_CACHE", folder.join("cache"))
        .env("PKGRES_STATE", folder.join("state"));
    command
}

/// Writes a file of a test.
#[expect(clippy::disallowed_methods, reason = "a file of the test")]
pub(crate) fn write(path: &Path, text: &str) {
    std::fs::write(path, text).expect("the file can be written");
}

/// A run of `pkgres apply --watch`, and its events.
pub(crate) struct Watched {
    pub(crate) child: Child,
    events: Receiver<Value>,
}

impl Watched {
    /// Starts a run in a folder.
    pub(crate) fn start(folder: &Path, arguments: &[&str]) -> Self {
        let mut child = pkgres(folder)
            .arg("apply")
            .args(arguments)
            .args(["--watch", "--format", "json"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let (sender, events) = channel();
        let stdout = BufReader::new(child.stdout.take().expect("it is piped"));
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                let event = serde_json::from_str(&line).expect("every line is JSON");
                if sender.send(event).is_err() {
                    return;
                }
            }
        });
        Self { child, events }
    }

    /// The next event of a name.
    pub(crate) fn next(&self, name: &str) -> Value {
        loop {
            let event = self.events.recv_timeout(TIME_LIMIT);
            let event = event.unwrap_or_else(|_| panic!("there is no event {name}"));
            if event["event"] == name {
                return event;
            }
        }
    }

    /// The next change, and the cause of the attempt that made it.
    pub(crate) fn next_change(&self) -> (Value, String) {
        let mut cause = String::new();
        loop {
            let event = self.events.recv_timeout(TIME_LIMIT);
            let event = event.expect("there is a change");
            if event["event"] == "started" {
                cause = event["cause"].to_string();
            }
            if event["event"] == "changed" {
                return (event, cause);
            }
        }
    }

    /// Asks it to end.
    pub(crate) fn interrupt(&self) {
        let process = self.child.id().to_string();
        let killed = Command::new("kill").args(["-INT", &process]).status();
        assert!(killed.expect("kill starts").success());
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}
