//! Rules for the kinds, names and contents of entries.

use crate::build::*;
use crate::{CONTENT, assert_rejected, open, sample};

#[test]
fn entries_must_be_plain_files_and_folders() {
    let mode = |mode: u32| with([Entry::stored("link", b"../x").attributes(mode << 16)]);
    let mode_elsewhere = |mode: u32| {
        let entry = Entry::stored("link", b"../x").attributes(mode << 16);
        with([entry.with(|entry| entry.host = 0)])
    };
    let attributes = |attributes: u32| {
        let entry = Entry::stored("a", b"").attributes(attributes);
        with([entry.with(|entry| entry.host = 0)])
    };
    let flags = |flags: u16| with([sample().both(|header| header.flags = flags)]);
    let method = |method: u16| with([sample().both(|header| header.method = method)]);
    let special = "a device or another special file";
    let bits = "setuid, setgid or sticky bit";
    let both = "but not both";
    assert_rejected([
        ("a link", mode(0o120_777), "is a symbolic link"),
        (
            "a link from elsewhere",
            mode_elsewhere(0o120_777),
            "is a symbolic link",
        ),
        ("a pipe", mode(0o010_644), special),
        ("a character device", mode(0o020_644), special),
        ("a block device", mode(0o060_644), special),
        ("a socket", mode(0o140_644), special),
        ("an unknown type", mode(0o170_644), special),
        ("setuid", mode(0o104_755), bits),
        ("setgid", mode(0o102_755), bits),
        ("sticky", mode(0o101_755), bits),
        ("a folder by its mode", mode(0o040_755), both),
        ("a folder by its attribute", attributes(0x10), both),
        (
            "a file by its mode",
            with([Entry::folder("c/").attributes(0o100_644 << 16)]),
            both,
        ),
        ("a reparse point", attributes(0x400), "reparse point"),
        ("a volume label", attributes(0x08), "volume label"),
        ("a device by its attribute", attributes(0x40), "device"),
        (
            "a folder with content",
            with([Entry::stored("c/", b"x").attributes(0)]),
            "folder with content",
        ),
        (
            "a folder with hidden content",
            with([Entry::deflated("c/", b"x")
                .attributes(0)
                .both(|header| header.size = 0)]),
            "has more bytes than its headers say",
        ),
        ("encrypted", flags(1), "is encrypted"),
        ("strongly encrypted", flags(0x41), "is encrypted"),
        ("masked headers", flags(0x2000), "is encrypted"),
        (
            "patches",
            flags(0x20),
            "the flags 0x0020, which are not allowed",
        ),
        (
            "other flags",
            flags(0x8000),
            "the flags 0x8000, which are not allowed",
        ),
        (
            "deflate64",
            method(9),
            "packed with method 9, not stored or deflated",
        ),
        ("bzip2", method(12), "packed with method 12"),
        ("zstd", method(93), "packed with method 93"),
    ]);
}

#[test]
fn names_must_stay_as_they_are() {
    let named = |name: &[u8]| with([Entry::stored(name, b"x")]);
    let pair = |one: &str, two: &str| with([Entry::stored(one, b""), Entry::stored(two, b"")]);
    let dots = "`.` and `..` are not allowed";
    let same = "are the same on some file systems";
    let as_folder = "is a file, but `";
    assert_rejected([
        ("empty", named(b""), "it is empty"),
        ("parent", named(b"../x"), dots),
        ("inner parent", named(b"Classes/../x"), dots),
        ("dot", named(b"./x"), dots),
        ("absolute", named(b"/x"), "absolute"),
        ("backslash", named(b"..\\x"), "some file systems forbid"),
        ("drive", named(b"C:x"), "some file systems forbid"),
        ("empty part", named(b"a//b"), "a part is empty"),
        ("nul", named(b"a\0b"), "an invisible character"),
        (
            "escape",
            named(b"a\x1b[2Jb"),
            "`a\\u{1b}[2Jb` is not a path",
        ),
        ("device", named(b"CON"), "device name"),
        ("reserved", named(b".pkgres-ok"), "reserved"),
        (
            "decomposed",
            named("cafe\u{301}".as_bytes()),
            "normalization form C",
        ),
        ("long part", named(&[b'a'; 300]), "longer than 255 bytes"),
        (
            "long",
            named(&b"a/".repeat(30_000)),
            "longer than 1024 bytes",
        ),
        ("parent folder", with([Entry::folder("../x/")]), dots),
        ("root folder", with([Entry::folder("/")]), "it is empty"),
        (
            "folder with an empty part",
            with([Entry::folder("a//")]),
            "a part is empty",
        ),
        (
            "not UTF-8",
            with([Entry::stored(b"a\xff", b"").both(|header| header.flags = FLAG_UTF8)]),
            "a name that is not UTF-8",
        ),
        (
            "UTF-8, but not marked",
            with([Entry::stored("\u{e9}", b"").both(|header| header.flags = 0)]),
            "neither ASCII nor marked as UTF-8",
        ),
        ("twice", pair("a", "a"), "`a` appears twice"),
        ("case", pair("A", "a"), same),
        ("case of the manifest", named(b"Manifest.YAML"), same),
        ("folding", pair("stra\u{df}e", "STRASSE"), same),
        (
            "case of a folder",
            pair("Classes/A", "classes/B"),
            "the folders of `Classes/A`",
        ),
        (
            "case of a folder between",
            pair("a/B/c", "a/b/d"),
            "the folders of `a/B/c`",
        ),
        ("file and folder", pair("a", "a/b"), as_folder),
        ("file and folder by case", pair("A/b/c", "a/B"), as_folder),
        (
            "file and folder, apart",
            with(["a", "a.b", "a-b", "a b", "a/b"].map(|name| Entry::stored(name, b""))),
            "`a` is a file, but `a/b` needs it as a folder",
        ),
        (
            "file and folder entry",
            with([Entry::stored("c", b""), Entry::folder("c/")]),
            "`c` appears twice",
        ),
        (
            "folder twice",
            with([Entry::folder("c/"), Entry::folder("c/")]),
            "`c` appears twice",
        ),
        (
            "case of a folder entry",
            with([Entry::folder("c/"), Entry::folder("C/")]),
            same,
        ),
        (
            "case of a folder entry and of a folder",
            with([Entry::folder("RESOURCES/"), sample()]),
            "the folders of `RESOURCES` and `Resources/a`",
        ),
    ]);
}

#[test]
fn contents_must_agree_with_their_headers() {
    let sized = |size: u32| with([sample().both(|header| header.size = size)]);
    let packed = |content: &[u8], packed: Vec<u8>| with([Entry::packed("a", content, 8, packed)]);
    let deflated = deflate(CONTENT);
    let cut = deflated[..deflated.len() - 3].to_vec();
    // A match of three bytes one byte back, where nothing was written yet.
    let before_start = vec![0x03, 0x02, 0x00];
    let empty_blocks = |count: usize| [b"\0\0\0\xff\xff".repeat(count), vec![3, 0]].concat();
    assert_rejected([
        (
            "another CRC",
            with([sample().both(|header| header.crc ^= 1)]),
            "CRC that its content does not have",
        ),
        (
            "no CRC",
            with([sample().both(|header| header.crc = 0)]),
            "CRC that its content does not have",
        ),
        (
            "another CRC of stored bytes",
            with([Entry::stored("b", b"x").both(|header| header.crc ^= 1)]),
            "CRC that its content does not have",
        ),
        ("less", sized(5), "has more bytes than its headers say"),
        ("nothing", sized(0), "has more bytes than its headers say"),
        ("more", sized(500), "has fewer bytes than its headers say"),
        (
            "another size of stored bytes",
            with([Entry::stored("b", b"x").both(|header| header.size = 2)]),
            "stored with a size that is not its own",
        ),
        (
            "stored bytes that run into the next record",
            with([
                Entry::stored("b", b"x").both(|header| (header.size, header.packed_size) = (9, 9)),
                Entry::stored("c", b"x"),
            ]),
            "`b` runs into the next record",
        ),
        (
            "no stream",
            packed(CONTENT, vec![0xff; 40]),
            "is not a deflate stream",
        ),
        (
            "an empty stream",
            packed(b"", Vec::new()),
            "cut short in its deflate stream",
        ),
        (
            "a stream cut short",
            packed(CONTENT, cut),
            "cut short in its deflate stream",
        ),
        (
            "bytes after the stream",
            packed(CONTENT, [&deflated[..], b"hidden"].concat()),
            "bytes after the end of its deflate stream",
        ),
        (
            "a stream after the stream",
            packed(CONTENT, [&deflated[..], &deflated].concat()),
            "bytes after the end of its deflate stream",
        ),
        (
            "a window of another entry",
            packed(b"\n\n\n", before_start),
            "is not a deflate stream",
        ),
        (
            "empty blocks",
            packed(b"", empty_blocks(1000)),
            "packed into far more bytes than it contains",
        ),
    ]);
    assert!(open(packed(b"", empty_blocks(100))).is_ok());
}
