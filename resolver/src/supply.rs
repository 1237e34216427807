//! What the solver is provided with, and why it refuses some of it.

use pkgres_manifest::{IndexRecord, PackageName, ReleaseSource, Version};

/// What a registry has of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Supply {
    /// No registry has a package of the name.
    Unknown,
    /// All releases of the package.
    Releases {
        /// Where they come from.
        source: ReleaseSource,
        /// One record a release, in any order.
        records: Vec<IndexRecord>,
    },
}

/// Why the solver refuses something that it was given. Nothing of it was used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProvideError {
    /// A record is not about the package that it was provided for.
    #[error("a record of `{found}` was provided as a release of `{expected}`")]
    OtherPackage {
        /// The package that releases were provided for.
        expected: PackageName,
        /// The package that the record is about.
        found: PackageName,
    },
    /// The releases of a package were provided before.
    #[error("the releases of `{0}` were provided twice")]
    ProvidedTwice(PackageName),
    /// Classes were provided for a release that was not.
    #[error("the classes of {name} {version} were provided, but no such release")]
    UnknownRelease {
        /// The package.
        name: PackageName,
        /// The version.
        version: Version,
    },
    /// An index cannot answer a request with a cut-off date, because it does not hold when releases
    /// were published.
    #[error("an index without dates cannot answer a request that excludes newer releases")]
    DatesNeeded,
}

/// Refuses records that are not about the package that they are provided for.
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
