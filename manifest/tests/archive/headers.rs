//! Rules for local headers, central headers and descriptors.

use crate::build::*;
use crate::{CONTENT, assert_rejected, sample};

#[test]
fn headers_must_agree() {
    let local = |change: fn(&mut Header)| with([sample().with(|entry| change(&mut entry.local))]);
    let central =
        |change: fn(&mut Header)| with([sample().with(|entry| change(&mut entry.central))]);
    let descriptor_of = |after: Vec<u8>| {
        with([
            sample().with_descriptor().with(|entry| entry.after = after),
            Entry::stored("b", b"x"),
        ])
    };
    let Header {
        crc,
        packed_size,
        size,
        ..
    } = sample().central;
    assert_rejected([
        (
            "name",
            local(|header| header.name[0] = b'r'),
            "different name",
        ),
        (
            "length of the name",
            local(|header| header.name.push(b'r')),
            "different name",
        ),
        ("flags", local(|header| header.flags = 2), "different flags"),
        (
            "mark of UTF-8",
            central(|header| header.flags = FLAG_UTF8),
            "different flags",
        ),
        (
            "mark of a descriptor",
            local(|header| header.flags = FLAG_DESCRIPTOR),
            "different flags",
        ),
        (
            "method",
            local(|header| header.method = 0),
            "different method",
        ),
        (
            "unknown method",
            local(|header| header.method = 99),
            "different method",
        ),
        (
            "CRC",
            local(|header| header.crc += 1),
            "different CRC in its local header",
        ),
        (
            "central CRC",
            central(|header| header.crc += 1),
            "different CRC in its local header",
        ),
        (
            "no CRC",
            local(|header| header.crc = 0),
            "different CRC in its local header",
        ),
        ("size", local(|header| header.size += 1), "different sizes"),
        (
            "no size",
            local(|header| header.size = 0),
            "different sizes",
        ),
        (
            "packed size",
            local(|header| header.packed_size -= 1),
            "different sizes",
        ),
        (
            "central size",
            central(|header| header.size += 1),
            "different sizes",
        ),
        (
            "central packed size",
            central(|header| header.packed_size -= 1),
            "different sizes",
        ),
        (
            "descriptor of another CRC",
            descriptor_of(descriptor(!crc, packed_size, size)),
            "disagrees",
        ),
        (
            "descriptor of another size",
            descriptor_of(descriptor(crc, packed_size, size + 1)),
            "disagrees",
        ),
        (
            "descriptor of another packed size",
            descriptor_of(descriptor(crc, 0, size)),
            "disagrees",
        ),
        (
            "no descriptor",
            descriptor_of(Vec::new()),
            "lacks its descriptor",
        ),
        (
            "a descriptor without signature",
            descriptor_of(descriptor(crc, packed_size, size)[4..].to_vec()),
            "lacks its descriptor",
        ),
        (
            "a long descriptor",
            descriptor_of(
                [
                    b"PK\x07\x08".to_vec(),
                    crc.to_le_bytes().to_vec(),
                    u64::from(packed_size).to_le_bytes().to_vec(),
                    u64::from(size).to_le_bytes().to_vec(),
                ]
                .concat(),
            ),
            "disagrees",
        ),
        (
            "a descriptor without the flag",
            with([sample().with(|entry| entry.after = descriptor(crc, packed_size, size))]),
            "followed by bytes",
        ),
        (
            "a descriptor and another size in the header",
            with([sample()
                .with_descriptor()
                .with(|entry| entry.local.size = 1)]),
            "different sizes",
        ),
        (
            "a descriptor of a stored entry",
            with([Entry::stored("b", CONTENT).with_descriptor()]),
            "has a descriptor but is not deflated",
        ),
        (
            "a descriptor and zip64 sizes",
            with([sample().with_descriptor().with(|entry| {
                entry.central.extra = long_sizes(&[entry.central.size.into()]);
                entry.central.size = LONG;
            })]),
            "both a descriptor and zip64 sizes",
        ),
        (
            "a descriptor and local zip64 sizes",
            with([sample().with_descriptor().with(|entry| {
                entry.local.extra = long_sizes(&[0]);
                entry.local.size = LONG;
            })]),
            "both a descriptor and zip64 sizes",
        ),
    ]);
}

#[test]
fn extra_fields_must_be_harmless() {
    let extra = |extra: Vec<u8>| with([sample().extra(&extra)]);
    let long = |values: &[u64]| {
        let entry = sample().both(|header| (header.packed_size, header.size) = (LONG, LONG));
        with([entry.extra(&long_sizes(values))])
    };
    let sizes = [CONTENT.len() as u64, deflate(CONTENT).len() as u64];
    let another_name = [&[1, 0, 0, 0, 0][..], b"Classes/Evil.yaml"].concat();
    assert_rejected([
        ("cut short", extra(vec![0x55, 0x54, 0]), "not well-formed"),
        (
            "too long a length",
            extra(vec![0x55, 0x54, 9, 0, 1]),
            "not well-formed",
        ),
        ("padding", extra(vec![0]), "not well-formed"),
        ("zeros", extra(vec![0; 4]), "0x0000, which is not allowed"),
        (
            "different name",
            extra(extra_field(0x7075, &another_name)),
            "0x7075, which is not allowed",
        ),
        (
            "AES",
            extra(extra_field(0x9901, &[2, 0, 65, 69, 3, 8, 0])),
            "0x9901, which is not",
        ),
        (
            "unknown",
            extra(extra_field(0x9999, &vec![0; 60_000])),
            "0x9999, which is not allowed",
        ),
        ("twice", extra([0xfe, 0xca, 0, 0].repeat(2)), "0xcafe twice"),
        (
            "large times",
            extra(extra_field(0x5455, &[0; 14])),
            "0x5455 that is too long",
        ),
        (
            "large owners",
            extra(extra_field(0x7875, &[0; 20])),
            "0x7875 that is too long",
        ),
        (
            "a jar with more",
            extra(extra_field(0xcafe, &[0])),
            "0xcafe that is too long",
        ),
        (
            "in the local header only",
            with([sample().with(|entry| entry.local.extra = extra_field(0x9999, b""))]),
            "0x9999, which is not allowed",
        ),
        (
            "in the central header only",
            with([sample().with(|entry| entry.central.extra = extra_field(0x9999, b""))]),
            "0x9999, which is not allowed",
        ),
        (
            "zip64 sizes that nothing refers to",
            extra(long_sizes(&sizes)),
            "no field refers to",
        ),
        (
            "no zip64 sizes to refer to",
            extra(long_sizes(&[])),
            "no field refers to",
        ),
        (
            "too few zip64 sizes",
            long(&sizes[..1]),
            "lacks a zip64 value",
        ),
        (
            "too many zip64 sizes",
            long(&[sizes[0], sizes[1], 0]),
            "no field refers to",
        ),
        (
            "none",
            with([sample().both(|header| header.size = LONG)]),
            "lacks a zip64 value",
        ),
        (
            "another zip64 packed size",
            long(&[sizes[0], sizes[1] + 1]),
            "runs into the next record",
        ),
        (
            "a huge zip64 packed size",
            long(&[sizes[0], u64::MAX]),
            "past the end of the archive",
        ),
        (
            "another local zip64 size",
            with([sample().with(|entry| {
                entry.local.size = LONG;
                entry.local.extra = long_sizes(&[sizes[0] + 1]);
            })]),
            "different sizes in its local header",
        ),
        (
            "a zip64 offset",
            with([sample().with(|entry| {
                entry.offset = Some(LONG);
                entry.central.extra = long_sizes(&[u64::MAX - 1]);
            })]),
            "past the end of the archive",
        ),
    ]);
}
