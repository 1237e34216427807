//! Lockfiles that somebody changed by hand: a line that makes a release come from elsewhere, or gives it the content of
//! another one.

use std::path::Path;
use std::process::Output;

use crate::program::{pkgres, write};

/// A project that requires `a` and `b`, and its lockfile.
struct Locked {
    folder: tempfile::TempDir,
    lock: String,
}

impl Locked {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path();
        let settings = "no-core-library = true\nregistries = [\"dir:registry\"]\n";
        write(&path.join("pkgres.toml"), settings);
        let manifest =
            "FullName: app\nType: Application\nVersion: 1.0.0\nRequire:\n  a: '*'\n  b: 1\n";
        write(&path.join("manifest.yaml"), manifest);
        for name in ["a", "b"] {
            let manifest = format!("FullName: {name}\nType: Library\nVersion: 1.0.0\n");
            write(
                &path.join(format!("registry/{name}/manifest.yaml")),
                &manifest,
            );
        }
        let mut locked = Self {
            folder,
            lock: String::new(),
        };
        locked.lock_again();
        locked
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Locks what the registry has.
    fn lock_again(&mut self) {
        let output = pkgres(self.path(), &["lock"]);
        assert!(output.status.success(), "{output:?}");
        let lock = std::fs::read_to_string(self.path().join("pkgres.lock"));
        self.lock = lock.expect("it was written");
    }

    /// The output of a command with a changed lockfile, after its exit code.
    fn with(&self, lock: &str, arguments: &[&str]) -> (Option<i32>, String) {
        assert_ne!(lock, self.lock, "the lockfile is changed");
        write(&self.path().join("pkgres.lock"), lock);
        let Output { status, stderr, .. } = pkgres(self.path(), arguments);
        (status.code(), String::from_utf8_lossy(&stderr).into_owned())
    }

    /// The lockfile with the digests of `a` and `b` exchanged.
    fn exchanged(&self) -> String {
        let digests: Vec<&str> = (self.lock.lines())
            .filter_map(|line| line.trim().strip_prefix("sha256: "))
            .collect();
        let &[one, two] = digests.as_slice() else {
            panic!("two releases have digests: {}", self.lock);
        };
        let without = self.lock.replace(one, "@").replace(two, one);
        without.replace('@', two)
    }
}

const COMMANDS: [&[&str]; 3] = [&["verify"], &["fetch"], &["vendor", "archives"]];

#[test]
fn the_artifact_of_another_release_is_rejected() {
    let mut locked = Locked::new();
    let folders = locked.exchanged();
    for command in COMMANDS {
        let (code, stderr) = locked.with(&folders, command);
        assert_eq!(code, Some(4), "{command:?}: {stderr}");
        let message = "error[PK0032]: the artifact of a 1.0.0 is that of b 1.0.0";
        assert!(stderr.contains(message), "{stderr}");
    }
    // The same with archives.
    write(&locked.path().join("pkgres.lock"), &locked.lock);
    let output = pkgres(locked.path(), &["vendor", "archives"]);
    assert!(output.status.success(), "{output:?}");
    let settings = "no-core-library = true\nregistries = [\"dir:archives\"]\n";
    write(&locked.path().join("pkgres.toml"), settings);
    locked.lock_again();
    let archives = locked.exchanged();
    for command in COMMANDS {
        let (code, stderr) = locked.with(&archives, command);
        assert_eq!(code, Some(4), "{command:?}: {stderr}");
        assert!(stderr.contains("is that of b 1.0.0"), "{stderr}");
    }
}

#[test]
fn a_release_of_a_registry_cannot_claim_to_come_from_elsewhere() {
    let locked = Locked::new();
    let (before, after) = locked.lock.split_once("- name: b").expect("b is locked");
    let registry = ["  source: default\n", "  sha256: "];
    let lines = after.split_inclusive('\n');
    let without: String = lines
        .filter(|line| !registry.iter().any(|start| line.starts_with(start)))
        .collect();
    let missing = "the lockfile has no digest of b 1.0.0, and its registry has one";
    for (source, message) in [
        (
            "host",
            "b 1.0.0 was provided by the host and now comes from",
        ),
        ("workspace", missing),
        ("override-b", missing),
    ] {
        let version = "  version: 1.0.0\n";
        let with = without.replacen(version, &format!("{version}  source: {source}\n"), 1);
        let lock = format!("{before}- name: b{with}");
        for command in COMMANDS {
            let (code, stderr) = locked.with(&lock, command);
            assert_eq!(code, Some(1), "{source}, {command:?}: {stderr}");
            assert!(stderr.contains(message), "{source}: {stderr}");
        }
    }
}

#[test]
fn a_list_of_several_releases_is_checked() {
    let locked = Locked::new();
    let lock = (locked.lock).replacen("packages:\n", "side_by_side:\n- b\npackages:\n", 1);
    for command in [["lock", "--check"], ["tree", "--locked"]] {
        let (code, stderr) = locked.with(&lock, &command);
        assert_eq!(code, Some(1), "{command:?}: {stderr}");
        let message = "b is listed as side by side, and does not have several releases";
        assert!(stderr.contains(message), "{stderr}");
    }
}

#[test]
fn the_locked_content_is_found_beside_another_content() {
    let locked = Locked::new();
    let output = pkgres(locked.path(), &["vendor", "archives"]);
    assert!(output.status.success(), "{output:?}");
    let manifest = "FullName: b\nType: Library\nVersion: 1.0.0\nDescription: other\n";
    write(
        &locked.path().join("registry/other/manifest.yaml"),
        manifest,
    );
    for command in COMMANDS {
        let output = pkgres(locked.path(), command);
        assert!(output.status.success(), "{command:?}: {output:?}");
    }
}

#[test]
fn wrong_capabilities_are_out_of_date_in_every_command() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    write(
        &folder.join("pkgres.toml"),
        "no-core-library = true\nregistries = [\"dir:.\"]\n",
    );
    for (path, text) in [
        (
            "iface/manifest.yaml",
            "FullName: i\nType: Library\nVersion: 1.0.0\nInterfaces: {i.Service: Service.yaml}\n",
        ),
        (
            "iface/Interfaces/Service.yaml",
            "Name: i.Service\nFunctions:\n  start: {}\n",
        ),
        (
            "app/manifest.yaml",
            "FullName: app\nType: Application\nVersion: 1.0.0\nRequire: {i: 1}\nClasses: {app.App: App.yaml}\n\
             Implements: {app.App: [i.Service]}\n",
        ),
        (
            "app/Classes/App.yaml",
            "Name: app.App\nMethods:\n  start:\n    Body: []\n",
        ),
    ] {
        write(&folder.join(path), text);
    }
    let output = pkgres(folder, &["lock", "app"]);
    assert!(output.status.success(), "{output:?}");
    let path = folder.join("app/pkgres.lock");
    let lock = std::fs::read_to_string(&path).expect("it was written");
    let changed = lock.replace("start: \"implemented\"", "start: \"not-supported\"");
    assert_ne!(lock, changed, "{lock}");
    write(&path, &changed);
    for command in [
        &["lock", "app", "--check"][..],
        &["tree", "app", "--locked"],
        &["verify", "app", "--locked"],
    ] {
        let output = pkgres(folder, command);
        assert_eq!(output.status.code(), Some(1), "{command:?}: {output:?}");
        let stderr = String::from_utf8_lossy(&output.stderr);
        let expected =
            "the function `start` of i.Service is `implemented`, locked as `not-supported`";
        assert!(stderr.contains(expected), "{stderr}");
    }
}
