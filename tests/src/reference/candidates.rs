//! Candidates and implicit rules: the candidates of a package, the requirements of a release including
//! the core library, and the parents of a class including the implicit root class.

use std::collections::BTreeSet;

use pkgres_manifest::{ClassName, IndexRecord, IndexedClass, PackageName, Spec, Version};

use super::Rules;
use crate::solution::Solution;
use crate::universe::{PrereleasePolicy, Universe};

/// The lock; `None` if the rules ignore locks.
pub(super) fn lock<'universe>(
    universe: &'universe Universe,
    rules: &Rules,
) -> Option<&'universe Solution> {
    universe.locked.as_ref().filter(|_| rules.locks)
}

/// The versions of a package that the lock binds some requirement to.
pub(super) fn locked_versions(
    universe: &Universe,
    rules: &Rules,
    package: &PackageName,
) -> BTreeSet<Version> {
    lock(universe, rules)
        .into_iter()
        .flat_map(|lock| &lock.bindings)
        .filter(|((_, _, required), _)| required == package)
        .map(|(_, version)| version.clone())
        .collect()
}

/// Whether a release is a candidate without a lock: neither yanked nor a rejected prerelease.
fn is_open(universe: &Universe, rules: &Rules, record: &IndexRecord) -> bool {
    let yanked = record.yanked && rules.yanks;
    let rejected = record.version.is_prerelease() && universe.prerelease == PrereleasePolicy::Never;
    !(yanked || rejected)
}

/// Whether a release is a candidate only because it is kept.
pub(super) fn is_only_kept(universe: &Universe, rules: &Rules, record: &IndexRecord) -> bool {
    record.name != universe.root.name
        && !is_open(universe, rules, record)
        && !locked_versions(universe, rules, &record.name).contains(&record.version)
}

/// The candidates of a package. The root is the only candidate of its name.
pub(super) fn candidates<'universe>(
    universe: &'universe Universe,
    rules: &Rules,
    package: &PackageName,
) -> Vec<&'universe IndexRecord> {
    if *package == universe.root.name {
        return vec![&universe.root];
    }
    let locked = locked_versions(universe, rules, package);
    let may_be_chosen = |record: &&IndexRecord| {
        let kept = record.release();
        let is_held = locked.contains(&record.version) || universe.kept.contains(&kept);
        is_held || is_open(universe, rules, record)
    };
    universe
        .records
        .iter()
        .filter(|record| record.name == *package)
        .filter(may_be_chosen)
        .collect()
}

/// The requirements of a release in lookup order. The core library comes first, and is required even
/// if the manifest does not mention it.
pub(super) fn requirements(universe: &Universe, record: &IndexRecord) -> Vec<(PackageName, Spec)> {
    let core = universe.core.as_ref().filter(|core| **core != record.name);
    let mut requirements = Vec::new();
    if let Some(core) = core {
        let explicit = record
            .requirements
            .iter()
            .find(|requirement| requirement.package == *core)
            .map(|requirement| requirement.spec.clone());
        requirements.push((core.clone(), explicit.unwrap_or_else(Spec::unspecified)));
    }
    for requirement in &record.requirements {
        if requirement.package != record.name && Some(&requirement.package) != core {
            requirements.push((requirement.package.clone(), requirement.spec.clone()));
        }
    }
    requirements
}

/// What a class extends and implements: the root class of the core library if it extends no class. Interfaces have names
/// that no class has.
pub(super) fn parents(
    universe: &Universe,
    record: &IndexRecord,
    class: &IndexedClass,
) -> Vec<ClassName> {
    let mut parents = class.extends.clone();
    if let Some(core) = universe.core.as_ref().filter(|_| parents.is_empty()) {
        let root_class = core.root_class();
        if record.name != *core || class.name != root_class {
            parents.push(root_class);
        }
    }
    parents.extend(class.implements.iter().map(ClassName::of_interface));
    parents
}

/// Whether a release has a class or interface, internal classes included if `internal_too` is set. Whatever is asked for,
/// if its classes are unknown.
pub(super) fn has(record: &IndexRecord, name: &ClassName, internal_too: bool) -> bool {
    let Some(classes) = &record.classes else {
        return true;
    };
    match name.interface_name() {
        Some(interface) => record.interfaces.contains(&interface),
        None => classes
            .iter()
            .any(|class| class.name == *name && (internal_too || !class.internal)),
    }
}
