//! Parts that several shapes share.

use super::super::draft::Draft;

/// A spec that some of these versions match; most of them if it is loose.
pub(super) fn any_spec(draft: &mut Draft, versions: &[String], is_loose: bool) -> String {
    if is_loose {
        draft.loose_spec(versions)
    } else {
        draft.spec(versions)
    }
}

/// Defines classes of the root that extend two classes: with a probability in percent, one class
/// extends both; otherwise two classes extend one each.
pub(super) fn join(draft: &mut Draft, one: &str, other: &str, percent: usize) {
    let root = draft.root.name.to_string();
    if draft.random.chance(percent) {
        draft.root_defines(&format!("{root}.A"), &[one, other]);
    } else {
        draft.root_defines(&format!("{root}.A"), &[one]);
        draft.root_defines(&format!("{root}.B"), &[other]);
    }
}

/// Which half of a package's versions a requirement is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Older,
    Newer,
    Any,
}

/// A spec that few versions match.
pub(super) fn tight_spec(draft: &mut Draft, versions: &[String], side: Side) -> String {
    let half = versions.len() / 2;
    let part = match side {
        Side::Older => &versions[..half.max(1)],
        Side::Newer => &versions[half..],
        Side::Any => versions,
    };
    let target = draft.random.pick(part).clone();
    match draft.random.weighted(&[68, 20, 12]) {
        1 if side == Side::Older => format!("<={target}"),
        1 if side == Side::Newer => format!(">={target}"),
        2 => draft.spec(versions),
        _ => target,
    }
}
