//! Options and comparisons for the tests of the rules.

use std::collections::BTreeMap;

use pkgres_manifest::diagnostic::{Location, SourceText, Span};
use pkgres_manifest::{ClassName, ClassOptions, Declarations, DeclaredOption};

use super::compare_declarations;

/// Any place.
pub(super) fn place() -> Location {
    Location::new(&SourceText::new("x.py", ""), Span::default())
}

/// An option that needs no value.
pub(super) fn option(name: &str) -> DeclaredOption {
    DeclaredOption {
        name: name.to_owned(),
        aliases: Vec::new(),
        is_required: false,
        value_type: String::new(),
        choices: Vec::new(),
        default: None,
        suboptions: Vec::new(),
        location: place(),
    }
}

/// An option that needs a value.
pub(super) fn required(name: &str) -> DeclaredOption {
    DeclaredOption {
        is_required: true,
        ..option(name)
    }
}

/// The differences from one list of options to another, and back.
pub(super) fn both_ways(one: &[DeclaredOption], two: &[DeclaredOption]) -> [Vec<String>; 2] {
    [
        with_others(one, &[], two, &[]),
        with_others(two, &[], one, &[]),
    ]
}

/// The differences between options with those of other documents.
pub(super) fn with_others(
    old: &[DeclaredOption],
    old_others: &[&str],
    new: &[DeclaredOption],
    new_others: &[&str],
) -> Vec<String> {
    let declarations = |options: &[DeclaredOption], others: &[&str]| {
        let class = ClassName::parse("a.b").expect("a name");
        let options = ClassOptions {
            options: options.to_vec(),
            others: others.iter().map(|other| (*other).to_owned()).collect(),
        };
        Declarations {
            options: BTreeMap::from([(class, options)]),
            types: BTreeMap::new(),
        }
    };
    let (old, new) = (declarations(old, old_others), declarations(new, new_others));
    let found = compare_declarations(&old, &new).into_iter();
    found
        .map(|it| format!("{}: {}", it.rule.impact(), it.message))
        .collect()
}
