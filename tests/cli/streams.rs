//! Streams that fail and runs that are interrupted, which documents cannot show.

use std::fs::OpenOptions;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use pkgres_tests::skip;
use serde_json::json;

fn pkgres(arguments: &[&str]) -> Command {
    let mut command = Command::new(trycmd::cargo::cargo_bin!("pkgres"));
    command
        .args(arguments)
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .stderr(Stdio::piped());
    command
}

/// Little data is only written at the end, much data in between.
#[test]
#[cfg(target_os = "linux")]
fn lost_data_is_an_error() {
    for arguments in [&["spec", ">=1"][..], &["--help"], &["--version"]] {
        let full = OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .expect("the device exists");
        let output = pkgres(arguments)
            .stdout(full)
            .output()
            .expect("the program starts");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains("cannot write to stdout"), "{stderr}");
    }
}

#[test]
fn a_closed_pipe_is_no_error() {
    let mut child = pkgres(&["spec", ">=1"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

/// The input does not end, so the run must.
#[test]
fn a_batch_ends_when_its_output_is_closed() {
    let mut child = pkgres(&["spec", "--batch"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(child.stdout.take());
    let mut input = child.stdin.take().expect("it is a pipe");
    // Far more than a pipe can hold: writing fails once the program stops reading.
    let row = format!("{}\n", json!({"spec": "1", "version": "1.2.3"})).repeat(1000);
    let was_read = (0..1000).all(|_| input.write_all(row.as_bytes()).is_ok());
    assert!(!was_read);
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

/// Otherwise, both programs would wait for each other.
#[test]
fn a_batch_answers_before_more_input_arrives() {
    let mut child = pkgres(&["spec", "--batch"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut input = child.stdin.take().expect("it is a pipe");
    let answers = child.stdout.take().expect("it is a pipe");
    let (sender, receiver) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        for line in BufReader::new(answers).lines().map_while(Result::ok) {
            let _ = sender.send(line);
        }
    });
    let next = || receiver.recv_timeout(Duration::from_mins(1)).ok();
    // The second row is incomplete at first.
    input
        .write_all(b"{\"spec\":\"1\",\"version\":\"1.2.3\"}\n{\"spec\":\"1\",")
        .expect("the program reads");
    let expected = json!({"spec": "1", "version": "1.2.3", "matches": true});
    assert_eq!(next(), Some(expected.to_string()));
    input
        .write_all(b"\"version\":\"2\"}\n")
        .expect("the program reads");
    let expected = json!({"spec": "1", "version": "2", "matches": false});
    assert_eq!(next(), Some(expected.to_string()));
    drop(input);
    let status = child.wait().expect("the program ends");
    assert_eq!(status.code(), Some(0));
    reader.join().expect("the thread ends");
}

#[test]
#[cfg(unix)]
fn an_interrupted_run_ends_by_the_signal_and_writes_nothing() {
    use std::os::unix::process::ExitStatusExt as _;

    // Shells ignore interrupts in background jobs, which child processes inherit.
    let with_signals = ["env", "--default-signal=INT"];
    let is_supported = Command::new(with_signals[0])
        .args([with_signals[1], "true"])
        .status();
    if !is_supported.is_ok_and(|status| status.success()) {
        skip::without_service("`env --default-signal` is not known");
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let manifest = folder.path().join("manifest.yaml");
    let text = "Format: 1.4\nType: Library\nFullName: a.B\nRequire:\n  c.D: 1\n";
    #[expect(clippy::disallowed_methods, reason = "a file of a test")]
    std::fs::write(&manifest, text).expect("a temporary folder can be written");
    // A registry that never answers.
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let mut child = Command::new(with_signals[0])
        .arg(with_signals[1])
        .arg(trycmd::cargo::cargo_bin!("pkgres"))
        .args(["lock", "--registry", &format!("acme=http://{address}/")])
        .arg(&manifest)
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .env("PKGRES_CACHE", folder.path().join("cache"))
        .env("PKGRES_STATE", folder.path().join("state"))
        .spawn()
        .expect("the program starts");
    let request = listener.accept().expect("the registry gets a request");
    let killed = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(killed.expect("kill runs").success());
    let status = child.wait().expect("the program ends");
    // A shell reports it as exit code 130.
    assert_eq!(status.signal(), Some(2), "{status}");
    assert!(!folder.path().join("pkgres.lock").exists());
    drop(request);
}
