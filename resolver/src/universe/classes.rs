//! The classes of a release, and which releases define a class.

use std::collections::HashMap;

use pkgres_manifest::{ClassName, IndexedClass};

use super::{ClassId, PackageId, ReleaseId, Universe};
use crate::word_set::WordSet;

/// Where a class that is extended is to be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parent {
    /// The class of this number in the same release.
    Own(u32),
    /// The name of this number in [`ClassTable::external`], which a required package defines.
    External(u32),
}

/// A class of a release.
#[derive(Debug)]
pub(crate) struct ClassNode {
    pub(crate) name: ClassId,
    pub(crate) parents: Box<[Parent]>,
}

/// The classes of a release whose classes are known.
#[derive(Debug)]
pub(crate) struct ClassTable {
    /// All classes, those that only the release itself sees included, sorted by name.
    pub(crate) classes: Box<[ClassNode]>,
    /// The number of each class, sorted by its id.
    positions: Box<[(ClassId, u32)]>,
    /// The names that required packages must define, in the order in which they are extended.
    pub(crate) external: Box<[ClassId]>,
    /// Classes of the release that extend each other in a circle, if there are any. No choice of
    /// other packages mends that: such a release is no candidate.
    pub(crate) own_cycle: Option<Box<[ClassId]>>,
}

impl ClassTable {
    /// The number of a class in the release.
    pub(crate) fn position(&self, name: ClassId) -> Option<u32> {
        let at = self
            .positions
            .binary_search_by_key(&name, |(id, _)| *id)
            .ok()?;
        Some(self.positions[at].1)
    }
}

/// Whether a record's classes, which are sorted, have one of this name that others can see.
fn exports(classes: &[IndexedClass], name: &ClassName) -> bool {
    classes
        .binary_search_by(|class| class.name.cmp(name))
        .is_ok_and(|at| !classes[at].internal)
}

impl Universe {
    /// The releases of a package that define a class for others. Releases whose classes are
    /// unknown define whatever is asked for.
    pub(crate) fn definers(&mut self, package: PackageId, class: ClassId) -> WordSet {
        if let Some(known) = self.definers.get(&(package, class)) {
            return known.clone();
        }
        let name = self.class_name(class);
        let defining: WordSet = (0_u32..)
            .zip(&self.delivered(package).releases)
            .filter(|(_, release)| {
                release
                    .record
                    .classes
                    .as_ref()
                    .is_none_or(|classes| exports(classes, name))
            })
            .map(|(at, _)| at)
            .collect();
        self.definers.insert((package, class), defining.clone());
        defining
    }

    /// Whether a release defines a class for others.
    pub(crate) fn defines(&self, release: ReleaseId, class: ClassId) -> bool {
        let classes = &self.release(release).record.classes;
        classes
            .as_ref()
            .is_none_or(|classes| exports(classes, self.class_name(class)))
    }

    pub(super) fn class_table(&mut self, release: ReleaseId) -> Option<ClassTable> {
        let indexed = self.release(release).record.classes.clone()?;
        let is_core = self.core == Some(release.package);
        let own: HashMap<&ClassName, u32> = indexed
            .iter()
            .map(|class| &class.name)
            .zip(0_u32..)
            .collect();
        let mut external: Vec<ClassId> = Vec::new();
        let mut external_positions: HashMap<ClassId, u32> = HashMap::new();
        let mut classes = Vec::with_capacity(indexed.len());
        for class in &indexed {
            let name = self.class_id(&class.name);
            let implicit = self
                .root_class
                .filter(|root| class.extends.is_empty() && !(is_core && *root == name))
                .map(|root| self.class_name(root).clone());
            let mut parents = Vec::with_capacity(class.extends.len().max(1));
            for parent in class.extends.iter().chain(&implicit) {
                parents.push(if let Some(position) = own.get(parent) {
                    Parent::Own(*position)
                } else {
                    let id = self.class_id(parent);
                    let next = u32::try_from(external.len()).expect("fewer than 2^32 classes");
                    Parent::External(*external_positions.entry(id).or_insert_with(|| {
                        external.push(id);
                        next
                    }))
                });
            }
            classes.push(ClassNode {
                name,
                parents: parents.into_boxed_slice(),
            });
        }
        let mut positions: Box<[(ClassId, u32)]> = classes
            .iter()
            .map(|class| class.name)
            .zip(0_u32..)
            .collect();
        positions.sort_unstable();
        Some(ClassTable {
            positions,
            own_cycle: own_cycle(&classes),
            classes: classes.into_boxed_slice(),
            external: external.into_boxed_slice(),
        })
    }
}

/// A circle among the classes of one release: each extends the next, the last the first.
fn own_cycle(classes: &[ClassNode]) -> Option<Box<[ClassId]>> {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let mut states = vec![State::New; classes.len()];
    for start in 0..classes.len() {
        if states[start] != State::New {
            continue;
        }
        let mut path: Vec<(usize, usize)> = vec![(start, 0)];
        states[start] = State::Open;
        while let Some((class, next)) = path.last_mut() {
            let Some(parent) = classes[*class].parents.get(*next) else {
                states[*class] = State::Done;
                path.pop();
                continue;
            };
            *next += 1;
            let Parent::Own(parent) = parent else {
                continue;
            };
            let parent = *parent as usize;
            match states[parent] {
                State::Done => {}
                State::New => {
                    states[parent] = State::Open;
                    path.push((parent, 0));
                }
                State::Open => {
                    let begin = path.iter().position(|(class, _)| *class == parent)?;
                    return Some(
                        path[begin..]
                            .iter()
                            .map(|(class, _)| classes[*class].name)
                            .collect(),
                    );
                }
            }
        }
    }
    None
}
