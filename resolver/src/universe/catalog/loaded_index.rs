//! Compiled indexes that the solver has loaded, with the package or class for each of their names.
//!
//! A class that the first attached index knows is interned by its number there. Its name is read only when
//! it is first needed.

use std::sync::{Arc, OnceLock};

use pkgres_manifest::{ClassName, ReleaseSource};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::{ClassId, PackageId};
use crate::index::{CompiledIndex, NONE, to_u32};

/// The loaded indexes, each of many packages or of one.
#[derive(Debug, Default)]
pub(in crate::universe) struct LoadedIndexes {
    all: Vec<LoadedIndex>,
    /// The indexes whose packages need not be requested from a registry, in order of preference.
    attached: SmallVec<[u32; 2]>,
}

impl LoadedIndexes {
    /// Adds an index; returns its number.
    pub(super) fn add(&mut self, source: Option<ReleaseSource>, index: Arc<CompiledIndex>) -> u32 {
        self.all.push(LoadedIndex::new(source, index));
        to_u32(self.all.len() - 1)
    }

    /// Marks an index as one whose packages need not be requested.
    pub(super) fn attach(&mut self, loaded: u32) {
        self.attached.push(loaded);
    }

    /// The attached index that is preferred over the others.
    #[inline]
    pub(super) fn first_attached(&self) -> Option<u32> {
        self.attached.first().copied()
    }

    /// The attached index, if there is exactly one.
    pub(in crate::universe) fn only_attached(&self) -> Option<u32> {
        match self.attached[..] {
            [loaded] => Some(loaded),
            _ => None,
        }
    }

    /// The first attached index that has releases of a package, and the number of the name in it.
    pub(super) fn find_package(&self, name: &str) -> Option<(u32, u32)> {
        self.attached.iter().find_map(|loaded| {
            let index = self.index(*loaded);
            let number = index.find(name)?;
            (!index.releases(number).is_empty()).then_some((*loaded, number))
        })
    }

    pub(super) fn find(&self, loaded: u32) -> Option<&LoadedIndex> {
        self.all.get(loaded as usize)
    }

    #[inline]
    pub(in crate::universe) fn get(&self, loaded: u32) -> &LoadedIndex {
        &self.all[loaded as usize]
    }

    #[inline]
    pub(in crate::universe) fn get_mut(&mut self, loaded: u32) -> &mut LoadedIndex {
        &mut self.all[loaded as usize]
    }

    #[inline]
    pub(in crate::universe) fn index(&self, loaded: u32) -> &Arc<CompiledIndex> {
        &self.get(loaded).index
    }
}

#[derive(Debug)]
pub(in crate::universe) struct LoadedIndex {
    index: Arc<CompiledIndex>,
    pub(super) source: Option<ReleaseSource>,
    /// The interned package of each package name.
    packages: Vec<InternedPackage>,
    /// The interned class of each class name, counted from 1; 0, or beyond the end, if the class was not
    /// interned.
    classes: Vec<u32>,
}

impl LoadedIndex {
    fn new(source: Option<ReleaseSource>, index: Arc<CompiledIndex>) -> Self {
        Self {
            packages: vec![InternedPackage::default(); index.name_count() as usize],
            classes: Vec::new(),
            index,
            source,
        }
    }

    #[inline]
    pub(in crate::universe) fn index(&self) -> &Arc<CompiledIndex> {
        &self.index
    }

    /// The package of a name, if it was interned.
    #[inline]
    pub(in crate::universe) fn package(&self, name: u32) -> InternedPackage {
        self.packages[name as usize]
    }

    /// The package that a requirement is on, if it was interned.
    pub(in crate::universe) fn target(&self, number: usize) -> Option<PackageId> {
        self.package(self.index.requirement(number).target).id()
    }

    #[inline]
    pub(super) fn set_package(&mut self, name: u32, package: InternedPackage) {
        self.packages[name as usize] = package;
    }

    #[cfg(feature = "prefetch")]
    pub(super) fn prefetch_package(&self, name: u32) {
        prefetch_index::prefetch_index(&self.packages, name as usize);
    }

    /// The class of a class name, if it was interned.
    pub(super) fn class(&self, name: u32) -> Option<ClassId> {
        let class = self.classes.get(name as usize)?;
        class.checked_sub(1).map(ClassId)
    }

    fn set_class(&mut self, name: u32, class: ClassId) {
        let length = name as usize + 1;
        if self.classes.len() < length {
            self.classes.resize(length, 0);
        }
        self.classes[name as usize] = class.0 + 1;
    }
}

/// The interned package of a name of an index, if it has one.
///
/// The search looks at this for each requirement, so it is one number that also says whether the package is
/// [simple](Self::is_simple), as nearly all are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::universe) struct InternedPackage(u32);

/// Tag bit: the package is [simple](InternedPackage::is_simple).
const SIMPLE: u32 = 1 << 31;

impl InternedPackage {
    pub(super) fn new(package: PackageId, is_simple: bool) -> Self {
        let from_one = to_u32(package.position() + 1);
        assert!(from_one < SIMPLE, "there are fewer packages");
        Self(from_one | if is_simple { SIMPLE } else { 0 })
    }

    #[inline]
    pub(in crate::universe) fn id(self) -> Option<PackageId> {
        (self.0 & !SIMPLE).checked_sub(1).map(PackageId)
    }

    /// Whether requirements on the package allow what the index says, and sets of its releases take one word.
    /// This never changes: a package is delivered once, and overrides are known before that.
    #[inline]
    pub(in crate::universe) fn is_simple(self) -> bool {
        self.0 & SIMPLE != 0
    }
}

/// The class names that were interned.
#[derive(Debug, Default)]
pub(super) struct ClassNames {
    classes: Vec<InternedClass>,
    /// The classes that the first attached index does not have.
    ids: FxHashMap<ClassName, ClassId>,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interned_package_reads_back() {
        assert_eq!(InternedPackage::default().id(), None);
        for is_simple in [false, true] {
            let package = InternedPackage::new(PackageId(0), is_simple);
            assert_eq!(package.id(), Some(PackageId(0)));
            assert_eq!(package.is_simple(), is_simple);
            assert_ne!(package, InternedPackage::default());
        }
    }
}
