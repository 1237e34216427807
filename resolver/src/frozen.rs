//! A lockfile as a resolution, without registries and without searching.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use pkgres_manifest::{
    IndexRecord, LockedRequirement, Lockfile, PackageName, Release, ReleaseSource, Requirement,
    Spec, Version,
};
use rustc_hash::FxHashSet;

use crate::index::CompiledIndex;
use crate::request::{Locked, PrereleasePolicy, Request, Root, SolveOptions};
use crate::resolution::Resolution;
use crate::resolver::{Resolver, Step};

/// The error for a lockfile that cannot be used as it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FrozenError {
    /// The lock does not have the root.
    #[error("the lockfile does not hold `{0}`")]
    NoRoot(PackageName),
    /// Its bindings contradict each other, which only a lock that was edited by hand does.
    #[error("the lockfile is not consistent in itself")]
    Inconsistent,
}

impl Resolution {
    /// The resolution in a lockfile, without changes.
    ///
    /// It reads neither manifests nor registries, so a search could find a different resolution. A lock
    /// does not have the requirements of releases, only their chosen versions, which become the specs.
    /// It does not have classes either. The version of the root is not in the lock, so it is a parameter; `None` for a
    /// [file](Root::File), which has none.
    ///
    /// If the lock has several roots, the roots that this one requires, directly or indirectly, are also roots of the
    /// resolution. They follow it, sorted by name, with the versions that they had when the lock was written.
    ///
    /// # Errors
    ///
    /// The lockfile does not have the root, or its bindings contradict each other.
    ///
    /// ```
    /// use pkgres_manifest::{Lockfile, PackageName, Version};
    ///
    /// let text = "lock: 1\norder: 1\nroots:\n- name: Web\n  requires:\n    Db:\n      spec: \"1\"\n      version: 1.2.0\npackages:\n- name: Db\n  version: 1.2.0\n  source: default\ncomplete: true\n";
    /// let lock = Lockfile::read("pkgres.lock", text.as_bytes(), &Default::default());
    /// let (lock, _) = lock.into_result().expect("it is a lockfile");
    /// let root = PackageName::parse("Web").expect("a name");
    /// let resolution = pkgres_resolver::Resolution::from_lockfile(&lock, &root, Some(&Version::ZERO))?;
    /// assert_eq!(resolution.packages()[0].version.to_string(), "1.2.0");
    /// # Ok::<(), pkgres_resolver::FrozenError>(())
    /// ```
    pub fn from_lockfile(
        lock: &Lockfile,
        root: &PackageName,
        current: Option<&Version>,
    ) -> Result<Self, FrozenError> {
        let Some(requirements) = lock.roots.get(root) else {
            return Err(FrozenError::NoRoot(root.clone()));
        };
        let version = current.unwrap_or(const { &Version::ZERO });
        let record = Box::new(root_record(root, version, requirements, (root, version)));
        let mut roots = vec![if current.is_some() {
            Root::Package(record)
        } else {
            Root::File(record)
        }];
        let mut locked = Locked::from_lockfile(lock);
        let has_other_roots = lock.roots.len() > 1;
        if has_other_roots {
            let reached = Reached::from(lock, root);
            for (name, bound) in &reached.roots {
                let record = root_record(name, bound, &lock.roots[*name], (root, version));
                roots.push(Root::Package(Box::new(record)));
            }
            (locked.roots).retain(|name, _| name == root || reached.roots.contains_key(name));
            (locked.packages)
                .retain(|Release { name, version }, _| reached.all.contains(&(name, version)));
        }
        let mut resolver = Resolver::new(Request {
            roots,
            core: None,
            host_releases: Vec::new(),
            locked,
            overrides: lock.overrides.clone(),
            options: SolveOptions {
                prerelease: PrereleasePolicy::Allow,
                ..SolveOptions::default()
            },
            update: None,
        });
        for (source, records) in records_by_source(lock, root) {
            let index = Arc::new(CompiledIndex::compile(&records));
            let attached = resolver.attach(source, index);
            attached.expect("the request has no cut-off date");
        }
        match resolver.step() {
            Step::Solved(resolution) if agrees(&resolution, lock, has_other_roots) => {
                Ok(*resolution)
            }
            _ => Err(FrozenError::Inconsistent),
        }
    }
}

/// The record of a root, from its locked requirements. The root that was asked for has its current version, which a
/// requirement on it may not allow.
fn root_record(
    name: &PackageName,
    version: &Version,
    requirements: &LockedRequirements,
    (root, current): (&PackageName, &Version),
) -> IndexRecord {
    let mut record = IndexRecord::new(name.clone(), version.clone());
    record.requirements = requirements
        .iter()
        .map(|(package, bound)| {
            let is_outdated = package == root && !bound.spec.matches(current);
            let spec = if is_outdated {
                every_version()
            } else {
                bound.spec.clone()
            };
            requirement(package, spec)
        })
        .collect();
    record
}

/// The records of the locked releases, by their source: compiling one index for each package would take far longer.
fn records_by_source(
    lock: &Lockfile,
    root: &PackageName,
) -> BTreeMap<ReleaseSource, Vec<IndexRecord>> {
    let mut records: BTreeMap<ReleaseSource, Vec<IndexRecord>> = BTreeMap::new();
    for (Release { name, version }, package) in &lock.packages {
        let mut record = IndexRecord::new(name.clone(), version.clone());
        record.digest = package.digest;
        record.requirements = package
            .requires
            .iter()
            .map(|(package, bound)| {
                // A root has its current version, not that of the time when the lock was written.
                let spec = if package == root {
                    every_version()
                } else {
                    Spec::exactly(bound)
                };
                requirement(package, spec)
            })
            .collect();
        records
            .entry(package.source.clone())
            .or_default()
            .push(record);
    }
    records
}

/// Whether a resolution has only locked releases and, unless there are roots that it need not reach, all of them.
fn agrees(resolution: &Resolution, lock: &Lockfile, has_other_roots: bool) -> bool {
    let chosen = resolution.packages().iter();
    let chosen: BTreeSet<(&PackageName, &Version)> = chosen
        .map(|package| (&package.name, &package.version))
        .collect();
    let locked: BTreeSet<(&PackageName, &Version)> = lock
        .packages
        .keys()
        .map(|Release { name, version }| (name, version))
        .collect();
    chosen.is_subset(&locked) && (has_other_roots || chosen.len() == locked.len())
}

fn requirement(package: &PackageName, spec: Spec) -> Requirement {
    Requirement {
        package: package.clone(),
        spec,
        location: None,
    }
}

/// A spec for every version, in a form that can be read from an index.
fn every_version() -> Spec {
    Spec::parse(">=0.0.0-0").expect("it is a spec")
}

type LockedRequirements = BTreeMap<PackageName, LockedRequirement>;

/// The releases that one of several roots requires, directly or through others.
#[derive(Default)]
struct Reached<'lock> {
    /// The other roots, each with the first version to which it is found bound.
    roots: BTreeMap<&'lock PackageName, &'lock Version>,
    /// All releases, roots or not.
    all: FxHashSet<(&'lock PackageName, &'lock Version)>,
}

impl<'lock> Reached<'lock> {
    fn from(lock: &'lock Lockfile, root: &PackageName) -> Self {
        let bound = |requirements: &'lock LockedRequirements| {
            let requirements = requirements.iter();
            requirements.map(|(package, bound)| (package, &bound.version))
        };
        let mut reached = Self::default();
        let mut rest: Vec<(&PackageName, &Version)> =
            lock.roots.get(root).into_iter().flat_map(bound).collect();
        while let Some((name, version)) = rest.pop() {
            if name == root || !reached.all.insert((name, version)) {
                continue;
            }
            if let Some(requirements) = lock.roots.get(name) {
                reached.roots.entry(name).or_insert(version);
                rest.extend(bound(requirements));
            } else if let Some(package) = lock
                .packages
                .get(&Release::new(name.clone(), version.clone()))
            {
                rest.extend(package.requires.iter());
            }
        }
        reached
    }
}
