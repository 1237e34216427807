//! The differences of two lockfiles.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use super::{Bindings, LockedRequirement, Lockfile};
use crate::digest::ArtifactDigest;
use crate::name::PackageName;
use crate::release::Release;
use crate::release_source::ReleaseSource;
use crate::spec::Spec;
use crate::version::Version;

/// The differences of two lockfiles, each list sorted by package.
///
/// ```
/// use pkgres_manifest::{LockDiff, Lockfile};
///
/// assert!(LockDiff::between(&Lockfile::default(), &Lockfile::default()).is_empty());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LockDiff {
    /// The packages with other versions.
    pub packages: Vec<PackageChange>,
    /// The releases that are in both lockfiles, with different sources or digests.
    pub artifacts: Vec<ReleaseChange>,
    /// The requirements of roots that were added, removed or changed in meaning.
    pub requirements: Vec<RequirementChange>,
    /// The requirements that are bound to a different version although the package has the same versions as before.
    pub bindings: Vec<BindingChange>,
    /// The packages that may have several releases in one of the two only.
    pub side_by_side: Vec<SideBySideChange>,
    /// The overrides that were added, removed or changed in meaning.
    pub overrides: Vec<OverrideChange>,
}

/// A package with different versions than before.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PackageChange {
    /// The package.
    pub package: PackageName,
    /// The versions before, ascending; empty if the package was added.
    pub before: Vec<Version>,
    /// The versions after, ascending; empty if the package was removed.
    pub after: Vec<Version>,
    /// The sources of the releases before; empty if the package was added, or if they are not known.
    pub sources_before: BTreeSet<ReleaseSource>,
    /// The sources of the releases after; empty if the package was removed.
    pub sources_after: BTreeSet<ReleaseSource>,
}

impl PackageChange {
    /// Whether the package is in both lockfiles and comes from other sources than before.
    pub fn is_from_other_sources(&self) -> bool {
        let is_known = !self.sources_before.is_empty() && !self.sources_after.is_empty();
        is_known && self.sources_before != self.sources_after
    }
}

/// A release with a different source or digest than before.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReleaseChange {
    /// The package.
    pub package: PackageName,
    /// The version.
    pub version: Version,
    /// The source before.
    pub source_before: ReleaseSource,
    /// The source after.
    pub source_after: ReleaseSource,
    /// The digest before.
    pub digest_before: Option<ArtifactDigest>,
    /// The digest after.
    pub digest_after: Option<ArtifactDigest>,
}

/// A package that may have several releases in one of two lockfiles only.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SideBySideChange {
    /// The package.
    pub package: PackageName,
    /// Whether the new lockfile allows several releases, and not the old one.
    pub is_allowed: bool,
}

/// A requirement of a root that was added, removed or changed in meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequirementChange {
    /// The root.
    pub root: PackageName,
    /// The package that it requires.
    pub package: PackageName,
    /// The spec before; `None` if the requirement was added.
    pub before: Option<Spec>,
    /// The spec after; `None` if the requirement was removed.
    pub after: Option<Spec>,
}

/// A requirement that is bound to a different version than before.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BindingChange {
    /// The owner of the requirement: a release as `NAME VERSION`, or the name of a root.
    pub owner: String,
    /// The package that it requires.
    pub package: PackageName,
    /// The version before.
    pub before: Option<Version>,
    /// The version after.
    pub after: Option<Version>,
}

/// An override that was added, removed or changed in meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OverrideChange {
    /// The package.
    pub package: PackageName,
    /// The spec before; `None` if the override was added.
    pub before: Option<Spec>,
    /// The spec after; `None` if the override was removed.
    pub after: Option<Spec>,
}

impl LockDiff {
    /// Returns the differences of `after` from `before`.
    pub fn between(before: &Lockfile, after: &Lockfile) -> Self {
        let packages = packages(before.packages.keys(), Some(before), after);
        let moved: BTreeSet<&PackageName> = packages.iter().map(|change| &change.package).collect();
        Self {
            artifacts: artifacts(before, after),
            requirements: requirements(before, after),
            bindings: bindings(before, after, &moved),
            side_by_side: before
                .side_by_side
                .symmetric_difference(&after.side_by_side)
                .map(|name| SideBySideChange {
                    package: name.clone(),
                    is_allowed: after.side_by_side.contains(name),
                })
                .collect(),
            overrides: overrides(before, after),
            packages,
        }
    }

    /// Returns the differences of `after` from the [salvaged](Lockfile::salvage) releases of a lockfile: the
    /// versions of packages and the digests of releases. If a release may have had several digests, the first
    /// there is one.
    pub fn from_salvaged(
        before: &BTreeMap<Release, BTreeSet<ArtifactDigest>>,
        after: &Lockfile,
    ) -> Self {
        let artifacts = joined(before, &after.packages).filter_map(|(release, before, after)| {
            let (digests, after) = (before?, after?);
            let is_same = after.digest.is_some_and(|digest| digests.contains(&digest));
            let first = digests.first().filter(|_| !is_same)?;
            let Release {
                name: package,
                version,
            } = release.clone();
            Some(ReleaseChange {
                package,
                version,
                source_before: after.source.clone(),
                source_after: after.source.clone(),
                digest_before: Some(*first),
                digest_after: after.digest,
            })
        });
        Self {
            artifacts: artifacts.collect(),
            packages: packages(before.keys(), None, after),
            ..Self::default()
        }
    }

    /// Whether there is no difference.
    pub fn is_empty(&self) -> bool {
        self.packages.is_empty()
            && self.artifacts.is_empty()
            && self.requirements.is_empty()
            && self.bindings.is_empty()
            && self.side_by_side.is_empty()
            && self.overrides.is_empty()
    }
}

/// Iterates over the keys of two maps, with the values of both (a full outer join).
fn joined<'map, K: Ord, Before, After>(
    before: &'map BTreeMap<K, Before>,
    after: &'map BTreeMap<K, After>,
) -> impl Iterator<Item = (&'map K, Option<&'map Before>, Option<&'map After>)> {
    let (mut before, mut after) = (before.iter().peekable(), after.iter().peekable());
    std::iter::from_fn(move || {
        let order = match (before.peek(), after.peek()) {
            (Some((before, _)), Some((after, _))) => before.cmp(after),
            (Some(_), None) => Ordering::Less,
            (None, _) => Ordering::Greater,
        };
        let before = before.next_if(|_| order.is_le());
        let after = after.next_if(|_| order.is_ge());
        let key = before.map(|(key, _)| key).or(after.map(|(key, _)| key))?;
        Some((key, before.map(|(_, it)| it), after.map(|(_, it)| it)))
    })
}

/// The packages with other versions. The releases before are sorted; `locked_before` has their sources, if these are
/// known.
fn packages<'lock>(
    before: impl Iterator<Item = &'lock Release>,
    locked_before: Option<&Lockfile>,
    after: &'lock Lockfile,
) -> Vec<PackageChange> {
    let before: Vec<&Release> = before.collect();
    let locked_after = after;
    let after: Vec<&Release> = after.packages.keys().collect();
    let (mut before, mut after) = (before.as_slice(), after.as_slice());
    let versions = |releases: &[&Release]| -> Vec<Version> {
        let releases = releases.iter();
        releases.map(|release| release.version.clone()).collect()
    };
    let sources = |releases: &[&Release], lock: Option<&Lockfile>| -> BTreeSet<ReleaseSource> {
        let releases = releases.iter();
        let locked = releases.filter_map(|release| lock?.packages.get(*release));
        locked.map(|locked| locked.source.clone()).collect()
    };
    let mut changes = Vec::new();

    while let Some(Release { name: package, .. }) =
        before.first().into_iter().chain(after.first()).min()
    {
        let (old, new) = (take(&mut before, package), take(&mut after, package));
        if old != new {
            changes.push(PackageChange {
                package: package.clone(),
                before: versions(old),
                after: versions(new),
                sources_before: sources(old, locked_before),
                sources_after: sources(new, Some(locked_after)),
            });
        }
    }
    changes
}

/// Removes the releases of a package from the beginning of a list, and returns them.
fn take<'list, 'lock>(
    from: &mut &'list [&'lock Release],
    package: &PackageName,
) -> &'list [&'lock Release] {
    let of_package = from.iter().take_while(|release| release.name == *package);
    let (taken, rest) = from.split_at(of_package.count());
    *from = rest;
    taken
}

fn artifacts(before: &Lockfile, after: &Lockfile) -> Vec<ReleaseChange> {
    joined(&before.packages, &after.packages)
        .filter_map(
            |(
                Release {
                    name: package,
                    version,
                },
                before,
                after,
            )| {
                let (before, after) = (before?, after?);
                let is_same = before.source == after.source && before.digest == after.digest;
                (!is_same).then(|| ReleaseChange {
                    package: package.clone(),
                    version: version.clone(),
                    source_before: before.source.clone(),
                    source_after: after.source.clone(),
                    digest_before: before.digest,
                    digest_after: after.digest,
                })
            },
        )
        .collect()
}

fn requirements(before: &Lockfile, after: &Lockfile) -> Vec<RequirementChange> {
    let nothing = BTreeMap::new();
    let mut changes = Vec::new();
    for (root, before, after) in joined(&before.roots, &after.roots) {
        let (before, after) = (before.unwrap_or(&nothing), after.unwrap_or(&nothing));
        for (package, before, after) in joined(before, after) {
            let spec = |bound: Option<&LockedRequirement>| bound.map(|bound| bound.spec.clone());
            let (before, after) = (spec(before), spec(after));
            if means(before.as_ref()) != means(after.as_ref()) {
                changes.push(RequirementChange {
                    root: root.clone(),
                    package: package.clone(),
                    before,
                    after,
                });
            }
        }
    }
    changes
}

fn means(spec: Option<&Spec>) -> Option<&crate::spec::VersionSet> {
    spec.map(Spec::set)
}

fn overrides(before: &Lockfile, after: &Lockfile) -> Vec<OverrideChange> {
    joined(&before.overrides, &after.overrides)
        .filter(|(_, before, after)| means(*before) != means(*after))
        .map(|(package, before, after)| OverrideChange {
            package: package.clone(),
            before: before.cloned(),
            after: after.cloned(),
        })
        .collect()
}

/// The requirements that are bound to another version, except for requirements on packages that `moved`.
fn bindings(
    before: &Lockfile,
    after: &Lockfile,
    moved: &BTreeSet<&PackageName>,
) -> Vec<BindingChange> {
    let mut changes = Vec::new();
    let mut compare = |owner: &str,
                       before: BTreeMap<PackageName, Version>,
                       after: BTreeMap<PackageName, Version>| {
        for (package, before, after) in joined(&before, &after) {
            if before != after && !moved.contains(package) {
                changes.push(BindingChange {
                    owner: owner.to_owned(),
                    package: package.clone(),
                    before: before.cloned(),
                    after: after.cloned(),
                });
            }
        }
    };
    for (root, before, after) in joined(&before.roots, &after.roots) {
        if let (Some(before), Some(after)) = (before, after) {
            let bound = |requirements: &BTreeMap<PackageName, LockedRequirement>| {
                requirements
                    .iter()
                    .map(|(package, bound)| (package.clone(), bound.version.clone()))
                    .collect()
            };
            // A requirement that was added or removed is a change of requirements.
            let (mut before, mut after): (BTreeMap<_, _>, BTreeMap<_, _>) =
                (bound(before), bound(after));
            before.retain(|package, _| after.contains_key(package));
            after.retain(|package, _| before.contains_key(package));
            compare(root.as_str(), before, after);
        }
    }
    for (Release { name, version }, before, after) in joined(&before.packages, &after.packages) {
        if let (Some(before), Some(after)) = (before, after)
            && before.requires != after.requires
        {
            let map = |bindings: &Bindings| {
                let bound = bindings.iter();
                let bound = bound.map(|(package, version)| (package.clone(), version.clone()));
                bound.collect()
            };
            let owner = format!("{name} {version}");
            compare(&owner, map(&before.requires), map(&after.requires));
        }
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read_options::Limits;

    fn lock(text: &str) -> Lockfile {
        let whole = format!("lock: 1\norder: 1\n{text}complete: true\n");
        let read = Lockfile::read("lock", whole.as_bytes(), &Limits::default());
        read.into_result().expect("the test writes a lockfile").0
    }

    fn package(name: &str) -> PackageName {
        PackageName::parse(name).expect("the test writes a name")
    }

    fn source(name: &str) -> ReleaseSource {
        let name = crate::RegistryName::parse(name);
        ReleaseSource::Registry(name.expect("the test writes a name"))
    }

    const BEFORE: &str = "\
roots:
- name: R
  requires:
    A:
      spec: \">=1.0.0,<2.0.0\"
      version: 1.0.0
packages:
- name: A
  version: 1.0.0
  source: default
- name: B
  version: 1.0.0
  source: default
  requires:
    A: 1.0.0
";

    #[test]
    fn versions_that_moved_are_not_reported_again_as_bindings() {
        let after = BEFORE.replace("A\n  version: 1.0.0", "A\n  version: 1.1.0");
        let after = after
            .replace("A: 1.0.0", "A: 1.1.0")
            .replace("      version: 1.0.0", "      version: 1.1.0");
        let diff = LockDiff::between(&lock(BEFORE), &lock(&after));
        assert_eq!(
            diff,
            LockDiff {
                packages: vec![PackageChange {
                    package: package("A"),
                    before: vec![Version::new(1, 0, 0)],
                    after: vec![Version::new(1, 1, 0)],
                    sources_before: BTreeSet::from([source("default")]),
                    sources_after: BTreeSet::from([source("default")]),
                }],
                ..LockDiff::default()
            }
        );
    }

    #[test]
    fn a_requirement_changes_only_with_its_meaning() {
        let wider = BEFORE.replace(">=1.0.0,<2.0.0", ">=1.0.0,<3.0.0");
        let diff = LockDiff::between(&lock(BEFORE), &lock(&wider));
        assert_eq!(diff.requirements.len(), 1);
        assert!(diff.packages.is_empty() && diff.bindings.is_empty());
        let same = BEFORE.replace(">=1.0.0,<2.0.0", "1");
        assert!(LockDiff::between(&lock(BEFORE), &lock(&same)).is_empty());
    }

    #[test]
    fn sources_and_bindings_are_reported() {
        let other = BEFORE.replace(
            "B\n  version: 1.0.0\n  source: default\n  requires:\n    A: 1.0.0\n",
            "B\n  version: 1.0.0\n  source: acme\n",
        );
        let diff = LockDiff::between(&lock(BEFORE), &lock(&other));
        assert_eq!(diff.artifacts.len(), 1);
        assert_eq!(diff.bindings[0].owner, "B 1.0.0");
        assert_eq!(diff.bindings[0].after, None);
    }

    #[test]
    fn a_package_that_changes_its_source_with_its_version_is_reported_with_both() {
        let moved = |to: &str| {
            let of_a = "A\n  version: 1.0.0\n  source: default";
            let after = BEFORE.replace(of_a, &format!("A\n  version: 1.1.0\n  source: {to}"));
            let after = after
                .replace("A: 1.0.0", "A: 1.1.0")
                .replace("      version: 1.0.0", "      version: 1.1.0");
            LockDiff::between(&lock(BEFORE), &lock(&after)).packages
        };
        assert!(!moved("default")[0].is_from_other_sources());
        let change = &moved("acme")[0];
        assert!(change.is_from_other_sources());
        assert_eq!(change.sources_before, BTreeSet::from([source("default")]));
        assert_eq!(change.sources_after, BTreeSet::from([source("acme")]));
        // The sources of a package that is new are not others than before.
        let added = LockDiff::between(&Lockfile::default(), &lock(BEFORE));
        assert!(added.packages.iter().all(|it| !it.is_from_other_sources()));
    }

    #[test]
    fn salvaged_releases_are_compared_by_version_and_digest() {
        let digest = |digit: &str| {
            let parsed = ArtifactDigest::parse(&digit.repeat(64));
            parsed.expect("the test writes a digest")
        };
        let release = |name: &str, major| Release::new(package(name), Version::new(major, 0, 0));
        let saved = BTreeMap::from([
            (release("A", 1), BTreeSet::from([digest("1"), digest("2")])),
            (release("A", 2), BTreeSet::new()),
            (release("B", 1), BTreeSet::from([digest("1"), digest("2")])),
            (release("C", 1), BTreeSet::new()),
        ]);
        let with_digests = |a: &str, b: &str| {
            let mut after = lock(BEFORE);
            after
                .packages
                .insert(release("C", 1), after.packages[&release("A", 1)].clone());
            for (name, digit) in [("A", a), ("B", b), ("C", "3")] {
                let locked = after.packages.get_mut(&release(name, 1));
                locked.expect("it is locked").digest = Some(digest(digit));
            }
            LockDiff::from_salvaged(&saved, &after)
        };
        let a_is_moved = LockDiff {
            packages: vec![PackageChange {
                package: package("A"),
                before: vec![Version::new(1, 0, 0), Version::new(2, 0, 0)],
                after: vec![Version::new(1, 0, 0)],
                // The old lockfile was not read as one.
                sources_before: BTreeSet::new(),
                sources_after: BTreeSet::from([source("default")]),
            }],
            ..LockDiff::default()
        };
        assert_eq!(with_digests("1", "2"), a_is_moved);
        let other_digest = with_digests("2", "3");
        let [change] = &other_digest.artifacts[..] else {
            panic!("B has a different digest: {other_digest:?}");
        };
        assert_eq!(change.package, package("B"));
        assert_eq!(change.digest_before, Some(digest("1")));
        assert_eq!(change.digest_after, Some(digest("3")));
    }
}
