//! Small changes to a universe that was written by hand for one rule: close to a rule, random changes
//! make harder cases than universes that are random from the start.

use pkgres_manifest::{IndexRecord, IndexedClass};

use super::draft::{Draft, requires};
use super::mutations::{MUTATIONS, a_package, a_record};
use crate::build::{Build as _, class, package, release, spec, version};

/// Changes a universe in one to four places.
pub(super) fn apply(draft: &mut Draft) {
    const CHANGES: [fn(&mut Draft); 8] = [
        require_another,
        require_one_less,
        ask_in_another_order,
        put_one_between,
        add_a_release,
        drop_a_release,
        extend_another,
        extend_one_less,
    ];
    for _ in 0..draft.random.between(1, 4) {
        let change = if draft.random.chance(60) {
            *draft.random.pick(&CHANGES)
        } else {
            *draft.random.pick(&MUTATIONS)
        };
        change(draft);
    }
}

/// Changes a random release, which may be the root.
fn change_a_release(
    draft: &mut Draft,
    change: impl FnOnce(&mut Draft, IndexRecord) -> IndexRecord,
) {
    let position = draft.random.below(draft.records.len() + 1);
    if position == draft.records.len() {
        let root = draft.root.clone();
        draft.root = change(draft, root);
    } else {
        let record = draft.records[position].clone();
        draft.records[position] = change(draft, record);
    }
}

fn require_another(draft: &mut Draft) {
    let Some(target) = a_package(draft) else {
        return;
    };
    let versions = draft.versions_of(&target);
    let spec = draft.loose_spec(&versions);
    change_a_release(draft, |draft, record| {
        if record.name.as_str() == target || requires(&record, &target) {
            return record;
        }
        let mut record = record.requires(&target, &spec);
        // The order decides which package defines a class.
        let requirements = &mut record.requirements;
        let at = draft.random.below(requirements.len());
        requirements[at..].rotate_right(1);
        record
    });
}

fn require_one_less(draft: &mut Draft) {
    change_a_release(draft, |draft, mut record| {
        record.requirements.change(|requirements| {
            if !requirements.is_empty() {
                requirements.remove(draft.random.below(requirements.len()));
            }
        });
        record
    });
}

fn ask_in_another_order(draft: &mut Draft) {
    change_a_release(draft, |draft, mut record| {
        draft.random.shuffle(&mut record.requirements);
        record
    });
}

/// Inserts a new package between a release and one that it requires. The release may keep its own
/// requirement.
fn put_one_between(draft: &mut Draft) {
    if !draft.has_a_name() {
        return;
    }
    let between = draft.name();
    change_a_release(draft, |draft, mut record| {
        if record.requirements.is_empty() {
            return record;
        }
        let at = draft.random.below(record.requirements.len());
        let moved = record.requirements[at].clone();
        let mut added = release(&between, "1.0.0");
        added.requirements.change(|all| all.push(moved));
        draft.records.push(added);
        if draft.random.chance(50) {
            return record.requires(&between, "*");
        }
        record.requirements[at].package = package(&between);
        record.requirements[at].spec = spec("*");
        record
    });
}

/// Adds a release that is a copy of another release of the package.
fn add_a_release(draft: &mut Draft) {
    if let Some(position) = a_record(draft) {
        let record = draft.records[position].clone();
        let newest = draft.newest(record.name.as_str());
        let next = draft.records[newest].version.major() + 1;
        draft.records.push(IndexRecord {
            version: version(&format!("{next}.0.0")),
            ..record
        });
    }
}

fn drop_a_release(draft: &mut Draft) {
    if let Some(position) = a_record(draft) {
        draft.records.remove(position);
    }
}

/// A class, which may be new, extends a class that some release defines.
fn extend_another(draft: &mut Draft) {
    let Some(position) = a_record(draft) else {
        return;
    };
    let classes = draft.records[position].classes.iter().flatten();
    let names: Vec<_> = classes.map(|one| one.name.clone()).collect();
    if names.is_empty() {
        return;
    }
    let parent = draft.random.pick(&names).clone();
    change_a_release(draft, |draft, mut record| {
        let own = record.classes.as_mut().filter(|own| !own.is_empty());
        let Some(classes) = own.filter(|_| draft.random.chance(70)) else {
            let name = format!("{}.New", record.name);
            let is_known = |own: &[IndexedClass]| own.iter().any(|one| one.name == class(&name));
            return match &record.classes {
                Some(own) if !is_known(own) => record.defines(&name, &[parent.as_str()]),
                _ => record,
            };
        };
        let at = draft.random.below(classes.len());
        let extending = &mut classes[at];
        if extending.name != parent && !extending.extends.contains(&parent) {
            extending.extends.push(parent);
        }
        record
    });
}

fn extend_one_less(draft: &mut Draft) {
    change_a_release(draft, |draft, mut record| {
        if let Some(classes) = record.classes.as_mut().filter(|own| !own.is_empty()) {
            let at = draft.random.below(classes.len());
            let extends = &mut classes[at].extends;
            if !extends.is_empty() {
                extends.remove(draft.random.below(extends.len()));
            }
        }
        record
    });
}
