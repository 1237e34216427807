//! Decodes the response to a batch request while it arrives.

use bytes::{Bytes, BytesMut};
use pkgres_manifest::{PackageName, read_json};

use super::frame::FrameHeader;
use super::{Digest, Frame, MAX_BATCH_NAMES, Malformed, Proof};

/// The limits of the response to a batch request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct FrameLimits {
    /// The limit of the header line of a frame, in bytes.
    pub header_bytes: usize,
    /// The limit of an index document, in bytes.
    pub document_bytes: u64,
    /// The limit of frames.
    pub frames: u64,
}

impl Default for FrameLimits {
    fn default() -> Self {
        Self {
            // As many names of 255 bytes as `Frame::truncated` puts into one.
            header_bytes: 4 << 20,
            document_bytes: 64 << 20,
            // One for each document or absent package, as many that name omitted packages, and the
            // last two.
            frames: 2 * MAX_BATCH_NAMES as u64 + 2,
        }
    }
}

/// An error in the response to a batch request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// A frame is not valid.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// A limit is exceeded.
    #[error("more than the limit of {limit} {what}")]
    Limit {
        /// The limited quantity.
        what: &'static str,
        /// The limit.
        limit: u64,
    },
    /// A document has a different digest than its frame announces.
    #[error("the document of {name} has the digest {found}; {expected} was announced")]
    Digest {
        /// The package.
        name: PackageName,
        /// The digest that was announced.
        expected: Digest,
        /// The digest of the bytes that arrived.
        found: Digest,
    },
    /// The response ends before its last frame.
    #[error("the answer was cut off after {frames} frames")]
    CutOff {
        /// The number of frames that arrived.
        frames: u64,
    },
}

/// A decoder of the response to a batch request while it arrives, in pieces of any size.
#[derive(Debug)]
pub struct FrameDecoder {
    limits: FrameLimits,
    arrived: Arrived,
    /// The position before which there is no line feed.
    scanned: usize,
    /// The header of the frame whose document is still arriving.
    announced: Option<Announced>,
    frames: u64,
    is_complete: bool,
}

/// The bytes that arrived and were not decoded yet.
#[derive(Debug, Default)]
struct Arrived {
    /// The part of a frame that the pieces before the last one ended with.
    begun: BytesMut,
    /// The rest of the last piece.
    rest: Bytes,
}

impl Arrived {
    fn len(&self) -> usize {
        self.begun.len() + self.rest.len()
    }

    fn push(&mut self, piece: Bytes) {
        self.begun.extend_from_slice(&self.rest);
        self.rest = piece;
    }

    /// Where the first line feed is behind a place.
    fn line_feed(&self, from: usize) -> Option<usize> {
        let begun = self.begun.len();
        let find = |bytes: &[u8], from: usize| {
            let found = memchr::memchr(b'\n', bytes.get(from..)?)?;
            Some(from + found)
        };
        find(&self.begun, from).or_else(|| {
            let found = find(&self.rest, from.saturating_sub(begun))?;
            Some(begun + found)
        })
    }

    /// Takes as much off the beginning, which is copied only if it came in several pieces.
    fn take(&mut self, length: usize) -> Bytes {
        if self.begun.is_empty() {
            return self.rest.split_to(length);
        }
        if let Some(missing) = length.checked_sub(self.begun.len()) {
            self.begun.extend_from_slice(&self.rest.split_to(missing));
            return std::mem::take(&mut self.begun).freeze();
        }
        self.begun.split_to(length).freeze()
    }
}

#[derive(Debug)]
struct Announced {
    name: PackageName,
    sha256: Digest,
    length: usize,
    proof: Option<Proof>,
}

impl FrameDecoder {
    /// A decoder without input.
    pub fn new(limits: FrameLimits) -> Self {
        Self {
            limits,
            arrived: Arrived::default(),
            scanned: 0,
            announced: None,
            frames: 0,
            is_complete: false,
        }
    }

    /// Adds the next piece of the response. A document that lies in one piece is a slice of it, and keeps it in memory.
    pub fn push(&mut self, piece: impl Into<Bytes>) {
        self.arrived.push(piece.into());
    }

    /// The next frame, or `None` if more input is needed. The digests of documents are verified.
    pub fn next_frame(&mut self) -> Result<Option<Frame>, FrameError> {
        if self.announced.is_none() {
            let Some(header) = self.header()? else {
                return Ok(None);
            };
            if let Some(frame) = self.begin(header)? {
                return Ok(Some(frame));
            }
        }
        let Some(announced) = self.announced.take() else {
            return Ok(None);
        };
        if self.arrived.len() < announced.length {
            self.announced = Some(announced);
            return Ok(None);
        }
        let document = self.arrived.take(announced.length);
        let found = Digest::of(&document);
        if found != announced.sha256 {
            return Err(FrameError::Digest {
                name: announced.name,
                expected: announced.sha256,
                found,
            });
        }
        Ok(Some(Frame::Changed {
            name: announced.name,
            sha256: announced.sha256,
            document,
            proof: announced.proof,
        }))
    }

    /// Checks that the response is complete.
    pub fn finish(&self) -> Result<(), FrameError> {
        if self.is_complete && self.arrived.len() == 0 {
            Ok(())
        } else if self.is_complete {
            Err(malformed("there is more after the last one"))
        } else {
            Err(FrameError::CutOff {
                frames: self.frames,
            })
        }
    }

    /// The next line, without its line feed.
    fn header(&mut self) -> Result<Option<FrameHeader>, FrameError> {
        let limit = self.limits.header_bytes;
        let end = self.arrived.line_feed(self.scanned);
        let length = end.unwrap_or(self.arrived.len());
        if length > limit {
            return Err(FrameError::Limit {
                what: "bytes in the head of a frame",
                limit: limit as u64,
            });
        }
        let Some(end) = end else {
            self.scanned = self.arrived.len();
            return Ok(None);
        };
        if self.is_complete {
            return Err(malformed("there is more after the last one"));
        }
        if self.frames >= self.limits.frames {
            return Err(FrameError::Limit {
                what: "frames",
                limit: self.limits.frames,
            });
        }
        let line = self.arrived.take(end + 1);
        self.scanned = 0;
        let header = read_json(&line[..end]).map_err(|error| malformed(&error))?;
        self.frames += 1;
        Ok(Some(header))
    }

    /// The frame of a header, unless a document follows.
    fn begin(&mut self, header: FrameHeader) -> Result<Option<Frame>, FrameError> {
        let missing = |key: &str| malformed(&format!("`{key}` is missing"));
        let name = || header.name.clone().ok_or_else(|| missing("name"));
        let sha256 = || header.sha256.ok_or_else(|| missing("sha256"));
        let proof = match (header.index, &header.proof) {
            (Some(index), Some(path)) => Some(Proof {
                index,
                path: path.clone(),
            }),
            (None, None) => None,
            _ => return Err(malformed("`index` and `proof` belong together")),
        };
        if header.length.is_some() && header.status != "changed" {
            return Err(malformed("only a document that changed has a length"));
        }
        Ok(Some(match header.status.as_str() {
            "changed" => {
                let length = header.length.ok_or_else(|| missing("length"))?;
                let limit = self.limits.document_bytes;
                let length = usize::try_from(length)
                    .ok()
                    .filter(|_| length <= limit)
                    .ok_or(FrameError::Limit {
                        what: "bytes in an index document",
                        limit,
                    })?;
                self.announced = Some(Announced {
                    name: name()?,
                    sha256: sha256()?,
                    length,
                    proof,
                });
                return Ok(None);
            }
            "unchanged" => Frame::Unchanged {
                name: name()?,
                sha256: sha256()?,
                proof,
            },
            "absent" => Frame::Absent {
                name: name()?,
                beside: header.beside,
            },
            "truncated" => Frame::Truncated {
                names: header.names.ok_or_else(|| missing("names"))?,
            },
            "complete" => {
                self.is_complete = true;
                Frame::Complete {
                    serial: header.serial.ok_or_else(|| missing("serial"))?,
                    snapshot: header.snapshot,
                }
            }
            _ => return Err(malformed("the status is unknown")),
        }))
    }
}

fn malformed(reason: &(impl ToString + ?Sized)) -> FrameError {
    Malformed::new("a frame of a batch answer", reason).into()
}

#[cfg(test)]
mod tests;
