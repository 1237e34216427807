//! A run that is killed at any moment leaves old or new files, never parts of them, and the next run brings everything
//! into order. What was there before files that only some versions have is restored by the others.
//!
//! `KILLS=500 cargo test -p pkgres-engine --test killed` kills more often.

// The tests look at files themselves.
#![allow(clippy::disallowed_methods)]

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use pkgres_engine::{
    AppliedState, Directory, DriveOptions, File, GraphBuilder, Kinds, Machine, Outcome, SshAddress,
    SshMachine, SshOptions, StateLocation, Status, Target as _, TargetError, attempt, drive,
};
use pkgres_files::lock_folder;
use pkgres_manifest::{MetaParameters, ResourceId};
use pkgres_tests::ssh::SshServer;

/// The variables that tell a process of this test to run the engine: on which root, and with which content.
const ROOT: &str = "PKGRES_TEST_ROOT";
const VERSION: &str = "PKGRES_TEST_VERSION";

/// The variable that tells a process of this test to run a command, in which folder.
const FOLDER: &str = "PKGRES_TEST_FOLDER";

/// The variables that tell a process of this test to connect to a machine, with which configuration.
const ADDRESS: &str = "PKGRES_TEST_ADDRESS";
const CONFIG: &str = "PKGRES_TEST_CONFIG";

const FILES: usize = 60;

/// The files that only odd versions have, and that are to be reversed.
const REVERSED: usize = 12;

/// What is there before the first version: nothing for odd numbers.
fn original(number: usize) -> Option<String> {
    number
        .is_multiple_of(2)
        .then(|| format!("original {number}\n").repeat(500))
}

/// A file that is to be reversed, as a version has it.
fn reversed(number: usize, version: u64) -> Option<String> {
    match version % 2 {
        0 => original(number),
        _ => Some(content(1_000 + number, version)),
    }
}

fn content(number: usize, version: u64) -> String {
    format!("file {number}, version {version}\n").repeat(2_000)
}

fn apply(root: &Path, version: u64) -> Status {
    let mut builder = GraphBuilder::new();
    let mut add = |kind: &str, path: &str, file: Option<File>| {
        let id = ResourceId::new(kind, path).expect("it is an identity");
        let meta = MetaParameters::default();
        match file {
            Some(file) => builder.add(id, file, meta),
            None => builder.add(id, Directory::new(path), meta),
        };
    };
    for number in 0..FILES {
        let folder = format!("/d{}", number / 10);
        if number % 10 == 0 {
            add("directory", &folder, None);
        }
        let path = format!("{folder}/f{number}");
        let file = File::new(&path).with_content(content(number, version));
        add("file", &path, Some(file));
    }
    for number in (0..REVERSED).filter(|_| version % 2 == 1) {
        let path = format!("/reversed/r{number}");
        let meta = MetaParameters {
            reverse: true,
            ..MetaParameters::default()
        };
        let file = File::new(&path).with_content(content(1_000 + number, version));
        let id = ResourceId::new("file", &path).expect("it is an identity");
        builder.add(id, file, meta);
    }
    let graph = builder.build().expect("it has no cycle");
    let machine = Arc::new(Machine::root_folder(root).expect("it is a folder"));
    let location = StateLocation::new("killed").in_folder("/state");
    let state = AppliedState::lock(&*machine, location, Kinds::default());
    let state = state.expect("a process that was killed holds no lock");
    let graph = state.begin(&*machine, graph).expect("it can be written");
    let (_control, controlled) = channel();
    let options = DriveOptions::default();
    let ending = drive(graph, machine.clone(), &options, controlled, |_| {});
    let finished = state.finish(&*machine, &ending.nodes);
    finished.expect("it can be written");
    ending.status
}

/// Not a test by itself: the process that the test below kills.
#[test]
fn process_to_be_killed() {
    let (Some(root), Ok(version)) = (std::env::var_os(ROOT), std::env::var(VERSION)) else {
        return;
    };
    apply(Path::new(&root), version.parse().expect("it is a number"));
}

/// Not a test by itself: the process that the next test kills while its command runs.
#[test]
fn process_to_be_killed_with_a_command() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let machine = Machine::local().expect("this machine has a root");
    let _lock = machine
        .lock(Path::new(&folder))
        .expect("nobody else has it");
    // As that of the state, which nobody waits for.
    let inner = Path::new(&folder).join("state");
    fs::create_dir(&inner).expect("it can be made");
    let _inner = machine.lock(&inner).expect("nobody else has it");
    let command = pkgres_engine::Command::new("sh")
        .arguments(["-c", "echo $$ > number; mv number ready; sleep 60; true"])
        .folder(&folder);
    let _ = machine.run(&command);
}

#[test]
fn a_command_ends_with_a_killed_run_before_its_lock_does() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let mut child = Command::new(std::env::current_exe().expect("this is a program"))
        .args(["--exact", "process_to_be_killed_with_a_command"])
        .env(FOLDER, folder.path())
        .stdout(Stdio::null())
        .spawn()
        .expect("this program can be started");
    let ready = folder.path().join("ready");
    let group: u32 = loop {
        if let Ok(text) = fs::read_to_string(&ready) {
            break text.trim().parse().expect("it is a number");
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    child.kill().expect("it was started");
    child.wait().expect("it was started");
    let machine = Machine::local().expect("this machine has a root");
    while let Err(error) = machine.lock(folder.path()) {
        assert!(matches!(error, TargetError::Locked { .. }), "{error}");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(is_ending(group), "{group} goes on");
}

/// Whether a process has ended, or has been killed.
fn is_ending(id: u32) -> bool {
    // A process that has ended may not be collected yet.
    let status = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    let state = status.rsplit(") ").next().unwrap_or_default();
    // One that was killed may not have noticed yet.
    let killed = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let pending = killed.lines().find_map(|line| line.strip_prefix("ShdPnd:"));
    let is_killed = pending.is_some_and(|mask| !mask.trim().trim_start_matches('0').is_empty());
    state.is_empty() || state.starts_with(['Z', 'X']) || is_killed
}

/// Not a test by itself: the process that the next test kills while it is connected to a machine.
#[test]
#[expect(clippy::print_stdout, reason = "the next test waits for the line")]
fn process_to_be_killed_with_a_connection() {
    let (Ok(address), Some(config)) = (std::env::var(ADDRESS), std::env::var_os(CONFIG)) else {
        return;
    };
    let _machine = connect(&address, &config);
    println!("\nconnected");
    std::thread::park();
}

fn connect(address: &str, config: impl Into<std::path::PathBuf>) -> SshMachine {
    let address = SshAddress::parse(address).expect("it is an address");
    let options = SshOptions::default().config(config);
    SshMachine::connect(&address, &options).expect("the server accepts the key")
}

/// The processes that another one has started, with their command lines.
fn children(parent: u32) -> Vec<(u32, String)> {
    let path = format!("/proc/{parent}/task");
    let threads = fs::read_dir(path).expect("the process runs");
    let children = threads.filter_map(|thread| {
        fs::read_to_string(thread.expect("it can be read").path().join("children")).ok()
    });
    let mut found = Vec::new();
    for id in children.collect::<String>().split_whitespace() {
        let line = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        found.push((id.parse().expect("it is a number"), line));
    }
    found
}

#[test]
fn a_connection_ends_with_a_killed_run_and_the_next_one_removes_its_socket() {
    let Some(server) = SshServer::start() else {
        return;
    };
    for is_guard_killed in [false, true] {
        let mut child = Command::new(std::env::current_exe().expect("this is a program"))
            .args(["--exact", "process_to_be_killed_with_a_connection"])
            .arg("--nocapture")
            .env(ADDRESS, server.address())
            .env(CONFIG, server.config())
            .stdout(Stdio::piped())
            .spawn()
            .expect("this program can be started");
        let output = BufReader::new(child.stdout.take().expect("it has a pipe"));
        let mut lines = output.lines().map_while(Result::ok);
        assert!(lines.any(|line| line == "connected"));
        let children = children(child.id());
        let (master, line) = children
            .iter()
            .find(|(_, line)| line.contains("ControlMaster=yes"))
            .expect("it has a connection");
        let socket = line
            .split_whitespace()
            .find_map(|word| word.strip_prefix("ControlPath="))
            .expect("it has a socket");
        let folder = Path::new(socket).parent().expect("it is in a folder");
        assert!(Path::new(socket).exists());
        if is_guard_killed {
            let is_guard = |line: &str| line.starts_with("/bin/sh -c");
            let guard = children.iter().find(|(_, line)| is_guard(line));
            let (guard, _) = guard.expect("it has a guard");
            let mut kill = Command::new("kill");
            kill.args(["-KILL", &guard.to_string()]);
            assert!(kill.status().expect("it can be started").success());
        }
        child.kill().expect("it was started");
        child.wait().expect("it was started");
        // Until the guard has ended the connection, the folder is in use.
        drop(lock_folder(folder, || ()));
        assert!(is_guard_killed || is_ending(*master), "{master} goes on");
        connect(&server.address(), server.config());
        // Another process may be removing it.
        drop(lock_folder(folder, || ()));
        assert!(!folder.exists(), "{} is still there", folder.display());
        while !is_ending(*master) {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// All files below a folder, with their content.
fn files(root: &Path) -> Vec<(String, String)> {
    let mut files = Vec::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).expect("it is a folder") {
            let path = entry.expect("it can be read").path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(root).expect("it is inside");
                let content = fs::read_to_string(&path).unwrap_or_default();
                files.push((format!("/{}", name.display()), content));
            }
        }
    }
    files.sort();
    files
}

#[test]
fn a_killed_run_leaves_no_half_files_and_the_next_one_converges() {
    let kills = std::env::var("KILLS")
        .ok()
        .and_then(|kills| kills.parse().ok())
        .unwrap_or(25);
    let root = tempfile::tempdir().expect("a folder for the test");
    fs::create_dir(root.path().join("reversed")).expect("it can be made");
    for number in 0..REVERSED {
        if let Some(original) = original(number) {
            let path = root.path().join(format!("reversed/r{number}"));
            fs::write(path, original).expect("it can be written");
        }
    }
    let start = Instant::now();
    assert_eq!(apply(root.path(), 0), Status::Converged);
    let whole = start.elapsed();
    let mut unfinished = 0;
    for version in 1..=kills {
        let mut child = Command::new(std::env::current_exe().expect("this is a program"))
            .args(["--exact", "process_to_be_killed"])
            .env(ROOT, root.path())
            .env(VERSION, version.to_string())
            .stdout(Stdio::null())
            .spawn()
            .expect("this program can be started");
        // The moments are spread over a run, in an order without a pattern.
        let part = u32::try_from(version * 7_919 % 1_000).expect("it is small");
        std::thread::sleep(whole * part / 1_000 + Duration::from_millis(2));
        child.kill().expect("it was started");
        child.wait().expect("it was started");

        let mut versions = BTreeSet::new();
        for number in 0..REVERSED {
            let is = fs::read_to_string(root.path().join(format!("reversed/r{number}"))).ok();
            let found = [version - 1, version]
                .into_iter()
                .any(|version| is == reversed(number, version));
            assert!(found, "r{number} is neither old nor new");
        }
        for (path, is) in files(root.path()) {
            if path.starts_with("/state/") || path.starts_with("/reversed/") {
                continue;
            }
            let name = path.rsplit('/').next().expect("a path has a name");
            let Some(number) = name.strip_prefix('f').and_then(|name| name.parse().ok()) else {
                assert!(name.starts_with(".pkgres-"), "{path}");
                continue;
            };
            let found = [version - 1, version]
                .into_iter()
                .find(|version| is == content(number, *version));
            versions.insert(found.unwrap_or_else(|| panic!("{path} is neither old nor new")));
        }
        unfinished += u64::from(versions.contains(&(version - 1)));

        assert_eq!(apply(root.path(), version), Status::Converged);
        for number in 0..REVERSED {
            let is = fs::read_to_string(root.path().join(format!("reversed/r{number}"))).ok();
            assert_eq!(
                is,
                reversed(number, version),
                "r{number} of version {version}"
            );
        }
        for (path, is) in files(root.path()) {
            // A temporary file of a killed run is removed by the next write of the same file.
            let name = path.rsplit('/').next().expect("a path has a name");
            if let Some(number) = name.strip_prefix('f').and_then(|name| name.parse().ok()) {
                assert_eq!(is, content(number, version), "{path}");
            }
        }
    }
    assert!(unfinished > 0, "every run ended before it was killed");
    // Nothing differs once more: all kinds of resources are in order after one run.
    let machine = Machine::root_folder(root.path()).expect("it is a folder");
    let file = File::new("/d0/f0").with_content(content(0, kills));
    let outcome = attempt(&file, &machine, &pkgres_engine::Input::default(), true);
    assert!(matches!(outcome, Outcome::InOrder(_)), "{outcome:?}");
}
