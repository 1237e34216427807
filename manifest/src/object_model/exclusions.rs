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

/// The objects that are written in a value of a property, each with its exclusions.
///
/// `contracts` are those of the declarations of the property that count, and `exclusions` those of the value. The
/// objects in a mapping that describes an object are left out: the properties of that object hold them.
pub fn held_objects<'a>(
    contracts: impl IntoIterator<Item = &'a Contract>,
    value: &ModelValue,
    exclusions: &Exclusions,
) -> Vec<(ObjectId, Exclusions)> {
    let mut found = Vec::new();
    let mut contracts = contracts.into_iter().peekable();
    if contracts.peek().is_none() {
        collect(None, value, exclusions.clone(), &mut found);
    }
    for contract in contracts {
        collect(Some(contract), value, exclusions.clone(), &mut found);
    }
    found
}

/// Recursion is bounded by the depth limit on documents.
fn collect(
    contract: Option<&Contract>,
    value: &ModelValue,
    exclusions: Exclusions,
    found: &mut Vec<(ObjectId, Exclusions)>,
) {
    let contract = match contract {
        // A single value means a list of one.
        Some(Contract::List { items, .. }) if !matches!(value.kind, ValueKind::List(_)) => {
            items.first()
        }
        contract => contract,
    };
    let rules = match contract {
        Some(Contract::Rules(rules)) => rules.as_slice(),
        _ => &[],
    };
    match &value.kind {
        ValueKind::Object(object) => {
            let templates = rules.iter().filter_map(|rule| match rule {
                Rule::Template(constraint) => Some(constraint),
                _ => None,
            });
            let all = templates.fold(exclusions, |all, constraint| all.and(constraint));
            found.push((*object, all));
        }
        ValueKind::List(values) => {
            let items = match contract {
                Some(Contract::List { items, .. }) => items.as_slice(),
                _ => &[],
            };
            for (at, value) in values.iter().enumerate() {
                let item = items.get(at).or(items.last());
                collect(item, value, exclusions.of_items(), found);
            }
        }
        ValueKind::Map(entries) | ValueKind::Untyped(entries) => {
            let is_described =
                (rules.iter()).any(|rule| matches!(rule, Rule::Class(_) | Rule::Template(_)));
            if is_described && !exclusions.is_everything() {
                return;
            }
            let keys = match contract {
                Some(Contract::Map(keys)) => keys.as_slice(),
                _ => &[],
            };
            for (name, value) in entries {
                collect(of_key(keys, name), value, exclusions.of(name), found);
            }
        }
        _ => {}
    }
}

/// The contract of the value of a key.
fn of_key<'a>(keys: &'a [(MapKey, Contract)], name: &str) -> Option<&'a Contract> {
    let named =
        (keys.iter()).find(|(key, _)| matches!(key, MapKey::Named(written) if written == name));
    let found = named.or_else(|| {
        let mut keys = keys.iter();
        keys.find(|(key, _)| matches!(key, MapKey::Matching(_)))
    });
    found.map(|(_, contract)| contract)
}
