//! Releases that callers provide to the solver, and errors for invalid ones.

use pkgres_manifest::{IndexRecord, PackageName, ReleaseSource, Version};

/// The releases of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Supply {
    /// No registry has a package of the name.
    Unknown,
    /// All releases of the package.
    Releases {
        /// The source.
        source: ReleaseSource,
        /// One record for each release, in any order.
        records: Vec<IndexRecord>,
    },
}

/// The error for data that the solver does not accept. None of it was used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProvideError {
    /// The name of a record is not that of the package that it was provided for.
    #[error("a record of `{found}` was provided as a release of `{expected}`")]
    OtherPackage {
        /// The package.
        expected: PackageName,
        /// The name in the record.
        found: PackageName,
    },
    /// The releases of a package were provided before.
    #[error("the releases of `{0}` were provided twice")]
    ProvidedTwice(PackageName),
    /// Classes were provided for an unknown release.
    #[error("the classes of {name} {version} were provided, but no such release")]
    UnknownRelease {
        /// The package.
        name: PackageName,
        /// The version.
        version: Version,
    },
    /// An index cannot be used for a request with a cut-off date, because it has no dates of
    /// publication.
    #[error("an index without dates cannot answer a request that excludes newer releases")]
    DatesNeeded,
}

/// Rejects records of other packages.
pub(crate) fn check_names(name: &PackageName, supply: &Supply) -> Result<(), ProvideError> {
    if let Supply::Releases { records, .. } = supply
        && let Some(other) = records.iter().find(|record| record.name != *name)
    {
        return Err(ProvideError::OtherPackage {
            expected: name.clone(),
            found: other.name.clone(),
        });
    }
    Ok(())
}
