//! What `lock` changes in a lockfile.

use std::collections::BTreeMap;

use pkgres_manifest::{Lockfile, PackageName, Version};
use pkgres_resolver::{ArtifactChange, Locked, Resolution};
use serde_json::json;

use super::changes::{shortened, versions_line};

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
            } => formatter.write_str(&versions_line(package, before, after)),
            Self::Artifact(change) => {
                write!(formatter, "  ~ {} {}", change.name, change.version)?;
                if change.digest_differs() {
                    let digests = change.locked.digests.iter();
                    let before: Vec<String> =
                        digests.map(|digest| shortened(Some(digest))).collect();
                    let before = match before.as_slice() {
                        [] => shortened(None),
                        some => some.join(" or "),
                    };
                    let after = shortened(change.digest.as_ref());
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
