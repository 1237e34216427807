//! What becomes of data that cannot be written, which documents cannot show.

use std::fs::OpenOptions;
use std::process::{Command, Stdio};

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
