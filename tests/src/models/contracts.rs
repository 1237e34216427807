//! Whether a solution meets the contracts of a model, stated as directly as possible.

use std::collections::BTreeSet;

use pkgres_manifest::{ClassName, Release, Spec, Version};

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
            let holder = Holder {
                object: number,
                described: None,
            };
            check.object(holder, &class, &object.values, &excluded)
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

/// An object with properties: one of the model, or a mapping in it that describes one.
#[derive(Clone, Copy)]
struct Holder<'a> {
    /// The object of the model that it is, or is written in.
    object: usize,
    /// The values of the mapping.
    described: Option<&'a [(String, Value)]>,
}

/// What a contract makes of a value.
enum Made {
    /// Nobody looks at it, or the contract does not accept it.
    Unknown,
    Null,
    Int,
    Text,
    Object(usize),
    /// A mapping that describes an object of a class.
    Described(Class),
    List(Vec<Made>),
    /// The value of the key `k`.
    Map(Box<Made>),
}

/// Whether an object is written in one of these values.
fn are_written_in(values: &[(String, Value)], object: usize) -> bool {
    let mut rest: Vec<&Value> = values.iter().map(|(_, value)| value).collect();
    while let Some(value) = rest.pop() {
        match value {
            Value::Object(written) if *written == object => return true,
            Value::List(items) => rest.extend(items),
            Value::Map(_, entries) => rest.extend(entries.iter().map(|(_, value)| value)),
            _ => {}
        }
    }
    false
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
        let release = Release::new(package.clone(), self.solution.bindings[&key].clone());
        (self.model.objects[object].class.clone(), release)
    }

    /// Whether the values of an object meet the contracts of its class and of all ancestors.
    fn object(
        &mut self,
        holder: Holder<'a>,
        class: &Class,
        values: &'a [(String, Value)],
        excluded: &Paths,
    ) -> bool {
        let family = self.classes.family(class.clone());
        let nearest = |check: &Self, name: &str| -> (Class, &'a Property) {
            let mut declared = family.iter().flat_map(|class| {
                let declared = check.declared(class).iter();
                declared.map(move |property| (class, property))
            });
            let found = declared.find(|(_, property)| property.name == name);
            let (class, property) = found.expect("some class declares it");
            (class.clone(), property)
        };
        let meets = family.iter().all(|declaring| {
            let declared = self.declared(declaring);
            declared.iter().all(|property| {
                let value = values.iter().find(|(name, _)| *name == property.name);
                let excluded = below(excluded, &property.name);
                let (first, decisive) = nearest(self, &property.name);
                let value = match value {
                    _ if excluded.contains(&Vec::new()) => return true,
                    Some((_, value)) => value,
                    None => decisive.default.as_ref().unwrap_or(&Value::Null),
                };
                if first == *declaring {
                    return self.value(holder, declaring, &property.contract, value, &excluded);
                }
                let made = self.made(&first, &decisive.contract, value, &excluded);
                self.validates(holder, declaring, &property.contract, &made, &excluded)
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

    /// Whether the release that declares a property finds a class.
    fn finds(&self, (_, release): &Class, class: &ClassName) -> bool {
        self.classes.provider(release, class).is_some()
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

    /// Whether an object is written in a holder, or in an object that is.
    fn is_inside(&self, object: usize, holder: Holder<'_>) -> bool {
        let held_by = |object: &usize| {
            let held = self.model.objects[*object].held.as_ref();
            held.map(|(holder, _)| *holder)
        };
        if let Some(values) = holder.described {
            let mut around = std::iter::successors(Some(object), held_by);
            around.any(|object| are_written_in(values, object))
        } else {
            let mut around = std::iter::successors(held_by(&object), held_by);
            around.any(|other| other == holder.object)
        }
    }

    /// What a contract makes of a value.
    fn made(
        &self,
        declaring: &Class,
        contract: &Contract,
        value: &Value,
        excluded: &Paths,
    ) -> Made {
        if excluded.contains(&Vec::new()) {
            return Made::Unknown;
        }
        match (contract, value) {
            (Contract::NotNull(inner) | Contract::Owned(_, inner), value) => {
                self.made(declaring, inner, value, excluded)
            }
            (Contract::List(item, ..), Value::List(values)) => {
                let excluded = in_list(excluded);
                let values = values.iter();
                Made::List(
                    values
                        .map(|value| self.made(declaring, item, value, &excluded))
                        .collect(),
                )
            }
            (Contract::List(..), Value::Null) => Made::List(Vec::new()),
            (Contract::List(item, ..), single) => {
                Made::List(vec![self.made(declaring, item, single, excluded)])
            }
            (Contract::Map(inner), Value::Null | Value::Map(..)) => {
                let entries = match value {
                    Value::Map(_, entries) => entries.as_slice(),
                    _ => &[],
                };
                let value = entries.iter().find(|(name, _)| name == "k");
                let value = value.map_or(&Value::Null, |(_, value)| value);
                Made::Map(Box::new(self.made(
                    declaring,
                    inner,
                    value,
                    &below(excluded, "k"),
                )))
            }
            (Contract::Map(_), _) => Made::Unknown,
            (_, Value::Null) => Made::Null,
            (Contract::Int, _) => Made::Int,
            (Contract::Text, _) => Made::Text,
            (Contract::Class(..), Value::Object(object) | Value::Reference(object))
            | (Contract::Template(..), Value::Object(object)) => Made::Object(*object),
            (Contract::Class(class, _) | Contract::Template(class, _), Value::Map(..)) => {
                match self.classes.provider(&declaring.1, class) {
                    Some(found) => Made::Described((class.clone(), found)),
                    None => Made::Unknown,
                }
            }
            (Contract::Class(..) | Contract::Template(..), _) => Made::Unknown,
        }
    }

    /// Whether what another contract made of a value meets a contract, which converts nothing.
    fn validates(
        &self,
        holder: Holder<'_>,
        declaring: &Class,
        contract: &Contract,
        made: &Made,
        excluded: &Paths,
    ) -> bool {
        if excluded.contains(&Vec::new()) {
            return true;
        }
        match (contract, made) {
            (_, Made::Unknown) => true,
            (Contract::NotNull(_), Made::Null) => false,
            (Contract::NotNull(inner), made) => {
                self.validates(holder, declaring, inner, made, excluded)
            }
            (Contract::Owned(is_owned, inner), made) => {
                let is_right = match made {
                    Made::Object(object) => !is_owned || self.is_inside(*object, holder),
                    _ => true,
                };
                is_right && self.validates(holder, declaring, inner, made, excluded)
            }
            (Contract::List(item, least, most), made) => {
                let (values, excluded) = match made {
                    Made::List(values) => (values.as_slice(), in_list(excluded)),
                    Made::Null => (Default::default(), Paths::new()),
                    single => (std::slice::from_ref(single), excluded.clone()),
                };
                let has_room = *least <= values.len() && values.len() <= *most;
                let mut values = values.iter();
                has_room
                    && values.all(|made| self.validates(holder, declaring, item, made, &excluded))
            }
            (Contract::Map(inner), made) => {
                let value = match made {
                    Made::Map(value) => value,
                    Made::Null => &Made::Null,
                    _ => return false,
                };
                self.validates(holder, declaring, inner, value, &below(excluded, "k"))
            }
            (Contract::Class(class, _) | Contract::Template(class, _), Made::Null) => {
                self.finds(declaring, class)
            }
            (_, Made::Null) => true,
            (Contract::Int, made) => matches!(made, Made::Int),
            (Contract::Text, made) => matches!(made, Made::Text),
            (Contract::Class(class, _) | Contract::Template(class, _), made) => {
                let spec = match contract {
                    Contract::Class(_, spec) => spec.as_ref(),
                    _ => None,
                };
                match made {
                    Made::Object(object) => {
                        self.is_of(self.class_of(*object), declaring, class, spec)
                    }
                    Made::Described(of) => self.is_of(of.clone(), declaring, class, spec),
                    _ => false,
                }
            }
        }
    }

    #[expect(clippy::match_same_arms, reason = "each arm is a rule")]
    fn value(
        &mut self,
        holder: Holder<'a>,
        declaring: &Class,
        contract: &Contract,
        value: &'a Value,
        excluded: &Paths,
    ) -> bool {
        if excluded.contains(&Vec::new()) {
            return true;
        }
        match (contract, value) {
            (Contract::NotNull(_), Value::Null) => false,
            (Contract::NotNull(other), value) => {
                self.value(holder, declaring, other, value, excluded)
            }
            (Contract::Owned(is_owned, other), value) => {
                let meets = match value {
                    // An object that is written in the property belongs to the holder.
                    Value::Object(object) | Value::Reference(object) => {
                        self.is_inside(*object, holder) == *is_owned
                            || (*is_owned && matches!(value, Value::Object(_)))
                    }
                    // A description belongs to the holder, too.
                    Value::Map(..) => *is_owned,
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
            (Contract::Map(inner), Value::Map(_, entries)) => {
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
            (Contract::Class(class, _) | Contract::Template(class, _), Value::Null) => {
                self.finds(declaring, class)
            }
            (
                Contract::Class(..) | Contract::Template(..),
                Value::Int(_) | Value::Text | Value::List(_),
            ) => false,
            (Contract::Template(class, names), Value::Map(_, entries)) => {
                let Some(found) = self.classes.provider(&declaring.1, class) else {
                    return false;
                };
                let excluded = with_excluded(excluded, names);
                {
                    let holder = Holder {
                        described: Some(entries),
                        ..holder
                    };
                    self.object(holder, &(class.clone(), found), entries, &excluded)
                }
            }
            (Contract::Class(class, spec), Value::Map(_, entries)) => {
                let Some(found) = self.classes.provider(&declaring.1, class) else {
                    return false;
                };
                let allowed = spec
                    .as_ref()
                    .is_none_or(|spec| spec.matches(&found.version));
                let holder = Holder {
                    described: Some(entries),
                    ..holder
                };
                allowed && self.object(holder, &(class.clone(), found), entries, excluded)
            }
            (Contract::Class(class, spec), Value::Object(object) | Value::Reference(object)) => {
                self.is_of(self.class_of(*object), declaring, class, spec.as_ref())
            }
            (Contract::Template(class, _), Value::Object(object)) => {
                self.is_of(self.class_of(*object), declaring, class, None)
            }
            // The id of an object is text, which describes nothing.
            (Contract::Template(..), Value::Reference(_)) => false,
        }
    }

    /// Whether an object of a class is of the one that a contract names.
    fn is_of(
        &self,
        class: Class,
        declaring: &Class,
        wanted: &ClassName,
        spec: Option<&Spec>,
    ) -> bool {
        let Some(allowed) = Allowed::by(self.classes, declaring, wanted, spec) else {
            return false;
        };
        let family = self.classes.family(class);
        match family.iter().find(|(name, _)| name == wanted) {
            Some((_, release)) => allowed.allows(&release.version),
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
        let provider = classes.provider(release, wanted)?;
        if let Some(spec) = spec {
            return Some(Self::Spec(spec.clone()));
        }
        if provider == *release {
            return Some(Self::MajorOf(provider.version));
        }
        classes.required(release, &provider.name).map(Self::Spec)
    }

    fn allows(&self, version: &Version) -> bool {
        match self {
            Self::Spec(spec) => spec.matches(version),
            Self::MajorOf(own) => version.major() == own.major(),
        }
    }
}
