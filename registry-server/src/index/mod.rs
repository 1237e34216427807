//! The index as it is served: documents in memory, of one serial.
//!
//! The transaction that changes a package renders the documents that change with it, and stores them
//! with their digests. A node holds the names and digests of all documents, and a cache of their
//! bodies, and follows the database by serial. So every response is one state that the database had,
//! and a node never renders a document.

mod batch;
mod document;
mod node;
mod render;
mod snapshot;
mod state;

pub(crate) use document::Document;
pub(crate) use node::Node;
pub(crate) use render::{render, render_removal};
pub(crate) use snapshot::Signer;
