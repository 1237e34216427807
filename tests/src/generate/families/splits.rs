//! Shapes in which one release of each package is impossible, or nearly so.

use super::super::draft::Draft;
use super::parts::{Side, join, tight_spec};
use crate::build::{Build, release};

/// Two packages require different releases of one or two others, and no class inherits both.
pub(super) fn split(draft: &mut Draft) {
    let (left, right) = (draft.name(), draft.name());
    let count = if draft.random.chance(35) { 1 } else { 2 };
    let shared: Vec<String> = (0..count).map(|_| draft.name()).collect();
    for name in &shared {
        for version in draft.versions(2, 4) {
            let record = release(name, &version).defines(&format!("{name}.D"), &[]);
            draft.records.push(record);
        }
    }
    if count == 2 && draft.random.chance(40) {
        // One shared package requires the other, so that splitting one may split both.
        let versions = draft.versions_of(&shared[1]);
        for position in draft.positions(&shared[0]).collect::<Vec<_>>() {
            let spec = draft.spec(&versions);
            let record = draft.records[position].clone();
            draft.records[position] = record.requires(&shared[1], &spec);
        }
    }
    let side_versions = [draft.versions(1, 2), draft.versions(1, 3)];
    for (name, versions, side) in [
        (&left, &side_versions[0], Side::Older),
        (&right, &side_versions[1], Side::Newer),
    ] {
        for version in versions {
            let mut record = release(name, version);
            let mut parents = Vec::new();
            for required in &shared {
                if draft.random.chance(88) {
                    let versions = draft.versions_of(required);
                    let spec = tight_spec(draft, &versions, side);
                    record = record.requires(required, &spec);
                    if draft.random.chance(45) {
                        parents.push(format!("{required}.D"));
                    }
                }
            }
            let parents: Vec<&str> = parents.iter().map(String::as_str).collect();
            draft
                .records
                .push(record.defines(&format!("{name}.B"), &parents));
        }
    }
    for (side, name) in [&left, &right].into_iter().enumerate() {
        let spec = draft.loose_spec(&side_versions[side]);
        draft.root_requires(name, &spec);
    }
    if draft.random.chance(15) {
        let versions = draft.versions_of(&shared[0]);
        let spec = draft.spec(&versions);
        draft.root_requires(&shared[0], &spec);
    }
    join(draft, &format!("{left}.B"), &format!("{right}.B"), 20);
}

/// `X` requires an old `U` or an old `V`, and `Y` the newest of both: one of `U` and `V` is split, and
/// the order of names decides which.
pub(super) fn either_split(draft: &mut Draft) {
    let (chooser, strict) = (draft.name(), draft.name());
    let options = [draft.name(), draft.name()];
    let mut versions = Vec::new();
    for name in &options {
        let of_option = draft.versions(2, 3);
        for version in &of_option {
            let record = release(name, version).defines(&format!("{name}.D"), &[]);
            draft.records.push(record);
        }
        versions.push(of_option);
    }
    let chooser_versions = draft.versions(2, 4);
    for version in &chooser_versions {
        let option = draft.random.below(2);
        let old = versions[option][0].clone();
        let mut record = release(&chooser, version).requires(&options[option], &old);
        if draft.random.chance(25) {
            let spec = draft.loose_spec(&versions[1 - option]);
            record = record.requires(&options[1 - option], &spec);
        }
        let parent = format!("{}.D", options[option]);
        let is_extended = draft.random.chance(50);
        let parents = is_extended.then_some(parent.as_str());
        draft
            .records
            .push(record.defines(&format!("{chooser}.B"), parents.as_slice()));
    }
    let strict_versions = draft.versions(1, 2);
    for version in &strict_versions {
        let mut record = release(&strict, version);
        for option in 0..2 {
            let newest = versions[option].last().expect("at least two versions");
            let spec = if draft.random.chance(80) {
                newest.clone()
            } else {
                draft.spec(&versions[option])
            };
            record = record.requires(&options[option], &spec);
        }
        let parent = format!("{}.D", options[draft.random.below(2)]);
        let is_extended = draft.random.chance(50);
        let parents = is_extended.then_some(parent.as_str());
        draft
            .records
            .push(record.defines(&format!("{strict}.C"), parents.as_slice()));
    }
    for (name, versions) in [(&chooser, &chooser_versions), (&strict, &strict_versions)] {
        let spec = draft.loose_spec(versions);
        draft.root_requires(name, &spec);
    }
    // A class that joins both sides makes the class of a split package a diamond.
    join(draft, &format!("{chooser}.B"), &format!("{strict}.C"), 35);
}

/// A core library whose older version is required where a manifest does not mention it.
pub(super) fn core_versions(draft: &mut Draft) {
    draft.add_core(&["0.5.0", "0.8.0", "1.0.0"]);
    let core = draft.core.clone().expect("just added");
    let core_versions = draft.versions_of(&core);
    let count = draft.random.between(2, 4);
    let mut classes = Vec::new();
    for _ in 0..count {
        let name = draft.name();
        let versions = draft.versions(1, 3);
        for version in &versions {
            let mut record = release(&name, version);
            if draft.random.chance(55) {
                let spec = match draft.random.below(3) {
                    0 => "*".to_owned(),
                    1 => "1".to_owned(),
                    _ => draft.spec(&core_versions),
                };
                record = record.requires(&core, &spec);
            }
            let parents: &[&str] = if draft.random.chance(30) {
                &[&format!("{core}.Object")]
            } else {
                &[]
            };
            draft
                .records
                .push(record.defines(&format!("{name}.B"), parents));
        }
        let spec = draft.loose_spec(&versions);
        draft.root_requires(&name, &spec);
        classes.push(format!("{name}.B"));
    }
    if draft.random.chance(70) {
        let spec = draft.spec(&core_versions);
        draft.root_requires(&core, &spec);
    }
    // A class of the root without parents extends the root class of the root's core library. A
    // class that extends a class of a package reaches the root class of that package's core.
    join(draft, &classes[0], &classes[1], 55);
}
