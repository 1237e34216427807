//! The registry over HTTP.
//!
//! A request goes through one pipeline, whatever its path:
//!
//! 1. `listen` accepts the connection, with timeouts and limits.
//! 2. `route` finds the route in one table of all paths. The table declares methods, microversions, who
//!    may ask, and media types.
//! 3. `dispatch` checks all that, receives the body, runs the handler, and applies conditions, so that
//!    no handler deals with any of it.
//!
//! The handlers belong to surfaces, whose errors have different forms: the index and the artifacts, the
//! native API, the catalog API of Murano, the API of Galaxy, pages for people, and what operators monitor.

mod artifacts;
mod authenticate;
mod beginning;
mod catalog;
mod checked_text;
mod conditional;
mod dispatch;
mod error_response;
mod form;
mod galaxy;
mod host;
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
mod read_body;
mod request;
mod request_id;
mod response;
mod route;
mod search_words;
mod service;
mod turn;
mod write_timeout;

pub use listen::{ServeOptions, serve};
pub use microversion::Microversion;
pub use response::ResponseBody;
pub use service::Service;
