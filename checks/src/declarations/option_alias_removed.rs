//! Rule: an option lost an alias.

use pkgres_manifest::diagnostic::Escaped;

use super::{Both, OptionLevel};
use crate::record_differences::{RecordDifference, RecordRule};

/// Finds aliases of an option that no option of the new release has as a name.
pub(super) fn compare(level: &OptionLevel<'_>, both: &Both<'_>, found: &mut Vec<RecordDifference>) {
    for alias in &both.old.aliases {
        if level.new.get(alias).is_some() {
            continue;
        }
        let shown = level.shown(&both.old.name);
        let named = Escaped::shortened(alias);
        let message = format!("the alias `{named}` of the option {shown} was removed");
        let places = (Some(&both.old.location), Some(&both.new.location));
        found.push(level.difference(
            RecordRule::OptionAliasRemoved,
            message,
            vec![alias.clone()],
            places,
        ));
    }
}

#[cfg(test)]
mod tests {
    use crate::declarations::testing::{both_ways, option};

    #[test]
    fn only_an_alias_that_is_gone_is_a_difference() {
        let mut aliased = option("host");
        aliased.aliases = vec!["name".to_owned(), "address".to_owned()];
        let mut fewer = option("host");
        fewer.aliases = vec!["address".to_owned()];
        assert_eq!(
            both_ways(&[aliased.clone()], &[fewer]),
            [
                vec!["major: the alias `name` of the option `host` of `a.b` was removed"],
                vec![],
            ]
        );
        // It is the name of an option of its own now, which has another meaning perhaps, but is accepted.
        let split = [option("host"), option("name"), option("address")];
        assert!(both_ways(&[aliased], &split)[0].is_empty());
    }
}
