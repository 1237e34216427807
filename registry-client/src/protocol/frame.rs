//! The frames that the response to a batch request is made of.

use bytes::Bytes;
use pkgres_manifest::PackageName;

use super::{Digest, MAX_BATCH_NAMES, SignedSnapshot};

/// The place of an index document in a snapshot: which leaf of the tree it is, and the audit path
/// from there to the root.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proof {
    /// The place of the name among all names, counted from zero.
    pub index: u64,
    /// The hashes beside the path to the root, from the leaf upwards.
    pub path: Vec<Digest>,
}

/// A package directly before or after the place that an absent package would have.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Neighbour {
    /// The package.
    pub name: PackageName,
    /// The digest of its document.
    pub sha256: Digest,
    /// Its place among all names.
    pub index: u64,
    /// The audit path of its line.
    pub proof: Vec<Digest>,
}

/// A part of the response to a batch request.
///
/// ```
/// use pkgres_manifest::PackageName;
/// use pkgres_registry_client::protocol::{Frame, FrameDecoder, FrameLimits};
///
/// let frames = [
///     Frame::changed(PackageName::parse("org.acme.Web")?, b"document\n".to_vec(), None),
///     Frame::Complete { serial: 4711, snapshot: None },
/// ];
/// let mut bytes = Vec::new();
/// for frame in &frames {
///     frame.encode(&mut bytes);
/// }
/// let mut decoder = FrameDecoder::new(FrameLimits::default());
/// decoder.push(bytes);
/// assert_eq!(decoder.next_frame()?.as_ref(), Some(&frames[0]));
/// assert_eq!(decoder.next_frame()?.as_ref(), Some(&frames[1]));
/// decoder.finish()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Frame {
    /// A document that differs from the cached one.
    Changed {
        /// The package.
        name: PackageName,
        /// The digest of the document.
        sha256: Digest,
        /// The document.
        document: Bytes,
        /// Its place in the snapshot; absent where nothing is signed.
        proof: Option<Proof>,
    },
    /// The cached document is up to date.
    Unchanged {
        /// The package.
        name: PackageName,
        /// The digest of the document.
        sha256: Digest,
        /// Its place in the snapshot; absent where nothing is signed.
        proof: Option<Proof>,
    },
    /// There is no such package.
    Absent {
        /// The package.
        name: PackageName,
        /// The neighbours of its place among the names, which prove that it is absent; empty where
        /// nothing is signed.
        beside: Vec<Neighbour>,
    },
    /// The closure has more packages than a response may have: the client requests them
    /// again. A response may have several such frames.
    Truncated {
        /// The packages.
        names: Vec<PackageName>,
    },
    /// The end of the response.
    Complete {
        /// The serial that the documents belong to.
        serial: u64,
        /// The signed state of the index at that serial; absent where nothing is signed.
        snapshot: Option<SignedSnapshot>,
    },
}

/// The line that a frame begins with. The keys of all kinds together, so that it can be read
/// without looking for the kind first.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct FrameHeader {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<PackageName>,
    pub(super) status: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) sha256: Option<Digest>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) length: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) index: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) proof: Option<Vec<Digest>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) beside: Vec<Neighbour>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) names: Option<Vec<PackageName>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) serial: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) snapshot: Option<SignedSnapshot>,
}

impl Frame {
    /// A frame of a document that is new to the client.
    pub fn changed(name: PackageName, document: impl Into<Bytes>, proof: Option<Proof>) -> Self {
        let document = document.into();
        Self::Changed {
            name,
            sha256: Digest::of(&document),
            document,
            proof,
        }
    }

    /// The frames for packages that did not fit: as many [`Frame::Truncated`] as their names need; none if
    /// there are no names.
    pub fn truncated(names: &[PackageName]) -> impl Iterator<Item = Self> {
        names.chunks(MAX_BATCH_NAMES).map(|names| Self::Truncated {
            names: names.to_vec(),
        })
    }

    /// Appends the frame to a response.
    pub fn encode(&self, response: &mut Vec<u8>) {
        match self {
            Self::Changed {
                name,
                sha256,
                document,
                proof,
            } => {
                encode_changed(
                    name,
                    sha256,
                    document.len() as u64,
                    proof.as_ref(),
                    response,
                );
                response.extend_from_slice(document);
            }
            Self::Unchanged {
                name,
                sha256,
                proof,
            } => {
                let header = FrameHeader {
                    name: Some(name.clone()),
                    sha256: Some(*sha256),
                    index: proof.as_ref().map(|proof| proof.index),
                    proof: proof.as_ref().map(|proof| proof.path.clone()),
                    ..FrameHeader::of("unchanged")
                };
                header.encode(response);
            }
            Self::Absent { name, beside } => {
                let header = FrameHeader {
                    name: Some(name.clone()),
                    beside: beside.clone(),
                    ..FrameHeader::of("absent")
                };
                header.encode(response);
            }
            Self::Truncated { names } => {
                let header = FrameHeader {
                    names: Some(names.clone()),
                    ..FrameHeader::of("truncated")
                };
                header.encode(response);
            }
            Self::Complete { serial, snapshot } => {
                let header = FrameHeader {
                    serial: Some(*serial),
                    snapshot: snapshot.clone(),
                    ..FrameHeader::of("complete")
                };
                header.encode(response);
            }
        }
    }

    /// Appends the line that announces a document of `length` bytes, for a sender that does not copy
    /// the document.
    pub fn encode_changed(
        name: &PackageName,
        sha256: &Digest,
        length: u64,
        proof: Option<&Proof>,
        response: &mut Vec<u8>,
    ) {
        encode_changed(name, sha256, length, proof, response);
    }
}

/// The line before a document, as [`FrameHeader`] reads it. Responses have a thousand of them, so nothing
/// is copied for it.
#[derive(serde::Serialize)]
struct Announcement<'frame> {
    name: &'frame PackageName,
    status: &'static str,
    sha256: &'frame Digest,
    length: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<&'frame [Digest]>,
}

fn encode_changed(
    name: &PackageName,
    sha256: &Digest,
    length: u64,
    proof: Option<&Proof>,
    response: &mut Vec<u8>,
) {
    let announcement = Announcement {
        name,
        status: "changed",
        sha256,
        length,
        index: proof.map(|proof| proof.index),
        proof: proof.map(|proof| proof.path.as_slice()),
    };
    encode(&announcement, response);
}

fn encode(line: &impl serde::Serialize, response: &mut Vec<u8>) {
    serde_json::to_writer(&mut *response, line).expect("writing to memory does not fail");
    response.push(b'\n');
}

impl FrameHeader {
    fn of(status: &str) -> Self {
        Self {
            status: status.to_owned(),
            ..Self::default()
        }
    }

    fn encode(&self, response: &mut Vec<u8>) {
        encode(self, response);
    }
}
