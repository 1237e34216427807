//! A registry: every operation on it, without HTTP.
//!
//! Embedding programs use [`RegistryBackend`]. Each module here adds its operations on one subject. All of them block
//! unless their documentation says otherwise.

mod access_checks;
mod add_to_catalog;
mod artifact_state;
mod backend;
mod catalog;
mod collections;
mod contents;
mod core_library;
mod edit;
mod export;
mod extenders;
mod implementers;
mod last_followed;
mod lineage;
mod murano_repository;
mod open_error;
mod options;
mod publish;
mod readiness;
mod storage_identity;
mod sweep;
mod tokens;
mod views;

pub(crate) use access_checks::no_such_package;
pub use backend::RegistryBackend;
pub(crate) use catalog::{
    CatalogEntry, CatalogFilter, CatalogPart, CategoryView, Comparison, MAX_NAME, Upload,
    VersionTest,
};
pub(crate) use collections::CollectionView;
pub(crate) use contents::{ReleaseContents, digest_of};
pub use export::ExportedState;
pub(crate) use extenders::{Bounds, Extender, Extenders};
pub(crate) use implementers::Implementers;
pub(crate) use lineage::{ClassPart, Lineage};
pub use open_error::OpenError;
pub use options::{Bucket, RegistryOptions, Storage};
pub use publish::{Published, RequirementCheck};
pub(crate) use views::PackageSummary;
pub use views::{PackageView, ReleaseView};
