//! Further commands at the same time, which repair a project, update a workspace, or write folders and files: what ends
//! well is there.
//!
//! `ROUNDS` sets how often each is tried.

use std::path::Path;

use pkgres_tests::writers::{WRITERS, rounds};

use crate::parallel::{assert_clean, at_once, project, run, text};
use crate::program::{pkgres, write};

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

#[test]
fn a_conflict_is_repaired_once() {
    let requires: String = (0..WRITERS)
        .map(|number| format!("  P{number}: 9\n"))
        .collect();
    for _ in 0..rounds() {
        let project = project(&requires);
        let folder = project.path();
        let done = at_once(folder, |_| words("repair --apply 1"));
        // The others find nothing to repair.
        assert_eq!(done.len(), WRITERS);
        let manifest = text(folder, "manifest.yaml");
        for number in 0..WRITERS {
            let repaired = format!("  P{number}: \"^1.1.0\"");
            assert!(manifest.contains(&repaired), "{manifest}");
        }
        assert_clean(folder);
    }
}

#[test]
fn a_repair_keeps_what_is_added_meanwhile() {
    for _ in 0..rounds() {
        let project = project("  P0: 9\n");
        let folder = project.path();
        let done = at_once(folder, |number| match number {
            0 => words("repair --apply 1"),
            // Nothing can be added before the conflict is repaired.
            _ => words(&format!("add P{number}@1")),
        });
        assert!(done.contains(&0), "{done:?}");
        let (manifest, lock) = (text(folder, "manifest.yaml"), text(folder, "pkgres.lock"));
        assert!(manifest.contains("  P0: \"^1.1.0\""), "{manifest}");
        for number in 1..WRITERS {
            let is_done = done.contains(&number);
            let is_required = manifest.contains(&format!("  P{number}: "));
            let is_locked = lock.contains(&format!("name: P{number}\n"));
            assert_eq!(
                (is_required, is_locked),
                (is_done, is_done),
                "{number}, {done:?}: {manifest}"
            );
        }
        assert_clean(folder);
    }
}

/// A workspace that is solved together. Each member requires all packages in the manner of `spec`.
fn write_members(folder: &Path, spec: &str) {
    let settings = text(folder, "pkgres.toml");
    let settings = settings.split("[workspace]").next().expect("a part");
    let names: Vec<String> = (0..WRITERS)
        .map(|number| format!("\"m{number}\""))
        .collect();
    let table = format!(
        "[workspace]\nmembers = [{}]\none-solve = true\n",
        names.join(", ")
    );
    write(&folder.join("pkgres.toml"), &format!("{settings}{table}"));
    let requires: String = (0..WRITERS)
        .map(|number| format!("  P{number}: {spec}\n"))
        .collect();
    for number in 0..WRITERS {
        let manifest =
            format!("Type: Application\nFullName: M{number}\nVersion: 7.0.0\nRequire:\n{requires}");
        write(&folder.join(format!("m{number}/manifest.yaml")), &manifest);
    }
}

#[test]
fn members_that_are_solved_together_are_updated_together() {
    for round in 0..rounds() {
        let project = project("  P0: 1\n");
        let folder = project.path();
        write_members(folder, "1.0");
        run(folder, &["lock", "--workspace"]);
        write_members(folder, "1");
        let done = at_once(folder, |number| match (round % 2, number) {
            (0, _) => words(&format!("update --workspace P{number}")),
            // From the folder of a member, or beside commands that lock all.
            (_, 0 | 1) => words("lock --workspace"),
            _ => words(&format!("-C m{number} update --workspace P{number}")),
        });
        assert_eq!(
            done.len(),
            WRITERS,
            "round {round}: only {done:?} ended well"
        );
        let first = if round % 2 == 0 { 0 } else { 2 };
        for member in 0..WRITERS {
            let lock = text(folder, &format!("m{member}/pkgres.lock"));
            for number in first..WRITERS {
                let updated = format!("- name: P{number}\n  version: 1.1.0\n");
                assert!(lock.contains(&updated), "round {round}: {lock}");
            }
        }
        run(folder, &["lock", "--workspace", "--check"]);
    }
}

#[test]
fn one_of_many_begins_a_package() {
    for round in 0..rounds() {
        let place = tempfile::tempdir().expect("a temporary folder");
        let folder = place.path();
        // The folder is there in every second round.
        if round % 2 == 0 {
            write(&folder.join("new/readme.txt"), "notes\n");
        }
        let done = at_once(folder, |number| {
            words(&format!("init new --name a.N{number}"))
        });
        let [only] = done.as_slice() else {
            panic!("round {round}: {done:?} ended well");
        };
        let manifest = text(folder, "new/manifest.yaml");
        assert!(manifest.contains(&format!("a.N{only}")), "{manifest}");
        run(folder, &["check", "new"]);
    }
}

#[test]
fn archives_indexes_and_folders_are_whole() {
    let place = tempfile::tempdir().expect("a temporary folder");
    let folder = place.path();
    run(folder, &["init", "packages/app", "--name", "a.App"]);
    run(folder, &["pack", "packages/app", "--output", "one.zip"]);
    run(folder, &["index", "packages", "--output", "one.ndjson"]);
    let bytes = |name: &str| std::fs::read(folder.join(name)).expect("it is there");
    for round in 0..rounds() {
        let done = at_once(folder, |_| words("pack packages/app --output all.zip"));
        assert_eq!(done.len(), WRITERS);
        assert_eq!(bytes("all.zip"), bytes("one.zip"));
        let done = at_once(folder, |_| words("index packages --output all.ndjson"));
        assert_eq!(done.len(), WRITERS);
        assert_eq!(bytes("all.ndjson"), bytes("one.ndjson"));
        // A folder that is not empty is left alone.
        let new = format!("new{round}");
        let done = at_once(folder, |_| words(&format!("unpack one.zip {new}")));
        assert_eq!(done.len(), 1, "{done:?}");
        run(folder, &["check", &new]);
        let again = pkgres(folder, &["unpack", "one.zip", &new]);
        assert_eq!(again.status.code(), Some(2), "{again:?}");
        let names = std::fs::read_dir(folder).expect("readable");
        let mut names = names.map(|entry| entry.expect("an entry").file_name());
        let temporary = names.find(|name| name.to_string_lossy().starts_with(".pkgres-"));
        assert_eq!(temporary, None);
    }
}
