//! Rule: an option is new.

use super::{OptionLevel, names_of};
use crate::record_differences::{RecordDifference, RecordRule};

/// Finds options that no option of the old release has a name of.
pub(super) fn compare(level: &OptionLevel<'_>, found: &mut Vec<RecordDifference>) {
    for new in level.new.all {
        let mut names = new.aliases.iter().chain([&new.name]);
        if names.any(|name| level.old.get(name).is_some()) {
            continue;
        }
        let shown = level.shown(&new.name);
        let (rule, message) = if new.is_required {
            let message = format!("the option {shown} was added, and needs a value");
            (RecordRule::RequiredOptionAdded, message)
        } else {
            let message = format!("the option {shown} was added");
            (RecordRule::OptionAdded, message)
        };
        found.push(level.difference(rule, message, names_of(new), (None, Some(&new.location))));
    }
}

#[cfg(test)]
mod tests {
    use crate::declarations::testing::{both_ways, option, required};

    #[test]
    fn an_option_that_needs_a_value_breaks_tasks_that_have_none() {
        assert_eq!(
            both_ways(&[], &[option("port"), required("host")]),
            [
                vec![
                    "major: the option `host` of `a.b` was added, and needs a value",
                    "minor: the option `port` of `a.b` was added",
                ],
                vec![
                    "major: the option `port` of `a.b` was removed",
                    "major: the option `host` of `a.b` was removed",
                ],
            ]
        );
    }

    #[test]
    fn another_name_for_an_option_is_no_new_option() {
        let mut renamed = option("address");
        renamed.aliases = vec!["host".to_owned()];
        assert!(both_ways(&[option("host")], &[renamed])[0].is_empty());
    }
}
