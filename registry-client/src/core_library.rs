//! The default core library, as a release that is used if nothing else provides it.
//!
//! Every package requires the core library, which comes with the engine that runs packages and is rarely in a
//! registry. A program that is not part of such an engine can still resolve: the release here has the name, the
//! version and the classes of the last public release, and no content. A [`RegistrySet`](crate::RegistrySet) uses it
//! only if it is passed to [`with_built_in`](crate::RegistrySet::with_built_in).

use pkgres_manifest::{IndexRecord, Limits};

/// The record of the release. Its manifest has no version, which is 0.0.0.
const RECORD: &str = include_str!("core_library.json");

/// The last public release of the default core library: its version, and what each of its classes extends and uses.
///
/// ```
/// use pkgres_manifest::PackageName;
/// use pkgres_registry_client::{RegistrySet, built_in_core_library};
///
/// let core = built_in_core_library();
/// assert_eq!(core.name, PackageName::default_core_library());
/// let registries = RegistrySet::new(Vec::new()).with_built_in(vec![core]);
/// # let _ = registries;
/// ```
pub fn built_in_core_library() -> IndexRecord {
    IndexRecord::parse_line(RECORD, &Limits::default()).expect("the record is valid")
}
