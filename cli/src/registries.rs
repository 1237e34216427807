//! The registries of a run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use pkgres_files::{Follow, read_file};
use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_manifest::{IndexRecord, PackageName, ReadOptions, RegistryName, Spec};
use pkgres_registry_client::protocol::PublicKey;
use pkgres_registry_client::{
    CheckedLocks, HttpOptions, IndexCache, Namespace, OnlyPackage, RegistryError, RegistryLocation,
    RegistrySet, read_provided,
};

use crate::args::RegistryArgs;
use crate::environment::{folder, variable};
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::network;
use crate::place::Place;
use crate::settings::{self, Origin, Override, Registries, RegistryTable, Settings, overrides};

/// The variable that names registries, separated by commas.
const REGISTRY_VARIABLE: &str = "PKGRES_REGISTRY";

/// The variable that names the folder of the cache.
const CACHE_VARIABLE: &str = "PKGRES_CACHE";

/// The largest file of provided releases, in bytes.
const MAX_PROVIDED_BYTES: u64 = 32 << 20;

/// Opens the registries that the arguments, the environment or the settings name, or else the
/// folder beside the root.
pub(crate) fn open(
    args: &RegistryArgs,
    root_folder: Option<&Path>,
    options: &ReadOptions,
) -> Result<RegistrySet> {
    open_all(&locations(args, root_folder)?, args, options)
}

/// Opens registries, the preferred one first.
pub(crate) fn open_all(
    places: &[Place],
    args: &RegistryArgs,
    options: &ReadOptions,
) -> Result<RegistrySet> {
    let cache = cache_folder(args.no_cache);
    let index_cache = cache
        .clone()
        .map(|folder| IndexCache::new(folder, SystemTime::now()));
    let mut registries = Vec::with_capacity(places.len());
    for place in places {
        let http = network::options(&args.network, place, cache.clone())?;
        let registry = place.location.open(options, index_cache.as_ref(), &http)?;
        registries.push(registry);
    }
    let mut registries = RegistrySet::new(registries);
    for place in places {
        for namespace in &place.namespaces {
            registries.bind(namespace.clone(), place.location.name.clone());
        }
    }
    for (package, found) in overrides(&settings::current().project)? {
        if let Override::Path(path) = found {
            registries.prefer(Box::new(stand_in(package, &path, options)?));
        }
    }
    Ok(registries)
}

/// The package in a folder, which stands in for what registries have of it.
fn stand_in(package: PackageName, path: &Path, options: &ReadOptions) -> Result<OnlyPackage> {
    let mut locations =
        RegistryLocation::parse_all([format!("dir:{}", path.display()).as_str()], Path::new(""))
            .map_err(|error| Failure::usage(format!("overrides: {error}")))?;
    let mut location = locations.remove(0);
    location.name = RegistryName::parse(&format!("override-{package}").to_ascii_lowercase())
        .map_err(|error| Failure::usage(format!("overrides: {error}")))?;
    let http = HttpOptions::new(jiff::Timestamp::now());
    let named = |error: RegistryError| {
        let mut failure = Failure::from(error.to_diagnostic());
        for finding in &mut failure.findings {
            finding.hints = vec![format!(
                "`overrides` in pkgres.toml names it for `{package}`"
            )];
        }
        failure.exit = Exit::Registry;
        failure
    };
    let registry = location.open(options, None, &http).map_err(named)?;
    let found = registry
        .records(std::slice::from_ref(&package))
        .map_err(named)?;
    if found.iter().flatten().next().is_none() {
        let path = path.to_string_lossy();
        return Err(Failure::usage(format!(
            "overrides: there is no package `{package}` in {}",
            pkgres_manifest::diagnostic::Escaped::new(&path)
        )));
    }
    Ok(OnlyPackage::new(registry, package))
}

/// What requirements are taken to say in place of what is written.
pub(crate) fn overriding_specs() -> Result<BTreeMap<PackageName, Spec>> {
    let overrides = overrides(&settings::current().project)?;
    let spec = |found| match found {
        Override::Spec(spec) => spec,
        Override::Path(_) => Spec::any(),
    };
    Ok(overrides
        .into_iter()
        .map(|(package, found)| (package, spec(found)))
        .collect())
}

/// Where the cache is.
///
/// Settings files have no say in this: they come with a project, and whoever can write to the
/// folder decides what is resolved.
pub(crate) fn cache_folder(no_cache: bool) -> Option<PathBuf> {
    if no_cache {
        return None;
    }
    if variable(CACHE_VARIABLE).is_none()
        && let Some(cache) = settings::current().get("cache")
        && matches!(cache.origin, Origin::File(_))
    {
        return Some(PathBuf::from(&cache.value));
    }
    folder(CACHE_VARIABLE, "XDG_CACHE_HOME", ".cache")
}

/// What is known of earlier checks of lockfiles by this very program.
pub(crate) fn checked_locks(args: &RegistryArgs) -> Option<CheckedLocks> {
    let folder = cache_folder(args.no_cache)?;
    let program = std::env::current_exe().ok()?;
    let program = std::fs::metadata(program).ok()?;
    let (length, modified) = (program.len(), program.modified().ok()?);
    let program = format!("{} {length} {modified:?}", env!("CARGO_PKG_VERSION"));
    Some(CheckedLocks::new(&folder, program, SystemTime::now()))
}

/// Where the registries are, in order of preference.
pub(crate) fn locations(args: &RegistryArgs, root_folder: Option<&Path>) -> Result<Vec<Place>> {
    if !args.registries.is_empty() {
        return parse(&args.registries, Path::new(""), "--registry");
    }
    match configured(root_folder)? {
        Some(places) => Ok(places),
        None => match root_folder {
            Some(folder) => Ok(vec![RegistryLocation::beside(folder).into()]),
            None => Err(Failure::usage(
                "no registry is given: `--registry dir:FOLDER` names one",
            )),
        },
    }
}

/// Reads places as they are written.
pub(crate) fn parse(texts: &[String], base: &Path, from: &str) -> Result<Vec<Place>> {
    let locations = RegistryLocation::parse_all(texts.iter().map(String::as_str), base)
        .map_err(|error| Failure::usage(format!("{from}: {error}")))?;
    Ok(locations.into_iter().map(Place::from).collect())
}

/// The registries that the environment or the settings name, if they name any.
pub(crate) fn configured(root_folder: Option<&Path>) -> Result<Option<Vec<Place>>> {
    if let Some(value) = variable(REGISTRY_VARIABLE) {
        let value = value
            .into_string()
            .map_err(|_| Failure::usage(format!("{REGISTRY_VARIABLE} is not UTF-8")))?;
        let texts: Vec<String> = value
            .split(',')
            .map(|text| text.trim().to_owned())
            .collect();
        return parse(&texts, Path::new(""), REGISTRY_VARIABLE).map(Some);
    }
    // An archive lies in the folder that a package folder would be.
    let settings_folder = match root_folder {
        Some(archive) if archive.is_file() => archive.parent().unwrap_or(Path::new("")),
        Some(folder) => folder,
        None => Path::new("."),
    };
    match of_settings(&Settings::nearest(settings_folder)?)? {
        None => of_settings(&settings::current().user),
        places => Ok(places),
    }
}

/// The registries that a settings file names, if it names any.
fn of_settings(settings: &Settings) -> Result<Option<Vec<Place>>> {
    let Some(registries) = &settings.registries else {
        return Ok(None);
    };
    let from = Origin::File(settings.path.clone()).to_string();
    let places = match registries {
        Registries::Places(texts) => parse(texts, &settings.folder, &from)?,
        Registries::Tables(tables) => of_tables(tables, &settings.folder, &from)?,
    };
    Ok(Some(places))
}

/// Registries that have a table each.
fn of_tables(tables: &[(String, RegistryTable)], folder: &Path, from: &str) -> Result<Vec<Place>> {
    let texts: Vec<String> = tables
        .iter()
        .map(|(name, table)| format!("{name}={}", table.location))
        .collect();
    let mut places = parse(&texts, folder, from)?;
    for (place, (name, table)) in places.iter_mut().zip(tables) {
        let wrong = |error: &dyn std::fmt::Display| {
            Failure::usage(format!("{from}: registries.{name}: {error}"))
        };
        for text in &table.namespaces {
            let namespace = Namespace::parse(text).map_err(|error| wrong(&error))?;
            place.namespaces.push(namespace);
        }
        if let Some(key) = &table.key {
            place.key = Some(PublicKey::parse(key).map_err(|error| wrong(&error))?);
        }
        place.ca = table.ca.as_ref().map(|path| folder.join(path));
    }
    Ok(places)
}

/// The core library of a run.
pub(crate) fn core_library(args: &RegistryArgs) -> Result<Option<PackageName>> {
    if args.no_core_library {
        return Ok(None);
    }
    PackageName::parse(&args.core_library)
        .map(Some)
        .map_err(|error| Failure::usage(format!("--core-library: {error}")))
}

/// How packages are read in a run: what a Heat template extends depends on the core library.
pub(crate) fn read_options(args: &RegistryArgs) -> Result<ReadOptions> {
    Ok(ReadOptions::with_core(core_library(args)?))
}

/// The releases that the host supplies, as the arguments or else the settings say.
pub(crate) fn provided(args: &RegistryArgs, options: &ReadOptions) -> Result<Vec<IndexRecord>> {
    let paths = if args.provided.is_empty() {
        settings::provided(&settings::current().project)?
    } else {
        args.provided.clone()
    };
    let mut records = Vec::new();
    for path in &paths {
        let bytes = read_file(path, MAX_PROVIDED_BYTES, Follow::Links)?;
        let shown = path.to_string_lossy();
        let text = String::from_utf8(bytes).map_err(|_| {
            Diagnostic::error(Code::Encoding, format!("{shown}: the text is not UTF-8"))
        })?;
        records.extend(read_provided(&shown, &text, &options.limits)?);
    }
    Ok(records)
}
