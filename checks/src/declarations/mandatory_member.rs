//! Rule: a member of a type became mandatory, or is no longer mandatory.

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::diagnostic::{Escaped, Location};
use pkgres_manifest::{ClassName, DeclaredType};

use crate::record_differences::{RecordDifference, RecordRule};

type Types = BTreeMap<ClassName, DeclaredType>;

/// A mandatory member of a type: the type that declares it, and its place.
type Mandatory<'types> = (&'types ClassName, &'types Location);

/// Compares the mandatory members of the types that both releases have, inherited ones included. A type that inherits a
/// difference is counted where it is reported for the type that declares it.
pub(super) fn compare(old: &Types, new: &Types, found: &mut Vec<RecordDifference>) {
    let in_both = || new.keys().filter(|name| old.contains_key(*name));
    for (rule, from, to) in [
        (RecordRule::MandatoryMemberAdded, old, new),
        (RecordRule::MandatoryMemberLost, new, old),
    ] {
        // By the class that declares the member, and its path: the types that have it only there.
        let mut only: BTreeMap<(&ClassName, &str), (&Location, Vec<&ClassName>)> = BTreeMap::new();
        for name in in_both() {
            let known = mandatory_of(from, name);
            for (path, (owner, place)) in mandatory_of(to, name) {
                if !known.contains_key(path) {
                    let entry = only.entry((owner, path));
                    entry.or_insert_with(|| (place, Vec::new())).1.push(name);
                }
            }
        }
        for ((owner, path), (place, names)) in only {
            // A type that is not in both releases, or had the member before, is not the one that differs.
            let (class, inheriting) = if names.contains(&owner) {
                (owner, names.len() - 1)
            } else {
                (names[0], names.len() - 1)
            };
            found.push(difference(rule, new, (class, path, inheriting), place));
        }
    }
}

fn difference(
    rule: RecordRule,
    types: &Types,
    (class, path, inheriting): (&ClassName, &str, usize),
    place: &Location,
) -> RecordDifference {
    let shown = match types.get(class).and_then(|one| one.label.as_ref()) {
        Some(label) => format!("`{}` ({class})", Escaped::shortened(label)),
        None => format!("`{class}`"),
    };
    let path = Escaped::shortened(path);
    let message = match rule {
        RecordRule::MandatoryMemberAdded => {
            format!("{shown} has the new mandatory member `{path}`")
        }
        _ => format!("the member `{path}` of {shown} is no longer mandatory"),
    };
    let inherited = match inheriting {
        0 => String::new(),
        1 => "; another type inherits it".to_owned(),
        count => format!("; {count} other types inherit it"),
    };
    let is_added = rule == RecordRule::MandatoryMemberAdded;
    RecordDifference {
        rule,
        class: class.clone(),
        message: message + &inherited,
        tasks: None,
        old: (!is_added).then(|| place.clone()),
        new: is_added.then(|| place.clone()),
    }
}

/// The mandatory members of a type and of its ancestors, as far as the release has them, by path.
fn mandatory_of<'types>(
    types: &'types Types,
    name: &'types ClassName,
) -> BTreeMap<&'types str, Mandatory<'types>> {
    let mut found: BTreeMap<&str, Mandatory<'_>> = BTreeMap::new();
    let mut seen = BTreeSet::from([name]);
    let mut open = vec![name];
    while let Some(name) = open.pop() {
        let Some(declared) = types.get(name) else {
            continue;
        };
        for (path, place) in &declared.mandatory {
            found.entry(path).or_insert((name, place));
        }
        open.extend(
            declared
                .extends
                .iter()
                .filter(|parent| seen.insert(*parent)),
        );
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare_declarations;
    use crate::declarations::testing::place;
    use pkgres_manifest::Declarations;

    /// Types by name, each with the types that it extends and its mandatory members.
    fn types(types: &[(&str, &[&str], &[&str])]) -> Declarations {
        let class = |name: &str| ClassName::parse(name).expect("a name");
        let types = types.iter().map(|(name, extends, mandatory)| {
            let declared = DeclaredType {
                label: None,
                extends: extends.iter().map(|parent| class(parent)).collect(),
                mandatory: mandatory
                    .iter()
                    .map(|path| ((*path).to_owned(), place()))
                    .collect(),
                location: place(),
            };
            (class(name), declared)
        });
        Declarations {
            types: types.collect(),
            ..Declarations::default()
        }
    }

    fn both_ways(one: &Declarations, two: &Declarations) -> [Vec<String>; 2] {
        let lines = |old, new| {
            let found = compare_declarations(old, new).into_iter();
            found
                .map(|it| format!("{}: {}", it.rule.impact(), it.message))
                .collect()
        };
        [lines(one, two), lines(two, one)]
    }

    #[test]
    fn a_new_member_is_one_of_every_type_below() {
        let old = types(&[("a.Base", &[], &["Name"]), ("a.Pump", &["a.Base"], &[])]);
        let new = types(&[
            ("a.Base", &[], &["Name", "Motor/Speed"]),
            ("a.Pump", &["a.Base"], &[]),
        ]);
        assert_eq!(
            both_ways(&old, &new),
            [
                [
                    "major: `a.Base` has the new mandatory member `Motor/Speed`; another type inherits it"
                ],
                [
                    "review: the member `Motor/Speed` of `a.Base` is no longer mandatory; another type inherits it"
                ],
            ]
        );
    }

    #[test]
    fn a_member_that_moved_to_an_ancestor_is_no_difference() {
        let old = types(&[("a.Base", &[], &[]), ("a.Pump", &["a.Base"], &["Speed"])]);
        let new = types(&[("a.Base", &[], &["Speed"]), ("a.Pump", &["a.Base"], &[])]);
        assert_eq!(
            both_ways(&old, &new),
            [
                ["major: `a.Base` has the new mandatory member `Speed`"],
                ["review: the member `Speed` of `a.Base` is no longer mandatory"],
            ]
        );
    }

    #[test]
    fn another_parent_brings_its_members() {
        let old = types(&[("a.Base", &[], &["Speed"]), ("a.Pump", &[], &[])]);
        let new = types(&[("a.Base", &[], &["Speed"]), ("a.Pump", &["a.Base"], &[])]);
        assert_eq!(
            both_ways(&old, &new)[0],
            ["major: `a.Pump` has the new mandatory member `Speed`"]
        );
        // A type that only one release has is no type that lost or got members.
        let without = types(&[("a.Base", &[], &["Speed"])]);
        assert!(both_ways(&without, &new)[0].is_empty());
    }
}
