//! How class names become numbers.
//!
//! Names that an attached index knows are seen through their number there, and are read only when
//! something is to be said of them.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use pkgres_manifest::{ClassName, Package};

use super::{ClassId, Universe};
use crate::index::{NONE, to_u32};

/// A class name that was seen.
#[derive(Debug)]
pub(super) struct ClassEntry {
    name: OnceLock<ClassName>,
    /// The first attached loaded index's number of the name; [`NONE`] if it does not have it.
    number: u32,
}

impl Universe {
    /// The number of a class name.
    pub(crate) fn class_id(&mut self, name: &ClassName) -> ClassId {
        if let Some(known) = self.class_ids.get(name) {
            return *known;
        }
        if let Some((loaded, number)) = self.find_attached_class(name) {
            return self.class_in(loaded, number);
        }
        let id = self.new_class(ClassEntry {
            name: OnceLock::from(name.clone()),
            number: NONE,
        });
        self.class_ids.insert(name.clone(), id);
        id
    }

    /// The number of a class that a contract names.
    pub(crate) fn class_of_contract(&self, name: &ClassName) -> ClassId {
        let known = self.class_ids.get(name).copied().or_else(|| {
            let (loaded, number) = self.find_attached_class(name)?;
            self.indexes[loaded as usize].seen.class(number)
        });
        known.expect("what contracts name was seen when they came in")
    }

    /// Sees all classes that contracts name. It may be that no release was looked at that defines one,
    /// and that one defines it of which nobody knows what it defines.
    pub(super) fn meet_classes_of_contracts(&mut self, package: &Package) {
        let classes = package.classes.iter().flat_map(BTreeMap::values);
        for property in classes.flat_map(|class| &class.properties) {
            for class in property.contract.value.classes() {
                self.class_id(class);
            }
        }
    }

    /// The class of a name of a loaded index.
    pub(super) fn class_in(&mut self, loaded: u32, number: u32) -> ClassId {
        if let Some(known) = self.indexes[loaded as usize].seen.class(number) {
            return known;
        }
        let class = if self.attached.first() == Some(&loaded) {
            self.new_class(ClassEntry {
                name: OnceLock::new(),
                number,
            })
        } else {
            let name = self.indexes[loaded as usize].index().class_name(number);
            self.class_id(&name)
        };
        self.indexes[loaded as usize].seen.know_class(number, class);
        class
    }

    /// The name of a class.
    pub(crate) fn class_name(&self, class: ClassId) -> &ClassName {
        let entry = &self.classes[class.0 as usize];
        entry.name.get_or_init(|| {
            let loaded = self.attached.first();
            let loaded = loaded.expect("names that were not read are in an attached index");
            self.indexes[*loaded as usize]
                .index()
                .class_name(entry.number)
        })
    }

    /// The number that an index knows a class by, if it knows the class.
    pub(super) fn class_number(&self, class: ClassId, loaded: u32) -> Option<u32> {
        if self.attached.first() == Some(&loaded) {
            let number = self.classes[class.0 as usize].number;
            (number != NONE).then_some(number)
        } else {
            let index = self.indexes[loaded as usize].index();
            index.find_class(self.class_name(class).as_str())
        }
    }

    /// Lets classes that were seen by name be seen through an index that was attached first, too.
    pub(super) fn meet_classes(&mut self, loaded: u32) {
        let index = Arc::clone(self.indexes[loaded as usize].index());
        for (name, class) in &self.class_ids {
            if let Some(number) = index.find_class(name.as_str()) {
                self.classes[class.0 as usize].number = number;
                self.indexes[loaded as usize]
                    .seen
                    .know_class(number, *class);
            }
        }
    }

    fn find_attached_class(&self, name: &ClassName) -> Option<(u32, u32)> {
        let loaded = *self.attached.first()?;
        let number = self.indexes[loaded as usize]
            .index()
            .find_class(name.as_str())?;
        Some((loaded, number))
    }

    fn new_class(&mut self, entry: ClassEntry) -> ClassId {
        let id = ClassId(to_u32(self.classes.len()));
        self.classes.push(entry);
        id
    }
}
