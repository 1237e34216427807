//! The registry over HTTP.
//!
//! [`Service`] answers requests: [`route`] finds the handler in one table of addresses, `dispatch`
//! does in one place what all addresses have in common (methods, microversions, tokens, media
//! types, queries, bodies, conditions, request ids), and the surfaces are what is different: the
//! index and the artifacts, the API to publish, the catalog that clients of Murano know, pages for
//! people, what operators watch. [`serve`] takes connections.

mod blobs;
mod catalog;
mod conditional;
mod dispatch;
mod identify;
mod index;
mod listen;
mod metrics;
mod microversion;
mod native;
mod negotiate;
mod openapi;
mod operations;
mod pages;
mod query;
mod range;
mod read_body;
mod refuse;
mod reply;
mod request;
mod request_id;
mod route;
mod service;
mod warnings;
mod write_timeout;

pub use listen::{ServeOptions, serve};
pub use microversion::Microversion;
pub use service::Service;
