//! Compares the members of two versions of a class, for what concerns the classes of other packages.

use std::collections::BTreeMap;

use crate::api::class_pair::ClassPair;
use crate::api::rules::ApiRule;
use crate::api::{ApiDifference, methods, properties};
use crate::members::canonical_name;

/// The differences between methods, by their canonical names.
pub(super) fn method_differences(both: &ClassPair<'_>) -> BTreeMap<String, Vec<ApiDifference>> {
    let mut found = Vec::new();
    methods::compare(both, &mut found);
    let mut differences: BTreeMap<String, Vec<ApiDifference>> = BTreeMap::new();
    for found in found {
        let mut difference = found.difference;
        let name = canonical_name(difference.member.as_deref().unwrap_or_default()).to_owned();
        forget_place_of_removal(&mut difference);
        differences.entry(name).or_default().push(difference);
    }
    differences
}

/// The differences between properties.
pub(super) fn property_differences(both: &ClassPair<'_>) -> Vec<ApiDifference> {
    let mut found = Vec::new();
    properties::compare(both, &mut found);
    let mut differences = Vec::new();
    for found in found {
        let mut difference = found.difference;
        forget_place_of_removal(&mut difference);
        differences.push(difference);
    }
    differences
}

/// If a member was removed, the place of the class that inherited it is no place of the other package.
fn forget_place_of_removal(difference: &mut ApiDifference) {
    if matches!(
        difference.rule,
        ApiRule::MethodRemoved | ApiRule::PropertyRemoved | ApiRule::MemberPerhapsRemoved
    ) {
        difference.new = None;
    }
}
