//! Rule: the default of an option changed.

use pkgres_manifest::diagnostic::Escaped;

use super::{Both, OptionLevel, names_of};
use crate::record_differences::{RecordDifference, RecordRule};

/// Compares the defaults of an option that tasks can leave out, before and after.
pub(super) fn compare(level: &OptionLevel<'_>, both: &Both<'_>, found: &mut Vec<RecordDifference>) {
    let (old, new) = (&both.old.default, &both.new.default);
    if both.old.is_required || both.new.is_required || old == new {
        return;
    }
    let shown = |default: &Option<String>| match default {
        Some(default) => format!("`{}`", Escaped::shortened(default)),
        None => "nothing".to_owned(),
    };
    let message = format!(
        "the default of the option {} is {} instead of {}",
        level.shown(&both.old.name),
        shown(new),
        shown(old)
    );
    let places = (Some(&both.old.location), Some(&both.new.location));
    found.push(level.difference(
        RecordRule::OptionDefaultChanged,
        message,
        names_of(both.old),
        places,
    ));
}

#[cfg(test)]
mod tests {
    use pkgres_manifest::DeclaredOption;

    use crate::declarations::testing::{both_ways, option, required};

    fn default(default: Option<&str>) -> [DeclaredOption; 1] {
        let mut option = option("port");
        option.default = default.map(str::to_owned);
        [option]
    }

    #[test]
    fn another_default_is_to_review() {
        assert_eq!(
            both_ways(&default(Some("80")), &default(None)),
            [
                vec![
                    "review: the default of the option `port` of `a.b` is nothing instead of `80`"
                ],
                vec![
                    "review: the default of the option `port` of `a.b` is `80` instead of nothing"
                ],
            ]
        );
        assert!(both_ways(&default(Some("80")), &default(Some("80")))[0].is_empty());
    }

    #[test]
    fn the_default_of_an_option_that_needs_a_value_has_no_meaning() {
        let [found, _] = both_ways(&default(Some("80")), &[required("port")]);
        assert_eq!(
            found,
            ["major: the option `port` of `a.b` needs a value now"]
        );
    }
}
