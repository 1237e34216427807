//! The setting `registries`, which has two forms.

use std::path::PathBuf;

use serde::de::{MapAccess, SeqAccess, Visitor};

/// The keys of a `[registries.NAME]` table.
pub(crate) const REGISTRY_KEYS: [&str; 8] = [
    "location",
    "namespaces",
    "key",
    "ca",
    "max-download",
    "max-packages",
    "network-min-rate",
    "network-timeout",
];

/// The value of `registries`, in either form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Registries {
    /// A list of locations: `registries = ["dir:packages"]`.
    Locations(Vec<String>),
    /// Tables, by the name of the registry: `[registries.acme]`.
    Tables(Vec<(String, RegistryTable)>),
}

/// A `[registries.NAME]` table.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
#[serde(
    deny_unknown_fields,
    rename_all = "kebab-case",
    expecting = "a table: write `[registries.NAME]` with a `location`, or `registries = [\"NAME=LOCATION\"]`"
)]
pub struct RegistryTable {
    /// The location, as for `--registry`.
    pub location: String,
    /// Namespaces whose packages come from this registry only.
    #[serde(default)]
    pub namespaces: Vec<String>,
    /// The public key that signs the state of the registry.
    pub key: Option<String>,
    /// A file of CA certificates that are trusted for this registry.
    pub ca: Option<PathBuf>,
    /// The setting `max-download` for this registry.
    pub max_download: Option<u64>,
    /// The setting `max-packages` for this registry.
    pub max_packages: Option<u64>,
    /// The setting `network-min-rate` for this registry.
    pub network_min_rate: Option<u64>,
    /// The setting `network-timeout` for this registry.
    pub network_timeout: Option<u64>,
}

/// A setting that limits what a registry on the network may cost a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NetworkLimit {
    /// The most bytes that are downloaded.
    MaxDownload,
    /// The most packages that are asked for.
    MaxPackages,
    /// The lowest rate of a download, in bytes per second.
    MinRate,
    /// The seconds that an answer may take.
    Timeout,
}

impl NetworkLimit {
    /// All of them.
    pub const ALL: [Self; 4] = [
        Self::MaxDownload,
        Self::MaxPackages,
        Self::MinRate,
        Self::Timeout,
    ];

    /// The name of the setting.
    pub fn key(self) -> &'static str {
        match self {
            Self::MaxDownload => "max-download",
            Self::MaxPackages => "max-packages",
            Self::MinRate => "network-min-rate",
            Self::Timeout => "network-timeout",
        }
    }
}

impl RegistryTable {
    /// The limits of the registry that take the place of settings.
    pub fn limits(&self) -> Vec<(NetworkLimit, u64)> {
        let limits = NetworkLimit::ALL.map(|setting| {
            let limit = match setting {
                NetworkLimit::MaxDownload => self.max_download,
                NetworkLimit::MaxPackages => self.max_packages,
                NetworkLimit::MinRate => self.network_min_rate,
                NetworkLimit::Timeout => self.network_timeout,
            };
            (setting, limit)
        });
        let stated = limits
            .into_iter()
            .filter_map(|(setting, limit)| Some((setting, limit?)));
        stated.collect()
    }
}

/// An item of a list of registries.
struct RegistryLocation(String);

impl<'de> serde::Deserialize<'de> for RegistryLocation {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;

        impl Visitor<'_> for Text {
            type Value = RegistryLocation;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(
                    "a location such as `https://ADDRESS`; the table of a registry begins with `[registries.NAME]`",
                )
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<RegistryLocation, E> {
                Ok(RegistryLocation(text.to_owned()))
            }
        }

        deserializer.deserialize_str(Text)
    }
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
                let mut locations = Vec::new();
                while let Some(RegistryLocation(location)) = access.next_element()? {
                    locations.push(location);
                }
                Ok(Registries::Locations(locations))
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
