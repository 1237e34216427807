//! Compares the declarations of classes in two releases: the options of plug-ins, and the mandatory members of types.
//!
//! Each rule is a module. Options are compared level by level: the options of a plug-in, then those in the values of each
//! option that is in both releases.

mod mandatory_member;
mod option_added;
mod option_alias_removed;
mod option_became_required;
mod option_choice_removed;
mod option_default_changed;
mod option_removed;
mod option_type_changed;
#[cfg(test)]
mod testing;

use std::collections::BTreeMap;

use pkgres_manifest::diagnostic::{Escaped, Location};
use pkgres_manifest::{ClassName, Declarations, DeclaredOption};

use crate::record_differences::{ConcernedTasks, RecordDifference, RecordRule, sort_differences};

/// Compares what the classes of two releases declare, those with the gravest impact first. Classes of which only one
/// release has declarations are not compared.
///
/// ```
/// use pkgres_checks::compare_declarations;
/// use pkgres_manifest::Declarations;
///
/// let nothing = Declarations::default();
/// assert!(compare_declarations(&nothing, &nothing).is_empty());
/// ```
pub fn compare_declarations(old: &Declarations, new: &Declarations) -> Vec<RecordDifference> {
    let mut found = Vec::new();
    for (class, before) in &old.options {
        let Some(after) = new.options.get(class) else {
            continue;
        };
        let first = OptionLevel {
            class,
            path: String::new(),
            outermost: Vec::new(),
            old: NamedOptions::new(&before.options),
            new: NamedOptions::new(&after.options),
            // A document that is new and of another collection may have what is missing.
            is_complete: after.others.is_subset(&before.others),
        };
        let mut open = vec![first];
        while let Some(level) = open.pop() {
            level.compare(&mut found);
            open.extend(level.below());
        }
    }
    mandatory_member::compare(&old.types, &new.types, &mut found);
    sort_differences(&mut found);
    found
}

/// Options of a class that are declared in one place: those of the class, or those in the values of an option.
struct OptionLevel<'releases> {
    class: &'releases ClassName,
    /// The option that they are in, with a dot behind it; empty for those of the class.
    path: String,
    /// The names of the option of the class that they are in; empty for those of the class.
    outermost: Vec<String>,
    old: NamedOptions<'releases>,
    new: NamedOptions<'releases>,
    /// Whether all options of the new release are known.
    is_complete: bool,
}

/// The options that a release declares in one place.
struct NamedOptions<'release> {
    all: &'release [DeclaredOption],
    by_name: BTreeMap<&'release str, &'release DeclaredOption>,
}

impl<'release> NamedOptions<'release> {
    fn new(all: &'release [DeclaredOption]) -> Self {
        let mut by_name = BTreeMap::new();
        for option in all {
            by_name.entry(option.name.as_str()).or_insert(option);
        }
        for option in all {
            for alias in &option.aliases {
                by_name.entry(alias.as_str()).or_insert(option);
            }
        }
        Self { all, by_name }
    }

    /// The option with a name, or else the first one with an alias of that name.
    fn get(&self, name: &str) -> Option<&'release DeclaredOption> {
        self.by_name.get(name).copied()
    }
}

/// An option that both releases have.
struct Both<'releases> {
    old: &'releases DeclaredOption,
    new: &'releases DeclaredOption,
}

impl<'releases> OptionLevel<'releases> {
    /// Applies each rule.
    fn compare(&self, found: &mut Vec<RecordDifference>) {
        option_removed::compare(self, found);
        option_added::compare(self, found);
        for both in self.both() {
            option_alias_removed::compare(self, &both, found);
            option_became_required::compare(self, &both, found);
            option_choice_removed::compare(self, &both, found);
            option_type_changed::compare(self, &both, found);
            option_default_changed::compare(self, &both, found);
        }
    }

    /// The options of the old release that the new one has under the same name, or under an alias with that name.
    fn both(&self) -> impl Iterator<Item = Both<'releases>> {
        self.old.all.iter().filter_map(|old| {
            let new = self.new.get(&old.name)?;
            Some(Both { old, new })
        })
    }

    /// The options in the values of options that both releases have. Those that a release does not describe are unknown.
    fn below(&self) -> Vec<OptionLevel<'releases>> {
        let both = self.both();
        let described = both.filter(|both| !both.new.suboptions.is_empty());
        described
            .map(|both| OptionLevel {
                class: self.class,
                path: format!("{}{}.", self.path, both.old.name),
                outermost: if self.outermost.is_empty() {
                    names_of(both.old)
                } else {
                    self.outermost.clone()
                },
                old: NamedOptions::new(&both.old.suboptions),
                new: NamedOptions::new(&both.new.suboptions),
                is_complete: self.is_complete,
            })
            .collect()
    }

    /// An option in messages.
    fn shown(&self, name: &str) -> String {
        let path = format!("{}{name}", self.path);
        format!("`{}` of `{}`", Escaped::shortened(&path), self.class)
    }

    fn difference(
        &self,
        rule: RecordRule,
        message: String,
        names: Vec<String>,
        places: (Option<&Location>, Option<&Location>),
    ) -> RecordDifference {
        RecordDifference {
            rule,
            class: self.class.clone(),
            message,
            tasks: Some(if self.outermost.is_empty() {
                let set_it = !matches!(
                    rule,
                    RecordRule::OptionBecameRequired
                        | RecordRule::RequiredOptionAdded
                        | RecordRule::OptionDefaultChanged
                );
                ConcernedTasks {
                    options: names,
                    set_it,
                }
            } else {
                ConcernedTasks {
                    options: self.outermost.clone(),
                    set_it: true,
                }
            }),
            old: places.0.cloned(),
            new: places.1.cloned(),
        }
    }
}

/// The names under which tasks set an option.
fn names_of(option: &DeclaredOption) -> Vec<String> {
    let names = std::iter::once(&option.name).chain(&option.aliases);
    names.cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::testing::{both_ways, option};

    /// If each were looked for among all others, this would take minutes.
    #[test]
    fn many_options_and_choices_are_compared() {
        let count = 50_000;
        let many = |prefix: &str| {
            let mut options: Vec<_> = (0..count)
                .map(|at| option(&format!("{prefix}{at}")))
                .collect();
            options[0].name = "state".to_owned();
            options[0].choices = (0..count).map(|at| format!("{prefix}{at}")).collect();
            options
        };
        let found = both_ways(&many("a"), &many("b"));
        assert_eq!(found.map(|found| found.len()), [2 * count - 1; 2]);
    }
}
