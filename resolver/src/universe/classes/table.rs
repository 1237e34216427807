//! The classes of a release, and what each of them extends.
//!
//! A record has only the parents that are stated. A class without parents extends the root class of the core
//! library, which is added here.

use rustc_hash::FxHashMap;

use super::{Catalog, ClassId};
use crate::index::{CompiledIndex, Interner, ParentNumber, nodes_leading_to_cycles, to_u32};

/// Where a class that is extended is defined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parent {
    /// The class of this number in the same release.
    Own(u32),
    /// The class with this number in [`ClassTable::external`], which a required package must define.
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
    /// All classes, including those that only the release itself can use, sorted by name.
    pub(crate) classes: Box<[ClassNode]>,
    /// The number of each class, sorted by its id.
    positions: Box<[(ClassId, u32)]>,
    /// The classes that required packages must define, in the order in which they are extended.
    pub(crate) external: Box<[ClassId]>,
    /// Whether classes of the release extend each other in a cycle. Such a release is no candidate, whatever
    /// else is chosen.
    pub(crate) has_cycle: bool,
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

    /// The classes of the release that extend a class of others, by name.
    pub(crate) fn extenders(&self, class: ClassId) -> Vec<ClassId> {
        let Some(position) = self.external.iter().position(|other| *other == class) else {
            return Vec::new();
        };
        let is_parent =
            |parent: &Parent| matches!(parent, Parent::External(at) if *at as usize == position);
        let extending = self
            .classes
            .iter()
            .filter(|node| node.parents.iter().any(is_parent));
        extending.map(|node| node.name).collect()
    }

    /// A cycle of classes, each of which extends the next; empty if there is none.
    pub(crate) fn own_cycle(&self) -> Vec<ClassId> {
        let leads = leading(&self.classes);
        let mut path: Vec<u32> = Vec::new();
        let mut seen: FxHashMap<u32, usize> = FxHashMap::default();
        let first = (0..).zip(&leads).find(|(_, leads)| **leads);
        let mut next = first.map(|(class, _)| class);
        while let Some(class) = next {
            if let Some(begin) = seen.insert(class, path.len()) {
                let cycle = path[begin..].iter();
                return cycle.map(|at| self.classes[*at as usize].name).collect();
            }
            path.push(class);
            let mut parents = self.classes[class as usize].parents.iter();
            next = parents.find_map(|parent| match parent {
                Parent::Own(parent) if leads[*parent as usize] => Some(*parent),
                _ => None,
            });
        }
        Vec::new()
    }
}

impl ClassTable {
    pub(super) fn read(
        catalog: &mut Catalog,
        loaded: u32,
        index: &CompiledIndex,
        table: u32,
        is_core: bool,
    ) -> Self {
        let own = index.table_classes(table);
        let mut external: Interner<ClassId> = Interner::default();
        let mut classes = Vec::with_capacity(own.len());
        for (position, class) in own.iter().enumerate() {
            let name = catalog.class_id_in(loaded, *class);
            let parent_numbers = index.parents(table, position);
            let is_implicit = index.is_implicit(table, position);
            let implicit = catalog
                .root_class()
                .filter(|root| is_implicit && !(is_core && *root == name));
            let mut parents = Vec::with_capacity(parent_numbers.len().max(1));
            for parent in parent_numbers {
                parents.push(match parent {
                    ParentNumber::Own(own) => Parent::Own(own),
                    ParentNumber::External(at) => {
                        let class = index.externals(table)[at as usize];
                        let class = catalog.class_id_in(loaded, class);
                        Parent::External(external.number(class))
                    }
                });
            }
            if let Some(root) = implicit {
                let root_name = catalog.class_name(root);
                let own_root = index
                    .find_class(root_name.as_str())
                    .and_then(|root| own.binary_search(&root).ok());
                parents.push(match own_root {
                    Some(position) => Parent::Own(to_u32(position)),
                    None => Parent::External(external.number(root)),
                });
            }
            classes.push(ClassNode {
                name,
                parents: parents.into_boxed_slice(),
            });
        }
        let names = classes.iter().map(|class| class.name);
        let mut positions: Box<[(ClassId, u32)]> = names.zip(0_u32..).collect();
        positions.sort_unstable();
        Self {
            positions,
            has_cycle: leading(&classes).contains(&true),
            classes: classes.into_boxed_slice(),
            external: external.items().into(),
        }
    }
}

/// For each class whether it leads to classes that extend each other in a cycle.
fn leading(classes: &[ClassNode]) -> Vec<bool> {
    let mut pairs = Vec::new();
    for (class, node) in (0..).zip(classes) {
        for parent in &node.parents {
            if let Parent::Own(parent) = parent {
                pairs.push((*parent, class));
            }
        }
    }
    nodes_leading_to_cycles(to_u32(classes.len()), pairs)
}
