//! The binary form of a compiled index, as caches store it in files.
//!
//! A header, a table of sections, one section for each column of the index, and a checksum over
//! everything before it:
//!
//! | bytes | content |
//! |---|---|
//! | 8 | [`MAGIC`] |
//! | 8 | [`BYTE_ORDER_MARK`] in the byte order of the machine |
//! | 4, 4 | [`FORMAT`], and the number of sections |
//! | 32 | the digest of what the index was compiled from |
//! | 8 | the number of bytes in all |
//! | 16 each | where a section begins, and its number of bytes |
//! | … | the sections, each beginning at a multiple of [`ALIGNMENT`] |
//! | 16 | the checksum |
//!
//! Bytes are not trusted: the checksum detects truncation and accidental damage, and `check` detects
//! deliberate manipulation. After these checks, every number refers to something that exists, and every text
//! can be parsed. Opening costs one pass over the bytes, much less than compiling.

use std::ops::{Deref, Range};

use bytemuck::bytes_of;
use bytes::Bytes;
use twox_hash::XxHash3_128;

use super::column::VersionColumn;
use super::column::{Column, ColumnItem, Lists, Texts};
use super::{CompiledIndex, Inheritance, check};

/// The first bytes of every compiled index. The first one is not text and the last one ends a line,
/// so that damage by programs that treat the file as text is detected.
const MAGIC: [u8; 8] = *b"\x8apkgidx\n";

/// The format version. It changes whenever the columns or their meaning change, and whenever a
/// version, spec or name is parsed differently, because parsed values are not parsed again.
const FORMAT: u32 = 9;

/// Written in the byte order of the machine.
const BYTE_ORDER_MARK: u64 = 0x0102_0304_0506_0708;

/// The alignment of sections, so that they can be used as numbers in place.
const ALIGNMENT: usize = 8;

const SECTIONS: usize = 25;
const TABLE_START: usize = 64;
const DATA_START: usize = TABLE_START + SECTIONS * 16;
const CHECKSUM_BYTES: usize = 16;

/// Why bytes are not the expected compiled index. It can always be compiled again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IndexBytesError {
    /// They are something else.
    #[error("this is not a compiled index")]
    Foreign,
    /// They were written by a machine with a different byte order.
    #[error("the compiled index is that of another kind of machine")]
    OtherMachine,
    /// They were written by an older or newer version of this library.
    #[error("the compiled index has format {0}, not {FORMAT}")]
    OtherFormat(u32),
    /// The index was compiled from a different source.
    #[error("the compiled index is that of a different source")]
    OtherSource,
    /// They are truncated, or something follows them.
    #[error("the compiled index is cut short, or something follows it")]
    Length,
    /// They are damaged.
    #[error("the compiled index is damaged")]
    Checksum,
    /// They contradict each other, which no accident explains.
    #[error("the compiled index is inconsistent: {0}")]
    Inconsistent(&'static str),
}

/// An aligned copy of bytes that are not aligned.
struct Aligned(Vec<u64>);

impl AsRef<[u8]> for Aligned {
    fn as_ref(&self) -> &[u8] {
        bytemuck::cast_slice(&self.0)
    }
}

/// Bytes in foreign memory, such as a mapped file.
struct Owned<B>(B);

impl<B: Deref<Target = [u8]>> AsRef<[u8]> for Owned<B> {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl CompiledIndex {
    /// The index as bytes, for [`from_bytes`](Self::from_bytes). `source` identifies what it was
    /// compiled from. Equal indexes have equal bytes on machines with the same byte order.
    ///
    /// `None` for an index with the locations of requirements in files: such files are read again
    /// each time.
    pub fn to_bytes(&self, source: &[u8; 32]) -> Option<Vec<u8>> {
        if !self.locations.is_empty() {
            return None;
        }
        let sections = self.sections();
        let mut bytes = Vec::new();
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(bytes_of(&BYTE_ORDER_MARK));
        bytes.extend_from_slice(bytes_of(&FORMAT));
        bytes.extend_from_slice(bytes_of(&super::to_u32(SECTIONS)));
        bytes.extend_from_slice(source);
        let end = sections.iter().fold(DATA_START, |at, section| {
            (at + section.len()).next_multiple_of(ALIGNMENT)
        });
        bytes.reserve_exact(end + CHECKSUM_BYTES - bytes.len());
        bytes.extend_from_slice(bytes_of(&((end + CHECKSUM_BYTES) as u64)));
        let mut at = DATA_START;
        for section in &sections {
            bytes.extend_from_slice(bytes_of(&(at as u64)));
            bytes.extend_from_slice(bytes_of(&(section.len() as u64)));
            at = (at + section.len()).next_multiple_of(ALIGNMENT);
        }
        for section in sections {
            bytes.extend_from_slice(section);
            bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), 0);
        }
        let checksum = XxHash3_128::oneshot(&bytes);
        bytes.extend_from_slice(bytes_of(&checksum));
        Some(bytes)
    }

    /// The index in the bytes of [`to_bytes`](Self::to_bytes), if it was compiled from `source`.
    /// The bytes are used in place, unless they are not aligned to eight bytes.
    ///
    /// Whatever the bytes are, no later use of the index panics.
    pub fn from_bytes(
        bytes: impl Deref<Target = [u8]> + Send + Sync + 'static,
        source: &[u8; 32],
    ) -> Result<Self, IndexBytesError> {
        check_header(&bytes, source)?;
        let is_aligned = bytemuck::try_cast_slice::<u8, u64>(&bytes).is_ok();
        let bytes: Bytes = if is_aligned {
            Bytes::from_owner(Owned(bytes))
        } else {
            let mut aligned = vec![0; bytes.len().div_ceil(ALIGNMENT)];
            bytemuck::cast_slice_mut(&mut aligned)[..bytes.len()].copy_from_slice(&bytes);
            Bytes::from_owner(Aligned(aligned))
        };
        let mut index = Self::of_sections(Sections {
            bytes,
            next: 0,
            end: DATA_START,
        })?;
        check::check(&index).map_err(IndexBytesError::Inconsistent)?;
        index.derive_inheritance();
        Ok(index)
    }

    /// The columns in the order of their sections.
    fn sections(&self) -> [&[u8]; SECTIONS] {
        fn raw<T: ColumnItem>(column: &Column<T>) -> &[u8] {
            bytemuck::cast_slice(column)
        }
        [
            raw(&self.names.0.starts),
            raw(&self.names.0.items),
            raw(&self.first_release),
            raw(&self.package_flags),
            raw(&self.versions.numbers),
            raw(&self.versions.texts.0.starts),
            raw(&self.versions.texts.0.items),
            raw(&self.release_flags),
            raw(&self.digests),
            raw(&self.requirements.starts),
            raw(&self.requirements.items),
            raw(&self.words),
            raw(&self.specs.0.starts),
            raw(&self.specs.0.items),
            raw(&self.spec_flags),
            raw(&self.class_names.0.starts),
            raw(&self.class_names.0.items),
            raw(&self.tables),
            raw(&self.table_classes.starts),
            raw(&self.table_classes.items),
            raw(&self.class_flags),
            raw(&self.parents.starts),
            raw(&self.parents.items),
            raw(&self.externals.starts),
            raw(&self.externals.items),
        ]
    }

    /// The index with these columns.
    fn of_sections(mut sections: Sections) -> Result<Self, IndexBytesError> {
        // Fields are evaluated in the order in which they are written here.
        let index = Self {
            names: Texts(sections.lists()?),
            first_release: sections.column()?,
            package_flags: sections.column()?,
            versions: VersionColumn {
                numbers: sections.column()?,
                texts: Texts(sections.lists()?),
            },
            release_flags: sections.column()?,
            digests: sections.column()?,
            requirements: sections.lists()?,
            words: sections.column()?,
            specs: Texts(sections.lists()?),
            spec_flags: sections.column()?,
            class_names: Texts(sections.lists()?),
            tables: sections.column()?,
            table_classes: sections.lists()?,
            class_flags: sections.column()?,
            parents: sections.lists()?,
            externals: sections.lists()?,
            interfaces: 0..0,
            inheritance: Inheritance::default(),
            has_classes: false,
            locations: Vec::new(),
        };
        let end = sections.end.next_multiple_of(ALIGNMENT) + CHECKSUM_BYTES;
        if end == sections.bytes.len() {
            Ok(index)
        } else {
            Err(IndexBytesError::Inconsistent("the end of the sections"))
        }
    }
}

/// Checks that bytes are a compiled index of a source, and complete.
fn check_header(bytes: &[u8], source: &[u8; 32]) -> Result<(), IndexBytesError> {
    if !bytes.starts_with(&MAGIC) {
        return Err(IndexBytesError::Foreign);
    }
    if bytes.len() < DATA_START + CHECKSUM_BYTES {
        return Err(IndexBytesError::Length);
    }
    if number(bytes, 8) != BYTE_ORDER_MARK {
        return Err(IndexBytesError::OtherMachine);
    }
    let halves: [u32; 2] = bytemuck::pod_read_unaligned(&bytes[16..24]);
    if halves[0] != FORMAT {
        return Err(IndexBytesError::OtherFormat(halves[0]));
    }
    if bytes[24..56] != *source {
        return Err(IndexBytesError::OtherSource);
    }
    if number(bytes, 56) != bytes.len() as u64 || !bytes.len().is_multiple_of(ALIGNMENT) {
        return Err(IndexBytesError::Length);
    }
    let (content, checksum) = bytes.split_at(bytes.len() - CHECKSUM_BYTES);
    if XxHash3_128::oneshot(content) != bytemuck::pod_read_unaligned::<u128>(checksum) {
        return Err(IndexBytesError::Checksum);
    }
    if halves[1] as usize != SECTIONS {
        return Err(IndexBytesError::Inconsistent("the number of sections"));
    }
    Ok(())
}

fn number(bytes: &[u8], at: usize) -> u64 {
    bytemuck::pod_read_unaligned(&bytes[at..at + 8])
}

/// The sections that were not read yet.
struct Sections {
    bytes: Bytes,
    /// The number of the next section.
    next: usize,
    /// The end of the section before it.
    end: usize,
}

impl Sections {
    /// The next section as a column. There are no gaps between sections.
    fn column<T: ColumnItem>(&mut self) -> Result<Column<T>, IndexBytesError> {
        let entry = TABLE_START + self.next * 16;
        let position = |at: usize| usize::try_from(number(&self.bytes, at)).ok();
        let range = position(entry)
            .zip(position(entry + 8))
            .and_then(|(start, length)| Some(start..start.checked_add(length)?))
            .filter(|range| self.is_place(range) && range.len().is_multiple_of(size_of::<T>()))
            .ok_or(IndexBytesError::Inconsistent("the place of a section"))?;
        self.next += 1;
        self.end = range.end;
        Ok(Column::Mapped(self.bytes.slice(range)))
    }

    fn is_place(&self, range: &Range<usize>) -> bool {
        range.start == self.end.next_multiple_of(ALIGNMENT)
            && range.end <= self.bytes.len() - CHECKSUM_BYTES
    }

    fn lists<T: ColumnItem>(&mut self) -> Result<Lists<T>, IndexBytesError> {
        Ok(Lists {
            starts: self.column()?,
            items: self.column()?,
        })
    }
}
