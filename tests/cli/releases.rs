//! What a release consists of: the scripts of the workflow, run on a folder instead of GitHub.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn run(command: &mut Command) -> (bool, String) {
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().expect("the program starts");
    let text = String::from_utf8_lossy(&[stdout, stderr].concat()).into_owned();
    (status.success(), text)
}

/// An archive that the workflow makes is one that the action installs, and a changed one is not installed.
#[test]
fn an_archive_can_be_installed_and_a_changed_one_cannot() {
    let is_known = cfg!(all(target_os = "linux", target_arch = "x86_64"));
    if !is_known || !run(Command::new("curl").arg("--version")).0 {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let project = folder.path().join("project");
    let releases = folder.path().join("releases/v9.8.7");
    for folder in [&project.join(".ci"), &releases] {
        assert!(run(Command::new("mkdir").arg("-p").arg(folder)).0);
    }
    for file in [
        "LICENSE",
        "README.md",
        "CHANGELOG.md",
        "Cargo.toml",
        ".ci/archive",
        ".ci/install",
    ] {
        let copied = Command::new("cp")
            .arg(root().join(file))
            .arg(project.join(file))
            .status();
        assert!(copied.expect("`cp` is there").success(), "{file}");
    }
    let target = "x86_64-unknown-linux-musl";
    let (is_done, text) = run(Command::new(project.join(".ci/archive"))
        .args(["9.8.7", target])
        .env("PKGRES_PROGRAM", trycmd::cargo::cargo_bin!("pkgres")));
    assert!(is_done, "{text}");
    let archive = format!("pkgres-9.8.7-{target}.tar.gz");
    for file in [archive.clone(), format!("{archive}.sha256")] {
        let moved = Command::new("mv")
            .arg(project.join("dist").join(file))
            .arg(&releases)
            .status();
        assert!(moved.expect("`mv` is there").success());
    }
    let install = || {
        let releases = releases.parent().expect("a folder").display().to_string();
        run(Command::new(project.join(".ci/install"))
            .arg("v9.8.7")
            .env("PKGRES_RELEASES", format!("file://{releases}"))
            .env("PKGRES_BIN", folder.path().join("bin"))
            .env("GITHUB_PATH", folder.path().join("path"))
            .env("GITHUB_OUTPUT", folder.path().join("output")))
    };
    let (is_done, text) = install();
    assert!(is_done && text.contains("pkgres "), "{text}");
    let output = std::fs::read_to_string(folder.path().join("output")).expect("it was written");
    assert_eq!(output, "version=9.8.7\n");
    let changed = Command::new("sh")
        .args(["-c", "printf x >> \"$0\""])
        .arg(releases.join(&archive))
        .status();
    assert!(changed.expect("`sh` is there").success());
    let (is_done, text) = install();
    assert!(!is_done, "a changed archive is installed: {text}");
}

/// The hooks and the recipe work at the root of a repository whose packages are in subfolders.
#[test]
fn hooks_work_in_a_repository_with_packages_in_folders() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let fixtures = root().join("fixtures/book");
    assert!(run(Command::new("mkdir").arg(folder.path().join("services"))).0);
    for (name, to) in [
        ("app", "services/app"),
        ("stale", "services/stale"),
        ("index.ndjson", "index.ndjson"),
        ("pkgres.toml", "pkgres.toml"),
    ] {
        let to = folder.path().join(to);
        let copied = Command::new("cp")
            .arg("-R")
            .arg(fixtures.join(name))
            .arg(&to)
            .status();
        assert!(copied.expect("`cp` is there").success());
    }
    let hooks = std::fs::read_to_string(root().join(".pre-commit-hooks.yaml")).expect("hooks");
    let entries: Vec<&str> = hooks
        .lines()
        .filter_map(|line| line.trim().strip_prefix("entry: pkgres "))
        .collect();
    assert_eq!(entries, ["check", "lock --check"]);
    let pkgres = |line: &str| {
        run(Command::new(trycmd::cargo::cargo_bin!("pkgres"))
            .args(line.split(' '))
            .current_dir(folder.path())
            .env("PKGRES_REGISTRY", "")
            .env("PKGRES_CACHE", folder.path().join("cache"))
            .env("NO_COLOR", "1"))
    };
    let (_, text) = pkgres(entries[0]);
    assert!(text.contains("Checked 2 inputs: 0 errors"), "{text}");
    let (is_done, text) = pkgres(entries[1]);
    assert!(!is_done && text.contains("services/stale"), "{text}");
    assert!(
        text.contains("Checked 2 projects, of which 1 failed"),
        "{text}"
    );
    assert!(
        run(Command::new("rm")
            .arg("-r")
            .arg(folder.path().join("services/stale")))
        .0
    );
    let (is_done, text) = pkgres(entries[1]);
    assert!(is_done && text.contains("Checked 1 project"), "{text}");
    // Each project can have settings of its own, in its folder.
    let moved = Command::new("mv")
        .args(["pkgres.toml", "index.ndjson", "services/app"])
        .current_dir(folder.path())
        .status();
    assert!(moved.expect("`mv` is there").success());
    let (is_done, text) = pkgres(entries[1]);
    assert!(is_done && text.contains("Checked 1 project"), "{text}");
}
