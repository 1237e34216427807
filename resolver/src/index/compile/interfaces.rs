//! Interfaces as classes: an interface is a class with its own kind of name. It extends nothing, not even the root
//! class; a class extends the interfaces that it implements.
//!
//! So the search needs no special rules for interfaces: a version that lost an interface is excluded like one that lost
//! a class, and a class cannot inherit two releases of one interface.

use pkgres_manifest::{ClassName, IndexRecord, IndexedClass};

/// The records with interfaces as classes; `None` if there are no interfaces.
pub(super) fn as_classes(records: &[&IndexRecord]) -> Option<Vec<IndexRecord>> {
    let has_any = |record: &IndexRecord| {
        let mut classes = record.classes.iter().flatten();
        !record.interfaces.is_empty() || classes.any(|class| !class.implements.is_empty())
    };
    if !records.iter().any(|record| has_any(record)) {
        return None;
    }
    let with_classes = |record: &IndexRecord| {
        let Some(classes) = record.classes.as_deref().filter(|_| has_any(record)) else {
            return record.clone();
        };
        let classes = classes.iter().cloned().map(|mut class| {
            let interfaces = std::mem::take(&mut class.implements);
            let interfaces = interfaces.iter().map(ClassName::of_interface);
            class.extends.extend(interfaces);
            class
        });
        let interfaces = record.interfaces.iter();
        let interfaces = interfaces.map(|name| IndexedClass::new(name.of_interface()));
        record.clone().with_classes(classes.chain(interfaces))
    };
    Some(records.iter().map(|record| with_classes(record)).collect())
}
