//! Commands that only ask something, on machines with mounts of their own, and as a user who is not root. Each case
//! runs in a process of its own, because mounts and users are those of a process.

// The tests look at files themselves.
#![allow(clippy::disallowed_methods)]

use std::path::{Path, PathBuf};
use std::process::Command as Process;

use pkgres_engine::{
    Command, Directory, File, Input, Machine, Outcome, Probe as _, Resource, Target as _, attempt,
};
use pkgres_tests::skip;

const CASE: &str = "PKGRES_NAMESPACE_CASE";
const FOLDER: &str = "PKGRES_NAMESPACE_FOLDER";

/// Runs a case of the test below in a process that a shell script starts as `"$@"`. The script is in a mount namespace
/// of its own.
fn run(case: &str, script: &str, folder: &Path) {
    if !rustix::process::geteuid().is_root() {
        skip::without_service("only root can mount file systems for a test");
        return;
    }
    let output = Process::new("unshare")
        .args(["--mount", "sh", "-e", "-c", script, "sh"])
        .arg(std::env::current_exe().expect("this is a program"))
        .args(["--exact", "process_of_a_case", "--nocapture"])
        .env(CASE, case)
        .env(FOLDER, folder)
        .output()
        .expect("this program can be started");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{case}: {said}");
}

fn shell(text: &str) -> Command {
    Command::new("/bin/sh").arguments(["-c", text])
}

/// Not a test by itself: the process that the tests start.
#[test]
fn process_of_a_case() {
    let (Ok(case), Some(folder)) = (std::env::var(CASE), std::env::var_os(FOLDER)) else {
        return;
    };
    let folder = PathBuf::from(folder);
    let local = || Machine::local().expect("this machine has a root");
    let asked = |machine: &Machine, text: &str| {
        let output = machine.query(&shell(text)).expect("there is a shell");
        output.text().trim().to_owned()
    };
    match case.as_str() {
        "hidden" => {
            let machine = local();
            assert!(machine.enforces_read_only());
            let path = folder.join("made").display().to_string();
            asked(&machine, &format!("touch {path}; touch /mnt/made"));
            assert!(!Path::new(&path).exists());
            assert!(!Path::new("/mnt/made").exists());
        }
        "below" => {
            let machine = Machine::root_folder(&folder).expect("it is a folder");
            let change = shell("echo seen > /mnt/file");
            let output = machine.run(&change).expect("there is a shell");
            assert!(output.is_success(), "{:?}", output.last_words());
            assert_eq!(asked(&machine, "cat /mnt/file"), "seen");
            asked(&machine, "echo changed > /mnt/file");
            assert_eq!(asked(&machine, "cat /mnt/file"), "seen");
        }
        "user" => {
            let machine = local();
            if !machine.enforces_read_only() {
                return;
            }
            let mine = machine.run(&shell("id -u; id -g")).expect("it starts");
            assert_eq!(asked(&machine, "id -u; id -g"), mine.text().trim());
            let path = folder.join("made").display().to_string();
            asked(&machine, &format!("touch {path}"));
            assert!(!Path::new(&path).exists());
        }
        "mounted" => {
            let machine = Machine::root_folder(&folder).expect("it is a folder");
            let around = Directory::new("/around").absent();
            let mounted = Directory::new("/around/my data").absent();
            let file = File::new("/hosts").with_content("new\n");
            let resources: [(&dyn Resource, &str); 3] = [
                (&around, "/around/my data"),
                (&mounted, "/around/my data"),
                (&file, "/hosts"),
            ];
            for (resource, point) in resources {
                for noop in [true, false] {
                    let outcome = attempt(resource, &machine, &Input::default(), noop);
                    let (Outcome::Impossible(_, error) | Outcome::Failed(error)) = &outcome else {
                        panic!("{point}: {outcome:?}");
                    };
                    let expected = format!("something is mounted at {point}, so it");
                    assert!(error.to_string().starts_with(&expected), "{error}");
                }
            }
            assert!(folder.join("around/my data/kept").exists());
        }
        other => panic!("there is no case {other}"),
    }
}

#[test]
fn a_mount_that_another_one_hides_does_not_turn_the_protection_off() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let script = "mount --make-rprivate /; mount -t tmpfs t /mnt; mkdir /mnt/a; mount -t tmpfs t /mnt/a; \
                  mount -t tmpfs t /mnt; exec \"$@\"";
    run("hidden", script, folder.path());
}

#[test]
fn what_is_mounted_below_a_root_folder_is_there_and_read_only() {
    let Some(root) = std::env::var_os("PKGRES_DEBIAN_ROOT") else {
        skip::without_service("PKGRES_DEBIAN_ROOT names no Debian system");
        return;
    };
    // Its path has a link in it, which the list of mounts does not.
    let folder = tempfile::tempdir().expect("a folder for the test");
    let link = folder.path().join("link to the root");
    std::os::unix::fs::symlink(root, &link).expect("nothing is there");
    let script =
        format!("mount --make-rprivate /; mount -t tmpfs t \"${FOLDER}/mnt\"; exec \"$@\"");
    run("below", &script, &link);
}

#[test]
fn what_is_mounted_is_neither_removed_nor_replaced() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    std::fs::create_dir_all(folder.path().join("around/my data")).expect("nothing is there");
    for file in ["hosts", "hosts of the host"] {
        std::fs::write(folder.path().join(file), "old\n").expect("nothing is there");
    }
    let script = format!(
        "mount --make-rprivate /; cd \"${FOLDER}\"; mount -t tmpfs t 'around/my data'; \
         touch 'around/my data/kept'; mount --bind 'hosts of the host' hosts; exec \"$@\""
    );
    run("mounted", &script, folder.path());
}

#[test]
fn a_user_who_is_not_root_asks_as_that_user() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let open: std::fs::Permissions = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    std::fs::set_permissions(folder.path(), open).expect("it is ours");
    let script = "exec setpriv --reuid 65534 --regid 65534 --clear-groups \"$@\"";
    let program = std::env::current_exe().expect("this is a program");
    let can_start = Process::new("setpriv")
        .args(["--reuid", "65534", "--regid", "65534", "--clear-groups"])
        .args(["test", "-x"])
        .arg(program)
        .status();
    if can_start.is_ok_and(|status| status.success()) {
        run("user", script, folder.path());
    } else {
        skip::without_service("other users cannot start this program");
    }
}
