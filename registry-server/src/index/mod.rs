//! The index as it is served: documents in memory, of one serial.
//!
//! The transaction that publishes, yanks or deletes renders the documents that it changes and stores them
//! with their digests. A node holds the list of all names and digests, and the bodies that are
//! asked for, and follows the database by serial: what it answers is a state that the database
//! had, as a whole.

mod batch;
mod cache;
mod document;
mod node;
mod render;
mod snapshot;
mod state;

pub(crate) use document::Document;
pub(crate) use node::Node;
pub(crate) use render::{render, render_removal};
pub(crate) use snapshot::Signer;
