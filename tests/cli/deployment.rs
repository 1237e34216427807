//! Runs that go on: a machine that is watched, and how its run ends.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use pkgres_tests::ssh::SshServer;
use serde_json::Value;
use tempfile::TempDir;

use crate::watched::{TIME_LIMIT, Watched, pkgres, write};

/// The package and the machine of most runs.
pub(crate) const WEB: [&str; 3] = ["web", "--target", "rootfs:root"];

const FILES: [(&str, &str); 2] = [
    (
        "web/manifest.yaml",
        "FullName: org.example.Web\nType: Application\nVersion: 1.0.0\nResources: r.yaml\n",
    ),
    (
        "web/r.yaml",
        "Package:\n- file: /web.conf\n  content: \"port=80\\n\"\n",
    ),
];

/// A folder with a locked package and an empty root.
pub(crate) fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for name in ["web", "root"] {
        std::fs::create_dir(folder.path().join(name)).expect("a new folder");
    }
    for (name, text) in FILES {
        write(&folder.path().join(name), text);
    }
    let locked = pkgres(folder.path()).args(["lock", "web"]).status();
    assert!(locked.expect("the program starts").success());
    folder
}

/// Writes the resources of the package, and locks it.
pub(crate) fn lock_resources(folder: &Path, text: &str) {
    write(&folder.join("web/r.yaml"), text);
    let locked = pkgres(folder).args(["lock", "web"]).status();
    assert!(locked.expect("the program starts").success());
}

/// A run of `apply` on this machine, with more arguments.
pub(crate) fn apply(folder: &Path, arguments: &[&str]) -> Output {
    let mut run = pkgres(folder);
    run.arg("apply").args(WEB).args(arguments);
    run.output().expect("the program starts")
}

#[test]
fn what_breaks_is_mended_until_an_interrupt() {
    let folder = folder();
    let file = folder.path().join("root/web.conf");
    let content = || std::fs::read_to_string(&file).unwrap_or_default();
    let mut watched = Watched::start(folder.path(), &WEB);
    assert_eq!(watched.next("changed")["resource"], "file:/web.conf");
    watched.next("converged");
    assert_eq!(content(), "port=80\n");

    write(&file, "port=81\n");
    let started = watched.next("started");
    assert_eq!(started["cause"], "noticed");
    watched.next("changed");
    watched.next("converged");
    assert_eq!(content(), "port=80\n");

    let removed = Command::new("rm").arg(&file).status();
    assert!(removed.expect("rm starts").success());
    watched.next("changed");
    watched.next("converged");
    assert_eq!(content(), "port=80\n");

    // Another run waits until this one ends.
    let mut other = pkgres(folder.path())
        .args(["apply", "web", "--target", "rootfs:root"])
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut lines = BufReader::new(other.stderr.take().expect("it is piped")).lines();
    let holder = format!(
        "process {} has locked the folder /var/lib/pkgres/state/.lock there",
        watched.child.id()
    );
    let waits = format!("Waiting for another `pkgres apply` on rootfs:root to end: {holder}");
    assert_eq!(lines.next().and_then(Result::ok), Some(waits));

    // So does one that does not wait for long, and then gives up.
    let impatient = apply(folder.path(), &["--lock-timeout", "0"]);
    assert_eq!(impatient.status.code(), Some(1));
    let stderr = String::from_utf8_lossy(&impatient.stderr);
    assert!(
        stderr.contains("still runs after 0 s: nothing was changed"),
        "{stderr}"
    );

    watched.interrupt();
    let ended = watched.next("ended");
    assert_eq!(ended["status"], "interrupted");
    assert_eq!(ended["changed"], 3);
    let status = watched.child.wait().expect("it ends");
    assert_eq!(status.code(), Some(130));
    let status = other.wait().expect("it ends");
    assert_eq!(status.code(), Some(0));
}

/// A run of a command that takes a minute, which has begun. The file `begun` has the number of its process.
fn busy(command: &[&str], options: &[&str]) -> (TempDir, Child) {
    let folder = folder();
    let begun = folder.path().join("begun");
    let script = format!(
        "echo $$ > {0}.new; mv {0}.new {0}; exec sleep 60",
        begun.display()
    );
    let never = folder.path().join("never");
    let resources = format!(
        "Package:\n- exec: long\n  command: [sh, -c, '{script}']\n  creates: {}\n",
        never.display()
    );
    write(&folder.path().join("web/r.yaml"), &resources);
    let script = format!("[ $test_only = 1 ] && exit 1; {script}");
    let validation = format!("validators:\n- script: {{long: {{inline: '{script}'}}}}\n");
    write(&folder.path().join("v.yaml"), &validation);
    let mut run = pkgres(folder.path());
    run.args(command).args(["--target", "local:"]).args(options);
    let child = start_until(&mut run, &begun);
    (folder, child)
}

/// Starts a run, and waits until what it runs has made a file.
fn start_until(run: &mut Command, begun: &Path) -> Child {
    let child = run
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let start = Instant::now();
    while !begun.exists() {
        assert!(start.elapsed() < TIME_LIMIT, "the command does not begin");
        std::thread::sleep(Duration::from_millis(10));
    }
    child
}

fn is_running(folder: &TempDir) -> bool {
    let number = std::fs::read_to_string(folder.path().join("begun")).expect("it has begun");
    Path::new("/proc").join(number.trim()).exists()
}

fn signal(child: &Child, name: &str) {
    let process = child.id().to_string();
    let killed = Command::new("kill").args([name, &process]).status();
    assert!(killed.expect("kill starts").success());
}

fn has_root() -> bool {
    let owner = std::fs::metadata("/proc/self").expect("this process is there");
    std::os::unix::fs::MetadataExt::uid(&owner) == 0
}

#[test]
fn every_signal_that_ends_a_run_ends_its_commands_first() {
    if !has_root() {
        pkgres_tests::skip::without_service("the lock of this machine needs the rights of root");
        return;
    }
    for name in ["-TERM", "-HUP", "-INT"] {
        let (folder, child) = busy(&["apply", "web"], &["--format", "json"]);
        // The first one lets the command end by itself.
        signal(&child, name);
        std::thread::sleep(Duration::from_millis(200));
        assert!(is_running(&folder), "{name}");
        signal(&child, name);
        let ended = child.wait_with_output().expect("it ends");
        assert_eq!(ended.status.code(), Some(130), "{name}");
        assert!(!is_running(&folder), "{name}");
        // What the command did until then is a change.
        let stdout = String::from_utf8_lossy(&ended.stdout);
        let last = stdout.lines().last().expect("it says how it ended");
        let last: Value = serde_json::from_str(last).expect("it is JSON");
        assert_eq!(last["status"], "interrupted");
        assert_eq!(last["unfinished"], 1);
        assert_eq!(last["resources"][0]["state"], "interrupted");
        let waits = r#"{"event":"ending","waits_for":["exec:long"]"#;
        assert!(stdout.contains(waits), "{stdout}");
        let stderr = String::from_utf8_lossy(&ended.stderr);
        let summary = "The run on this machine was interrupted: 0 changes made, 1 unfinished change, 1 interrupted";
        assert!(stderr.contains(summary), "{stderr}");
    }
    // People are asked to have patience.
    let (_folder, child) = busy(&["apply", "web"], &[]);
    signal(&child, "-INT");
    std::thread::sleep(Duration::from_millis(200));
    signal(&child, "-INT");
    let ended = child.wait_with_output().expect("it ends");
    let stderr = String::from_utf8_lossy(&ended.stderr);
    let waits = "Ending: waits for exec:long; Ctrl-C again asks it to end\n";
    assert_eq!(stderr.matches(waits).count(), 1, "{stderr}");

    let (folder, child) = busy(&["validate", "v.yaml"], &["--reconcile"]);
    signal(&child, "-TERM");
    let ended = child.wait_with_output().expect("it ends");
    assert_eq!(ended.status.code(), Some(130));
    assert!(!is_running(&folder));
}

#[test]
fn a_plan_that_is_interrupted_says_so_in_json() {
    let folder = folder();
    // No other process has this argument.
    let pause = format!("{}.5", 1_000 + std::process::id());
    let resources = format!("Package:\n- query: slow\n  command: [sleep, '{pause}']\n");
    write(&folder.path().join("web/r.yaml"), &resources);
    let child = pkgres(folder.path())
        .args(["plan", "web", "--target", "local:", "--format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let has_begun = || {
        let processes = std::fs::read_dir("/proc").expect("it is there").flatten();
        let mut lines = processes.map(|process| std::fs::read(process.path().join("cmdline")));
        let expected = format!("sleep\0{pause}\0");
        lines.any(|line| line.is_ok_and(|line| line == expected.as_bytes()))
    };
    let start = Instant::now();
    while !has_begun() {
        assert!(start.elapsed() < TIME_LIMIT, "the query does not begin");
        std::thread::sleep(Duration::from_millis(10));
    }
    // The second one asks the command to end.
    for _ in 0..2 {
        signal(&child, "-INT");
        std::thread::sleep(Duration::from_millis(100));
    }
    let ended = child.wait_with_output().expect("it ends");
    assert_eq!(ended.status.code(), Some(130));
    let document: Value = serde_json::from_slice(&ended.stdout).expect("it is JSON");
    assert_eq!(document["status"], "interrupted");
    assert_eq!(document["target"], "local:");
}

/// A folder with the locked package `checked`, which has these resources, and whose validation is a script.
fn with_validation(script: &str, resources: &str) -> TempDir {
    let folder = folder();
    let web = folder.path().join("checked");
    std::fs::create_dir(&web).expect("it can be made");
    let manifest = "Format: 1.4\nType: Library\nFullName: org.example.Web\nVersion: 1.0.0\n\
        Validate: v.yaml\nResources: r.yaml\n";
    write(&web.join("manifest.yaml"), manifest);
    write(&web.join("r.yaml"), resources);
    let validation = format!("validators:\n- script: {{long: {{inline: '{script}'}}}}\n");
    write(&web.join("v.yaml"), &validation);
    let locked = pkgres(folder.path()).args(["lock", "checked"]).output();
    let locked = locked.expect("the program starts");
    assert!(locked.status.success(), "{locked:?}");
    folder
}

/// A script that ends as it likes says nothing about the machine then.
#[test]
fn a_run_that_is_interrupted_during_a_validation_says_so() {
    if !has_root() {
        pkgres_tests::skip::without_service("the lock of this machine needs the rights of root");
        return;
    }
    let begun = TempDir::new().expect("a folder can be made");
    let begun = begun.path().join("begun");
    let script = format!(
        "[ $test_only = 1 ] && exit 1; trap \"exit 9\" INT TERM; : > {}; while :; do :; done",
        begun.display()
    );
    let folder = with_validation(&script, "Package: []\n");
    let mut run = pkgres(folder.path());
    run.args(["apply", "checked", "--reconcile", "--target", "local:"])
        .args(["--format", "json"]);
    let child = start_until(&mut run, &begun);
    signal(&child, "-TERM");
    let ended = child.wait_with_output().expect("it ends");
    let stderr = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(130), "{stderr}");
    let stdout = String::from_utf8_lossy(&ended.stdout);
    let last = stdout.lines().last().expect("it says how it ended");
    let last: Value = serde_json::from_str(last).expect("it is JSON");
    assert_eq!(last["status"], "interrupted");
    assert!(
        stderr.contains("was interrupted before the first change"),
        "{stderr}"
    );
}

#[test]
fn a_refresh_that_failed_is_made_up_for() {
    if !has_root() {
        pkgres_tests::skip::without_service("the lock of this machine needs the rights of root");
        return;
    }
    let folder = folder();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let resources = format!(
        "Package:\n- file: {conf}\n  content: x\n  notifies: [exec:reload]\n\
         - exec: reload\n  command: [sh, -c, 'test -e {ready} && echo x >> {log}']\n  on_refresh: true\n",
        conf = path("conf"),
        ready = path("ready"),
        log = path("log"),
    );
    write(&folder.path().join("web/r.yaml"), &resources);
    let state = path("state-of-machine");
    let run = |command: &str| {
        let output = pkgres(folder.path())
            .args([command, "web", "--target", "local:", "--state", &state])
            .output()
            .expect("the program starts");
        let text = [output.stdout, output.stderr].concat();
        (
            output.status.code(),
            String::from_utf8_lossy(&text).into_owned(),
        )
    };
    let (code, text) = run("apply");
    assert_eq!(code, Some(7), "{text}");
    let note = "Not refreshed after a change, which the next run makes up for: exec:reload";
    assert!(text.contains(note), "{text}");
    // The file is in order now, and the notification is not lost.
    let (_, text) = run("plan");
    assert!(text.contains("+ exec:reload"), "{text}");
    write(&folder.path().join("ready"), "");
    let (code, text) = run("apply");
    assert_eq!(code, Some(0), "{text}");
    let log = || std::fs::read_to_string(path("log")).expect("it was reloaded");
    assert_eq!(log(), "x\n");
    let (code, text) = run("apply");
    assert_eq!(code, Some(0), "{text}");
    assert_eq!(log(), "x\n", "once is enough");
}

#[test]
fn the_longest_time_of_a_run_ends_its_commands() {
    if !has_root() {
        pkgres_tests::skip::without_service("the lock of this machine needs the rights of root");
        return;
    }
    let (folder, child) = busy(&["apply", "web"], &["--max-runtime", "1"]);
    let ended = child.wait_with_output().expect("it ends");
    assert_eq!(ended.status.code(), Some(1));
    assert!(!is_running(&folder));
    let stderr = String::from_utf8_lossy(&ended.stderr);
    assert!(stderr.contains("ended because its time was up"), "{stderr}");
}

#[test]
fn the_longest_time_of_a_run_ends_its_validations() {
    if !has_root() {
        pkgres_tests::skip::without_service("the lock of this machine needs the rights of root");
        return;
    }
    let made = TempDir::new().expect("a folder can be made");
    let made = made.path().join("made");
    let waits = "trap \"exit 0\" INT; while :; do :; done";
    let after = format!("[ -e {} ] || exit 0; {waits}", made.display());
    for (script, message) in [
        (
            waits,
            "ended before the first change, because its time was up",
        ),
        (
            after.as_str(),
            "ended before the last validation ended, because its time was up",
        ),
    ] {
        let resources = format!("Package:\n- file: {}\n  content: x\n", made.display());
        let folder = with_validation(script, &resources);
        let run = |seconds: &str| {
            #[allow(clippy::disallowed_methods)]
            let _ = std::fs::remove_file(&made);
            let run = pkgres(folder.path())
                .args(["apply", "checked", "--target", "local:"])
                .args(["--max-runtime", seconds, "--format", "json"])
                .output()
                .expect("the program starts");
            let stderr = String::from_utf8_lossy(&run.stderr);
            assert_eq!(run.status.code(), Some(1), "{stderr}");
            let is_right = stderr.contains(message);
            (run, is_right)
        };
        // On a busy machine, the time may be up too early.
        let mut runs = ["1", "4", "16", "64"].into_iter().map(run);
        let (run, _) = runs.find(|(_, is_right)| *is_right).expect(message);
        let stdout = String::from_utf8_lossy(&run.stdout);
        let last = stdout.lines().last().expect("it says how it ended");
        let last: Value = serde_json::from_str(last).expect("it is JSON");
        assert_eq!(last["status"], "out_of_time");
    }
    assert!(made.exists());
}

/// Events are lines, and an error in place of them is one, too.
#[test]
fn an_error_among_events_is_one_line() {
    let folder = folder();
    let run = pkgres(folder.path())
        .args(["apply", "missing", "--target", "rootfs:root"])
        .args(["--format", "json"])
        .output()
        .expect("the program starts");
    assert_eq!(run.status.code(), Some(2));
    let stdout = String::from_utf8_lossy(&run.stdout);
    assert_eq!(stdout.lines().count(), 1, "{stdout}");
    let document: Value = serde_json::from_str(&stdout).expect("it is JSON");
    assert_eq!(document["status"], "error");
}

#[test]
fn a_watched_run_says_once_how_the_machine_is() {
    for (options, note) in [
        (
            "--watch --noop --max-runtime 3",
            "1 resource to change; watching the machine until Ctrl-C",
        ),
        (
            "--watch --max-runtime 3",
            "The machine is up to date; watching it until Ctrl-C",
        ),
    ] {
        let folder = folder();
        let polled = "Package:\n- file: /web.conf\n  meta: {poll: 1}\n";
        write(&folder.path().join("web/r.yaml"), polled);
        let options_of_run: Vec<&str> = options.split(' ').collect();
        let run = apply(folder.path(), &options_of_run);
        let stdout = String::from_utf8_lossy(&run.stdout);
        assert!(!stdout.contains("watching"), "{stdout}");
        let stderr = String::from_utf8_lossy(&run.stderr);
        // It is checked every second, and found to be the same.
        assert_eq!(stderr.matches(note).count(), 1, "{options}: {stderr}");
        let differs = stdout.matches("+ file:/web.conf").count();
        assert_eq!(differs, 1, "{options}: {stdout}");
    }
}

#[test]
fn a_run_that_is_too_short_to_count_as_settled_fails() {
    let folder = folder();
    let options = "apply web --target rootfs:root --watch --converged-exit --converged-timeout 60 --max-runtime 1";
    let run = pkgres(folder.path())
        .args(options.split(' '))
        .output()
        .expect("the program starts");
    assert_eq!(run.status.code(), Some(1));
}

#[test]
fn a_run_ends_when_its_time_is_up() {
    let folder = folder();
    let run = apply(folder.path(), &["--watch", "--max-runtime", "1"]);
    let stderr = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(0), "{stderr}");
    assert!(stderr.contains("ended because its time was up"), "{stderr}");
    let stdout = String::from_utf8_lossy(&run.stdout);
    assert!(stdout.contains("s  + file:/web.conf"), "{stdout}");
}

#[test]
fn a_machine_by_ssh_is_planned_changed_and_watched() {
    let Some(server) = SshServer::start() else {
        return;
    };
    let folder = folder();
    let conf = folder.path().join("it's $HOME.conf");
    let resources = format!(
        "Package:\n- file: \"{}\"\n  content: \"port=80\\n\"\n",
        conf.display()
    );
    write(&folder.path().join("web/r.yaml"), &resources);
    let target = format!("ssh://{}", server.address());
    let run = |command: &str, config: &Path, more: &[&str]| {
        let output = pkgres(folder.path())
            .args([command, "web", "--target", &target, "--ssh-config"])
            .arg(config)
            .arg("--state")
            .arg(folder.path().join("state of the machine"))
            .args(more)
            .output()
            .expect("the program starts");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("the output is text");
        // Another test may use this machine, too.
        let messages = text(output.stderr);
        let messages = messages.lines();
        let messages = messages.filter(|line| !line.starts_with("Waiting for another"));
        let messages: String = messages.map(|line| format!("{line}\n")).collect();
        (output.status.code(), text(output.stdout), messages)
    };

    let config = server.config();
    let (code, stdout, stderr) = run("plan", &config, &["--exit-code"]);
    assert_eq!(code, Some(10), "{stderr}");
    assert_eq!(
        stdout,
        format!("+ file:{}\n    file: 0644, 8 bytes\n", conf.display())
    );
    let asked = "Commands were only asked not to change anything: by ssh, nothing can stop them\n";
    assert!(stderr.starts_with(asked), "{stderr}");
    assert!(!conf.exists());

    let (code, _, stderr) = run("apply", &config, &[]);
    assert_eq!(
        (code, stderr),
        (Some(0), format!("{target} is up to date: 1 change made\n"))
    );
    assert_eq!(std::fs::read(&conf).expect("it was written"), b"port=80\n");

    let (code, _, stderr) = run("apply", &config, &["--watch", "--converged-exit"]);
    let polled = format!("Changes on {target} cannot be watched: it is checked every 30 s\n");
    assert_eq!(
        stderr,
        polled + &format!("{target} is up to date: 0 changes made\n")
    );
    assert_eq!(code, Some(0));

    let (code, _, stderr) = run("apply", &server.config_without_host_key(), &[]);
    assert_eq!(code, Some(7), "{stderr}");
    assert!(
        stderr.starts_with("error[PK0115]: the connection to ssh://"),
        "{stderr}"
    );
    assert!(stderr.contains("Host key verification failed"), "{stderr}");
    assert!(stderr.contains("hint: connect with `ssh` once"), "{stderr}");

    let (code, _, stderr) = run("plan", &config, &["--diff"]);
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("changes cannot be kept apart"), "{stderr}");
}

/// A new resource may replace what a reversal restored.
#[test]
fn a_plan_with_files_agrees_with_a_run_about_reversals() {
    let folder = folder();
    let run = |command: &[&str]| {
        let output = pkgres(folder.path())
            .args(command)
            .args(["web", "--target", "rootfs:root"])
            .output()
            .expect("the program starts");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), stderr)
    };
    let resources = "Package:\n- file: /g\n  content: g\n  meta: {reverse: true}\n";
    write(&folder.path().join("web/r.yaml"), resources);
    let (code, stderr) = run(&["apply"]);
    assert_eq!(code, Some(0), "{stderr}");
    let resources = "Package:\n- link: /g\n  target: f\n";
    write(&folder.path().join("web/r.yaml"), resources);
    for command in [&["plan", "--diff"][..], &["apply"]] {
        let (code, stderr) = run(command);
        assert_eq!(code, Some(0), "{command:?}: {stderr}");
    }

    // What is restored stays in the way.
    write(&folder.path().join("root/f"), "before");
    let resources = "Package:\n- file: /f\n  content: f\n  meta: {reverse: true}\n";
    write(&folder.path().join("web/r.yaml"), resources);
    let (code, stderr) = run(&["apply"]);
    assert_eq!(code, Some(0), "{stderr}");
    let resources = "Package:\n- link: /f\n  target: g\n";
    write(&folder.path().join("web/r.yaml"), resources);
    for command in [&["plan"][..], &["plan", "--diff"], &["apply"]] {
        let (code, stderr) = run(command);
        assert_eq!(code, Some(7), "{command:?}: {stderr}");
        let reason = "link:/f: /f exists, but is not a link: remove it first";
        assert!(stderr.contains(reason), "{command:?}: {stderr}");
    }
}
