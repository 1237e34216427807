//! How a package comes into a resolution.

use std::collections::{HashMap, VecDeque};

use pkgres_manifest::{PackageName, Version};

use super::{BoundRequirement, PathStep, Resolution};

type Release<'a> = (&'a PackageName, &'a Version);

pub(super) fn paths_to(resolution: &Resolution, name: &PackageName) -> Vec<Vec<PathStep>> {
    let roots = resolution
        .roots()
        .iter()
        .map(|root| ((&root.name, &root.version), root.requires.as_slice()));
    let packages = resolution.packages().iter().map(|package| {
        (
            (&package.name, &package.version),
            package.requires.as_slice(),
        )
    });
    let requires: HashMap<Release<'_>, &[BoundRequirement]> =
        roots.clone().chain(packages).collect();
    let mut came_from: HashMap<Release<'_>, Option<(Release<'_>, &BoundRequirement)>> =
        HashMap::new();
    let mut queue = VecDeque::new();
    for (root, _) in roots {
        came_from.insert(root, None);
        queue.push_back(root);
    }
    let mut paths = Vec::new();
    while let Some(release) = queue.pop_front() {
        for bound in requires.get(&release).copied().unwrap_or_default() {
            if bound.package == *name {
                paths.push(path(&came_from, release, bound));
            }
            let target = (&bound.package, &bound.version);
            came_from.entry(target).or_insert_with(|| {
                queue.push_back(target);
                Some((release, bound))
            });
        }
    }
    paths
}

fn path<'a>(
    came_from: &HashMap<Release<'a>, Option<(Release<'a>, &'a BoundRequirement)>>,
    owner: Release<'a>,
    last: &BoundRequirement,
) -> Vec<PathStep> {
    let step = |bound: &BoundRequirement| PathStep {
        package: bound.package.clone(),
        version: bound.version.clone(),
        spec: Some(bound.spec.clone()),
    };
    let mut steps = vec![step(last)];
    let mut at = owner;
    while let Some(Some((before, bound))) = came_from.get(&at) {
        steps.push(step(bound));
        at = *before;
    }
    steps.push(PathStep {
        package: at.0.clone(),
        version: at.1.clone(),
        spec: None,
    });
    steps.reverse();
    steps
}
