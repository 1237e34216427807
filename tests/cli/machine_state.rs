//! The state that runs keep on the machine.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use crate::deployment::{WEB, apply, folder, lock_resources};
use crate::watched::{pkgres, write};

#[test]
fn the_folder_of_states_is_one_of_the_machine() {
    let folder = folder();
    let run = apply(folder.path(), &["--state", "states"]);
    assert_eq!(run.status.code(), Some(2));
    let stderr = String::from_utf8_lossy(&run.stderr);
    assert!(stderr.contains("must be an absolute path"), "{stderr}");
}

#[test]
fn a_lock_that_any_user_can_take_stops_no_run() {
    let folder = folder();
    let root = std::fs::File::open(folder.path().join("root")).expect("it is there");
    root.lock().expect("nobody else has locked it");
    let run = apply(folder.path(), &["--lock-timeout", "0"]);
    assert_eq!(run.status.code(), Some(0), "{run:?}");
    let lock = folder.path().join("root/var/lib/pkgres/state/.lock");
    let mode = std::fs::metadata(&lock)
        .expect("it was made")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o700);
}

/// The hints of the error can be followed.
#[test]
fn what_was_kept_and_is_lost_can_be_given_up() {
    let folder = folder();
    let at = |path: &str| folder.path().join(path);
    let resources = |text: &str| lock_resources(folder.path(), text);
    let run = |command: &[&str]| {
        let mut run = pkgres(folder.path());
        run.args(command).args(WEB);
        run.output().expect("the program starts")
    };
    write(&at("root/web.conf"), "before\n");
    resources("Package:\n- file: /web.conf\n  content: x\n  meta: {reverse: true}\n");
    assert_eq!(apply(folder.path(), &[]).status.code(), Some(0));
    let kept = "root/var/lib/pkgres/state/org.example.Web/contents";
    let mut contents = std::fs::read_dir(at(kept)).expect("there is a state");
    let content = contents.next().expect("it is kept").expect("it is ours");
    let remove = |path: &Path| {
        let removed = Command::new("rm").arg(path).status();
        assert!(removed.expect("rm starts").success());
    };
    resources("Package: []\n");
    let failing = |command: &[&str]| {
        let failed = run(command);
        let stderr = String::from_utf8_lossy(&failed.stderr).into_owned();
        assert_eq!(failed.status.code(), Some(7), "{stderr}");
        assert!(
            stderr.contains("the saved state of `file:/web.conf` cannot be restored"),
            "{stderr}"
        );
        stderr
    };
    write(&content.path(), "other\n");
    failing(&["plan"]);
    failing(&["apply", "--noop"]);
    remove(&content.path());
    failing(&["plan"]);
    let stderr = failing(&["apply"]);
    let record = stderr.split("hint: or remove ").nth(1);
    let record = record.and_then(|hint| hint.split(" there").next());
    let record = format!("root{}", record.expect("the hint names the record"));
    remove(&at(&record));
    assert_eq!(apply(folder.path(), &[]).status.code(), Some(0));
    let left = std::fs::read_to_string(at("root/web.conf"));
    assert_eq!(left.ok().as_deref(), Some("x"));
}
