//! What becomes of data that cannot be written, and of runs that are interrupted, which documents cannot
//! show.

use std::fs::OpenOptions;
use std::net::TcpListener;
use std::process::{Command, Stdio};

use pkgres_tests::skip;

fn pkgres(arguments: &[&str]) -> Command {
    let mut command = Command::new(trycmd::cargo::cargo_bin!("pkgres"));
    command
        .args(arguments)
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .stderr(Stdio::piped());
    command
}

/// Data are flushed at the end, where they are few, and in between, where they are many.
#[test]
#[cfg(target_os = "linux")]
fn data_that_are_cut_short_are_an_error() {
    for arguments in [&["spec", ">=1"][..], &["--help"], &["--version"]] {
        let full = OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .expect("the device is there");
        let output = pkgres(arguments)
            .stdout(full)
            .output()
            .expect("the program starts");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("cannot write to stdout"), "{said}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut child = pkgres(&["spec", ">=1"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
#[cfg(unix)]
fn an_interrupted_run_ends_as_shells_expect_and_writes_nothing() {
    use std::os::unix::process::ExitStatusExt as _;

    // What shells start in the background does not heed interrupts, and neither does what it starts.
    let heeding = ["env", "--default-signal=INT"];
    let can_heed = Command::new(heeding[0]).args([heeding[1], "true"]).status();
    if !can_heed.is_ok_and(|status| status.success()) {
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
    let mut child = Command::new(heeding[0])
        .arg(heeding[1])
        .arg(trycmd::cargo::cargo_bin!("pkgres"))
        .args(["lock", "--registry", &format!("acme=http://{address}/")])
        .arg(&manifest)
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .env("PKGRES_CACHE", folder.path().join("cache"))
        .env("PKGRES_STATE", folder.path().join("state"))
        .spawn()
        .expect("the program starts");
    let asked = listener.accept().expect("the registry is asked");
    let told = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(told.expect("kill runs").success());
    let status = child.wait().expect("the program ends");
    // A shell makes 130 of it.
    assert_eq!(status.signal(), Some(2), "{status}");
    assert!(!folder.path().join("pkgres.lock").exists());
    drop(asked);
}
