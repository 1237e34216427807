//! Registries, as settings files write them.

use std::path::PathBuf;

use serde::de::{MapAccess, SeqAccess, Visitor};

/// The keys of the table of a registry.
pub(super) const KEYS: [&str; 4] = ["location", "namespaces", "key", "ca"];

/// Registries as the settings write them.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Registries {
    /// A list of places: `registries = ["dir:packages"]`.
    Places(Vec<String>),
    /// Tables, by the name of the registry: `[registries.acme]`.
    Tables(Vec<(String, RegistryTable)>),
}

/// What the settings say of a registry.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RegistryTable {
    /// Where it is, as after `--registry`.
    pub(crate) location: String,
    /// Names that are asked of this registry alone.
    #[serde(default)]
    pub(crate) namespaces: Vec<String>,
    /// The key that signs its state.
    pub(crate) key: Option<String>,
    /// A file with certificates of authorities that are believed for it.
    pub(crate) ca: Option<PathBuf>,
}

impl<'de> serde::Deserialize<'de> for Registries {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EitherForm;

        impl<'de> Visitor<'de> for EitherForm {
            type Value = Registries;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("a list of registries, or a table for each")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Registries, A::Error> {
                let mut places = Vec::new();
                while let Some(place) = access.next_element()? {
                    places.push(place);
                }
                Ok(Registries::Places(places))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Registries, A::Error> {
                let mut tables = Vec::new();
                while let Some(table) = access.next_entry()? {
                    tables.push(table);
                }
                Ok(Registries::Tables(tables))
            }
        }

        deserializer.deserialize_any(EitherForm)
    }
}
