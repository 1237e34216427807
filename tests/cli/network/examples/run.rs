//! Runs an example in a new folder.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use pkgres_tests::ssh::SshServer;

use super::Example;
use super::table::{REPLACED, SetUp};
use crate::server::Server;

/// The longest time that an example takes.
const TIMEOUT: Duration = Duration::from_mins(1);

/// Exit codes of the script around an example: the lines before it failed, and what must hold afterwards does not.
const NOT_PREPARED: i32 = 98;
const NOT_DONE: i32 = 99;

/// Runs an example; an error says what is wrong.
pub(super) fn run(set_up: &SetUp, example: &Example) -> Result<(), String> {
    let root = tempfile::tempdir().expect("a temporary folder");
    let root = root.path();
    let world = root.join("world");
    std::fs::create_dir(root.join("home")).expect("a new folder");
    let source = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../tests/cli")
        .join(set_up.folder);
    copy(&source, &world, root);
    let server = set_up
        .is_served
        .then(|| Server::start(&world.join("registry")));
    let mut ssh = None;
    if example.line.contains("ssh://") {
        let Some(server) = SshServer::start() else {
            return Ok(());
        };
        ssh = Some((server.address(), server.config(), server));
    }

    let mut command = Command::new("sh");
    command.arg("-c").arg(script(set_up, example));
    surroundings(&mut command, root);
    let address = server
        .as_ref()
        .map(|server| server.address.trim_end_matches('/'));
    command.env(
        "REGISTRY",
        address.unwrap_or("https://packages.example.org"),
    );
    let registry = address.map(|address| format!("acme={address}"));
    command.env("PKGRES_REGISTRY", registry.unwrap_or_default());
    if let Some((address, config, _)) = &ssh {
        command
            .env("SSH_ADDRESS", address)
            .env("SSH_CONFIG", config);
    }
    command.current_dir(&world).stdin(Stdio::null());
    let mut child = command.spawn().expect("sh is there");
    if example.is_endless {
        interrupt_when_shown(&mut child, root, example.shows);
    }
    let code = wait(&mut child, root);
    judge(example, root, code)
}

/// A script: the lines before, the example, whose process is in the file `process`, and the condition afterwards.
fn script(set_up: &SetUp, example: &Example) -> String {
    let mut line = example.line.to_owned();
    for (text, other) in REPLACED {
        line = line.replace(text, other);
    }
    let mut script = String::new();
    for before in set_up.before.iter().chain([&example.after]) {
        let guarded = format!("{before} || exit {NOT_PREPARED}\n");
        script.push_str(&guarded);
    }
    let Example { input, then, .. } = example;
    script.push_str(&format!(
        "(sh -c 'echo $PPID' > \"$ROOT/process\"; exec {line}) < {input} > \"$ROOT/stdout\" 2> \"$ROOT/stderr\"\n\
         code=$?\n{then} || exit {NOT_DONE}\nexit $code\n"
    ));
    format!("exec 2> \"$ROOT/before\" >&2\n{script}")
}

/// The variables of a user whose folders are in the folder of the example.
fn surroundings(command: &mut Command, root: &Path) {
    let binary = Path::new(env!("CARGO_BIN_EXE_pkgres"));
    let folder = binary
        .parent()
        .expect("the binary is in a folder")
        .display();
    let programs = std::env::var("PATH").expect("there are programs");
    command
        .env("PATH", format!("{folder}:{programs}"))
        .env("ROOT", root)
        .env("HOME", root.join("home"))
        .env("PKGRES_CACHE", root.join("cache"))
        .env("PKGRES_STATE", root.join("state"))
        .env("PKGRES_CREDENTIALS", root.join("credentials"))
        .env_remove("XDG_CONFIG_HOME")
        .env("NO_COLOR", "1")
        .env("LC_ALL", "C")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null");
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "a");
        command.env(format!("GIT_{who}_EMAIL"), "a@example.org");
    }
}

/// Copies a folder of the project, and replaces `[ROOT]` in its files.
#[expect(clippy::disallowed_methods, reason = "files of a test")]
fn copy(from: &Path, to: &Path, root: &Path) {
    std::fs::create_dir(to).expect("a new folder");
    for entry in std::fs::read_dir(from).expect("a folder of the project") {
        let path = entry.expect("an entry of it").path();
        let target = to.join(path.file_name().expect("it has a name"));
        if path.is_dir() {
            copy(&path, &target, root);
        } else {
            let text = std::fs::read_to_string(&path).expect("a file of the project");
            let root = root.to_str().expect("a path that is text");
            std::fs::write(&target, text.replace("[ROOT]", root)).expect("a new file");
        }
    }
}

/// Waits until the example, which runs in a script, prints a text; then interrupts it.
fn interrupt_when_shown(script: &mut Child, root: &Path, text: &str) {
    let start = Instant::now();
    while !output(root).contains(text) {
        let has_ended = script.try_wait().expect("it can be asked").is_some();
        if has_ended || start.elapsed() > TIMEOUT {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    signal(root, "INT");
}

/// Sends a signal to the example.
fn signal(root: &Path, name: &str) {
    if let Ok(process) = std::fs::read_to_string(root.join("process")) {
        // It may have ended.
        let _ = Command::new("kill")
            .args(["-s", name, process.trim()])
            .status();
    }
}

/// Waits until the script ends, or ends it.
fn wait(script: &mut Child, root: &Path) -> Option<i32> {
    let start = Instant::now();
    loop {
        if let Some(status) = script.try_wait().expect("it can be asked") {
            return status.code();
        }
        if start.elapsed() > TIMEOUT {
            signal(root, "KILL");
            let _ = script.kill();
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// What the example printed so far.
fn output(root: &Path) -> String {
    let text = |name: &str| std::fs::read_to_string(root.join(name)).unwrap_or_default();
    text("stdout") + &text("stderr")
}

fn judge(example: &Example, root: &Path, code: Option<i32>) -> Result<(), String> {
    let output = output(root);
    let before = std::fs::read_to_string(root.join("before")).unwrap_or_default();
    if code == Some(NOT_PREPARED) {
        return Err(format!("it cannot be prepared:\n{before}"));
    }
    let fault = if ["Usage: ", "error: ", "[PK0090]"]
        .iter()
        .any(|text| output.contains(text))
    {
        "the line is not understood".to_owned()
    } else if code == Some(NOT_DONE) {
        format!("this does not hold: {}", example.then)
    } else if code != Some(example.exit) {
        format!("it ends with {code:?} instead of {}", example.exit)
    } else if !output.contains(example.shows) {
        format!("it does not show `{}`", example.shows)
    } else {
        return Ok(());
    };
    Err(format!("{fault}\n{output}\n{before}"))
}
