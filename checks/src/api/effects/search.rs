//! Finds the differences that concern the classes of a release.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::{ClassDefinition, ClassName, ClassUsage, ObjectCreation, Release};

use super::Reliance;
use super::created_class::CreatedClass;
use super::differing_members::{method_differences, property_differences};
use super::found::FoundEffects;
use super::inheritor::Inheritor;
use crate::api::class_pair::ClassPair;
use crate::api::rules::Impact;
use crate::api::{ApiOf, classes};
use crate::bound_packages::{BoundPackages, ClassAt};
use crate::members::EffectiveMembers;

/// A search in progress.
pub(super) struct EffectSearch<'packages> {
    release: &'packages Release,
    old: &'packages BoundPackages,
    new: &'packages BoundPackages,
    pub(super) found: FoundEffects,
    /// The classes of which objects are created, by the names that the release has for them; `None` if nothing differs.
    created: BTreeMap<&'packages ClassName, Option<CreatedClass<'packages>>>,
}

impl<'packages> EffectSearch<'packages> {
    pub(super) fn new(
        release: &'packages Release,
        old: &'packages BoundPackages,
        new: &'packages BoundPackages,
    ) -> Self {
        Self {
            release,
            old,
            new,
            found: FoundEffects::default(),
            created: BTreeMap::new(),
        }
    }

    /// Finds what concerns a class of the release.
    pub(super) fn class(&mut self, class: &'packages ClassDefinition) {
        self.named_classes(class);
        self.inherited_members(class);
        for creation in &class.creations {
            self.creation(class, creation);
        }
    }

    /// Finds classes that are gone, and classes that can no longer be used in the way in which the class does.
    fn named_classes(&mut self, class: &ClassDefinition) {
        let extended = class.extends.iter().map(|it| (Reliance::Extends, it));
        let named = class.uses.iter().map(|it| (Reliance::Names, it));
        let metas: BTreeSet<&ClassName> = class.metas.iter().map(|meta| &meta.value).collect();
        // Whether the class can name another one only because that is, or is not, a meta class.
        let is_usage_needed = |reliance, named| match reliance {
            Reliance::Extends => class.usage == ClassUsage::Class,
            _ => metas.contains(named),
        };
        let mut seen = BTreeSet::new();
        for (reliance, named) in extended.chain(named) {
            if !seen.insert(&named.value) {
                continue;
            }
            let found = self.old.lookup(self.release, &named.value);
            let Some(at) = found.filter(|at| at.release != *self.release) else {
                continue;
            };
            let Some(before) = self.old.definition(&at) else {
                continue;
            };
            let difference = match self.new.lookup(self.release, &named.value) {
                None if self.is_gone(&at) => classes::removed(before).difference,
                None => continue,
                Some(now) => {
                    let after = self.new.definition(&now);
                    let changed = after.filter(|after| after.usage != before.usage);
                    let Some(after) = changed.filter(|_| is_usage_needed(reliance, &named.value))
                    else {
                        continue;
                    };
                    classes::usage_changed(before, after).difference
                }
            };
            let how = (reliance, Impact::Major);
            let package = &at.release.name;
            (self.found).add(&difference, package, class, how, &named.location);
        }
    }

    /// Whether the new version of the package of a class no longer defines it for others.
    fn is_gone(&self, at: &ClassAt) -> bool {
        let bound = self.new.releases.get(self.release);
        let required = bound.into_iter().flat_map(|bound| &bound.requires);
        let mut new = required.filter(|Release { name, .. }| *name == at.release.name);
        new.any(|release| {
            let package = self.new.releases.get(release);
            let package = package.and_then(|bound| bound.package.as_ref());
            package.is_some_and(|package| !package.exports(&at.class))
        })
    }

    /// The release with what it is bound to before or after the update.
    fn api(&self, packages: &'packages BoundPackages) -> ApiOf<'packages> {
        ApiOf {
            packages,
            release: self.release,
        }
    }

    /// Whether a class has other ancestors, or the same ones in other versions.
    fn has_other_ancestors(&self, old: &ClassAt, new: &ClassAt) -> bool {
        let ancestry = |packages: &BoundPackages, class: &ClassAt| {
            let ancestry = packages.known_ancestry(class);
            let known: BTreeSet<ClassAt> = ancestry.known.into_iter().map(|(at, _)| at).collect();
            (known, ancestry.unknown)
        };
        ancestry(self.old, old) != ancestry(self.new, new)
    }

    /// Finds what concerns a class in the members that it inherits from other packages.
    fn inherited_members(&mut self, class: &'packages ClassDefinition) {
        let at = ClassAt {
            release: self.release.clone(),
            class: class.name.value.clone(),
        };
        if !self.has_other_ancestors(&at, &at) {
            return;
        }
        let both = ClassPair {
            name: &class.name.value,
            package: None,
            old_api: self.api(self.old),
            new_api: self.api(self.new),
            old: EffectiveMembers::of_other_releases(self.old, &at),
            new: EffectiveMembers::of_other_releases(self.new, &at),
            usage: class.usage,
            new_place: &class.name.location,
            losses: OnceCell::new(),
            creation: OnceCell::new(),
        };
        let inheritor = Inheritor::new(class, &at, self.new);
        for (name, differences) in method_differences(&both) {
            let (old, new) = (both.old.methods.get(&*name), both.new.methods.get(&*name));
            inheritor.method(&name, differences, (old, new), &mut self.found);
        }
        for difference in property_differences(&both) {
            let name = difference.member.as_deref().unwrap_or_default();
            let (old, new) = (both.old.properties.get(name), both.new.properties.get(name));
            inheritor.property(name, &difference, (old, new), &mut self.found);
        }
    }

    /// Finds out whether an object can still be created as it is.
    fn creation(&mut self, class: &ClassDefinition, creation: &'packages ObjectCreation) {
        let name = &creation.class.value;
        if !self.created.contains_key(name) {
            let created = self.created_class(name);
            self.created.insert(name, created);
        }
        let Some(Some(created)) = self.created.get(name) else {
            return;
        };
        let place = &creation.class.location;
        for (difference, package, impact) in created.concerning(creation) {
            let how = (Reliance::Creates, impact);
            self.found.add(difference, package, class, how, place);
        }
    }

    /// Compares a class of which objects are created. `None` if nothing can differ.
    fn created_class(&self, name: &'packages ClassName) -> Option<CreatedClass<'packages>> {
        let old_at = self.old.lookup(self.release, name)?;
        let new_at = self.new.lookup(self.release, name)?;
        let definition = self.new.definition(&new_at)?;
        if !self.has_other_ancestors(&old_at, &new_at) {
            return None;
        }
        Some(CreatedClass::new(ClassPair {
            name,
            package: None,
            old_api: self.api(self.old),
            new_api: self.api(self.new),
            old: EffectiveMembers::of(self.old, &old_at),
            new: EffectiveMembers::of(self.new, &new_at),
            usage: definition.usage,
            new_place: &definition.name.location,
            losses: OnceCell::new(),
            creation: OnceCell::new(),
        }))
    }
}
