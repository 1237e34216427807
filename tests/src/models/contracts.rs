//! Whether a solution meets the contracts of a model, stated as directly as possible.

use pkgres_manifest::{ClassName, Spec, Version};

use super::{Contract, Model, ONLY, Value, object_name};
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
        let check = Check {
            model: self,
            classes: &classes,
            solution,
        };
        (self.objects.iter().enumerate())
            .all(|(number, object)| check.object(number, &check.class_of(number), &object.values))
    }
}

struct Check<'a> {
    model: &'a Model,
    classes: &'a Classes<'a>,
    solution: &'a Solution,
}

impl Check<'_> {
    fn class_of(&self, object: usize) -> Class {
        let package = &self.model.objects[object].package;
        let key = (object_name(object), version(ONLY), package.clone());
        let release = (package.clone(), self.solution.bindings[&key].clone());
        (self.model.objects[object].class.clone(), release)
    }

    /// Whether the values of an object meet the contracts of its class and of all ancestors. `holder` is the
    /// object of the model that it is, or is written in.
    fn object(&self, holder: usize, class: &Class, values: &[(String, Value)]) -> bool {
        let family = self.classes.family(class.clone());
        family.iter().all(|declaring| {
            // Nobody knows what a class declares that is not known.
            if !self.classes.are_known(&declaring.1) {
                return true;
            }
            let declared = self.model.properties.get(declaring);
            declared.into_iter().flatten().all(|property| {
                let value = values.iter().find(|(name, _)| *name == property.name);
                match value {
                    Some((_, value)) => self.value(holder, declaring, &property.contract, value),
                    None if property.has_default => true,
                    None if self.has_default_before(&family, declaring, &property.name) => true,
                    None => self.value(holder, declaring, &property.contract, &Value::Null),
                }
            })
        })
    }

    /// Whether the first declaration of a property on the way to a class is an earlier one with a default, which is the
    /// value then.
    fn has_default_before(&self, family: &[Class], declaring: &Class, name: &str) -> bool {
        let path = self.classes.path(family, declaring);
        let mut declarations = path.into_iter().filter_map(|class| {
            let known = self.classes.are_known(&class.1);
            let declared = self.model.properties.get(class).filter(|_| known)?;
            declared.iter().find(|property| property.name == name)
        });
        declarations.next().is_some_and(|first| first.has_default)
    }

    #[expect(clippy::match_same_arms, reason = "each arm is a rule")]
    fn value(&self, holder: usize, declaring: &Class, contract: &Contract, value: &Value) -> bool {
        let held_by = |object: usize| {
            let held = self.model.objects[object].held.as_ref();
            held.map(|(holder, _)| *holder)
        };
        match (contract, value) {
            (Contract::NotNull(_), Value::Null) => false,
            (Contract::NotNull(other), value) => self.value(holder, declaring, other, value),
            (Contract::Owned(is_owned, other), value) => {
                let meets = match value {
                    // An object that is written in the property belongs to the holder.
                    Value::Object(object) | Value::Reference(object) => {
                        (held_by(*object) == Some(holder)) == *is_owned
                            || (*is_owned && matches!(value, Value::Object(_)))
                    }
                    _ => true,
                };
                meets && self.value(holder, declaring, other, value)
            }
            (Contract::List(_, least, _), Value::Null) => *least == 0,
            (Contract::List(item, least, most), Value::List(values)) => {
                (*least..=*most).contains(&values.len())
                    && (values.iter()).all(|value| self.value(holder, declaring, item, value))
            }
            (Contract::List(item, least, most), single) => {
                (*least..=*most).contains(&1) && self.value(holder, declaring, item, single)
            }
            (Contract::Map(_), Value::Map(true, _)) => false,
            (Contract::Map(inner), Value::Map(false, entries)) => {
                let value = entries.iter().find(|(name, _)| name == "k");
                let value = value.map_or(&Value::Null, |(_, value)| value);
                self.value(holder, declaring, inner, value)
            }
            (Contract::Map(inner), Value::Null) => {
                self.value(holder, declaring, inner, &Value::Null)
            }
            (Contract::Map(_), _) => false,
            (Contract::Int, Value::Map(..) | Value::List(_) | Value::Object(_) | Value::Text) => {
                false
            }
            (Contract::Text, Value::Map(..) | Value::List(_) | Value::Object(_)) => false,
            // The ids of objects are numbers here.
            (Contract::Int | Contract::Text, _) => true,
            (Contract::Class(..) | Contract::Template(_), Value::Null) => true,
            (
                Contract::Class(..) | Contract::Template(_),
                Value::Int(_) | Value::Text | Value::List(_),
            ) => false,
            (Contract::Template(_), Value::Map(..)) => true,
            (Contract::Class(class, spec), Value::Map(_, entries)) => {
                let Some(found) = self.classes.provider(&declaring.1, class) else {
                    return false;
                };
                let allowed = spec.as_ref().is_none_or(|spec| spec.matches(&found.1));
                allowed && self.object(holder, &(class.clone(), found), entries)
            }
            (Contract::Class(class, spec), Value::Object(object) | Value::Reference(object)) => {
                self.is_of(*object, declaring, class, spec.as_ref())
            }
            (Contract::Template(class), Value::Object(object) | Value::Reference(object)) => {
                self.is_of(*object, declaring, class, None)
            }
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
