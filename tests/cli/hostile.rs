//! Hostile inputs: the binary must reject them with little time, memory and output, and write nothing outside of its
//! target.

use std::process::Command;

/// The core library for the cases.
const CORE: &str = r#"{"name":"io.murano","version":"0.1.0","classes":{"io.murano.Application":{"extends":["io.murano.Object"]},"io.murano.Object":{}}}"#;

/// A script that runs the command for a kind of case. The lockfiles of the corpus have a different format.
const CHOOSE: &str = r#"case "$1" in
zip) exec "$PKGRES" unpack "$2" "$3" ;;
lock) exit 1 ;;
*) exec "$PKGRES" check --provide "$CORE" "$2" ;;
esac
"#;

#[test]
fn the_binary_survives_hostile_inputs() {
    let Some(script) = pkgres_tests::shared::path("security/make_bad_inputs.py") else {
        return;
    };
    if Command::new("python3").arg("--version").output().is_err() {
        pkgres_tests::skip::without_service("python3 is not there");
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (core, choose) = (
        folder.path().join("core.ndjson"),
        folder.path().join("choose.sh"),
    );
    write_fixture(&core, CORE).expect("the folder is ours");
    write_fixture(&choose, CHOOSE).expect("the folder is ours");
    let run = Command::new("python3")
        .arg(&script)
        .arg(folder.path().join("cases"))
        .arg("--run")
        .arg(format!(
            "sh '{}' {{kind}} {{path}} {{dest}}",
            choose.display()
        ))
        .env("PKGRES", trycmd::cargo::cargo_bin!("pkgres"))
        .env("CORE", &core)
        .env("PKGRES_REGISTRY", "")
        .output()
        .expect("python3 is there");
    let report = String::from_utf8_lossy(&run.stdout);
    assert!(
        report.contains(" passed, "),
        "{report}{}",
        String::from_utf8_lossy(&run.stderr)
    );
    let is_deviation = |line: &str| {
        let by_design = pkgres_tests::shared::ACCEPTED.iter().any(|(path, _)| {
            line.starts_with(&format!("{path}:")) && line.ends_with(": got accept")
        });
        by_design || line.starts_with("lock/") && line.ends_with(": got reject")
    };
    let wrong: Vec<&str> = report
        .lines()
        .filter(|line| line.contains(": want ") && !is_deviation(line))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn many_errors_in_a_file_are_capped() {
    use std::fmt::Write as _;

    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("manifest.yaml");
    let mut text = "Type: Library\nFullName: org.example.Lib\nTags:\n".to_owned();
    for _ in 0..2_000 {
        writeln!(text, "- *a").expect("texts can be written");
    }
    write_fixture(&path, text).expect("the folder is ours");
    let run = Command::new(trycmd::cargo::cargo_bin!("pkgres"))
        .arg("check")
        .arg(&path)
        .env("PKGRES_REGISTRY", "")
        .output()
        .expect("the binary runs");
    let stderr = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("\u{2026} and 1900 more"), "{stderr}");
    assert!(stderr.contains("2000 errors"), "{stderr}");
    assert!(stderr.lines().count() < 1_000, "{}", stderr.lines().count());
}

/// Writes a fixture; an interrupted write does not matter.
#[allow(clippy::disallowed_methods)]
fn write_fixture(
    path: impl AsRef<std::path::Path>,
    content: impl AsRef<[u8]>,
) -> std::io::Result<()> {
    std::fs::write(path, content)
}

/// A folder of downloads may have any number of archives that are no packages.
#[test]
fn a_check_names_the_first_bad_files_around_a_package_and_counts_the_others() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let web = folder.path().join("web");
    std::fs::create_dir(&web).expect("the folder is ours");
    let manifest =
        "Type: Library\nFullName: org.example.Web\nVersion: 1.0.0\nRequire: {org.example.Db: 1}\n";
    write_fixture(web.join("manifest.yaml"), manifest).expect("the folder is ours");
    for number in 0..30 {
        let archive = folder.path().join(format!("{number}.zip"));
        write_fixture(&archive, "no archive").expect("the folder is ours");
    }
    let run = Command::new(trycmd::cargo::cargo_bin!("pkgres"))
        .args(["check", "web"])
        .current_dir(folder.path())
        .env("PKGRES_CONFIG", "")
        .output()
        .expect("the program starts");
    let stderr = String::from_utf8_lossy(&run.stderr);
    assert_eq!(stderr.matches("warning[PK0042]").count(), 20, "{stderr}");
    assert!(
        stderr.contains("10 more warnings about the registries omitted"),
        "{stderr}"
    );
    assert!(stderr.contains("30 warnings"), "{stderr}");
}

/// Runs the binary in a folder; fails if it does not end in time.
fn run_in(folder: &std::path::Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new("timeout")
        .arg("120")
        .arg(trycmd::cargo::cargo_bin!("pkgres"))
        .args(arguments)
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .env("PKGRES_CONFIG", "")
        .env("PKGRES_REGISTRY", "")
        .env("PKGRES_CACHE", folder.join("cache"))
        .output()
        .expect("timeout is there");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let exit = output.status.code();
    assert_ne!(exit, Some(124), "{arguments:?} does not end");
    (exit, text(&output.stdout), text(&output.stderr))
}

const ROOT: &str = "Type: Application\nFullName: a.Root\nVersion: 1.0.0\nRequire:\n";

#[test]
fn the_output_about_a_chain_of_packages_grows_with_its_length() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    write_fixture(folder.join("manifest.yaml"), format!("{ROOT}  c.P0: 1\n"))
        .expect("the folder is ours");
    // The last package requires the first one again, or a version of it that there is not.
    let index = |length: usize, last: &str| {
        let line = |at: usize| {
            let next = (at + 1) % length;
            let spec = if next == 0 { last } else { "1" };
            format!(
                "{{\"name\":\"c.P{at}\",\"version\":\"1.0.0\",\"require\":[[\"c.P{next}\",\"{spec}\"]]}}\n"
            )
        };
        let lines: String = (0..length).map(line).collect();
        write_fixture(folder.join("index.ndjson"), lines).expect("the folder is ours");
    };
    let registry = ["--registry", "index:index.ndjson", "--no-core-library"];
    for (last, arguments, exit) in [
        ("1", &["resolve"][..], 0),
        ("1", &["tree", "--invert", "c.P0"], 0),
        ("1", &["why", "c.P99"], 0),
        ("1", &["graph", "--format", "mermaid"], 0),
        ("1", &["resolve", "--format", "json"], 0),
        ("2", &["resolve"], 1),
        ("2", &["explain"], 1),
    ] {
        let printed = |length: usize| {
            index(length, last);
            let (code, stdout, stderr) = run_in(folder, &[arguments, &registry].concat());
            assert_eq!(code, Some(exit), "{arguments:?}: {stderr}");
            stdout.len() + stderr.len()
        };
        let (short, long) = (printed(200), printed(2_000));
        assert!(
            long <= 15 * short.max(1_000),
            "{arguments:?}: {short} bytes for 200 packages, {long} for 2,000"
        );
    }
}

/// Pigeons in too few holes: a proof by resolution is exponentially long.
#[test]
fn a_search_without_end_is_given_up_by_default() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    let (pigeons, holes) = (12, 11);
    let required: String = (0..pigeons)
        .map(|pigeon| format!("  p.P{pigeon}: '*'\n"))
        .collect();
    write_fixture(folder.join("manifest.yaml"), format!("{ROOT}{required}"))
        .expect("the folder is ours");
    let line = |pigeon: usize, hole: usize| {
        let others = (0..pigeons).filter(|other| *other != pigeon);
        let others: Vec<String> = others
            .map(|other| format!("[\"p.P{other}\",\"!={hole}.0.0\"]"))
            .collect();
        format!(
            "{{\"name\":\"p.P{pigeon}\",\"version\":\"{hole}.0.0\",\"require\":[{}]}}\n",
            others.join(",")
        )
    };
    let lines = (0..pigeons).flat_map(|pigeon| (1..=holes).map(move |hole| (pigeon, hole)));
    let lines: String = lines.map(|(pigeon, hole)| line(pigeon, hole)).collect();
    write_fixture(folder.join("index.ndjson"), lines).expect("the folder is ours");
    let (exit, _, stderr) = run_in(
        folder,
        &[
            "resolve",
            "--single-version",
            "--registry",
            "index:index.ndjson",
            "--no-core-library",
        ],
    );
    assert_eq!(exit, Some(5), "{stderr}");
    assert!(stderr.contains("gave up after"), "{stderr}");
}

#[test]
#[cfg(unix)]
fn a_pipe_is_not_waited_for() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    write_fixture(folder.join("manifest.yaml"), format!("{ROOT}  c.P0: 1\n"))
        .expect("the folder is ours");
    let made = Command::new("mkfifo").arg(folder.join("pipe")).status();
    assert!(made.expect("mkfifo is there").success());
    for arguments in [
        &["resolve", "--registry", "index:pipe"][..],
        &["resolve", "--provide", "pipe"],
        &["check", "pipe"],
        &["unpack", "pipe", "new"],
        &["pin", "--check", "pipe"],
        &["resolve", "--config", "pipe"],
    ] {
        let (exit, stdout, stderr) = run_in(folder, arguments);
        assert!(exit.is_some_and(|exit| exit > 0), "{arguments:?}: {stdout}");
        assert!(stderr.contains("pipe"), "{arguments:?}: {stderr}");
    }
}

#[test]
fn findings_about_a_model_are_capped() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    write_fixture(
        folder.join("index.ndjson"),
        "{\"name\":\"a.Db\",\"version\":\"1.0.0\",\"classes\":{\"a.Db\":{}}}\n",
    )
    .expect("the folder is ours");
    let objects: Vec<String> = (0..5_000)
        .map(|at| format!("{{\"?\": {{\"id\": \"i{at}\", \"type\": \"a.Db\"}}}}"))
        .collect();
    let model = format!("{{\"Objects\": [{}]}}", objects.join(", "));
    write_fixture(folder.join("model.json"), model).expect("the folder is ours");
    let (exit, stdout, stderr) = run_in(
        folder,
        &[
            "pin",
            "--check",
            "model.json",
            "--registry",
            "index:index.ndjson",
            "--no-core-library",
        ],
    );
    assert_eq!(exit, Some(1), "{stderr}");
    assert!(
        stderr.contains(" more: only the first 100 findings"),
        "{stderr}"
    );
    let lines = stdout.lines().count() + stderr.lines().count();
    assert!(lines < 1_000, "{lines}");
}
