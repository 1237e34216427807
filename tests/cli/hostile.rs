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
