//! Whether a value of a model meets a contract, as far as that depends on the value alone.
//!
//! Conditions that also depend on versions are collected for the caller: the objects that have to be of a
//! class ([`ConstrainedObject`]), and the mappings that describe an object of a class without naming it
//! ([`DescribedObject`]). Checks of models and the solver share this, so that what the solver accepts is what
//! checks accept.
//!
//! Source of the rules: the contracts of the reference implementation, `murano/dsl/contracts`.

use std::collections::{HashMap, HashSet};

use super::default_value::DefaultValue;
use super::made::{Made, MadeValue, is_python_int, unchanged};
use super::value_path::ValuePath;
use super::{
    ConstrainedDescription, ConstrainedObject, DescribedObject, Exclusions, ModelValue, NamedClass,
    ObjectId, ObjectModel, PropertyHolder, ValueKind, ValueProblem, ValueViolation,
};
use crate::class_file::{ClassConstraint, Contract, MapKey, Property, Rule};
use crate::diagnostic::Location;
use crate::name::ClassName;

/// The usages of properties whose values do not come from the model; values in it are ignored. A value of an `Out`
/// property is from an earlier deployment, and without one it is null.
const NOT_IN_MODEL: [&str; 3] = ["Runtime", "Static", "Config"];

/// The bytes of a default that are read in the time that checking one value takes.
const BYTES_PER_VALUE: usize = 64;

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
    /// The mappings that are objects of the class that another contract names, and have to be of a class by this one.
    pub constrained_descriptions: Vec<ConstrainedDescription<'a>>,
    /// The classes that the engine looks up besides those of objects and mappings, because a contract names them.
    pub named_classes: Vec<NamedClass<'a>>,
    /// The calls that only the deployment engine can evaluate, as written.
    pub not_checked: Vec<&'a str>,
    /// The number of values that contracts looked at, as a measure of the work.
    pub values: u64,
    /// The places in memory of the names that are in `named_classes`: a contract of items names a class for each of them.
    named: HashSet<usize>,
}

/// What the nearest declaration of a property makes of its value.
#[derive(Debug)]
pub struct ConvertedValue<'a>(Source<'a>);

#[derive(Debug)]
enum Source<'a> {
    /// No contract looks at the property.
    Ignored,
    /// The default of the declaration, or a value of the host; `None` if only the engine knows it.
    Default(Option<DefaultValue<'a>>),
    /// The value in the model, or null without one.
    Made(MadeValue<'a>),
}

impl<'a> ContractCheck<'a> {
    /// Checks the value of a property of an object against the nearest of its declarations, and returns what that makes
    /// of it.
    ///
    /// Several classes that an object inherits can declare one property. The declaration of the nearest class says
    /// whether the value is from the model, and its contract converts the value; the [others](Self::inherited) only look
    /// at the result. Source: `set_property` in `murano/dsl/murano_object.py`. Without a value, the property is null,
    /// unless the declaration has a default, which is then checked like a value. The engine ignores values of `Runtime`,
    /// `Static` and `Config` properties. `exclusions` are those of the object.
    pub fn property(
        &mut self,
        model: &ObjectModel,
        holder: PropertyHolder<'_>,
        property: &'a Property,
        value: Option<&'a ModelValue>,
        exclusions: &Exclusions,
    ) -> ConvertedValue<'a> {
        let name = &property.name.value;
        let usage = property.usage.value.as_str();
        let start = ValuePath::Start(holder.path);
        let path = ValuePath::Property(&start, name);
        let exclusions = exclusions.of(name);
        let contract = &property.contract.value;
        // The value of `Config` is from the host.
        let is_default = match usage {
            "Config" => true,
            "Runtime" => property.has_default,
            "Static" => false,
            _ => property.has_default && value.is_none(),
        };
        if exclusions.is_everything() {
            return ConvertedValue(Source::Ignored);
        }
        let mut visit = self.visit(model, holder);
        if is_default {
            visit.names_of_default(contract, &path, &exclusions);
            let default = (usage != "Config").then(|| DefaultValue::of(property));
            let default = default.flatten();
            if let Some(default) = &default {
                let found = violations_of_default(default, model, holder, None, &path, &exclusions);
                self.add_default(found);
            }
            return ConvertedValue(Source::Default(default));
        }
        if NOT_IN_MODEL.contains(&usage) {
            return ConvertedValue(Source::Ignored);
        }
        ConvertedValue(Source::Made(visit.contract(
            contract,
            value,
            &path,
            &exclusions,
        )))
    }

    /// Checks what the nearest declaration of a property makes of its value against a farther one.
    pub fn inherited(
        &mut self,
        model: &ObjectModel,
        holder: PropertyHolder<'_>,
        property: &'a Property,
        value: &ConvertedValue<'a>,
        exclusions: &Exclusions,
    ) {
        let name = &property.name.value;
        let start = ValuePath::Start(holder.path);
        let path = ValuePath::Property(&start, name);
        let contract = &property.contract.value;
        let mut visit = self.visit(model, holder);
        match &value.0 {
            Source::Ignored => {}
            Source::Default(default) => {
                let exclusions = exclusions.of(name);
                visit.names_of_default(contract, &path, &exclusions);
                if let Some(default) = default {
                    let inherited = Some(contract);
                    let found = violations_of_default(
                        default,
                        model,
                        holder,
                        inherited,
                        &path,
                        &exclusions,
                    );
                    self.add_default(found);
                }
            }
            Source::Made(made) => visit.validate(contract, made, &path, &exclusions.of(name)),
        }
    }

    fn add_default(&mut self, (violations, values): (Vec<ValueViolation>, u64)) {
        self.violations.extend(violations);
        self.values += values;
    }

    /// Checks a value, such as that of an argument, against a contract. `holder` is the object that it is written in,
    /// `path` the name of the value, and `exclusions` are those of the value.
    pub fn value(
        &mut self,
        model: &ObjectModel,
        holder: ObjectId,
        path: &str,
        contract: &'a Contract,
        value: Option<&'a ModelValue>,
        exclusions: &Exclusions,
    ) {
        let holder = PropertyHolder {
            object: holder,
            path: "",
            described: None,
        };
        let path = ValuePath::Start(path);
        let mut visit = self.visit(model, holder);
        visit.contract(contract, value, &path, exclusions);
    }

    pub(super) fn visit<'visit>(
        &'visit mut self,
        model: &'visit ObjectModel,
        holder: PropertyHolder<'visit>,
    ) -> Visit<'visit, 'a> {
        Visit {
            model,
            holder,
            found: self,
        }
    }
}

pub(super) struct Visit<'visit, 'a> {
    pub(super) model: &'visit ObjectModel,
    pub(super) holder: PropertyHolder<'visit>,
    pub(super) found: &'visit mut ContractCheck<'a>,
}

impl<'a> Visit<'_, 'a> {
    pub(super) fn violated(
        &mut self,
        problem: ValueProblem,
        location: Option<&Location>,
        path: &ValuePath<'_>,
    ) {
        self.found.violations.push(ValueViolation {
            path: path.written(),
            problem,
            location: location.cloned(),
        });
    }

    /// Returns what the contract makes of a value. Recursion is bounded by the depth limit on documents.
    pub(super) fn contract(
        &mut self,
        contract: &'a Contract,
        value: Option<&'a ModelValue>,
        path: &ValuePath<'_>,
        exclusions: &Exclusions,
    ) -> MadeValue<'a> {
        self.found.values += 1;
        let location = value.map(|value| &value.location);
        let made = |made| MadeValue { made, location };
        if exclusions.is_everything() {
            return made(Made::Unknown);
        }
        match contract {
            Contract::Rules(rules) => made(self.rules(rules, value, path, exclusions)),
            Contract::List { items, .. } => {
                let (values, of_items) = match value.map(|value| (&value.kind, value)) {
                    Some((ValueKind::List(values), _)) => {
                        (values.as_slice(), exclusions.of_items())
                    }
                    None | Some((ValueKind::Null, _)) => (Default::default(), exclusions.clone()),
                    // A single value means a list of one.
                    Some((_, single)) => (std::slice::from_ref(single), exclusions.clone()),
                };
                self.count(contract, values.len(), location, path);
                let mut list = Vec::with_capacity(values.len());
                for (at, value) in values.iter().enumerate() {
                    list.push(match items.get(at).or(items.last()) {
                        Some(item) => {
                            self.contract(item, Some(value), &ValuePath::Item(path, at), &of_items)
                        }
                        None => unchanged(value, &of_items),
                    });
                }
                made(Made::List(list))
            }
            Contract::Map(keys) => {
                let entries = match value.map(|value| &value.kind) {
                    Some(ValueKind::Map(entries)) => entries.as_slice(),
                    // An object without `type` is a mapping with one more key.
                    Some(ValueKind::Untyped(properties))
                        if keys.iter().all(|(key, value)| takes_header(key, value)) =>
                    {
                        properties.as_slice()
                    }
                    None | Some(ValueKind::Null) => &[],
                    Some(_) => {
                        self.violated(ValueProblem::NotMapping, location, path);
                        return made(Made::Unknown);
                    }
                };
                made(Made::Map(self.map(keys, entries, path, exclusions)))
            }
        }
    }

    /// Whether a list has as many items as its contract allows.
    pub(super) fn count(
        &mut self,
        contract: &Contract,
        count: usize,
        location: Option<&Location>,
        path: &ValuePath<'_>,
    ) {
        let Contract::List {
            minimum, maximum, ..
        } = contract
        else {
            return;
        };
        let count = count as u64;
        if count < *minimum {
            self.violated(ValueProblem::TooFewItems(*minimum), location, path);
        }
        if let Some(maximum) = maximum.filter(|maximum| count > *maximum) {
            self.violated(ValueProblem::TooManyItems(maximum), location, path);
        }
    }

    fn map(
        &mut self,
        keys: &'a [(MapKey, Contract)],
        entries: &'a [(String, ModelValue)],
        path: &ValuePath<'_>,
        exclusions: &Exclusions,
    ) -> Vec<(&'a str, MadeValue<'a>)> {
        let named: HashSet<&str> = named_keys(keys).collect();
        let by_name: HashMap<&str, &'a ModelValue> = (entries.iter())
            .filter(|(name, _)| named.contains(name.as_str()))
            .map(|(name, value)| (name.as_str(), value))
            .collect();
        let mut made = Vec::new();
        for (key, contract) in keys {
            match key {
                MapKey::Named(name) => {
                    let value = by_name.get(name.as_str()).copied();
                    let excluded = exclusions.of(name);
                    let path = ValuePath::Property(path, name);
                    made.push((&**name, self.contract(contract, value, &path, &excluded)));
                }
                MapKey::Matching(rules) => {
                    self.not_checked(rules);
                    let others = entries.iter();
                    for (name, value) in others.filter(|(name, _)| !named.contains(name.as_str())) {
                        let excluded = exclusions.of(name);
                        let path = ValuePath::Property(path, name);
                        if rules.contains(&Rule::Int) && !is_python_int(name) {
                            self.violated(ValueProblem::KeyNotInt, Some(&value.location), &path);
                        }
                        let value = self.contract(contract, Some(value), &path, &excluded);
                        made.push((&**name, value));
                    }
                }
            }
        }
        made
    }

    pub(super) fn not_checked(&mut self, rules: &'a [Rule]) {
        for rule in rules {
            if let Rule::Unchecked(written) = rule {
                self.found.not_checked.push(written);
            }
        }
    }

    pub(super) fn constrain_description(
        &mut self,
        constraint: &'a ClassConstraint,
        described: &'a Location,
        path: &ValuePath<'_>,
    ) {
        self.names_of_object(constraint, path);
        (self.found.constrained_descriptions).push(ConstrainedDescription {
            constraint,
            described,
            path: path.written(),
        });
    }

    /// Notes a class that a contract names, the first time.
    pub(super) fn names(&mut self, class: &'a ClassName, path: &ValuePath<'_>) {
        if self.found.named.insert(std::ptr::from_ref(class).addr()) {
            let path = path.written();
            self.found.named_classes.push(NamedClass { class, path });
        }
    }

    pub(super) fn names_of_null(&mut self, constraint: &'a ClassConstraint, path: &ValuePath<'_>) {
        self.names(&constraint.class, path);
        if let Some(default) = &constraint.default {
            self.names(default, path);
        }
    }

    /// Notes the classes that are not looked up to see whether an object is of them.
    pub(super) fn names_of_object(
        &mut self,
        constraint: &'a ClassConstraint,
        path: &ValuePath<'_>,
    ) {
        if constraint.spec.is_some() {
            self.names(&constraint.class, path);
        }
        if let Some(default) = &constraint.default {
            self.names(default, path);
        }
    }

    /// Notes the classes that a contract names for any value. Those of the items of lists are left out: a default may be
    /// an empty list.
    fn names_of_default(
        &mut self,
        contract: &'a Contract,
        path: &ValuePath<'_>,
        exclusions: &Exclusions,
    ) {
        if exclusions.is_everything() {
            return;
        }
        match contract {
            Contract::Rules(rules) => {
                for rule in rules {
                    if let Rule::Class(constraint) | Rule::Template(constraint) = rule {
                        self.names_of_null(constraint, path);
                    }
                }
            }
            Contract::List { .. } => {}
            Contract::Map(keys) => {
                for (key, contract) in keys {
                    if let MapKey::Named(name) = key {
                        let path = ValuePath::Property(path, name);
                        self.names_of_default(contract, &path, &exclusions.of(name));
                    }
                }
            }
        }
    }
}

/// What a contract finds wrong with a default, and how many values were checked: the contract of the declaration, or an
/// inherited one, which checks what the declaration makes of the default.
///
/// Whether texts and mappings are objects of a class is left out: a text may be the id of an object of the model.
fn violations_of_default(
    default: &DefaultValue<'_>,
    model: &ObjectModel,
    holder: PropertyHolder<'_>,
    inherited: Option<&Contract>,
    path: &ValuePath<'_>,
    exclusions: &Exclusions,
) -> (Vec<ValueViolation>, u64) {
    // Reading `BYTES_PER_VALUE` bytes takes about as long as checking one value.
    let length = default.property.default.as_ref().map_or(0, String::len);
    let mut found = ContractCheck {
        values: (length / BYTES_PER_VALUE) as u64,
        ..ContractCheck::default()
    };
    let mut visit = found.visit(model, holder);
    let own = &default.property.contract.value;
    let made = visit.contract(own, Some(&default.value), path, exclusions);
    if let Some(inherited) = inherited {
        visit.found.violations.clear();
        visit.validate(inherited, &made, path, exclusions);
    }
    let is_certain = |violation: &ValueViolation| {
        let is_of_class = matches!(
            violation.problem,
            ValueProblem::NotObject(_) | ValueProblem::NotTemplate(_)
        );
        inherited.is_some() || !is_of_class
    };
    let violations = std::mem::take(&mut found.violations).into_iter();
    // Its place is in a file of another package.
    let violations = violations
        .filter(is_certain)
        .map(|violation| ValueViolation {
            problem: ValueProblem::Default(Box::new(violation.problem)),
            location: None,
            path: violation.path,
        });
    (violations.collect(), found.values)
}

/// Whether the header of an object meets what a contract says about the values of keys: it is a mapping.
fn takes_header(key: &MapKey, contract: &Contract) -> bool {
    let takes_mapping = |rule: &Rule| matches!(rule, Rule::NotNull | Rule::Bool);
    match key {
        MapKey::Named(name) => name != "?",
        MapKey::Matching(keys) => {
            let is_any =
                matches!(contract, Contract::Rules(rules) if rules.iter().all(takes_mapping));
            !keys.contains(&Rule::Int) && is_any
        }
    }
}

/// The keys that a contract names.
pub(super) fn named_keys(keys: &[(MapKey, Contract)]) -> impl Iterator<Item = &str> {
    keys.iter().filter_map(|(key, _)| match key {
        MapKey::Named(name) => Some(name.as_str()),
        MapKey::Matching(_) => None,
    })
}
