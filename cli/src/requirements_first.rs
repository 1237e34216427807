//! The order in which releases are loaded or tested: requirements first.

use std::collections::BTreeSet;

/// Releases, each after those that it requires. In a cycle, the first one of `all` comes last.
pub(crate) fn requirements_first<'all, Release: Ord>(
    all: impl Iterator<Item = &'all Release>,
    required_by: impl Fn(&'all Release) -> Vec<&'all Release>,
) -> Vec<&'all Release> {
    let mut order = Vec::new();
    let mut entered = BTreeSet::new();
    for release in all {
        // A release is entered, and left once all that it requires was left.
        let mut rest = vec![(release, false)];
        while let Some((release, is_done)) = rest.pop() {
            if is_done {
                order.push(release);
                continue;
            }
            if !entered.insert(release) {
                continue;
            }
            rest.push((release, true));
            let required = required_by(release).into_iter().rev();
            rest.extend(required.map(|required| (required, false)));
        }
    }
    order
}
