//! How messages name registries.

use pkgres_manifest::RegistryName;

/// The name of the first registry that nobody gave a name.
pub(crate) const UNNAMED: &str = "default";

/// A registry at the beginning of a message that goes on with its location: its name, unless nobody gave it one.
pub(crate) fn titled(name: &RegistryName) -> String {
    if name.as_str() == UNNAMED {
        "the registry".to_owned()
    } else {
        format!("the registry `{name}`")
    }
}
