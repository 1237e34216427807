//! Git repositories of tests.

use std::path::Path;
use std::process::{Command, Output};

/// Runs git with a fixed author and without the user's configuration. Returns its output.
///
/// # Panics
///
/// If git is not installed.
pub fn try_git(folder: &Path, arguments: &[&str]) -> Output {
    Command::new("git")
        // Test data need not survive a crash of the machine.
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

/// Runs git as [`try_git`] does, and expects success.
///
/// # Panics
///
/// If git fails.
pub fn git(folder: &Path, arguments: &[&str]) {
    let output = try_git(folder, arguments);
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {arguments:?}: {message}");
}
