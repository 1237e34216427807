//! What has to be delivered before anything can go on.

use super::{PackageId, ReleaseId};

/// What is needed before the search can go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Missing {
    /// The releases of packages.
    Packages(Vec<PackageId>),
    /// The classes of releases, with their properties.
    Classes(Vec<ReleaseId>),
}
