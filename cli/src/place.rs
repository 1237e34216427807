//! Where a registry is.

use std::path::PathBuf;

use pkgres_registry_client::protocol::PublicKey;
use pkgres_registry_client::{Namespace, RegistryLocation};

/// A registry and what the settings say of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) location: RegistryLocation,
    /// Names that are asked of this registry alone.
    pub(crate) namespaces: Vec<Namespace>,
    /// The key that signs its state.
    pub(crate) key: Option<PublicKey>,
    /// A file with certificates of authorities.
    pub(crate) ca: Option<PathBuf>,
}

impl std::fmt::Display for Place {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.location.fmt(formatter)
    }
}

impl From<RegistryLocation> for Place {
    fn from(location: RegistryLocation) -> Self {
        Self {
            location,
            namespaces: Vec::new(),
            key: None,
            ca: None,
        }
    }
}
