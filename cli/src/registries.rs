//! The registries of a run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use pkgres_files::{Follow, read_file};
use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_manifest::{IndexRecord, PackageName, ReadOptions, RegistryName, Spec};
use pkgres_registry_client::{
    IndexCache, OnlyPackage, RegistryLocation, RegistrySet, read_provided,
};

use crate::args::RegistryArgs;
use crate::failure::{Failure, Result};
use crate::settings::{self, Override, Settings, overrides};

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
    locations: &[RegistryLocation],
    args: &RegistryArgs,
    options: &ReadOptions,
) -> Result<RegistrySet> {
    let cache = cache(args);
    let registries = locations
        .iter()
        .map(|location| location.open(options, cache.as_ref()))
        .collect::<std::result::Result<Vec<_>, _>>()?;
    let mut set = RegistrySet::new(registries);
    for (package, found) in overrides(&settings::current().project)? {
        if let Override::Path(path) = found {
            set.prefer(Box::new(stand_in(package, &path, options)?));
        }
    }
    Ok(set)
}

/// The package in a folder, which stands in for what registries have of it.
fn stand_in(package: PackageName, path: &Path, options: &ReadOptions) -> Result<OnlyPackage> {
    let mut locations =
        RegistryLocation::parse_all([format!("dir:{}", path.display()).as_str()], Path::new(""))
            .map_err(|error| Failure::usage(format!("overrides: {error}")))?;
    let mut location = locations.remove(0);
    location.name = RegistryName::parse(&format!("override-{package}").to_ascii_lowercase())
        .map_err(|error| Failure::usage(format!("overrides: {error}")))?;
    let registry = location.open(options, None)?;
    let found = registry.records(std::slice::from_ref(&package))?;
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

/// Where compiled indexes are kept.
///
/// Settings files have no say in this: they come with a project, and whoever can write to the
/// folder decides what is resolved.
fn cache(args: &RegistryArgs) -> Option<IndexCache> {
    if args.no_cache {
        return None;
    }
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    // A relative folder would be another one wherever the command is run.
    let folder = |name| {
        variable(name)
            .map(PathBuf::from)
            .filter(|folder| folder.is_absolute())
    };
    let folder = match variable(CACHE_VARIABLE) {
        Some(folder) => PathBuf::from(folder),
        None => match settings::current().get("cache") {
            Some(cache) if matches!(cache.origin, settings::Origin::File(_)) => {
                PathBuf::from(&cache.value)
            }
            _ => folder("XDG_CACHE_HOME")
                .or_else(|| Some(folder("HOME")?.join(".cache")))?
                .join("pkgres"),
        },
    };
    Some(IndexCache::new(folder, SystemTime::now()))
}

/// Where the registries are, in order of preference.
pub(crate) fn locations(
    args: &RegistryArgs,
    root_folder: Option<&Path>,
) -> Result<Vec<RegistryLocation>> {
    let parse = |texts: &[String], base: &Path, from: &str| {
        RegistryLocation::parse_all(texts.iter().map(String::as_str), base)
            .map_err(|error| Failure::usage(format!("{from}: {error}")))
    };
    if !args.registries.is_empty() {
        return parse(&args.registries, Path::new(""), "--registry");
    }
    if let Some(value) = std::env::var_os(REGISTRY_VARIABLE).filter(|value| !value.is_empty()) {
        let value = value
            .into_string()
            .map_err(|_| Failure::usage(format!("{REGISTRY_VARIABLE} is not UTF-8")))?;
        let texts: Vec<String> = value
            .split(',')
            .map(|text| text.trim().to_owned())
            .collect();
        return parse(&texts, Path::new(""), REGISTRY_VARIABLE);
    }
    // An archive lies in the folder that a package folder would be.
    let settings_folder = match root_folder {
        Some(archive) if archive.is_file() => archive.parent().unwrap_or(Path::new("")),
        Some(folder) => folder,
        None => Path::new("."),
    };
    let settings = Settings::nearest(settings_folder)?;
    if let Some(texts) = &settings.registries {
        return parse(texts, &settings.folder, "pkgres.toml");
    }
    match root_folder {
        Some(folder) => Ok(vec![RegistryLocation::beside(folder)]),
        None => Err(Failure::usage(
            "no registry is given: `--registry dir:FOLDER` names one",
        )),
    }
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
    Ok(ReadOptions {
        core: core_library(args)?,
        ..ReadOptions::default()
    })
}

/// The releases that the host supplies.
pub(crate) fn provided(args: &RegistryArgs, options: &ReadOptions) -> Result<Vec<IndexRecord>> {
    let mut records = Vec::new();
    for path in &args.provided {
        let bytes = read_file(path, MAX_PROVIDED_BYTES, Follow::Links)?;
        let shown = path.to_string_lossy();
        let text = String::from_utf8(bytes).map_err(|_| {
            Diagnostic::error(Code::Encoding, format!("{shown}: the text is not UTF-8"))
        })?;
        records.extend(read_provided(&shown, &text, &options.limits)?);
    }
    Ok(records)
}
