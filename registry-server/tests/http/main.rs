//! The registry over HTTP, without connections: what is answered to which request.

mod connections;
mod malformed;
mod rules;
mod support;
