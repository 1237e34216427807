//! Git in a folder of a test.

use std::path::Path;
use std::process::{Command, Output};

/// Runs git as somebody, with no configuration but this; says how it went.
///
/// # Panics
///
/// If there is no git.
pub fn try_git(folder: &Path, arguments: &[&str]) -> Output {
    Command::new("git")
        // What a test writes need not outlive the machine.
        .args(["-c", "core.fsync=none"])
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .env("GIT_AUTHOR_NAME", "a")
        .env("GIT_AUTHOR_EMAIL", "a@example.org")
        .env("GIT_COMMITTER_NAME", "a")
        .env("GIT_COMMITTER_EMAIL", "a@example.org")
        .output()
        .expect("git is there")
}

/// Likewise what has to succeed.
///
/// # Panics
///
/// If it does not.
pub fn git(folder: &Path, arguments: &[&str]) {
    let output = try_git(folder, arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {arguments:?}: {said}");
}
