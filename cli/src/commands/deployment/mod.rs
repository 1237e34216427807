//! `pkgres plan`, `pkgres apply` and `pkgres call`: locked releases on machines.

mod apply;
mod call;
mod changes;
mod collections;
mod conformance;
mod early_end;
mod machines;
mod metrics;
mod observer;
mod plan;
mod prepared;
mod probe_tree;
mod release_files;
mod report;
mod state;
mod trial;
mod validations;

pub(super) use apply::apply;
pub(super) use call::call;
pub(super) use collections::with_unread_collections;
pub(super) use plan::plan;
