//! Collects the members of classes, inherited ones included, and checks whether the uses of members are valid.
//!
//! A class has the members that it declares and those of its ancestors; of two with one name, the nearest counts. A
//! method can be called in two spellings of one name: `initialize` and `.init`, `destroy` and `.destroy`.

mod call;
mod uses;

pub(crate) use call::{CallMismatch, Signature, rejects_null};
pub use uses::check_member_uses;
pub(crate) use uses::is_of_the_engine;

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::{ClassName, Method, Property, Release};

use crate::bound_packages::{BoundPackages, ClassAt};

/// The name of the method that initializes objects.
pub(crate) const INITIALIZER: &str = ".init";

/// A member with the class that declares it.
#[derive(Debug, Clone)]
pub(crate) struct Declared<'packages, Member> {
    pub(crate) member: &'packages Member,
    pub(crate) class: ClassAt,
}

/// The members of a class, inherited ones included.
#[derive(Default)]
pub(crate) struct EffectiveMembers<'packages> {
    /// The methods by their canonical names.
    pub(crate) methods: BTreeMap<&'packages str, Declared<'packages, Method>>,
    /// The properties by name.
    pub(crate) properties: BTreeMap<&'packages str, Declared<'packages, Property>>,
    /// Ancestors that are unknown, and whose members are missing here.
    pub(crate) unknown: BTreeSet<ClassName>,
    /// Whether bodies can call extension methods of other classes.
    pub(crate) has_imports: bool,
}

impl<'packages> EffectiveMembers<'packages> {
    /// The members of a class.
    pub(crate) fn of(packages: &'packages BoundPackages, class: &ClassAt) -> Self {
        Self::of_ancestors(packages, class, |_| true)
    }

    /// The members that a class has from classes of other releases.
    pub(crate) fn of_other_releases(packages: &'packages BoundPackages, class: &ClassAt) -> Self {
        Self::of_ancestors(packages, class, |at| at.release != class.release)
    }

    /// The members of those of a class and its ancestors that `counts` is true for.
    fn of_ancestors(
        packages: &'packages BoundPackages,
        class: &ClassAt,
        counts: impl Fn(&ClassAt) -> bool,
    ) -> Self {
        let mut ancestry = packages.known_ancestry(class);
        if let Some(root) = &packages.root_class {
            // The root class has no members, so it can be missing.
            ancestry.unknown.remove(root);
        }
        let mut members = Self {
            unknown: ancestry.unknown,
            ..Self::default()
        };
        for (at, definition) in ancestry.known.iter().filter(|(at, _)| counts(at)) {
            for method in &definition.methods {
                let name = canonical_name(&method.name.value);
                members.methods.entry(name).or_insert_with(|| Declared {
                    member: method,
                    class: at.clone(),
                });
            }
            for property in &definition.properties {
                let name = property.name.value.as_str();
                members.properties.entry(name).or_insert_with(|| Declared {
                    member: property,
                    class: at.clone(),
                });
            }
        }
        let own = ancestry.known.first();
        members.has_imports = own.is_some_and(|(_, definition)| !definition.imports.is_empty());
        members
    }

    /// The method that a name means.
    pub(crate) fn method(&self, name: &str) -> Option<&'packages Method> {
        let declared = self.methods.get(canonical_name(name))?;
        Some(declared.member)
    }
}

/// The properties of a class, inherited ones included.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ClassProperties<'packages> {
    /// The properties by name.
    pub properties: BTreeMap<&'packages str, &'packages Property>,
    /// Whether all ancestors of the class are known; otherwise it may have other properties, too.
    pub is_complete: bool,
}

/// A method, and the class that declares it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DeclaredMethod<'packages> {
    /// The release of the class.
    pub release: Release,
    /// The class.
    pub class: ClassName,
    /// The method.
    pub method: &'packages Method,
}

impl BoundPackages {
    /// Returns the properties of the class that a name means in a release.
    pub fn properties_of(&self, release: &Release, class: &ClassName) -> ClassProperties<'_> {
        let Some(at) = self.lookup(release, class) else {
            return ClassProperties::default();
        };
        let members = EffectiveMembers::of(self, &at);
        let properties = members.properties.into_iter();
        ClassProperties {
            properties: properties.map(|(name, it)| (name, it.member)).collect(),
            is_complete: members.unknown.is_empty(),
        }
    }

    /// Resolves the name of a class in a release, and returns its method with this name: its own, or the method of its
    /// nearest ancestor.
    pub fn method_of(
        &self,
        release: &Release,
        class: &ClassName,
        method: &str,
    ) -> Option<DeclaredMethod<'_>> {
        let at = self.lookup(release, class)?;
        let mut members = EffectiveMembers::of(self, &at);
        let declared = members.methods.remove(canonical_name(method))?;
        Some(DeclaredMethod {
            release: declared.class.release,
            class: declared.class.class,
            method: declared.member,
        })
    }
}

/// The one spelling of the names of a method.
pub(crate) fn canonical_name(name: &str) -> &str {
    match name {
        "initialize" => INITIALIZER,
        "destroy" => ".destroy",
        _ => name,
    }
}

/// The spelling of the name of a method that a call can have.
pub(crate) fn callable_name(name: &str) -> &str {
    match name {
        INITIALIZER => "initialize",
        ".destroy" => "destroy",
        _ => name,
    }
}

/// Whether a member is private by convention, so that other packages should not use it.
pub(crate) fn is_private(name: &str) -> bool {
    name.starts_with('_')
}

/// Whether the values of a property are given when an object is created.
pub(crate) fn is_input(property: &Property) -> bool {
    matches!(property.usage.value.as_str(), "In" | "InOut" | "Const")
}

/// Whether an object cannot be created without a value of the property. `None` if only the deployment engine can
/// tell.
pub(crate) fn is_required(property: &Property) -> Option<bool> {
    if !is_input(property) || property.has_default {
        return Some(false);
    }
    rejects_null(&property.contract.value)
}
