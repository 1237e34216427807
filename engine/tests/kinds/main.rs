//! Kinds of resources, on a real Debian system: each test has an overlay of its own on top of the folder that
//! `PKGRES_DEBIAN_ROOT` names. Without it, the tests report that they are skipped, unless `PKGRES_REQUIRE_SERVICES` is
//! set.

mod accounts;
mod artifact;
mod debian;
mod every_kind;
mod exec;
mod link;
mod package;
mod random_graphs;
mod reversal;
mod service;
mod systemd;
