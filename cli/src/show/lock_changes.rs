//! What `lock` changes in a lockfile.

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
    /// The package that it is about.
    pub(crate) fn package(&self) -> &PackageName {
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
            } => versions_line(package, before, after).fmt(formatter),
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
    let locked = old.packages.keys().chain(&old.preferred);
    let mut before: Vec<&(PackageName, Version)> = locked.collect();
    before.sort();
    let after: Vec<&(PackageName, Version)> = new.packages.keys().collect();
    let (mut before, mut after) = (before.as_slice(), after.as_slice());
    let mut changes = Vec::with_capacity(after.len());
    // Both are sorted, and go on together.
    while let Some(package) = first_of(before, after) {
        let old = take_versions(&mut before, package);
        let new = take_versions(&mut after, package);
        if old != new {
            changes.push(LockChange::Versions {
                package: package.clone(),
                before: old,
                after: new,
            });
        }
    }
    changes
}

/// The package that comes first in either of two sorted lists.
fn first_of<'a>(
    one: &[&'a (PackageName, Version)],
    two: &[&'a (PackageName, Version)],
) -> Option<&'a PackageName> {
    let firsts = one.first().into_iter().chain(two.first());
    firsts.map(|release| &release.0).min()
}

/// Takes the releases of a package off the beginning of a list; says which versions they have.
fn take_versions(from: &mut &[&(PackageName, Version)], package: &PackageName) -> Vec<Version> {
    let count = from.iter().take_while(|release| release.0 == *package);
    let (taken, rest) = from.split_at(count.count());
    *from = rest;
    taken.iter().map(|release| release.1.clone()).collect()
}
