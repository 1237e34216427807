//! No bytes are allowed around the entries of an archive.

use crate::build::*;
use crate::{assert_rejected, sample};

#[test]
fn framing_must_be_plain() {
    let plain = with([sample()]);
    let long = |change: fn(&mut End)| {
        ending(|end| {
            end.long();
            change(end);
        })
    };
    let hidden_end = |length: u8| {
        let mut end = b"PK\x05\x06".to_vec();
        end.resize(20, 0);
        [end, vec![length, 0], vec![b'x'; 6]].concat()
    };
    let no_end = "there is no end record";
    let fill = "does not fill the bytes before the end record";
    let disks = "one part of several";
    let disagree = "the end record and the zip64 end record disagree";
    let misplaced = "is not right before its locator";
    assert_rejected([
        ("no bytes", Vec::new(), no_end),
        ("text", b"<html>502 Bad Gateway</html>".to_vec(), no_end),
        ("cut short", plain[..plain.len() - 1].to_vec(), no_end),
        ("only an end", zip(&[], |_| ()), "has no entries"),
        (
            "bytes after",
            ending(|end| end.after = vec![0; 64]),
            "bytes follow the end record",
        ),
        ("an archive after", [&plain[..], &plain].concat(), fill),
        ("bytes before", [b"#!/bin/sh\n", &plain[..]].concat(), fill),
        (
            "bytes before, counted",
            zip(
                &[sample().with(|entry| entry.has_central = false), manifest()],
                |_| (),
            ),
            "there are bytes before the first entry",
        ),
        (
            "bytes between",
            with([
                sample().with(|entry| entry.after = vec![0]),
                Entry::stored("b", b""),
            ]),
            "`Resources/a` is followed by bytes that belong to no entry",
        ),
        (
            "bytes before the directory",
            with([sample().with(|entry| entry.after = b"hidden".to_vec())]),
            "`Resources/a` is followed by bytes that belong to no entry",
        ),
        (
            "bytes after the directory",
            ending(|end| end.before = b"hidden"),
            fill,
        ),
        (
            "a local record only",
            with([sample().with(|entry| entry.has_central = false)]),
            "`manifest.yaml` is followed by bytes that belong to no entry",
        ),
        (
            "a central record only",
            with([sample().with(|entry| entry.has_local = false)]),
            "`Resources/a` has no local header",
        ),
        (
            "an offset in an entry",
            with([sample().with(|entry| entry.offset = Some(7))]),
            "no local header",
        ),
        (
            "the offset of another entry",
            with([sample().with(|entry| entry.offset = Some(0))]),
            "no local header",
        ),
        (
            "an offset past the end",
            with([sample().with(|entry| entry.offset = Some(1 << 30))]),
            "reaches past the end of the archive",
        ),
        (
            "an offset in the directory",
            {
                let directory = u32::try_from(with([]).len() - 60).expect("small");
                zip(
                    &[manifest().with(|entry| entry.offset = Some(directory))],
                    |_| (),
                )
            },
            "there are bytes before the first entry",
        ),
        (
            "another disk",
            with([sample().with(|entry| entry.disk = 1)]),
            "another disk",
        ),
        (
            "a comment of an entry",
            with([sample().with(|entry| entry.comment = b"x")]),
            "comment",
        ),
        ("this disk", ending(|end| end.disks = [1, 0]), disks),
        (
            "the disk of the directory",
            ending(|end| end.disks = [0, 1]),
            disks,
        ),
        (
            "counts",
            ending(|end| end.counts = [1, 2]),
            "has two different counts",
        ),
        (
            "too few counted",
            ending(|end| end.counts = [1, 1]),
            "more records than",
        ),
        (
            "too many counted",
            ending(|end| end.counts = [3, 3]),
            "does not have the records",
        ),
        ("a smaller directory", ending(|end| end.size -= 1), fill),
        ("a larger directory", ending(|end| end.size = 1 << 31), fill),
        ("an earlier directory", ending(|end| end.offset -= 1), fill),
        (
            "a directory past the end",
            ending(|end| end.offset = 1 << 31),
            fill,
        ),
        (
            "a directory over an entry",
            ending(|end| {
                end.offset -= 1;
                end.size += 1;
            }),
            "does not have the records",
        ),
        (
            "a longer comment",
            ending(|end| end.comment_length = 9),
            "cut short in its comment",
        ),
        (
            "a comment too long",
            ending(|end| end.comment = vec![b'x'; 1025]),
            "comment of the archive is too long",
        ),
        (
            "a comment of lines",
            ending(|end| end.comment = b"a\nb".to_vec()),
            "not printable",
        ),
        (
            "a comment beyond ASCII",
            ending(|end| end.comment = b"\xc3\xa9".to_vec()),
            "not printable",
        ),
        (
            "an end in the comment",
            ending(|end| end.comment = hidden_end(6)),
            "two end records",
        ),
        (
            "an end that ends early in the comment",
            ending(|end| end.comment = hidden_end(0)),
            "bytes follow",
        ),
        (
            "an end in an extra field",
            // The value ends six bytes before the end record.
            with([Entry::stored("b", b"").with(|entry| {
                let times = [hidden_end(6 + 22 + 4), vec![0; 4]].concat();
                entry.central.extra = extra_field(0x0a, &times);
            })]),
            "two end records",
        ),
        (
            "no zip64 record, count",
            ending(|end| end.counts = [u16::MAX; 2]),
            "but there is none",
        ),
        (
            "no zip64 record, size",
            ending(|end| end.size = LONG),
            "but there is none",
        ),
        (
            "no zip64 record, offset",
            ending(|end| end.offset = LONG),
            "but there is none",
        ),
        ("zip64 count", long(|end| end.counts = [3, 3]), disagree),
        (
            "zip64 count on this disk",
            long(|end| end.counts[0] = 3),
            disagree,
        ),
        ("zip64 size", long(|end| end.size = 3), disagree),
        ("zip64 offset", long(|end| end.offset = 3), disagree),
        (
            "zip64 counts",
            long(|end| end.long_counts = [1, 2]),
            "two different counts",
        ),
        (
            "zip64 directory",
            long(|end| end.long_offset = u64::MAX),
            fill,
        ),
        (
            "zip64 directory size",
            long(|end| end.long_size = u64::MAX),
            fill,
        ),
        ("zip64 disk", long(|end| end.long_disks = [0, 1]), disks),
        (
            "zip64 disk of the end",
            long(|end| end.disks = [0, 1]),
            disks,
        ),
        (
            "zip64 length",
            long(|end| end.long_length = 1 << 63),
            "not of the usual length",
        ),
        (
            "zip64 extension",
            long(|end| {
                end.long_extension = b"extension";
                end.long_length += 9;
            }),
            misplaced,
        ),
        (
            "a locator of another record",
            long(|end| end.locator.1 = 0),
            misplaced,
        ),
        (
            "a locator past the end",
            long(|end| end.locator.1 = u64::MAX),
            misplaced,
        ),
        ("a locator on a disk", long(|end| end.locator.0 = 1), disks),
        ("a locator of disks", long(|end| end.locator.2 = 2), disks),
        (
            "a locator alone",
            ending(|end| {
                end.before = b"PK\x06\x07\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0";
            }),
            misplaced,
        ),
        (
            "bytes before the zip64 record",
            long(|end| end.before = b"x"),
            misplaced,
        ),
    ]);
}
