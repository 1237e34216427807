//! The built-in kinds of resources, one module for each, and the modules that they share.

mod accounts;
pub(crate) mod apt;
mod artifact;
mod attributes;
mod command_prerequisites;
mod directory;
mod exec;
mod file;
mod force_property;
mod group;
mod kinds_by_name;
mod link;
mod locked_artifacts;
mod package;
mod package_files;
mod parent_folders;
mod property_readers;
mod property_values;
mod removal;
mod run_programs;
mod service;
mod user;

use std::path::Path;

use crate::resource::ResourceError;

pub use artifact::{Artifact, ArtifactSource};
pub use directory::Directory;
pub use exec::{Exec, Guard, Query};
pub use file::File;
pub use group::Group;
pub use kinds_by_name::Kinds;
pub use link::Link;
pub(crate) use locked_artifacts::ARTIFACT;
pub use locked_artifacts::LockedArtifacts;
pub use package::Package;
pub use package_files::{FilesOfPackage, PackageFiles};
pub use service::Service;
pub use user::User;

/// A path as the value of a property.
fn path_text(path: &Path) -> Result<&str, ResourceError> {
    path.to_str().ok_or_else(|| {
        let message = format!("{} is not UTF-8, so it cannot be kept", path.display());
        ResourceError::Invalid(message)
    })
}
