//! The records of a zip file, field by field.
//!
//! Only the signatures are checked here, and that records are complete. Fields that do not concern the
//! content are skipped: versions, dates and the internal attributes.

/// The signature of the record that begins an entry.
const LOCAL: [u8; 4] = *b"PK\x03\x04";
/// The signature of the record after a content whose size was not known when its header was written.
const DESCRIPTOR: [u8; 4] = *b"PK\x07\x08";
/// The signature of a record of the central directory.
const CENTRAL: [u8; 4] = *b"PK\x01\x02";
/// The signature of the zip64 end record, which large archives have in addition.
const ZIP64_END: [u8; 4] = *b"PK\x06\x06";
/// The signature of the record that has the place of the zip64 end record.
pub(super) const ZIP64_LOCATOR: [u8; 4] = *b"PK\x06\x07";
/// The signature of the end record.
pub(super) const END: [u8; 4] = *b"PK\x05\x06";

/// The size of an end record without its comment.
pub(super) const END_RECORD_BYTES: usize = 22;
/// The size of the zip64 end record.
pub(super) const ZIP64_END_BYTES: usize = 56;
/// The size of the record that has the place of the zip64 end record.
pub(super) const ZIP64_LOCATOR_BYTES: usize = 20;
/// The size of a central record without its name, extra fields and comment.
pub(super) const CENTRAL_RECORD_BYTES: usize = 46;

/// Bytes that are read from the front, numbers with the low byte first.
pub(super) struct Fields<'bytes> {
    rest: &'bytes [u8],
}

impl<'bytes> Fields<'bytes> {
    pub(super) fn new(bytes: &'bytes [u8]) -> Self {
        Self { rest: bytes }
    }

    /// The bytes that were not read yet.
    pub(super) fn rest(&self) -> &'bytes [u8] {
        self.rest
    }

    pub(super) fn take(&mut self, length: usize) -> Option<&'bytes [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(taken)
    }

    fn array<const LENGTH: usize>(&mut self) -> Option<[u8; LENGTH]> {
        let (taken, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(*taken)
    }

    fn signature(&mut self, expected: [u8; 4]) -> Option<()> {
        (self.array()? == expected).then_some(())
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }
}

/// The header before the content of an entry.
pub(super) struct LocalRecord<'bytes> {
    pub(super) flags: u16,
    pub(super) method: u16,
    pub(super) crc: u32,
    pub(super) packed_size: u32,
    pub(super) size: u32,
    pub(super) name: &'bytes [u8],
    pub(super) extra: &'bytes [u8],
}

impl<'bytes> LocalRecord<'bytes> {
    pub(super) fn read(fields: &mut Fields<'bytes>) -> Option<Self> {
        fields.signature(LOCAL)?;
        let _version_needed = fields.u16()?;
        let flags = fields.u16()?;
        let method = fields.u16()?;
        let _date = fields.u32()?;
        let crc = fields.u32()?;
        let packed_size = fields.u32()?;
        let size = fields.u32()?;
        let name_length = fields.u16()?;
        let extra_length = fields.u16()?;
        Some(Self {
            flags,
            method,
            crc,
            packed_size,
            size,
            name: fields.take(name_length.into())?,
            extra: fields.take(extra_length.into())?,
        })
    }
}

/// The record after the content of an entry whose header leaves sizes and CRC open.
pub(super) struct Descriptor {
    pub(super) crc: u32,
    pub(super) packed_size: u32,
    pub(super) size: u32,
}

impl Descriptor {
    pub(super) fn read(fields: &mut Fields<'_>) -> Option<Self> {
        fields.signature(DESCRIPTOR)?;
        Some(Self {
            crc: fields.u32()?,
            packed_size: fields.u32()?,
            size: fields.u32()?,
        })
    }
}

/// The record of an entry in the central directory.
pub(super) struct CentralRecord<'bytes> {
    /// The system that the attributes belong to.
    pub(super) host: u8,
    pub(super) flags: u16,
    pub(super) method: u16,
    pub(super) crc: u32,
    pub(super) packed_size: u32,
    pub(super) size: u32,
    pub(super) disk: u16,
    pub(super) attributes: u32,
    pub(super) offset: u32,
    pub(super) name: &'bytes [u8],
    pub(super) extra: &'bytes [u8],
    pub(super) comment: &'bytes [u8],
}

impl<'bytes> CentralRecord<'bytes> {
    pub(super) fn read(fields: &mut Fields<'bytes>) -> Option<Self> {
        fields.signature(CENTRAL)?;
        let [_version, host] = fields.array()?;
        let _version_needed = fields.u16()?;
        let flags = fields.u16()?;
        let method = fields.u16()?;
        let _date = fields.u32()?;
        let crc = fields.u32()?;
        let packed_size = fields.u32()?;
        let size = fields.u32()?;
        let name_length = fields.u16()?;
        let extra_length = fields.u16()?;
        let comment_length = fields.u16()?;
        let disk = fields.u16()?;
        let _internal_attributes = fields.u16()?;
        let attributes = fields.u32()?;
        let offset = fields.u32()?;
        Some(Self {
            host,
            flags,
            method,
            crc,
            packed_size,
            size,
            disk,
            attributes,
            offset,
            name: fields.take(name_length.into())?,
            extra: fields.take(extra_length.into())?,
            comment: fields.take(comment_length.into())?,
        })
    }
}

/// The end record, without its comment.
pub(super) struct EndRecord {
    /// The number of this disk and that of the one where the directory begins.
    pub(super) disks: [u16; 2],
    pub(super) entries_on_disk: u16,
    pub(super) entries: u16,
    pub(super) directory_size: u32,
    pub(super) directory_offset: u32,
    pub(super) comment_length: u16,
}

impl EndRecord {
    pub(super) fn read(fields: &mut Fields<'_>) -> Option<Self> {
        fields.signature(END)?;
        Some(Self {
            disks: [fields.u16()?, fields.u16()?],
            entries_on_disk: fields.u16()?,
            entries: fields.u16()?,
            directory_size: fields.u32()?,
            directory_offset: fields.u32()?,
            comment_length: fields.u16()?,
        })
    }
}

/// The place of the zip64 end record.
pub(super) struct Zip64Locator {
    pub(super) disk: u32,
    pub(super) offset: u64,
    pub(super) disks: u32,
}

impl Zip64Locator {
    pub(super) fn read(fields: &mut Fields<'_>) -> Option<Self> {
        fields.signature(ZIP64_LOCATOR)?;
        Some(Self {
            disk: fields.u32()?,
            offset: fields.u64()?,
            disks: fields.u32()?,
        })
    }
}

/// The end record that a large archive has in addition.
pub(super) struct Zip64EndRecord {
    /// The size of the rest of the record.
    pub(super) length: u64,
    /// The number of this disk and that of the one where the directory begins.
    pub(super) disks: [u32; 2],
    pub(super) entries_on_disk: u64,
    pub(super) entries: u64,
    pub(super) directory_size: u64,
    pub(super) directory_offset: u64,
}

impl Zip64EndRecord {
    pub(super) fn read(fields: &mut Fields<'_>) -> Option<Self> {
        fields.signature(ZIP64_END)?;
        let length = fields.u64()?;
        let _versions = fields.u32()?;
        Some(Self {
            length,
            disks: [fields.u32()?, fields.u32()?],
            entries_on_disk: fields.u64()?,
            entries: fields.u64()?,
            directory_size: fields.u64()?,
            directory_offset: fields.u64()?,
        })
    }
}
