//! Cases from real life, which are not part of the project: each runs in a copy of its folder, with what has to be in its
//! output and what must not.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use pkgres_tests::shared;

/// A case: its folder and script, texts that the output has, and texts that it has not.
struct Case(
    &'static str,
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
);

const CASES: &[Case] = &[
    Case(
        "color-never-is-not-heeded-by-usage-errors",
        "run.sh",
        &["unexpected argument"],
        &["^[["],
    ),
    Case(
        "diff-of-a-revision-looks-in-the-wrong-folder",
        "run.sh",
        &["No differences"],
        &["2 differences"],
    ),
    Case(
        "locked-mode-ignored-by-fetch",
        "run.sh",
        &["the lockfile is out of date"],
        &["Fetched", "Verified", "Wrote"],
    ),
    Case(
        "lost-updates-in-parallel",
        "run.sh",
        &[
            "org.ex.P2: ",
            "org.ex.P3: ",
            "org.ex.P4: ",
            "org.ex.P5: ",
            "org.ex.P6: ",
        ],
        &["rc=1", "rc=2"],
    ),
    Case(
        "lost-updates-in-parallel",
        "run-update.sh",
        // Each of the four is in the lockfile twice: as a release, and as what the project requires.
        &["rc=0", "\n8\n"],
        &["rc=1", "rc=2"],
    ),
    Case(
        "lost-updates-in-parallel",
        "run-lock.sh",
        &["6 rc=0"],
        &["rc=1", "rc=2", "error"],
    ),
    Case(
        "outdated-calls-a-downgrade-outdated",
        "run.sh",
        &["org.ex.B 1.1.0 was yanked", "packages are up to date"],
        &["[rc=10]"],
    ),
    Case(
        "outdated-promises-what-update-does-not-do",
        "run.sh",
        &["The only package is up to date"],
        &["[rc=10]"],
    ),
    Case(
        "precise-passes-exclude-newer",
        "run.sh",
        &[
            "org.ex.A 1.2.0 was published too late for `exclude-newer`; it is used because it was requested",
        ],
        &[],
    ),
    Case(
        "weak-bumped-member",
        "run.sh",
        &["the workspace now has 0.4.1"],
        &["in the registry `workspace`"],
    ),
    Case(
        "weak-hint-goes-in-a-circle",
        "run.sh",
        &["PKGRES_LOCKED=false pkgres lock app"],
        &["hint: `pkgres lock app`"],
    ),
    Case(
        "weak-index-one-bad-version-hides-the-package",
        "run.sh",
        &["warning[PK0043]", "org.ex.A 1.1.0"],
        &["[rc=3]"],
    ),
    Case(
        "weak-offline-error-has-no-name",
        "run.sh",
        &["org.ex.A 1.1.0"],
        &["the artifact "],
    ),
    Case(
        "weak-update-of-all-names-nothing-held-back",
        "run.sh",
        &["org.ex.C 2.0.0 is held back:\n  org.ex.A 1.0.0 requires org.ex.C <2\n"],
        &[],
    ),
    Case(
        "weak-vendor-keeps-old-archives",
        "run.sh",
        &["removed: org.ex.A-1.0.0.zip", "removed: org.ex.B-1.0.0.zip"],
        &["[rc=1]"],
    ),
];

/// Cases that `packages_and_models_are_read` runs.
const READ: [&str; 8] = [
    "model-object-twice",
    "murano-class-without-name",
    "murano-dash-in-require",
    "murano-empty-namespace",
    "murano-workflow",
    "pack-dot-files",
    "pin-refused-by-check",
    "weak-linked-package-is-skipped-silently",
];

/// The case that `steps_take_time_by_their_number` and `the_default_budget_ends_a_search` run.
const TIMED: &str = "step-budget-is-never-reached";

/// Folders of lists. `shared_lists.rs` has the tests of their items.
pub(crate) const LISTS: [&str; 2] = ["hostile", "registry"];

#[test]
fn every_case_is_run() {
    let Some(cases) = shared::path("cases") else {
        return;
    };
    let scripts = CASES.iter().map(|Case(name, ..)| *name);
    let known: BTreeSet<&str> = scripts.chain(READ).chain([TIMED]).chain(LISTS).collect();
    let entries = std::fs::read_dir(cases).expect("a folder");
    let folders = entries.map(|entry| entry.expect("an entry").path());
    let found: BTreeSet<String> = folders
        .filter(|path| path.is_dir())
        .map(|path| {
            path.file_name()
                .expect("a name")
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    let found: BTreeSet<&str> = found.iter().map(String::as_str).collect();
    assert_eq!(found, known);
}

/// A copy of the folder of a case, which can be changed.
fn copied(cases: &Path, name: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let script = format!(
        "cp -r '{}' '{}' && chmod -R u+w '{1}'",
        cases.join(name).display(),
        folder.path().join("case").display()
    );
    let status = Command::new("sh").arg("-c").arg(script).status();
    assert!(status.expect("sh is there").success());
    folder
}

fn pkgres(folder: &Path, program: &str, arguments: &[&str]) -> (String, bool) {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .env("PKGRES", trycmd::cargo::cargo_bin!("pkgres"))
        .env("PKGRES_CACHE", folder.join("../cache"))
        .env("PKGRES_STATE", folder.join("../state"))
        .output()
        .expect("it starts");
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    (text, output.status.success())
}

#[test]
fn scripts_end_as_expected() {
    let Some(cases) = shared::path("cases") else {
        return;
    };
    for Case(name, script, present, absent) in CASES {
        let folder = copied(&cases, name);
        let (text, _) = pkgres(&folder.path().join("case"), "sh", &[script]);
        for wanted in *present {
            assert!(text.contains(wanted), "{name}: no `{wanted}` in:\n{text}");
        }
        for wrong in *absent {
            assert!(!text.contains(wrong), "{name}: `{wrong}` in:\n{text}");
        }
    }
}

#[test]
fn steps_take_time_by_their_number() {
    let Some(cases) = shared::path("cases") else {
        return;
    };
    let folder = copied(&cases, TIMED);
    let (text, _) = pkgres(&folder.path().join("case"), "sh", &["run.sh"]);
    let user = text.lines().filter_map(|line| {
        let seconds = line.split_once(" user=")?.1.strip_suffix(" s")?;
        seconds.parse::<f64>().ok()
    });
    let user: Vec<f64> = user.collect();
    // Of 10,000, 20,000, 40,000 and 60,000 steps.
    let [first, .., last] = user.as_slice() else {
        panic!("{text}");
    };
    assert_eq!(user.len(), 4, "{text}");
    // Six times the steps: with the square, it would be 36 times the time.
    assert!(*last < 15.0 * first.max(0.2), "{text}");
}

#[test]
fn the_default_budget_ends_a_search() {
    let Some(cases) = shared::path("cases") else {
        return;
    };
    let folder = copied(&cases, TIMED);
    let script = "timeout 120 \"$PKGRES\" resolve app --single-version --no-cache; echo \"rc=$?\"";
    let (text, _) = pkgres(&folder.path().join("case"), "sh", &["-c", script]);
    assert!(text.contains("gave up") && text.contains("rc=5"), "{text}");
}

#[test]
fn packages_and_models_are_read() {
    let Some(cases) = shared::path("cases") else {
        return;
    };
    let binary = trycmd::cargo::cargo_bin!("pkgres");
    let binary = binary.to_str().expect("text");
    let run = |name: &str, arguments: &[&str]| {
        let folder = copied(&cases, name);
        pkgres(&folder.path().join("case"), binary, arguments)
    };
    for name in [
        "murano-class-without-name",
        "murano-empty-namespace",
        "murano-workflow",
    ] {
        let (text, _) = run(name, &["check", "p"]);
        assert!(text.contains("0 errors, 0 warnings"), "{name}: {text}");
    }
    let (text, _) = run("murano-workflow", &["index", "."]);
    assert!(text.contains(r#""uses":["org.ex.lib.Target"]"#), "{text}");
    let dash = [
        "resolve",
        "--provide",
        "host.ndjson",
        "--no-core-library",
        "lib",
    ];
    let (text, ended_well) = run("murano-dash-in-require", &dash);
    assert!(
        ended_well && text.contains("ex-plugin-service-chain 0.0.0 (host)"),
        "{text}"
    );
    let (text, ended_well) = run("pack-dot-files", &["pack", "p", "-o", "p.zip"]);
    assert!(ended_well && text.contains("Packed 4 files"), "{text}");
    for left_out in ["Thumbs.db", "notes~"] {
        let line = format!("not packed: Resources/{left_out}");
        assert!(text.contains(&line), "{text}");
    }
    let registry = ["--registry", "dir:reg", "--no-core-library"];
    let pin = |model| [&["pin", model][..], &registry].concat();
    let (text, ended_well) = run("pin-refused-by-check", &pin("model.json"));
    assert!(
        ended_well && text.contains(r#""version": "0.0.0""#),
        "{text}"
    );
    let (text, ended_well) = run("pin-refused-by-check", &pin("impossible.json"));
    assert!(!ended_well && text.contains("error[PK0063]"), "{text}");
    // The object is one; only its class is unknown here.
    let here = [
        "pin",
        "model.json",
        "--registry",
        "dir:.",
        "--no-core-library",
    ];
    let (text, _) = run("model-object-twice", &here);
    assert!(!text.contains("two objects have the id"), "{text}");
    assert!(text.contains("org.ex.Server"), "{text}");
}

/// A copy of a case has no link, so that the test makes it.
#[test]
#[cfg(unix)]
fn a_linked_package_is_named() {
    let Some(cases) = shared::path("cases") else {
        return;
    };
    let folder = copied(&cases, "weak-linked-package-is-skipped-silently");
    let link = folder.path().join("case/reg/b1");
    #[expect(clippy::disallowed_methods, reason = "a file of a test")]
    std::fs::remove_file(&link).expect("it can be removed");
    std::os::unix::fs::symlink("../elsewhere", &link).expect("a link can be made");
    let (text, _) = pkgres(&folder.path().join("case"), "sh", &["run.sh"]);
    let named = text.lines().filter(|line| line.contains("reg/b1"));
    assert!(named.count() >= 2, "{text}");
}
