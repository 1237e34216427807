//! Uses that exclude versions.
//!
//! By default, uses never exclude a version: a release can be chosen although its classes use a class that no
//! required release defines. To let uses exclude versions, each used class becomes the parent of an internal class of
//! its own. Nothing extends such a class, so that it takes part in no cycle, and it has one parent, so that it
//! inherits nothing in two versions.

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::{ClassName, IndexRecord, IndexedClass};

/// Lets the uses of a release exclude versions, as what its classes extend does.
pub fn strict_uses(record: &mut IndexRecord) {
    let Some(classes) = &mut record.classes else {
        return;
    };
    let own: BTreeSet<&ClassName> = classes.iter().map(|class| &class.name).collect();
    // The first of several classes that use one stands for all of them.
    let mut used: BTreeMap<&ClassName, &ClassName> = BTreeMap::new();
    for class in classes.iter() {
        for target in class.uses.iter().filter(|target| !own.contains(target)) {
            used.entry(target).or_insert(&class.name);
        }
    }
    let added: Vec<IndexedClass> = used
        .into_iter()
        .enumerate()
        .map(|(number, (used, user))| IndexedClass {
            name: user.of_user(number),
            internal: true,
            extends: vec![used.clone()],
            implements: Vec::new(),
            uses: Vec::new(),
        })
        .collect();
    if added.is_empty() {
        return;
    }
    classes.change(|classes| {
        classes.extend(added);
        classes.sort();
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use pkgres_manifest::{PackageName, Version};

    #[test]
    fn used_classes_of_others_become_parents() {
        let name = |text: &str| ClassName::native(text).expect("a name");
        let class = |own: &str, uses: &[&str]| IndexedClass {
            name: name(own),
            internal: false,
            extends: Vec::new(),
            implements: Vec::new(),
            uses: uses.iter().map(|used| name(used)).collect(),
        };
        let package = PackageName::native("a.A").expect("a name");
        let mut record = IndexRecord::new(package, Version::new(1, 0, 0));
        strict_uses(&mut record);
        assert_eq!(record.classes, None);
        let long = "x".repeat(255);
        record.classes =
            Some(vec![class("a.A", &["a.B", "c.D", &long]), class("a.B", &["c.D"])].into());
        strict_uses(&mut record);
        let shown: Vec<String> = record
            .classes
            .iter()
            .flatten()
            .map(|class| format!("{} {:?} {}", class.name, class.extends, class.internal))
            .collect();
        assert_eq!(
            shown,
            [
                "a.A [] false".to_owned(),
                "a.B [] false".to_owned(),
                "user:0:a.A [c.D] true".to_owned(),
                format!("user:1:a.A [{long}] true"),
            ]
        );
    }
}
