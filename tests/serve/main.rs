//! `pkgres serve` as a process: what it prints, how it ends, what survives a kill, and the rules of HTTP on a
//! connection.

mod database;
mod ends;
mod full_disk;
mod fuzz;
mod galaxy;
mod galaxy_client;
mod generated_client;
mod killed;
mod murano;
mod murano_suites;
mod pages;
mod server;
mod wire;
