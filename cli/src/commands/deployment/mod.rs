//! `pkgres plan`, `pkgres apply` and `pkgres call`: locked releases on machines.

mod apply;
mod call;
mod change_counts;
mod collections_kind;
mod conformance;
mod early_end;
mod machines;
mod metrics;
mod observer;
mod plan;
mod plan_diff;
mod prepared;
mod probe_tree;
mod release_files;
mod report;
mod resource_checks;
mod state;
mod validations;

pub(super) use apply::apply;
pub(super) use call::call;
pub(super) use plan::plan;
pub(super) use resource_checks::{
    check_readable_folder, check_readable_resources, check_resources_file, check_resources_of,
};
