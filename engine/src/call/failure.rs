//! The errors of a call: why a function gave no valid answer, although it may be called.

use pkgres_manifest::{PackageName, PackagePath, Version};
use thiserror::Error;

use crate::target::{MAX_OUTPUT, TargetError};

/// Why a function that may be called has no answer.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CallFailure {
    /// The package of the class has no script for the function.
    #[error("{package} {version} has no file `{path}`, which would be the function")]
    NoScript {
        /// The package.
        package: PackageName,
        /// Its version.
        version: Version,
        /// The path of the script in the package.
        path: PackagePath,
    },
    /// The script cannot be run, whatever the machine is.
    #[error("{0}")]
    Unusable(String),
    /// The call lacks arguments.
    #[error("{0}")]
    Arguments(String),
    /// The output of the script is not JSON.
    #[error("the output of `{function}` is not JSON: {reason}")]
    NotJson {
        /// The function.
        function: String,
        /// The reason.
        reason: String,
    },
    /// The script wrote more than is read.
    #[error("`{function}` wrote more than {} MiB, the limit for a result", MAX_OUTPUT >> 20)]
    OutputLimit {
        /// The function.
        function: String,
    },
    /// The script failed, or the machine cannot be reached or cannot run it.
    #[error(transparent)]
    Target(#[from] TargetError),
}
