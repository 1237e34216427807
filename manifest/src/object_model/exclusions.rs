//! Values that are not checked, because a contract `template` excludes them.
//!
//! `$.template(C, excludeProperties => [name])` accepts an object of class C without its property `name`, and with any
//! value of it: the value is set when an object is made of the template. So whether the contracts of an object count
//! depends on the contract of the property that holds the object.
//!
//! If the class of the holder declares that property itself, this declaration counts alone; else those of all inherited
//! classes do.

use std::collections::BTreeSet;

use super::{ModelValue, ObjectId, ValueKind};
use crate::class_file::{ClassConstraint, Contract, MapKey, Rule};

/// The parts of an object whose values are not checked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exclusions {
    /// Paths of properties and keys. The empty path is the object itself.
    paths: BTreeSet<Vec<String>>,
}

impl Exclusions {
    /// The exclusions of an object in which nothing is checked.
    pub fn everything() -> Self {
        Self {
            paths: BTreeSet::from([Vec::new()]),
        }
    }

    /// Whether everything is checked.
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// Whether nothing is checked.
    pub fn is_everything(&self) -> bool {
        self.paths.contains(&Vec::new())
    }

    /// The exclusions of the value of a property or key.
    #[must_use]
    pub fn of(&self, key: &str) -> Self {
        if self.is_empty() || self.is_everything() {
            return self.clone();
        }
        let paths = self.paths.iter();
        let paths = paths.filter_map(|path| match path.split_first() {
            Some((first, rest)) if first == key => Some(rest.to_vec()),
            _ => None,
        });
        Self {
            paths: paths.collect(),
        }
    }

    /// The exclusions of the items of a list: paths do not lead into lists.
    #[must_use]
    pub fn of_items(&self) -> Self {
        if self.is_everything() {
            self.clone()
        } else {
            Self::default()
        }
    }

    /// These, and those of a contract.
    #[must_use]
    pub fn and(&self, constraint: &ClassConstraint) -> Self {
        let written = constraint.excluded.iter();
        let written = written.map(|path| path.split('.').map(str::to_owned).collect());
        Self {
            paths: self.paths.iter().cloned().chain(written).collect(),
        }
    }

    /// Adds other exclusions.
    pub fn extend(&mut self, other: Self) {
        self.paths.extend(other.paths);
    }
}

/// An object that is written in a value of a property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldObject {
    /// The object.
    pub object: ObjectId,
    /// The parts of it that are not checked.
    pub exclusions: Exclusions,
    /// The way to it: the position of the item or entry at each level of the value.
    pub place: Vec<usize>,
}

/// The objects that are written in a value of a property, each with its exclusions.
///
/// `contracts` are those of the declarations of the property that count, and `exclusions` those of the value. The
/// objects in a mapping that describes an object are left out: the properties of that object hold them.
pub fn held_objects<'a>(
    contracts: impl IntoIterator<Item = &'a Contract>,
    value: &ModelValue,
    exclusions: &Exclusions,
) -> Vec<HeldObject> {
    let mut found = Vec::new();
    let mut contracts = contracts.into_iter().peekable();
    let mut place = Vec::new();
    if contracts.peek().is_none() {
        collect(None, value, exclusions.clone(), &mut place, &mut found);
    }
    for contract in contracts {
        let exclusions = exclusions.clone();
        collect(Some(contract), value, exclusions, &mut place, &mut found);
    }
    found
}

/// The exclusions that a contract of a property has for the object at a place of its value; `None` if the contract leads
/// to no object there. The work depends only on the depth of the place.
pub fn exclusions_at(
    contract: &Contract,
    value: &ModelValue,
    place: &[usize],
) -> Option<Exclusions> {
    let (mut contract, mut value) = (Some(contract), value);
    let mut exclusions = Exclusions::default();
    for at in place {
        contract = of_single(contract, value);
        match &value.kind {
            ValueKind::List(values) => {
                contract = of_item(contract, *at);
                value = values.get(*at)?;
                exclusions = exclusions.of_items();
            }
            ValueKind::Map(entries) | ValueKind::Untyped(entries) => {
                if describes(contract) && !exclusions.is_everything() {
                    return None;
                }
                let (name, entry) = entries.get(*at)?;
                contract = of_key(contract, name);
                value = entry;
                exclusions = exclusions.of(name);
            }
            _ => return None,
        }
    }
    let contract = of_single(contract, value);
    matches!(value.kind, ValueKind::Object(_)).then(|| with_templates(contract, exclusions))
}

/// Recursion is bounded by the depth limit on documents.
fn collect(
    contract: Option<&Contract>,
    value: &ModelValue,
    exclusions: Exclusions,
    place: &mut Vec<usize>,
    found: &mut Vec<HeldObject>,
) {
    let contract = of_single(contract, value);
    match &value.kind {
        ValueKind::Object(object) => found.push(HeldObject {
            object: *object,
            exclusions: with_templates(contract, exclusions),
            place: place.clone(),
        }),
        ValueKind::List(values) => {
            for (at, value) in values.iter().enumerate() {
                place.push(at);
                let item = of_item(contract, at);
                collect(item, value, exclusions.of_items(), place, found);
                place.pop();
            }
        }
        ValueKind::Map(entries) | ValueKind::Untyped(entries) => {
            if describes(contract) && !exclusions.is_everything() {
                return;
            }
            for (at, (name, value)) in entries.iter().enumerate() {
                place.push(at);
                let entry = of_key(contract, name);
                collect(entry, value, exclusions.of(name), place, found);
                place.pop();
            }
        }
        _ => {}
    }
}

/// The contract that counts for a value: a single value means a list of one.
fn of_single<'a>(contract: Option<&'a Contract>, value: &ModelValue) -> Option<&'a Contract> {
    match contract {
        Some(Contract::List { items, .. }) if !matches!(value.kind, ValueKind::List(_)) => {
            items.first()
        }
        contract => contract,
    }
}

/// The contract of an item of a list.
fn of_item(contract: Option<&Contract>, at: usize) -> Option<&Contract> {
    match contract {
        Some(Contract::List { items, .. }) => items.get(at).or(items.last()),
        _ => None,
    }
}

fn rules_of(contract: Option<&Contract>) -> &[Rule] {
    match contract {
        Some(Contract::Rules(rules)) => rules,
        _ => &[],
    }
}

/// Whether a mapping that meets the contract describes an object.
fn describes(contract: Option<&Contract>) -> bool {
    let mut rules = rules_of(contract).iter();
    rules.any(|rule| matches!(rule, Rule::Class(_) | Rule::Template(_)))
}

/// These exclusions, and those of the contract's templates.
fn with_templates(contract: Option<&Contract>, exclusions: Exclusions) -> Exclusions {
    let rules = rules_of(contract).iter();
    rules.fold(exclusions, |all, rule| match rule {
        Rule::Template(constraint) => all.and(constraint),
        _ => all,
    })
}

/// The contract of the value of a key.
fn of_key<'a>(contract: Option<&'a Contract>, name: &str) -> Option<&'a Contract> {
    let Some(Contract::Map(keys)) = contract else {
        return None;
    };
    let named =
        (keys.iter()).find(|(key, _)| matches!(key, MapKey::Named(written) if written == name));
    let found = named.or_else(|| {
        let mut keys = keys.iter();
        keys.find(|(key, _)| matches!(key, MapKey::Matching(_)))
    });
    found.map(|(_, contract)| contract)
}
