//! How messages name registries.

use std::fmt;

use pkgres_manifest::RegistryName;

/// A registry in the middle of a message: its name, or its location if it has the [default](RegistryName::DEFAULT)
/// name.
pub fn titled_at(name: &RegistryName, location: &dyn fmt::Display) -> String {
    if name.is_default() {
        format!("the registry at {location}")
    } else {
        format!("the registry `{name}`")
    }
}

/// A registry at the beginning of a message that goes on with its location: its name, unless it is the default one.
pub(crate) fn titled(name: &RegistryName) -> String {
    if name.is_default() {
        "the registry".to_owned()
    } else {
        format!("the registry `{name}`")
    }
}
