//! Writing, with every step failing or being the last one.

// These files are thrown away.
#![allow(clippy::disallowed_methods)]

mod folder_writer;
mod simulated;
mod trees;

use std::fs;
use std::path::Path;

use pkgres_files::{
    Access, FileSystem, Follow, NewContent, RealFileSystem, make_folder, read_file,
    read_file_below, replace_tree, write_cache_pieces, write_file, write_files, write_private_file,
    write_tree,
};

use self::simulated::{Fault, SimulatedFileSystem};
use self::trees::tree;

const OLD: &[u8] = b"the old content";
const NEW: &[u8] = b"the new content, which is longer";

#[test]
fn a_file_is_old_or_new_whatever_step_fails() {
    let path = Path::new("project/pkgres.lock");
    let fresh = || SimulatedFileSystem::with_files([("project/pkgres.lock", OLD)]);
    let undisturbed = fresh();
    write_file(&undisturbed, path, NEW).expect("nothing fails");
    let steps = undisturbed.steps();
    assert!(steps >= 5, "a write has several steps");
    for step in 0..steps {
        for fault in [Fault::Fails, Fault::Stops] {
            let system = fresh();
            system.set_fault(step, fault);
            let result = write_file(&system, path, NEW);
            let mut states = system.after_crash();
            states.push(system.files());
            for files in states {
                let content = files.get(path).expect("the file is there");
                assert!(
                    content == OLD || content == NEW,
                    "step {step}, {fault:?}: {content:?}"
                );
                if result.is_ok() {
                    assert_eq!(content, NEW, "step {step}, {fault:?}: reported as written");
                }
            }
            if fault == Fault::Fails && result.is_err() {
                let left: Vec<_> = system.files().into_keys().collect();
                // Only the removal of the temporary file itself may fail to leave nothing behind.
                assert!(
                    left.len() == 1 || step + 1 >= steps,
                    "step {step}: {left:?}"
                );
            }
        }
    }
}

#[test]
fn files_are_all_old_or_all_new_whatever_step_fails() {
    let paths = ["one/pkgres.lock", "two/pkgres.lock", "two/manifest.yaml"].map(Path::new);
    let fresh = || {
        SimulatedFileSystem::with_files([
            ("one/pkgres.lock", OLD),
            ("two/other", OLD),
            ("two/manifest.yaml", OLD),
        ])
    };
    let files = [Some(OLD), None, Some(OLD)];
    let files: Vec<NewContent<'_>> = paths
        .iter()
        .zip(files)
        .map(|(path, before)| NewContent {
            path,
            before,
            after: NEW,
        })
        .collect();
    check_steps(&fresh, &files);
    // A single file is written in another way.
    check_steps(&fresh, &files[..1]);
    check_steps(&fresh, &files[1..2]);
}

/// Writes files with a fault in each step.
fn check_steps(fresh: &dyn Fn() -> SimulatedFileSystem, files: &[NewContent<'_>]) {
    let paths = || files.iter().map(|file| file.path);
    let old = fresh().files();
    let mut new = old.clone();
    new.extend(paths().map(|path| (path.to_owned(), NEW.to_vec())));

    let undisturbed = fresh();
    write_files(&undisturbed, files).expect("nothing fails");
    assert_eq!(undisturbed.files(), new);
    for step in 0..undisturbed.steps() {
        let system = fresh();
        system.set_fault(step, Fault::Fails);
        let result = write_files(&system, files);
        let expected = if result.is_ok() { &new } else { &old };
        assert_eq!(system.files(), *expected, "step {step}: {result:?}");
        // What was restored stays so after a crash.
        for state in system.after_crash() {
            for path in paths() {
                assert_eq!(
                    state.get(path),
                    expected.get(path),
                    "step {step}, {}",
                    path.display()
                );
            }
        }

        // A crash leaves each file old or new.
        let system = fresh();
        system.set_fault(step, Fault::Stops);
        let _ = write_files(&system, files);
        for state in system.after_crash() {
            for path in paths() {
                let content = state.get(path).map(Vec::as_slice);
                let before = old.get(path).map(Vec::as_slice);
                assert!(
                    content == Some(NEW) || content == before,
                    "step {step}, {}: {content:?}",
                    path.display()
                );
            }
        }
    }
}

/// Bringing a folder to the disk keeps the names in it, and neither those below nor its own.
#[test]
fn a_name_is_lost_unless_its_own_folder_was_synced() {
    let system = SimulatedFileSystem::with_files([("top/other", OLD)]);
    system.create_folder(Path::new("top/inner")).expect("made");
    let path = Path::new("top/inner/file");
    let mut file = system.create_file(path, Access::Data).expect("made");
    file.write(NEW).expect("written");
    file.sync().expect("synced");
    let is_kept = || (system.after_crash().iter()).all(|files| files.contains_key(path));
    system.sync_folder(Path::new("top")).expect("synced");
    assert!(!is_kept(), "the folder that it lies in was not synced");
    system.sync_folder(Path::new("top/inner")).expect("synced");
    assert!(is_kept());
    system
        .rename(Path::new("top/inner"), Path::new("top/moved"))
        .expect("moved");
    system.sync_folder(Path::new("top")).expect("synced");
    let moved = Path::new("top/moved/file");
    assert!(
        (system.after_crash().iter()).all(|files| files.contains_key(moved) && files.len() == 2)
    );
}

#[test]
fn a_new_folder_and_its_parents_survive_a_crash() {
    for (before, folder) in [
        ("other", "a/b/c/d"),
        ("a/other", "a/b/c/d"),
        ("a/b/c/d/other", "a/b/c/d"),
    ] {
        let system = SimulatedFileSystem::with_files([(before, OLD)]);
        let folder = Path::new(folder);
        make_folder(&system, folder).expect("nothing fails");
        let path = folder.join("file");
        write_file(&system, &path, NEW).expect("nothing fails");
        for files in system.after_crash() {
            assert_eq!(files.get(&path).map(Vec::as_slice), Some(NEW), "{before}");
        }
    }
}

#[test]
fn leftovers_are_swept_and_running_writes_left_alone() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let target = folder.path().join("pkgres.lock");
    let temporary = |number| format!(".pkgres-pkgres.lock.0123456789abcdef-{number}.tmp");
    let leftover = folder.path().join(temporary(1));
    let running = folder.path().join(temporary(2));
    std::fs::write(&leftover, "half").expect("written");
    let held = RealFileSystem
        .create_file(&running, Access::Data)
        .expect("created");
    write_file(&RealFileSystem, &target, NEW).expect("written");
    assert!(!leftover.exists(), "the leftover is gone");
    assert!(running.exists(), "another process is writing this file");
    drop(held);
    write_file(&RealFileSystem, &target, OLD).expect("written");
    assert!(!running.exists());
    assert_eq!(std::fs::read(&target).expect("read"), OLD);
}

/// Writes do not take the temporary files of each other for leftovers: neither those of the same file nor those of a file
/// whose name only begins the same.
#[test]
fn files_are_written_at_the_same_time() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let names = ["web", "web.conf", "web.conf.d", "web"];
    #[cfg(target_os = "linux")]
    let root = pkgres_files::RootFolder::open(folder.path()).expect("it exists");
    std::thread::scope(|scope| {
        for name in names {
            let path = folder.path().join(name);
            scope.spawn(move || {
                for _ in 0..100 {
                    write_file(&RealFileSystem, &path, NEW).expect("no obstacle");
                }
            });
            #[cfg(target_os = "linux")]
            let (root, path) = (&root, Path::new("/").join(name));
            #[cfg(target_os = "linux")]
            scope.spawn(move || {
                let attributes = pkgres_files::EntryAttributes::with_mode(0o644);
                for _ in 0..100 {
                    let written = root.write_file(&path, NEW, attributes);
                    written.expect("no obstacle");
                }
            });
        }
    });
    for name in names {
        assert_eq!(
            std::fs::read(folder.path().join(name)).ok().as_deref(),
            Some(NEW)
        );
    }
    let count = std::fs::read_dir(folder.path()).expect("it exists").count();
    assert_eq!(count, 3, "nothing is left behind");
}

#[cfg(unix)]
#[test]
fn a_file_keeps_its_access_rights() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("manifest.yaml");
    let mode = || {
        std::fs::metadata(&path)
            .expect("it is there")
            .permissions()
            .mode()
            & 0o7777
    };
    write_file(&RealFileSystem, &path, OLD).expect("written");
    for wanted in [0o600, 0o664, 0o666, 0o640, 0o755] {
        let permissions = std::fs::Permissions::from_mode(wanted);
        std::fs::set_permissions(&path, permissions).expect("it is ours");
        write_file(&RealFileSystem, &path, NEW).expect("written");
        assert_eq!(mode(), wanted);
    }
    write_private_file(&RealFileSystem, &path, OLD).expect("written");
    assert_eq!(mode(), 0o600);
}

/// The mode of a managed file is not a wish of the user: programs such as sudo want it.
#[test]
fn a_file_that_may_not_be_written_is_replaced_only_with_new_attributes() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("pkgres.lock");
    write_file(&RealFileSystem, &path, OLD).expect("written");
    let mut permissions = std::fs::metadata(&path).expect("there").permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&path, permissions).expect("it is ours");
    // The superuser may write any file.
    let may_write = std::fs::File::options().write(true).open(&path).is_ok();
    let result = write_file(&RealFileSystem, &path, NEW);
    if may_write {
        result.expect("this user may write it");
        assert_eq!(std::fs::read(&path).ok().as_deref(), Some(NEW));
    } else {
        let error = result.expect_err("it is read-only");
        let expected = format!("cannot write {}: it is read-only", path.display());
        assert_eq!(error.to_string(), expected);
        assert_eq!(std::fs::read(&path).ok().as_deref(), Some(OLD));
    }
    let names = std::fs::read_dir(folder.path()).expect("it exists");
    assert_eq!(names.count(), 1, "nothing is left behind");
    #[cfg(target_os = "linux")]
    {
        let root = pkgres_files::RootFolder::open(folder.path()).expect("it exists");
        let attributes = pkgres_files::EntryAttributes::with_mode(0o440);
        root.write_file(Path::new("/pkgres.lock"), NEW, attributes)
            .expect("it gets other attributes");
        assert_eq!(std::fs::read(&path).ok().as_deref(), Some(NEW));
    }
}

#[cfg(unix)]
#[test]
fn a_file_keeps_its_group() {
    use std::os::unix::fs::{MetadataExt as _, chown};
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("manifest.yaml");
    write_file(&RealFileSystem, &path, OLD).expect("written");
    let group = || std::fs::metadata(&path).expect("it is there").gid();
    let another = group() + 1;
    // Only some may give a file to a group that they are not in.
    if chown(&path, None, Some(another)).is_ok() {
        write_file(&RealFileSystem, &path, NEW).expect("written");
        assert_eq!(group(), another);
    }
}

#[cfg(unix)]
#[test]
fn links_folders_and_pipes_are_left_alone() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let outside = folder.path().join("outside");
    std::fs::write(&outside, OLD).expect("written");
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(&outside, &link).expect("linked");
    let error = write_file(&RealFileSystem, &link, NEW).expect_err("a link");
    assert!(
        error.to_string().ends_with("links are not written through"),
        "{error}"
    );
    assert_eq!(std::fs::read(&outside).expect("read"), OLD);
    assert!(write_file(&RealFileSystem, folder.path(), NEW).is_err());
    assert!(read_file(&link, 100, Follow::Nothing).is_err());
    assert_eq!(read_file(&link, 100, Follow::Links).expect("followed"), OLD);
    let error = read_file(&outside, 3, Follow::Links).expect_err("too large");
    assert!(
        error
            .to_string()
            .ends_with("more than the limit of 3 bytes"),
        "{error}"
    );

    let pipe = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo")
        .arg(&pipe)
        .status()
        .expect("mkfifo runs");
    assert!(made.success());
    let error = read_file(&pipe, 100, Follow::Links).expect_err("a pipe");
    assert!(
        error.to_string().ends_with("this is not a plain file"),
        "{error}"
    );
    assert!(read_file(Path::new("/dev/zero"), 100, Follow::Links).is_err());
    assert!(read_file(folder.path(), 100, Follow::Links).is_err());
}

#[cfg(unix)]
#[test]
fn nothing_on_the_way_to_a_file_may_be_a_link() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (package, outside) = (folder.path().join("package"), folder.path().join("outside"));
    std::fs::create_dir_all(package.join("plain/deep")).expect("created");
    std::fs::create_dir(&outside).expect("created");
    std::fs::write(package.join("plain/deep/file"), OLD).expect("written");
    std::fs::write(outside.join("file"), NEW).expect("written");
    std::os::unix::fs::symlink(&outside, package.join("plain/link")).expect("linked");

    let read = |below: &str| read_file_below(&package, Path::new(below), 100);
    assert_eq!(read("plain/deep/file").expect("a plain way"), OLD);
    let error = read("plain/link/file").expect_err("a link on the way");
    assert!(error.to_string().contains("plain/link"), "{error}");
    assert!(read("plain/link").is_err());
    assert!(read("plain/none").expect_err("absent").is_not_found());
    assert!(read("none/file").expect_err("absent").is_not_found());
    assert!(read("../outside/file").is_err());

    // The folder itself is the user's: it may be behind a link.
    let behind = folder.path().join("behind");
    std::os::unix::fs::symlink(&package, &behind).expect("linked");
    let read = read_file_below(&behind, Path::new("plain/deep/file"), 100);
    assert_eq!(read.expect("the folder may be linked"), OLD);
}

#[cfg(target_os = "linux")]
#[test]
fn a_link_that_replaces_a_folder_meanwhile_is_not_followed() {
    use std::sync::atomic::{AtomicBool, Ordering};

    use rustix::fs::{CWD, RenameFlags, renameat_with};

    let folder = tempfile::tempdir().expect("a temporary folder");
    let (package, outside) = (folder.path().join("package"), folder.path().join("outside"));
    let (plain, link) = (package.join("plain"), folder.path().join("link"));
    std::fs::create_dir_all(&plain).expect("created");
    std::fs::create_dir(&outside).expect("created");
    std::fs::write(plain.join("file"), OLD).expect("written");
    std::fs::write(outside.join("file"), NEW).expect("written");
    std::os::unix::fs::symlink(&outside, &link).expect("linked");

    let is_read = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_read.load(Ordering::Relaxed) {
                renameat_with(CWD, &plain, CWD, &link, RenameFlags::EXCHANGE).expect("exchanged");
            }
        });
        let read = || read_file_below(&package, Path::new("plain/file"), 100);
        let is_kept = (0..20_000).all(|_| read().map_or(true, |bytes| bytes == OLD));
        is_read.store(true, Ordering::Relaxed);
        assert!(is_kept, "the file behind the link was read");
    });
}

#[test]
fn an_occupied_folder_is_not_written_to() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let target = folder.path().join("package");
    std::fs::create_dir(&target).expect("created");
    write_tree(&RealFileSystem, &target, tree()).expect("an empty folder is enough");
    assert!(target.join("Classes/deep/B.yaml").is_file());
    let error = write_tree(&RealFileSystem, &target, tree()).expect_err("it is occupied");
    assert!(error.to_string().ends_with("it exists already"), "{error}");
}

#[test]
fn errors_name_the_target_and_not_the_temporary_file() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let target = folder.path().join("nowhere/pkgres.lock");
    for error in [
        write_file(&RealFileSystem, &target, NEW).expect_err("there is no folder"),
        write_tree(&RealFileSystem, &target, tree()).expect_err("there is no folder"),
    ] {
        let text = error.to_string();
        assert!(text.contains("nowhere/pkgres.lock: "), "{text}");
        assert!(!text.contains(".pkgres-"), "{text}");
    }
}

#[test]
fn names_can_be_as_long_as_the_file_system_allows() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for name in ["x".repeat(255), "é".repeat(127)] {
        write_file(&RealFileSystem, &folder.path().join(&name), NEW).expect("written");
        let folder = folder.path().join(format!("t{}", &name[2..]));
        write_tree(&RealFileSystem, &folder, tree()).expect("written");
        replace_tree(&RealFileSystem, &folder, tree(), &[]).expect("written");
    }
    let count = fs::read_dir(folder.path()).expect("it exists").count();
    assert_eq!(count, 4, "nothing is left behind");
}

#[cfg(target_os = "linux")]
#[test]
fn names_that_are_not_utf_8_are_rejected_as_such() {
    use std::os::unix::ffi::OsStrExt as _;

    let path = Path::new(std::ffi::OsStr::from_bytes(b"\xff.zip"));
    let error = write_file(&RealFileSystem, path, NEW).expect_err("no temporary name");
    assert!(
        error.to_string().ends_with("the name is not UTF-8"),
        "{error}"
    );
}

#[test]
fn pieces_of_any_size_become_one_file() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("some/where/file");
    let piece = |length: usize, byte: u8| vec![byte; length];
    for lengths in [
        &[][..],
        &[0],
        &[1, 2, 3],
        &[65_536],
        &[65_537],
        &[65_536, 1],
        &[1, 65_536, 1, 200_000, 0, 5],
        &[40_000, 40_000, 40_000],
    ] {
        let pieces: Vec<Vec<u8>> = (0..)
            .zip(lengths)
            .map(|(byte, length)| piece(*length, byte))
            .collect();
        let written = write_cache_pieces(&RealFileSystem, &path, pieces.iter().map(Vec::as_slice));
        written.expect("it can be written");
        let read = read_file(&path, 1 << 20, Follow::Nothing).expect("it is there");
        assert!(read == pieces.concat(), "{lengths:?}");
    }
}
