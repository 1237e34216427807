//! Contracts of an object model: whether the objects of a selection have the classes and values that
//! properties require.
//!
//! # Problem
//!
//! An object meets a contract `$.class(C, default, spec)` if its class is C or inherits from C, in a
//! version that matches the spec. Without a spec, the version has to match the requirement through
//! which the declaring package (the one that declares the property) finds C. If the declaring package
//! defines C itself, any version with the same major component is enough. The other contracts are
//! about values: whether they hold depends only on the release that declares the property. So a
//! contract depends on the releases of several packages at once, and on class files, which are not in
//! the index.
//!
//! # Idea
//!
//! Contracts are checked on a selection that satisfies all other rules. [`AncestorWalk`] visits the
//! class of an object and all its ancestors, because every declaration of a property counts, and
//! records each lookup in a required package. [`ContractCheck`] looks at the values. The nearest
//! declaration of a property decides what the others look at, so a violation also depends on the
//! lookups up to that one. A violation
//! carries the lookups that led to it, and `problem/contract_nogood.rs` turns them into a nogood: as
//! long as the same lookups have the same outcomes, the contract is violated.
//!
//! Which values of an object are not checked depends on the property that holds it: a template may
//! lack properties (see [`Exclusions`]). So a violation in an object that another one holds also
//! depends on the declaration of that property, and on those of all holders around it
//! ([`ExclusionSource`]). Other releases of a holder are part of the nogood as soon as a check has
//! looked at them and found that they exclude the same.
//!
//! # Cost
//!
//! Each check takes time linear in the number of values in the model, times the ancestors of their classes, and counts
//! that as [looks](Budget::look_at_values): each class of a long line of ancestors can declare a property with a
//! million items. The class files for all objects are requested in one step, so the result does not depend on the order
//! in which they arrive.

mod ancestors;
mod definers;
mod exclusions;

pub(crate) use ancestors::{Lookup, LookupOutcome};

use std::sync::Arc;

use pkgres_manifest::diagnostic::Location;
use pkgres_manifest::{
    ClassConstraint, ClassDefinition, ClassName, ConstrainedObject, ContractCheck, ContractPlace,
    ConvertedValue, DescribedObject, Exclusions, ModelValue, ObjectId, ObjectModel, Package,
    PackageName, PropertyHolder, Release, Spec, ValueProblem, Version,
};
use rustc_hash::FxHashMap;

use crate::budget::{Budget, Interrupt};
use crate::class_rules::ClassAt;
use crate::selection::Selection;
use crate::universe::{Missing, PackageContents, ReleaseId, Universe};
use ancestors::{AncestorWalk, WalkStart};
use definers::{Allowed, Definer, Described};
use exclusions::ObjectExclusions;
pub(crate) use exclusions::{ExclusionSource, OwnDeclaration};

/// A class, and the release that defines it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct ClassOfRelease {
    pub(crate) class: ClassName,
    pub(crate) package: PackageName,
    pub(crate) version: Version,
}

/// A contract that an object violates, in the words of a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ContractViolation {
    /// The object that has the property.
    pub(crate) holder: ObjectId,
    /// The property, with positions in lists and keys of mappings.
    pub(crate) path: String,
    /// The class that declares the property, and its release.
    pub(crate) declared_by: ClassOfRelease,
    pub(crate) problem: ContractProblem,
}

impl ContractViolation {
    /// The place of the value.
    pub(crate) fn place(&self) -> ContractPlace {
        ContractPlace {
            holder: self.holder,
            path: self.path.clone(),
        }
    }
}

/// How a contract is violated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ContractProblem {
    /// The property holds an object of the wrong class, or of the wrong version of it.
    Class(Box<ClassProblem>),
    /// No package that the declaring one requires defines the class of the contract, in versions of
    /// its spec if it has one.
    UnknownClass(ClassName, Option<Spec>),
    /// The value itself, and its place.
    Value(ValueProblem, Option<Location>),
}

/// An object that is not of the class that a contract names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ClassProblem {
    /// The class that the value must be.
    pub(crate) class: ClassName,
    pub(crate) allowed: AllowedVersions,
    /// The object that the property holds.
    pub(crate) object: ObjectId,
    /// The class of the object itself.
    pub(crate) actual: ClassOfRelease,
    /// The release in which the object inherits the class that the contract names, if it does.
    pub(crate) inherits: Option<Release>,
}

/// The versions of a class that a contract allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AllowedVersions {
    Spec(Spec),
    /// The versions with the same major component as this one.
    MajorOf(Version),
}

impl AllowedVersions {
    pub(crate) fn allows(&self, version: &Version) -> bool {
        match self {
            Self::Spec(spec) => spec.matches(version),
            Self::MajorOf(own) => own.major() == version.major(),
        }
    }
}

/// A violated contract, with the lookups that the violation depends on.
#[derive(Debug)]
pub(crate) struct TracedViolation {
    pub(crate) violation: ContractViolation,
    /// The lookups from the holder's class to the declaration of the property.
    pub(crate) holder_lookups: Vec<Lookup>,
    /// The lookups that determine the allowed versions, or that do not find the class of the
    /// contract.
    pub(crate) allowed_lookups: Vec<Lookup>,
    /// The lookups from the object's class to the class that the contract names.
    pub(crate) object_lookups: Vec<Lookup>,
    /// The declarations that do not exclude the value.
    pub(crate) exclusion_sources: Vec<ExclusionSource>,
}

/// The contracts of the model that a selection violates.
///
/// All class files that any contract needs are requested first, so that the result does not depend
/// on the order in which they arrive.
pub(crate) fn violated_contracts(
    universe: &mut Universe,
    selection: &Selection,
    budget: &mut Budget,
) -> Result<Vec<TracedViolation>, Interrupt> {
    let (Some(model), Some(root)) = (
        universe.catalog.model().cloned(),
        universe.catalog.model_root(),
    ) else {
        return Ok(Vec::new());
    };
    for release in selection.releases() {
        universe.details(*release);
    }
    let check = ModelCheck {
        universe,
        selection,
        model: &model,
        root,
        violations: Vec::new(),
        missing: Vec::new(),
        exclusions: vec![ObjectExclusions::default(); model.objects().len()],
        visited: Vec::new(),
        described: FxHashMap::default(),
        constrained: Vec::new(),
    };
    // The check starts again once class files are there.
    let (violations, visited) = budget.restartable(|budget| check.run(budget))?;
    universe.classes.look_at(visited);
    Ok(violations)
}

struct ModelCheck<'a> {
    universe: &'a Universe,
    selection: &'a Selection,
    model: &'a ObjectModel,
    root: ReleaseId,
    violations: Vec<TracedViolation>,
    /// The releases whose class files are needed.
    missing: Vec<ReleaseId>,
    /// What is not checked in each object, as far as its holders were visited.
    exclusions: Vec<ObjectExclusions>,
    /// The releases of the objects' classes.
    visited: Vec<ReleaseId>,
    /// The objects that contracts describe, by the beginnings of their mappings: the class, and the object of the model
    /// around.
    described: FxHashMap<usize, (WalkStart, ObjectId)>,
    /// The contracts on the classes of these objects.
    constrained: Vec<ConstrainedStart<'a>>,
}

/// A contract on the class of an object that a contract describes.
struct ConstrainedStart<'a> {
    constraint: &'a ClassConstraint,
    /// The beginning of the mapping.
    described: usize,
    declared_by: ReleaseId,
    /// The violation, if there is one.
    violation: TracedViolation,
}

/// An object whose values are checked: one of the model, or one that a contract describes.
struct CheckedObject<'a> {
    /// The object of the model that it is, or is written in.
    holder: ObjectId,
    /// Its path in that object; empty for that object itself.
    path: String,
    start: WalkStart,
    properties: &'a [(String, ModelValue)],
    exclusions: Exclusions,
    /// The mapping, if a contract describes the object.
    described: Option<&'a Location>,
}

/// A class that declares a property of a checked object.
struct Declaration<'walk> {
    at: ClassAt,
    holder: ObjectId,
    /// The walk that found it.
    walk: &'walk AncestorWalk,
    /// The number of lookups of the walk up to the nearest declaration of the property.
    up_to_nearest: usize,
}

impl Declaration<'_> {
    /// The lookups that lead to the declaration, and that find the nearest one.
    fn lookups(&self) -> Vec<Lookup> {
        let mut lookups = self.walk.lookups[..self.up_to_nearest].to_vec();
        lookups.extend(self.walk.path_to(self.at));
        lookups
    }
}

impl<'a> ModelCheck<'a> {
    fn run(
        mut self,
        budget: &mut Budget,
    ) -> Result<(Vec<TracedViolation>, Vec<ReleaseId>), Interrupt> {
        for (number, object) in self.model.objects().iter().enumerate() {
            let holder = ObjectId(number);
            let Some(class) = self.class_of(holder) else {
                continue;
            };
            self.visited.push(class.release);
            let mut rest = vec![CheckedObject {
                holder,
                path: String::new(),
                start: WalkStart::object(self.root, holder, class),
                properties: &object.properties,
                exclusions: self.exclusions[holder.0].exclusions.clone(),
                described: None,
            }];
            while let Some(object) = rest.pop() {
                self.object(object, &mut rest, budget)?;
            }
        }
        self.constrained_descriptions();
        if self.missing.is_empty() {
            Ok((self.violations, self.visited))
        } else {
            Err(Missing::Classes(self.missing).into())
        }
    }

    /// The class of an object in the release that the selection binds it to.
    fn class_of(&self, object: ObjectId) -> Option<ClassAt> {
        let requirement = &self.universe.known_details(self.root).requirements[object.0];
        let (_, class) = requirement.object?;
        Some(ClassAt {
            release: self.selection.bound(self.root)[object.0],
            class,
        })
    }

    /// Checks an object against every declaration of its properties. The objects that contracts
    /// describe in it are added to `rest`.
    fn object(
        &mut self,
        object: CheckedObject<'a>,
        rest: &mut Vec<CheckedObject<'a>>,
        budget: &mut Budget,
    ) -> Result<(), Interrupt> {
        let values: FxHashMap<&str, &'a ModelValue> = (object.properties.iter())
            .map(|(name, value)| (name.as_str(), value))
            .collect();
        let start = object.start.class;
        let mut walk = AncestorWalk::from(object.start);
        let mut ancestry = Vec::new();
        // What the nearest declaration makes of the value, and the lookups up to it.
        let mut nearest: FxHashMap<&str, (ConvertedValue<'a>, usize)> = FxHashMap::default();
        while let Some(at) = walk.next() {
            let lookups_before = walk.lookups.len();
            walk.push_parents(self.universe, self.selection, at);
            let package: &'a Arc<Package> = match self.universe.classes.contents(at.release) {
                PackageContents::NotRequested => {
                    self.missing.push(at.release);
                    continue;
                }
                PackageContents::Unavailable => continue,
                PackageContents::Known(package) => package,
            };
            let class = self.universe.catalog.class_name(at.class);
            let definition = package.classes.as_ref().and_then(|all| all.get(class));
            ancestry.extend(definition.map(|definition| (at, definition)));
            for property in definition.iter().flat_map(|class| &class.properties) {
                let name = property.name.value.as_str();
                let value = values.get(name).copied();
                let mut found = ContractCheck::default();
                let holder = PropertyHolder {
                    object: object.holder,
                    path: &object.path,
                    described: object.described,
                };
                let exclusions = &object.exclusions;
                let model = self.model;
                let up_to_nearest = if let Some((converted, up_to_nearest)) = nearest.get(name) {
                    found.inherited(model, holder, property, converted, exclusions);
                    *up_to_nearest
                } else {
                    let converted = found.property(model, holder, property, value, exclusions);
                    nearest.insert(name, (converted, lookups_before));
                    lookups_before
                };
                budget.look_at_values(found.values)?;
                let declaration = Declaration {
                    at,
                    holder: object.holder,
                    walk: &walk,
                    up_to_nearest,
                };
                self.take(found, &declaration, rest);
            }
        }
        let own = |(at, definition): &(ClassAt, &'a ClassDefinition)| {
            (*at == start).then_some(*definition)
        };
        let holder = exclusions::Holder {
            object: object.holder,
            is_described: object.described.is_some(),
            own: ancestry.first().and_then(own),
            ancestry: ancestry.iter().map(|(_, definition)| *definition).collect(),
            lookups: &walk.lookups,
        };
        let exclusions = &object.exclusions;
        holder.exclude(object.properties, exclusions, &mut self.exclusions);
        Ok(())
    }

    /// Notes what the check of a property found. The objects that its contract describes are added to `rest`.
    fn take(
        &mut self,
        found: ContractCheck<'a>,
        declaration: &Declaration<'_>,
        rest: &mut Vec<CheckedObject<'a>>,
    ) {
        if self.universe.catalog.checks_values() {
            for violation in found.violations {
                let problem = ContractProblem::Value(violation.problem, violation.location);
                let traced = self.violation(declaration, violation.path, problem);
                self.violations.push(traced);
            }
        }
        for constrained in found.objects {
            if !self.is_known(declaration, &constrained.path) {
                let traced = self.constrained(declaration, constrained);
                self.violations.extend(traced);
            }
        }
        for named in found.named_classes {
            let class = self.universe.catalog.class_of_contract(named.class);
            if !self.is_known(declaration, &named.path)
                && let Definer::Nobody(lookups) = self.definer(declaration.at.release, class)
            {
                let wanted = (named.class, None);
                let traced = self.unknown_class(declaration, named.path, wanted, lookups);
                self.violations.push(traced);
            }
        }
        for constrained in found.constrained_descriptions {
            if !self.is_known(declaration, &constrained.path) {
                let (constraint, place) = (constrained.constraint, constrained.described);
                self.constrain(declaration, constraint, place, constrained.path);
            }
        }
        for described in found.described {
            rest.extend(self.describe(declaration, described));
        }
    }

    /// Whether the caller knows a violation at a path, and does not want to hear of it again.
    fn is_known(&self, declaration: &Declaration<'_>, path: &str) -> bool {
        self.universe.catalog.is_known_violation(&ContractPlace {
            holder: declaration.holder,
            path: path.to_owned(),
        })
    }

    /// The object that a contract describes, if its class is found.
    fn describe(
        &mut self,
        declaration: &Declaration<'_>,
        described: DescribedObject<'a>,
    ) -> Option<CheckedObject<'a>> {
        let DescribedObject {
            constraint,
            location: place,
            path,
            ..
        } = described;
        let is_known = self.is_known(declaration, &path);
        match self.described_class(declaration, constraint) {
            Described::Class(start) => {
                let known = (start.clone(), declaration.holder);
                self.described.entry(place.span().start).or_insert(known);
                // The class of an object that names none may be another one than that of the contract.
                if constraint.default.is_some() && !is_known {
                    self.constrain(declaration, constraint, place, path.clone());
                }
                Some(CheckedObject {
                    holder: declaration.holder,
                    path,
                    start,
                    properties: described.properties,
                    exclusions: described.exclusions,
                    described: Some(place),
                })
            }
            Described::NotFound(lookups) => {
                if !is_known {
                    let wanted = (constraint.described(), constraint.spec_of_described());
                    let traced = self.unknown_class(declaration, path, wanted, lookups);
                    self.violations.push(traced);
                }
                None
            }
            Described::Unknown => None,
        }
    }

    /// Notes a contract on the class of an object that a contract describes.
    fn constrain(
        &mut self,
        declaration: &Declaration<'_>,
        constraint: &'a ClassConstraint,
        described: &Location,
        path: String,
    ) {
        let problem = ValueProblem::NotObject(constraint.class.clone());
        let problem = ContractProblem::Value(problem, Some(described.clone()));
        self.constrained.push(ConstrainedStart {
            constraint,
            described: described.span().start,
            declared_by: declaration.at.release,
            violation: self.violation(declaration, path, problem),
        });
    }

    /// Checks the contracts on the classes of the objects that contracts describe.
    fn constrained_descriptions(&mut self) {
        for constrained in std::mem::take(&mut self.constrained) {
            let Some((start, around)) = self.described.get(&constrained.described) else {
                continue;
            };
            let mut violation = constrained.violation;
            let constraint = constrained.constraint;
            let (allowed, lookups) = match self.allowed(constraint, constrained.declared_by) {
                Allowed::Versions(allowed, lookups) => (Some(allowed), lookups),
                Allowed::NotFound(lookups) => (None, lookups),
                Allowed::Unknown => continue,
            };
            violation.allowed_lookups = lookups;
            violation.holder_lookups.extend(&start.lookups);
            if let Some(allowed) = allowed {
                let found = self.violation_of(constraint, start.clone(), &allowed);
                let Some((lookups, ..)) = found else {
                    continue;
                };
                violation.holder_lookups.extend(lookups);
            } else {
                let (class, spec) = (constraint.class.clone(), constraint.spec.clone());
                violation.violation.problem = ContractProblem::UnknownClass(class, spec);
            }
            let sources = self.exclusions[around.0].sources.iter().cloned();
            violation.exclusion_sources.extend(sources);
            self.violations.push(violation);
        }
    }

    /// A violation that depends on the declaration alone.
    fn violation(
        &self,
        declaration: &Declaration<'_>,
        path: String,
        problem: ContractProblem,
    ) -> TracedViolation {
        TracedViolation {
            violation: ContractViolation {
                holder: declaration.holder,
                path,
                declared_by: self.class_of_release(declaration.at),
                problem,
            },
            holder_lookups: declaration.lookups(),
            allowed_lookups: Vec::new(),
            object_lookups: Vec::new(),
            exclusion_sources: self.exclusions[declaration.holder.0].sources.clone(),
        }
    }

    /// The violation that the class of a contract is not found.
    fn unknown_class(
        &self,
        declaration: &Declaration<'_>,
        path: String,
        (class, spec): (&ClassName, Option<&Spec>),
        lookups: Vec<Lookup>,
    ) -> TracedViolation {
        let problem = ContractProblem::UnknownClass(class.clone(), spec.cloned());
        TracedViolation {
            allowed_lookups: lookups,
            ..self.violation(declaration, path, problem)
        }
    }

    /// The violation of a contract that an object has to be of a class, if it is not.
    fn constrained(
        &self,
        declaration: &Declaration<'_>,
        constrained: ConstrainedObject<'_>,
    ) -> Option<TracedViolation> {
        let ConstrainedObject {
            constraint,
            object,
            path,
            ..
        } = constrained;
        let (allowed, allowed_lookups) = match self.allowed(constraint, declaration.at.release) {
            Allowed::Versions(allowed, lookups) => (allowed, lookups),
            Allowed::NotFound(lookups) => {
                let wanted = (&constraint.class, constraint.spec.as_ref());
                return Some(self.unknown_class(declaration, path, wanted, lookups));
            }
            Allowed::Unknown => return None,
        };
        let start = WalkStart::object(self.root, object, self.class_of(object)?);
        let (object_lookups, inherits, is) = self.violation_of(constraint, start, &allowed)?;
        let problem = ContractProblem::Class(Box::new(ClassProblem {
            class: constraint.class.clone(),
            allowed,
            object,
            actual: self.class_of_release(is),
            inherits: inherits.map(|at| {
                let ClassOfRelease {
                    package, version, ..
                } = self.class_of_release(at);
                Release::new(package, version)
            }),
        }));
        Some(TracedViolation {
            allowed_lookups,
            object_lookups,
            ..self.violation(declaration, path, problem)
        })
    }

    fn class_of_release(&self, at: ClassAt) -> ClassOfRelease {
        let catalog = &self.universe.catalog;
        ClassOfRelease {
            class: catalog.class_name(at.class).clone(),
            package: catalog.name(at.release.package).clone(),
            version: catalog.version(at.release).clone(),
        }
    }

    /// How an object violates a constraint: the lookups up to the class that the constraint names,
    /// that class if the object inherits it, and the object's own class. `None` if the object meets
    /// the constraint.
    fn violation_of(
        &self,
        constraint: &ClassConstraint,
        start: WalkStart,
        allowed: &AllowedVersions,
    ) -> Option<(Vec<Lookup>, Option<ClassAt>, ClassAt)> {
        let class = start.class;
        let expected = self.universe.catalog.class_of_contract(&constraint.class);
        let mut walk = AncestorWalk::from(start);
        let mut all_known = true;
        while let Some(at) = walk.next() {
            if at.class == expected {
                // No class inherits two of one name, so this is the only one.
                if allowed.allows(self.universe.catalog.version(at.release)) {
                    return None;
                }
                return Some((walk.path_to(at), Some(at), class));
            }
            all_known &= self.universe.known_details(at.release).classes.is_some();
            walk.push_parents(self.universe, self.selection, at);
        }
        // A release with unknown classes could define it.
        all_known.then_some((walk.lookups, None, class))
    }
}
