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
//! property, or what the contract of the nearest declaration makes of it. The nearest one is that of the object's own
//! class, or the only one. Which of several inherited ones it is is left open: an inequality that depends on it has the
//! literals of all declarations with which it would not be. An object of a class is allowed if its version matches the
//! spec of the contract. Without a spec, the version has to match the requirement through which the declaring release
//! finds the class or, without a requirement, the major version of the declaring release. A mapping that describes an
//! object of the contract's class has ancestors as well.
//!
//! *Exclusions.* What is not checked in an object depends on the contract of the property that holds it. If the class of the
//! holder declares that property, its contract counts, else those of all inherited classes. Each inequality about a value
//! that one of these excludes has the literal "the holder inherits its class".
//!
//! Contracts whose class files are not available are left out. An object that inherits a class of a release whose
//! classes are unknown may inherit any class.

use std::collections::BTreeMap;

use pkgres_manifest::diagnostic::Location;
use pkgres_manifest::{
    ClassConstraint, ClassName, ContractCheck, DescribedObject, Exclusions, ModelValue, ObjectId,
    ObjectModel, Property, PropertyHolder, Release, Version, held_objects,
};
use pkgres_proof_checker::Literal;
use pkgres_resolver::{ClassFiles, ContractScope, ModelRoot};

use crate::formula::{Formula, Meaning};
use crate::universe::{Candidate, Universe};

use super::Groups;
use super::ancestors::{Ancestors, FoundClass, RowBuilder, owned};
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
        descriptions: BTreeMap::new(),
        constrained: Vec::new(),
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
            mapping: None,
            exclusions: contracts.exclusions[number].clone(),
        };
        contracts.check(subject);
    }
    contracts.constrain_descriptions();
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
    /// The mapping that describes it.
    mapping: Option<&'all Location>,
    exclusions: PossibleExclusions,
}

/// An object that a contract describes, unless one of the literals holds.
struct Description<'all> {
    ancestors: Ancestors<'all>,
    unless: Vec<Literal>,
}

/// A contract on the class of a described object.
struct ConstrainedDescription<'all> {
    declaration: Declaration<'all>,
    constraint: &'all ClassConstraint,
    /// The beginning of the mapping.
    described: usize,
    /// The literals with which the contract does not apply.
    unless: Vec<Literal>,
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
    /// The objects that contracts describe, by the beginnings of their mappings.
    descriptions: BTreeMap<usize, Vec<Description<'all>>>,
    /// The contracts on their classes.
    constrained: Vec<ConstrainedDescription<'all>>,
}

/// A class that declares a property, with the literal "the object inherits it".
#[derive(Clone, Copy)]
struct Declaration<'all> {
    class: ClassIn<'all>,
    candidate: &'all Candidate,
    inherits: Literal,
    property: &'all Property,
    /// Whether it is the class of the object itself, so that its declaration is the nearest.
    is_own: bool,
}

/// The result of checking a value against a declaration, given which declaration is the nearest.
struct Finding<'all> {
    nearest: Declaration<'all>,
    found: ContractCheck<'all>,
    /// Whether the nearest one does not accept the value, so that the others need not look at it.
    is_refused: bool,
    /// The same with what may not be checked.
    possible: Vec<(ContractCheck<'all>, bool, Literal)>,
}

impl<'all> Contracts<'all, '_> {
    /// States the contracts of all properties of an object, and of the objects that are described in it.
    fn check(&mut self, subject: Subject<'all>) {
        let mut rest = vec![subject];
        while let Some(subject) = rest.pop() {
            let mut declared: BTreeMap<&str, Vec<Declaration<'all>>> = BTreeMap::new();
            for (class, inherits) in &subject.ancestors {
                let (name, package, version) = *class;
                let files = (self.class_files).get(&Release::new(package.clone(), version.clone()));
                let candidate = self.builder.universe.candidate(package, version);
                let (Some(files), Some(candidate)) = (files, candidate) else {
                    continue;
                };
                let definition = files.classes.as_ref().and_then(|all| all.get(name));
                for property in definition.iter().flat_map(|class| &class.properties) {
                    let of_name = declared.entry(&property.name.value).or_default();
                    of_name.push(Declaration {
                        class: *class,
                        candidate,
                        inherits: *inherits,
                        property,
                        is_own: subject.own.contains(class),
                    });
                }
            }
            for declarations in declared.values() {
                for declaration in declarations {
                    self.property(&subject, *declaration, declarations, &mut rest);
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
        let files = (self.class_files).get(&Release::new(package.clone(), version.clone()))?;
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

    /// What the contract of one of the declarations of a property finds, for each declaration that can be the nearest.
    fn findings(
        &self,
        subject: &Subject<'all>,
        declaration: Declaration<'all>,
        all: &[Declaration<'all>],
    ) -> Vec<Finding<'all>> {
        let property = declaration.property;
        let mut values = subject.properties.iter();
        let value = values.find(|(other, _)| *other == property.name.value);
        let value = value.map(|(_, value)| value);
        let holder = PropertyHolder {
            object: subject.holder,
            path: &subject.path,
            described: subject.mapping,
        };
        let base = subject.described.as_ref().map(|(base, _)| base.clone());
        let base = base.unwrap_or_default();
        let findings = all.iter().map(|nearest| {
            let nearest_property = nearest.property;
            let check = |exclusions: &Exclusions| {
                let mut decisive = ContractCheck::default();
                let (model, nearest) = (self.model, nearest_property);
                let converted = decisive.property(model, holder, nearest, value, exclusions);
                let is_refused = self.checks_values && !decisive.violations.is_empty();
                if std::ptr::eq(property, nearest) {
                    return (decisive, is_refused);
                }
                let mut found = ContractCheck::default();
                found.inherited(model, holder, property, &converted, exclusions);
                (found, is_refused)
            };
            let possible = subject.exclusions.iter().map(|(exclusions, literal)| {
                let mut all = base.clone();
                all.extend(exclusions.clone());
                let (found, is_refused) = check(&all);
                (found, is_refused, *literal)
            });
            let (found, is_refused) = check(&base);
            Finding {
                nearest: *nearest,
                found,
                is_refused,
                possible: possible.collect(),
            }
        });
        findings.collect()
    }

    /// States the contract of one of the declarations of a property.
    fn property(
        &mut self,
        subject: &Subject<'all>,
        declaration: Declaration<'all>,
        all: &[Declaration<'all>],
        rest: &mut Vec<Subject<'all>>,
    ) {
        let findings = self.findings(subject, declaration, all);
        for (at, finding) in findings.iter().enumerate() {
            // What several declarations have in common is stated once.
            let is_new = |has: &dyn Fn(&ContractCheck<'all>) -> bool| {
                !findings[..at].iter().any(|before| has(&before.found))
            };
            let found = &finding.found;
            for violation in found.violations.iter().filter(|_| self.checks_values) {
                let has = |found: &ContractCheck<'all>| found.violations.contains(violation);
                if is_new(&has) {
                    for unless in conditions(declaration, &findings, &has) {
                        self.builder.clause(unless);
                    }
                }
            }
            for constrained in &found.objects {
                let has = |found: &ContractCheck<'all>| found.objects.contains(constrained);
                if is_new(&has) {
                    let (constraint, object) = (constrained.constraint, constrained.object);
                    let ancestors = &self.objects[object.0];
                    for unless in conditions(declaration, &findings, &has) {
                        self.constrain(declaration, constraint, ancestors, &unless);
                    }
                }
            }
            for named in &found.named_classes {
                let has = |found: &ContractCheck<'all>| found.named_classes.contains(named);
                if is_new(&has) {
                    for unless in conditions(declaration, &findings, &has) {
                        self.name(declaration, named.class, unless);
                    }
                }
            }
            for constrained in &found.constrained_descriptions {
                let has = |found: &ContractCheck<'all>| {
                    found.constrained_descriptions.contains(constrained)
                };
                if is_new(&has) {
                    for unless in conditions(declaration, &findings, &has) {
                        self.constrained.push(ConstrainedDescription {
                            declaration,
                            constraint: constrained.constraint,
                            described: constrained.described.span().start,
                            unless,
                        });
                    }
                }
            }
            // A declaration whose classes are unknown may define the classes of descriptions itself, or find them
            // elsewhere.
            if declaration.candidate.classes.is_some() {
                for described in &found.described {
                    rest.push(self.describe(subject, declaration, &findings, described));
                }
            }
        }
    }

    /// The object that a declaration describes, if it is the nearest.
    fn describe(
        &mut self,
        subject: &Subject<'all>,
        mut declaration: Declaration<'all>,
        findings: &[Finding<'all>],
        described: &DescribedObject<'all>,
    ) -> Subject<'all> {
        let same = |found: &ContractCheck<'all>| {
            let mut all = found.described.iter();
            let same = all
                .find(|one| one.path == described.path && one.constraint == described.constraint);
            same.map(|one| one.exclusions.clone())
        };
        let is_this =
            |finding: &&Finding<'all>| std::ptr::eq(finding.nearest.property, declaration.property);
        let this = findings.iter().find(is_this);
        let possible = this.map_or(&[][..], |finding| finding.possible.as_slice());
        let others = findings.iter().filter(|other| !is_this(other));
        let others: Vec<Declaration<'all>> = others.map(|other| other.nearest).collect();
        let shown = self.model.shown(subject.holder);
        let (_, package, version) = declaration.class;
        let object = format!("{} of {shown} by {package} {version}", described.path);
        if !declaration.is_own {
            for other in others {
                let meaning = Meaning::Leads {
                    object: object.clone(),
                    class: owned(declaration.class),
                    to: owned(other.class),
                };
                let (inherits, without) = (declaration.inherits, other.inherits.negated());
                declaration.inherits = self.builder.both(inherits, without, meaning);
            }
        }
        let excluding = possible.iter().filter(|(found, ..)| same(found).is_none());
        let unless: Vec<Literal> = std::iter::once(declaration.inherits.negated())
            .chain(excluding.map(|(.., literal)| *literal))
            .collect();
        let starts = self.described(declaration, described.constraint, &object, &unless);
        let own = starts.iter().map(|(class, _)| *class).collect();
        let ancestors = self.builder.ancestors(&object, starts);
        let beginning = described.location.span().start;
        if described.constraint.default.is_some() {
            self.constrained.push(ConstrainedDescription {
                declaration,
                constraint: described.constraint,
                described: beginning,
                unless: unless.clone(),
            });
        }
        let descriptions = self.descriptions.entry(beginning).or_default();
        descriptions.push(Description {
            ancestors: ancestors.clone(),
            unless,
        });
        let exclusions = possible.iter().map(|(found, _, literal)| {
            let exclusions = same(found).unwrap_or_else(Exclusions::everything);
            (exclusions, *literal)
        });
        Subject {
            holder: subject.holder,
            path: described.path.clone(),
            own,
            properties: described.properties,
            described: Some((described.exclusions.clone(), declaration.inherits)),
            mapping: Some(described.location),
            exclusions: exclusions.collect(),
            ancestors,
        }
    }

    /// States the contracts on the classes of described objects.
    fn constrain_descriptions(&mut self) {
        let descriptions = std::mem::take(&mut self.descriptions);
        for constrained in std::mem::take(&mut self.constrained) {
            for description in descriptions
                .get(&constrained.described)
                .into_iter()
                .flatten()
            {
                let unless = constrained.unless.iter().chain(&description.unless);
                let unless: Vec<Literal> = unless.copied().collect();
                let ancestors = &description.ancestors;
                self.constrain(
                    constrained.declaration,
                    constrained.constraint,
                    ancestors,
                    &unless,
                );
            }
        }
    }

    /// "The object that a property holds is of the class, in an allowed version, unless one of these literals holds."
    fn constrain(
        &mut self,
        declaration: Declaration<'all>,
        constraint: &'all ClassConstraint,
        ancestors: &Ancestors<'all>,
        unless: &[Literal],
    ) {
        let (_, package, own) = declaration.class;
        if let Some(spec) = &constraint.spec {
            self.is_of_class(
                ancestors,
                constraint,
                |version| spec.matches(version),
                unless,
            );
        } else if declaration.candidate.classes.is_none() {
            // It may define the class itself, or find it elsewhere.
        } else if declaration.candidate.has(&constraint.class) {
            let is_allowed = |version: &Version| version.major() == own.major();
            self.is_of_class(ancestors, constraint, is_allowed, unless);
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
                self.is_of_class(ancestors, constraint, is_allowed, &unless);
            }
        }
    }

    /// "The declaring release finds a class, unless one of these literals holds."
    fn name(
        &mut self,
        declaration: Declaration<'all>,
        class: &'all ClassName,
        unless: Vec<Literal>,
    ) {
        let candidate = declaration.candidate;
        // A release whose classes are unknown may define the class itself.
        if candidate.classes.is_some() && !candidate.has(class) {
            let (_, package, _) = declaration.class;
            let found = self.builder.found((package, candidate), class).into_iter();
            let found: Vec<Literal> = found.map(|found| found.literal).collect();
            self.builder.clause(found.into_iter().chain(unless));
        }
    }

    /// "An object is of the class of a contract in an allowed version, unless one of these literals holds."
    fn is_of_class(
        &mut self,
        ancestors: &Ancestors<'all>,
        constraint: &ClassConstraint,
        is_allowed: impl Fn(&Version) -> bool,
        unless: &[Literal],
    ) {
        let universe = self.builder.universe;
        let mut is_of: Vec<Literal> = unless.to_vec();
        for ((name, package, version), literal) in ancestors {
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

    /// The classes that a mapping can describe an object of; states that there is one, unless one of these literals
    /// holds.
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

/// The sets of literals with which a finding of a declaration does not hold, by the nearest declarations that have it.
fn conditions<'all>(
    declaration: Declaration<'all>,
    findings: &[Finding<'all>],
    has: &dyn Fn(&ContractCheck<'all>) -> bool,
) -> Vec<Vec<Literal>> {
    let (with, without): (Vec<&Finding<'all>>, Vec<&Finding<'all>>) =
        (findings.iter()).partition(|finding| finding.is_refused || has(&finding.found));
    let excluded = |with: &[&Finding<'all>]| -> Vec<Literal> {
        let possible = with.iter().flat_map(|finding| &finding.possible);
        let excluding = possible.filter(|(found, is_refused, _)| !is_refused && !has(found));
        excluding.map(|(.., literal)| *literal).collect()
    };
    let mut conditions = vec![vec![declaration.inherits.negated()]];
    conditions[0].extend(without.iter().map(|finding| finding.nearest.inherits));
    conditions[0].extend(excluded(&with));
    if !without.is_empty() {
        for finding in with.iter().filter(|finding| finding.nearest.is_own) {
            let inherits = [declaration.inherits, finding.nearest.inherits];
            let negated = inherits.into_iter().map(Literal::negated);
            conditions.push(negated.chain(excluded(&[*finding])).collect());
        }
    }
    conditions
}
