//! Rule: an option no longer accepts one of its values.

use std::collections::BTreeSet;

use pkgres_manifest::diagnostic::Escaped;

use super::{Both, OptionLevel, names_of};
use crate::record_differences::{RecordDifference, RecordRule};

/// Finds choices that are gone. An option that has no choices any more accepts any value.
pub(super) fn compare(level: &OptionLevel<'_>, both: &Both<'_>, found: &mut Vec<RecordDifference>) {
    if both.new.choices.is_empty() {
        return;
    }
    let accepted: BTreeSet<&String> = both.new.choices.iter().collect();
    let gone = both.old.choices.iter();
    let gone = gone.filter(|choice| !accepted.contains(choice));
    let gone: Vec<String> = gone
        .map(|choice| format!("`{}`", Escaped::shortened(choice)))
        .collect();
    if gone.is_empty() {
        return;
    }
    let shown = level.shown(&both.old.name);
    let message = format!("the option {shown} no longer accepts {}", gone.join(", "));
    let places = (Some(&both.old.location), Some(&both.new.location));
    found.push(level.difference(
        RecordRule::OptionChoiceRemoved,
        message,
        names_of(both.old),
        places,
    ));
}

#[cfg(test)]
mod tests {
    use pkgres_manifest::DeclaredOption;

    use crate::declarations::testing::{both_ways, option};

    fn choices(choices: &[&str]) -> [DeclaredOption; 1] {
        let mut option = option("state");
        option.choices = choices.iter().map(|choice| (*choice).to_owned()).collect();
        [option]
    }

    #[test]
    fn choices_that_are_gone_break_tasks_that_have_them() {
        assert_eq!(
            both_ways(
                &choices(&["present", "absent", "latest"]),
                &choices(&["present"])
            ),
            [
                vec!["major: the option `state` of `a.b` no longer accepts `absent`, `latest`"],
                vec![],
            ]
        );
    }

    #[test]
    fn without_choices_every_value_is_accepted() {
        assert!(both_ways(&choices(&["present"]), &choices(&[]))[0].is_empty());
    }
}
