//! What an update changes for the classes of a class package.
//!
//! The index says which classes a project extends and creates objects of. Archives are read only if the update
//! replaces the packages of these classes: the archives of the versions before and after, and of the packages through
//! which classes of the project inherit from them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use pkgres_checks::{BoundPackage, BoundPackages, UpdateEffect, update_effects};
use pkgres_manifest::{ClassName, IndexRecord, Lockfile, Package, PackageName, Release, Version};
use pkgres_registry_client::RegistrySet;

use super::{Effect, NotCompared, ProjectEffects, Replacement, records_of};
use crate::context::Context;
use crate::failure::Result;

/// Finds what replacements in a lockfile mean for the classes of a project.
pub(super) fn find(
    project: &Arc<Package>,
    lock: &Lockfile,
    replacements: &[Replacement],
    registries: &RegistrySet,
    context: &Context,
) -> Result<ProjectEffects> {
    let known = Known::new(project, lock, replacements, registries, context)?;
    Ok(known.effects(registries, context))
}

/// What is known without archives.
struct Known<'project> {
    project: &'project Arc<Package>,
    root: Release,
    lock: &'project Lockfile,
    replacements: &'project [Replacement],
    core: Option<&'project PackageName>,
    /// The records of the releases in the lockfile and of those that replace them, and of the project.
    records: BTreeMap<Release, IndexRecord>,
}

impl<'project> Known<'project> {
    fn new(
        project: &'project Arc<Package>,
        lock: &'project Lockfile,
        replacements: &'project [Replacement],
        registries: &RegistrySet,
        context: &'project Context,
    ) -> Result<Self> {
        let root = project.release();
        let mut records = BTreeMap::from([(root.clone(), project.index_record())]);
        let known = records_of(lock, replacements, registries)?.into_iter();
        records.extend(known.map(|(release, (record, _))| (release, record)));
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
    fn requires(&self, release: &Release) -> Vec<Release> {
        let Some(record) = self.records.get(release) else {
            return Vec::new();
        };
        let stated = record.requirements.iter().map(|it| &it.package);
        let names = self.core.into_iter().chain(stated);
        let mut requires: Vec<Release> = Vec::new();
        for name in names {
            let version = if *release == self.root {
                let locked = self.lock.roots.get(&release.name);
                let bound = locked.and_then(|locked| locked.get(name));
                bound.map(|bound| bound.version.clone())
            } else if let Some(locked) = self.lock.packages.get(release) {
                locked.requires.get(name).cloned()
            } else {
                self.newest_binding(record, name)
            };
            let bound = version.map(|version| Release::new(name.clone(), version));
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
        let locked = locked
            .filter(|Release { name: known, .. }| known == name)
            .map(|Release { version: it, .. }| it);
        let mut versions = replacing.chain(locked);
        let fits = |version: &&Version| specs.iter().all(|spec| spec.matches(version));
        versions.find(fits).cloned()
    }

    /// The class that a name means in a release.
    fn lookup(&self, release: &Release, class: &ClassName) -> Option<(Release, ClassName)> {
        let record = self.records.get(release)?;
        if record.class(class).is_some() {
            return Some((release.clone(), class.clone()));
        }
        let defines = |required: &Release| {
            let record = self.records.get(required);
            record.is_some_and(|record| record.exports(class))
        };
        let found = self.requires(release).into_iter().find(defines)?;
        Some((found, class.clone()))
    }

    /// The classes that a class extends. For one of the project, also those that it creates objects of.
    fn parents(&self, release: &Release, class: &ClassName) -> Vec<(Release, ClassName)> {
        let record = self.records.get(release);
        let known = record.and_then(|record| record.class(class));
        let extends = known.into_iter().flat_map(|known| &known.extends);
        let mut names: Vec<&ClassName> = extends.collect();
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
    fn concerned(&self) -> BTreeSet<Release> {
        let mut open: Vec<(Release, ClassName)> = (self.project.classes.iter().flatten())
            .map(|(name, _)| (self.root.clone(), name.clone()))
            .collect();
        let mut children: BTreeMap<(Release, ClassName), Vec<(Release, ClassName)>> =
            BTreeMap::new();
        let mut seen: BTreeSet<(Release, ClassName)> = open.iter().cloned().collect();
        while let Some(node) = open.pop() {
            for parent in self.parents(&node.0, &node.1) {
                let below = children.entry(parent.clone()).or_default();
                below.push(node.clone());
                if seen.insert(parent.clone()) {
                    open.push(parent);
                }
            }
        }
        let replaced: BTreeSet<Release> =
            self.replacements.iter().map(Replacement::before).collect();
        let mut open: Vec<(Release, ClassName)> = (seen.into_iter())
            .filter(|(release, _)| replaced.contains(release))
            .collect();
        let mut reached: BTreeSet<(Release, ClassName)> = open.iter().cloned().collect();
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
        let is_available = |release: &Release| {
            let bound = packages.releases.get(release);
            bound.is_some_and(|bound| bound.package.is_some())
        };
        let mut effects: Vec<(Replacement, UpdateEffect)> = Vec::new();
        for replacement in replacements {
            let (old, new) = (replacement.before(), replacement.after());
            if is_available(&old) && is_available(&new) {
                let after = packages.with_replaced(&old, &new);
                let of_replacement = update_effects(&self.root, &packages, &after).into_iter();
                effects.extend(of_replacement.map(|effect| (replacement.clone(), effect)));
            }
        }
        drop_repeated(&mut effects);
        let effects = effects.into_iter();
        found.effects = effects
            .map(|(replacement, effect)| (replacement, Effect::of_class(effect)))
            .collect();
        found
    }
}

/// Reads a package. A release that cannot be read is listed: the other results of the command do not need it.
fn read(
    Release {
        name: package,
        version,
    }: &Release,
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
        is_partial: false,
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
