//! Decides which differences concern the creation of an object.

use std::collections::{BTreeSet, HashMap, HashSet};

use pkgres_manifest::{CallArguments, ObjectCreation, PackageName, Property};

use super::changed_method::ChangedMethod;
use super::search::{method_differences, property_differences};
use crate::api::ApiDifference;
use crate::api::class_pair::ClassPair;
use crate::api::rules::{ApiRule, Impact};
use crate::members::{INITIALIZER, is_input};

/// A class of which objects are created, with its differences, for decisions about many creations.
pub(super) struct CreatedClass<'packages> {
    both: ClassPair<'packages>,
    /// The differences in properties.
    differences: Vec<ApiDifference>,
    /// Their positions, by property.
    of_properties: HashMap<String, Vec<usize>>,
    /// Those that concern objects without a value for the property.
    without_value: Vec<usize>,
    /// The initializer, if it differs, and the package that declares it.
    initializer: Option<(ChangedMethod<'packages>, PackageName)>,
}

impl<'packages> CreatedClass<'packages> {
    pub(super) fn new(both: ClassPair<'packages>) -> Self {
        let differences = property_differences(&both);
        let mut of_properties: HashMap<String, Vec<usize>> = HashMap::new();
        let mut without_value = Vec::new();
        for (at, difference) in differences.iter().enumerate() {
            let name = difference.member.as_deref().unwrap_or_default();
            of_properties.entry(name.to_owned()).or_default().push(at);
            let new = both.new.properties.get(name).map(|it| it.member);
            if creation_impact(difference.rule, new, false).is_some() {
                without_value.push(at);
            }
        }
        let [old, new] = [&both.old, &both.new].map(|members| members.methods.get(INITIALIZER));
        let initializer = old.or(new).and_then(|declared| {
            let differences = method_differences(&both).remove(INITIALIZER)?;
            let [old, new] = [old, new].map(|version| version.map(|it| it.member));
            let changed = ChangedMethod::new(differences, old, new);
            Some((changed, declared.class.release.name.clone()))
        });
        Self {
            both,
            differences,
            of_properties,
            without_value,
            initializer,
        }
    }

    /// The differences that concern the creation of an object, with the packages that declare what differs, and with
    /// what they mean.
    pub(super) fn concerning(
        &self,
        creation: &ObjectCreation,
    ) -> Vec<(&ApiDifference, &PackageName, Impact)> {
        let given: HashSet<&str> = creation
            .arguments
            .named
            .iter()
            .map(String::as_str)
            .collect();
        let of_given = given
            .iter()
            .filter_map(|name| self.of_properties.get(*name));
        let positions = of_given.flatten().chain(&self.without_value);
        let positions: BTreeSet<usize> = positions.copied().collect();
        let mut concerning = Vec::new();
        for difference in positions.into_iter().map(|at| &self.differences[at]) {
            let name = difference.member.as_deref().unwrap_or_default();
            let [old, new] = [&self.both.old, &self.both.new].map(|it| it.properties.get(name));
            let new_member = new.map(|declared| declared.member);
            let impact = creation_impact(difference.rule, new_member, given.contains(name));
            if let (Some(impact), Some(declared)) = (impact, old.or(new)) {
                concerning.push((difference, &declared.class.release.name, impact));
            }
        }
        if let Some((initializer, package)) = &self.initializer {
            let call = self.initializer_call(creation, initializer);
            let of_initializer = initializer.concerning_creation(&call).into_iter();
            let differences = &initializer.differences;
            concerning
                .extend(of_initializer.map(|(at, impact)| (&differences[at], package, impact)));
        }
        concerning
    }

    /// The arguments of the creation of an object that are for the initializer, and not values of properties.
    fn initializer_call(
        &self,
        creation: &ObjectCreation,
        initializer: &ChangedMethod<'_>,
    ) -> CallArguments {
        let members = if self.both.old.methods.contains_key(INITIALIZER) {
            &self.both.old
        } else {
            &self.both.new
        };
        let is_property = |name: &str| {
            let property = members.properties.get(name);
            property.is_some_and(|declared| is_input(declared.member))
        };
        let named = creation.arguments.named.iter();
        CallArguments {
            positional: 0,
            named: named
                .filter(|name| initializer.has_argument(name) || !is_property(name))
                .cloned()
                .collect(),
        }
    }
}

/// What a difference in a property means for the creation of an object, with or without a value for it; `None` if
/// nothing.
pub(super) fn creation_impact(
    rule: ApiRule,
    new: Option<&Property>,
    is_given: bool,
) -> Option<Impact> {
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
