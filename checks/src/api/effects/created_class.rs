//! Decides which differences concern the creation of an object.

use std::collections::{BTreeSet, HashMap, HashSet};

use pkgres_manifest::{CallArguments, ObjectCreation, PackageName, Property};

use super::changed_method::ChangedMethod;
use super::differing_members::{method_differences, property_differences};
use crate::api::ApiDifference;
use crate::api::class_pair::ClassPair;
use crate::api::rules::{ApiRule, Impact};
use crate::members::{INITIALIZER, is_input};

/// The differences of a class of which objects are created, for decisions about many creations.
pub(super) struct CreatedClass<'packages> {
    properties: Vec<ChangedProperty<'packages>>,
    /// Their positions, by property.
    by_name: HashMap<String, Vec<usize>>,
    /// The positions of those that concern objects without a value for the property.
    without_value: Vec<usize>,
    /// The initializer, if it differs.
    initializer: Option<ChangedInitializer<'packages>>,
}

/// A difference in a property.
struct ChangedProperty<'packages> {
    difference: ApiDifference,
    new: Option<&'packages Property>,
    /// The package that declares it.
    package: PackageName,
}

/// An initializer that differs.
struct ChangedInitializer<'packages> {
    method: ChangedMethod<'packages>,
    /// The package that declares it.
    package: PackageName,
    /// The properties of the class that take values: in the old version, if the initializer is there already.
    inputs: HashSet<&'packages str>,
}

impl<'packages> CreatedClass<'packages> {
    pub(super) fn new(mut both: ClassPair<'packages>) -> Self {
        // No other method is called to create an object.
        for members in [&mut both.old, &mut both.new] {
            members.methods.retain(|name, _| *name == INITIALIZER);
        }
        let mut properties = Vec::new();
        let mut by_name: HashMap<String, Vec<usize>> = HashMap::new();
        let mut without_value = Vec::new();
        for difference in property_differences(&both) {
            let name = difference.member.as_deref().unwrap_or_default();
            let [old, new] = [&both.old, &both.new].map(|it| it.properties.get(name));
            let Some(declared) = old.or(new) else {
                continue;
            };
            let new = new.map(|it| it.member);
            let at = properties.len();
            by_name.entry(name.to_owned()).or_default().push(at);
            if creation_impact(difference.rule, new, false).is_some() {
                without_value.push(at);
            }
            properties.push(ChangedProperty {
                difference,
                new,
                package: declared.class.release.name.clone(),
            });
        }
        Self {
            properties,
            by_name,
            without_value,
            initializer: ChangedInitializer::of(&both),
        }
    }

    /// The differences that concern the creation of an object, with the packages that declare what differs, and with
    /// what they mean.
    pub(super) fn concerning(
        &self,
        creation: &ObjectCreation,
    ) -> Vec<(&ApiDifference, &PackageName, Impact)> {
        let named = creation.arguments.named.iter();
        let given: HashSet<&str> = named.map(String::as_str).collect();
        let of_given = given.iter().filter_map(|name| self.by_name.get(*name));
        let positions = of_given.flatten().chain(&self.without_value);
        let positions: BTreeSet<usize> = positions.copied().collect();
        let mut concerning = Vec::new();
        for property in positions.into_iter().map(|at| &self.properties[at]) {
            let difference = &property.difference;
            let name = difference.member.as_deref().unwrap_or_default();
            let impact = creation_impact(difference.rule, property.new, given.contains(name));
            concerning.extend(impact.map(|impact| (difference, &property.package, impact)));
        }
        if let Some(initializer) = &self.initializer {
            let method = &initializer.method;
            let found = method.concerning_creation(&initializer.call(creation));
            let of_initializer = found.into_iter();
            concerning.extend(of_initializer.map(|(at, impact)| {
                let difference = &method.differences[at];
                (difference, &initializer.package, impact)
            }));
        }
        concerning
    }
}

impl<'packages> ChangedInitializer<'packages> {
    /// The initializer of a class, if it differs.
    fn of(both: &ClassPair<'packages>) -> Option<Self> {
        let [old, new] = [&both.old, &both.new].map(|members| members.methods.get(INITIALIZER));
        let declared = old.or(new)?;
        let differences = method_differences(both).remove(INITIALIZER)?;
        let members = if old.is_some() { &both.old } else { &both.new };
        let inputs = members.properties.iter();
        let inputs = inputs.filter(|(_, property)| is_input(property.member));
        let [old, new] = [old, new].map(|version| version.map(|it| it.member));
        Some(Self {
            method: ChangedMethod::new(differences, old, new),
            package: declared.class.release.name.clone(),
            inputs: inputs.map(|(name, _)| *name).collect(),
        })
    }

    /// The arguments of the creation of an object that are for the initializer, and not values of properties.
    fn call(&self, creation: &ObjectCreation) -> CallArguments {
        let is_argument =
            |name: &str| self.method.has_argument(name) || !self.inputs.contains(name);
        let named = creation.arguments.named.iter();
        CallArguments {
            positional: 0,
            named: named.filter(|name| is_argument(name)).cloned().collect(),
        }
    }
}

/// What a difference in a property means for the creation of an object, with or without a value for it; `None` if
/// nothing.
fn creation_impact(rule: ApiRule, new: Option<&Property>, is_given: bool) -> Option<Impact> {
    match rule {
        ApiRule::PropertyRemoved => is_given.then_some(Impact::Major),
        ApiRule::PropertyUsageChanged => {
            let can_be_given = new.is_none_or(is_input);
            (is_given && !can_be_given).then_some(Impact::Major)
        }
        ApiRule::MemberPerhapsRemoved | ApiRule::ContractChanged => {
            is_given.then_some(Impact::Review)
        }
        ApiRule::RequiredPropertyAdded | ApiRule::PropertyBecameRequired => {
            (!is_given).then_some(Impact::Major)
        }
        _ => None,
    }
}
