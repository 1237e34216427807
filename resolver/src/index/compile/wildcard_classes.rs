//! Wildcard classes: `a.b.*` defines every class of the folder `a.b`.
//!
//! Ecosystems in which not all names are known use such classes, for example for a module whose names are computed. An
//! index lists them under each name in that folder that one of its records defines or extends. The catalog looks up
//! names that only other indexes have.

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::{CLASS_PACKAGES, ClassName, IndexRecord, IndexedClass};

use crate::index::ANY_CLASS;

/// The records with a class for each name that is known; `None` if no class stands for others.
pub(super) fn expanded(records: &[&IndexRecord]) -> Option<Vec<IndexRecord>> {
    let may_have = |record: &&&IndexRecord| record.ecosystem != CLASS_PACKAGES;
    let classes = records.iter().filter(may_have);
    let mut classes = classes.flat_map(|record| record.classes.iter().flatten());
    classes.find(|class| class.name.as_str().ends_with(ANY_CLASS))?;
    let mut names: BTreeMap<&str, BTreeSet<&ClassName>> = BTreeMap::new();
    for class in records
        .iter()
        .flat_map(|record| record.classes.iter().flatten())
    {
        for name in std::iter::once(&class.name).chain(&class.extends) {
            if let Some((folder, _)) = name.as_str().rsplit_once('.') {
                names.entry(folder).or_default().insert(name);
            }
        }
    }
    let expand = |record: &IndexRecord| {
        let Some(classes) = record.classes.as_deref() else {
            return record.clone();
        };
        let folders = classes
            .iter()
            .filter_map(|class| class.name.as_str().strip_suffix(ANY_CLASS));
        let others = folders
            .filter_map(|folder| names.get(folder))
            .flatten()
            .map(|name| IndexedClass::new((*name).clone()));
        let all: Vec<IndexedClass> = classes.iter().cloned().chain(others).collect();
        record.clone().with_classes(all)
    };
    Some(records.iter().map(|record| expand(record)).collect())
}
