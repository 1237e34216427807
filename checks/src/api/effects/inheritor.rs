//! Decides which differences concern a class that inherits the members that differ.

use std::collections::{BTreeMap, HashMap, HashSet};

use pkgres_manifest::diagnostic::Location;
use pkgres_manifest::{CallArguments, ClassDefinition, Method, Property, Release};

use super::Reliance;
use super::changed_method::ChangedMethod;
use super::found::FoundEffects;
use crate::api::ApiDifference;
use crate::api::rules::{ApiRule, Impact};
use crate::bound_packages::{BoundPackages, ClassAt};
use crate::members::{Declared, EffectiveMembers, canonical_name};

/// A member in the old and in the new version.
type Versions<'both, 'packages, Member> = (
    Option<&'both Declared<'packages, Member>>,
    Option<&'both Declared<'packages, Member>>,
);

/// A class that inherits members from other packages, with the members that it declares and uses itself, by name.
pub(super) struct Inheritor<'packages> {
    class: &'packages ClassDefinition,
    /// The methods that it declares, by their canonical names.
    methods: HashMap<&'packages str, &'packages Method>,
    properties: HashMap<&'packages str, &'packages Property>,
    /// The calls of methods, by their canonical names.
    calls: HashMap<&'packages str, Vec<(&'packages CallArguments, &'packages Location)>>,
    /// The uses of properties.
    uses: HashMap<&'packages str, Vec<&'packages Location>>,
    /// The methods, by their canonical names, whose declaration that counts is in a class of the release.
    methods_of_release: HashSet<&'packages str>,
    /// The properties whose declaration that counts is in a class of the release.
    properties_of_release: HashSet<&'packages str>,
    /// The properties of the classes of the release that it extends, inherited ones included.
    properties_of_parents: HashSet<&'packages str>,
}

impl<'packages> Inheritor<'packages> {
    /// A class, which is `at` in the packages after the update.
    pub(super) fn new(
        class: &'packages ClassDefinition,
        at: &ClassAt,
        new: &'packages BoundPackages,
    ) -> Self {
        let mut calls: HashMap<&str, Vec<_>> = HashMap::new();
        let mut uses: HashMap<&str, Vec<_>> = HashMap::new();
        for used in &class.member_uses {
            let (name, place) = (used.member.value.as_str(), &used.member.location);
            if let Some(call) = &used.call {
                let calls = calls.entry(canonical_name(name)).or_default();
                calls.push((call, place));
            } else {
                uses.entry(name).or_default().push(place);
            }
        }
        let release = &at.release;
        let members = EffectiveMembers::of(new, at);
        let parents = class.extends.iter();
        let parents = parents
            .filter_map(|parent| new.lookup(release, &parent.value))
            .filter(|parent| parent.release == *release);
        let of_parents = new.known_ancestry_of_all(parents.collect()).known;
        let of_parents = of_parents.iter().flat_map(|(_, parent)| &parent.properties);
        // The first of several with one name counts.
        let methods = class.methods.iter().rev();
        let properties = class.properties.iter().rev();
        Self {
            class,
            methods: methods
                .map(|it| (canonical_name(&it.name.value), it))
                .collect(),
            properties: properties.map(|it| (it.name.value.as_str(), it)).collect(),
            calls,
            uses,
            methods_of_release: declared_in(release, members.methods),
            properties_of_release: declared_in(release, members.properties),
            properties_of_parents: of_parents.map(|it| it.name.value.as_str()).collect(),
        }
    }

    /// Finds the uses of a method that differs.
    pub(super) fn method(
        &self,
        name: &str,
        differences: Vec<ApiDifference>,
        (old, new): Versions<'_, 'packages, Method>,
        found: &mut FoundEffects,
    ) {
        let Some(declared) = old.or(new) else {
            return;
        };
        let package = &declared.class.release.name;
        let is_known = old.is_some();
        let (old, new) = (old.map(|it| it.member), new.map(|it| it.member));
        if let Some(own) = self.methods.get(name) {
            let changed = ChangedMethod::new(differences, old, new);
            let how = (Reliance::Declares, Impact::Review);
            for at in changed.concerning_declaration(own) {
                let difference = &changed.differences[at];
                found.add(difference, package, self.class, how, &own.name.location);
            }
            return;
        }
        let calls = self.calls.get(name);
        let calls = calls.filter(|_| is_known && !self.methods_of_release.contains(name));
        let Some(calls) = calls else {
            return;
        };
        let changed = ChangedMethod::new(differences, old, new);
        for (call, place) in calls {
            for (at, impact) in changed.concerning_call(call) {
                let how = (Reliance::Calls, impact);
                found.add(&changed.differences[at], package, self.class, how, place);
            }
        }
    }

    /// Finds the uses of a property that differs.
    pub(super) fn property(
        &self,
        name: &str,
        difference: &ApiDifference,
        (old, new): Versions<'_, 'packages, Property>,
        found: &mut FoundEffects,
    ) {
        let Some(declared) = old.or(new) else {
            return;
        };
        let package = &declared.class.release.name;
        let class = self.class;
        if let Some(own) = self.properties.get(name) {
            if concerns_property(difference, new.map(|it| it.member), own) {
                let how = (Reliance::Declares, Impact::Review);
                found.add(difference, package, class, how, &own.name.location);
            }
            return;
        }
        if self.properties_of_release.contains(name) {
            return;
        }
        let impact = match difference.rule {
            ApiRule::PropertyRemoved => Impact::Major,
            ApiRule::MemberPerhapsRemoved
            | ApiRule::PropertyUsageChanged
            | ApiRule::ContractChanged => Impact::Review,
            ApiRule::RequiredPropertyAdded | ApiRule::PropertyBecameRequired => {
                // A class of this package that it extends has the same difference.
                if !self.properties_of_parents.contains(name) {
                    let how = (Reliance::Inherits, Impact::Major);
                    found.add(difference, package, class, how, &class.name.location);
                }
                return;
            }
            _ => return,
        };
        for place in self.uses.get(name).into_iter().flatten() {
            let how = (Reliance::Uses, impact);
            found.add(difference, package, class, how, place);
        }
    }
}

/// The names of the members that classes of a release declare.
fn declared_in<'packages, Member>(
    release: &Release,
    members: BTreeMap<&'packages str, Declared<'packages, Member>>,
) -> HashSet<&'packages str> {
    let members = members.into_iter();
    let of_release = members.filter(|(_, declared)| declared.class.release == *release);
    of_release.map(|(name, _)| name).collect()
}

/// Whether a difference in a property concerns a class that declares it itself.
fn concerns_property(difference: &ApiDifference, new: Option<&Property>, own: &Property) -> bool {
    match difference.rule {
        ApiRule::PropertyRemoved
        | ApiRule::MemberPerhapsRemoved
        | ApiRule::PropertyAdded
        | ApiRule::RequiredPropertyAdded
        | ApiRule::PropertyPerhapsRequired => true,
        ApiRule::PropertyUsageChanged => new.is_some_and(|new| new.usage.value != own.usage.value),
        ApiRule::ContractChanged => new.is_some_and(|new| new.contract.value != own.contract.value),
        _ => false,
    }
}
