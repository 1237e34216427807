//! Many files that are written into one folder.

use std::path::Path;

use pkgres_files::FolderWriter;

use super::simulated::{Fault, SimulatedFileSystem};
use super::{NEW, OLD};

#[test]
fn many_files_are_old_or_new_whatever_step_fails() {
    let folder = Path::new("vendor");
    let names = ["a.zip", "b.zip", "c.zip"];
    let fresh = || SimulatedFileSystem::with_files([("vendor/b.zip", OLD)]);
    let write = |system: &SimulatedFileSystem| {
        let writer = FolderWriter::open(system, folder)?;
        for name in names {
            writer.write(name, NEW)?;
        }
        writer.finish()
    };
    let undisturbed = fresh();
    write(&undisturbed).expect("nothing fails");
    let steps = undisturbed.steps();
    assert!(steps >= 15, "three files have several steps each");
    for step in 0..steps {
        for fault in [Fault::Fails, Fault::Stops] {
            let system = fresh();
            system.set_fault(step, fault);
            let result = write(&system);
            let mut states = system.after_crash();
            states.push(system.files());
            for files in states {
                for name in names {
                    let content = files.get(&folder.join(name)).map(Vec::as_slice);
                    let before = (name == "b.zip").then_some(OLD);
                    assert!(
                        content == Some(NEW) || result.is_err() && content == before,
                        "step {step}, {fault:?}: {name}: {content:?}"
                    );
                }
            }
        }
    }
}

/// The number of steps for a file must not depend on how many there are already.
#[test]
fn many_files_are_written_without_listing_the_folder_for_each() {
    let steps_of = |count: usize| {
        let system = SimulatedFileSystem::default();
        let writer = FolderWriter::open(&system, Path::new("vendor")).expect("it can be made");
        let before = system.steps();
        for number in 0..count {
            let name = format!("{number}.zip");
            writer.write(&name, NEW).expect("it can be written");
        }
        writer.finish().expect("it can be synced");
        system.steps() - before
    };
    let one = steps_of(1);
    assert_eq!(steps_of(100) - one, 99 * (one - 1));
}

#[test]
fn files_of_any_name_that_a_crash_left_behind_are_removed_at_once() {
    let left = [
        "vendor/.pkgres-a.zip.0123456789abcdef-0.tmp",
        "vendor/.pkgres-.pkgres-vendored.fedcba9876543210-17.tmp",
    ];
    let other = [
        "vendor/.pkgres-vendored",
        "vendor/.pkgres-notes.tmp",
        "vendor/a.zip.0123456789abcdef-0.tmp",
        "vendor/.pkgres-a.zip.0123456789abcdef-0.tmp.zip",
    ];
    let system =
        SimulatedFileSystem::with_files(left.into_iter().chain(other).map(|path| (path, OLD)));
    FolderWriter::open(&system, Path::new("vendor")).expect("it can be opened");
    let kept: Vec<_> = system.files().into_keys().collect();
    let mut expected = other.map(std::path::PathBuf::from);
    expected.sort();
    assert_eq!(kept, expected);
}
