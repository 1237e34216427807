//! A registry of class packages: storage, publishing, the index and the HTTP interface.
//!
//! A [`RegistryBackend`] keeps releases in a database (a file, or PostgreSQL for several nodes) and their
//! archives as files or in a bucket. Publishing checks an archive with the validator that clients
//! have, and its requirements with the solver; then the archive is written, and one transaction
//! makes the release together with the documents of the index that change. What resolvers read
//! is those documents, as they were stored: a node holds their digests, and the bodies that are
//! asked for, and follows the database by serial.
//!
//! [`Service`] answers requests of HTTP for a registry, and [`serve`] takes connections.
//! `docs/registry-protocol.md` says what is asked and answered; [`Background`] is what a node does
//! beside that. Everything of [`RegistryBackend`] blocks unless its documentation says otherwise.
//!
//! A publish costs as much as the releases that its package has, for their document is rendered
//! anew. Writers wait for each other, on all nodes; readers wait for nobody.

mod access;
mod background;
mod blobs;
mod database;
mod environment;
mod holder;
mod http;
mod index;
mod problem;
mod publish;
mod registry;
mod store;

pub use crate::http::{Microversion, ServeOptions, Service, serve};
pub use access::{Actor, NewToken, Scope};
pub use background::Background;
pub use blobs::BlobError;
pub use database::DatabaseError;
pub use environment::Environment;
pub use holder::Holder;
pub use problem::{Problem, ProblemCode};
pub use registry::{
    Bucket, OpenError, PackageView, Published, RegistryBackend, ReleaseView, Settings, Storage,
    TokenView,
};
