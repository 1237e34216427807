//! Puts archives together byte by byte, so that every field can be wrong.

use std::io::Write as _;

pub(crate) const FLAG_DESCRIPTOR: u16 = 1 << 3;
pub(crate) const FLAG_UTF8: u16 = 1 << 11;
pub(crate) const LONG: u32 = u32::MAX;

/// The fields that a local and a central header have in common.
#[derive(Clone)]
pub(crate) struct Header {
    pub(crate) name: Vec<u8>,
    pub(crate) flags: u16,
    pub(crate) method: u16,
    pub(crate) crc: u32,
    pub(crate) packed_size: u32,
    pub(crate) size: u32,
    pub(crate) extra: Vec<u8>,
}

#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) local: Header,
    pub(crate) central: Header,
    pub(crate) host: u8,
    pub(crate) attributes: u32,
    pub(crate) comment: &'static [u8],
    pub(crate) disk: u16,
    pub(crate) offset: Option<u32>,
    pub(crate) packed: Vec<u8>,
    /// The bytes after the content: a descriptor, or bytes that belong to no entry.
    pub(crate) after: Vec<u8>,
    pub(crate) has_local: bool,
    pub(crate) has_central: bool,
}

impl Entry {
    pub(crate) fn packed(
        name: impl AsRef<[u8]>,
        content: &[u8],
        method: u16,
        packed: Vec<u8>,
    ) -> Self {
        let name = name.as_ref();
        let header = Header {
            name: name.to_vec(),
            flags: if name.is_ascii() { 0 } else { FLAG_UTF8 },
            method,
            crc: crc32fast::hash(content),
            packed_size: u32::try_from(packed.len()).expect("small"),
            size: u32::try_from(content.len()).expect("small"),
            extra: Vec::new(),
        };
        Self {
            local: header.clone(),
            central: header,
            host: 3,
            attributes: 0o100_644 << 16,
            comment: b"",
            disk: 0,
            offset: None,
            packed,
            after: Vec::new(),
            has_local: true,
            has_central: true,
        }
    }

    pub(crate) fn stored(name: impl AsRef<[u8]>, content: &[u8]) -> Self {
        Self::packed(name, content, 0, content.to_vec())
    }

    pub(crate) fn deflated(name: impl AsRef<[u8]>, content: &[u8]) -> Self {
        Self::packed(name, content, 8, deflate(content))
    }

    pub(crate) fn folder(name: &str) -> Self {
        Self::stored(name, b"").with(|entry| entry.attributes = 0o040_755 << 16 | 0x10)
    }

    pub(crate) fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// Changes both headers.
    pub(crate) fn both(mut self, change: impl Fn(&mut Header)) -> Self {
        change(&mut self.local);
        change(&mut self.central);
        self
    }

    pub(crate) fn attributes(self, attributes: u32) -> Self {
        self.with(|entry| entry.attributes = attributes)
    }

    pub(crate) fn extra(self, extra: &[u8]) -> Self {
        self.both(|header| header.extra = extra.to_vec())
    }

    /// Moves the sizes and the CRC from the local header to a descriptor.
    pub(crate) fn with_descriptor(self) -> Self {
        let Header {
            crc,
            packed_size,
            size,
            ..
        } = self.central;
        self.both(|header| header.flags |= FLAG_DESCRIPTOR)
            .with(|entry| {
                entry.local.crc = 0;
                entry.local.packed_size = 0;
                entry.local.size = 0;
                entry.after = descriptor(crc, packed_size, size);
            })
    }
}

pub(crate) fn deflate(content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(content).expect("memory");
    encoder.finish().expect("memory")
}

pub(crate) fn descriptor(crc: u32, packed_size: u32, size: u32) -> Vec<u8> {
    let numbers = [crc, packed_size, size].map(u32::to_le_bytes).concat();
    [b"PK\x07\x08".to_vec(), numbers].concat()
}

pub(crate) fn extra_field(id: u16, value: &[u8]) -> Vec<u8> {
    let length = u16::try_from(value.len()).expect("small");
    [&id.to_le_bytes()[..], &length.to_le_bytes(), value].concat()
}

pub(crate) fn long_sizes(values: &[u64]) -> Vec<u8> {
    extra_field(
        1,
        &values
            .iter()
            .copied()
            .flat_map(u64::to_le_bytes)
            .collect::<Vec<u8>>(),
    )
}

/// The end record, and what a zip64 end record and its locator say besides.
#[derive(Clone)]
pub(crate) struct End {
    pub(crate) disks: [u16; 2],
    pub(crate) counts: [u16; 2],
    pub(crate) size: u32,
    pub(crate) offset: u32,
    pub(crate) comment: Vec<u8>,
    pub(crate) comment_length: u16,
    pub(crate) has_long: bool,
    pub(crate) long_length: u64,
    pub(crate) long_disks: [u32; 2],
    pub(crate) long_counts: [u64; 2],
    pub(crate) long_size: u64,
    pub(crate) long_offset: u64,
    pub(crate) long_extension: &'static [u8],
    pub(crate) locator: (u32, u64, u32),
    pub(crate) before: &'static [u8],
    pub(crate) after: Vec<u8>,
}

impl End {
    /// Refers to the zip64 end record from every field.
    pub(crate) fn long(&mut self) {
        self.has_long = true;
        self.counts = [u16::MAX; 2];
        (self.size, self.offset) = (LONG, LONG);
    }
}

/// Puts an archive together, and lets `change` spoil its end.
pub(crate) fn zip(entries: &[Entry], change: impl FnOnce(&mut End)) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut directory = Vec::new();
    let mut count = 0;
    let fields = |header: &Header| {
        let mut fields = Vec::new();
        fields.extend(header.flags.to_le_bytes());
        fields.extend(header.method.to_le_bytes());
        fields.extend([0, 0, 0x21, 0x58]);
        for number in [header.crc, header.packed_size, header.size] {
            fields.extend(number.to_le_bytes());
        }
        for length in [header.name.len(), header.extra.len()] {
            fields.extend(u16::try_from(length).expect("small").to_le_bytes());
        }
        fields
    };
    for entry in entries {
        let offset = u32::try_from(bytes.len()).expect("small");
        if entry.has_local {
            bytes.extend(b"PK\x03\x04\x14\0");
            bytes.extend(fields(&entry.local));
            bytes.extend(&entry.local.name);
            bytes.extend(&entry.local.extra);
            bytes.extend(&entry.packed);
            bytes.extend(&entry.after);
        }
        if entry.has_central {
            count += 1;
            directory.extend(b"PK\x01\x02\x14");
            directory.extend([entry.host, 20, 0]);
            directory.extend(fields(&entry.central));
            directory.extend(
                u16::try_from(entry.comment.len())
                    .expect("small")
                    .to_le_bytes(),
            );
            directory.extend(entry.disk.to_le_bytes());
            directory.extend([0, 0]);
            directory.extend(entry.attributes.to_le_bytes());
            directory.extend(entry.offset.unwrap_or(offset).to_le_bytes());
            directory.extend(&entry.central.name);
            directory.extend(&entry.central.extra);
            directory.extend(entry.comment);
        }
    }
    let offset = u32::try_from(bytes.len()).expect("small");
    let size = u32::try_from(directory.len()).expect("small");
    bytes.extend(directory);
    let mut end = End {
        disks: [0; 2],
        counts: [count; 2],
        size,
        offset,
        comment: Vec::new(),
        comment_length: u16::MAX,
        has_long: false,
        long_length: 44,
        long_disks: [0; 2],
        long_counts: [count.into(); 2],
        long_size: size.into(),
        long_offset: offset.into(),
        long_extension: b"",
        locator: (0, bytes.len() as u64, 1),
        before: b"",
        after: Vec::new(),
    };
    change(&mut end);
    bytes.extend(end.before);
    if end.has_long {
        bytes.extend(b"PK\x06\x06");
        bytes.extend(end.long_length.to_le_bytes());
        bytes.extend([45, 0, 45, 0]);
        bytes.extend(end.long_disks.map(u32::to_le_bytes).concat());
        bytes.extend(end.long_counts.map(u64::to_le_bytes).concat());
        bytes.extend(
            [end.long_size, end.long_offset]
                .map(u64::to_le_bytes)
                .concat(),
        );
        bytes.extend(end.long_extension);
        bytes.extend(b"PK\x06\x07");
        bytes.extend(end.locator.0.to_le_bytes());
        bytes.extend(end.locator.1.to_le_bytes());
        bytes.extend(end.locator.2.to_le_bytes());
    }
    if end.comment_length == u16::MAX {
        end.comment_length = u16::try_from(end.comment.len()).expect("small");
    }
    bytes.extend(b"PK\x05\x06");
    bytes.extend(end.disks.map(u16::to_le_bytes).concat());
    bytes.extend(end.counts.map(u16::to_le_bytes).concat());
    bytes.extend([end.size, end.offset].map(u32::to_le_bytes).concat());
    bytes.extend(end.comment_length.to_le_bytes());
    bytes.extend(end.comment);
    bytes.extend(end.after);
    bytes
}

pub(crate) fn manifest() -> Entry {
    Entry::deflated("manifest.yaml", b"FullName: org.acme.Web\n")
}

/// An archive of a manifest and other entries.
pub(crate) fn with(entries: impl IntoIterator<Item = Entry>) -> Vec<u8> {
    let entries: Vec<Entry> = std::iter::once(manifest()).chain(entries).collect();
    zip(&entries, |_| ())
}

/// An archive whose end is spoiled.
pub(crate) fn ending(change: impl FnOnce(&mut End)) -> Vec<u8> {
    zip(&[manifest(), Entry::stored("a", b"x")], change)
}
