//! The documents of the registry protocol, as values, without input or output.
//!
//! `docs/registry-protocol.md` describes the protocol. Client and server read and write all documents with this module:
//!
//! - [`Config`]: what a registry offers and where; [`escape_name`] for paths.
//! - [`Digest`]: the name and the `ETag` of every body.
//! - [`IndexDocument`]: all releases of one package; [`ClassDocument`]: the packages that define a class;
//!   [`NamesLine`]: the digest of every index document.
//! - [`BatchRequest`], [`Frame`] and [`FrameDecoder`]: many index documents in one answer.
//! - [`Changes`]: the changes since a serial.
//! - [`broken_rule`]: what a registry demands of a release.
//! - [`Snapshot`], [`SignedSnapshot`] and [`MerkleTree`]: the signed state of the index, and the
//!   proof that a document belongs to it.
//! - [`Identity`], [`TokenDescription`] and [`Owners`]: who may change what.
//! - [`ErrorDocument`]: the body of an error response.
//!
//! All readers have limits, and none panics or recurses on what it reads.

mod accounts;
mod batch;
mod changes;
mod config;
mod decoder;
mod digest;
mod document;
mod errors;
mod frame;
mod key;
mod merkle;
mod names;
mod release_rules;
mod snapshot;

pub use accounts::{CreatedToken, Identity, Owners, TokenDescription, TokenList};
pub use batch::{BatchRequest, MAX_BATCH_NAMES};
pub use changes::{Change, ChangeKind, Changes};
pub use config::{Config, ConfigLimits, PROTOCOL};
pub use decoder::{FrameDecoder, FrameError, FrameLimits};
pub use digest::Digest;
pub use document::{ClassDocument, IndexDocument, NamesLine};
pub use errors::{ErrorDocument, ErrorEntry};
pub use frame::{Frame, Neighbour, Proof};
pub use key::{PublicKey, SigningKey};
pub use merkle::{MerkleTree, ProvedNodes, ShownNodes, empty_root, leaf_hash, root_of_path};
pub use names::{escape_name, unescape_name};
pub use release_rules::{
    ListedTexts, MAX_DESCRIPTION_BYTES, MAX_DOCUMENT_BYTES, MAX_LABEL_CHARACTERS, MAX_LABELS,
    broken_rule, is_file_name,
};
pub use snapshot::{Signature, SignatureBytes, SignedSnapshot, Snapshot, SnapshotError};

/// The media type of the response to a batch request.
pub const BATCH_MEDIA_TYPE: &str = "application/vnd.pkgres.batch";

/// The media type of documents with one value of JSON per line.
pub const LINES_MEDIA_TYPE: &str = "application/x-ndjson";

/// A document that violates the protocol. Its text is foreign: print it through
/// [`Escaped`](pkgres_manifest::diagnostic::Escaped).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not {what}: {reason}")]
pub struct Malformed {
    /// The expected document, such as "an index document".
    pub what: &'static str,
    /// The cause.
    pub reason: String,
}

impl Malformed {
    pub(crate) fn new(what: &'static str, reason: &(impl ToString + ?Sized)) -> Self {
        Self {
            what,
            reason: reason.to_string(),
        }
    }
}
