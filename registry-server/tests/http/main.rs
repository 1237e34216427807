//! The registry over HTTP, without connections: what is answered to which request.

mod catalog;
mod connections;
mod malformed;
mod rules;
mod support;
