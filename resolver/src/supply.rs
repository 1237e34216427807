//! What is delivered to the solver.

use pkgres_manifest::{IndexRecord, ReleaseSource};

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
