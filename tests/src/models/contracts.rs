//! Whether a solution meets the contracts of a model, stated as directly as possible.

use std::collections::BTreeSet;

use pkgres_manifest::{ClassName, Spec, Version};

use super::{Contract, Model, ONLY, Property, Value, object_name};
use crate::build::version;
use crate::reference::{Class, Classes, Rules};
use crate::solution::Solution;
use crate::universe::Universe;

impl Model {
    /// Whether every value meets the contracts of all declarations of its property. The solution must be
    /// valid for the model [as packages](Self::as_packages).
    ///
    /// # Panics
    ///
    /// If it is not.
    pub fn meets_contracts(&self, packages: &Universe, solution: &Solution) -> bool {
        let rules = Rules::default();
        let classes = Classes::of(packages, solution, &rules).expect("it is valid");
        let mut check = Check {
            model: self,
            classes: &classes,
            solution,
            excluded: vec![Paths::new(); self.objects.len()],
        };
        // Holders come before what they hold.
        (self.objects.iter().enumerate()).all(|(number, object)| {
            let class = check.class_of(number);
            let excluded = check.excluded[number].clone();
            check.object(number, &class, &object.values, &excluded)
        })
    }
}

/// Paths of values in an object. The empty one is the object itself.
type Paths = BTreeSet<Vec<String>>;

/// The paths of what is below a key.
fn below(paths: &Paths, key: &str) -> Paths {
    if paths.contains(&Vec::new()) {
        return paths.clone();
    }
    let paths = paths.iter().filter(|path| path[0] == key);
    paths.map(|path| path[1..].to_vec()).collect()
}

/// The paths in the items of a list, into which no path leads.
fn in_list(paths: &Paths) -> Paths {
    paths
        .iter()
        .filter(|path| path.is_empty())
        .cloned()
        .collect()
}

/// The paths that a contract excludes, and others.
fn with_excluded(paths: &Paths, excluded: &[String]) -> Paths {
    let excluded = excluded.iter();
    let excluded = excluded.map(|path| path.split('.').map(str::to_owned).collect());
    paths.iter().cloned().chain(excluded).collect()
}

/// The contract of a single value without what it says about null and owners.
fn of_value(contract: &Contract) -> &Contract {
    match contract {
        Contract::NotNull(inner) | Contract::Owned(_, inner) => of_value(inner),
        other => other,
    }
}

struct Check<'a> {
    model: &'a Model,
    classes: &'a Classes<'a>,
    solution: &'a Solution,
    /// What is not checked in each object, as far as its holders were.
    excluded: Vec<Paths>,
}

impl<'a> Check<'a> {
    fn class_of(&self, object: usize) -> Class {
        let package = &self.model.objects[object].package;
        let key = (object_name(object), version(ONLY), package.clone());
        let release = (package.clone(), self.solution.bindings[&key].clone());
        (self.model.objects[object].class.clone(), release)
    }

    /// Whether the values of an object meet the contracts of its class and of all ancestors. `holder` is the
    /// object of the model that it is, or is written in.
    fn object(
        &mut self,
        holder: usize,
        class: &Class,
        values: &[(String, Value)],
        excluded: &Paths,
    ) -> bool {
        let family = self.classes.family(class.clone());
        let meets = family.iter().all(|declaring| {
            let declared = self.declared(declaring);
            declared.iter().all(|property| {
                let value = values.iter().find(|(name, _)| *name == property.name);
                let excluded = below(excluded, &property.name);
                let contract = &property.contract;
                match value {
                    _ if excluded.contains(&Vec::new()) => true,
                    Some((_, value)) => self.value(holder, declaring, contract, value, &excluded),
                    None if property.has_default => true,
                    None if self.has_default_before(&family, declaring, &property.name) => true,
                    None => self.value(holder, declaring, contract, &Value::Null, &excluded),
                }
            })
        });
        for (name, value) in values {
            let of_class = |class: &Class| {
                let mut declared = self.declared(class).iter();
                let property = declared.find(|property| property.name == *name)?;
                Some(&property.contract)
            };
            let mut contracts: Vec<&Contract> = family.iter().filter_map(of_class).collect();
            if let Some(own) = of_class(class) {
                contracts = vec![own];
            }
            self.hold(None, value, &below(excluded, name));
            for contract in contracts {
                self.hold(Some(contract), value, &Paths::new());
            }
        }
        meets
    }

    /// The properties that a class declares. Nobody knows what a class declares that is not known.
    fn declared(&self, class: &Class) -> &'a [Property] {
        if !self.classes.are_known(&class.1) {
            return &[];
        }
        self.model.properties.get(class).map_or(&[], Vec::as_slice)
    }

    /// Notes what is not checked in the objects that are written in a value.
    fn hold(&mut self, contract: Option<&Contract>, value: &Value, excluded: &Paths) {
        let contract = match contract.map(of_value) {
            Some(Contract::List(item, ..)) if !matches!(value, Value::List(_)) => {
                Some(of_value(item))
            }
            other => other,
        };
        match (value, contract) {
            (Value::Object(object), Some(Contract::Template(_, names))) => {
                self.excluded[*object].extend(with_excluded(excluded, names));
            }
            (Value::Object(object), _) => self.excluded[*object].extend(excluded.iter().cloned()),
            (Value::List(values), Some(Contract::List(item, ..))) => {
                for value in values {
                    self.hold(Some(item), value, &in_list(excluded));
                }
            }
            (Value::List(values), _) => {
                for value in values {
                    self.hold(None, value, &in_list(excluded));
                }
            }
            // These are the values of an object, which the contracts of its class are about.
            (Value::Map(..), Some(Contract::Class(..) | Contract::Template(..))) => {}
            (Value::Map(_, entries), contract) => {
                for (key, value) in entries {
                    let contract = match contract {
                        Some(Contract::Map(inner)) if key == "k" => Some(&**inner),
                        _ => None,
                    };
                    self.hold(contract, value, &below(excluded, key));
                }
            }
            _ => {}
        }
    }

    /// Whether the first declaration of a property on the way to a class is an earlier one with a default, which is the
    /// value then.
    fn has_default_before(&self, family: &[Class], declaring: &Class, name: &str) -> bool {
        let path = self.classes.path(family, declaring);
        let mut declarations = path.into_iter().filter_map(|class| {
            let mut declared = self.declared(class).iter();
            declared.find(|property| property.name == name)
        });
        declarations.next().is_some_and(|first| first.has_default)
    }

    #[expect(clippy::match_same_arms, reason = "each arm is a rule")]
    fn value(
        &mut self,
        holder: usize,
        declaring: &Class,
        contract: &Contract,
        value: &Value,
        excluded: &Paths,
    ) -> bool {
        if excluded.contains(&Vec::new()) {
            return true;
        }
        let is_inside = |object: usize| {
            let held_by = |object: &usize| {
                let held = self.model.objects[*object].held.as_ref();
                held.map(|(holder, _)| *holder)
            };
            std::iter::successors(held_by(&object), held_by).any(|other| other == holder)
        };
        match (contract, value) {
            (Contract::NotNull(_), Value::Null) => false,
            (Contract::NotNull(other), value) => {
                self.value(holder, declaring, other, value, excluded)
            }
            (Contract::Owned(is_owned, other), value) => {
                let meets = match value {
                    // An object that is written in the property belongs to the holder.
                    Value::Object(object) | Value::Reference(object) => {
                        is_inside(*object) == *is_owned
                            || (*is_owned && matches!(value, Value::Object(_)))
                    }
                    _ => true,
                };
                meets && self.value(holder, declaring, other, value, excluded)
            }
            (Contract::List(_, least, _), Value::Null) => *least == 0,
            (Contract::List(item, least, most), Value::List(values)) => {
                (*least..=*most).contains(&values.len())
                    && (values.iter())
                        .all(|value| self.value(holder, declaring, item, value, &in_list(excluded)))
            }
            (Contract::List(item, least, most), single) => {
                (*least..=*most).contains(&1)
                    && self.value(holder, declaring, item, single, excluded)
            }
            (Contract::Map(_), Value::Map(true, _)) => false,
            (Contract::Map(inner), Value::Map(false, entries)) => {
                let value = entries.iter().find(|(name, _)| name == "k");
                let value = value.map_or(&Value::Null, |(_, value)| value);
                self.value(holder, declaring, inner, value, &below(excluded, "k"))
            }
            (Contract::Map(inner), Value::Null) => self.value(
                holder,
                declaring,
                inner,
                &Value::Null,
                &below(excluded, "k"),
            ),
            (Contract::Map(_), _) => false,
            (Contract::Int, Value::Map(..) | Value::List(_) | Value::Object(_) | Value::Text) => {
                false
            }
            (Contract::Text, Value::Map(..) | Value::List(_) | Value::Object(_)) => false,
            // The ids of objects are numbers here.
            (Contract::Int | Contract::Text, _) => true,
            (Contract::Class(..) | Contract::Template(..), Value::Null) => true,
            (
                Contract::Class(..) | Contract::Template(..),
                Value::Int(_) | Value::Text | Value::List(_),
            ) => false,
            (Contract::Template(class, names), Value::Map(_, entries)) => {
                let Some(found) = self.classes.provider(&declaring.1, class) else {
                    return false;
                };
                let excluded = with_excluded(excluded, names);
                self.object(holder, &(class.clone(), found), entries, &excluded)
            }
            (Contract::Class(class, spec), Value::Map(_, entries)) => {
                let Some(found) = self.classes.provider(&declaring.1, class) else {
                    return false;
                };
                let allowed = spec.as_ref().is_none_or(|spec| spec.matches(&found.1));
                allowed && self.object(holder, &(class.clone(), found), entries, excluded)
            }
            (Contract::Class(class, spec), Value::Object(object) | Value::Reference(object)) => {
                self.is_of(*object, declaring, class, spec.as_ref())
            }
            (Contract::Template(class, _), Value::Object(object)) => {
                self.is_of(*object, declaring, class, None)
            }
            // The id of an object is text, which describes nothing.
            (Contract::Template(..), Value::Reference(_)) => false,
        }
    }

    /// Whether an object is of the class that a contract names.
    fn is_of(
        &self,
        object: usize,
        declaring: &Class,
        wanted: &ClassName,
        spec: Option<&Spec>,
    ) -> bool {
        let Some(allowed) = Allowed::by(self.classes, declaring, wanted, spec) else {
            return false;
        };
        let family = self.classes.family(self.class_of(object));
        match family.iter().find(|(name, _)| name == wanted) {
            Some((_, release)) => allowed.allows(&release.1),
            // A class that is not known could be the wanted one.
            None => !family
                .iter()
                .all(|(_, release)| self.classes.are_known(release)),
        }
    }
}

/// The versions of a class that a contract allows.
enum Allowed {
    Spec(Spec),
    MajorOf(Version),
}

impl Allowed {
    /// The versions that a contract allows; `None` if its class is not found.
    fn by(
        classes: &Classes<'_>,
        (_, release): &Class,
        wanted: &ClassName,
        spec: Option<&Spec>,
    ) -> Option<Self> {
        if let Some(spec) = spec {
            return Some(Self::Spec(spec.clone()));
        }
        let provider = classes.provider(release, wanted)?;
        if provider == *release {
            return Some(Self::MajorOf(provider.1));
        }
        classes.required(release, &provider.0).map(Self::Spec)
    }

    fn allows(&self, version: &Version) -> bool {
        match self {
            Self::Spec(spec) => spec.matches(version),
            Self::MajorOf(own) => version.major() == own.major(),
        }
    }
}
