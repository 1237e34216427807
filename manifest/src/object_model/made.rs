//! What a contract makes of a value: the functions of a contract convert it.

use super::{Exclusions, ModelValue, ObjectId, UntypedPlace, ValueKind};
use crate::class_file::{Literal, Rule};
use crate::diagnostic::Location;

/// A value after a contract, and its place in the model.
#[derive(Debug)]
pub(super) struct MadeValue<'a> {
    pub(super) made: Made<'a>,
    /// `None` if the model has no value.
    pub(super) location: Option<&'a Location>,
}

/// A value after a contract.
#[derive(Debug)]
pub(super) enum Made<'a> {
    /// Only the engine knows it, or the contract does not accept it.
    Unknown,
    Null,
    /// The value is not kept if it was converted.
    Bool(Option<bool>),
    Integer(Option<&'a str>),
    /// A number that is not an integer.
    Fraction(&'a str),
    Text(Option<&'a str>),
    /// An object of the model.
    Object(ObjectId),
    /// An object that a mapping at a place describes.
    Described {
        place: &'a Location,
        /// Whether it is written inside the holder of the property.
        is_owned: bool,
    },
    List(Vec<MadeValue<'a>>),
    Map(Vec<(&'a str, MadeValue<'a>)>),
    /// An object that no contract reads as one.
    Mapping,
}

impl Made<'_> {
    /// Whether the value equals a scalar, or may do so.
    pub(super) fn may_equal(&self, expected: &Literal) -> bool {
        match (self, expected) {
            (Self::Unknown, _)
            | (Self::Null, Literal::Null)
            | (Self::Bool(None), Literal::Bool(_))
            | (Self::Integer(None), Literal::Number(_))
            | (Self::Text(None), Literal::Text(_)) => true,
            (Self::Bool(Some(value)), Literal::Bool(expected)) => value == expected,
            (Self::Integer(Some(value)) | Self::Fraction(value), Literal::Number(expected)) => {
                value == expected || value.parse::<f64>() == expected.parse()
            }
            (Self::Text(Some(value)), Literal::Text(expected)) => value == expected,
            _ => false,
        }
    }
}

/// A value that no function converts.
pub(super) fn unchanged<'a>(value: &'a ModelValue, exclusions: &Exclusions) -> MadeValue<'a> {
    let made = match &value.kind {
        _ if exclusions.is_everything() => Made::Unknown,
        ValueKind::Null => Made::Null,
        ValueKind::Bool(value) => Made::Bool(Some(*value)),
        ValueKind::Number(text) if is_whole_number(text) => Made::Integer(Some(text)),
        ValueKind::Number(text) => Made::Fraction(text),
        ValueKind::Text(text) => Made::Text(Some(text)),
        // The id of an object is text.
        ValueKind::Reference(_) | ValueKind::UntypedReference(_) => Made::Text(None),
        ValueKind::List(values) => {
            let (values, exclusions) = (values.iter(), exclusions.of_items());
            Made::List(values.map(|value| unchanged(value, &exclusions)).collect())
        }
        ValueKind::Map(entries) => {
            let entries = entries.iter().map(|(name, value)| {
                let value = unchanged(value, &exclusions.of(name));
                (name.as_str(), value)
            });
            Made::Map(entries.collect())
        }
        ValueKind::Object(_) | ValueKind::Repeated(_) | ValueKind::Untyped(_) => Made::Mapping,
    };
    MadeValue {
        made,
        location: Some(&value.location),
    }
}

/// A value that functions converted. `is_owned` says whether an object without `type` belongs to the holder.
pub(super) fn made_by(
    became: Became,
    value: &ModelValue,
    is_owned: impl Fn(&UntypedPlace) -> bool,
) -> Made<'_> {
    match (became, &value.kind) {
        (_, ValueKind::Null) => Made::Null,
        (Became::Nothing, _) => unchanged(value, &Exclusions::default()).made,
        (Became::Text, ValueKind::Text(text)) => Made::Text(Some(text)),
        (Became::Text, _) => Made::Text(None),
        (Became::Number, ValueKind::Number(text)) if is_whole_number(text) => {
            Made::Integer(Some(text))
        }
        (Became::Number, _) => Made::Integer(None),
        (Became::Bool, ValueKind::Bool(value)) => Made::Bool(Some(*value)),
        (Became::Bool, _) => Made::Bool(None),
        (
            Became::Object,
            ValueKind::Object(object) | ValueKind::Reference(object) | ValueKind::Repeated(object),
        ) => Made::Object(*object),
        (Became::Object, ValueKind::UntypedReference(place)) => Made::Described {
            place: &place.location,
            is_owned: is_owned(place),
        },
        (Became::Object, _) => Made::Described {
            place: &value.location,
            is_owned: true,
        },
    }
}

/// The type that a value has after some rules of a contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Became {
    /// It is as written.
    Nothing,
    /// Text.
    Text,
    /// An integer.
    Number,
    /// True or false.
    Bool,
    /// An object.
    Object,
}

impl Became {
    pub(super) fn by(self, rule: &Rule) -> Self {
        match rule {
            Rule::String => Self::Text,
            Rule::Int => Self::Number,
            Rule::Bool => Self::Bool,
            _ => self,
        }
    }

    pub(super) fn may_be_object(self) -> bool {
        matches!(self, Self::Nothing | Self::Text | Self::Object)
    }
}

/// Whether a string is an integer, of any length.
pub fn is_whole_number(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether the engine reads a string as an integer: spaces around it and single `_` between digits are fine.
pub(super) fn is_python_int(text: &str) -> bool {
    let text = text.trim();
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    (digits.split('_')).all(|part| !part.is_empty() && part.bytes().all(|it| it.is_ascii_digit()))
}
