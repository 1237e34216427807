//! The binary with a registry that it serves itself: publishing, resolving, fetching, and a registry that is gone or
//! lies.

mod documents;
mod effects;
mod examples;
mod fetching;
mod killed;
mod lying;
mod mirrors;
mod parallel;
mod proxy;
mod publishing;
mod searching;
mod server;
mod terminal;
mod trust;
mod user;
