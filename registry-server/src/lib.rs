//! A registry of class packages: storage, publishing and the HTTP interface.

mod access;
mod background;
mod blobs;
mod database;
mod environment;
mod http;
mod index;
mod problem;
mod publish;
mod registry;
mod store;

pub use crate::http::{Microversion, ServeOptions, Service, serve};
pub use access::{Actor, NamePattern, Scope};
pub use background::Background;
pub use blobs::BlobError;
pub use database::DatabaseError;
pub use environment::Environment;
pub use problem::{Problem, ProblemCode};
pub use registry::{
    Bucket, NewToken, OpenError, PackageView, Published, Registry, ReleaseView, Settings, Storage,
    TokenView,
};
