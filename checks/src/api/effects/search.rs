//! Finds the differences that concern the classes of a release.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::diagnostic::{Located, Location};
use pkgres_manifest::{
    ClassDefinition, ClassName, ClassUsage, ObjectCreation, PackageName, Release,
};

use super::concern::{
    concerning_call, concerning_declaration, concerning_new_initializer, concerns_property,
    creation_impact, initializer_call,
};
use super::{Reliance, UpdateEffect};
use crate::api::class_pair::ClassPair;
use crate::api::rules::{ApiRule, Impact};
use crate::api::{ApiDifference, ApiOf, classes, methods, properties};
use crate::bound_packages::{BoundPackages, ClassAt};
use crate::members::{Declared, EffectiveMembers, INITIALIZER, canonical_name};

/// A search in progress.
pub(super) struct EffectSearch<'packages> {
    release: &'packages Release,
    old: &'packages BoundPackages,
    new: &'packages BoundPackages,
    pub(super) found: Vec<UpdateEffect>,
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
            found: Vec::new(),
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

    fn add(
        &mut self,
        difference: &ApiDifference,
        package: &PackageName,
        class: &ClassDefinition,
        (reliance, impact): (Reliance, Impact),
        place: &Location,
    ) {
        self.found.push(UpdateEffect {
            difference: difference.clone(),
            package: package.clone(),
            class: class.name.value.clone(),
            reliance,
            impact,
            places: vec![place.clone()],
        });
    }

    /// Finds classes that are gone, and classes that can no longer be used in the way in which the class does.
    fn named_classes(&mut self, class: &ClassDefinition) {
        let extended = class.extends.iter().map(|it| (Reliance::Extends, it));
        let named = class.uses.iter().map(|it| (Reliance::Names, it));
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
                    let Some(after) = changed.filter(|_| is_usage_needed(class, reliance, named))
                    else {
                        continue;
                    };
                    classes::usage_changed(before, after).difference
                }
            };
            let how = (reliance, Impact::Major);
            self.add(&difference, &at.release.name, class, how, &named.location);
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

    /// Compares what a class inherits from other packages.
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
            losers: OnceCell::new(),
        };
        let with_own = EffectiveMembers::of(self.new, &at);
        for (name, differences) in Self::method_differences(&both) {
            self.inherited_method(class, &both, &with_own, &name, &differences);
        }
        for difference in Self::property_differences(&both) {
            self.inherited_property(class, &both, &with_own, &difference);
        }
    }

    /// The differences between methods, by their canonical names.
    fn method_differences(both: &ClassPair<'_>) -> BTreeMap<String, Vec<ApiDifference>> {
        let mut found = Vec::new();
        methods::compare(both, &mut found);
        let mut differences: BTreeMap<String, Vec<ApiDifference>> = BTreeMap::new();
        for found in found {
            let mut difference = found.difference;
            let name = canonical_name(difference.member.as_deref().unwrap_or_default()).to_owned();
            forget_place_of_removal(&mut difference);
            differences.entry(name).or_default().push(difference);
        }
        differences
    }

    fn property_differences(both: &ClassPair<'_>) -> Vec<ApiDifference> {
        let mut found = Vec::new();
        properties::compare(both, &mut found);
        let mut differences = Vec::new();
        for found in found {
            let mut difference = found.difference;
            forget_place_of_removal(&mut difference);
            differences.push(difference);
        }
        differences
    }

    /// Finds the uses of a method that differs.
    fn inherited_method(
        &mut self,
        class: &ClassDefinition,
        both: &ClassPair<'_>,
        with_own: &EffectiveMembers<'_>,
        name: &str,
        differences: &[ApiDifference],
    ) {
        let (old, new) = (both.old.methods.get(name), both.new.methods.get(name));
        let Some(declared) = old.or(new) else {
            return;
        };
        let package = &declared.class.release.name;
        let (old, new) = (old.map(|it| it.member), new.map(|it| it.member));
        let mut own = class.methods.iter();
        if let Some(own) = own.find(|own| canonical_name(&own.name.value) == name) {
            let how = (Reliance::Declares, Impact::Review);
            for at in concerning_declaration(differences, old, new, own) {
                self.add(&differences[at], package, class, how, &own.name.location);
            }
            return;
        }
        let Some(old) = old.filter(|_| !self.is_own(with_own.methods.get(name))) else {
            return;
        };
        for used in &class.member_uses {
            let call = used.call.as_ref();
            let Some(call) = call.filter(|_| canonical_name(&used.member.value) == name) else {
                continue;
            };
            for (at, impact) in concerning_call(differences, old, new, call) {
                let how = (Reliance::Calls, impact);
                self.add(&differences[at], package, class, how, &used.member.location);
            }
        }
    }

    /// Finds the uses of a property that differs.
    fn inherited_property(
        &mut self,
        class: &ClassDefinition,
        both: &ClassPair<'_>,
        with_own: &EffectiveMembers<'_>,
        difference: &ApiDifference,
    ) {
        let name = difference.member.as_deref().unwrap_or_default();
        let (old, new) = (both.old.properties.get(name), both.new.properties.get(name));
        let Some(declared) = old.or(new) else {
            return;
        };
        let package = &declared.class.release.name;
        let mut own = class.properties.iter();
        if let Some(own) = own.find(|own| own.name.value == name) {
            if concerns_property(difference, new.map(|it| it.member), own) {
                let how = (Reliance::Declares, Impact::Review);
                self.add(difference, package, class, how, &own.name.location);
            }
            return;
        }
        if self.is_own(with_own.properties.get(name)) {
            return;
        }
        let impact = match difference.rule {
            ApiRule::PropertyRemoved => Impact::Major,
            ApiRule::MemberPerhapsRemoved
            | ApiRule::PropertyUsageChanged
            | ApiRule::ContractChanged => Impact::Review,
            ApiRule::RequiredPropertyAdded | ApiRule::PropertyBecameRequired => {
                // A class of this package that it extends has the same difference.
                if !self.inherits_within(class, name) {
                    let how = (Reliance::Inherits, Impact::Major);
                    self.add(difference, package, class, how, &class.name.location);
                }
                return;
            }
            _ => return,
        };
        for used in &class.member_uses {
            if used.call.is_none() && used.member.value == name {
                let how = (Reliance::Uses, impact);
                self.add(difference, package, class, how, &used.member.location);
            }
        }
    }

    /// Whether a member is declared by a class of the release itself.
    fn is_own<Member>(&self, declared: Option<&Declared<'_, Member>>) -> bool {
        declared.is_some_and(|declared| declared.class.release == *self.release)
    }

    /// Whether a class extends one of its own package that inherits a property, too.
    fn inherits_within(&self, class: &ClassDefinition, property: &str) -> bool {
        class.extends.iter().any(|parent| {
            let found = self.new.lookup(self.release, &parent.value);
            found
                .filter(|at| at.release == *self.release)
                .is_some_and(|at| {
                    let members = EffectiveMembers::of(self.new, &at);
                    members.properties.contains_key(property)
                })
        })
    }

    /// Finds out whether an object can still be created as it is.
    fn creation(&mut self, class: &ClassDefinition, creation: &'packages ObjectCreation) {
        let lookup =
            |packages: &BoundPackages| packages.lookup(self.release, &creation.class.value);
        let (Some(old_at), Some(new_at)) = (lookup(self.old), lookup(self.new)) else {
            return;
        };
        let Some(definition) = self.new.definition(&new_at) else {
            return;
        };
        if !self.has_other_ancestors(&old_at, &new_at) {
            return;
        }
        let both = ClassPair {
            name: &creation.class.value,
            package: None,
            old_api: self.api(self.old),
            new_api: self.api(self.new),
            old: EffectiveMembers::of(self.old, &old_at),
            new: EffectiveMembers::of(self.new, &new_at),
            usage: definition.usage,
            new_place: &definition.name.location,
            losers: OnceCell::new(),
        };
        let place = &creation.class.location;
        let given = &creation.arguments.named;
        for difference in Self::property_differences(&both) {
            let name = difference.member.as_deref().unwrap_or_default();
            let (old, new) = (both.old.properties.get(name), both.new.properties.get(name));
            let new_member = new.map(|declared| declared.member);
            let is_given = given.iter().any(|it| it == name);
            let impact = creation_impact(difference.rule, new_member, is_given);
            if let (Some(impact), Some(declared)) = (impact, old.or(new)) {
                let how = (Reliance::Creates, impact);
                self.add(&difference, &declared.class.release.name, class, how, place);
            }
        }
        let (old, new) = (
            both.old.methods.get(INITIALIZER),
            both.new.methods.get(INITIALIZER),
        );
        let (Some(declared), Some(differences)) = (
            old.or(new),
            Self::method_differences(&both).remove(INITIALIZER),
        ) else {
            return;
        };
        let new = new.map(|declared| declared.member);
        let how = if let Some(old) = old {
            let call = initializer_call(creation, &both.old, old.member);
            concerning_call(&differences, old.member, new, &call)
        } else {
            let call = initializer_call(creation, &both.new, declared.member);
            concerning_new_initializer(&differences, declared.member, &call)
        };
        for (at, impact) in how {
            let how = (Reliance::Creates, impact);
            self.add(
                &differences[at],
                &declared.class.release.name,
                class,
                how,
                place,
            );
        }
    }
}

/// If a member was removed, the place of the class that inherited it is no place of the other package.
fn forget_place_of_removal(difference: &mut ApiDifference) {
    if matches!(
        difference.rule,
        ApiRule::MethodRemoved | ApiRule::PropertyRemoved | ApiRule::MemberPerhapsRemoved
    ) {
        difference.new = None;
    }
}

/// Whether a class can name another one only because that is, or is not, a meta class.
fn is_usage_needed(
    class: &ClassDefinition,
    reliance: Reliance,
    named: &Located<ClassName>,
) -> bool {
    match reliance {
        Reliance::Extends => class.usage == ClassUsage::Class,
        _ => class.metas.iter().any(|meta| meta.value == named.value),
    }
}
