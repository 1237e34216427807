//! The folder of archives that `pkgres vendor` writes.

use std::path::Path;

use crate::program::{pkgres, write};

fn package(folder: &Path, name: &str, version: &str) {
    let manifest = format!("FullName: {name}\nType: Library\nVersion: {version}\n");
    let path = format!("registry/{name}-{version}/manifest.yaml");
    write(&folder.join(path), &manifest);
}

/// The files in the folder that look like archives.
fn archives(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder.join("archives")).expect("it was written");
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<String> = names.filter_map(|name| name.into_string().ok()).collect();
    names.retain(|name| name.ends_with(".zip"));
    names.sort();
    names
}

#[test]
fn archives_of_a_run_that_failed_are_removed_later() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    let settings = "no-core-library = true\nregistries = [\"dir:registry\"]\n";
    write(&folder.join("pkgres.toml"), settings);
    let manifest = "FullName: app\nType: Application\nVersion: 1.0.0\nRequire:\n  a: '*'\n  b: 1\n";
    write(&folder.join("manifest.yaml"), manifest);
    package(folder, "a", "1.0.0");
    package(folder, "b", "1.0.0");
    // It has such a name, but is not of pkgres.
    write(&folder.join("archives/mine-1.0.0.zip"), "mine");
    let does = |arguments: &[&str]| {
        let output = pkgres(folder, arguments);
        assert!(output.status.success(), "{output:?}");
    };
    does(&["lock"]);
    let (there, away) = (folder.join("registry/b-1.0.0"), folder.join("away"));
    #[allow(clippy::disallowed_methods)]
    std::fs::rename(&there, &away).expect("it is ours");
    let failed = pkgres(folder, &["vendor", "archives"]);
    assert!(!failed.status.success(), "{failed:?}");
    assert_eq!(archives(folder), ["a-1.0.0.zip", "mine-1.0.0.zip"]);

    #[allow(clippy::disallowed_methods)]
    std::fs::rename(&away, &there).expect("it is ours");
    package(folder, "a", "2.0.0");
    does(&["update"]);
    does(&["vendor", "archives"]);
    let expected = ["a-2.0.0.zip", "b-1.0.0.zip", "mine-1.0.0.zip"];
    assert_eq!(archives(folder), expected);
}
