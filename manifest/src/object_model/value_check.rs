//! Whether a value of a model meets a contract, as far as that depends on the value alone.
//!
//! Conditions that also depend on versions are collected for the caller: the objects that have to be of a
//! class ([`ConstrainedObject`]), and the mappings that describe an object of a class without naming it
//! ([`DescribedObject`]). Checks of models and the solver share this, so that what the solver accepts is what
//! checks accept.
//!
//! Source of the rules: the contracts of the reference implementation, `murano/dsl/contracts`.

use std::collections::{HashMap, HashSet};
use std::fmt;

use super::{Exclusions, ModelValue, ObjectId, ObjectModel, ValueKind};
use crate::class_file::{ClassConstraint, Contract, Literal, MapKey, Property, Rule};
use crate::diagnostic::{Escaped, Location, counted};
use crate::name::ClassName;

/// The usages of properties whose values do not come from the model.
const NOT_IN_MODEL: [&str; 4] = ["Out", "Runtime", "Static", "Config"];

/// Those whose values in a model are ignored. A value of an `Out` property is from an earlier deployment.
const IGNORED_IN_MODEL: [&str; 3] = ["Runtime", "Static", "Config"];

impl Property {
    /// Whether a missing value counts as null: the value is from a model, and the property has no default.
    pub fn is_null_if_absent(&self) -> bool {
        !self.has_default && !NOT_IN_MODEL.contains(&self.usage.value.as_str())
    }
}

/// A value that violates a contract by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ValueViolation {
    /// The property, with positions in lists and keys of mappings.
    pub path: String,
    /// The problem with the value.
    pub problem: ValueProblem,
    /// The place of the value; `None` if there is none.
    pub location: Option<Location>,
}

/// A problem with a value. Its text continues "`port` of the object `web` …".
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ValueProblem {
    /// There is no value, and no default value.
    Absent,
    /// The value is null.
    Null,
    /// The value is not text.
    NotText,
    /// The value is not this scalar.
    NotEqual(Literal),
    /// The key of the value is not an integer.
    KeyNotInt,
    /// The value is no object.
    NoObject,
    /// The value is not an integer.
    NotInt,
    /// The value is not a mapping.
    NotMapping,
    /// The list has fewer items.
    TooFewItems(u64),
    /// The list has more items.
    TooManyItems(u64),
    /// The value is no object; it has to be one of this class.
    NotObject(ClassName),
    /// The value does not describe an object; it has to describe one of this class.
    NotTemplate(ClassName),
    /// The object has a header without `type`, and the contract names no class.
    NoType,
    /// The object is written elsewhere.
    NotOwned,
    /// The object is written inside the object with the property.
    Owned,
}

impl fmt::Display for ValueProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => formatter.write_str("must be there"),
            Self::Null => formatter.write_str("must not be null"),
            Self::NotText => formatter.write_str("must be text"),
            Self::NotEqual(value) => write!(formatter, "must be {value}"),
            Self::KeyNotInt => formatter.write_str("must have an integer as its key"),
            Self::NoObject => formatter.write_str("must be an object"),
            Self::NotInt => formatter.write_str("must be an integer"),
            Self::NotMapping => formatter.write_str("must be a mapping"),
            Self::TooFewItems(minimum) => {
                write!(formatter, "must have at least {}", items(*minimum))
            }
            Self::TooManyItems(maximum) => {
                write!(formatter, "must have at most {}", items(*maximum))
            }
            Self::NotObject(class) => write!(formatter, "must be an object of class `{class}`"),
            Self::NotTemplate(class) => {
                write!(formatter, "must describe an object of class `{class}`")
            }
            Self::NoType => formatter.write_str("must have a `type` in its `?`"),
            Self::NotOwned => formatter.write_str("must be written inside the object"),
            Self::Owned => formatter.write_str("must belong to another object"),
        }
    }
}

/// The place of a value in a model.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContractPlace {
    /// The object that has the property.
    pub holder: ObjectId,
    /// The property, with positions in lists and keys of mappings.
    pub path: String,
}

/// An object that has to be of a class.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConstrainedObject<'a> {
    /// The class and its versions.
    pub constraint: &'a ClassConstraint,
    /// The object.
    pub object: ObjectId,
    /// The property that holds it, with positions in lists and keys of mappings.
    pub path: String,
}

/// A mapping that is an object of the class that the contract names, because it names none itself.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DescribedObject<'a> {
    /// The class and its versions.
    pub constraint: &'a ClassConstraint,
    /// The properties of the object.
    pub properties: &'a [(String, ModelValue)],
    /// The property that holds it, with positions in lists and keys of mappings.
    pub path: String,
    /// Its place.
    pub location: &'a Location,
    /// The values in it that are not checked.
    pub exclusions: Exclusions,
}

/// The result of checking values against contracts.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ContractCheck<'a> {
    /// The violations that depend on the values alone.
    pub violations: Vec<ValueViolation>,
    /// The objects that have to be of a class.
    pub objects: Vec<ConstrainedObject<'a>>,
    /// The mappings that are objects of the class that a contract names.
    pub described: Vec<DescribedObject<'a>>,
    /// The calls that only the deployment engine can evaluate, as written.
    pub not_checked: Vec<&'a str>,
}

impl<'a> ContractCheck<'a> {
    /// Checks the value of a property of an object.
    ///
    /// `holder` is the object of the model that the property, or the mapping with it, is written in. `path` is the
    /// name of the property, after the name of the mapping if it is in one. Without a value, the property is checked
    /// as null, unless it [may be absent](Property::is_null_if_absent). The engine ignores the values of `Runtime`,
    /// `Static` and `Config` properties. `exclusions` are those of the object.
    pub fn property(
        &mut self,
        model: &ObjectModel,
        holder: ObjectId,
        path: &str,
        property: &'a Property,
        value: Option<&'a ModelValue>,
        exclusions: &Exclusions,
    ) {
        if IGNORED_IN_MODEL.contains(&property.usage.value.as_str()) {
            return;
        }
        if value.is_some() || property.is_null_if_absent() {
            let exclusions = exclusions.of(&property.name.value);
            self.value(
                model,
                holder,
                path,
                &property.contract.value,
                value,
                &exclusions,
            );
        }
    }

    /// Checks a value, such as that of an argument, against a contract. Arguments are as for [`property`](Self::property),
    /// but `exclusions` are those of the value.
    pub fn value(
        &mut self,
        model: &ObjectModel,
        holder: ObjectId,
        path: &str,
        contract: &'a Contract,
        value: Option<&'a ModelValue>,
        exclusions: &Exclusions,
    ) {
        let mut visit = Visit {
            model,
            holder,
            found: self,
        };
        visit.contract(contract, value, path, exclusions);
    }
}

struct Visit<'visit, 'a> {
    model: &'visit ObjectModel,
    holder: ObjectId,
    found: &'visit mut ContractCheck<'a>,
}

impl<'a> Visit<'_, 'a> {
    fn violated(&mut self, problem: ValueProblem, value: Option<&ModelValue>, path: &str) {
        self.found.violations.push(ValueViolation {
            path: path.to_owned(),
            problem,
            location: value.map(|value| value.location.clone()),
        });
    }

    /// Recursion is bounded by the depth limit on documents.
    fn contract(
        &mut self,
        contract: &'a Contract,
        value: Option<&'a ModelValue>,
        path: &str,
        exclusions: &Exclusions,
    ) {
        if exclusions.is_everything() {
            return;
        }
        match contract {
            Contract::Rules(rules) => self.rules(rules, value, path, exclusions),
            Contract::List {
                items,
                minimum,
                maximum,
            } => {
                let values = match value.map(|value| (&value.kind, value)) {
                    Some((ValueKind::List(values), _)) => values.as_slice(),
                    None | Some((ValueKind::Null, _)) => &[],
                    // A single value means a list of one.
                    Some((_, single)) => std::slice::from_ref(single),
                };
                let of_items = match value.map(|value| &value.kind) {
                    Some(ValueKind::List(_)) => exclusions.of_items(),
                    _ => exclusions.clone(),
                };
                let count = values.len() as u64;
                if count < *minimum {
                    self.violated(ValueProblem::TooFewItems(*minimum), value, path);
                }
                if let Some(maximum) = maximum.filter(|maximum| count > *maximum) {
                    self.violated(ValueProblem::TooManyItems(maximum), value, path);
                }
                for (at, value) in values.iter().enumerate() {
                    if let Some(item) = items.get(at).or(items.last()) {
                        self.contract(item, Some(value), &format!("{path}[{at}]"), &of_items);
                    }
                }
            }
            Contract::Map(keys) => self.map(keys, value, path, exclusions),
        }
    }

    fn map(
        &mut self,
        keys: &'a [(MapKey, Contract)],
        value: Option<&'a ModelValue>,
        path: &str,
        exclusions: &Exclusions,
    ) {
        let entries = match value.map(|value| &value.kind) {
            Some(ValueKind::Map(entries)) => entries.as_slice(),
            None | Some(ValueKind::Null) => &[],
            Some(_) => return self.violated(ValueProblem::NotMapping, value, path),
        };
        let named: HashSet<&str> = (keys.iter())
            .filter_map(|(key, _)| match key {
                MapKey::Named(name) => Some(name.as_str()),
                MapKey::Matching(_) => None,
            })
            .collect();
        let by_name: HashMap<&str, &'a ModelValue> = (entries.iter())
            .filter(|(name, _)| named.contains(name.as_str()))
            .map(|(name, value)| (name.as_str(), value))
            .collect();
        for (key, contract) in keys {
            match key {
                MapKey::Named(name) => {
                    let value = by_name.get(name.as_str()).copied();
                    let excluded = exclusions.of(name);
                    self.contract(contract, value, &property_path(path, name), &excluded);
                }
                MapKey::Matching(rules) => {
                    for rule in rules {
                        if let Rule::Unchecked(written) = rule {
                            self.found.not_checked.push(written);
                        }
                    }
                    let others = entries.iter();
                    for (name, value) in others.filter(|(name, _)| !named.contains(name.as_str())) {
                        let excluded = exclusions.of(name);
                        let path = property_path(path, name);
                        if rules.contains(&Rule::Int) && !is_python_int(name) {
                            self.violated(ValueProblem::KeyNotInt, Some(value), &path);
                        }
                        self.contract(contract, Some(value), &path, &excluded);
                    }
                }
            }
        }
    }

    fn rules(
        &mut self,
        rules: &'a [Rule],
        value: Option<&'a ModelValue>,
        path: &str,
        exclusions: &Exclusions,
    ) {
        static NULL: ValueKind = ValueKind::Null;
        let kind = value.map_or(&NULL, |value| &value.kind);
        let names_class = (rules.iter()).any(|rule| {
            matches!(
                rule,
                Rule::Class(_) | Rule::Template(_) | Rule::Unchecked(_)
            )
        });
        if matches!(kind, ValueKind::Untyped(_)) && !names_class {
            self.violated(ValueProblem::NoType, value, path);
        }
        // What the rules so far have made of the value.
        let mut became = Became::Nothing;
        for rule in rules {
            match rule {
                Rule::Class(constraint) | Rule::Template(constraint)
                    if became.may_be_object() && Self::takes(rule, kind) =>
                {
                    became = Became::Object;
                    match (kind, value) {
                        (
                            ValueKind::Object(object)
                            | ValueKind::Reference(object)
                            | ValueKind::Repeated(object),
                            _,
                        ) => self.found.objects.push(ConstrainedObject {
                            constraint,
                            object: *object,
                            path: path.to_owned(),
                        }),
                        (
                            ValueKind::Untyped(properties) | ValueKind::Map(properties),
                            Some(value),
                        ) => self.found.described.push(DescribedObject {
                            constraint,
                            properties,
                            path: path.to_owned(),
                            location: &value.location,
                            exclusions: exclusions.and(constraint),
                        }),
                        _ => {}
                    }
                    continue;
                }
                Rule::Unchecked(written) => {
                    self.found.not_checked.push(written);
                    continue;
                }
                _ => {}
            }
            match self.problem(rule, kind, became, value.is_none()) {
                Some(problem) => return self.violated(problem, value, path),
                None => became = became.by(rule),
            }
        }
    }

    /// Whether a rule for objects takes a value: text is no template, even if it is the id of an object.
    fn takes(rule: &Rule, kind: &ValueKind) -> bool {
        match kind {
            ValueKind::Object(_)
            | ValueKind::Repeated(_)
            | ValueKind::Untyped(_)
            | ValueKind::Map(_)
            | ValueKind::Null
            | ValueKind::UntypedReference => true,
            ValueKind::Reference(_) => matches!(rule, Rule::Class(_)),
            _ => false,
        }
    }

    /// What a rule finds wrong with a value. Rules convert it for those that come after them.
    fn problem(
        &self,
        rule: &Rule,
        kind: &ValueKind,
        became: Became,
        is_absent: bool,
    ) -> Option<ValueProblem> {
        if matches!(kind, ValueKind::Null) {
            return match rule {
                Rule::NotNull if is_absent => Some(ValueProblem::Absent),
                Rule::NotNull => Some(ValueProblem::Null),
                Rule::Equal(expected) if *expected != Literal::Null => {
                    Some(ValueProblem::NotEqual(expected.clone()))
                }
                _ => None,
            };
        }
        match rule {
            Rule::String if became == Became::Nothing && !is_textual(kind) => {
                Some(ValueProblem::NotText)
            }
            Rule::Int if !self.is_whole_number(kind, became) => Some(ValueProblem::NotInt),
            Rule::Class(constraint) => Some(ValueProblem::NotObject(constraint.class.clone())),
            Rule::Template(constraint) => Some(ValueProblem::NotTemplate(constraint.class.clone())),
            Rule::Owned | Rule::NotOwned if became != Became::Object => {
                Some(ValueProblem::NoObject)
            }
            Rule::Owned => match kind {
                ValueKind::Reference(object) | ValueKind::Repeated(object)
                    if !self.holds(*object) =>
                {
                    Some(ValueProblem::NotOwned)
                }
                _ => None,
            },
            Rule::NotOwned => match kind {
                ValueKind::Object(object)
                | ValueKind::Reference(object)
                | ValueKind::Repeated(object)
                    if self.holds(*object) =>
                {
                    Some(ValueProblem::Owned)
                }
                _ => None,
            },
            Rule::Equal(expected) if !self.is_equal(kind, expected) => {
                Some(ValueProblem::NotEqual(expected.clone()))
            }
            _ => None,
        }
    }

    fn is_equal(&self, kind: &ValueKind, expected: &Literal) -> bool {
        match (kind, expected) {
            (ValueKind::Bool(value), Literal::Bool(expected)) => value == expected,
            (ValueKind::Number(value), Literal::Number(expected)) => {
                value == expected || value.parse::<f64>() == expected.parse()
            }
            (ValueKind::Text(value), Literal::Text(expected)) => value == expected,
            (ValueKind::Reference(object), Literal::Text(expected)) => {
                self.model.object(*object).id.as_ref() == Some(expected)
            }
            _ => false,
        }
    }

    /// Whether an object is written inside the holder, or inside an object that is.
    fn holds(&self, object: ObjectId) -> bool {
        let holder = |object: &ObjectId| self.model.object(*object).holder;
        let mut holders = std::iter::successors(holder(&object), holder);
        holders.any(|holder| holder == self.holder)
    }

    /// Whether the engine can convert a value to an integer. It cuts fractions off, but only those of numbers.
    fn is_whole_number(&self, kind: &ValueKind, became: Became) -> bool {
        match (became, kind) {
            (Became::Object, _) => false,
            (Became::Number | Became::Bool, _) | (Became::Nothing, ValueKind::Bool(_)) => true,
            (Became::Nothing, ValueKind::Number(text)) => {
                is_whole_number(text) || text.parse::<f64>().is_ok_and(f64::is_finite)
            }
            (_, ValueKind::Number(text) | ValueKind::Text(text)) => is_python_int(text),
            (_, ValueKind::Reference(object)) => {
                let id = self.model.object(*object).id.as_deref();
                id.is_some_and(is_python_int)
            }
            _ => false,
        }
    }
}

/// The type that a value has after some rules of a contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Became {
    /// It is as written.
    Nothing,
    /// Text.
    Text,
    /// An integer.
    Number,
    /// True or false.
    Bool,
    /// An object.
    Object,
}

impl Became {
    fn by(self, rule: &Rule) -> Self {
        match rule {
            Rule::String => Self::Text,
            Rule::Int => Self::Number,
            Rule::Bool => Self::Bool,
            _ => self,
        }
    }

    fn may_be_object(self) -> bool {
        matches!(self, Self::Nothing | Self::Text | Self::Object)
    }
}

/// Whether the engine can convert a value to text: fractions are not.
fn is_textual(kind: &ValueKind) -> bool {
    match kind {
        ValueKind::Number(text) => is_whole_number(text),
        ValueKind::Bool(_)
        | ValueKind::Text(_)
        | ValueKind::Reference(_)
        | ValueKind::UntypedReference => true,
        _ => false,
    }
}

/// Whether the engine reads a text as an integer: spaces around it and single `_` between digits are fine.
fn is_python_int(text: &str) -> bool {
    let text = text.trim();
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    (digits.split('_')).all(|part| !part.is_empty() && part.bytes().all(|it| it.is_ascii_digit()))
}

/// Whether a text is an integer, of any length.
pub fn is_whole_number(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// A number of items in words.
fn items(count: u64) -> String {
    counted(usize::try_from(count).unwrap_or(usize::MAX), "item")
}

/// The path of a property in what `path` leads to, which is empty for the object itself.
pub fn property_path(path: &str, name: &str) -> String {
    let name = Escaped::shortened(name);
    match path {
        "" => name.to_string(),
        path => format!("{path}.{name}"),
    }
}
