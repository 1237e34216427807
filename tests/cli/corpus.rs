//! The binary on real packages.

use std::path::PathBuf;
use std::process::{Command, Output};

use pkgres_tests::shared;

/// Runs `pkgres resolve` on a package of the corpus, with more arguments.
fn resolve(package: &str, more: &[&str]) -> Option<Output> {
    let corpus = shared::path("corpus")?;
    let mut registry = std::ffi::OsString::from("corpus=dir:");
    registry.push(&corpus);
    let output = Command::new(trycmd::cargo::cargo_bin!("pkgres"))
        .arg("resolve")
        .arg(corpus.join(package))
        .args(["--ignore-lock", "--registry"])
        .arg(registry)
        .args(more)
        .env("NO_COLOR", "1")
        .output()
        .expect("the program starts");
    Some(output)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn wordpress_resolves() {
    let Some(output) = resolve("murano-apps/WordPress/package", &[]) else {
        return;
    };
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let tree = text(&output.stdout);
    let mut lines = tree.lines();
    assert_eq!(lines.next(), Some("com.example.WordPress 0.0.0"));
    for package in [
        "io.murano",
        "com.example.databases.MySql",
        "com.example.apache.ApacheHttpServer",
        "com.example.ZabbixAgent",
    ] {
        let line = format!(" {package} 0");
        assert!(tree.contains(&line), "{package} is missing in {tree}");
    }
}

#[test]
fn a_package_that_no_registry_has_is_named() {
    let Some(output) = resolve("murano-apps/PaloAlto/package", &[]) else {
        return;
    };
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stdout));
    assert_eq!(text(&output.stdout), "");
    let stderr = text(&output.stderr);
    assert!(
        stderr.contains("error[PK0011]: no registry has a package `org.openstack.networkingSfc`"),
        "{stderr}"
    );
    assert!(stderr.contains("manifest.yaml:25:3"), "{stderr}");
    assert!(stderr.contains("searched: corpus=dir:"), "{stderr}");
}

#[test]
fn a_file_provides_releases_of_the_host() {
    let record = r#"{"name":"org.openstack.networkingSfc","version":"0.0.0"}"#;
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("provided.ndjson");
    write_fixture(&path, record).expect("there is room for a file");
    let path = path
        .to_str()
        .expect("the target folder has a name in UTF-8");
    let Some(output) = resolve("murano-apps/PaloAlto/package", &["--provide", path]) else {
        return;
    };
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let tree = text(&output.stdout);
    let line = "org.openstack.networkingSfc 0.0.0 (host)";
    assert!(tree.contains(line), "{tree}");
}

/// Writes a fixture; an interrupted write does not matter.
#[allow(clippy::disallowed_methods)]
fn write_fixture(
    path: impl AsRef<std::path::Path>,
    content: impl AsRef<[u8]>,
) -> std::io::Result<()> {
    std::fs::write(path, content)
}
