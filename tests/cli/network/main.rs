//! The binary with a registry that it serves itself: publishing, resolving, and a registry that is gone.

mod documents;
mod mirrors;
mod publishing;
mod server;
mod trust;
mod user;
