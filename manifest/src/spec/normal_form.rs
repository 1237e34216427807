//! The one spelling that all specs with the same versions share.

use super::set::{VersionSet, least, next_major, next_minor};
use crate::version::Version;

/// The normal form of a set that was read from a spec: at most two bounds, and one `!=` clause for each gap, as wide as
/// possible.
///
/// The gaps between the intervals of such a set are the versions of `!=` clauses. Two of these are disjoint,
/// or one contains the other, so the normal form needs no more clauses for them than the spec had, and no
/// longer ones. The gaps of any other set could need one clause for each of 2^64 versions, which is why sets
/// themselves cannot be written.
pub(super) fn normal_form(set: &VersionSet) -> String {
    let intervals = set.intervals();
    let (Some(first), Some(last)) = (intervals.first(), intervals.last()) else {
        return "<0.0.0-0".to_owned();
    };
    if intervals.len() == 1 && first.from.successor() == first.until {
        return first.from.to_string();
    }
    let mut clauses = Vec::new();
    if let Some(exclusive) = exclusive_lower_bound(&first.from) {
        clauses.push(format!(">{exclusive}"));
    } else if first.from != least() || *set == VersionSet::all() {
        clauses.push(format!(">={}", first.from));
    }
    if let Some(until) = &last.until {
        clauses.push(if begins_triple(until) {
            format!("<{}.{}.{}", until.major(), until.minor(), until.patch())
        } else {
            format!("<{until}")
        });
    }
    for pair in intervals.windows(2) {
        let hole = pair[0]
            .until
            .clone()
            .expect("only the last interval has no end");
        write_hole(&mut clauses, hole, &pair[1].from);
    }
    clauses.join(",")
}

/// Whether this is `X.Y.Z-0`, the least version of a triple.
fn begins_triple(version: &Version) -> bool {
    version.prerelease() == "0"
}

/// `1.2.3` for `1.2.4-0`, which is the least version above 1.2.3.
fn exclusive_lower_bound(from: &Version) -> Option<Version> {
    (begins_triple(from) && from.patch() > 0)
        .then(|| Version::new(from.major(), from.minor(), from.patch() - 1))
}

/// Writes a gap between two intervals as `!=` clauses, the widest first.
fn write_hole(clauses: &mut Vec<String>, mut from: Version, until: &Version) {
    while from < *until {
        let (major, minor, patch) = (from.major(), from.minor(), from.patch());
        let mut forms = Vec::with_capacity(3);
        if begins_triple(&from) {
            if minor == 0 && patch == 0 {
                forms.push((format!("!={major}"), next_major(major)));
            }
            if patch == 0 {
                forms.push((format!("!={major}.{minor}"), next_minor(major, minor)));
            }
            forms.push((
                format!("!={major}.{minor}.{patch}"),
                Version::new(major, minor, patch).successor(),
            ));
        }
        let widest = forms.into_iter().find_map(|(clause, next)| {
            next.filter(|next| next <= until).map(|next| (clause, next))
        });
        let (clause, next) = widest.unwrap_or_else(|| {
            let next = from.successor().expect("`until` is above");
            (format!("!={from}"), next)
        });
        clauses.push(clause);
        from = next;
    }
}
