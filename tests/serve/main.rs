//! `pkgres serve` as a process: what it prints, how it ends, what a kill leaves, and the rules of
//! HTTP on the wire.

mod database;
mod ends;
mod killed;
mod murano;
mod pages;
mod server;
mod wire;
