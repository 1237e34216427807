//! How messages name registries.

use std::fmt;

use pkgres_manifest::RegistryName;

/// The name of the first registry that nobody gave a name.
pub(crate) const UNNAMED: &str = "default";

/// Whether a registry was given no name. Messages then show its location instead.
pub fn is_unnamed(name: &RegistryName) -> bool {
    name.as_str() == UNNAMED
}

/// A registry in the middle of a message: its name, or its location if nobody gave it a name.
pub fn titled_at(name: &RegistryName, location: &dyn fmt::Display) -> String {
    if is_unnamed(name) {
        format!("the registry at {location}")
    } else {
        format!("the registry `{name}`")
    }
}

/// A registry at the beginning of a message that goes on with its location: its name, unless nobody gave it one.
pub(crate) fn titled(name: &RegistryName) -> String {
    if is_unnamed(name) {
        "the registry".to_owned()
    } else {
        format!("the registry `{name}`")
    }
}
