//! A registry of class packages and Ansible collections: storage, publishing, the index and the HTTP interface.
//!
//! A [`RegistryBackend`] stores releases in a database (a file, or PostgreSQL for several nodes) and
//! their archives as files or in a bucket. When a release is published, its archive is checked with the same
//! validator that clients use, and its requirements with the solver. Then the archive is stored, and one
//! transaction adds the release and the documents of the index that change with it. Resolvers read these
//! documents as they were stored: a node holds their digests and a cache of their bodies, and follows the
//! database by serial.
//!
//! A [`Service`] answers HTTP requests for a registry, [`serve`] accepts connections, and
//! [`Background`] follows other nodes and removes artifacts that no release has.
//! `docs/registry-protocol.md` specifies the protocol. Every operation of [`RegistryBackend`] blocks
//! unless its documentation says otherwise.
//!
//! The cost of a publish grows with the number of releases of its package, because its index document is
//! rendered anew. Writers wait for each other, on all nodes; readers never wait.

mod access;
mod background;
mod blobs;
mod candidate;
mod database;
mod environment;
mod http;
mod index;
mod problem;
mod readme_and_licence;
mod registry;
mod store;

pub use crate::http::{Microversion, ResponseBody, ServeOptions, Service, serve};
pub use access::{Credential, NewToken, Principal, Scope};
pub use background::Background;
pub use blobs::{AccessKey, BlobError};
pub use database::DatabaseError;
pub use environment::Environment;
pub use problem::{Problem, ProblemCode};
pub use registry::{
    Bucket, ExportedState, OpenError, PackageView, Published, RegistryBackend, RegistryOptions,
    ReleaseView, RequirementCheck, Storage,
};

/// Everything that an embedder holds can be shared between threads.
const _: () = {
    const fn is_shareable<T: Send + Sync>() {}
    is_shareable::<Background>();
    is_shareable::<BlobError>();
    is_shareable::<DatabaseError>();
    is_shareable::<Environment>();
    is_shareable::<NewToken>();
    is_shareable::<OpenError>();
    is_shareable::<PackageView>();
    is_shareable::<Principal>();
    is_shareable::<Problem>();
    is_shareable::<RegistryBackend>();
    is_shareable::<RegistryOptions>();
    is_shareable::<ResponseBody>();
    is_shareable::<ServeOptions>();
    is_shareable::<Service>();
    is_shareable::<Storage>();
};
