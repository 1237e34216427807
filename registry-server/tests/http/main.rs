//! The registry over HTTP, without connections: what is answered to which request.

mod catalog;
mod connections;
mod malformed;
mod pages;
mod rules;
#[path = "../shared/mod.rs"]
mod shared;
mod support;
mod tokens;
