//! The registry over HTTP: requests and their responses, mostly without connections.

mod catalog;
mod collection_pages;
mod connections;
mod galaxy;
mod interfaces;
mod malformed;
mod pages;
mod preconditions;
mod rules;
#[path = "../shared/mod.rs"]
mod shared;
mod support;
mod tokens;
mod writes;
