//! Rule: the values of an option have another type.

use pkgres_manifest::diagnostic::Escaped;

use super::{Both, OptionLevel, names_of};
use crate::record_differences::{RecordDifference, RecordRule};

/// The type of values that are not converted, so that every value is accepted.
const RAW: &str = "raw";

/// Compares the types of an option, as far as both releases state one.
pub(super) fn compare(level: &OptionLevel<'_>, both: &Both<'_>, found: &mut Vec<RecordDifference>) {
    let (old, new) = (&both.old.value_type, &both.new.value_type);
    if old.is_empty() || new.is_empty() || spelling(old) == spelling(new) || new == RAW {
        return;
    }
    let message = format!(
        "the option {} has the type `{}` instead of `{}`",
        level.shown(&both.old.name),
        Escaped::shortened(new),
        Escaped::shortened(old)
    );
    let places = (Some(&both.old.location), Some(&both.new.location));
    found.push(level.difference(
        RecordRule::OptionTypeChanged,
        message,
        names_of(both.old),
        places,
    ));
}

/// The one spelling of types that have several.
fn spelling(value_type: &str) -> &str {
    match value_type {
        "boolean" => "bool",
        "integer" => "int",
        "string" => "str",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use pkgres_manifest::DeclaredOption;

    use crate::declarations::testing::{both_ways, option};

    fn of_type(value_type: &str) -> [DeclaredOption; 1] {
        let mut option = option("port");
        value_type.clone_into(&mut option.value_type);
        [option]
    }

    #[test]
    fn another_type_is_to_review() {
        assert_eq!(
            both_ways(&of_type("list"), &of_type("list of str")),
            [
                vec![
                    "review: the option `port` of `a.b` has the type `list of str` instead of `list`"
                ],
                vec![
                    "review: the option `port` of `a.b` has the type `list` instead of `list of str`"
                ],
            ]
        );
    }

    #[test]
    fn types_that_accept_as_much_are_no_difference() {
        assert!(both_ways(&of_type("boolean"), &of_type("bool"))[0].is_empty());
        assert!(both_ways(&of_type("int"), &of_type(""))[0].is_empty());
        let [to_raw, from_raw] = both_ways(&of_type("int"), &of_type("raw"));
        assert_eq!((to_raw.len(), from_raw.len()), (0, 1));
    }
}
