//! Rule: a member of a type became mandatory, or is no longer mandatory.

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::diagnostic::{Escaped, Location};
use pkgres_manifest::{ClassName, DeclaredType};

use crate::record_differences::{RecordDifference, RecordRule};
use crate::single_parents::SingleParents;

type Types = BTreeMap<ClassName, DeclaredType>;

/// A mandatory member of a type: the type that declares it, and its place.
type Mandatory<'types> = (&'types ClassName, &'types Location);

/// Compares the mandatory members of the types that both releases have, inherited ones included. A type that inherits a
/// difference is counted where it is reported for the type that declares it.
pub(super) fn compare(old: &Types, new: &Types, found: &mut Vec<RecordDifference>) {
    for (rule, from, to) in [
        (RecordRule::MandatoryMemberAdded, old, new),
        (RecordRule::MandatoryMemberLost, new, old),
    ] {
        for ((owner, path), added) in added(from, to) {
            // A type that is not in both releases, or had the member before, is not the one that differs.
            let class = if added.is_at_owner {
                owner
            } else {
                added.first
            };
            let inheriting = added.count - 1;
            found.push(difference(
                rule,
                new,
                (class, path, inheriting),
                added.place,
            ));
        }
    }
}

/// A mandatory member that types have in one release only.
struct Added<'types> {
    place: &'types Location,
    /// How many types have it only there.
    count: usize,
    /// The first of them that do not inherit it from one of them.
    first: &'types ClassName,
    /// Whether the type that declares it is one of them.
    is_at_owner: bool,
}

/// By the class that declares a member, and its path: what types of both releases have only in `to`.
type AllAdded<'types> = BTreeMap<(&'types ClassName, &'types str), Added<'types>>;

/// The mandatory members that types of both releases have in `to`, but not in `from`.
///
/// A walk over the ancestors of each type would take time with the square of the depth of a chain. So types with the
/// same only parent in both releases are visited after it, with what they inherit: each declaration of a member changes
/// the counts of a whole branch. Only from the roots of such trees, the ancestors are walked.
fn added<'types>(from: &'types Types, to: &'types Types) -> AllAdded<'types> {
    let in_both = to.keys().filter(|name| from.contains_key(*name));
    let parent = |name: &'types ClassName| match (&*from[name].extends, &*to[name].extends) {
        ([one], [other]) if one == other => Some(other),
        _ => None,
    };
    let trees = SingleParents::new(in_both, parent);
    let mut all: AllAdded<'types> = BTreeMap::new();
    let mut inherited = Inherited::default();
    for (name, place, end, is_root) in trees.preorder() {
        inherited.leave(place);
        let size = end - place;
        let (known, declared) = if is_root {
            (mandatory_of(from, name), mandatory_of(to, name))
        } else {
            (declared_by(from, name), declared_by(to, name))
        };
        inherited.enter(end);
        for path in known.keys() {
            if let Some(State::Added(owner)) = inherited.set(path, State::Known)
                && let Some(added) = all.get_mut(&(owner, *path))
            {
                added.count -= size;
            }
        }
        for (path, (owner, place)) in declared {
            match inherited.states.get(path) {
                Some(State::Known) => continue,
                Some(State::Added(farther)) => {
                    if let Some(added) = all.get_mut(&(*farther, path)) {
                        added.count -= size;
                    }
                }
                None => {}
            }
            inherited.set(path, State::Added(owner));
            let added = all.entry((owner, path)).or_insert(Added {
                place,
                count: 0,
                first: name,
                is_at_owner: false,
            });
            added.count += size;
            added.first = added.first.min(name);
            added.is_at_owner |= owner == name;
        }
    }
    all.retain(|_, added| added.count > 0);
    all
}

/// What is known of a mandatory member at a type.
#[derive(Debug, Clone, Copy)]
enum State<'types> {
    /// The type has it in `from`.
    Known,
    /// It has it only in `to`, from this type.
    Added(&'types ClassName),
}

/// A path with the state that it has outside of a branch.
type Changed<'types> = (&'types str, Option<State<'types>>);

/// The members of the type that is visited, by path.
#[derive(Default)]
struct Inherited<'types> {
    states: BTreeMap<&'types str, State<'types>>,
    /// For each branch that the visit is in: where it ends, and the states outside of it that are different.
    branches: Vec<(usize, Vec<Changed<'types>>)>,
}

impl<'types> Inherited<'types> {
    /// Restores what was known outside of the branches that end here.
    fn leave(&mut self, place: usize) {
        while self.branches.last().is_some_and(|(end, _)| *end <= place) {
            let changed = self.branches.pop().map(|(_, changed)| changed);
            for (path, state) in changed.unwrap_or_default().into_iter().rev() {
                match state {
                    Some(state) => self.states.insert(path, state),
                    None => self.states.remove(path),
                };
            }
        }
    }

    fn enter(&mut self, end: usize) {
        self.branches.push((end, Vec::new()));
    }

    /// Sets a state for the branch, and returns the one before.
    fn set(&mut self, path: &'types str, state: State<'types>) -> Option<State<'types>> {
        let before = self.states.insert(path, state);
        if let Some((_, changed)) = self.branches.last_mut() {
            changed.push((path, before));
        }
        before
    }
}

/// The mandatory members that a type declares, by path.
fn declared_by<'types>(
    types: &'types Types,
    name: &'types ClassName,
) -> BTreeMap<&'types str, Mandatory<'types>> {
    let declared = types.get(name).into_iter();
    let members = declared.flat_map(|declared| &declared.mandatory);
    members
        .map(|(path, place)| (path.as_str(), (name, place)))
        .collect()
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
        #[cfg(test)]
        tests::count_step();
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
    use std::cell::Cell;

    use super::*;
    use crate::compare_declarations;
    use crate::declarations::testing::place;
    use pkgres_manifest::Declarations;

    thread_local! {
        static STEPS: Cell<usize> = const { Cell::new(0) };
    }

    pub(super) fn count_step() {
        STEPS.set(STEPS.get() + 1);
    }

    /// How many types are walked over to compare two releases with a chain of types.
    fn steps(length: usize) -> usize {
        let names: Vec<String> = (0..=length).map(|at| format!("a.X{at}")).collect();
        let parents: Vec<[&str; 1]> = names[1..].iter().map(|name| [name.as_str()]).collect();
        let chain = |top: &'static [&'static str]| {
            let mut chain: Vec<(&str, &[&str], &[&str])> = Vec::new();
            for at in 0..length {
                chain.push((&names[at], &parents[at], &["Own"]));
            }
            chain.push((&names[length], &[], top));
            types(&chain)
        };
        let (old, new) = (chain(&["Name"]), chain(&["Name", "Speed"]));
        STEPS.set(0);
        let [added, lost] = both_ways(&old, &new);
        assert_eq!((added.len(), lost.len()), (1, 1));
        let inheriting = format!("; {length} other types inherit it");
        assert!(added[0].ends_with(&inheriting), "{added:?}");
        STEPS.get()
    }

    #[test]
    fn the_steps_grow_with_the_length_of_a_chain() {
        let (few, many) = (steps(100), steps(1_000));
        assert!(many <= 11 * few, "{few}, then {many}");
    }

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
