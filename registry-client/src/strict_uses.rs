//! Uses that exclude versions.
//!
//! A release whose classes use a class that no required release defines can be picked: uses never exclude a version. If
//! they shall, each used class becomes the parent of an internal class of its own. Nothing extends such a class, so that
//! it takes part in no circle, and it has one parent, so that it inherits nothing in two versions.

use std::collections::BTreeSet;

use pkgres_manifest::{ClassName, IndexRecord, IndexedClass};

/// Lets the uses of a release exclude versions, as what its classes extend does.
pub fn strict_uses(record: &mut IndexRecord) {
    let Some(classes) = &mut record.classes else {
        return;
    };
    let own: BTreeSet<&ClassName> = classes.iter().map(|class| &class.name).collect();
    let used: BTreeSet<&ClassName> = classes
        .iter()
        .flat_map(|class| &class.uses)
        .filter(|used| !own.contains(used))
        .collect();
    let added: Vec<IndexedClass> = used
        .into_iter()
        .enumerate()
        .map(|(number, used)| IndexedClass {
            name: name_of(used, number),
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
        classes.dedup_by(|next, first| next.name == first.name);
    });
}

/// The name of the class that stands for the uses of another one.
fn name_of(used: &ClassName, number: usize) -> ClassName {
    ClassName::native(&format!("uses:{used}"))
        .or_else(|_| ClassName::native(&format!("uses:{number}")))
        .expect("a number is short")
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
                format!("uses:1 [{long}] true"),
                "uses:c.D [c.D] true".to_owned(),
            ]
        );
    }
}
