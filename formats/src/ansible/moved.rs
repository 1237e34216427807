//! Plug-ins that have moved to another collection.
//!
//! A collection redirects names to plug-ins of a collection that it does not require. Such a name works where the other
//! collection happens to be installed, so that it is no class of the release. In its record, it is an internal class that
//! uses its target.

use std::collections::BTreeMap;

use pkgres_manifest::{ClassName, IndexRecord, IndexedClass, PackageName};

use super::facts::split_collection;

/// The plug-ins that have moved according to a release, with what is used instead.
pub(super) fn moved_classes(record: &IndexRecord) -> BTreeMap<&ClassName, &ClassName> {
    let classes = record.classes.iter().flatten();
    let moved = classes.filter_map(|class| Some((&class.name, target_of(class)?)));
    moved.collect()
}

/// Where a class has moved according to a release: the collection, and the class there. A name in a module moves with it.
pub(super) fn moved_to(
    record: &IndexRecord,
    class: &ClassName,
) -> Option<(PackageName, ClassName)> {
    let classes = record.classes.as_deref()?;
    let mut module = class.as_str();
    loop {
        let found = classes.binary_search_by(|known| known.name.as_str().cmp(module));
        let found = found.ok().map(|at| &classes[at]);
        if let Some(target) = found.and_then(target_of) {
            let target = format!("{target}{}", &class.as_str()[module.len()..]);
            let (collection, _) = split_collection(&target)?;
            let package = PackageName::native(collection).ok()?;
            return Some((package, ClassName::native(&target).ok()?));
        }
        (module, _) = module.rsplit_once('.')?;
    }
}

/// The class that replaces one that has moved.
fn target_of(class: &IndexedClass) -> Option<&ClassName> {
    let is_moved = class.internal && class.extends.is_empty();
    class.uses.first().filter(|_| is_moved)
}

/// The folder that a class is in: one of plug-ins of a kind, or that of all kinds, of roles or of playbooks.
pub(super) fn folder_of(class: &ClassName) -> String {
    let mut parts = class.as_str().split('.').skip(2);
    match parts.next() {
        Some("plugins") => match (parts.next(), parts.next()) {
            (Some(kind), Some(_)) => kind.to_owned(),
            _ => "plugins".to_owned(),
        },
        Some(folder) => folder.to_owned(),
        None => String::new(),
    }
}

/// The name that playbooks use for a class, if it is a plug-in or a role, or else the class.
pub(super) fn called(class: &ClassName) -> String {
    let named = split_collection(class.as_str())
        .and_then(|(collection, _)| super::ContentName::of_class(collection, class.as_str()));
    match named {
        Some(name) => name.to_string(),
        None => class.to_string(),
    }
}
