//! Requirement paths from a root to a package.

use std::collections::{HashMap, VecDeque};

use pkgres_manifest::{PackageName, Spec, Version};

use super::{BoundRequirement, Resolution, ResolvedOwner};
use crate::request::Owner;

/// A path from a root to a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequirementPath {
    /// The root.
    pub root: Owner,
    /// The requirements along the path.
    pub steps: Vec<PathStep>,
}

/// A step of a path from a root to a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathStep {
    /// The package.
    pub package: PackageName,
    /// Its version.
    pub version: Version,
    /// The spec of the requirement on it.
    pub spec: Spec,
    /// Whether this is the spec of an override.
    pub is_override: bool,
}

/// An owner by its name and version; the object model has none.
type OwnerKey<'a> = Option<(&'a PackageName, &'a Version)>;

/// The requirement that reaches each release first, with its owner; `None` for roots.
type Predecessors<'a> = HashMap<OwnerKey<'a>, Option<(OwnerKey<'a>, &'a BoundRequirement)>>;

pub(super) fn paths_to(resolution: &Resolution, name: &PackageName) -> Vec<RequirementPath> {
    let owners: HashMap<OwnerKey<'_>, ResolvedOwner<'_>> = resolution
        .owners()
        .map(|owner| (owner.release(), owner))
        .collect();
    let mut predecessors = Predecessors::new();
    let mut queue = VecDeque::new();
    for root in resolution.roots() {
        let root = root.owner.release();
        predecessors.insert(root, None);
        queue.push_back(root);
    }
    let mut paths = Vec::new();
    while let Some(at) = queue.pop_front() {
        let Some(owner) = owners.get(&at) else {
            continue;
        };
        for bound in owner.requires() {
            if bound.package == *name {
                paths.push(path(&owners, &predecessors, at, bound));
            }
            let target = Some((&bound.package, &bound.version));
            predecessors.entry(target).or_insert_with(|| {
                queue.push_back(target);
                Some((at, bound))
            });
        }
    }
    paths
}

fn path<'a>(
    owners: &HashMap<OwnerKey<'a>, ResolvedOwner<'a>>,
    predecessors: &Predecessors<'a>,
    owner: OwnerKey<'a>,
    last: &BoundRequirement,
) -> RequirementPath {
    let step = |bound: &BoundRequirement| PathStep {
        package: bound.package.clone(),
        version: bound.version.clone(),
        spec: bound.spec.clone(),
        is_override: bound.overridden.is_some(),
    };
    let mut steps = vec![step(last)];
    let mut at = owner;
    while let Some(Some((before, bound))) = predecessors.get(&at) {
        steps.push(step(bound));
        at = *before;
    }
    steps.reverse();
    let root = owners[&at].owner();
    RequirementPath { root, steps }
}
