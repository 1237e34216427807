//! The registry over HTTP, without connections: what is answered to which request.

mod catalog;
mod malformed;
mod rules;
mod support;
