//! Parses the registries that arguments, the environment and settings files name.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{Hexadecimal, PackageName, RegistryName, did_you_mean, sha256};
use pkgres_registry_client::protocol::PublicKey;
use pkgres_registry_client::{LocationError, Namespace, RegistryLocation};
use pkgres_settings::{NetworkLimit, Registries, RegistryTable, SettingsFile};

use super::probably_meant::probably_meant;
use crate::failure::{Failure, Result};
use crate::paths::from_current_folder;
use crate::settings::Origin;
use crate::workspace;

/// The beginning of the names that the packages of `overrides` have as registries.
const OVERRIDE_PREFIX: &str = "override-";

/// The number of bytes of the digest of a package in the name of its override.
const DIGEST_BYTES: usize = 8;

/// The name that a package of `overrides` has as a registry: the name of the package after a prefix, or the beginning of
/// its digest, because names of packages can be longer than those of registries.
pub(super) fn override_name(package: &PackageName) -> RegistryName {
    let readable = format!("{OVERRIDE_PREFIX}{package}").to_ascii_lowercase();
    RegistryName::parse(&readable).unwrap_or_else(|_| {
        let digest = &sha256(package.as_str().as_bytes())[..DIGEST_BYTES];
        let name = format!("{OVERRIDE_PREFIX}{}", Hexadecimal(digest));
        RegistryName::parse(&name).expect("it is short, and consists of letters and digits")
    })
}

/// Whether the registry of a name is the folder of an override.
pub(crate) fn is_override(name: &RegistryName) -> bool {
    name.as_str().starts_with(OVERRIDE_PREFIX)
}

/// A registry with its settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ConfiguredRegistry {
    pub(crate) location: RegistryLocation,
    /// Namespaces whose packages come from this registry only.
    pub(super) namespaces: Vec<Namespace>,
    /// Namespaces that the settings bind to a registry which this run leaves out, and that registry. Their packages are
    /// looked up in no other one.
    pub(super) bound_elsewhere: Vec<(Namespace, RegistryName)>,
    /// The public key that signs the state of the registry.
    pub(super) key: Option<PublicKey>,
    /// A file of CA certificates that are trusted for this registry.
    pub(super) ca: Option<PathBuf>,
    /// The limits for this registry only, by their settings.
    pub(super) limits: Vec<(NetworkLimit, u64)>,
    /// Whether no registry is configured, so that this one is used.
    pub(super) is_implied: bool,
}

impl ConfiguredRegistry {
    /// The namespaces whose packages come from one registry only, each with that registry.
    pub(crate) fn bindings(&self) -> impl Iterator<Item = (&Namespace, &RegistryName)> {
        let own = self.namespaces.iter();
        let own = own.map(|namespace| (namespace, &self.location.name));
        let elsewhere = self.bound_elsewhere.iter();
        own.chain(elsewhere.map(|(namespace, name)| (namespace, name)))
    }
}

impl From<RegistryLocation> for ConfiguredRegistry {
    fn from(location: RegistryLocation) -> Self {
        Self {
            location,
            namespaces: Vec::new(),
            bound_elsewhere: Vec::new(),
            key: None,
            ca: None,
            limits: Vec::new(),
            is_implied: false,
        }
    }
}

/// Parses registries as `--registry` takes them. `origin` begins the error message.
pub(super) fn parse(
    texts: &[String],
    base: &Path,
    origin: &str,
) -> Result<Vec<ConfiguredRegistry>> {
    let locations =
        RegistryLocation::parse_all(texts.iter().map(String::as_str), base).map_err(|error| {
            let mut finding = Diagnostic::error(Code::Usage, format!("{origin}: {error}"));
            if let LocationError::Kind(text) = &error
                && let Some(meant) = probably_meant(text, base).filter(|meant| meant != text)
            {
                let meant = Escaped::shortened(&meant);
                finding = finding.hint(did_you_mean(meant));
            }
            Failure::from(finding)
        })?;
    let mut names = locations.iter().map(|location| location.name.as_str());
    if let Some(name) = names.find(|name| is_reserved(name)) {
        return Err(Failure::usage(format!(
            "{origin}: no registry can be called `{name}`: lockfiles call members of workspaces and overrides so"
        )));
    }
    Ok(locations
        .into_iter()
        .map(ConfiguredRegistry::from)
        .collect())
}

/// Applies the bindings of the settings to registries that the command line or the environment names: without them, a
/// registry that anybody can publish to could take the place of an internal one. The registry of a binding is the one
/// that was given its name, or else the one at its location.
pub(super) fn with_bindings(
    mut registries: Vec<ConfiguredRegistry>,
    of_settings: &[ConfiguredRegistry],
) -> Result<Vec<ConfiguredRegistry>> {
    for bound in of_settings {
        let name = &bound.location.name;
        let has_name = |it: &ConfiguredRegistry| it.location.name == *name;
        let by_name = (registries.iter()).position(|it| it.location.is_named() && has_name(it));
        let at = by_name.or_else(|| {
            let mut named = registries.iter();
            named.position(|it| it.location.is_same_place(&bound.location))
        });
        if let Some(at) = at {
            let known = &mut registries[at].namespaces;
            for namespace in &bound.namespaces {
                if !known.contains(namespace) {
                    known.push(namespace.clone());
                }
            }
            continue;
        }
        if !bound.namespaces.is_empty() && registries.iter().any(has_name) {
            let message = format!(
                "pkgres.toml binds names to the registry `{name}`, and a registry without a name is called so in this run"
            );
            let finding = Diagnostic::error(Code::Usage, message);
            return Err(finding.hint("give it a name: `NAME=LOCATION`").into());
        }
        let namespaces = bound.namespaces.iter();
        let elsewhere = namespaces.map(|namespace| (namespace.clone(), name.clone()));
        for registry in &mut registries {
            registry.bound_elsewhere.extend(elsewhere.clone());
        }
    }
    Ok(registries)
}

/// Whether lockfiles give the name to sources that are no registries: members of workspaces and overrides.
pub(crate) fn is_reserved(name: &str) -> bool {
    name == workspace::REGISTRY_NAME || name.starts_with(OVERRIDE_PREFIX)
}

/// Whether a text is several registries, separated by commas as in the variable. A path can have commas, too.
pub(crate) fn are_several(text: &str) -> bool {
    let is_registry = |text: &str| RegistryLocation::parse_all([text], Path::new("")).is_ok();
    text.contains(',') && text.split(',').all(|part| is_registry(part.trim()))
}

/// Checks the texts of registries before they are written into a settings file.
pub(crate) fn check_registries(texts: &[String]) -> Result<()> {
    parse(texts, Path::new(""), "registries")?;
    Ok(())
}

/// The registries that a settings file names, if any.
pub(super) fn of_settings(settings: &SettingsFile) -> Result<Option<Vec<ConfiguredRegistry>>> {
    let Some(registries) = &settings.registries else {
        return Ok(None);
    };
    let origin = Origin::File(settings.path.clone()).to_string();
    let folder = from_current_folder(&settings.folder, Path::new(""));
    let registries = match registries {
        Registries::Locations(texts) => parse(texts, &folder, &origin)?,
        Registries::Tables(tables) => of_tables(tables, settings, &folder, &origin)?,
    };
    Ok(Some(registries))
}

/// The registries that have a table each.
fn of_tables(
    tables: &[(String, RegistryTable)],
    settings: &SettingsFile,
    folder: &Path,
    origin: &str,
) -> Result<Vec<ConfiguredRegistry>> {
    let texts: Vec<String> = tables
        .iter()
        .map(|(name, table)| format!("{name}={}", table.location))
        .collect();
    let mut registries = parse(&texts, folder, origin)?;
    let mut bound: BTreeMap<&str, &str> = BTreeMap::new();
    for (registry, (name, table)) in registries.iter_mut().zip(tables) {
        let invalid = |key: &str, error: &dyn std::fmt::Display| -> Failure {
            let message = format!("registries.{name}: {error}");
            settings
                .error_at(&["registries", name, key], message)
                .into()
        };
        for text in &table.namespaces {
            let namespace =
                Namespace::parse(text).map_err(|error| invalid("namespaces", &error))?;
            if let Some(other) = bound.insert(text, name) {
                let reason = format_args!(
                    "`{text}` is bound to `{other}` already: a name is looked up in one registry"
                );
                return Err(invalid("namespaces", &reason));
            }
            registry.namespaces.push(namespace);
        }
        if let Some(key) = &table.key {
            registry.key = Some(PublicKey::parse(key).map_err(|error| invalid("key", &error))?);
        }
        registry.ca = table.ca.as_ref().map(|path| folder.join(path));
        registry.limits = table.limits();
    }
    Ok(registries)
}
