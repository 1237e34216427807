//! Rule: an option needs a value, and did not need one before.

use super::{Both, OptionLevel, names_of};
use crate::record_differences::{RecordDifference, RecordRule};

/// Finds out whether an option needs a value now.
pub(super) fn compare(level: &OptionLevel<'_>, both: &Both<'_>, found: &mut Vec<RecordDifference>) {
    if both.old.is_required || !both.new.is_required {
        return;
    }
    let message = format!(
        "the option {} needs a value now",
        level.shown(&both.old.name)
    );
    let places = (Some(&both.old.location), Some(&both.new.location));
    found.push(level.difference(
        RecordRule::OptionBecameRequired,
        message,
        names_of(both.old),
        places,
    ));
}

#[cfg(test)]
mod tests {
    use crate::declarations::testing::{both_ways, option, required};

    #[test]
    fn only_one_direction_breaks_tasks() {
        assert_eq!(
            both_ways(&[option("port")], &[required("port")]),
            [
                vec!["major: the option `port` of `a.b` needs a value now"],
                vec![]
            ]
        );
    }
}
