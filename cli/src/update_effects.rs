//! What an update changes for the classes of a project.
//!
//! The index says which classes a project extends and creates objects of. Only if their packages are among those that
//! the update replaces, archives are read: of the versions before and after, and of the packages through which classes
//! of the project inherit from them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use pkgres_checks::{BoundPackage, BoundPackages, UpdateEffect, update_effects};
use pkgres_manifest::{ClassName, IndexRecord, LockDiff, Lockfile, Package, PackageName, Version};
use pkgres_registry_client::{Outdated, RegistrySet};
use pkgres_resolver::Supply;

use crate::context::Context;
use crate::failure::Result;

type ReleaseKey = (PackageName, Version);

/// A release in place of another one of the same package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Replacement {
    pub(crate) package: PackageName,
    pub(crate) from: Version,
    pub(crate) to: Version,
}

impl Replacement {
    /// The replacements that the versions allowed by the requirements would be, and those that the latest would be.
    pub(crate) fn of_outdated(outdated: &[Outdated]) -> Vec<Self> {
        let mut replacements = Vec::new();
        for entry in outdated {
            let versions = entry.allowed.iter().chain([&entry.latest]);
            let versions: BTreeSet<&Version> = versions.filter(|it| **it != entry.now).collect();
            replacements.extend(versions.into_iter().map(|to| Self {
                package: entry.package.clone(),
                from: entry.now.clone(),
                to: to.clone(),
            }));
        }
        replacements
    }

    /// The replacements between two lockfiles.
    pub(crate) fn of_lock(diff: &LockDiff) -> Vec<Self> {
        let of_package = |change: &pkgres_manifest::PackageChange| {
            let only = |of: &[Version], others: &[Version]| -> Vec<Version> {
                let only = of.iter().filter(|version| !others.contains(version));
                only.cloned().collect()
            };
            let gone = only(&change.before, &change.after);
            let new = only(&change.after, &change.before);
            let package = change.package.clone();
            let pairs = gone.into_iter().zip(new);
            pairs
                .map(move |(from, to)| Self {
                    package: package.clone(),
                    from,
                    to,
                })
                .collect::<Vec<_>>()
        };
        diff.packages.iter().flat_map(of_package).collect()
    }

    /// Whether a lockfile has the release that is replaced.
    pub(crate) fn is_of(&self, lock: &Lockfile) -> bool {
        lock.packages.contains_key(&self.before())
    }

    fn before(&self) -> ReleaseKey {
        (self.package.clone(), self.from.clone())
    }

    fn after(&self) -> ReleaseKey {
        (self.package.clone(), self.to.clone())
    }
}

/// The differences that concern the classes of a project.
#[derive(Default)]
pub(crate) struct ProjectEffects {
    /// Each with the replacement that brings it about.
    pub(crate) effects: Vec<(Replacement, UpdateEffect)>,
    /// The releases whose classes could not be compared.
    pub(crate) not_compared: Vec<NotCompared>,
}

/// A release whose classes could not be compared.
pub(crate) struct NotCompared {
    pub(crate) package: PackageName,
    pub(crate) version: Version,
    pub(crate) reason: String,
}

impl ProjectEffects {
    /// Adds what concerns another project.
    pub(crate) fn extend(&mut self, other: Self) {
        self.effects.extend(other.effects);
        self.not_compared.extend(other.not_compared);
    }

    /// Finds what replacements in a lockfile mean for the classes of a project; nothing, if it is no class package.
    pub(crate) fn find(
        project: Option<&Arc<Package>>,
        lock: &Lockfile,
        replacements: &[Replacement],
        registries: &RegistrySet,
        context: &Context,
    ) -> Result<Self> {
        let Some(project) = project.filter(|_| !replacements.is_empty()) else {
            return Ok(Self::default());
        };
        let known = Known::new(project, lock, replacements, registries, context)?;
        Ok(known.effects(registries, context))
    }
}

/// What is known without archives.
struct Known<'project> {
    project: &'project Arc<Package>,
    root: ReleaseKey,
    lock: &'project Lockfile,
    replacements: &'project [Replacement],
    core: Option<&'project PackageName>,
    /// The records of the releases in the lockfile and of those that replace them, and of the project.
    records: BTreeMap<ReleaseKey, IndexRecord>,
}

impl<'project> Known<'project> {
    fn new(
        project: &'project Arc<Package>,
        lock: &'project Lockfile,
        replacements: &'project [Replacement],
        registries: &RegistrySet,
        context: &'project Context,
    ) -> Result<Self> {
        let root = (project.name().clone(), project.manifest.version.clone());
        let mut records = BTreeMap::from([(root.clone(), project.index_record())]);
        let new: BTreeSet<ReleaseKey> = replacements.iter().map(Replacement::after).collect();
        let names: BTreeSet<PackageName> =
            (lock.packages.keys().map(|(name, _)| name.clone())).collect();
        let names: Vec<PackageName> = names.into_iter().collect();
        for supply in registries.supply(&names)? {
            let Supply::Releases { records: found, .. } = supply else {
                continue;
            };
            for record in found {
                let release = (record.name.clone(), record.version.clone());
                if lock.packages.contains_key(&release) || new.contains(&release) {
                    records.insert(release, record);
                }
            }
        }
        Ok(Self {
            project,
            root,
            lock,
            replacements,
            core: context.core(),
            records,
        })
    }

    /// The releases that a release is bound to, in the order in which classes are looked up in them.
    fn requires(&self, release: &ReleaseKey) -> Vec<ReleaseKey> {
        let Some(record) = self.records.get(release) else {
            return Vec::new();
        };
        let stated = record.requirements.iter().map(|it| &it.package);
        let names = self.core.into_iter().chain(stated);
        let mut requires: Vec<ReleaseKey> = Vec::new();
        for name in names {
            let version = if *release == self.root {
                let locked = self.lock.roots.get(&release.0);
                let bound = locked.and_then(|locked| locked.get(name));
                bound.map(|bound| bound.version.clone())
            } else if let Some(locked) = self.lock.packages.get(release) {
                locked.requires.get(name).cloned()
            } else {
                self.newest_binding(record, name)
            };
            let bound = version.map(|version| (name.clone(), version));
            requires.extend(bound.filter(|bound| !requires.contains(bound)));
        }
        requires
    }

    /// The version that a release which replaces another one would be bound to: one that replaces another as well, or
    /// else one of the lockfile.
    fn newest_binding(&self, record: &IndexRecord, name: &PackageName) -> Option<Version> {
        let requirements = record.requirements.iter();
        let specs: Vec<_> = requirements
            .filter(|requirement| requirement.package == *name)
            .map(|requirement| &requirement.spec)
            .collect();
        let replacing = self.replacements.iter().rev();
        let replacing = replacing.filter(|it| it.package == *name).map(|it| &it.to);
        let locked = self.lock.packages.keys().rev();
        let locked = locked.filter(|(known, _)| known == name).map(|(_, it)| it);
        let mut versions = replacing.chain(locked);
        let fits = |version: &&Version| specs.iter().all(|spec| spec.matches(version));
        versions.find(fits).cloned()
    }

    /// The class that a name means in a release.
    fn lookup(&self, release: &ReleaseKey, class: &ClassName) -> Option<(ReleaseKey, ClassName)> {
        let record = self.records.get(release)?;
        let mut own = record.classes.iter().flatten();
        if own.any(|it| it.name == *class) {
            return Some((release.clone(), class.clone()));
        }
        let defines = |required: &ReleaseKey| {
            let record = self.records.get(required);
            record.is_some_and(|record| record.exports(class))
        };
        let found = self.requires(release).into_iter().find(defines)?;
        Some((found, class.clone()))
    }

    /// The classes that a class extends. For one of the project, also those that it creates objects of.
    fn parents(&self, release: &ReleaseKey, class: &ClassName) -> Vec<(ReleaseKey, ClassName)> {
        let record = self.records.get(release);
        let classes = record.and_then(|record| record.classes.as_ref());
        let mut classes = classes.into_iter().flat_map(|classes| classes.iter());
        let mut names: Vec<&ClassName> = classes
            .find(|it| it.name == *class)
            .into_iter()
            .flat_map(|class| &class.extends)
            .collect();
        if *release == self.root {
            let definitions = self.project.classes.as_ref();
            let definition = definitions.and_then(|definitions| definitions.get(class));
            let creations = definition.into_iter().flat_map(|it| &it.creations);
            names.extend(creations.map(|creation| &creation.class.value));
        }
        let found = names.into_iter().filter_map(|it| self.lookup(release, it));
        found.collect()
    }

    /// The releases that are replaced and that classes of the project inherit from, and the releases through which
    /// they do.
    fn concerned(&self) -> BTreeSet<ReleaseKey> {
        let mut open: Vec<(ReleaseKey, ClassName)> = (self.project.classes.iter().flatten())
            .map(|(name, _)| (self.root.clone(), name.clone()))
            .collect();
        let mut children: BTreeMap<(ReleaseKey, ClassName), Vec<(ReleaseKey, ClassName)>> =
            BTreeMap::new();
        let mut seen: BTreeSet<(ReleaseKey, ClassName)> = open.iter().cloned().collect();
        while let Some(node) = open.pop() {
            for parent in self.parents(&node.0, &node.1) {
                let below = children.entry(parent.clone()).or_default();
                below.push(node.clone());
                if seen.insert(parent.clone()) {
                    open.push(parent);
                }
            }
        }
        let replaced: BTreeSet<ReleaseKey> =
            self.replacements.iter().map(Replacement::before).collect();
        let mut open: Vec<(ReleaseKey, ClassName)> = (seen.into_iter())
            .filter(|(release, _)| replaced.contains(release))
            .collect();
        let mut reached: BTreeSet<(ReleaseKey, ClassName)> = open.iter().cloned().collect();
        while let Some(node) = open.pop() {
            for child in children.get(&node).into_iter().flatten() {
                if reached.insert(child.clone()) {
                    open.push(child.clone());
                }
            }
        }
        reached.into_iter().map(|(release, _)| release).collect()
    }

    /// Reads the archives that are needed, and compares.
    fn effects(&self, registries: &RegistrySet, context: &Context) -> ProjectEffects {
        let concerned = self.concerned();
        let mut found = ProjectEffects::default();
        let replacements: Vec<&Replacement> = (self.replacements.iter())
            .filter(|replacement| concerned.contains(&replacement.before()))
            .collect();
        if replacements.is_empty() {
            return found;
        }
        let mut packages = BoundPackages {
            root_class: self.core.map(PackageName::root_class),
            ..BoundPackages::default()
        };
        let new = replacements.iter().map(|replacement| replacement.after());
        for release in concerned.into_iter().chain(new) {
            let package = if release == self.root {
                Some(Arc::clone(self.project))
            } else {
                read(&release, registries, context, &mut found.not_compared)
            };
            let requires = self.requires(&release);
            packages
                .releases
                .insert(release, BoundPackage { package, requires });
        }
        let is_available = |release: &ReleaseKey| {
            let bound = packages.releases.get(release);
            bound.is_some_and(|bound| bound.package.is_some())
        };
        for replacement in replacements {
            let (old, new) = (replacement.before(), replacement.after());
            if is_available(&old) && is_available(&new) {
                let after = packages.with_replaced(&old, &new);
                let effects = update_effects(&self.root, &packages, &after).into_iter();
                found
                    .effects
                    .extend(effects.map(|effect| (replacement.clone(), effect)));
            }
        }
        drop_repeated(&mut found.effects);
        found
    }
}

/// Reads a package. A release that cannot be read is listed: the other results of the command do not need it.
fn read(
    (package, version): &ReleaseKey,
    registries: &RegistrySet,
    context: &Context,
    not_compared: &mut Vec<NotCompared>,
) -> Option<Arc<Package>> {
    let reason = match registries.package(package, version, &context.read_options) {
        Ok(Some(package)) => return Some(package),
        Ok(None) => "its registry has no artifact of it".to_owned(),
        Err(error) => error.to_diagnostic().message,
    };
    not_compared.push(NotCompared {
        package: package.clone(),
        version: version.clone(),
        reason,
    });
    None
}

/// Drops effects on what a class inherits from one package through another one, if the update of the first brings them
/// about by itself.
fn drop_repeated(effects: &mut Vec<(Replacement, UpdateEffect)>) {
    let key = |effect: &UpdateEffect| {
        let difference = &effect.difference;
        (
            effect.class.clone(),
            effect.reliance,
            difference.rule,
            difference.class.clone(),
            difference.member.clone(),
            difference.argument.clone(),
        )
    };
    let own: BTreeSet<_> = (effects.iter())
        .filter(|(replacement, effect)| replacement.package == effect.package)
        .map(|(_, effect)| key(effect))
        .collect();
    effects.retain(|(replacement, effect)| {
        replacement.package == effect.package || !own.contains(&key(effect))
    });
}
