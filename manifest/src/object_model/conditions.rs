//! Conditions on values that also depend on versions, and the places of values.

use super::{Exclusions, ModelValue, ObjectId};
use crate::class_file::ClassConstraint;
use crate::diagnostic::Location;
use crate::name::ClassName;

/// The place of a value in a model.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContractPlace {
    /// The object that has the property.
    pub holder: ObjectId,
    /// The property, with positions in lists and keys of mappings.
    pub path: String,
}

/// An object that has to be of a class.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConstrainedObject<'a> {
    /// The class and its versions.
    pub constraint: &'a ClassConstraint,
    /// The object.
    pub object: ObjectId,
    /// The property that holds it, with positions in lists and keys of mappings.
    pub path: String,
}

/// A mapping that is an object of the class that the contract names, because it names none itself.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DescribedObject<'a> {
    /// The class and its versions.
    pub constraint: &'a ClassConstraint,
    /// The properties of the object.
    pub properties: &'a [(String, ModelValue)],
    /// The property that holds it, with positions in lists and keys of mappings.
    pub path: String,
    /// Its place.
    pub location: &'a Location,
    /// The values in it that are not checked.
    pub exclusions: Exclusions,
}

/// A mapping that describes an object by another contract, and has to be of a class by this one.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConstrainedDescription<'a> {
    /// The class and its versions.
    pub constraint: &'a ClassConstraint,
    /// The place of the mapping: that of a [`DescribedObject`], if some contract describes one there.
    pub described: &'a Location,
    /// The property that holds it, with positions in lists and keys of mappings.
    pub path: String,
}

/// A class that a contract names. The engine looks it up for every value, also for null.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NamedClass<'a> {
    /// The class.
    pub class: &'a ClassName,
    /// The property, with positions in lists and keys of mappings.
    pub path: String,
}

/// An object with the properties that are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PropertyHolder<'a> {
    /// The object of the model that it is, or is written in.
    pub object: ObjectId,
    /// Its path in that object; empty for that object itself.
    pub path: &'a str,
    /// The mapping that describes it, unless it is that object itself.
    pub described: Option<&'a Location>,
}
