//! The binary against a registry that it serves itself: publishing, resolving, and what happens
//! when the registry is gone.

mod documents;
mod mirrors;
mod publishing;
mod server;
mod trust;
mod user;
