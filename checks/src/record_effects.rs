//! Finds out what another version of a required release changes for a project, in ecosystems other than class packages.
//!
//! Records say which classes a project needs and uses, but not which members it has or which options its tasks set;
//! these may be known from its files. Without them, only a removed class breaks the project for certain; every other
//! difference of a class that it relies on has to be reviewed.

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::{ClassName, IndexRecord, IndexedClass, SetOptions};

use crate::api::{Impact, Reliance};
use crate::record_differences::{ConcernedTasks, RecordDifference, RecordRule, name_without_kind};

/// A difference between two versions of a release that concerns a class of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordEffect {
    /// The difference.
    pub difference: RecordDifference,
    /// The class of the project.
    pub class: ClassName,
    /// The way in which the class relies on the one that differs.
    pub reliance: Reliance,
    /// The impact on the class: [major](Impact::Major) if the class that it relies on is gone, or if its tasks set an
    /// option that is gone or lack one that needs a value; otherwise to [review](Impact::Review).
    pub impact: Impact,
}

/// The classes that those of a project rely on.
#[derive(Debug, Clone, Default)]
pub struct RecordReliances {
    /// By the name of the class relied on, without its kind: the classes of the project, each with the closest way in
    /// which it relies on that.
    by_target: BTreeMap<String, BTreeMap<ClassName, Reliance>>,
    /// The options that tasks of a class of the project set of a class that they use, by both.
    options: BTreeMap<(ClassName, ClassName), SetOptions>,
}

/// Whether a difference concerns some of the tasks that set these options.
fn is_concerned(set: &SetOptions, tasks: &ConcernedTasks) -> bool {
    let mut options = tasks.options.iter();
    if tasks.set_it {
        options.any(|option| set.somewhere.contains(option))
    } else {
        !options.any(|option| set.everywhere.contains(option))
    }
}

impl RecordReliances {
    /// Collects what the classes of a project rely on. `others` are the releases through which they inherit, and
    /// `inherits` says whether classes inherit from what they extend: types do, modules that import each other do not.
    ///
    /// ```
    /// use pkgres_checks::{RecordReliances, compare_records};
    /// use pkgres_manifest::IndexRecord;
    ///
    /// let read = |line| IndexRecord::parse_line(line, &Default::default()).expect("a record");
    /// let project = read(r#"{"name":"c.D","version":"1.0.0","classes":{"c.E":{"extends":["a.X"]}}}"#);
    /// let old = read(r#"{"name":"a.B","version":"1.0.0","classes":{"a.X":{},"a.Y":{}}}"#);
    /// let new = read(r#"{"name":"a.B","version":"2.0.0","classes":{}}"#);
    /// let differences = compare_records(&old, &new, true).expect("the classes are known");
    /// assert_eq!(differences.len(), 2);
    /// let effects = RecordReliances::of(&project, [&old], true).effects(&differences);
    /// assert_eq!(effects.len(), 1);
    /// assert_eq!(effects[0].class.as_str(), "c.E");
    /// ```
    pub fn of<'record>(
        project: &'record IndexRecord,
        others: impl IntoIterator<Item = &'record IndexRecord>,
        inherits: bool,
    ) -> Self {
        let mut known: BTreeMap<&ClassName, &IndexedClass> = BTreeMap::new();
        if inherits {
            let others = others
                .into_iter()
                .filter_map(|record| record.classes.as_ref());
            for class in others.flat_map(|classes| classes.iter()) {
                known.entry(&class.name).or_insert(class);
            }
        }
        let own = project.classes.iter().flatten();
        known.extend(own.clone().map(|class| (&class.name, class)));
        let names: BTreeSet<&str> = own.clone().map(|class| class.name.as_str()).collect();
        // The second name of a class, with its kind, says nothing new.
        let own = own.filter(|class| {
            let name = name_without_kind(&class.name);
            name == class.name.as_str() || !names.contains(name)
        });
        let mut found = Self::default();
        let closest = if inherits {
            Reliance::Extends
        } else {
            Reliance::Needs
        };
        for class in own {
            let mut seen: BTreeSet<&ClassName> = BTreeSet::from([&class.name]);
            let mut open: Vec<(&ClassName, Reliance)> =
                class.extends.iter().map(|it| (it, closest)).collect();
            while let Some((target, reliance)) = open.pop() {
                if !seen.insert(target) {
                    continue;
                }
                found.add(target, &class.name, reliance);
                let parent = known.get(target).filter(|_| inherits);
                let farther = parent.into_iter().flat_map(|parent| &parent.extends);
                open.extend(farther.map(|it| (it, Reliance::Descends)));
            }
            for target in &class.uses {
                found.add(target, &class.name, Reliance::Names);
            }
        }
        found
    }

    /// States which options of a class that it uses a class of the project sets. Without it, any may be set.
    pub fn set_options(&mut self, class: &ClassName, target: &ClassName, options: SetOptions) {
        self.options
            .insert((class.clone(), target.clone()), options);
    }

    fn add(&mut self, target: &ClassName, class: &ClassName, reliance: Reliance) {
        let target = name_without_kind(target).to_owned();
        let classes = self.by_target.entry(target).or_default();
        let known = classes.entry(class.clone()).or_insert(reliance);
        if rank(reliance) < rank(*known) {
            *known = reliance;
        }
    }

    /// Whether a class of the project relies on one of a release. If the classes of the release are unknown, it may.
    pub fn are_on(&self, record: &IndexRecord) -> bool {
        let Some(classes) = &record.classes else {
            return !self.by_target.is_empty();
        };
        let mut classes = classes.iter();
        classes.any(|class| self.by_target.contains_key(name_without_kind(&class.name)))
    }

    /// The differences that concern the classes of the project, the gravest first. New classes and options concern none.
    pub fn effects(&self, differences: &[RecordDifference]) -> Vec<RecordEffect> {
        let mut effects: Vec<RecordEffect> = Vec::new();
        for difference in differences {
            if matches!(difference.rule.impact(), Impact::Minor | Impact::Patch) {
                continue;
            }
            let target = name_without_kind(&difference.class);
            let concerned = self.by_target.get(target).into_iter().flatten();
            for (class, reliance) in concerned {
                let mut reliance = *reliance;
                let mut is_certain = difference.rule == RecordRule::ClassRemoved;
                if let Some(tasks) = &difference.tasks
                    && let Some(options) =
                        self.options.get(&(class.clone(), difference.class.clone()))
                {
                    if !is_concerned(options, tasks) {
                        continue;
                    }
                    is_certain = matches!(
                        difference.rule,
                        RecordRule::OptionRemoved | RecordRule::OptionAliasRemoved
                    ) || !tasks.set_it && difference.rule.impact() == Impact::Major;
                    reliance = if tasks.set_it {
                        Reliance::Sets
                    } else {
                        Reliance::LeavesOut
                    };
                }
                effects.push(RecordEffect {
                    difference: difference.clone(),
                    class: class.clone(),
                    reliance,
                    impact: if is_certain {
                        Impact::Major
                    } else {
                        Impact::Review
                    },
                });
            }
        }
        effects.sort_by_key(|effect| std::cmp::Reverse(effect.impact));
        effects
    }
}

/// How far away what is relied on is.
fn rank(reliance: Reliance) -> u8 {
    match reliance {
        Reliance::Extends | Reliance::Needs => 0,
        Reliance::Descends => 1,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use pkgres_manifest::Limits;

    use super::*;
    use crate::compare_records;

    fn record(name: &str, classes: &str) -> IndexRecord {
        let line = format!(r#"{{"name":"{name}","version":"1.0.0","classes":{classes}}}"#);
        IndexRecord::parse_line(&line, &Limits::default()).expect("the test writes records")
    }

    /// The effects of a release that loses its classes on a project, through another release that stays.
    fn effects(project: &str, through: &str, lost: &str, inherits: bool) -> Vec<String> {
        let (project, through) = (record("p.P", project), record("t.T", through));
        let (old, new) = (record("a.A", lost), record("a.A", "{}"));
        let differences = compare_records(&old, &new, inherits).expect("the classes are known");
        let reliances = RecordReliances::of(&project, [&through, &old], inherits);
        let found = reliances.effects(&differences);
        assert_eq!(reliances.are_on(&old), !found.is_empty());
        let line = |it: &RecordEffect| {
            format!(
                "{}: {} {}: {}",
                it.impact,
                it.class,
                it.reliance.id(),
                it.difference.class
            )
        };
        found.iter().map(line).collect()
    }

    #[test]
    fn a_project_relies_on_what_it_extends_uses_and_inherits_from() {
        let project = r#"{"p.X":{"extends":["t.Y"],"uses":["a.U"]},"p.Z":{"extends":["a.V"],"uses":["a.V"]}}"#;
        let through = r#"{"t.Y":{"extends":["a.W"]}}"#;
        let lost = r#"{"a.U":{},"a.V":{},"a.W":{},"a.Other":{}}"#;
        assert_eq!(
            effects(project, through, lost, true),
            [
                "major: p.X names: a.U",
                "major: p.Z extends: a.V",
                "major: p.X descends: a.W",
            ]
        );
        assert_eq!(
            effects(project, through, lost, false),
            ["major: p.X names: a.U", "major: p.Z needs: a.V"]
        );
    }

    #[test]
    fn options_concern_the_tasks_that_set_them_or_do_not() {
        let tasks = |rule, option: &str, set_it| RecordDifference {
            rule,
            class: ClassName::parse("a.V").expect("a name"),
            message: option.to_owned(),
            tasks: Some(ConcernedTasks {
                options: vec![option.to_owned(), format!("other_{option}")],
                set_it,
            }),
            old: None,
            new: None,
        };
        let differences: Vec<RecordDifference> = ["none", "some", "other_all"]
            .into_iter()
            .flat_map(|option| {
                [
                    tasks(RecordRule::OptionRemoved, option, true),
                    tasks(RecordRule::OptionTypeChanged, option, true),
                    tasks(RecordRule::OptionBecameRequired, option, false),
                    tasks(RecordRule::OptionDefaultChanged, option, false),
                ]
            })
            .collect();
        let project = record("p.P", r#"{"p.X":{"uses":["a.V"]}}"#);
        let mut reliances = RecordReliances::of(&project, [], false);
        let found = reliances.effects(&differences);
        assert_eq!(found.len(), differences.len());
        assert!(found.iter().all(|it| it.impact == Impact::Review));
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let [class, target] = ["p.X", "a.V"].map(|name| ClassName::parse(name).expect("a name"));
        let options = SetOptions {
            somewhere: names(&["some", "other_all"]),
            everywhere: names(&["other_all"]),
        };
        reliances.set_options(&class, &target, options);
        let found = reliances.effects(&differences);
        let line = |it: &RecordEffect| {
            let difference = &it.difference;
            format!(
                "{} {} {}: {}",
                it.impact,
                it.reliance.id(),
                difference.rule,
                difference.message
            )
        };
        assert_eq!(
            found.iter().map(line).collect::<Vec<_>>(),
            [
                "major leaves-out option-became-required: none",
                "major sets option-removed: some",
                "major leaves-out option-became-required: some",
                "major sets option-removed: other_all",
                "review leaves-out option-default-changed: none",
                "review sets option-type-changed: some",
                "review leaves-out option-default-changed: some",
                "review sets option-type-changed: other_all",
            ]
        );
    }

    #[test]
    fn cycles_and_other_releases_concern_nobody() {
        let cycle = r#"{"t.Y":{"extends":["t.Z"]},"t.Z":{"extends":["t.Y"]}}"#;
        let project = r#"{"p.X":{"extends":["t.Y"]}}"#;
        assert_eq!(effects(project, cycle, r#"{"a.U":{}}"#, true), [""; 0]);
        assert_eq!(effects("{}", "{}", r#"{"a.U":{}}"#, true), [""; 0]);
    }

    #[test]
    fn new_classes_concern_nobody() {
        let (old, new) = (record("a.A", "{}"), record("a.A", r#"{"a.U":{}}"#));
        let differences = compare_records(&old, &new, true).expect("the classes are known");
        assert_eq!(differences.len(), 1);
        let project = record("p.P", r#"{"p.X":{"uses":["a.U"]}}"#);
        let reliances = RecordReliances::of(&project, [], true);
        assert_eq!(reliances.effects(&differences), []);
        // A release whose classes are unknown may have it.
        let mut unknown = record("a.A", "{}");
        unknown.classes = None;
        assert!(reliances.are_on(&unknown) && !reliances.are_on(&old));
    }
}
