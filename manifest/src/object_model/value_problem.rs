//! What can be wrong with a value by itself.

use std::fmt;

use crate::class_file::Literal;
use crate::diagnostic::{Location, counted};
use crate::name::ClassName;

/// A value that violates a contract by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ValueViolation {
    /// The property, with positions in lists and keys of mappings.
    pub path: String,
    /// The problem with the value.
    pub problem: ValueProblem,
    /// The place of the value; `None` if there is none.
    pub location: Option<Location>,
}

/// A problem with a value. Its text continues "`port` of the object `web` …".
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ValueProblem {
    /// There is no value, and no default value.
    Absent,
    /// The value is null.
    Null,
    /// The value is not text.
    NotText,
    /// The value is not this scalar.
    NotEqual(Literal),
    /// The key of the value is not an integer.
    KeyNotInt,
    /// The value is no object.
    NoObject,
    /// The value is not an integer.
    NotInt,
    /// The value is not true or false.
    NotBool,
    /// The value is not a mapping.
    NotMapping,
    /// The list has fewer items.
    TooFewItems(u64),
    /// The list has more items.
    TooManyItems(u64),
    /// The value is no object; it has to be one of this class.
    NotObject(ClassName),
    /// The value does not describe an object; it has to describe one of this class.
    NotTemplate(ClassName),
    /// There is no value, and the default has a problem.
    Default(Box<ValueProblem>),
    /// The object is written elsewhere.
    NotOwned,
    /// The object is written inside the object with the property.
    Owned,
}

impl fmt::Display for ValueProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => formatter.write_str("must be there"),
            Self::Null => formatter.write_str("must not be null"),
            Self::NotText => formatter.write_str("must be text"),
            Self::NotEqual(value) => write!(formatter, "must be {value}"),
            Self::KeyNotInt => formatter.write_str("must have an integer as its key"),
            Self::NoObject => formatter.write_str("must be an object"),
            Self::NotInt => formatter.write_str("must be an integer"),
            Self::NotBool => formatter.write_str("must be true or false"),
            Self::NotMapping => formatter.write_str("must be a mapping"),
            Self::TooFewItems(minimum) => {
                write!(formatter, "must have at least {}", items(*minimum))
            }
            Self::TooManyItems(maximum) => {
                write!(formatter, "must have at most {}", items(*maximum))
            }
            Self::NotObject(class) => write!(formatter, "must be an object of class `{class}`"),
            Self::NotTemplate(class) => {
                write!(formatter, "must describe an object of class `{class}`")
            }
            Self::Default(problem) if **problem == Self::Absent => {
                formatter.write_str("must be part of the default")
            }
            Self::Default(problem) => write!(formatter, "has a default that {problem}"),
            Self::NotOwned => formatter.write_str("must be written inside the object"),
            Self::Owned => formatter.write_str("must belong to another object"),
        }
    }
}

/// A number of items in words.
fn items(count: u64) -> String {
    counted(usize::try_from(count).unwrap_or(usize::MAX), "item")
}
