//! Interned class names.
//!
//! A class that the first attached index knows is interned by its number there. Its name is read only when
//! it is first needed.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use pkgres_manifest::ClassName;

use super::ClassId;
use super::loaded_index::LoadedIndexes;
use crate::index::{NONE, to_u32};

/// The class names that were interned.
#[derive(Debug, Default)]
pub(super) struct ClassNames {
    classes: Vec<InternedClass>,
    /// The classes that the first attached index does not have.
    ids: HashMap<ClassName, ClassId, rustc_hash::FxBuildHasher>,
}

#[derive(Debug)]
struct InternedClass {
    name: OnceLock<ClassName>,
    /// The number of the name in the first attached index; [`NONE`] if it does not have it.
    number: u32,
}

impl ClassNames {
    /// Interns a class name.
    pub(super) fn intern(&mut self, indexes: &mut LoadedIndexes, name: &ClassName) -> ClassId {
        if let Some(known) = self.ids.get(name) {
            return *known;
        }
        if let Some((loaded, number)) = find_attached(indexes, name) {
            return self.intern_in(indexes, loaded, number);
        }
        let id = self.push(InternedClass {
            name: OnceLock::from(name.clone()),
            number: NONE,
        });
        self.ids.insert(name.clone(), id);
        id
    }

    /// Interns a class name of a loaded index.
    pub(super) fn intern_in(
        &mut self,
        indexes: &mut LoadedIndexes,
        loaded: u32,
        number: u32,
    ) -> ClassId {
        if let Some(known) = indexes.get(loaded).class(number) {
            return known;
        }
        let class = if indexes.first_attached() == Some(loaded) {
            self.push(InternedClass {
                name: OnceLock::new(),
                number,
            })
        } else {
            let name = indexes.index(loaded).class_name(number);
            self.intern(indexes, &name)
        };
        indexes.get_mut(loaded).set_class(number, class);
        class
    }

    /// A class name, if it was interned.
    pub(super) fn find(&self, indexes: &LoadedIndexes, name: &ClassName) -> Option<ClassId> {
        let known = self.ids.get(name).copied();
        known.or_else(|| {
            let (loaded, number) = find_attached(indexes, name)?;
            indexes.get(loaded).class(number)
        })
    }

    pub(super) fn name(&self, indexes: &LoadedIndexes, class: ClassId) -> &ClassName {
        let class = &self.classes[class.0 as usize];
        class.name.get_or_init(|| {
            let loaded = indexes.first_attached();
            let loaded =
                loaded.expect("a class without a name was interned from an attached index");
            indexes.index(loaded).class_name(class.number)
        })
    }

    /// The number of a class in a loaded index, if it knows the class.
    pub(super) fn number_in(
        &self,
        indexes: &LoadedIndexes,
        class: ClassId,
        loaded: u32,
    ) -> Option<u32> {
        if indexes.first_attached() == Some(loaded) {
            let number = self.classes[class.0 as usize].number;
            (number != NONE).then_some(number)
        } else {
            let name = self.name(indexes, class);
            indexes.index(loaded).find_class(name.as_str())
        }
    }

    /// Connects the classes that were interned by name with the index that is attached first.
    pub(super) fn connect(&mut self, indexes: &mut LoadedIndexes, loaded: u32) {
        let index = Arc::clone(indexes.index(loaded));
        for (name, class) in &self.ids {
            if let Some(number) = index.find_class(name.as_str()) {
                self.classes[class.0 as usize].number = number;
                indexes.get_mut(loaded).set_class(number, *class);
            }
        }
    }

    fn push(&mut self, class: InternedClass) -> ClassId {
        let id = ClassId(to_u32(self.classes.len()));
        self.classes.push(class);
        id
    }
}

fn find_attached(indexes: &LoadedIndexes, name: &ClassName) -> Option<(u32, u32)> {
    let loaded = indexes.first_attached()?;
    let number = indexes.index(loaded).find_class(name.as_str())?;
    Some((loaded, number))
}
