//! Limits, and what is written within them.

use pkgres_manifest::diagnostic::Code;
use pkgres_manifest::{Archive, ArtifactDigest, Limits, write_archive};

use crate::build::*;
use crate::{changed_limits, open, path};

#[test]
fn archives_above_a_limit_are_rejected() {
    let rejected = |bytes: Vec<u8>, change: fn(&mut Limits), expected: &str| {
        let limits = changed_limits(change);
        let error = Archive::open("x", bytes, &limits).expect_err(expected);
        assert_eq!(error.code, Code::Limit, "{error}");
        assert!(error.message.contains(expected), "{error}");
    };
    let claiming = |count: u64| {
        ending(|end| {
            end.long();
            end.long_counts = [count; 2];
        })
    };
    let zeros = |size: usize| with([Entry::deflated("z", &vec![0; size])]);
    let ten = || with((0..9).map(|number| Entry::stored(number.to_string(), &[b'x'; 100])));
    rejected(
        ten(),
        |limits| limits.archive_bytes = 1000,
        "1000 bytes in an archive",
    );
    rejected(
        ten(),
        |limits| limits.archive_entries = 9,
        "9 entries in an archive",
    );
    rejected(claiming(1 << 40), |_| (), "10000 entries in an archive");
    rejected(
        ten(),
        |limits| limits.unpacked_bytes = 900,
        "900 bytes in the files",
    );
    rejected(zeros(2 << 20), |_| (), "100 times the size of the archive");

    assert!(
        Archive::open(
            "x",
            ten(),
            &changed_limits(|limits| limits.archive_entries = 10)
        )
        .is_ok()
    );
    assert!(open(zeros(1 << 19)).is_ok(), "below the floor of the ratio");
    let huge = changed_limits(|limits| limits.archive_entries = u64::MAX);
    let error = Archive::open("x", claiming(1 << 40), &huge).expect_err("counts are checked");
    assert!(
        error.message.contains("does not have the records"),
        "{error}"
    );

    // Many bytes that claim to be few are not unpacked.
    let lie = |size: u32| {
        with([Entry::deflated("z", &vec![0; 8 << 20]).both(|header| header.size = size)])
    };
    let limits = changed_limits(|limits| limits.unpacked_ratio = 1 << 20);
    let error = Archive::open("x", lie(70_000), &limits).expect_err("it lies");
    assert!(
        error.message.contains("more bytes than its headers say"),
        "{error}"
    );
}

/// A path of a few bytes can need many folders.
#[test]
fn folders_without_entries_count() {
    let below = |top: &str| format!("{top}/b/c/d/e/f");
    let limits = changed_limits(|limits| limits.archive_entries = 9);
    let files = |tops: &[&str]| {
        let files = tops.iter().map(|top| Entry::stored(below(top), b"x"));
        Archive::open("x", with(files), &limits).map(|_| ())
    };
    assert_eq!(files(&["a"]), Ok(()));
    let error = files(&["a", "z"]).expect_err("ten folders");
    assert_eq!(error.code, Code::Limit, "{error}");
    assert!(error.message.contains("9 folders in an archive"), "{error}");
    let written = ["a", "z"].map(|top| (path(&below(top)), false, b"x".to_vec()));
    let error = write_archive(written, &limits).expect_err("ten folders");
    assert!(error.message.contains("9 folders in an archive"), "{error}");
}

#[test]
fn archives_are_written_from_what_can_be_read() {
    let limits = Limits::default();
    let file = |name: &str| (path(name), false, b"x".to_vec());
    let rejected = |files: Vec<_>, limits: &Limits, expected: &str| {
        let error = write_archive(files, limits).expect_err(expected);
        assert!(error.message.contains(expected), "{error}");
    };
    rejected(vec![], &limits, "the archive has no entries");
    rejected(vec![file("a"), file("a")], &limits, "`a` appears twice");
    rejected(
        vec![file("b"), file("a"), file("B")],
        &limits,
        "are the same on some file systems",
    );
    rejected(
        vec![file("a/b"), file("A/c")],
        &limits,
        "the folders of `a/b` and `A/c`",
    );
    rejected(
        vec![file("a/b"), file("a")],
        &limits,
        "`a` is a file, but `a/b` needs it",
    );
    let few = changed_limits(|limits| limits.archive_entries = 1);
    rejected(vec![file("a"), file("b")], &few, "limit of 1 entries");
    let small = changed_limits(|limits| limits.unpacked_bytes = 1);
    rejected(
        vec![file("a"), file("b")],
        &small,
        "limit of 1 bytes in the files",
    );
    let small = changed_limits(|limits| limits.archive_bytes = 100);
    rejected(
        vec![file("a"), file("b")],
        &small,
        "limit of 100 bytes in an archive",
    );
}

#[test]
fn files_that_compress_too_much_are_stored() {
    let limits = changed_limits(|limits| limits.archive_bytes = 4 << 20);
    let zeros = |name: &str, size: usize| (path(name), false, vec![0; size]);
    let size_of = |files: Vec<_>| {
        let bytes = write_archive(files, &limits).expect("an archive");
        let archive = Archive::open("x", &bytes[..], &limits).expect("it can be read");
        assert_eq!(archive.read(&path("a")), Some(vec![0; 3 << 20]));
        bytes.len()
    };
    // Whole, if there is nothing else.
    let alone = size_of(vec![zeros("a", 3 << 20)]);
    assert!(((3 << 20)..(3 << 20) + 1000).contains(&alone), "{alone}");
    // The smallest other file that is large enough in its place, or several that are too small alone.
    let other = vec![
        zeros("a", 3 << 20),
        zeros("b", 60_000),
        zeros("c", 90_000),
        zeros("d", 1000),
    ];
    let other = size_of(other);
    assert!((60_000..70_000).contains(&other), "{other}");
    let several = vec![zeros("a", 3 << 20), zeros("b", 20_000), zeros("c", 15_000)];
    let several = size_of(several);
    assert!((35_000..45_000).contains(&several), "{several}");

    // A file that no archive can hold as it is.
    let large = changed_limits(|limits| limits.archive_bytes = 1 << 20);
    let error = write_archive(vec![zeros("a", 3 << 20)], &large).expect_err("it is too large");
    assert!(
        error.message.contains("100 times the size of the archive"),
        "{error}"
    );
}

#[test]
fn the_bytes_of_written_archives_stay_the_same() {
    let files = [
        (
            path("manifest.yaml"),
            false,
            b"FullName: org.acme.Web\n".to_vec(),
        ),
        (
            path("Resources/caf\u{e9}.sh"),
            true,
            b"#!/bin/sh\n".repeat(20),
        ),
        (path("Classes/Web.yaml"), false, Vec::new()),
    ];
    let bytes = write_archive(files, &Limits::default()).expect("an archive");
    // Recorded: whatever changes this changes the digest of every release that is packed anew.
    assert_eq!(
        ArtifactDigest::of_archive(&bytes).to_string(),
        "48ccb5ee0132f5e978ee8833d95ab4b6edef1387f4a9ccfad0848e1ab3158635"
    );
}
