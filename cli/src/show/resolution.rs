//! Notes about a resolution, and a resolution as JSON.

use std::collections::BTreeMap;

use pkgres_manifest::{PackageName, RegistryName, Release, Version};
use pkgres_registry_client::NewerElsewhere;
use pkgres_resolver::{
    BoundRequirement, ChosenExcluded, ChosenPrerelease, Locked, PolicyExclusion, PrereleaseReason,
    Requirer, Resolution, SideBySide,
};
use serde_json::{Map, Value, json};

use crate::context::Context;
use crate::yank_reasons::YankReasons;

/// Notes on unusual parts of a resolution, with their reasons: packages with several releases, prereleases,
/// yanked releases, what is built in, and overrides without effect.
pub(crate) fn notes(
    resolution: &Resolution,
    reasons: &YankReasons,
    context: &Context,
) -> Vec<String> {
    notes_if_locked(resolution, reasons, |_, _| true, context)
}

/// The same notes for a project that was solved with others. `is_locked` tells whether its own lockfile has a release:
/// what all of them agreed on is like locked for each.
pub(crate) fn notes_on_agreed(
    resolution: &Resolution,
    reasons: &YankReasons,
    locked: &Locked,
    context: &Context,
) -> Vec<String> {
    let is_locked = |name: &PackageName, version: &Version| {
        let mut releases = locked.releases();
        releases.any(|locked| locked == (name, version))
    };
    notes_if_locked(resolution, reasons, is_locked, context)
}

fn notes_if_locked(
    resolution: &Resolution,
    reasons: &YankReasons,
    is_locked: impl Fn(&PackageName, &Version) -> bool + Copy,
    context: &Context,
) -> Vec<String> {
    let mut lines = side_by_side(resolution, context);
    for ChosenPrerelease {
        name,
        version,
        because,
    } in resolution.prereleases()
    {
        let reason = match because {
            PrereleaseReason::FromHost => "the host provides it".to_owned(),
            PrereleaseReason::Locked if !is_locked(name, version) => {
                "the projects that are solved together agreed on it".to_owned()
            }
            PrereleaseReason::Locked => "the lockfile has it".to_owned(),
            PrereleaseReason::Requested => "it was requested".to_owned(),
            PrereleaseReason::Policy => "prereleases are allowed".to_owned(),
            PrereleaseReason::StableExcluded { version, exclusion } => {
                let was = excluded_because(*exclusion);
                let why = reasons.in_parentheses(name, version);
                format!("the stable version {version} {was}{why}")
            }
            PrereleaseReason::NoStable => "no stable version fits".to_owned(),
            PrereleaseReason::Named { owner, spec } => format!("{owner} requires {spec}"),
        };
        lines.push(format!("{name} {version} is a prerelease: {reason}"));
    }
    lines.extend(excluded_if_locked(resolution, reasons, is_locked));
    let built_in = resolution.built_in();
    let is_new = |Release { name, version }: &&Release| !is_locked(name, version);
    lines.extend(
        built_in
            .iter()
            .filter(is_new)
            .map(|Release { name, version }| {
                format!("using the built-in {name} {version}, because no registry has it")
            }),
    );
    for (name, spec) in resolution.unused_overrides() {
        let spec = spec.in_words();
        lines.push(format!(
            "the override of {name} with {spec} has no effect: nothing requires {name}"
        ));
    }
    lines
}

/// Notes on releases that are used although the policy excludes them.
pub(crate) fn excluded(resolution: &Resolution, reasons: &YankReasons) -> Vec<String> {
    excluded_if_locked(resolution, reasons, |_, _| true)
}

fn excluded_if_locked(
    resolution: &Resolution,
    reasons: &YankReasons,
    is_locked: impl Fn(&PackageName, &Version) -> bool,
) -> Vec<String> {
    let excluded = resolution.excluded().into_iter();
    let notes = excluded.map(|chosen| {
        let ChosenExcluded { name, version, .. } = &chosen;
        let was = excluded_because(chosen.exclusion);
        let reason = reasons.in_parentheses(name, version);
        let used = if chosen.was_asked_for {
            "used because it was requested"
        } else if is_locked(name, version) {
            "kept because the lockfile has it"
        } else {
            "used because the projects that are solved together agreed on it"
        };
        format!("{name} {version} {was}{reason}; it is {used}")
    });
    notes.collect()
}

/// Notes on newer releases in registries that are not used for their package.
pub(crate) fn newer_elsewhere(
    newer: &[NewerElsewhere],
    locations: &BTreeMap<RegistryName, String>,
) -> Vec<String> {
    let location = |name: &RegistryName| match locations.get(name) {
        Some(location) => location.clone(),
        None => name.to_string(),
    };
    let notes = newer.iter().map(|newer| {
        let NewerElsewhere {
            package,
            version,
            registry,
            used,
        } = newer;
        format!(
            "{package} {version} in {} is not used: {} comes first and has {package}, too",
            location(registry),
            location(used)
        )
    });
    notes.collect()
}

/// Why the policy excludes a release.
pub(crate) fn excluded_because(exclusion: PolicyExclusion) -> &'static str {
    match exclusion {
        PolicyExclusion::TooNew => "was published too late for `exclude-newer`",
        _ => "was yanked",
    }
}

/// Notes on packages with several releases, and their requirers.
pub(crate) fn side_by_side(resolution: &Resolution, context: &Context) -> Vec<String> {
    let mut lines = Vec::new();
    for entry in resolution.side_by_side() {
        lines.push(format!("{} has several releases side by side:", entry.name));
        for requirement in &entry.because {
            lines.push(format!(
                "  {} for {}, which requires {}",
                requirement.version,
                requirement.owner,
                required_spec(requirement)
            ));
        }
        lines.extend(kept_apart(entry, context));
    }
    lines
}

/// The spec of a requirement, and whether the requirement is implied.
fn required_spec(requirement: &Requirer) -> String {
    let implied = if requirement.is_implied {
        " (implied)"
    } else {
        ""
    };
    format!("{}{implied}", requirement.spec)
}

/// The reason for several releases of a package although one version satisfies all requirements on it.
fn kept_apart(entry: &SideBySide, context: &Context) -> Option<String> {
    let version = entry.allowed_by_all()?;
    Some(if entry.are_locked {
        format!(
            "  all of these allow {version}, but the lockfile has the others, too: `{}` finds out whether one is enough",
            context.invocation.command("update")
        )
    } else {
        format!(
            "  all of these allow {version}, but the requirements or classes of the releases keep them apart"
        )
    })
}

/// Requirements as an object of versions, by package.
fn requires(requirements: &[BoundRequirement]) -> Value {
    let map: Map<String, Value> = requirements
        .iter()
        .map(|bound| (bound.package.to_string(), json!(bound.version)))
        .collect();
    Value::Object(map)
}

/// A resolution as a JSON document.
pub(crate) fn resolution_json(
    resolution: &Resolution,
    reasons: &YankReasons,
    context: &Context,
) -> Value {
    let roots: Vec<Value> = resolution
        .roots()
        .iter()
        .map(|root| {
            json!({
                "name": root.owner.name(),
                "version": root.owner.version(),
                "requires": requires(&root.requires),
            })
        })
        .collect();
    let packages: Vec<Value> = resolution
        .packages()
        .iter()
        .map(|package| {
            json!({
                "name": package.name,
                "version": package.version,
                "source": package.source,
                "sha256": package.digest,
                "requires": requires(&package.requires),
            })
        })
        .collect();
    json!({
        "schema_version": 1,
        "status": "resolved",
        "root": roots.first(),
        "packages": packages,
        "side_by_side": side_by_side_json(resolution),
        "notes": notes(resolution, reasons, context),
        "stats": {"steps": resolution.stats().steps},
    })
}

/// Packages with several releases, and what requires each, as JSON.
pub(crate) fn side_by_side_json(resolution: &Resolution) -> Vec<Value> {
    resolution
        .side_by_side()
        .iter()
        .map(|entry| {
            let because: Vec<Value> = entry.because.iter().map(requirement_json).collect();
            json!({"name": entry.name, "versions": entry.versions, "because": because})
        })
        .collect()
}

/// A requirement and the version it is bound to, as JSON.
pub(super) fn requirement_json(requirement: &Requirer) -> Value {
    json!({
        "package": requirement.owner.name(),
        "package_version": requirement.owner.version(),
        "spec": requirement.spec.written(),
        "version": requirement.version,
    })
}
