//! Declarations of classes in ecosystems other than class packages, for comparisons of two releases.
//!
//! Index records list the classes. The files of a release have more: the options of a plug-in, and the members that
//! every object of a type has.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::Location;
use crate::name::ClassName;

/// The declarations of the classes of a release, as far as it has any that are known.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Declarations {
    /// The options of classes that document them.
    pub options: BTreeMap<ClassName, ClassOptions>,
    /// The types.
    pub types: BTreeMap<ClassName, DeclaredType>,
}

/// The options of a class.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ClassOptions {
    /// The options, in the order of the documentation.
    pub options: Vec<DeclaredOption>,
    /// The names of other documents that it takes options from and that are not part of the release.
    pub others: BTreeSet<String>,
}

/// An option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredOption {
    /// The name.
    pub name: String,
    /// The other names.
    pub aliases: Vec<String>,
    /// Whether it needs a value.
    pub is_required: bool,
    /// The type of its values, such as `list of str`; empty if none is stated.
    pub value_type: String,
    /// The values that it can have; empty if it can have any.
    pub choices: Vec<String>,
    /// The value that it has without one.
    pub default: Option<String>,
    /// The options in its values.
    pub suboptions: Vec<DeclaredOption>,
    /// The place of its name.
    pub location: Location,
}

/// A type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredType {
    /// Its label for people, if its name is an id.
    pub label: Option<String>,
    /// The types that it extends.
    pub extends: Vec<ClassName>,
    /// The members that every object of the type has, without inherited ones, by their paths, such as `Motor/Speed`.
    pub mandatory: BTreeMap<String, Location>,
    /// The place of its name.
    pub location: Location,
}

/// The options of a class that a file, or the tasks of a class, set where they use it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SetOptions {
    /// Those that are set somewhere.
    pub somewhere: BTreeSet<String>,
    /// Those that are set everywhere.
    pub everywhere: BTreeSet<String>,
}
