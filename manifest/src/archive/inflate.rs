//! Unpacks contents piece by piece, so that memory does not depend on their sizes.

use flate2::{Decompress, FlushDecompress, Status};

use super::entry::Compression;

/// The size of a piece.
const PIECE_BYTES: usize = 64 << 10;

/// A decompressor for contents, one after the other, in memory of a fixed size.
pub(super) struct Inflater {
    stream: Decompress,
    piece: Vec<u8>,
}

impl Inflater {
    pub(super) fn new() -> Self {
        Self {
            stream: Decompress::new(false),
            piece: Vec::new(),
        }
    }

    /// Unpacks all of `packed`, passes the content to `sink` piece by piece, and checks that it has
    /// the size and the CRC. At most one byte more than the size is unpacked.
    ///
    /// The error continues a sentence that begins with the name of the entry.
    pub(super) fn unpack(
        &mut self,
        packed: &[u8],
        method: Compression,
        size: u64,
        crc: u32,
        sink: &mut dyn FnMut(&[u8]),
    ) -> Result<(), &'static str> {
        let mut hasher = crc32fast::Hasher::new();
        let mut take = |piece: &[u8]| {
            hasher.update(piece);
            sink(piece);
        };
        match method {
            Compression::Stored if packed.len() as u64 != size => {
                return Err("is stored with a size that is not its own");
            }
            Compression::Stored => take(packed),
            Compression::Deflated => self.inflate(packed, size, &mut take)?,
        }
        if hasher.finalize() == crc {
            Ok(())
        } else {
            Err("has a CRC that its content does not have")
        }
    }

    fn inflate(
        &mut self,
        packed: &[u8],
        size: u64,
        take: &mut dyn FnMut(&[u8]),
    ) -> Result<(), &'static str> {
        self.stream.reset(false);
        self.piece.resize(PIECE_BYTES, 0);
        let mut rest = packed;
        let mut left = size;
        loop {
            // One byte more than there should be, which would be an error.
            let room = usize::try_from(left)
                .map_or(PIECE_BYTES, |left| PIECE_BYTES.min(left.saturating_add(1)));
            let (read_before, written_before) = (self.stream.total_in(), self.stream.total_out());
            let status = self
                .stream
                .decompress(rest, &mut self.piece[..room], FlushDecompress::None)
                .map_err(|_| "is not a deflate stream")?;
            let read = self.stream.total_in() - read_before;
            let written = self.stream.total_out() - written_before;

            left = left
                .checked_sub(written)
                .ok_or("has more bytes than its headers say")?;
            let count = |number| usize::try_from(number).unwrap_or(usize::MAX);
            take(self.piece.get(..count(written)).unwrap_or_default());
            rest = rest.get(count(read)..).unwrap_or_default();
            match status {
                Status::StreamEnd if !rest.is_empty() => {
                    return Err("has bytes after the end of its deflate stream");
                }
                Status::StreamEnd if left != 0 => {
                    return Err("has fewer bytes than its headers say");
                }
                Status::StreamEnd => return Ok(()),
                // There was room for output, so the input is incomplete.
                _ if read == 0 && written == 0 => return Err("is cut short in its deflate stream"),
                _ => {}
            }
        }
    }
}
