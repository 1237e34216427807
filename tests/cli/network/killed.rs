//! `unpack`, `vendor` and `fetch` that are killed at any moment, or run at the same time: in the end everything is there,
//! and nothing is left behind.
//!
//! `ROUNDS` sets how often each is killed or run; 700 rounds take some minutes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use pkgres_files::{FileSystem as _, RealFileSystem, make_folder, write_file};
use pkgres_tests::archives;
use pkgres_tests::random::Random;
use pkgres_tests::writers::{outputs_at_once, rounds};

use crate::server::Server;
use crate::user::{User, publish_all};

/// Runs a command to its end.
fn complete(mut command: Command) {
    let output = command.output().expect("the binary runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
}

/// Kills a command at random moments of its run, completes it, and checks what is there. `reset` undoes the command,
/// and `is_done` tells whether it was completed, though killed.
fn kill_often(
    seed: u64,
    command: impl Fn() -> Command,
    reset: impl Fn(),
    is_done: impl Fn() -> bool,
    check: impl Fn(),
) {
    reset();
    let begin = Instant::now();
    complete(command());
    let whole = begin.elapsed();
    check();
    let mut random = Random::new(seed);
    let mut killed = 0;
    for _ in 0..rounds() {
        reset();
        let mut child = command()
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary runs");
        let latest = usize::try_from(whole.as_micros()).unwrap_or(usize::MAX);
        let moment = random.below(latest.max(1));
        std::thread::sleep(Duration::from_micros(moment as u64));
        child.kill().expect("it was not waited for");
        killed += usize::from(!child.wait().expect("it ended").success());
        if !is_done() {
            complete(command());
        }
        check();
    }
    // A few rounds may all be too early or too late.
    assert!(killed > 0 || rounds() < 50, "no run was cut short");
}

fn remove(path: &Path) {
    if path.exists() {
        RealFileSystem.remove(path).expect("the folder is ours");
    }
}

/// The temporary files in a folder and below.
fn temporary(folder: &Path) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.expect("an entry").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let is_temporary = name.starts_with(".pkgres-") && name.ends_with(".tmp");
            if is_temporary {
                found.push(path);
            } else if path.is_dir() {
                folders.push(path);
            }
        }
    }
    found
}

fn names(folder: &Path) -> BTreeSet<String> {
    let names = RealFileSystem.names(folder).expect("it is there");
    names.into_iter().collect()
}

#[test]
fn a_killed_unpack_leaves_nothing() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let archive = home.path().join("p.zip");
    let resources: Vec<(String, Vec<u8>)> = (0..60)
        .map(|number| (format!("Resources/{number}/text"), vec![number; 2_000]))
        .collect();
    let manifest = "Type: Library\nFullName: p.P\nVersion: 1.0.0\nClasses: {p.P: P.yaml}\n";
    let mut files: Vec<(&str, &[u8])> = vec![
        ("manifest.yaml", manifest.as_bytes()),
        ("Classes/P.yaml", b"Name: p.P\n"),
    ];
    files.extend(
        resources
            .iter()
            .map(|(path, bytes)| (path.as_str(), bytes.as_slice())),
    );
    write_file(&RealFileSystem, &archive, &archives::files(&files)).expect("the folder is ours");
    let parent = home.path().join("unpacked");
    make_folder(&RealFileSystem, &parent).expect("the folder is ours");
    let folder = parent.join("p");
    kill_often(
        1,
        || {
            let mut command = Command::new(env!("CARGO_BIN_EXE_pkgres"));
            command.arg("unpack").args([&archive, &folder]);
            command
        },
        || remove(&folder),
        || folder.exists(),
        || {
            // There is all of it and nothing else.
            assert_eq!(names(&parent), BTreeSet::from(["p".to_owned()]));
            for (path, bytes) in &resources {
                assert_eq!(
                    &std::fs::read(folder.join(path)).expect("it is there"),
                    bytes
                );
            }
        },
    );
}

#[test]
fn a_killed_fetch_or_vendor_leaves_nothing() {
    let data = tempfile::tempdir().expect("a temporary folder");
    let server = Server::start_alone(&data.path().join("data"));
    let user = User::new(&server);
    user.login();
    publish_all(&user);
    let app = user.locked_app();
    let cache = user.home.path().join("cache");
    kill_often(
        2,
        || user.command(&["fetch", &app]),
        || remove(&cache),
        || false,
        || {
            assert_eq!(temporary(user.home.path()), Vec::<PathBuf>::new());
            user.does(&["fetch", &app, "--offline"]);
        },
    );
    let vendored = user.home.path().join("vendored");
    let folder = vendored.to_str().expect("text");
    let vendor = ["vendor", folder, app.as_str()];
    user.does(&vendor);
    let expected = names(&vendored);
    assert_eq!(expected.len(), 5);
    kill_often(
        3,
        || user.command(&vendor),
        || remove(&vendored),
        || false,
        || {
            assert_eq!(names(&vendored), expected);
            assert_eq!(temporary(user.home.path()), Vec::<PathBuf>::new());
        },
    );
}

/// Runs a command several times at once: all have to succeed.
fn succeed_at_once(command: impl Fn() -> Command) {
    for output in outputs_at_once(|_| command()) {
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{stderr}");
    }
}

#[test]
fn five_that_fetch_or_vendor_at_once_do_not_disturb_each_other() {
    let data = tempfile::tempdir().expect("a temporary folder");
    let server = Server::start_alone(&data.path().join("data"));
    let user = User::new(&server);
    user.login();
    publish_all(&user);
    let app = user.locked_app();
    let (cache, vendored) = (
        user.home.path().join("cache"),
        user.home.path().join("vendored"),
    );
    let vendor = ["vendor", vendored.to_str().expect("text"), app.as_str()];
    user.does(&vendor);
    let expected = names(&vendored);
    for _ in 0..rounds() {
        remove(&cache);
        remove(&vendored);
        succeed_at_once(|| user.command(&["fetch", &app]));
        user.does(&["fetch", &app, "--offline"]);
        succeed_at_once(|| user.command(&vendor));
        assert_eq!(names(&vendored), expected);
        for name in expected.iter().filter(|name| name.ends_with(".zip")) {
            let bytes = std::fs::read(vendored.join(name)).expect("it is there");
            assert!(bytes.starts_with(b"PK"), "{name}");
        }
        assert_eq!(temporary(user.home.path()), Vec::<PathBuf>::new());
    }
}
