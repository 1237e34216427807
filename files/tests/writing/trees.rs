//! Folders that are written as a whole.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use pkgres_files::{
    Access, FileSystem, NewTreeFile, NewTreeLink, RealFileSystem, prepare_tree, replace_tree,
    write_file, write_tree,
};
use pkgres_manifest::PackagePath;

use super::simulated::{Fault, SimulatedFileSystem};
use super::{NEW, OLD};

pub(super) fn tree() -> Vec<Result<NewTreeFile, pkgres_files::FileError>> {
    ["manifest.yaml", "Classes/A.yaml", "Classes/deep/B.yaml"]
        .map(|path| {
            Ok(NewTreeFile {
                path: PackagePath::parse(path).expect("a valid path"),
                bytes: path.as_bytes().to_vec(),
                access: Access::Data,
            })
        })
        .into_iter()
        .collect()
}

#[test]
fn a_folder_is_written_as_a_whole_or_not_at_all() {
    let folder = Path::new("cache/package");
    let fresh = || SimulatedFileSystem::with_files([("cache/other", OLD)]);
    let undisturbed = fresh();
    write_tree(&undisturbed, folder, tree()).expect("nothing fails");
    let complete = undisturbed.files();
    assert_eq!(complete.len(), 4);
    for step in 0..undisturbed.steps() {
        for fault in [Fault::Fails, Fault::Stops] {
            let system = fresh();
            system.set_fault(step, fault);
            let _ = write_tree(&system, folder, tree());
            let mut states = system.after_crash();
            states.push(system.files());
            for files in states {
                let below: Vec<_> = files
                    .keys()
                    .filter(|path| path.starts_with(folder))
                    .collect();
                let whole = complete
                    .iter()
                    .all(|(path, bytes)| files.get(path) == Some(bytes));
                assert!(
                    below.is_empty() || whole,
                    "step {step}, {fault:?}: {below:?}"
                );
            }
        }
    }
}

fn link() -> NewTreeLink {
    NewTreeLink {
        path: PackagePath::parse("Resources/link").expect("a path"),
        target: "../manifest.yaml".to_owned(),
    }
}

#[test]
#[cfg(unix)]
fn nothing_is_written_through_links() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let target = folder.path().join("package");
    let path = |path: &str| PackagePath::parse(path).expect("a path");
    let link = |from: &str, to: &str| NewTreeLink {
        path: path(from),
        target: to.to_owned(),
    };
    let file = |name: &str| {
        Ok(NewTreeFile {
            path: path(name),
            bytes: NEW.to_vec(),
            access: Access::Data,
        })
    };
    for (files, links) in [
        (vec![file("a/x")], vec![link("a", "b")]),
        (vec![], vec![link("a", "b"), link("a/x", "b")]),
        (vec![file("b/y")], vec![link("a", "b"), link("a/x", "y")]),
    ] {
        let written = replace_tree(&RealFileSystem, &target, files, &links);
        assert!(written.is_err() && !target.exists(), "{links:?}");
    }
    let links = [link("a", "b"), link("b/z", "y")];
    replace_tree(&RealFileSystem, &target, [file("b/y")], &links).expect("they are apart");
    assert_eq!(fs::read(target.join("a/z")).ok().as_deref(), Some(NEW));
}

#[test]
fn a_folder_is_replaced_as_a_whole() {
    let folder = Path::new("cache/package");
    let fresh = || {
        SimulatedFileSystem::with_files([
            ("cache/package/old", OLD),
            ("cache/package/Classes/old", OLD),
        ])
    };
    let before = fresh().files();
    let undisturbed = fresh();
    replace_tree(&undisturbed, folder, tree(), &[link()]).expect("nothing fails");
    let after = undisturbed.files();
    assert_eq!(after.len(), 4);
    for step in 0..undisturbed.steps() {
        for fault in [Fault::Fails, Fault::Stops] {
            let system = fresh();
            system.set_fault(step, fault);
            let _ = replace_tree(&system, folder, tree(), &[link()]);
            let mut states = system.after_crash();
            states.push(system.files());
            for files in states {
                let below: BTreeMap<_, _> = files
                    .into_iter()
                    .filter(|(path, _)| path.starts_with(folder))
                    .collect();
                assert!(
                    below.is_empty() || below == before || below == after,
                    "step {step}, {fault:?}: {below:?}"
                );
            }
        }
    }
}

/// Whenever a process ends, and even if the next one fails, one of both folders is there in the end.
#[test]
fn a_folder_is_put_in_place_after_its_process_was_killed() {
    let folder = Path::new("cache/package");
    let below = |files: BTreeMap<std::path::PathBuf, Vec<u8>>| -> BTreeMap<_, _> {
        let below = files.into_iter();
        below.filter(|(path, _)| path.starts_with(folder)).collect()
    };
    let fresh = || SimulatedFileSystem::with_files([("cache/package/old", OLD)]);
    let before = fresh().files();
    let undisturbed = fresh();
    replace_tree(&undisturbed, folder, tree(), &[]).expect("nothing fails");
    let after = undisturbed.files();
    for step in 0..undisturbed.steps() {
        let system = fresh();
        system.set_fault(step, Fault::Stops);
        let _ = replace_tree(&system, folder, tree(), &[]);
        for state in system.after_crash() {
            let files = state.iter();
            let files =
                files.map(|(path, bytes)| (path.to_str().expect("UTF-8"), bytes.as_slice()));
            let next = SimulatedFileSystem::with_files(files);
            let invalid = write_file(&next, Path::new("cache"), NEW).expect_err("a folder");
            assert!(replace_tree(&next, folder, [Err(invalid)], &[]).is_err());
            let found = below(next.files());
            assert!(found == before || found == after, "step {step}: {found:?}");
            replace_tree(&next, folder, tree(), &[]).expect("nothing fails");
            assert_eq!(next.files(), after, "step {step}: nothing is left behind");
        }
    }
}

/// The same with locks: a folder whose process runs on is left alone.
#[test]
#[cfg(unix)]
fn a_folder_that_is_being_put_in_place_is_left_alone() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let at = |name: &str| folder.path().join(name);
    let (new, old) = (
        at(".pkgres-tree.0123456789abcdef-0.tmp"),
        at(".pkgres-tree.0123456789abcdef-0.old"),
    );
    fs::create_dir(&old).expect("made");
    let held = RealFileSystem.create_temporary_folder(&new).expect("made");
    let prepare = || prepare_tree(&RealFileSystem, &at("tree"), tree(), &[], &[]);
    drop(prepare().expect("it can be written"));
    assert!(new.exists() && old.exists() && !at("tree").exists());
    drop(held);
    drop(prepare().expect("it can be written"));
    assert!(!new.exists() && !old.exists() && at("tree").exists());
}

#[test]
fn a_prepared_folder_changes_nothing_until_it_is_committed() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let target = folder.path().join("tree");
    let names = || {
        let entries = std::fs::read_dir(folder.path()).expect("it can be read");
        entries.count()
    };
    let empty = [PackagePath::parse("empty/inner").expect("a path")];
    let prepare = || prepare_tree(&RealFileSystem, &target, tree(), &[link()], &empty);
    drop(prepare().expect("it can be written"));
    assert_eq!(names(), 0, "it is removed");
    let first = prepare().expect("it can be written");
    let second = prepare().expect("it is not taken for a leftover");
    drop(second);
    assert!(!target.exists());
    first.commit().expect("it can be renamed");
    assert!(target.join("empty/inner").is_dir() && names() == 1);
}
