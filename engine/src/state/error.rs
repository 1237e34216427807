//! The errors of reading or writing the state of an application on a machine.

use std::path::PathBuf;

use thiserror::Error;

use pkgres_manifest::ResourceId;

use crate::resource::ResourceError;
use crate::target::TargetError;

/// Why the state of a machine cannot be read or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StateError {
    /// An operation on the machine failed.
    #[error("cannot use the state in {}: {source}", .folder.display())]
    Target {
        /// The folder of the state.
        folder: PathBuf,
        /// The error.
        source: TargetError,
    },
    /// A file is not what this version writes.
    #[error("{} is damaged: {reason}", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// What was kept of a resource, to be restored, is gone or damaged.
    #[error("the saved state of `{resource}` cannot be restored: {} is missing or damaged", .content.display())]
    Lost {
        /// The resource.
        resource: Box<ResourceId>,
        /// The file that was kept.
        content: PathBuf,
        /// The file that says what to restore. Without it, the resource stays as it is.
        record: PathBuf,
    },
    /// A file has a version that this program does not know.
    #[error("{} has version {version} of the state, and this program knows version 1", .path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// The version.
        version: String,
    },
}

impl From<StateError> for ResourceError {
    /// The error of a change that needs the state. A cancellation stays one: what the user ended has not failed.
    fn from(error: StateError) -> Self {
        match error {
            StateError::Target {
                source: source @ TargetError::Cancelled,
                ..
            } => Self::Target(source),
            error => Self::Invalid(error.to_string()),
        }
    }
}
