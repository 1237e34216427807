//! Whether what one contract made of a value meets another contract.

use std::collections::{HashMap, HashSet};

use super::made::{Made, MadeValue};
use super::value_check::{Visit, named_keys};
use super::value_path::ValuePath;
use super::{ConstrainedObject, Exclusions, ValueProblem};
use crate::class_file::{Contract, MapKey, Rule};

impl<'a> Visit<'_, 'a> {
    /// Checks what another contract made of a value. Recursion is bounded by the depth limit on documents.
    pub(super) fn validate(
        &mut self,
        contract: &'a Contract,
        value: &MadeValue<'a>,
        path: &ValuePath<'_>,
        exclusions: &Exclusions,
    ) {
        self.found.values += 1;
        if exclusions.is_everything() {
            return;
        }
        match (contract, &value.made) {
            (_, Made::Unknown) => {}
            (Contract::Rules(rules), _) => {
                self.not_checked(rules);
                for rule in rules {
                    if let Some(problem) = self.invalid(rule, value, path) {
                        return self.violated(problem, value.location, path);
                    }
                }
            }
            (Contract::List { items, .. }, made) => {
                let (values, of_items) = match made {
                    Made::List(values) => (values.as_slice(), exclusions.of_items()),
                    Made::Null => (Default::default(), exclusions.clone()),
                    _ => (std::slice::from_ref(value), exclusions.clone()),
                };
                self.count(contract, values.len(), value.location, path);
                for (at, value) in values.iter().enumerate() {
                    if let Some(item) = items.get(at).or(items.last()) {
                        self.validate(item, value, &ValuePath::Item(path, at), &of_items);
                    }
                }
            }
            (Contract::Map(keys), made) => {
                let nothing = MadeValue {
                    made: Made::Null,
                    location: None,
                };
                let entries = match made {
                    Made::Map(entries) => entries.as_slice(),
                    Made::Null => &[],
                    _ => return self.violated(ValueProblem::NotMapping, value.location, path),
                };
                let named: HashSet<&str> = named_keys(keys).collect();
                let by_name: HashMap<&str, &MadeValue<'a>> = (entries.iter())
                    .filter(|(name, _)| named.contains(name))
                    .map(|(name, value)| (*name, value))
                    .collect();
                for (key, contract) in keys {
                    if let MapKey::Named(name) = key {
                        let value = by_name.get(name.as_str()).copied().unwrap_or(&nothing);
                        let excluded = exclusions.of(name);
                        self.validate(contract, value, &ValuePath::Property(path, name), &excluded);
                        continue;
                    }
                    for (name, value) in entries.iter().filter(|(name, _)| !named.contains(name)) {
                        let excluded = exclusions.of(name);
                        self.validate(contract, value, &ValuePath::Property(path, name), &excluded);
                    }
                }
            }
        }
    }

    /// What a rule finds wrong with what another contract made of a value.
    fn invalid(
        &mut self,
        rule: &'a Rule,
        value: &MadeValue<'a>,
        path: &ValuePath<'_>,
    ) -> Option<ValueProblem> {
        match (rule, &value.made) {
            (Rule::NotNull, Made::Null) if value.location.is_none() => Some(ValueProblem::Absent),
            (Rule::NotNull, Made::Null) => Some(ValueProblem::Null),
            (Rule::NotNull | Rule::Unchecked(_), _) | (_, Made::Unknown) => None,
            (Rule::Equal(expected), made) => {
                (!made.may_equal(expected)).then(|| ValueProblem::NotEqual(expected.clone()))
            }
            (Rule::Class(constraint) | Rule::Template(constraint), Made::Null) => {
                self.names_of_null(constraint, path);
                None
            }
            (_, Made::Null) => None,
            (Rule::String, made) => {
                (!matches!(made, Made::Text(_))).then_some(ValueProblem::NotText)
            }
            (Rule::Int, made) => {
                (!matches!(made, Made::Integer(_))).then_some(ValueProblem::NotInt)
            }
            (Rule::Bool, made) => (!matches!(made, Made::Bool(_))).then_some(ValueProblem::NotBool),
            (Rule::Class(constraint) | Rule::Template(constraint), made) => match made {
                Made::Object(object) => {
                    self.names_of_object(constraint, path);
                    self.found.objects.push(ConstrainedObject {
                        constraint,
                        object: *object,
                        path: path.written(),
                    });
                    None
                }
                Made::Described { place, .. } => {
                    self.constrain_description(constraint, place, path);
                    None
                }
                _ => Some(ValueProblem::NotObject(constraint.class.clone())),
            },
            (Rule::Owned, made) => match made {
                Made::Object(object) if self.holds(*object) => None,
                Made::Described { is_owned: true, .. } => None,
                Made::Object(_) | Made::Described { .. } => Some(ValueProblem::NotOwned),
                _ => Some(ValueProblem::NoObject),
            },
            // The engine does not look at the owner again.
            (Rule::NotOwned, made) => (!matches!(made, Made::Object(_) | Made::Described { .. }))
                .then_some(ValueProblem::NoObject),
        }
    }
}
