//! Files of the user that commands replace: what stays of them, and what must not be replaced.

use std::collections::BTreeMap;
use std::path::Path;

use pkgres_files::{RealFileSystem, make_folder};

use super::program::{pkgres, write};

/// The arguments of commands without other registries than `packages`.
const REGISTRY: [&str; 3] = ["--registry", "dir:packages", "--no-core-library"];

/// Writes a package with a class, a project, a model of the class and settings. The files begin with `mark`.
fn prepare(folder: &Path, mark: &str) {
    let package = folder.join("packages/db");
    make_folder(&RealFileSystem, &package.join("Classes")).expect("a temporary folder");
    let name = "Format: 1.4\nType: Library\nFullName: org.example";
    write(
        &package.join("manifest.yaml"),
        &format!("{name}.Db\nVersion: 1.0.0\nClasses: {{org.example.Db: Db.yaml}}\n"),
    );
    write(&package.join("Classes/Db.yaml"), "Name: org.example.Db\n");
    write(
        &folder.join("manifest.yaml"),
        &format!("{mark}{name}.App\nVersion: 1.0.0\nRequire: {{org.example.Db: '1'}}\n"),
    );
    let model = "?:\n  id: db\n  type: org.example.Db\n  package: org.example.Db\n";
    write(&folder.join("model.yaml"), &format!("{mark}{model}"));
    write(&folder.join("pkgres.toml"), mark);
}

/// The commands that replace a file, and the file.
fn commands() -> [(Vec<&'static str>, &'static str); 3] {
    let with_registry = |words: &[&'static str]| [words, &REGISTRY].concat();
    [
        (
            with_registry(&["pin", "model.yaml", "--in-place"]),
            "model.yaml",
        ),
        (
            vec!["config", "set", "--project", "offline", "true"],
            "pkgres.toml",
        ),
        (with_registry(&["lock"]), "pkgres.lock"),
    ]
}

#[test]
fn a_byte_order_mark_stays() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    prepare(folder, "\u{feff}");
    for (arguments, file) in commands() {
        let before = std::fs::read_to_string(folder.join(file)).ok();
        let output = pkgres(folder, &arguments);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {stderr}");
        let after = std::fs::read_to_string(folder.join(file)).ok();
        assert_ne!(after, before, "{arguments:?}: {stderr}");
        let is_marked = after.is_some_and(|text| text.starts_with('\u{feff}'));
        assert_eq!(is_marked, before.is_some(), "{arguments:?}");
    }
}

#[test]
fn files_that_may_not_be_written_are_left_alone() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    prepare(folder, "");
    write(&folder.join("pkgres.lock"), "lock: 1\n");
    for (arguments, file) in commands() {
        let path = folder.join(file);
        let before = std::fs::read(&path).expect("it is there");
        let mut permissions = std::fs::metadata(&path).expect("it is there").permissions();
        permissions.set_readonly(true);
        std::fs::set_permissions(&path, permissions).expect("it is ours");
        // The superuser may write any file.
        let may_write = std::fs::File::options().write(true).open(&path).is_ok();
        let output = pkgres(folder, &arguments);
        let stderr = String::from_utf8_lossy(&output.stderr);
        if may_write {
            assert_eq!(output.status.code(), Some(0), "{arguments:?}: {stderr}");
            continue;
        }
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
        let expected = format!("{file}: it is read-only\n");
        assert!(stderr.contains(&expected), "{arguments:?}: {stderr}");
        assert_eq!(std::fs::read(&path).expect("it is there"), before, "{file}");
    }
}

/// The content of the files below a folder that a command may write, without those of the cache.
fn files(folder: &Path) -> BTreeMap<String, String> {
    ["one", "two"]
        .into_iter()
        .flat_map(|member| std::fs::read_dir(folder.join(member)).expect("it is there"))
        .map(|entry| {
            let path = entry.expect("it is there").path();
            let text = std::fs::read_to_string(&path).expect("they are texts");
            (path.to_string_lossy().into_owned(), text)
        })
        .collect()
}

/// The lockfile of the second member is larger than the files that the process may write. Members that agree on versions keep
/// their files; the others do not depend on each other.
#[cfg(unix)]
#[test]
fn a_write_that_fails_leaves_the_files_of_members_that_agree() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    let names: Vec<String> = (0..40)
        .map(|number| format!("org.example.P{number}"))
        .collect();
    let release = |name: &String, version: &str| {
        format!("{{\"name\":\"{name}\",\"version\":\"{version}\",\"classes\":{{}}}}\n")
    };
    let index = |version: &str| -> String {
        let releases = names.iter().map(|name| release(name, version));
        releases.collect()
    };
    let manifest = |name: &str, required: &[String]| {
        let required = required.iter().map(|name| format!("  {name}: '1'\n"));
        let required: String = required.collect();
        format!("Type: Library\nFullName: org.example.{name}\nVersion: 1.0.0\nRequire:\n{required}")
    };
    write(
        &folder.join("one/manifest.yaml"),
        &manifest("One", &names[..2]),
    );
    write(&folder.join("two/manifest.yaml"), &manifest("Two", &names));
    let settings = |one_solve: bool| {
        let text = "no-core-library = true\nregistries = [\"index:index\"]\n[workspace]\n\
                    members = [\"one\", \"two\"]\n";
        write(
            &folder.join("pkgres.toml"),
            &format!("{text}one-solve = {one_solve}\n"),
        );
    };
    for (one_solve, arguments) in [
        (false, "lock --workspace --ignore-lock"),
        (true, "lock --workspace --ignore-lock"),
        (false, "update --workspace"),
        (true, "update --workspace"),
        (true, "add org.example.P0@1.1 -p one"),
    ] {
        settings(one_solve);
        write(&folder.join("index"), &index("1.0.0"));
        let all = pkgres(folder, &["lock", "--workspace", "--ignore-lock"]);
        assert!(all.status.success(), "{arguments}: {all:?}");
        let before = files(folder);
        write(&folder.join("index"), &(index("1.0.0") + &index("1.1.0")));

        let program = trycmd::cargo::cargo_bin!("pkgres");
        let limited = format!(
            "trap '' XFSZ; ulimit -f 4; exec {} {arguments}",
            program.display()
        );
        let output = std::process::Command::new("sh")
            .args(["-c", &limited])
            .current_dir(folder)
            .env("PKGRES_CACHE", folder.join("cache"))
            .output()
            .expect("the shell starts");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments}: {stderr}");
        assert!(stderr.contains("cannot write"), "{arguments}: {stderr}");
        assert!(stderr.contains("two/pkgres.lock"), "{arguments}: {stderr}");
        let after = files(folder);
        if one_solve {
            assert_eq!(after, before, "{arguments}: {stderr}");
        } else {
            let changed = after
                .iter()
                .filter(|(path, text)| before.get(*path) != Some(*text));
            let changed: Vec<&String> = changed.map(|(path, _)| path).collect();
            assert!(
                matches!(changed[..], [path] if path.ends_with("one/pkgres.lock")),
                "{arguments}: {changed:?}"
            );
        }

        let output = pkgres(folder, &arguments.split(' ').collect::<Vec<_>>());
        assert!(output.status.success(), "{arguments}: {output:?}");
        let after = files(folder);
        let changed = after
            .iter()
            .filter(|(path, text)| before.get(*path) != Some(*text));
        assert!(changed.count() >= 2, "{arguments}: {after:?}");
        write(
            &folder.join("one/manifest.yaml"),
            &manifest("One", &names[..2]),
        );
    }
}
