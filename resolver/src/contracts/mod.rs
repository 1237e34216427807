//! Contracts of an object model: whether the objects of a selection have the classes that
//! properties demand.
//!
//! # Problem
//!
//! A contract `$.class(C, default, spec)` is met by an object whose class is C, or inherits it, in
//! a version inside the spec. Without a spec, the version has to match the requirement by which the
//! package that declares the property finds C. If that package defines C itself, any version with
//! the same major component is enough. So a contract depends on the releases of several packages at
//! once, and on class files, which the index does not have.
//!
//! # Idea
//!
//! Contracts are checked on a selection that is valid otherwise. [`AncestorWalk`] finds the
//! declaration of a property and the class that the contract names, and records each lookup in a
//! required package. A violation carries these lookups, and `problem/contract_nogood.rs` turns them
//! into a nogood: as long as the same lookups have the same outcomes, the contract is violated.
//!
//! # Cost
//!
//! Each check is linear in the properties that hold objects, times the ancestors of their classes.
//! Class files are requested only for classes whose properties hold objects, all of them in one
//! step, so that the result does not depend on the order in which they arrive.

mod ancestors;

pub(crate) use ancestors::{Lookup, LookupOutcome};

use pkgres_manifest::{
    ClassConstraint, ClassName, Contract, MapKey, ModelValue, ObjectId, ObjectModel, PackageName,
    Rule, Spec, ValueKind, Version,
};

use crate::hierarchy::{ClassAt, provider};
use crate::selection::Selection;
use crate::universe::{Missing, PackageContents, ReleaseId, Universe};
use ancestors::{AncestorWalk, lookups};

/// A contract that an object violates, in the words of a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ContractViolation {
    /// The object that has the property.
    pub(crate) holder: ObjectId,
    /// The property, with positions in lists and keys of mappings.
    pub(crate) path: String,
    /// The class that declares the property, and its release.
    pub(crate) declared_by: (ClassName, PackageName, Version),
    /// The class that the value must be.
    pub(crate) class: ClassName,
    /// The versions that the contract allows.
    pub(crate) allowed: AllowedVersions,
    /// The object that the property holds.
    pub(crate) object: ObjectId,
    /// The object's own class and release.
    pub(crate) is: (ClassName, PackageName, Version),
    /// The release in which the object inherits the class that the contract names, if it does.
    pub(crate) inherits: Option<(PackageName, Version)>,
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
    /// The lookups that determine the allowed versions.
    pub(crate) allowed_lookups: Vec<Lookup>,
    /// The lookups from the object's class to the class that the contract names.
    pub(crate) object_lookups: Vec<Lookup>,
}

/// The contracts of the model that a selection violates.
///
/// All class files that any contract needs are requested first, so that the result does not depend
/// on the order in which they arrive.
pub(crate) fn violated_contracts(
    universe: &mut Universe,
    selection: &Selection,
) -> Result<Vec<TracedViolation>, Missing> {
    let (Some(model), Some(root)) = (
        universe.catalog.model().cloned(),
        universe.catalog.model_root(),
    ) else {
        return Ok(Vec::new());
    };
    for release in selection.releases() {
        universe.details(*release);
    }
    let check = ContractCheck {
        universe,
        selection,
        model: &model,
        root,
    };
    check.run()
}

struct ContractCheck<'a> {
    universe: &'a Universe,
    selection: &'a Selection,
    model: &'a ObjectModel,
    root: ReleaseId,
}

/// The declaration of a property, and the lookups that found it.
struct Declaration {
    at: ClassAt,
    contract: Contract,
    lookups: Vec<Lookup>,
}

impl ContractCheck<'_> {
    fn run(&self) -> Result<Vec<TracedViolation>, Missing> {
        let (mut violation_of, mut missing) = (Vec::new(), Vec::new());
        for (number, object) in self.model.objects().iter().enumerate() {
            let holder = ObjectId(number);
            for (name, value) in &object.properties {
                if !holds_object(value) {
                    continue;
                }
                match self.declaration(holder, name) {
                    Err(more) => missing.extend(more),
                    Ok(None) => {}
                    Ok(Some(declaration)) => {
                        violation_of.extend(self.violations_in(holder, name, value, &declaration));
                    }
                }
            }
        }
        if missing.is_empty() {
            Ok(violation_of)
        } else {
            Err(Missing::Classes(missing))
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

    /// The declaration of a property in the class of an object or its nearest ancestor. If class
    /// files are missing, the error has their releases.
    fn declaration(
        &self,
        holder: ObjectId,
        name: &str,
    ) -> Result<Option<Declaration>, Vec<ReleaseId>> {
        let Some(start) = self.class_of(holder) else {
            return Ok(None);
        };
        let mut walk = AncestorWalk::from(self.root, holder, start);
        while let Some(at) = walk.next() {
            match self.universe.classes.contents(at.release) {
                PackageContents::NotRequested => return Err(vec![at.release]),
                PackageContents::Unavailable => return Ok(None),
                PackageContents::Known(package) => {
                    let class = self.universe.catalog.class_name(at.class);
                    let definition = package
                        .classes
                        .as_ref()
                        .and_then(|classes| classes.get(class));
                    let property = definition.and_then(|definition| {
                        definition
                            .properties
                            .iter()
                            .find(|property| property.name.value == name)
                    });
                    if let Some(property) = property {
                        return Ok(Some(Declaration {
                            at,
                            contract: property.contract.value.clone(),
                            lookups: walk.lookups,
                        }));
                    }
                }
            }
            walk.push_parents(self.universe, self.selection, at);
        }
        Ok(None)
    }

    /// The violations in the value of a property.
    fn violations_in(
        &self,
        holder: ObjectId,
        name: &str,
        value: &ModelValue,
        declaration: &Declaration,
    ) -> impl Iterator<Item = TracedViolation> {
        let mut found = Vec::new();
        constrained_objects(&declaration.contract, value, name, &mut found);
        found
            .into_iter()
            .filter_map(move |(constraint, object, path)| {
                let (allowed, lookup) = self.allowed(constraint, declaration)?;
                self.violation_of(constraint, object, &allowed).map(
                    |(object_lookups, inherits, is)| TracedViolation {
                        violation: ContractViolation {
                            holder,
                            path,
                            declared_by: self.class_and_release(declaration.at),
                            class: constraint.class.clone(),
                            allowed,
                            object,
                            is: self.class_and_release(is),
                            inherits: inherits.map(|at| {
                                let (_, package, version) = self.class_and_release(at);
                                (package, version)
                            }),
                        },
                        holder_lookups: declaration.lookups.clone(),
                        allowed_lookups: lookup,
                        object_lookups,
                    },
                )
            })
    }

    fn class_and_release(&self, at: ClassAt) -> (ClassName, PackageName, Version) {
        (
            self.universe.catalog.class_name(at.class).clone(),
            self.universe.catalog.name(at.release.package).clone(),
            self.universe.catalog.version(at.release).clone(),
        )
    }

    /// The allowed versions of a constraint's class, and the lookups that determine them. `None` if
    /// the class is not found, which is an error of the package and not of the model.
    fn allowed(
        &self,
        constraint: &ClassConstraint,
        declaration: &Declaration,
    ) -> Option<(AllowedVersions, Vec<Lookup>)> {
        if let Some(spec) = &constraint.spec {
            return Some((AllowedVersions::Spec(spec.clone()), Vec::new()));
        }
        let release = declaration.at.release;
        let class = self.universe.catalog.class_of_contract(&constraint.class);
        let details = self.universe.known_details(release);
        let table = details.classes.as_ref();
        if table.is_some_and(|table| table.position(class).is_some()) {
            let own = self.universe.catalog.version(release).clone();
            return Some((AllowedVersions::MajorOf(own), Vec::new()));
        }
        let (requirement, _) = provider(self.universe, self.selection, release, class)?;
        let spec = details.requirements[requirement].requirement.spec.clone();
        let lookup = lookups(release, requirement, class, LookupOutcome::Defines(class));
        Some((AllowedVersions::Spec(spec), lookup))
    }

    /// How an object violates a constraint: the lookups up to the class that the constraint names,
    /// that class if the object inherits it, and the object's own class. `None` if the object meets
    /// the constraint.
    fn violation_of(
        &self,
        constraint: &ClassConstraint,
        object: ObjectId,
        allowed: &AllowedVersions,
    ) -> Option<(Vec<Lookup>, Option<ClassAt>, ClassAt)> {
        let start = self.class_of(object)?;
        let expected = self.universe.catalog.class_of_contract(&constraint.class);
        let mut walk = AncestorWalk::from(self.root, object, start);
        let mut all_known = true;
        while let Some(at) = walk.next() {
            if at.class == expected {
                // No class inherits two of one name, so this is the only one.
                if allowed.allows(self.universe.catalog.version(at.release)) {
                    return None;
                }
                return Some((walk.path_to(at), Some(at), start));
            }
            all_known &= self.universe.known_details(at.release).classes.is_some();
            walk.push_parents(self.universe, self.selection, at);
        }
        // A release with unknown classes could define it.
        all_known.then_some((walk.lookups, None, start))
    }
}

fn holds_object(value: &ModelValue) -> bool {
    match &value.kind {
        ValueKind::Object(_) | ValueKind::Reference(_) => true,
        ValueKind::List(items) => items.iter().any(holds_object),
        ValueKind::Map(entries) => entries.iter().any(|(_, value)| holds_object(value)),
        _ => false,
    }
}

/// The objects in a value that a contract constrains, each with its path. Recursion is bounded by
/// the depth limit of documents.
fn constrained_objects<'a>(
    contract: &'a Contract,
    value: &ModelValue,
    path: &str,
    found: &mut Vec<(&'a ClassConstraint, ObjectId, String)>,
) {
    match (contract, &value.kind) {
        (Contract::Rules(rules), _) => {
            let Some(object) = value.object() else {
                return;
            };
            for rule in rules {
                if let Rule::Class(constraint) | Rule::Template(constraint) = rule {
                    found.push((constraint, object, path.to_owned()));
                }
            }
        }
        (Contract::List { items, .. }, ValueKind::List(values)) => {
            for (at, value) in values.iter().enumerate() {
                if let Some(item) = items.get(at).or(items.last()) {
                    constrained_objects(item, value, &format!("{path}[{at}]"), found);
                }
            }
        }
        // A single value counts as a list of one.
        (Contract::List { items, .. }, _) => {
            if let Some(item) = items.first() {
                constrained_objects(item, value, path, found);
            }
        }
        (Contract::Map(keys), ValueKind::Map(entries)) => {
            for (name, value) in entries {
                let class_and_release = keys
                    .iter()
                    .find(|(key, _)| matches!(key, MapKey::Named(key) if key == name));
                let matching = || {
                    keys.iter()
                        .find(|(key, _)| matches!(key, MapKey::Matching(_)))
                };
                if let Some((_, contract)) = class_and_release.or_else(matching) {
                    constrained_objects(contract, value, &format!("{path}.{name}"), found);
                }
            }
        }
        (Contract::Map(_), _) => {}
    }
}
