//! What `lock` changes in a lockfile.

use std::collections::BTreeMap;

use pkgres_manifest::{ArtifactDigest, Lockfile, PackageName, Version};
use pkgres_resolver::{ArtifactChange, Locked, Resolution};
use serde_json::json;

/// How many digits are shown of a digest.
const DIGEST_DIGITS: usize = 12;

/// The ways in which a resolution, of which `new` was made, differs from what was locked, by package.
pub(crate) fn lock_changes(
    old: &Locked,
    new: &Lockfile,
    resolution: &Resolution,
) -> Vec<LockChange> {
    let mut changes = version_changes(old, new);
    let artifacts = resolution.artifact_changes().into_iter();
    changes.extend(artifacts.map(LockChange::Artifact));
    changes.sort_by(|one, two| one.package().cmp(two.package()));
    changes
}

/// A way in which the new lock differs from the old one.
pub(crate) enum LockChange {
    /// A package has other versions.
    Versions {
        package: PackageName,
        before: Vec<Version>,
        after: Vec<Version>,
    },
    /// A version has another digest or comes from somewhere else.
    Artifact(ArtifactChange),
}

impl LockChange {
    fn package(&self) -> &PackageName {
        match self {
            Self::Versions { package, .. } => package,
            Self::Artifact(change) => &change.name,
        }
    }

    /// Likewise for programs.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Versions {
                package,
                before,
                after,
            } => json!({"package": package, "before": before, "after": after}),
            Self::Artifact(change) => {
                let mut object = json!({"package": change.name, "version": change.version});
                if change.digest_differs() {
                    object["sha256"] =
                        json!({"before": change.locked.digests, "after": change.digest});
                }
                if change.source_differs() {
                    object["source"] =
                        json!({"before": change.locked.source, "after": change.source});
                }
                object
            }
        }
    }
}

impl std::fmt::Display for LockChange {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Versions {
                package,
                before,
                after,
            } => {
                let list = |versions: &[Version]| {
                    let texts: Vec<String> = versions.iter().map(ToString::to_string).collect();
                    texts.join(", ")
                };
                match (before.is_empty(), after.is_empty()) {
                    (true, _) => write!(formatter, "  + {package} {}", list(after)),
                    (_, true) => write!(formatter, "  - {package} {}", list(before)),
                    _ => write!(
                        formatter,
                        "  ~ {package} {} -> {}",
                        list(before),
                        list(after)
                    ),
                }
            }
            Self::Artifact(change) => {
                write!(formatter, "  ~ {} {}", change.name, change.version)?;
                if change.digest_differs() {
                    let before: Vec<String> = change.locked.digests.iter().map(shortened).collect();
                    let before = if before.is_empty() {
                        "none".to_owned()
                    } else {
                        before.join(" or ")
                    };
                    let after = change.digest.as_ref().map(shortened);
                    let after = after.as_deref().unwrap_or("none");
                    write!(formatter, " digest {before} -> {after}")?;
                }
                match &change.locked.source {
                    Some(before) if change.source_differs() => {
                        write!(formatter, " source {before} -> {}", change.source)
                    }
                    _ => Ok(()),
                }
            }
        }
    }
}

/// The beginning of a digest, which is enough to tell it from another one by eye.
fn shortened(digest: &ArtifactDigest) -> String {
    let text = digest.to_string();
    let kind = text.find(':').map_or(0, |colon| colon + 1);
    format!("{}\u{2026}", &text[..kind + DIGEST_DIGITS])
}

fn version_changes(old: &Locked, new: &Lockfile) -> Vec<LockChange> {
    let mut versions: BTreeMap<&PackageName, (Vec<Version>, Vec<Version>)> = BTreeMap::new();
    for (name, version) in old.packages.keys().chain(&old.preferred) {
        versions.entry(name).or_default().0.push(version.clone());
    }
    for (name, version) in new.packages.keys() {
        versions.entry(name).or_default().1.push(version.clone());
    }
    versions
        .into_iter()
        .filter(|(_, (before, after))| before != after)
        .map(|(package, (before, after))| LockChange::Versions {
            package: package.clone(),
            before,
            after,
        })
        .collect()
}
