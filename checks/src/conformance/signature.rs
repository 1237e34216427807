//! Signatures: checks whether a method accepts every call that an interface allows.
//!
//! The arguments of the interface come first, in its order and with its names. The method can have more, with defaults.
//! The method may lack arguments if it accepts further values both by position and by name.

use std::fmt;

use pkgres_manifest::diagnostic::Escaped;
use pkgres_manifest::{Argument, ArgumentUsage};

/// A difference between the signatures of an interface and a method that makes some call wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SignatureDifference {
    /// The method has no such argument.
    Missing(String),
    /// At the place of an argument, counted from one, the method has another one.
    Differs {
        /// The place.
        place: usize,
        /// The argument of the interface.
        expected: String,
        /// The argument of the method.
        found: String,
    },
    /// The argument has a default in the interface, and none in the method.
    Required(String),
    /// The method needs an argument that the interface does not have.
    Added(String),
    /// The interface takes further values by position, which the method does not, or assigns to an argument.
    NoVarArgs,
    /// The interface takes further values by name, and the method does not.
    NoKwArgs,
}

impl fmt::Display for SignatureDifference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(name) => {
                write!(
                    formatter,
                    "it has no argument `{}`",
                    Escaped::shortened(name)
                )
            }
            Self::Differs {
                place,
                expected,
                found,
            } => write!(
                formatter,
                "argument {place} is `{}`, not `{}`",
                Escaped::shortened(found),
                Escaped::shortened(expected)
            ),
            Self::Required(name) => write!(
                formatter,
                "the argument `{}` has no default",
                Escaped::shortened(name)
            ),
            Self::Added(name) => write!(
                formatter,
                "it needs the argument `{}`, which the interface does not have",
                Escaped::shortened(name)
            ),
            Self::NoVarArgs => formatter.write_str("it does not take further values by position"),
            Self::NoKwArgs => formatter.write_str("it does not take further values by name"),
        }
    }
}

/// The result of comparing two signatures.
#[derive(Debug, Default)]
pub(crate) struct Comparison {
    pub(crate) differences: Vec<SignatureDifference>,
    pub(crate) notes: Vec<String>,
}

/// Compares the arguments that an interface has with those that a method has.
pub(crate) fn compare(wanted: &[Argument], own: &[Argument]) -> Comparison {
    let mut comparison = Comparison::default();
    let differences = &mut comparison.differences;
    let expected = standard(wanted);
    let found = standard(own);
    let takes = |arguments: &[Argument], usage| arguments.iter().any(|it| it.usage == usage);
    let [var_args, kw_args] = [ArgumentUsage::VarArgs, ArgumentUsage::KwArgs];
    let takes_all = takes(own, kw_args) && takes(own, var_args);
    for (at, argument) in expected.iter().enumerate() {
        let name = &argument.name.value;
        match found.get(at) {
            Some(same) if same.name.value == *name => {
                if argument.has_default && !same.has_default {
                    differences.push(SignatureDifference::Required(name.clone()));
                }
                comparison.notes.extend(notes(argument, same));
            }
            Some(other) => differences.push(SignatureDifference::Differs {
                place: at + 1,
                expected: name.clone(),
                found: other.name.value.clone(),
            }),
            None if takes_all => {}
            None => differences.push(SignatureDifference::Missing(name.clone())),
        }
    }
    let added = found.iter().skip(expected.len());
    for argument in added.filter(|argument| !argument.has_default) {
        differences.push(SignatureDifference::Added(argument.name.value.clone()));
    }
    if takes(wanted, var_args) && (!takes(own, var_args) || found.len() > expected.len()) {
        differences.push(SignatureDifference::NoVarArgs);
    }
    if takes(wanted, kw_args) && !takes(own, kw_args) {
        differences.push(SignatureDifference::NoKwArgs);
    }
    comparison
}

fn standard(arguments: &[Argument]) -> Vec<&Argument> {
    let standard = arguments.iter();
    standard
        .filter(|argument| argument.usage == ArgumentUsage::Standard)
        .collect()
}

/// What differs between two arguments of one name that only the deployment engine could judge.
fn notes(expected: &Argument, found: &Argument) -> Vec<String> {
    let mut notes = Vec::new();
    let name = Escaped::shortened(&expected.name.value);
    if let (Some(default), Some(own)) = (&expected.default, &found.default)
        && default != own
    {
        let [default, own] = [default, own].map(|text| Escaped::shortened(text).to_string());
        notes.push(format!("the default of `{name}` is {own}, not {default}"));
    }
    if expected.contract.value != found.contract.value {
        notes.push(format!("the contract of `{name}` differs"));
    }
    notes
}
