//! Rule: an option was removed.

use super::{OptionLevel, names_of};
use crate::record_differences::{RecordDifference, RecordRule};

/// Finds options whose names no option of the new release has.
pub(super) fn compare(level: &OptionLevel<'_>, found: &mut Vec<RecordDifference>) {
    if !level.is_complete {
        return;
    }
    for old in level.old.all {
        if level.new.get(&old.name).is_some() {
            continue;
        }
        let message = format!("the option {} was removed", level.shown(&old.name));
        let places = (Some(&old.location), None);
        found.push(level.difference(RecordRule::OptionRemoved, message, names_of(old), places));
    }
}

#[cfg(test)]
mod tests {
    use crate::declarations::testing::{both_ways, option, with_others};

    #[test]
    fn an_option_without_a_counterpart_is_removed() {
        let (one, two) = ([option("port")], [option("port"), option("host")]);
        assert_eq!(
            both_ways(&one, &two),
            [
                vec!["minor: the option `host` of `a.b` was added"],
                vec!["major: the option `host` of `a.b` was removed"],
            ]
        );
    }

    #[test]
    fn a_name_that_became_an_alias_is_still_there() {
        let mut renamed = option("address");
        renamed.aliases = vec!["host".to_owned()];
        assert_eq!(
            both_ways(&[option("host")], &[renamed]),
            [
                vec![],
                vec!["major: the option `address` of `a.b` was removed"],
            ]
        );
    }

    #[test]
    fn options_in_values_are_compared_if_both_releases_describe_them() {
        let rules = |names: &[&str]| {
            let mut rules = option("rules");
            rules.suboptions = names.iter().map(|name| option(name)).collect();
            [rules]
        };
        assert_eq!(
            both_ways(&rules(&["from", "to"]), &rules(&["from"])),
            [
                vec!["major: the option `rules.to` of `a.b` was removed"],
                vec!["minor: the option `rules.to` of `a.b` was added"],
            ]
        );
        let nothing: Vec<&str> = Vec::new();
        assert_eq!(both_ways(&rules(&["from"]), &rules(&[]))[0], nothing);
    }

    #[test]
    fn a_new_document_of_another_collection_may_have_it() {
        let options = [option("port")];
        let nothing: Vec<String> = Vec::new();
        assert_eq!(with_others(&options, &[], &[], &["acme.net.tcp"]), nothing);
        let known = ["acme.net.tcp"];
        assert_eq!(with_others(&options, &known, &[], &known).len(), 1);
    }
}
