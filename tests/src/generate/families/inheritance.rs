//! Shapes in which the rules for classes exclude versions that the requirements allow.

use super::super::draft::Draft;
use super::parts::{Side, any_spec, join, tight_spec};
use crate::build::{Build, release};

/// `R.A` extends `X.B` and `Y.C`, which both extend `Z.D`, in some universes through another package.
pub(super) fn diamond(draft: &mut Draft) {
    let (left, right, bottom) = (draft.name(), draft.name(), draft.name());
    let versions = draft.versions(2, 4);
    for version in &versions {
        let mut record = release(&bottom, version);
        if draft.random.chance(93) {
            record = record.defines(&format!("{bottom}.D"), &[]);
        }
        draft.records.push(record);
    }
    let middle = draft.random.chance(30).then(|| {
        let middle = draft.name();
        let middle_versions = draft.versions(1, 2);
        add_arm(
            draft,
            &middle,
            &middle_versions,
            &bottom,
            "D",
            "E",
            Side::Older,
        );
        middle
    });
    let left_versions = draft.versions(1, 3);
    match &middle {
        Some(middle) => add_arm(draft, &left, &left_versions, middle, "E", "B", Side::Any),
        None => add_arm(draft, &left, &left_versions, &bottom, "D", "B", Side::Older),
    }
    let right_versions = draft.versions(1, 3);
    add_arm(
        draft,
        &right,
        &right_versions,
        &bottom,
        "D",
        "C",
        Side::Newer,
    );
    for (name, versions) in [(&left, &left_versions), (&right, &right_versions)] {
        let spec = draft.loose_spec(versions);
        draft.root_requires(name, &spec);
    }
    join(draft, &format!("{left}.B"), &format!("{right}.C"), 94);
}

/// Adds a package whose class extends a class of another package, in most versions.
fn add_arm(
    draft: &mut Draft,
    name: &str,
    versions: &[String],
    required: &str,
    parent: &str,
    class: &str,
    side: Side,
) {
    let required_versions = draft.versions_of(required);
    for version in versions {
        let spec = if draft.random.chance(55) {
            tight_spec(draft, &required_versions, side)
        } else {
            draft.spec(&required_versions)
        };
        let parent = format!("{required}.{parent}");
        let parents: &[&str] = if draft.random.chance(88) {
            &[&parent]
        } else {
            &[]
        };
        let record = release(name, version)
            .requires(required, &spec)
            .defines(&format!("{name}.{class}"), parents);
        draft.records.push(record);
    }
}

/// Classes of two packages that require each other extend each other in some versions.
pub(super) fn class_cycle(draft: &mut Draft) {
    let names = [draft.name(), draft.name()];
    let versions = [draft.versions(1, 3), draft.versions(2, 3)];
    let third = draft.random.chance(40).then(|| draft.name());
    for side in 0..2 {
        let (own, other) = (&names[side], &names[1 - side]);
        for version in &versions[side] {
            let mut record = release(own, version);
            let is_there = side == 0 || draft.random.chance(70);
            if is_there {
                let spec = draft.loose_spec(&versions[1 - side]);
                record = record.requires(other, &spec);
            }
            let parent = format!("{other}.B");
            let extends_other = is_there && draft.random.chance(90);
            let parents: &[&str] = if extends_other { &[&parent] } else { &[] };
            record = record.defines(&format!("{own}.B"), parents);
            if draft.random.chance(25) {
                record = record.hides(&format!("{own}.I"), &[&format!("{own}.B")]);
            }
            draft.records.push(record);
        }
    }
    let spec = draft.loose_spec(&versions[0]);
    draft.root_requires(&names[0], &spec);
    if draft.random.chance(40) {
        let spec = draft.loose_spec(&versions[1]);
        draft.root_requires(&names[1], &spec);
    }
    let root = draft.root.name.to_string();
    draft.root_defines(&format!("{root}.A"), &[&format!("{}.B", names[0])]);
    if let Some(third) = third {
        for version in draft.versions(1, 2) {
            let spec = draft.loose_spec(&versions[1]);
            let record = release(&third, &version)
                .requires(&names[1], &spec)
                .defines(&format!("{third}.B"), &[&format!("{}.B", names[1])]);
            draft.records.push(record);
        }
        draft.root_requires(&third, "*");
    }
}

/// A class has moved from one package to another, and some versions of both define it. A class that
/// inherits it from both has a diamond.
pub(super) fn provider(draft: &mut Draft) {
    let (old, new, user) = (draft.name(), draft.name(), draft.name());
    let moved = format!("{old}.K");
    let old_versions = draft.versions(1, 3);
    let kept = draft.random.between(1, old_versions.len() + 1);
    for (position, version) in old_versions.iter().enumerate() {
        let mut record = release(&old, version).defines(&format!("{old}.L"), &[]);
        if position < kept {
            record = record.defines(&moved, &[]);
        }
        draft.records.push(record);
    }
    let new_versions = draft.versions(1, 3);
    let gained = draft.random.below(new_versions.len());
    for (position, version) in new_versions.iter().enumerate() {
        let mut record = release(&new, version).defines(&format!("{new}.N"), &[]);
        if position >= gained {
            record = record.defines(&moved, &[]);
        }
        draft.records.push(record);
    }
    let user_versions = draft.versions(1, 3);
    for version in &user_versions {
        let mut record = release(&user, version);
        let mut required = [(&old, &old_versions), (&new, &new_versions)];
        draft.random.shuffle(&mut required);
        let count = if draft.random.chance(60) { 1 } else { 2 };
        for (name, versions) in required.into_iter().take(count) {
            let is_loose = draft.random.chance(60);
            let spec = any_spec(draft, versions, is_loose);
            record = record.requires(name, &spec);
        }
        draft
            .records
            .push(record.defines(&format!("{user}.U"), &[&moved]));
    }
    let mut required = [
        (&old, &old_versions),
        (&new, &new_versions),
        (&user, &user_versions),
    ];
    draft.random.shuffle(&mut required);
    for (name, versions) in required {
        let spec = draft.loose_spec(versions);
        draft.root_requires(name, &spec);
    }
    join(draft, &moved, &format!("{user}.U"), 80);
}
