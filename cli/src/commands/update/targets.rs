//! The targets of an update: locked releases, and the versions to which they move.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped, sentence_list};
use pkgres_manifest::{Lockfile, PackageName, Release, Version};
use pkgres_registry_client::RegistrySet;
use pkgres_resolver::{PackageUpdate, Root, Supply, UpdateTarget};

use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::named_packages::{release_name, unknown, version_of};

/// The packages that are named as `NAME` or, to move only one of several locked versions, as `NAME@VERSION`.
pub(super) fn moving_packages(
    packages: &[String],
    precise: Option<&str>,
    lock: &Lockfile,
    roots: &[Root],
    registries: &RegistrySet,
    context: &Context,
) -> Result<BTreeMap<PackageName, PackageUpdate>> {
    let mut from: BTreeMap<PackageName, BTreeSet<Version>> = BTreeMap::new();
    for text in packages {
        // A yanked release that the manifest requires for the first time is locked by naming it.
        let named = release_name(text, Some(lock.ecosystem)).ok();
        let is_new = |(name, version): &(PackageName, Option<Version>)| {
            let is_locked = lock.packages.keys().any(|locked| locked.name == *name);
            version.is_none() && !is_locked && is_required(name, roots)
        };
        if precise.is_some()
            && let Some((name, _)) = named.filter(is_new)
        {
            from.entry(name).or_default();
            continue;
        }
        let (name, versions) = locked_versions(text, lock, Some(registries), context)?;
        from.entry(name).or_default().extend(versions);
    }
    let to = match precise {
        None => UpdateTarget::Best,
        Some(_) if from.len() != 1 => {
            return Err(Failure::usage("`--precise` needs exactly one package"));
        }
        Some(text) => {
            let name = from.keys().next().expect("there is one");
            let version = version_of(name, text, Some(lock.ecosystem)).map_err(|error| {
                let finding = Diagnostic::error(Code::Usage, format!("--precise: {error}"));
                match &error.nearest {
                    Some(nearest) => finding.hint(format!("the nearest version is {nearest}")),
                    None => finding
                        .hint("omit the option to update to the newest version that is allowed"),
                }
            })?;
            if let Some(name) = packages.iter().find(|text| !text.contains('@')) {
                reject_several(name, &version, &from, context)?;
            }
            UpdateTarget::Exactly(version)
        }
    };
    let moving = |from| PackageUpdate {
        from,
        to: to.clone(),
    };
    Ok(from
        .into_iter()
        .map(|(name, from)| (name, moving(from)))
        .collect())
}

/// Whether a manifest requires all of these packages, which are named without a version.
pub(super) fn are_required(packages: &[String], roots: &[Root]) -> bool {
    let mut packages = packages.iter();
    packages.all(|text| {
        let name = release_name(text, None);
        name.is_ok_and(|(name, version)| version.is_none() && is_required(&name, roots))
    })
}

/// Whether a manifest requires a package.
fn is_required(name: &PackageName, roots: &[Root]) -> bool {
    let mut required = roots.iter().filter_map(Root::record);
    required.any(|root| root.requirements.iter().any(|one| one.package == *name))
}

/// Whether a named package or release is locked.
pub(super) fn is_locked(text: &str, lock: &Lockfile, context: &Context) -> bool {
    locked_versions(text, lock, None, context).is_ok()
}

/// A named package and its locked versions, or only the one that is named. Errors have hints from the registries.
fn locked_versions(
    text: &str,
    lock: &Lockfile,
    registries: Option<&RegistrySet>,
    context: &Context,
) -> Result<(PackageName, BTreeSet<Version>)> {
    let (name, version) = match release_name(text, Some(lock.ecosystem)) {
        Err(_) if Path::new(text).is_file() => return Err(manifest_as_package(text, context)),
        named => named?,
    };
    let releases = lock
        .packages
        .keys()
        .filter(|Release { name: known, .. }| *known == name);
    let locked: BTreeSet<Version> = releases
        .map(|Release { version, .. }| version.clone())
        .collect();
    if locked.is_empty() {
        if Path::new(text).is_file() {
            return Err(manifest_as_package(text, context));
        }
        if lock.roots.contains_key(&name) {
            let message =
                format!("`{name}` is a root of the lockfile: its version is in its manifest");
            return Err(Failure::usage(message));
        }
        let message = format!("`{name}` is not in the lockfile");
        let known = lock
            .packages
            .keys()
            .map(|Release { name: known, .. }| known.as_str());
        return Err(unknown(&name, message, known, context));
    }
    let Some(version) = version else {
        return Ok((name, locked));
    };
    if let Some(known) = locked.iter().find(|known| version.names_release(known)) {
        return Ok((name, BTreeSet::from([known.clone()])));
    }
    let message = format!(
        "the lockfile has `{name}` at {}, not at {version}",
        sentence_list(&locked, "and")
    );
    let mut finding = Diagnostic::error(Code::Usage, message);
    // With several releases, one has to be named.
    if locked.len() == 1 {
        finding = finding.hint(if registries.is_some_and(|it| has(it, &name, &version)) {
            let words = format!("update {name} --precise {version}");
            let command = context.invocation.command(&words);
            format!("`{command}` updates to {version}")
        } else {
            let command = context.invocation.command(&format!("info {name}"));
            format!("`{command}` shows which versions there are")
        });
    }
    Err(finding.into())
}

/// Whether a registry has a release. One that cannot be read is reported when it is needed.
fn has(registries: &RegistrySet, name: &PackageName, version: &Version) -> bool {
    let supplies = registries.supply(std::slice::from_ref(name));
    let supplies = supplies.unwrap_or_default();
    let mut records = supplies.iter().flat_map(Supply::records);
    records.any(|record| version.names_release(&record.version))
}

/// The error about a manifest where a package is expected.
fn manifest_as_package(text: &str, context: &Context) -> Failure {
    let command = (context.invocation).command_for("update", Path::new(text));
    let shown = Escaped::shortened(text);
    let message = format!("`{shown}` is a file, and not a locked package");
    let finding = Diagnostic::error(Code::Usage, message);
    finding
        .hint(format!("`{command}` updates its lockfile"))
        .into()
}

/// Rejects `--precise` for a package with several locked releases, none of which is named.
fn reject_several(
    name: &str,
    to: &Version,
    from: &BTreeMap<PackageName, BTreeSet<Version>>,
    context: &Context,
) -> Result<()> {
    let several = from.values().find(|versions| versions.len() > 1);
    let Some((first, versions)) = several.and_then(|versions| Some((versions.first()?, versions)))
    else {
        return Ok(());
    };
    let message = format!(
        "the lockfile has `{name}` at {}: which one becomes {to}?",
        sentence_list(versions, "and")
    );
    let words = format!("update {name}@{first} --precise {to}");
    let command = context.invocation.command(&words);
    Err(Diagnostic::error(Code::Usage, message)
        .hint(format!("`{command}` updates {first}"))
        .into())
}
