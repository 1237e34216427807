//! The binary with a registry that it serves itself: publishing, resolving, and a registry that is gone.

mod documents;
mod mirrors;
mod publishing;
mod server;
mod terminal;
mod trust;
mod user;
