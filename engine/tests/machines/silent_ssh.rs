//! Commands on a machine whose `ssh` starts and then says nothing.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command as Process;
use std::time::Duration;

use pkgres_engine::{Command, SshAddress, SshMachine, SshOptions, Target as _, TargetError};

use crate::script;

/// The variable that tells a process of this test to use the program, and in which folder that is.
const FOLDER: &str = "PKGRES_TEST_SSH_FOLDER";

/// A program that is called like `ssh`, and whose machine is this one. Once there is a file `silent` beside it, it
/// neither starts anything nor ends, not even if it is asked to.
const PROGRAM: &str = r#"#!/bin/sh
for word; do
    case $word in
        ControlPath=*) socket=${word#ControlPath=} ;;
        ControlMaster=yes) is_master=1 ;;
    esac
    last=$word
done
if [ -n "$is_master" ]; then
    : >"$socket"
    exec sleep 1000000
fi
if [ -e "$PKGRES_TEST_SSH_FOLDER/silent" ]; then
    trap '' TERM
    exec sleep 1000000
fi
exec /bin/sh -c "$last"
"#;

/// Any machine is slower than this.
fn limited(command: Command) -> Command {
    command.timeout(Duration::from_millis(1))
}

#[test]
fn a_command_has_a_time_limit_even_if_ssh_says_nothing() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        run_commands(Path::new(&folder));
        return;
    }
    let folder = tempfile::tempdir().expect("a folder for the test");
    let program = folder.path().join("ssh");
    std::fs::write(&program, PROGRAM).expect("it can be written");
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&program, executable).expect("it is there");
    let programs = std::env::var("PATH").expect("there are programs");
    let output = Process::new(std::env::current_exe().expect("this is a program"))
        .args(["--exact", "--nocapture"])
        .arg("silent_ssh::a_command_has_a_time_limit_even_if_ssh_says_nothing")
        .env("PATH", format!("{}:{programs}", folder.path().display()))
        .env(FOLDER, folder.path())
        .output()
        .expect("the program starts");
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}"
    );
}

fn run_commands(folder: &Path) {
    let address = SshAddress::parse("machine").expect("it is an address");
    let machine = SshMachine::connect(&address, &SshOptions::default());
    let machine = machine.expect("the program connects");
    let output = machine.run(&script("echo begun")).expect("it runs");
    assert_eq!(output.text(), "begun\n");
    let error = machine.run(&limited(script("sleep 1000000")));
    let error = error.expect_err("it sleeps");
    assert!(matches!(error, TargetError::Timeout { .. }), "{error}");

    std::fs::write(folder.join("silent"), "").expect("the folder is there");
    let error = machine.run(&limited(script("exit 0")));
    let error = error.expect_err("it never starts");
    assert!(matches!(error, TargetError::Timeout { .. }), "{error}");
}
