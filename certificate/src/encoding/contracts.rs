//! Encodes the contracts of an object model: each value is one that its property allows.
//!
//! *Lookup.* A release finds a class in the first required package that defines it. For each release in which it can be
//! found, there is a variable that is 1 exactly if it is found there.
//!
//! *Ancestors.* Each object has a variable for each class of each release that it can inherit: its own class if the
//! object is bound to that release, and the parents of inherited classes if they are found there. These are
//! equivalences, because an object can violate a contract both by what it inherits and by what it does not.
//!
//! *Contracts.* If an object inherits a class that declares a property, the contract must allow the value of the
//! property. An object of a class is allowed if its version matches the spec of the contract. Without a spec, the
//! version has to match the requirement through which the declaring release finds the class or, without a requirement,
//! the major version of the declaring release. A mapping that describes an object of the contract's class has ancestors
//! as well.
//!
//! *Exclusions.* What is not checked in an object depends on the contract of the property that holds it. If the class of the
//! holder declares that property, its contract counts, else those of all inherited classes. Each inequality about a value
//! that one of these excludes has the literal "the holder inherits its class".
//!
//! Contracts whose class files are not available are left out. An object that inherits a class of a release whose
//! classes are unknown may inherit any class.

use std::collections::BTreeMap;

use pkgres_manifest::{
    ClassConstraint, ClassName, ContractCheck, Exclusions, ModelValue, ObjectId, ObjectModel,
    Package, PackageName, Property, Spec, Version, held_objects, property_path,
};
use pkgres_proof_checker::Literal;
use pkgres_resolver::{ClassFiles, ContractScope, ModelRoot};

use crate::formula::{Formula, Meaning, Row};
use crate::universe::{Candidate, Universe};

use super::Groups;
use super::hierarchy::ClassIn;

/// Adds the inequalities for the contracts of a model.
pub(super) fn add(
    universe: &Universe,
    root: &ModelRoot,
    class_files: &ClassFiles,
    groups: &Groups,
    formula: &mut Formula,
) {
    let mut builder = RowBuilder {
        universe,
        groups,
        formula,
        found: BTreeMap::new(),
    };
    let objects: Vec<Ancestors<'_>> = (root.model().objects().iter().zip(root.objects()))
        .enumerate()
        .map(|(number, (object, required))| {
            let binding = groups.of_object(number, &required.package);
            let bound = universe.of(&required.package).iter().filter_map(|one| {
                let class = (&object.class, &required.package, &one.version);
                let is_suitable =
                    required.spec.set().contains(&one.version) && one.exports(&object.class);
                is_suitable.then_some(())?;
                Some((class, binding.value(&one.version)?))
            });
            let bound = bound.collect();
            builder.ancestors(&root.model().shown(ObjectId(number)), bound)
        })
        .collect();
    let mut contracts = Contracts {
        exclusions: vec![Vec::new(); objects.len()],
        builder,
        model: root.model(),
        checks_values: root.contracts() == ContractScope::All,
        class_files,
        objects: &objects,
    };
    for (number, object) in root.model().objects().iter().enumerate() {
        let package = &root.objects()[number].package;
        let is_own = |(class, of, _): &ClassIn<'_>| **class == object.class && *of == package;
        let subject = Subject {
            holder: ObjectId(number),
            path: String::new(),
            own: objects[number].keys().copied().filter(is_own).collect(),
            ancestors: objects[number].clone(),
            properties: &object.properties,
            described: None,
            exclusions: contracts.exclusions[number].clone(),
        };
        contracts.check(subject);
    }
}

/// The classes that an object can inherit, with the literals "it does".
type Ancestors<'all> = BTreeMap<ClassIn<'all>, Literal>;

/// A release in which a class can be found.
#[derive(Debug, Clone, Copy)]
struct FoundClass<'all> {
    class: ClassIn<'all>,
    /// The spec of the requirement on its package.
    spec: &'all Spec,
    /// "It is found there."
    literal: Literal,
}

struct RowBuilder<'all, 'formula> {
    universe: &'all Universe,
    groups: &'all Groups,
    formula: &'formula mut Formula,
    /// What was looked up, by the release and the class.
    found: BTreeMap<(&'all PackageName, &'all Version, &'all ClassName), Vec<FoundClass<'all>>>,
}

impl<'all> RowBuilder<'all, '_> {
    fn clause(&mut self, literals: impl IntoIterator<Item = Literal>) {
        self.formula.add(Row::clause(literals));
    }

    /// The conjunction of two literals as one.
    fn both(&mut self, one: Literal, other: Literal, meaning: Meaning) -> Literal {
        let both = self.formula.variable(meaning);
        self.clause([one.negated(), other.negated(), both]);
        self.clause([both.negated(), one]);
        self.clause([both.negated(), other]);
        both
    }

    /// The releases in which a release can find a class in what it requires.
    fn found(
        &mut self,
        (package, candidate): (&'all PackageName, &'all Candidate),
        class: &'all ClassName,
    ) -> Vec<FoundClass<'all>> {
        let key = (package, &candidate.version, class);
        if let Some(known) = self.found.get(&key) {
            return known.clone();
        }
        let (universe, groups) = (self.universe, self.groups);
        let mut found = Vec::new();
        // Literals of packages that define the class and are required before.
        let mut earlier: Vec<Literal> = Vec::new();
        for (required, spec) in &candidate.requirements {
            let binding = groups.binding(package, candidate, required);
            let definers = universe.of(required).iter();
            let definers = definers.filter(|one| one.exports(class));
            let definers: Vec<(&Version, Literal)> = definers
                .filter_map(|one| Some((&one.version, binding.value(&one.version)?)))
                .collect();
            for (version, bound) in &definers {
                let literal = if earlier.is_empty() {
                    *bound
                } else {
                    let owner = (package.clone(), candidate.version.clone());
                    let class = (class.clone(), required.clone(), Version::clone(version));
                    let is_found = self.formula.variable(Meaning::Finds { owner, class });
                    let unless = earlier.iter().copied();
                    self.clause(unless.chain([bound.negated(), is_found]));
                    for excluded in [bound.negated()].iter().chain(&earlier) {
                        self.clause([is_found.negated(), excluded.negated()]);
                    }
                    is_found
                };
                found.push(FoundClass {
                    class: (class, required, version),
                    spec,
                    literal,
                });
            }
            earlier.extend(definers.into_iter().map(|(_, bound)| bound));
        }
        self.found.insert(key, found.clone());
        found
    }

    /// The classes that a class can extend, each with the literal that it depends on, if any.
    fn parents(&mut self, class: ClassIn<'all>) -> Vec<(ClassIn<'all>, Option<Literal>)> {
        let (name, package, version) = class;
        let Some(candidate) = self.universe.candidate(package, version) else {
            return Vec::new();
        };
        let mut parents = Vec::new();
        for (_, parent) in candidate.extensions().filter(|(class, _)| *class == name) {
            if candidate.has(parent) {
                parents.push(((parent, package, version), None));
            } else {
                let found = self.found((package, candidate), parent).into_iter();
                parents.extend(found.map(|found| (found.class, Some(found.literal))));
            }
        }
        parents
    }

    /// The ancestors of an object, starting from the classes that it can be of, each with its condition.
    fn ancestors(
        &mut self,
        object: &str,
        starts: Vec<(ClassIn<'all>, Literal)>,
    ) -> Ancestors<'all> {
        let mut ancestors = Ancestors::new();
        // For each class what it follows from.
        let mut causes: BTreeMap<ClassIn<'all>, Vec<Literal>> = BTreeMap::new();
        let mut open = Vec::new();
        let is_of = |formula: &mut Formula, class| {
            formula.variable(Meaning::IsOf {
                object: object.to_owned(),
                class: owned(class),
            })
        };
        for (class, start) in starts {
            ancestors.insert(class, is_of(self.formula, class));
            causes.entry(class).or_default().push(start);
            open.push(class);
        }
        while let Some(class) = open.pop() {
            let literal = ancestors[&class];
            for (parent, condition) in self.parents(class) {
                ancestors.entry(parent).or_insert_with(|| {
                    open.push(parent);
                    is_of(self.formula, parent)
                });
                let cause = match condition {
                    None => literal,
                    Some(found) => {
                        let meaning = Meaning::Leads {
                            object: object.to_owned(),
                            class: owned(class),
                            to: owned(parent),
                        };
                        self.both(literal, found, meaning)
                    }
                };
                causes.entry(parent).or_default().push(cause);
            }
        }
        for (class, causes) in causes {
            let literal = ancestors[&class];
            for cause in &causes {
                self.clause([cause.negated(), literal]);
            }
            self.clause(causes.into_iter().chain([literal.negated()]));
        }
        ancestors
    }
}

fn owned((class, package, version): ClassIn<'_>) -> (ClassName, PackageName, Version) {
    (class.clone(), package.clone(), version.clone())
}

/// An object whose values are checked: one of the model, or a mapping in it that describes one.
struct Subject<'all> {
    /// The object of the model that it is, or is written in.
    holder: ObjectId,
    /// Its path in that object; empty for that object itself.
    path: String,
    ancestors: Ancestors<'all>,
    /// Those that are its own class, in some release.
    own: Vec<ClassIn<'all>>,
    properties: &'all [(String, ModelValue)],
    /// What is not checked in a described object, and the literal that it is described.
    described: Option<(Exclusions, Literal)>,
    exclusions: PossibleExclusions,
}

/// What may not be checked, each with the literal that it is not.
type PossibleExclusions = Vec<(Exclusions, Literal)>;

struct Contracts<'all, 'formula> {
    builder: RowBuilder<'all, 'formula>,
    model: &'all ObjectModel,
    checks_values: bool,
    class_files: &'all ClassFiles,
    /// The ancestors of the objects of the model.
    objects: &'all [Ancestors<'all>],
    /// What may not be checked in each object, as far as its holders were visited.
    exclusions: Vec<PossibleExclusions>,
}

/// A class that declares a property, with the literal "the object inherits it".
#[derive(Clone, Copy)]
struct Declaration<'all> {
    class: ClassIn<'all>,
    candidate: &'all Candidate,
    inherits: Literal,
}

impl<'all> Contracts<'all, '_> {
    /// States the contracts of all properties of an object, and of the objects that are described in it.
    fn check(&mut self, subject: Subject<'all>) {
        let mut rest = vec![subject];
        while let Some(subject) = rest.pop() {
            for (class, inherits) in &subject.ancestors {
                let (name, package, version) = *class;
                let files = (self.class_files).get(&(package.clone(), version.clone()));
                let candidate = self.builder.universe.candidate(package, version);
                if let (Some(files), Some(candidate)) = (files, candidate) {
                    let declaration = Declaration {
                        class: *class,
                        candidate,
                        inherits: *inherits,
                    };
                    self.properties(&subject, name, files, declaration, &mut rest);
                }
            }
            self.exclude(&subject);
        }
    }

    /// The property of a name that a class declares.
    fn declared(
        &self,
        (class, package, version): ClassIn<'_>,
        name: &str,
    ) -> Option<&'all Property> {
        let files = (self.class_files).get(&(package.clone(), version.clone()))?;
        files.classes.as_ref()?.get(class)?.property(name)
    }

    /// Notes what may not be checked in the objects that the properties of an object hold.
    fn exclude(&mut self, subject: &Subject<'all>) {
        for (name, value) in subject.properties {
            let of_subject = subject.described.iter().chain(&subject.exclusions);
            for (exclusions, literal) in of_subject {
                for held in held_objects([], value, &exclusions.of(name)) {
                    self.add_exclusions(held.object, held.exclusions, *literal);
                }
            }
            let own = subject.own.iter().copied();
            let without: Vec<ClassIn<'all>> = own
                .filter(|own| self.declared(*own, name).is_none())
                .collect();
            for (class, inherits) in &subject.ancestors {
                let Some(property) = self.declared(*class, name) else {
                    continue;
                };
                let contract = [&property.contract.value];
                let mut held = held_objects(contract, value, &Exclusions::default());
                held.retain(|held| !held.exclusions.is_empty());
                if held.is_empty() {
                    continue;
                }
                let literals = if subject.own.contains(class) {
                    vec![*inherits]
                } else {
                    let counting = without.iter().map(|own| {
                        let meaning = Meaning::Leads {
                            object: self.model.shown(subject.holder),
                            class: owned(*own),
                            to: owned(*class),
                        };
                        let own = subject.ancestors[own];
                        self.builder.both(*inherits, own, meaning)
                    });
                    counting.collect()
                };
                for held in held {
                    for literal in &literals {
                        self.add_exclusions(held.object, held.exclusions.clone(), *literal);
                    }
                }
            }
        }
    }

    fn add_exclusions(&mut self, object: ObjectId, excluded: Exclusions, literal: Literal) {
        if !excluded.is_empty() {
            self.exclusions[object.0].push((excluded, literal));
        }
    }

    /// States the contracts of the properties that one class declares.
    fn properties(
        &mut self,
        subject: &Subject<'all>,
        name: &ClassName,
        files: &'all Package,
        declaration: Declaration<'all>,
        rest: &mut Vec<Subject<'all>>,
    ) {
        let definition = files.classes.as_ref().and_then(|all| all.get(name));
        for property in definition.iter().flat_map(|class| &class.properties) {
            let name = property.name.value.as_str();
            let path = property_path(&subject.path, name);
            let mut values = subject.properties.iter();
            let value = values.find(|(other, _)| other == name);
            let value = value.map(|(_, value)| value);
            let check = |exclusions: &Exclusions| {
                let mut found = ContractCheck::default();
                let holder = subject.holder;
                found.property(self.model, holder, &path, property, value, exclusions);
                found
            };
            let base = subject.described.as_ref().map(|(base, _)| base.clone());
            let base = base.unwrap_or_default();
            let found = check(&base);
            let possible: Vec<(ContractCheck<'_>, Literal)> = (subject.exclusions.iter())
                .map(|(exclusions, literal)| {
                    let mut all = base.clone();
                    all.extend(exclusions.clone());
                    (check(&all), *literal)
                })
                .collect();
            // The literals that a value is not checked.
            let unless = |remains: &dyn Fn(&ContractCheck<'_>) -> bool| -> Vec<Literal> {
                let excluding = possible.iter().filter(|(found, _)| !remains(found));
                let literals = excluding.map(|(_, literal)| *literal);
                std::iter::once(declaration.inherits.negated())
                    .chain(literals)
                    .collect()
            };
            for violation in found.violations.iter().filter(|_| self.checks_values) {
                let literals = unless(&|found| found.violations.contains(violation));
                self.builder.clause(literals);
            }
            for constrained in &found.objects {
                let literals = unless(&|found| found.objects.contains(constrained));
                let (constraint, object) = (constrained.constraint, constrained.object);
                self.constrain(declaration, constraint, object, &literals);
            }
            if declaration.candidate.classes.is_none() {
                // It may define the classes of descriptions itself, or find them elsewhere.
                continue;
            }
            for described in &found.described {
                let same = |found: &ContractCheck<'_>| {
                    let mut all = found.described.iter();
                    let same = all.find(|one| {
                        one.path == described.path && one.constraint == described.constraint
                    });
                    same.map(|one| one.exclusions.clone())
                };
                let literals = unless(&|found| same(found).is_some());
                let shown = self.model.shown(subject.holder);
                let object = format!("{} of {shown}", described.path);
                let starts = self.described(declaration, described.constraint, &object, &literals);
                let exclusions = possible.iter().map(|(found, literal)| {
                    let exclusions = same(found).unwrap_or_else(Exclusions::everything);
                    (exclusions, *literal)
                });
                rest.push(Subject {
                    holder: subject.holder,
                    path: described.path.clone(),
                    own: starts.iter().map(|(class, _)| *class).collect(),
                    properties: described.properties,
                    described: Some((described.exclusions.clone(), declaration.inherits)),
                    exclusions: exclusions.collect(),
                    ancestors: self.builder.ancestors(&object, starts),
                });
            }
        }
    }

    /// "The object that a property holds is of the class, in an allowed version, unless one of these literals holds."
    fn constrain(
        &mut self,
        declaration: Declaration<'all>,
        constraint: &'all ClassConstraint,
        object: ObjectId,
        unless: &[Literal],
    ) {
        let (_, package, own) = declaration.class;
        if let Some(spec) = &constraint.spec {
            self.is_of_class(object, constraint, |version| spec.matches(version), unless);
        } else if declaration.candidate.classes.is_none() {
            // It may define the class itself, or find it elsewhere.
        } else if declaration.candidate.has(&constraint.class) {
            let is_allowed = |version: &Version| version.major() == own.major();
            self.is_of_class(object, constraint, is_allowed, unless);
        } else {
            let place = (package, declaration.candidate);
            let found = self.builder.found(place, &constraint.class);
            let is_found = found.iter().map(|found| found.literal);
            self.builder.clause(is_found.chain(unless.iter().copied()));
            for found in found {
                let is_allowed = |version: &Version| found.spec.matches(version);
                let unless: Vec<Literal> = (unless.iter().copied())
                    .chain([found.literal.negated()])
                    .collect();
                self.is_of_class(object, constraint, is_allowed, &unless);
            }
        }
    }

    /// "An object is of the class of a contract in an allowed version, unless one of these literals holds."
    fn is_of_class(
        &mut self,
        object: ObjectId,
        constraint: &ClassConstraint,
        is_allowed: impl Fn(&Version) -> bool,
        unless: &[Literal],
    ) {
        let universe = self.builder.universe;
        let mut is_of: Vec<Literal> = unless.to_vec();
        for ((name, package, version), literal) in &self.objects[object.0] {
            let candidate = universe.candidate(package, version);
            if **name == constraint.class {
                if is_allowed(version) {
                    is_of.push(*literal);
                } else {
                    // No class inherits two of one name, so an unknown class is not another one.
                    let unless = unless.iter().copied();
                    self.builder.clause(unless.chain([literal.negated()]));
                }
            } else if candidate.is_none_or(|one| one.classes.is_none()) {
                // It may inherit any class.
                is_of.push(*literal);
            }
        }
        self.builder.clause(is_of);
    }

    /// The classes that a mapping can describe an object of; states that there is one, unless one of these literals holds.
    fn described(
        &mut self,
        declaration: Declaration<'all>,
        constraint: &'all ClassConstraint,
        object: &str,
        unless: &[Literal],
    ) -> Vec<(ClassIn<'all>, Literal)> {
        let (_, package, version) = declaration.class;
        let class = constraint.described();
        let matches = |version| {
            let spec = constraint.spec_of_described();
            spec.is_none_or(|spec| spec.matches(version))
        };
        if declaration.candidate.has(class) {
            if matches(version) {
                return vec![((class, package, version), declaration.inherits)];
            }
            self.builder.clause(unless.iter().copied());
            return Vec::new();
        }
        let place = (package, declaration.candidate);
        let found = self.builder.found(place, class).into_iter();
        let found: Vec<FoundClass<'_>> = found.filter(|found| matches(found.class.2)).collect();
        let is_found = found.iter().map(|found| found.literal);
        self.builder.clause(is_found.chain(unless.iter().copied()));
        let starts = found.into_iter().map(|found| {
            let meaning = Meaning::Leads {
                object: object.to_owned(),
                class: owned(declaration.class),
                to: owned(found.class),
            };
            let start = (self.builder).both(declaration.inherits, found.literal, meaning);
            (found.class, start)
        });
        starts.collect()
    }
}
