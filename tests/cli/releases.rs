//! A release from its workflow to the machine of a user: the workflow makes it, the action installs it, and the recipe of
//! the book runs it. Where a script would need GitHub or a network, a program of the test stands in.

use std::path::Path;
use std::process::Command;

use crate::program::write;
use crate::steps::{Done, Machine, read, read_yaml, recipe, root, run};

const TARGET: &str = "x86_64-unknown-linux-musl";

/// A stand-in for `cargo`: it has built the program already, and has the other tools.
const CARGO: &str = r#"#!/usr/bin/env bash
echo "cargo $*" >>"$CALLS"
case "$1" in
    build) install -D -m 755 "$BUILT" "target/$TARGET/release/pkgres" ;;
    install) "${3%@*}" "$(basename "${3%@*}" | cut -d - -f 2)" --version | grep -qF "${3#*@}" ;;
    *) CARGO_NET_OFFLINE=true exec "$REAL_CARGO" "$@" ;;
esac
"#;

/// A stand-in for programs that would change the machine.
const RECORDED: &str = "#!/bin/sh\necho \"$(basename \"$0\") $*\" >>\"$CALLS\"\n";

fn succeeded(done: &[Done]) {
    let failed = done.iter().find(|done| !done.is_success);
    if let Some(Done { script, text, .. }) = failed {
        panic!("{script}\n{text}");
    }
}

fn copied(from: &Path, to: &Path) {
    let (is_done, text) = run(Command::new("cp").arg("-R").arg(from).arg(to));
    assert!(is_done, "{text}");
}

fn program(path: &Path, text: &str) {
    write(path, text);
    let (is_done, text) = run(Command::new("chmod").arg("+x").arg(path));
    assert!(is_done, "{text}");
}

/// A copy of the repository, without what is built.
fn project(folder: &Path) {
    let script = r#"mkdir "$1" && tar -C "$0" --exclude ./target --exclude ./.git -cf - . | tar -C "$1" -xf -"#;
    let mut command = Command::new("bash");
    let (is_done, text) = run(command.args(["-c", script]).arg(root()).arg(folder));
    assert!(is_done, "{text}");
}

/// Runs the scripts of the release workflow in a copy of the repository, and returns the commands that stand-ins got.
fn release(folder: &Path, project: &Path) -> String {
    let files = folder.join("release");
    let programs = folder.join("programs");
    for folder in [&files, &programs] {
        assert!(run(Command::new("mkdir").arg(folder)).0);
    }
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| env!("CARGO").to_owned());
    program(&programs.join("cargo"), CARGO);
    for name in ["sudo", "rustup", "gh"] {
        program(&programs.join(name), RECORDED);
    }
    // Without debug information, as in a release.
    let built = folder.join("pkgres");
    let (is_done, text) = run(Command::new("strip")
        .arg("-o")
        .arg(&built)
        .arg(trycmd::cargo::cargo_bin!("pkgres")));
    assert!(is_done, "{text}");
    let workflow = read_yaml(".github/workflows/release.yml");
    let mut machine = Machine::new(project, &files);
    let calls = folder.join("calls");
    machine.express("github.token", "a token");
    machine.express("matrix.target", TARGET);
    for (name, value) in [
        ("TARGET", TARGET),
        ("GITHUB_REF_NAME", "v9.8.7"),
        ("GITHUB_REPOSITORY", "pkgres/pkgres"),
        ("REAL_CARGO", &cargo),
        ("BUILT", built.to_str().expect("a path that is text")),
        ("CALLS", calls.to_str().expect("a path that is text")),
    ] {
        machine.set(name, value);
    }
    let path = std::env::var("PATH").expect("a PATH");
    machine.set("PATH", &format!("{}:{path}", programs.display()));
    for job in ["build", "publish"] {
        succeeded(&machine.run(&workflow["jobs"][job]["steps"]));
    }
    std::fs::read_to_string(calls).expect("stand-ins were called")
}

/// Whether programs that come with an ecosystem are there. `.ci/run` has them.
fn has_programs() -> bool {
    let is_known = cfg!(all(target_os = "linux", target_arch = "x86_64"));
    is_known
        && ["curl", "strip", "dpkg-deb"]
            .iter()
            .all(|name| Command::new(name).arg("--version").output().is_ok())
        && pkgres_tests::services::program("cargo-cyclonedx").is_some()
}

/// What the release workflow makes is complete, the action installs it, the recipe of the book runs in a repository whose
/// packages are in folders, and an archive that was changed is not installed.
#[test]
fn a_release_is_made_installed_and_used() {
    if !has_programs() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    let project_folder = folder.join("project");
    project(&project_folder);
    let calls = release(folder, &project_folder);
    let archive = format!("pkgres-9.8.7-{TARGET}.tar.gz");
    let bill = format!("pkgres-9.8.7-{TARGET}.cdx.json");
    let package = "pkgres_9.8.7_amd64.deb";
    let dist = project_folder.join("dist");
    for call in [
        "sudo apt-get update",
        "sudo apt-get install -y -qq musl-tools",
        &format!("rustup target add {TARGET}"),
        &format!("cargo build --release --locked --package pkgres --target {TARGET}"),
        "gh release create v9.8.7 --repo pkgres/pkgres --verify-tag --generate-notes dist/",
    ] {
        assert!(calls.contains(call), "{call} is not in {calls}");
    }
    for name in [&*archive, &bill, package] {
        assert!(calls.contains(&format!(" dist/{name}")), "{calls}");
    }
    let sums = [format!("{archive}.sha256"), format!("{package}.sha256")];
    let (is_done, text) = run(Command::new("sha256sum")
        .arg("--check")
        .args(&sums)
        .current_dir(&dist));
    assert!(is_done, "{text}");
    is_a_bill_of_materials(&dist.join(bill));
    is_a_debian_package(&dist.join(package), &folder.join("debian"));

    let releases = folder.join("releases");
    let (is_done, text) = run(Command::new("mkdir").arg("-p").arg(&releases));
    assert!(is_done, "{text}");
    copied(&dist, &releases.join("v9.8.7"));
    let machine = user(folder, &project_folder, &releases);
    let repository = &machine.folder;
    let workflow: serde_json::Value =
        serde_saphyr::from_str(&recipe("docs/automation.md", "name: packages"))
            .expect("the recipe is YAML");
    let steps = &workflow["jobs"]["check"]["steps"];

    // A requirement and the lockfile are changed.
    let manifest = repository.join("services/app/manifest.yaml");
    let text = std::fs::read_to_string(&manifest).expect("a manifest");
    let changed = text.replace("org.example.Web: \"1.0\"", "org.example.Web: \"1.1\"");
    assert_ne!(text, changed);
    write(&manifest, &changed);
    let done = machine.run(steps);
    assert_eq!(
        machine.written("GITHUB_OUTPUT"),
        "version=9.8.7\n",
        "{}",
        done[0].text
    );
    // The lockfile is out of date, and the summary is written all the same.
    let failed: Vec<&str> = done
        .iter()
        .filter(|done| !done.is_success)
        .map(|done| done.script.as_str())
        .collect();
    assert_eq!(failed, ["pkgres lock --check --format github"]);
    let expected = "::error file=services/app/manifest.yaml,line=6,";
    assert!(done.iter().any(|done| done.text.contains(expected)));
    assert_eq!(
        machine.written("GITHUB_STEP_SUMMARY"),
        "No locked version changes.\n"
    );

    let lock = "\"$PKGRES_BIN/pkgres\" lock services/app";
    let locked = serde_json::json!([{ "run": lock }]);
    succeeded(&machine.run(&locked));
    succeeded(&machine.run(steps));
    let summary = machine.written("GITHUB_STEP_SUMMARY");
    assert!(
        summary.contains("| `org.example.Web` | 1.0.0 | 1.1.0 |"),
        "{summary}"
    );

    let (is_done, _) = run(Command::new("sh")
        .args(["-c", "printf x >> \"$0\""])
        .arg(releases.join("v9.8.7").join(archive)));
    assert!(is_done);
    let done = machine.run(steps);
    assert!(
        !done[0].is_success,
        "a changed archive is installed: {}",
        done[0].text
    );
}

/// The machine of a user: a repository with a package in a folder, and the action of a release.
fn user(folder: &Path, project: &Path, releases: &Path) -> Machine {
    let files = folder.join("user");
    let repository = folder.join("repository");
    let fixtures = root().join("fixtures/book");
    for folder in [&files, &repository.join("services")] {
        let (is_done, text) = run(Command::new("mkdir").arg("-p").arg(folder));
        assert!(is_done, "{text}");
    }
    copied(&fixtures.join("app"), &repository.join("services/app"));
    for name in ["index.ndjson", "pkgres.toml"] {
        copied(&fixtures.join(name), &repository);
    }
    let mut machine = Machine::new(&repository, &files);
    machine.express("inputs.version", "");
    machine.express("github.action_path", project.to_str().expect("text"));
    machine.express("github.token", "a token");
    for (name, value) in [
        ("GITHUB_BASE_REF", "main"),
        ("PKGRES_RELEASES", &format!("file://{}", releases.display())),
        ("PKGRES_BIN", &folder.join("bin").display().to_string()),
        ("PKGRES_CACHE", &folder.join("cache").display().to_string()),
        ("PKGRES_REGISTRY", ""),
        ("NO_COLOR", "1"),
        ("HOME", &folder.display().to_string()),
    ] {
        machine.set(name, value);
    }
    // The version of the action is that of its sources.
    let cargo = project.join("Cargo.toml");
    let text = read("Cargo.toml").replacen("version = \"0.1.0\"", "version = \"9.8.7\"", 1);
    write(&cargo, &text);
    let script = "git init --quiet --initial-branch main && git add --all \
        && git -c user.name=Test -c user.email=test@example.org commit --quiet --message First \
        && git update-ref refs/remotes/origin/main HEAD";
    succeeded(&machine.run(&serde_json::json!([{ "run": script }])));
    machine
}

/// The bill of materials names the program, and the crates that it consists of.
fn is_a_bill_of_materials(path: &Path) {
    let text = std::fs::read_to_string(path).expect("a bill of materials");
    let bill: serde_json::Value = serde_json::from_str(&text).expect("the bill is JSON");
    assert_eq!(bill["bomFormat"], "CycloneDX");
    assert_eq!(bill["metadata"]["component"]["name"], "pkgres");
    let names: Vec<&str> = bill["components"]
        .as_array()
        .expect("components")
        .iter()
        .filter_map(|component| component["name"].as_str())
        .collect();
    for name in ["pkgres-resolver", "clap", "rustls"] {
        assert!(names.contains(&name), "{name} is not in {names:?}");
    }
    // What only tests use is not part of the program.
    assert!(!names.contains(&"trycmd"), "{names:?}");
}

/// The Debian package says what it is, and has the program with its documents.
fn is_a_debian_package(path: &Path, folder: &Path) {
    let (is_done, control) = run(Command::new("dpkg-deb").arg("--field").arg(path));
    assert!(is_done, "{control}");
    for line in [
        "Package: pkgres\n",
        "Version: 9.8.7\n",
        "Architecture: amd64\n",
    ] {
        assert!(control.contains(line), "{control}");
    }
    let (is_done, text) = run(Command::new("dpkg-deb")
        .arg("--extract")
        .arg(path)
        .arg(folder));
    assert!(is_done, "{text}");
    let (is_done, text) = run(Command::new(folder.join("usr/bin/pkgres")).arg("--version"));
    assert!(is_done && text.starts_with("pkgres "), "{text}");
    for name in [
        "doc/pkgres/copyright",
        "man/man1/pkgres.1.gz",
        "bash-completion/completions/pkgres",
    ] {
        assert!(folder.join("usr/share").join(name).is_file(), "{name}");
    }
}
