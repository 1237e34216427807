//! The tables of the database, each with its statements.
//!
//! Every function runs inside a transaction that its caller began. Nothing here knows what a statement
//! means for a client: rights and rules are checked by the callers.

pub(crate) mod catalog;
pub(crate) mod changes;
pub(crate) mod collections;
mod columns;
pub(crate) mod documents;
pub(crate) mod facts;
pub(crate) mod groups;
pub(crate) mod packages;
pub(crate) mod releases;
pub(crate) mod removals;
pub(crate) mod tokens;

pub(crate) use columns::{read_record, version_key};
