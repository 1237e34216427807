//! A resolution as JSON, and what is worth saying about it.

use pkgres_resolver::{
    BoundRequirement, ChosenPrerelease, ChosenWithdrawn, Demand, PrereleaseReason, Resolution,
    SideBySide,
};
use serde_json::{Map, Value, json};

use crate::given;

/// What is worth saying about a resolution: packages with several releases, prereleases and
/// withdrawn releases, and why they are there. A line each.
pub(crate) fn notes(resolution: &Resolution) -> Vec<String> {
    let mut lines = side_by_side(resolution);
    for ChosenPrerelease {
        name,
        version,
        because,
    } in resolution.prereleases()
    {
        let reason = match because {
            PrereleaseReason::Locked => "the lock holds it".to_owned(),
            PrereleaseReason::Policy => "prereleases are allowed".to_owned(),
            PrereleaseReason::NoStable => "no stable version fits".to_owned(),
            PrereleaseReason::Named { owner, spec } => format!("{owner} requires {spec}"),
        };
        lines.push(format!("{name} {version} is a prerelease: {reason}"));
    }
    for withdrawn in resolution.withdrawn() {
        let ChosenWithdrawn { name, version, .. } = &withdrawn;
        lines.push(if withdrawn.was_asked_for {
            format!("{name} {version} was withdrawn and is taken because it was asked for")
        } else {
            format!("{name} {version} was withdrawn and is kept because the lock holds it")
        });
    }
    for (name, spec) in resolution.unused_overrides() {
        lines.push(format!(
            "the override of {name} with {spec} changes nothing: nothing requires {name}"
        ));
    }
    lines
}

/// Packages with several releases, and who requires each.
pub(crate) fn side_by_side(resolution: &Resolution) -> Vec<String> {
    let mut lines = Vec::new();
    for entry in resolution.side_by_side() {
        lines.push(format!("{} has several releases side by side:", entry.name));
        for demand in &entry.because {
            lines.push(format!(
                "  {} for {}, which requires {}",
                demand.version,
                demand.owner,
                required_spec(demand)
            ));
        }
        lines.extend(kept_apart(entry));
    }
    lines
}

/// What a requirement says, and that nobody wrote it, if so.
fn required_spec(demand: &Demand) -> String {
    let implied = if demand.is_implied { " (implied)" } else { "" };
    format!("{}{implied}", demand.spec)
}

/// What keeps releases side by side that requirements on the package do not keep apart.
fn kept_apart(entry: &SideBySide) -> Option<String> {
    let version = entry.allowed_by_all()?;
    Some(if entry.are_locked {
        format!(
            "  all of these allow {version}, and the lock holds the others, too: `{}` finds out whether one will do",
            given::command("update")
        )
    } else {
        format!(
            "  all of these allow {version}, and what the releases themselves require or define keeps them apart"
        )
    })
}

fn requires(requirements: &[BoundRequirement]) -> Value {
    let map: Map<String, Value> = requirements
        .iter()
        .map(|bound| (bound.package.to_string(), json!(bound.version)))
        .collect();
    Value::Object(map)
}

/// A resolution as a JSON document.
pub(crate) fn resolution_json(resolution: &Resolution) -> Value {
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
        "notes": notes(resolution),
        "stats": {"steps": resolution.stats().steps},
    })
}

/// Packages with several releases as JSON, and who requires each.
pub(crate) fn side_by_side_json(resolution: &Resolution) -> Vec<Value> {
    resolution
        .side_by_side()
        .iter()
        .map(|entry| {
            let because: Vec<Value> = entry
                .because
                .iter()
                .map(|demand| {
                    json!({
                        "package": demand.owner.name(),
                        "package_version": demand.owner.version(),
                        "spec": demand.spec.written(),
                        "version": demand.version,
                    })
                })
                .collect();
            json!({"name": entry.name, "versions": entry.versions, "because": because})
        })
        .collect()
}
