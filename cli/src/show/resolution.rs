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
    let is_locked = |name: &PackageName, version: &Version| is_locked(locked, name, version);
    notes_if_locked(resolution, reasons, is_locked, context)
}

fn is_locked(locked: &Locked, name: &PackageName, version: &Version) -> bool {
    let mut releases = locked.releases();
    releases.any(|locked| locked == (name, version))
}

/// Notes on releases that are built in, unless a lockfile has them.
pub(crate) fn newly_built_in(
    resolution: &Resolution,
    locked: &Locked,
) -> impl Iterator<Item = String> {
    built_in(resolution, |name, version| is_locked(locked, name, version))
}

fn notes_if_locked(
    resolution: &Resolution,
    reasons: &YankReasons,
    is_locked: impl Fn(&PackageName, &Version) -> bool + Copy,
    context: &Context,
) -> Vec<String> {
    let mut lines = side_by_side(resolution, context);
    lines.extend(unusual(resolution, reasons, |name, version| {
        if is_locked(name, version) {
            KeptBy::Lockfile
        } else {
            KeptBy::Agreement
        }
    }));
    lines.extend(built_in(resolution, is_locked));
    for (name, spec) in resolution.unused_overrides() {
        let spec = spec.in_words();
        lines.push(format!(
            "the override of {name} with {spec} has no effect: nothing requires {name}"
        ));
    }
    lines
}

/// Notes on releases that are built in, unless they were locked before.
pub(crate) fn built_in(
    resolution: &Resolution,
    is_locked: impl Fn(&PackageName, &Version) -> bool,
) -> impl Iterator<Item = String> {
    let built_in = resolution.built_in().into_iter();
    let is_new = move |Release { name, version }: &Release| !is_locked(name, version);
    built_in.filter(is_new).map(|Release { name, version }| {
        format!("using the built-in {name} {version}, because no registry has it")
    })
}

/// Why a release is used that would not be chosen otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeptBy {
    /// A lockfile has it.
    Lockfile,
    /// Projects that are solved together agreed on it.
    Agreement,
    /// An object is pinned to it.
    Pin,
    /// An object is pinned to it in place of a version that is gone.
    Fallback,
    /// The table of versions in an object model has it.
    Model,
}

impl KeptBy {
    /// Whether a model states the release itself.
    fn is_pinned(self) -> bool {
        matches!(self, Self::Pin | Self::Fallback)
    }

    /// The reason as a clause.
    fn reason(self) -> &'static str {
        match self {
            Self::Lockfile => "the lockfile has it",
            Self::Agreement => "the projects that are solved together agreed on it",
            Self::Pin => "an object is pinned to it",
            Self::Fallback => "it replaces a version that is gone",
            Self::Model => "the model has it",
        }
    }
}

/// Notes on prereleases, and on releases that the policy excludes. `kept_by` tells why one of these is used.
pub(crate) fn unusual(
    resolution: &Resolution,
    reasons: &YankReasons,
    kept_by: impl Fn(&PackageName, &Version) -> KeptBy,
) -> Vec<String> {
    let mut lines = Vec::new();
    for ChosenPrerelease {
        name,
        version,
        because,
        ..
    } in resolution.prereleases()
    {
        let reason = match because {
            _ if kept_by(name, version).is_pinned() => kept_by(name, version).reason().to_owned(),
            PrereleaseReason::FromHost => "the host provides it".to_owned(),
            PrereleaseReason::Locked => kept_by(name, version).reason().to_owned(),
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
    lines.extend(excluded_with(resolution, reasons, kept_by));
    lines
}

/// Notes on releases that are used although the policy excludes them.
pub(crate) fn excluded(resolution: &Resolution, reasons: &YankReasons) -> Vec<String> {
    excluded_with(resolution, reasons, |_, _| KeptBy::Lockfile)
}

fn excluded_with(
    resolution: &Resolution,
    reasons: &YankReasons,
    kept_by: impl Fn(&PackageName, &Version) -> KeptBy,
) -> Vec<String> {
    let excluded = resolution.excluded();
    let is_same = |one: &ChosenExcluded, next: &ChosenExcluded| {
        (&one.name, &one.version) == (&next.name, &next.version)
    };
    let notes = excluded.chunk_by(is_same).map(|of_release| {
        let ChosenExcluded { name, version, .. } = &of_release[0];
        let was = of_release.iter().map(|one| {
            let reason = match one.exclusion {
                PolicyExclusion::Yanked => reasons.in_parentheses(name, version),
                _ => String::new(),
            };
            format!("{}{reason}", excluded_because(one.exclusion))
        });
        let was: Vec<String> = was.collect();
        let was = was.join(" and ");
        if of_release[0].was_asked_for {
            return format!("{name} {version} {was}; it is used because it was requested");
        }
        let kept_by = kept_by(name, version);
        let used = match kept_by {
            KeptBy::Agreement => "used",
            _ => "kept",
        };
        format!(
            "{name} {version} {was}; it is {used} because {}",
            kept_by.reason()
        )
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
        PolicyExclusion::Prerelease => "is a prerelease",
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
                "yanked": package.yanked,
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
