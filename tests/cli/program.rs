//! Running the binary in a temporary folder.

use std::path::Path;
use std::process::{Command, Output};

use pkgres_tests::hints;

/// The binary in a folder, with its cache there.
pub(crate) fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(trycmd::cargo::cargo_bin!("pkgres"));
    command
        .args(arguments)
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .env("PKGRES_CACHE", folder.join("cache"));
    command
}

/// Runs the binary in a folder, with its cache there. The commands that its hints name must be such.
pub(crate) fn pkgres(folder: &Path, arguments: &[&str]) -> Output {
    let output = command(folder, arguments)
        .output()
        .expect("the program starts");
    check_hints(&output);
    output
}

/// Fails if a command in the output is none.
pub(crate) fn check_hints(output: &Output) {
    for stream in [&output.stdout, &output.stderr] {
        let program = Path::new(trycmd::cargo::cargo_bin!("pkgres"));
        let faults = hints::faults(program, &String::from_utf8_lossy(stream));
        assert!(faults.is_empty(), "{faults:?}");
    }
}

/// Writes a file of a test, and makes the folders that it is in.
#[expect(clippy::disallowed_methods, reason = "files of a test")]
pub(crate) fn write(path: &Path, text: &str) {
    let folder = path.parent().expect("it is in a folder");
    std::fs::create_dir_all(folder).expect("a temporary folder can be written");
    std::fs::write(path, text).expect("a temporary folder can be written");
}
