//! Random models.

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::{ClassName, IndexRecord, PackageName, Spec, Version};

use super::{Contract, Model, Object, Property, Value};
use crate::build::{Build as _, spec};
use crate::random::Random;
use crate::reference::{Answer, Rules, search};
use crate::universe::Universe;

/// The greatest number of objects in a model.
const OBJECTS: usize = 4;

impl Model {
    /// The model of this seed with the packages of a universe, some of which are locked for another model.
    /// `None` if no package defines a class.
    pub fn random(seed: u64, universe: Universe) -> Option<Self> {
        let mut random = Random::new(seed);
        let mut model = Self::without_lock(&mut random, universe)?;
        if random.chance(30) {
            let other = Self::without_lock(&mut random, model.universe.clone())?;
            if let Answer::Solved(mut lock) = search(&other.as_packages(), &Rules::default()) {
                let is_package = |name: &PackageName| other.is_package(name);
                lock.bindings
                    .retain(|(requirer, _, _), _| is_package(requirer));
                model.universe.locked = Some(lock);
            }
        }
        Some(model)
    }

    fn without_lock(random: &mut Random, mut universe: Universe) -> Option<Self> {
        universe.locked = None;
        universe.kept.clear();
        for record in &mut universe.records {
            if random.chance(3) {
                record.classes = None;
            }
        }
        let classes = defined(&universe);
        if classes.is_empty() {
            return None;
        }
        if random.chance(30) {
            share_a_name(random, &mut universe, &classes);
        }
        let mut model = Self {
            universe,
            objects: Vec::new(),
            properties: BTreeMap::new(),
        };
        // The last object and its holders: one of them holds the next.
        let mut open: Vec<usize> = Vec::new();
        for number in 0..random.between(1, OBJECTS) {
            let (package, class) = random.pick(&classes).clone();
            let spec = if random.chance(60) {
                spec("*")
            } else {
                some_spec(random, &model.universe, &package)
            };
            let held = if open.is_empty() {
                None
            } else {
                open.truncate(random.between(1, open.len()));
                Some((open[open.len() - 1], format!("p{number}")))
            };
            model.objects.push(Object {
                class,
                package,
                spec,
                held,
                values: Vec::new(),
            });
            open.push(number);
        }
        for number in 0..model.objects.len() {
            model.hold(random, number);
            model.declare(random, number);
        }
        for number in 0..model.objects.len() {
            if random.chance(40) {
                model.add_value(random, number);
            }
        }
        Some(model)
    }

    /// Writes an object into the property that holds it.
    fn hold(&mut self, random: &mut Random, number: usize) {
        let Some((holder, name)) = self.objects[number].held.clone() else {
            return;
        };
        let object = Value::Object(number);
        let value = match random.below(10) {
            0 => Value::List(vec![object]),
            1 => Value::List(vec![object, Value::Reference(random.below(number + 1))]),
            2 => Value::Map(false, vec![("k".to_owned(), object)]),
            3 => Value::Map(random.chance(50), vec![("v".to_owned(), object)]),
            _ => object,
        };
        self.objects[holder].values.push((name, value));
    }

    /// Declares a property that holds a value in some releases, and writes it in most cases.
    fn add_value(&mut self, random: &mut Random, number: usize) {
        let name = "v".to_owned();
        let class = self.objects[number].class.clone();
        for _ in 0..random.between(1, 2) {
            let declaring = random.pick(&self.family(&class)).clone();
            for record in &self.universe.records.clone() {
                let classes = record.classes.as_deref().unwrap_or_default();
                let declares = classes.iter().any(|class| class.name == declaring);
                if !declares || random.chance(30) {
                    continue;
                }
                let release = record.release();
                let known = self.properties.entry((declaring.clone(), release));
                let known = known.or_default();
                if known.iter().any(|property| property.name == name) {
                    continue;
                }
                let contract = some_contract(random, &self.universe, 2);
                let default = random.chance(30).then(|| some_default(random, &contract));
                known.push(Property {
                    name: name.clone(),
                    contract,
                    default,
                });
            }
        }
        if random.chance(80) {
            let value = some_value(random, self.objects.len(), 2);
            self.objects[number].values.push((name, value));
        }
    }

    /// Declares the property that holds an object, in most cases.
    fn declare(&mut self, random: &mut Random, number: usize) {
        let Some((holder, name)) = self.objects[number].held.clone() else {
            return;
        };
        if random.chance(15) {
            return;
        }
        let holder = self.objects[holder].class.clone();
        let declaring = random.pick(&self.family(&holder)).clone();
        let wanted = if random.chance(10) {
            let (_, any) = random.pick(&defined(&self.universe)).clone();
            any
        } else {
            let family = self.family(&self.objects[number].class);
            random.pick(&family).clone()
        };
        let definers = definers(&self.universe, &wanted);
        for record in &self.universe.records.clone() {
            let classes = record.classes.as_deref().unwrap_or_default();
            if !classes.iter().any(|class| class.name == declaring) || random.chance(15) {
                continue;
            }
            let spec = match definers.first() {
                Some(definer) if random.chance(55) => {
                    Some(some_spec(random, &self.universe, definer))
                }
                _ => None,
            };
            let contract = Contract::class(wanted.clone(), spec);
            let contract = match random.below(12) {
                0 => Contract::NotNull(Box::new(contract)),
                1 => Contract::Owned(random.chance(70), Box::new(contract)),
                2 => Contract::List(Box::new(contract), random.below(2), 2),
                3 => Contract::Map(Box::new(contract)),
                4 | 5 => template(random, wanted.clone()),
                _ => contract,
            };
            let release = record.release();
            let declared = self.properties.entry((declaring.clone(), release));
            let default = random.chance(20).then(|| some_default(random, &contract));
            declared.or_default().push(Property {
                name: name.clone(),
                contract,
                default,
            });
        }
    }

    /// The names of a class and of all its ancestors in any release.
    fn family(&self, class: &ClassName) -> Vec<ClassName> {
        let mut family = vec![class.clone()];
        let mut done = 0;
        while let Some(next) = family.get(done).cloned() {
            let records = self.universe.records.iter();
            let classes = records.flat_map(|record| record.classes.iter().flatten());
            for class in classes.filter(|class| class.name == next) {
                let new = class
                    .extends
                    .iter()
                    .filter(|parent| !family.contains(parent));
                let new: Vec<ClassName> = new.cloned().collect();
                family.extend(new);
            }
            done += 1;
        }
        family
    }
}

/// A default of a property. If its contract is about classes, it has no values in it: they could be ids of objects, and
/// nobody but the engine knows these.
fn some_default(random: &mut Random, contract: &Contract) -> Value {
    let key = |value| Value::Map(false, vec![("k".to_owned(), value)]);
    let is_of_class = |mut contract: &Contract| loop {
        contract = match contract {
            Contract::NotNull(inner)
            | Contract::Owned(_, inner)
            | Contract::List(inner, ..)
            | Contract::Map(inner) => inner,
            Contract::Class(..) | Contract::Template(..) => return true,
            Contract::Int | Contract::Text => return false,
        };
    };
    match (random.below(8), contract) {
        (0 | 1, Contract::List(..)) => Value::List(Vec::new()),
        (0 | 1, Contract::Map(_)) => Value::Map(false, Vec::new()),
        (0..3, _) => Value::Null,
        _ if is_of_class(contract) => Value::Null,
        (3, _) => Value::Text,
        (4, _) => Value::List(vec![Value::Int(7); random.below(3)]),
        (5, _) => key(Value::Int(7)),
        (6, _) => key(Value::Text),
        _ => Value::Int(7),
    }
}

/// A contract of some depth.
fn some_contract(random: &mut Random, universe: &Universe, depth: usize) -> Contract {
    let inner = |random: &mut Random| Box::new(some_contract(random, universe, depth - 1));
    let of_class = |random: &mut Random| {
        let (package, class) = random.pick(&defined(universe)).clone();
        let spec = random
            .chance(30)
            .then(|| some_spec(random, universe, &package));
        Contract::Class(class, spec)
    };
    match random.below(if depth == 0 { 5 } else { 9 }) {
        0 => Contract::Int,
        1 => Contract::Text,
        2 => of_class(random),
        3 => Contract::NotNull(Box::new(Contract::Int)),
        4 => Contract::NotNull(Box::new(of_class(random))),
        5 => Contract::Owned(random.chance(50), Box::new(of_class(random))),
        6 => Contract::List(inner(random), random.below(2), random.between(1, 2)),
        7 => Contract::Map(inner(random)),
        _ => {
            let class = random.pick(&defined(universe)).1.clone();
            template(random, class)
        }
    }
}

/// A contract that a value is a template of a class, without some of its properties in many cases.
fn template(random: &mut Random, class: ClassName) -> Contract {
    let mut excluded = Vec::new();
    if random.chance(60) {
        for _ in 0..random.between(1, 2) {
            let names = [
                "v", "v", "p1", "p2", "p3", "p1.v", "p2.v", "v.k", "v.v", "p2.p3",
            ];
            excluded.push((*random.pick(&names)).to_owned());
        }
    }
    Contract::Template(class, excluded)
}

/// A value of some depth, with references to objects.
fn some_value(random: &mut Random, objects: usize, depth: usize) -> Value {
    match random.below(if depth == 0 { 4 } else { 7 }) {
        0 => Value::Null,
        1 => Value::Int(77),
        2 => Value::Text,
        3 => Value::Reference(random.below(objects)),
        4 => {
            let items = 0..random.below(3);
            let items = items.map(|_| some_value(random, objects, depth - 1));
            Value::List(items.collect())
        }
        _ => {
            let keys = ["k", "v"].into_iter().filter(|_| random.chance(60));
            let keys: Vec<&str> = keys.collect();
            let entries = keys.into_iter().map(|key| {
                let value = some_value(random, objects, depth - 1);
                (key.to_owned(), value)
            });
            let entries = entries.collect();
            Value::Map(random.chance(30), entries)
        }
    }
}

/// Makes releases of other packages define a class of the same name that extends another class.
fn share_a_name(
    random: &mut Random,
    universe: &mut Universe,
    classes: &[(PackageName, ClassName)],
) {
    let (home, name) = random.pick(classes).clone();
    for record in &mut universe.records {
        let defined = record.classes.as_deref();
        let Some(defined) = defined.filter(|_| record.name != home) else {
            continue;
        };
        if defined.iter().any(|class| class.name == name) || random.chance(60) {
            continue;
        }
        let (_, parent) = random.pick(classes);
        let extends = (*parent != name && random.chance(50)).then_some(parent.as_str());
        *record = record.clone().defines(name.as_str(), extends.as_slice());
    }
}

/// Every class that some release defines for other packages.
fn defined(universe: &Universe) -> Vec<(PackageName, ClassName)> {
    let of_record = |record: &IndexRecord| -> Vec<(PackageName, ClassName)> {
        let classes = record
            .classes
            .iter()
            .flatten()
            .filter(|class| !class.internal);
        classes
            .map(|class| (record.name.clone(), class.name.clone()))
            .collect()
    };
    let all: BTreeSet<_> = universe.records.iter().flat_map(of_record).collect();
    all.into_iter().collect()
}

/// The packages that define a class for other packages.
fn definers(universe: &Universe, class: &ClassName) -> Vec<PackageName> {
    let all = defined(universe).into_iter();
    let definers = all.filter(|(_, defined)| defined == class);
    definers.map(|(package, _)| package).collect()
}

/// A spec that some version of a package matches.
fn some_spec(random: &mut Random, universe: &Universe, package: &PackageName) -> Spec {
    let records = universe
        .records
        .iter()
        .filter(|record| record.name == *package);
    let versions: Vec<Version> = records
        .map(|record| record.version.without_build())
        .collect();
    let version = random.pick(&versions);
    spec(&match random.below(6) {
        0 => version.major().to_string(),
        1 => format!("{}.{}", version.major(), version.minor()),
        2 => version.to_string(),
        3 => format!(">={version}"),
        4 => format!("<={version}"),
        _ => format!("!={version}"),
    })
}
