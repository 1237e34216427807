//! Compares the classes of two releases by their index records.
//!
//! This is the comparison for ecosystems whose classes have no declarations that can be compared member by member:
//! plug-ins and modules of Ansible collections, types of OPC UA models. What their files declare is compared by
//! [`compare_declarations`](crate::compare_declarations). For class packages there is [`compare_apis`](crate::compare_apis).

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::diagnostic::Location;
use pkgres_manifest::{ClassName, Ecosystem, IndexRecord, IndexedClass};

use crate::api::define_rules;
use crate::single_parents::SingleParents;

define_rules! {
    /// A rule for one kind of difference between two releases of an ecosystem other than class packages.
    ///
    /// An id never changes its meaning. The page
    /// [compatibility elsewhere](https://pkgres.org/compatibility-elsewhere.html) of the guide has an example of each
    /// rule that has no counterpart for class packages.
    RecordRule;
    /// A class is gone. Whatever extends or uses it fails.
    ClassRemoved = "class-removed", Major, "a class was removed";
    /// A plug-in no longer documents an option, and no other option has its name as an alias. Ansible rejects tasks
    /// that set an option that the module does not have.
    OptionRemoved = "option-removed", Major, "an option was removed";
    /// An option no longer has one of its aliases. Tasks that use the alias set an option that the plug-in does not
    /// have.
    OptionAliasRemoved = "option-alias-removed", Major, "an alias of an option was removed";
    /// An option that needed no value before needs one now. Tasks without one fail.
    OptionBecameRequired = "option-became-required", Major, "an option needs a value now";
    /// A plug-in has a new option that needs a value. All existing tasks fail, because they have no value for it.
    RequiredOptionAdded = "required-option-added", Major, "an option that needs a value was added";
    /// An option no longer accepts a value that was among its choices. Tasks with this value fail.
    OptionChoiceRemoved = "option-choice-removed", Major, "a choice of an option was removed";
    /// Objects of a type must now have an additional member: the type declares it with the modelling rule `Mandatory`, or
    /// inherits it. Objects of other models, and servers that provide the type, lack the member.
    MandatoryMemberAdded = "mandatory-member-added", Major, "a mandatory member was added to a type";
    /// A class lost an ancestor. Its objects can no longer be used where objects of the ancestor are expected.
    /// Index records have no members, so a person has to decide whether a dependant relies on the ancestor.
    AncestorLost = "ancestor-lost", Review, "a class lost an ancestor";
    /// The class with this id has a new name, so the id may now belong to a different class.
    ClassRenamed = "class-renamed", Review, "a class was renamed";
    /// The type of the values of an option changed. Ansible converts many values from one type to another, so a
    /// person has to decide whether every value that was accepted before still is, and means the same.
    OptionTypeChanged = "option-type-changed", Review, "the type of an option changed";
    /// The default of an option changed. Tasks that do not set it behave differently, and a person has to decide
    /// whether that matters.
    OptionDefaultChanged = "option-default-changed", Review, "the default of an option changed";
    /// A type no longer guarantees that its objects have a member. Clients that read the member must be able to
    /// work without it.
    MandatoryMemberLost = "mandatory-member-lost", Review, "a member of a type is no longer mandatory";
    /// There is a new class.
    ClassAdded = "class-added", Minor, "a class was added";
    /// A plug-in has a new option that needs no value.
    OptionAdded = "option-added", Minor, "an option was added";
}

/// A difference between the classes of two index records.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordDifference {
    /// The rule.
    pub rule: RecordRule,
    /// The class that differs.
    pub class: ClassName,
    /// The difference in a sentence.
    pub message: String,
    /// If an option differs: the tasks that this concerns.
    pub tasks: Option<ConcernedTasks>,
    /// The place in the old release, if it is known.
    pub old: Option<Location>,
    /// The place in the new release, if it is known.
    pub new: Option<Location>,
}

/// The tasks that a difference of an option concerns.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConcernedTasks {
    /// The names under which tasks set the option, or else the option of the plug-in that has it in its value.
    pub options: Vec<String>,
    /// Whether those are concerned that set one of these; otherwise, those that set none.
    pub set_it: bool,
}

/// Sorts differences: those with the gravest impact first, then by rule and class.
pub(crate) fn sort_differences(differences: &mut [RecordDifference]) {
    differences.sort_by(|one, two| {
        let key = |it: &RecordDifference| (std::cmp::Reverse(it.rule.impact()), it.rule);
        key(one)
            .cmp(&key(two))
            .then_with(|| one.class.cmp(&two.class))
    });
}

/// Compares the classes that two releases define for others, those with the gravest impact first. `None` if the classes
/// of one are unknown.
///
/// `inherits` says whether classes inherit from what they extend: types do, modules that import each other do not.
///
/// ```
/// use pkgres_checks::{RecordRule, compare_records};
/// use pkgres_manifest::IndexRecord;
///
/// let read = |line| IndexRecord::parse_line(line, &Default::default()).expect("a record");
/// let old = read(r#"{"name":"a.B","version":"1.0.0","classes":{"a.C":{},"a.D":{}}}"#);
/// let new = read(r#"{"name":"a.B","version":"1.1.0","classes":{"a.C":{}}}"#);
/// let differences = compare_records(&old, &new, true).expect("the classes are known");
/// assert_eq!(differences[0].rule, RecordRule::ClassRemoved);
/// ```
pub fn compare_records(
    old: &IndexRecord,
    new: &IndexRecord,
    inherits: bool,
) -> Option<Vec<RecordDifference>> {
    let (before, after) = (Classes::of(old)?, Classes::of(new)?);
    let ancestry = inherits.then(|| RecordAncestors::of(&after));
    let mut found = Vec::new();
    let mut add = |rule, class: &ClassName, message| {
        found.push(RecordDifference {
            rule,
            class: class.clone(),
            message,
            tasks: None,
            old: None,
            new: None,
        });
    };
    for name in before.exported() {
        let shown = before.shown(name);
        let Some(class) = after.by_name.get(name).filter(|class| !class.internal) else {
            let message = format!("{shown} is no longer defined");
            add(RecordRule::ClassRemoved, name, message);
            continue;
        };
        let labels = (old.label(name), new.label(name));
        if let (Some(one), Some(other)) = labels
            && one != other
        {
            let message = format!("{shown} was renamed to `{other}`");
            add(RecordRule::ClassRenamed, &class.name, message);
        }
        if let Some(ancestry) = &ancestry {
            // What an ancestor of this package lost is reported there, and ancestors that are gone are, too.
            let lost = before.by_name[name].extends.iter();
            let above = LazyCell::new(|| ancestry.above(class));
            for parent in lost.filter(|parent| !above.has(parent)) {
                let first_name = old.ecosystem.first_name(parent);
                let parent = before.shown(first_name.as_ref().unwrap_or(parent));
                let message = format!("{shown} no longer extends {parent}");
                add(RecordRule::AncestorLost, name, message);
            }
        }
    }
    for name in after.exported() {
        let is_known = before
            .by_name
            .get(name)
            .is_some_and(|class| !class.internal);
        if !is_known {
            let message = format!("{} is new", after.shown(name));
            add(RecordRule::ClassAdded, name, message);
        }
    }
    drop_aliases(&mut found, old.ecosystem);
    sort_differences(&mut found);
    Some(found)
}

/// Drops differences of second names, such as `X(ObjectType)`, that the class `X` has itself.
fn drop_aliases(found: &mut Vec<RecordDifference>, ecosystem: &dyn Ecosystem) {
    let known: BTreeSet<(RecordRule, String)> = found
        .iter()
        .map(|it| (it.rule, it.class.to_string()))
        .collect();
    found.retain(|it| {
        let first = ecosystem.first_name(&it.class);
        first.is_none_or(|first| !known.contains(&(it.rule, first.to_string())))
    });
}

/// The name of a class without its kind: `X` of `X(ObjectType)`.
pub(crate) fn name_without_kind(class: &ClassName) -> &str {
    let name = class.as_str();
    let stripped = name.strip_suffix(')');
    let class = stripped.and_then(|stripped| stripped.rsplit_once('('));
    class.map_or(name, |(class, _)| class)
}

/// The classes of a record.
struct Classes<'record> {
    record: &'record IndexRecord,
    by_name: BTreeMap<&'record ClassName, &'record IndexedClass>,
}

impl<'record> Classes<'record> {
    fn of(record: &'record IndexRecord) -> Option<Self> {
        let classes = record.classes.as_ref()?.iter();
        let by_name = classes.map(|class| (&class.name, class)).collect();
        Some(Self { record, by_name })
    }

    fn exported(&self) -> impl Iterator<Item = &'record ClassName> {
        let classes = self.by_name.values().filter(|class| !class.internal);
        classes.map(|class| &class.name)
    }

    /// A class as people know it.
    fn shown(&self, name: &ClassName) -> String {
        match self.record.label(name) {
            Some(label) => format!("`{label}` ({name})"),
            None => format!("`{name}`"),
        }
    }
}

/// The ancestors of the classes of a record, as far as the record has them.
struct RecordAncestors<'classes, 'record> {
    classes: &'classes Classes<'record>,
    trees: SingleParents<&'record ClassName>,
}

impl<'classes, 'record> RecordAncestors<'classes, 'record> {
    fn of(classes: &'classes Classes<'record>) -> Self {
        let parent = |name: &ClassName| match &*classes.by_name.get(name)?.extends {
            [parent] => Some(parent),
            _ => None,
        };
        let trees = SingleParents::new(classes.by_name.keys().copied(), parent);
        Self { classes, trees }
    }

    /// What is above a class. Above the root of a tree, which can have several parents, is walked once.
    fn above(&self, class: &'record IndexedClass) -> Above<'_, 'record> {
        let (mut names, mut roots) = (BTreeSet::new(), BTreeSet::new());
        let mut open: Vec<&'record ClassName> = class.extends.iter().collect();
        while let Some(name) = open.pop() {
            #[cfg(test)]
            tests::count_step();
            if names.insert(name)
                && let Some(root) = self.trees.root(name)
                && roots.insert(root)
            {
                open.extend(&self.classes.by_name[root].extends);
            }
        }
        let places = names.iter().filter_map(|name| self.trees.place(name));
        Above {
            places: places.collect(),
            names,
            trees: &self.trees,
        }
    }
}

/// The proper ancestors of a class: some names, and all that these are below in their trees.
struct Above<'trees, 'record> {
    names: BTreeSet<&'record ClassName>,
    /// Where the names are in the trees.
    places: BTreeSet<usize>,
    trees: &'trees SingleParents<&'record ClassName>,
}

impl Above<'_, '_> {
    fn has(&self, ancestor: &ClassName) -> bool {
        let below = self.trees.range(&ancestor);
        self.names.contains(ancestor)
            || below.is_some_and(|below| self.places.range(below).next().is_some())
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::fmt::Write as _;

    use pkgres_manifest::Limits;

    use super::*;
    use crate::api::Impact;

    thread_local! {
        static STEPS: Cell<usize> = const { Cell::new(0) };
    }

    pub(super) fn count_step() {
        STEPS.set(STEPS.get() + 1);
    }

    /// How many steps it takes to compare two releases with a chain of classes, the second of which has another class
    /// between each two.
    fn steps(length: usize) -> usize {
        let (mut old, mut new) = (String::from("{"), String::from("{"));
        for at in 0..length {
            let above = at + 1;
            write!(old, r#""a.X{at}":{{"extends":["a.X{above}"]}},"#).expect("a string");
            write!(
                new,
                r#""a.X{at}":{{"extends":["a.Y{at}"]}},"a.Y{at}":{{"extends":["a.X{above}"]}},"#
            )
            .expect("a string");
        }
        for classes in [&mut old, &mut new] {
            write!(classes, r#""a.X{length}":{{"extends":["b.Z"]}}}}"#).expect("a string");
        }
        STEPS.set(0);
        let found = differences(&old, &new, true);
        assert_eq!(found.len(), length, "the new classes");
        assert_eq!(differences(&new, &old, true).len(), 2 * length);
        STEPS.get()
    }

    #[test]
    fn the_steps_grow_with_the_length_of_a_chain() {
        let (few, many) = (steps(100), steps(1_000));
        assert!(many <= 11 * few, "{few}, then {many}");
    }

    #[test]
    fn the_steps_grow_with_the_number_of_parents() {
        let steps = |count: usize| {
            let class = |others: &str| {
                let parents: Vec<String> = (0..count)
                    .flat_map(|at| [format!(r#""b.X{at}""#), format!(r#""{others}.X{at}""#)])
                    .collect();
                format!(r#"{{"a.X":{{"extends":[{}]}}}}"#, parents.join(","))
            };
            STEPS.set(0);
            let found = differences(&class("c"), &class("d"), true);
            assert_eq!(found.len(), count, "what is lost");
            STEPS.get()
        };
        let (few, many) = (steps(100), steps(1_000));
        assert!(many <= 11 * few, "{few}, then {many}");
    }

    /// A record with classes.
    fn record(classes: &str) -> IndexRecord {
        let line = format!(r#"{{"name":"a.B","version":"1.0.0","classes":{classes}}}"#);
        IndexRecord::parse_line(&line, &Limits::default()).expect("the test writes records")
    }

    /// A record with the class `a.X`, which only the release sees.
    fn hidden() -> IndexRecord {
        let shown = record(r#"{"a.X":{}}"#).classes.expect("they are known");
        let mut record = record("{}");
        let class = IndexedClass {
            internal: true,
            ..shown[0].clone()
        };
        record.classes = Some(vec![class].into());
        record
    }

    fn differences(old: &str, new: &str, inherits: bool) -> Vec<String> {
        let found = compare_records(&record(old), &record(new), inherits);
        let found = found.expect("the classes are known");
        let line = |it: RecordDifference| format!("{}: {}", it.rule, it.message);
        found.into_iter().map(line).collect()
    }

    #[test]
    fn a_parent_that_is_farther_away_is_not_lost() {
        let old = r#"{"a.X":{"extends":["a.Y","b.Z"]},"a.Y":{}}"#;
        let new =
            r#"{"a.X":{"extends":["a.W"]},"a.W":{"extends":["a.Y"]},"a.Y":{"extends":["b.Z"]}}"#;
        assert_eq!(differences(old, new, true), ["class-added: `a.W` is new"]);
        assert_eq!(
            differences(new, old, true),
            [
                "class-removed: `a.W` is no longer defined",
                "ancestor-lost: `a.X` no longer extends `a.W`",
                "ancestor-lost: `a.Y` no longer extends `b.Z`",
            ]
        );
        assert_eq!(
            differences(new, old, false),
            ["class-removed: `a.W` is no longer defined"]
        );
    }

    #[test]
    fn classes_that_only_the_release_sees_are_not_compared() {
        let rules = |old: &IndexRecord, new: &IndexRecord| {
            let found = compare_records(old, new, true).expect("the classes are known");
            found.iter().map(|it| it.rule).collect::<Vec<_>>()
        };
        let (none, shown) = (record("{}"), record(r#"{"a.X":{}}"#));
        assert_eq!(rules(&hidden(), &none), []);
        assert_eq!(rules(&none, &hidden()), []);
        assert_eq!(rules(&shown, &hidden()), [RecordRule::ClassRemoved]);
        assert_eq!(rules(&hidden(), &shown), [RecordRule::ClassAdded]);
        let mut unknown = record("{}");
        unknown.classes = None;
        assert_eq!(compare_records(&unknown, &none, true), None);
    }

    #[test]
    fn another_name_for_an_id_is_a_difference() {
        let (mut old, mut new) = (record(r#"{"a.X":{}}"#), record(r#"{"a.X":{}}"#));
        let name = old.classes.as_ref().expect("they are known")[0]
            .name
            .clone();
        old.labels = vec![(name.clone(), "1:Pump".into())].into();
        new.labels = vec![(name, "1:Motor".into())].into();
        let found = compare_records(&old, &new, true).expect("the classes are known");
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].message, "`1:Pump` (a.X) was renamed to `1:Motor`");
        assert_eq!(found[0].rule.impact(), Impact::Review);
    }
}
