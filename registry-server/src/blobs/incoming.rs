//! Receives bytes: in memory while they are few, then in a temporary file without a name.

use std::path::{Path, PathBuf};

use bytes::Bytes;
use pkgres_files::{FileError, RealFileSystem, Spool, make_folder};

use super::content::{PIECE, SMALL};

/// The folder for bytes that are being received.
#[derive(Debug, Clone)]
pub(crate) struct Incoming(PathBuf);

impl Incoming {
    /// The folder, which is created if there is none.
    pub(crate) fn open(folder: &Path) -> Result<Self, FileError> {
        make_folder(&RealFileSystem, folder)?;
        Ok(Self(folder.to_owned()))
    }

    /// A receiver that has no bytes yet.
    pub(crate) fn receive(&self) -> Receiving {
        Receiving {
            folder: self.0.clone(),
            held: Vec::new(),
            spool: None,
        }
    }
}

/// Bytes that are being received. Nothing blocks except [`write`](Self::write) and what calls it.
pub(crate) struct Receiving {
    folder: PathBuf,
    /// The bytes that are not in the file yet.
    held: Vec<u8>,
    spool: Option<Spool>,
}

impl Receiving {
    /// Takes a piece into memory.
    pub(crate) fn take(&mut self, piece: &[u8]) {
        self.held.extend_from_slice(piece);
    }

    /// Whether memory holds so much that it has to be written.
    pub(crate) fn is_full(&self) -> bool {
        let room = if self.spool.is_some() {
            PIECE as u64
        } else {
            SMALL
        };
        self.held.len() as u64 > room
    }

    /// Writes what is in memory to the file.
    pub(crate) fn write(&mut self) -> Result<(), FileError> {
        let spool = match &mut self.spool {
            Some(spool) => spool,
            None => self.spool.insert(Spool::create(&self.folder)?),
        };
        spool.write(&self.held)?;
        self.held.clear();
        // The memory of a small artifact is not needed for the pieces of a large one.
        self.held.shrink_to(2 * PIECE);
        Ok(())
    }

    /// Takes a piece, and writes if memory is full.
    pub(crate) fn add(&mut self, piece: &[u8]) -> Result<(), FileError> {
        self.take(piece);
        if self.is_full() {
            self.write()?;
        }
        Ok(())
    }

    /// All bytes that were received.
    pub(crate) fn finish(mut self) -> Result<Bytes, FileError> {
        if self.spool.is_none() {
            return Ok(self.held.into());
        }
        self.write()?;
        let spool = self.spool.take();
        let spool = spool.expect("it was there before");
        Ok(Bytes::from_owner(spool.finish()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_and_large_bodies_are_received_unchanged() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let incoming = Incoming::open(&folder.path().join("a/b")).expect("a folder");
        let small = usize::try_from(SMALL).expect("it is small");
        for length in [0, 1, PIECE, small, small + 1, 3 * small + 5] {
            let whole: Vec<u8> = (0..251).cycle().take(length).collect();
            let mut receiving = incoming.receive();
            let mut most = 0;
            for piece in whole.chunks(10_000) {
                receiving.add(piece).expect("it is written");
                most = most.max(receiving.held.len());
            }
            assert_eq!(receiving.spool.is_some(), length > small);
            assert!(most <= small + 10_000, "{most}");
            assert_eq!(receiving.finish().expect("it is there"), whole);
        }
    }
}
