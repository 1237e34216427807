//! Files, folders and links of targets.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};

use pkgres_engine::{EntryAttributes, EntryKind, TargetError};

use crate::{Subject, with_files};

/// Names that a shell or `printf` could take for something else.
fn strange_names() -> Vec<OsString> {
    let texts: [&[u8]; 13] = [
        b"plain.txt",
        b" two  blanks ",
        b"line\nbreak\n",
        b"-n",
        b"--",
        b"it's \"quoted\"",
        b"$(touch executed)`touch executed`;touch executed&",
        b"*",
        b"?[a-z]",
        b"back\\0101slash\\c\\",
        b"%s%b",
        "ü\u{301}".as_bytes(),
        b"\x01\x7f",
    ];
    texts.map(|text| OsString::from_vec(text.to_vec())).into()
}

fn is_not_found(error: &TargetError) -> bool {
    matches!(error, TargetError::File(error) if error.is_not_found())
}

fn write(subject: &Subject, path: &Path, content: &[u8]) {
    let written = subject
        .target
        .write_file(path, content, EntryAttributes::with_mode(0o640));
    written.unwrap_or_else(|error| panic!("{}: {error}", subject.kind));
}

#[test]
fn contents_and_names_are_kept_byte_by_byte() {
    let all: Vec<u8> = (0..=255).collect();
    let large = all.repeat(1000);
    for subject in with_files() {
        let mut expected = strange_names();
        for (number, name) in expected.iter().enumerate() {
            let content: &[u8] = match number % 4 {
                0 => b"",
                1 => b"\n\n",
                2 => &all,
                _ => &large,
            };
            let path = subject.path(name);
            write(&subject, &path, content);
            let outside = subject.outside(name);
            assert_eq!(
                fs::read(&outside).expect("it was written"),
                content,
                "{path:?}"
            );
            let read = subject.target.read(&path, 1 << 20).expect("it can be read");
            assert_eq!(read, content, "{}: {path:?}", subject.kind);
            let entry = subject.target.entry(&path).expect("it can be read");
            let entry = entry.expect("it is there");
            let found = fs::metadata(&outside).expect("it was written");
            assert_eq!(entry.kind, EntryKind::File);
            assert_eq!((entry.mode, entry.size), (0o640, content.len() as u64));
            assert_eq!((entry.user, entry.group), (found.uid(), found.gid()));
            assert_eq!(entry.link_target, None);
        }
        let names = subject
            .target
            .names(&subject.path(""))
            .expect("it is a folder");
        expected.sort();
        // A root folder may be anything, but nothing else is in it.
        assert_eq!(names, expected, "{}", subject.kind);
        for name in &expected {
            subject
                .target
                .remove(&subject.path(name))
                .expect("it is there");
            subject
                .target
                .remove(&subject.path(name))
                .expect("nothing is there");
        }
        let left = fs::read_dir(subject.outside("")).expect("it is a folder");
        assert_eq!(left.count(), 0, "{}", subject.kind);
    }
}

#[test]
fn links_are_not_followed_at_the_end() {
    for subject in with_files() {
        let target = &subject.target;
        write(&subject, &subject.path("kept"), b"kept");
        symlink("kept", subject.outside("link")).expect("the folder exists");
        let link = subject.path("link");
        let attributes = EntryAttributes::with_mode(0o777);
        let error = target
            .write_file(&link, b"through", attributes)
            .expect_err("it is a link");
        assert!(
            error.to_string().ends_with("links are not written through"),
            "{error}"
        );
        target
            .set_attributes(&link, attributes)
            .expect_err("it is a link");
        assert_eq!(
            fs::read(subject.outside("kept")).expect("it is there"),
            b"kept"
        );
        assert_eq!(
            fs::metadata(subject.outside("kept"))
                .expect("it is there")
                .mode()
                & 0o7777,
            0o640
        );

        let entry = target
            .entry(&link)
            .expect("it can be read")
            .expect("it is there");
        assert_eq!(entry.kind, EntryKind::Link);
        assert_eq!(entry.link_target, Some(PathBuf::from("kept")));
        // Reading follows it.
        assert_eq!(target.read(&link, 10).expect("it leads to a file"), b"kept");

        // A link takes the place of another, and of a file, but not of a folder, and it does not move into one.
        let odd = Path::new(OsStr::from_bytes(b"- odd\n$(id)'\n"));
        target.make_link(&link, odd).expect("nothing prevents it");
        assert_eq!(
            fs::read_link(subject.outside("link")).expect("it is a link"),
            odd
        );
        fs::create_dir(subject.outside("folder")).expect("the folder exists");
        target
            .make_link(&subject.path("folder"), odd)
            .expect_err("there is a folder");
        let inside = fs::read_dir(subject.outside("folder")).expect("it is a folder");
        assert_eq!(inside.count(), 0, "{}", subject.kind);
        symlink("folder", subject.outside("to_folder")).expect("the folder exists");
        target
            .make_link(&subject.path("to_folder"), odd)
            .expect("a link is replaced");
        assert_eq!(
            fs::read_link(subject.outside("to_folder")).expect("it is a link"),
            odd
        );

        // A tree is removed without what its links lead to.
        symlink("../kept", subject.outside("folder/out")).expect("the folder exists");
        target
            .remove(&subject.path("folder"))
            .expect("nothing prevents it");
        assert!(!subject.outside("folder").exists());
        assert!(subject.outside("kept").exists());
        target.remove(&link).expect("nothing prevents it");
        assert!(subject.outside("kept").exists());
    }
}

#[test]
fn files_are_replaced_at_once_and_leftovers_removed() {
    for subject in with_files() {
        let path = subject.path("file");
        let temporary = |name: &str| format!(".pkgres-{name}.0123456789abcdef-0.tmp");
        fs::write(subject.outside(temporary("file")), "left").expect("the folder exists");
        // What another file is written to, at the same time.
        let others = ["file.conf", "file2"].map(temporary);
        for other in &others {
            fs::write(subject.outside(other), "other").expect("the folder exists");
        }
        fs::write(subject.outside("file"), "old").expect("the folder exists");
        fs::hard_link(subject.outside("file"), subject.outside("same")).expect("it is there");
        write(&subject, &path, b"new");
        // Whoever has the old file open still reads it.
        assert_eq!(
            fs::read(subject.outside("same")).expect("it is there"),
            b"old"
        );
        let names = subject
            .target
            .names(&subject.path(""))
            .expect("it is a folder");
        assert_eq!(
            names,
            [others[0].as_str(), others[1].as_str(), "file", "same"],
            "{}",
            subject.kind
        );
    }
}

/// An access control list: its owner may write, the user 33 may read, the group and others nothing; the mask is `r--`.
fn access_control_list() -> Vec<u8> {
    let entries = [
        (0x01_u16, 6_u16, u32::MAX),
        (0x02, 4, 33),
        (0x04, 0, u32::MAX),
        (0x10, 4, u32::MAX),
        (0x20, 0, u32::MAX),
    ];
    let mut bytes = 2_u32.to_le_bytes().to_vec();
    for (tag, permissions, id) in entries {
        bytes.extend(tag.to_le_bytes());
        bytes.extend(permissions.to_le_bytes());
        bytes.extend(id.to_le_bytes());
    }
    bytes
}

#[test]
fn a_file_that_is_replaced_keeps_its_extended_attributes() {
    use rustix::fs::{XattrFlags, getxattr, setxattr};

    const LIST: &str = "system.posix_acl_access";
    for subject in with_files() {
        let (path, outside) = (subject.path("file"), subject.outside("file"));
        write(&subject, &path, b"before");
        let list = access_control_list();
        let attributes = [(LIST, list.as_slice()), ("user.origin", b"here")];
        let set = attributes
            .iter()
            .map(|(name, value)| setxattr(&outside, *name, value, XattrFlags::empty()));
        // Not every file system has them.
        if set.collect::<Result<Vec<_>, _>>().is_err() {
            continue;
        }
        write(&subject, &path, b"after");
        assert_eq!(fs::read(&outside).expect("it is there"), b"after");
        for (name, value) in attributes {
            let mut found = [0; 100];
            let length = getxattr(&outside, name, &mut found).unwrap_or_default();
            assert_eq!(&found[..length], value, "{name} of {}", subject.kind);
        }
        // A new file has none, also if its folder says that new files have a list.
        let default = setxattr(
            outside.parent().expect("it has one"),
            "system.posix_acl_default",
            &list,
            XattrFlags::empty(),
        );
        default.expect("it has lists");
        setxattr(&outside, LIST, &list, XattrFlags::empty()).expect("it has lists");
        rustix::fs::removexattr(&outside, LIST).expect("it has one");
        write(&subject, &path, b"again");
        let mut found = [0; 100];
        let length = getxattr(&outside, LIST, &mut found).unwrap_or_default();
        if subject.kind != "ssh" {
            assert_eq!(length, 0, "{}", subject.kind);
        }
    }
}

#[test]
fn attributes_are_changed_as_a_whole() {
    let is_root = fs::metadata("/proc/self").expect("it is there").uid() == 0;
    for subject in with_files() {
        let target = &subject.target;
        let folder = subject.path("folder");
        target
            .make_folder(&folder, EntryAttributes::with_mode(0o2755))
            .expect("its parent is there");
        let mode = |name: &str| {
            let path = subject.path(name);
            target
                .entry(&path)
                .expect("it can be read")
                .expect("it is there")
                .mode
        };
        assert_eq!(mode("folder"), 0o2755);
        target
            .set_attributes(&folder, EntryAttributes::with_mode(0o750))
            .expect("it is there");
        assert_eq!(mode("folder"), 0o750, "{}", subject.kind);
        target
            .make_folder(&folder, EntryAttributes::with_mode(0o750))
            .expect_err("it is there");
        if !is_root {
            continue;
        }
        let owned = EntryAttributes {
            mode: 0o4711,
            user: Some(12345),
            group: Some(54321),
        };
        target
            .write_file(&subject.path("file"), b"", owned)
            .expect("nothing prevents it");
        let found = |name: &str| {
            let found = fs::metadata(subject.outside(name)).expect("it is there");
            (found.uid(), found.gid(), found.mode() & 0o7777)
        };
        assert_eq!(found("file"), (12345, 54321, 0o4711));
        let user = EntryAttributes {
            mode: 0o600,
            user: Some(7),
            group: None,
        };
        target
            .set_attributes(&subject.path("file"), user)
            .expect("it is there");
        assert_eq!(found("file"), (7, 54321, 0o600));
        let group = EntryAttributes {
            mode: 0o2700,
            user: None,
            group: Some(8),
        };
        target.set_attributes(&folder, group).expect("it is there");
        assert_eq!(found("folder"), (0, 8, 0o2700));
    }
}

#[test]
fn files_are_renamed_at_once() {
    for subject in with_files() {
        let target = &subject.target;
        let path = |name: &str| subject.path(name);
        write(&subject, &path("a"), b"a");
        write(&subject, &path("b"), b"b");
        target
            .rename(&path("a"), &path("b"))
            .expect("a file is replaced");
        assert_eq!(fs::read(subject.outside("b")).expect("it is there"), b"a");
        for name in ["empty", "full", "full/inner"] {
            fs::create_dir(subject.outside(name)).expect("the folder exists");
        }
        target
            .rename(&path("b"), &path("empty"))
            .expect_err("there is a folder");
        target
            .rename(&path("empty"), &path("full"))
            .expect_err("it is not empty");
        assert!(!subject.outside("full/empty").exists());
        target
            .rename(&path("full"), &path("empty"))
            .expect("it is empty");
        assert!(subject.outside("empty/inner").exists());
        let error = target
            .rename(&path("none"), &path("c"))
            .expect_err("it is missing");
        assert!(is_not_found(&error), "{}: {error}", subject.kind);
    }
}

#[test]
fn errors_say_what_is_wrong() {
    for subject in with_files() {
        let target = &subject.target;
        let path = |name: &str| subject.path(name);
        write(&subject, &path("file"), b"12345");
        fs::create_dir(subject.outside("folder")).expect("the folder exists");
        for name in ["none", "file/inner", "none/inner"] {
            assert_eq!(target.entry(&path(name)).expect("nothing is there"), None);
        }
        let attributes = EntryAttributes::with_mode(0o644);
        for error in [
            target.read(&path("none"), 10).map(|_| ()),
            target.names(&path("none")).map(|_| ()),
            target.write_file(&path("none/file"), b"1", attributes),
            target.make_folder(&path("none/folder"), attributes),
            target.make_link(&path("none/link"), Path::new("x")),
            target.set_attributes(&path("none"), attributes),
        ] {
            let error = error.expect_err("it is missing");
            assert!(is_not_found(&error), "{}: {error}", subject.kind);
        }
        let error = target.make_folder(&path("file/inner"), attributes);
        let error = error.expect_err("it is no folder");
        assert!(
            error.to_string().contains("Not a directory"),
            "{}: {error}",
            subject.kind
        );
        let error = target
            .read(&path("folder"), 10)
            .expect_err("it is a folder");
        assert!(
            error.to_string().ends_with("this is not a plain file"),
            "{error}"
        );
        let error = target.read(&path("file"), 4).expect_err("it has 5 bytes");
        assert!(
            error
                .to_string()
                .ends_with("more than the limit of 4 bytes"),
            "{error}"
        );
        assert_eq!(
            target.read(&path("file"), 5).expect("it has 5 bytes"),
            b"12345"
        );
        let large = b"remove\n/\n".repeat(100_000);
        let error = target
            .write_file(&path("folder"), &large, attributes)
            .expect_err("it is a folder");
        assert!(error.to_string().ends_with("there is a folder"), "{error}");
        target.names(&path("file")).expect_err("it is no folder");
        // All of that leaves the target as usable as before.
        write(&subject, &path("file"), b"again");
        assert_eq!(
            target.read(&path("file"), 5).expect("it has 5 bytes"),
            b"again"
        );
        assert_eq!(
            target.names(&path("")).expect("it is a folder"),
            ["file", "folder"]
        );
    }
}

#[test]
fn a_link_that_leads_to_no_folder_is_known_before_something_is_written_there() {
    for subject in with_files() {
        let (kind, target) = (subject.kind, &subject.target);
        std::fs::create_dir(subject.outside("folder")).expect("nothing is there");
        std::fs::write(subject.outside("file"), "").expect("nothing is there");
        for (name, leads_to, is_writable) in [
            ("to-folder", "folder", true),
            ("to-file", "file", false),
            ("to-nothing", "nothing", false),
        ] {
            let link = subject.path(name);
            let made = target.make_link(&link, Path::new(leads_to));
            made.expect("nothing is there");
            let checked = target.check_writable(&link);
            assert_eq!(checked.is_ok(), is_writable, "{kind}, {name}: {checked:?}");
            let written =
                target.write_file(&link.join("new"), b"", EntryAttributes::with_mode(0o644));
            assert_eq!(written.is_ok(), is_writable, "{kind}, {name}: {written:?}");
        }
    }
}
