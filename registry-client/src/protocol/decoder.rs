//! Decoding the answer to a batch request while it arrives.

use bytes::{Bytes, BytesMut};
use pkgres_manifest::PackageName;

use super::frame::FrameHeader;
use super::{Digest, Frame, MAX_BATCH_NAMES, Malformed, Proof};

/// The limits of the answer to a batch request.
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
            // One for each document or absent package, as many that say what is left out, and the
            // last two.
            frames: 2 * MAX_BATCH_NAMES as u64 + 2,
        }
    }
}

/// An error in the answer to a batch request.
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
    /// A document has another digest than its frame says.
    #[error("the document of {name} has the digest {found}; {expected} was announced")]
    Digest {
        /// The package.
        name: PackageName,
        /// The digest that was announced.
        expected: Digest,
        /// The digest of the bytes that arrived.
        found: Digest,
    },
    /// The answer ends before its last frame.
    #[error("the answer was cut off after {frames} frames")]
    CutOff {
        /// The number of frames that arrived.
        frames: u64,
    },
}

/// Decodes the answer to a batch request while it arrives, in pieces of any size.
#[derive(Debug)]
pub struct FrameDecoder {
    limits: FrameLimits,
    arrived: Arrived,
    /// Up to this position no line feed was found.
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

    /// Adds the next piece of the answer. A document that lies in one piece is a slice of it, and keeps it in memory.
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

    /// Checks that the answer is complete.
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
        let header = serde_json::from_slice(&line[..end]).map_err(|error| malformed(&error))?;
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
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::protocol::Neighbour;

    fn name(text: &str) -> PackageName {
        PackageName::parse(text).expect("a name")
    }

    fn frames() -> Vec<Frame> {
        let proof = Some(Proof {
            index: 3,
            path: vec![Digest::of(b"a"), Digest::of(b"b")],
        });
        vec![
            Frame::changed(name("a.B"), b"one\ntwo\n".to_vec(), proof.clone()),
            Frame::changed(name("a.C"), "", None),
            Frame::Unchanged {
                name: name("a.D"),
                sha256: Digest::of(b"d"),
                proof,
            },
            Frame::Absent {
                name: name("a.E"),
                beside: vec![Neighbour {
                    name: name("a.D"),
                    sha256: Digest::of(b"d"),
                    index: 3,
                    proof: vec![Digest::of(b"a")],
                }],
            },
            Frame::Absent {
                name: name("a.F"),
                beside: Vec::new(),
            },
            Frame::Truncated {
                names: vec![name("a.F")],
            },
            Frame::Complete {
                serial: u64::MAX,
                snapshot: None,
            },
        ]
    }

    fn encoded(frames: &[Frame]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for frame in frames {
            frame.encode(&mut bytes);
        }
        bytes
    }

    fn decode(pieces: &[&[u8]], limits: FrameLimits) -> Result<Vec<Frame>, FrameError> {
        let mut decoder = FrameDecoder::new(limits);
        let mut found = Vec::new();
        for piece in pieces {
            decoder.push(piece.to_vec());
            while let Some(frame) = decoder.next_frame()? {
                found.push(frame);
            }
        }
        decoder.finish()?;
        Ok(found)
    }

    proptest! {
        #[test]
        fn answers_are_read_in_pieces_of_any_size(cuts in proptest::collection::vec(0_usize..1000, 0..12)) {
            let bytes = encoded(&frames());
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut % bytes.len()).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|ends| &bytes[ends[0]..ends[1]]).collect();
            prop_assert_eq!(decode(&pieces, FrameLimits::default()), Ok(frames()));
        }

        #[test]
        fn whatever_arrives_is_answered(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = decode(&[&bytes], FrameLimits::default());
        }

        #[test]
        fn a_changed_byte_does_not_pass_for_a_document(at in 0_usize..4000, bit in 0_u32..8) {
            let mut bytes = encoded(&frames());
            let at = at % bytes.len();
            bytes[at] ^= 1 << bit;
            // A key that is not known any more is passed over; a document is what was announced.
            for frame in decode(&[&bytes], FrameLimits::default()).unwrap_or_default() {
                if let Frame::Changed { sha256, document, .. } = frame {
                    prop_assert_eq!(sha256, Digest::of(&document));
                }
            }
        }
    }

    #[test]
    fn an_answer_that_is_cut_off_anywhere_is_noticed() {
        let bytes = encoded(&frames());
        for end in 0..bytes.len() {
            assert!(decode(&[&bytes[..end]], FrameLimits::default()).is_err());
        }
        let more = [&bytes[..], b"{}\n"].concat();
        assert!(decode(&[&more], FrameLimits::default()).is_err());
        let rest = [&bytes[..], b"x"].concat();
        assert!(decode(&[&rest], FrameLimits::default()).is_err());
    }

    #[test]
    fn answers_have_limits() {
        let bytes = encoded(&frames());
        let limits = FrameLimits::default();
        for limits in [
            FrameLimits {
                header_bytes: 20,
                ..limits
            },
            FrameLimits {
                document_bytes: 7,
                ..limits
            },
            FrameLimits {
                frames: 5,
                ..limits
            },
        ] {
            let error = decode(&[&bytes], limits).expect_err("it is too much");
            assert!(matches!(error, FrameError::Limit { .. }), "{error}");
        }
        // A head without end is refused before it has arrived.
        let endless = vec![b' '; limits.header_bytes + 1];
        assert!(matches!(
            decode(&[&endless], limits),
            Err(FrameError::Limit { .. })
        ));
    }

    #[test]
    fn truncated_names_fit_into_frames() {
        let longest = |number: usize| name(&format!("a{number:0>254}"));
        let names: Vec<PackageName> = (0..=2 * MAX_BATCH_NAMES).map(longest).collect();
        let frames: Vec<Frame> = Frame::truncated(&names).collect();
        assert_eq!(frames.len(), 3);
        let mut said = Vec::new();
        let mut decoder = FrameDecoder::new(FrameLimits::default());
        decoder.push(encoded(&frames));
        while let Some(frame) = decoder.next_frame().expect("it is within the limits") {
            if let Frame::Truncated { names } = frame {
                said.extend(names);
            }
        }
        assert_eq!(said, names);
        assert_eq!(Frame::truncated(&[]).count(), 0);
    }

    #[test]
    fn heads_that_make_no_sense_are_refused() {
        for bad in [
            "{}",
            "[]",
            r#"{"status":"changed","name":"a"}"#,
            r#"{"status":"other","name":"a"}"#,
            r#"{"status":"absent"}"#,
            r#"{"status":"absent","name":"a","length":3}"#,
            r#"{"status":"absent","name":"../a"}"#,
            r#"{"status":"unchanged","name":"a","sha256":"00"}"#,
            r#"{"status":"unchanged","name":"a","index":1}"#,
            r#"{"status":"complete"}"#,
            r#"{"status":"complete","serial":-1}"#,
        ] {
            let line = format!("{bad}\n");
            let read = decode(&[line.as_bytes()], FrameLimits::default());
            assert!(
                matches!(read, Err(FrameError::Malformed(_))),
                "{bad}: {read:?}"
            );
        }
    }

    #[test]
    fn a_document_with_another_digest_is_refused() {
        let bytes = encoded(&frames());
        let text = String::from_utf8(bytes).expect("the frames are text");
        let other = text.replace("one\n", "0ne\n");
        let error = decode(&[other.as_bytes()], FrameLimits::default());
        assert!(matches!(error, Err(FrameError::Digest { .. })));
    }
}
