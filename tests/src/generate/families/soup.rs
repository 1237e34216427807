//! Packages that require and extend each other at random.

use super::super::draft::{Draft, requires};
use super::parts::any_spec;
use crate::build::{Build, release};

/// Packages in a row, each of which requires some of the later ones.
pub(super) fn soup(draft: &mut Draft, edges: usize, is_loose: bool) {
    let count = draft.random.between(3, 5);
    let packages: Vec<(String, Vec<String>)> = (0..count)
        .map(|_| (draft.name(), draft.versions(1, 4)))
        .collect();
    for (position, (name, versions)) in packages.iter().enumerate() {
        let defined = draft.random.between(1, 2);
        for version in versions {
            let mut record = release(name, version);
            for (other_position, (other, other_versions)) in packages.iter().enumerate() {
                let chance = if other_position > position { edges } else { 4 };
                if other_position != position && draft.random.chance(chance) {
                    let spec = any_spec(draft, other_versions, is_loose);
                    record = record.requires(other, &spec);
                }
            }
            for class in ["B", "C"].iter().take(defined) {
                if draft.random.chance(92) {
                    let parents = some_parents(draft, &record);
                    let parents: Vec<&str> = parents.iter().map(String::as_str).collect();
                    record = record.defines(&format!("{name}.{class}"), &parents);
                }
            }
            draft.records.push(record);
        }
    }
    for (position, (name, versions)) in packages.iter().enumerate() {
        if position < 2 || draft.random.chance(25) {
            let spec = any_spec(draft, versions, is_loose);
            draft.root_requires(name, &spec);
        }
    }
    let root = draft.root.clone();
    for class in ["P", "Q"] {
        let parents = some_parents(draft, &root);
        let parents: Vec<&str> = parents.iter().map(String::as_str).collect();
        draft.root_defines(&format!("{}.{class}", root.name), &parents);
    }
}

/// Some classes that the packages that a release requires are likely to define.
fn some_parents(draft: &mut Draft, record: &pkgres_manifest::IndexRecord) -> Vec<String> {
    let mut parents = Vec::new();
    for requirement in &record.requirements {
        if draft.random.chance(40) {
            let class = ["B", "B", "B", "C"][draft.random.below(4)];
            parents.push(format!("{}.{class}", requirement.package));
        }
    }
    parents.truncate(2);
    parents
}

/// Adds packages outside of the shape until there are at least three packages.
pub(super) fn fill(draft: &mut Draft) {
    let wanted = draft.random.between(3, 6);
    while draft.packages().len() < wanted {
        let extra = usize::from(draft.packages().len() >= 3);
        if extra == 1 && draft.random.chance(60) {
            return;
        }
        let name = draft.name();
        let others = draft.packages();
        for version in draft.versions(1, 3) {
            let mut record = release(&name, &version).defines(&format!("{name}.B"), &[]);
            if !others.is_empty() && draft.random.chance(35) {
                let other = draft.random.pick(&others).clone();
                let versions = draft.versions_of(&other);
                let spec = draft.loose_spec(&versions);
                if draft.core.as_ref() != Some(&other) {
                    record = record.requires(&other, &spec);
                }
            }
            draft.records.push(record);
        }
        let versions = draft.versions_of(&name);
        if others.is_empty() || draft.random.chance(50) {
            let spec = draft.loose_spec(&versions);
            draft.root_requires(&name, &spec);
        } else {
            let requirer = draft.random.pick(&others).clone();
            for position in draft.positions(&requirer).collect::<Vec<_>>() {
                if draft.random.chance(70) && !requires(&draft.records[position], &name) {
                    let spec = draft.loose_spec(&versions);
                    draft.records[position] =
                        draft.records[position].clone().requires(&name, &spec);
                }
            }
        }
    }
}
