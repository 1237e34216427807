//! Archives that are accepted.

use pkgres_manifest::ArtifactDigest;

use crate::build::*;
use crate::random::assert_same_as_zip_crate;
use crate::{CONTENT, open, path, sample};

/// Archives of every kind that is accepted.
pub(crate) fn accepted() -> Vec<(&'static str, Vec<u8>)> {
    let long = sample()
        .both(|header| (header.packed_size, header.size) = (LONG, LONG))
        .extra(&long_sizes(&[
            CONTENT.len() as u64,
            deflate(CONTENT).len() as u64,
        ]));
    // The local record of the manifest is all but the central record and the end record.
    let second = u32::try_from(with([]).len() - (46 + 13) - 22).expect("small");
    let local_only = |entry: Entry| entry.with(|entry| entry.has_central = false);
    let central_only = |entry: Entry, offset: u32| {
        entry.with(|entry| (entry.has_local, entry.offset) = (false, Some(offset)))
    };
    let shuffled = [
        local_only(manifest()),
        local_only(sample()),
        central_only(sample(), second),
        central_only(manifest(), 0),
    ];
    let utf8 = |entry: Entry| entry.both(|header| header.flags |= FLAG_UTF8);
    vec![
        (
            "deflated and stored",
            with([sample(), Entry::stored("b", b"stored")]),
        ),
        (
            "empty files",
            with([Entry::stored("a", b""), Entry::deflated("b", b"")]),
        ),
        (
            "a descriptor",
            with([sample().with_descriptor(), Entry::stored("b", b"x")]),
        ),
        (
            "a descriptor and a size in the local header",
            with([sample()
                .with_descriptor()
                .with(|entry| entry.local.size = entry.central.size)]),
        ),
        (
            "folders",
            with([Entry::folder("Resources/"), sample(), Entry::folder("c/d/")]),
        ),
        (
            "a folder without attributes",
            with([Entry::folder("c/").attributes(0)]),
        ),
        (
            "a folder that is deflated",
            with([Entry::deflated("c/", b"").attributes(0).with_descriptor()]),
        ),
        (
            "other systems",
            with([sample().attributes(0x20).with(|entry| entry.host = 0)]),
        ),
        (
            "a mode without a type",
            with([sample().attributes(0o600 << 16)]),
        ),
        (
            "a name beyond ASCII",
            with([Entry::deflated("Resources/caf\u{e9}", b"x")]),
        ),
        ("ASCII marked as UTF-8", with([utf8(sample())])),
        (
            "levels",
            with([sample().both(|header| header.flags |= 0b110)]),
        ),
        ("zip64 sizes", with([long.clone()])),
        (
            "zip64 sizes in the local header only",
            with([long.with(|entry| entry.central = sample().central)]),
        ),
        (
            "timestamps and owners",
            with([sample().with(|entry| {
                let times = extra_field(0x5455, &[3, 1, 2, 3, 4, 5, 6, 7, 8]);
                let owners = extra_field(0x7875, &[1, 4, 0, 0, 0, 0, 4, 0, 0, 0, 0]);
                entry.local.extra = [times, owners].concat();
                entry.central.extra = extra_field(0x5455, &[3, 1, 2, 3, 4]);
            })]),
        ),
        (
            "more timestamps, and a jar",
            with([
                sample().extra(&extra_field(0x0a, &[0; 32])),
                Entry::stored("b", b"").extra(&extra_field(0xcafe, b"")),
                Entry::stored("c", b"").extra(&extra_field(0x5855, &[0; 12])),
            ]),
        ),
        ("another order in the directory", zip(&shuffled, |_| ())),
        (
            "a comment",
            ending(|end| end.comment = b"built ~ by CI".to_vec()),
        ),
        (
            "a long comment",
            ending(|end| end.comment = vec![b'x'; 1024]),
        ),
        ("a zip64 end record", ending(End::long)),
        (
            "a zip64 end record that says nothing new",
            ending(|end| end.has_long = true),
        ),
        (
            "an archive in an archive",
            with([Entry::stored("inner.zip", &with([sample()]))]),
        ),
        ("an archive at the end of one", {
            let inner = ending(|end| end.comment = b"short".to_vec());
            with([sample(), Entry::stored("z.zip", &inner)])
        }),
    ]
}

#[test]
fn plain_archives_are_accepted() {
    for (what, bytes) in accepted() {
        let archive = open(bytes.clone()).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(archive.bytes(), bytes);
        assert_eq!(archive.digest(), ArtifactDigest::of_archive(&bytes));
        let manifest = archive.read(&path("manifest.yaml"));
        assert_eq!(
            manifest.as_deref(),
            Some(&b"FullName: org.acme.Web\n"[..]),
            "{what}"
        );
        assert!(
            archive.files().is_sorted_by_key(|file| &file.path),
            "{what}"
        );
        assert_eq!(archive.read(&path("c/d")), None, "{what}");
        assert_same_as_zip_crate(&archive);
    }
}

#[test]
fn executable_files_are_recognized_by_their_mode() {
    let file = |mode: u32, host| {
        let entry = sample().attributes(mode << 16);
        let archive = open(with([entry.with(|entry| entry.host = host)])).expect("an archive");
        let file = archive
            .files()
            .find(|file| file.path == path("Resources/a"));
        file.expect("the file").clone()
    };
    assert_eq!(file(0o100_644, 3).size, CONTENT.len() as u64);
    assert!(!file(0o100_644, 3).executable);
    assert!(file(0o100_755, 3).executable);
    assert!(file(0o001, 3).executable);
    assert!(!file(0o100_755, 0).executable, "no mode on this system");
}
