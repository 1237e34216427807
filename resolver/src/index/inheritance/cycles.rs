//! Packages that cannot violate the rules of the class hierarchy, and cycles of classes.
//!
//! Harmless packages need no check of complete selections. A class can be part of a cycle if its
//! name is on a cycle of names, over all releases of all packages. That is decided in linear time
//! by removing classes without parents until none is left (topological sort, Kahn 1962).

use super::super::{CompiledIndex, NONE, ParentNumber, to_u32};
use super::Inheritance;

impl Inheritance {
    pub(super) fn find_separate_classes(&mut self, index: &CompiledIndex) {
        let names = index.name_count();
        // Releases with unknown classes define any class.
        self.separate_classes = self
            .unknown
            .iter()
            .map(|unknown| *unknown == NONE)
            .collect();
        self.homes = vec![NONE; index.class_name_count() as usize];
        for name in 0..names {
            for table in index.tables_of(name).flatten() {
                self.separate_classes[name as usize] &= !self.has_cycle(table);
                for class in index.table_classes(table) {
                    let home = &mut self.homes[*class as usize];
                    if *home != NONE && *home != name {
                        let other = *home;
                        self.separate_classes[name as usize] = false;
                        self.separate_classes[other as usize] = false;
                    } else {
                        *home = name;
                    }
                }
            }
        }
        self.find_cycles(index);
    }

    /// Marks packages with a class that can be part of a cycle as not having separate classes. In every selection,
    /// a cycle of classes is a cycle of their names.
    fn find_cycles(&mut self, index: &CompiledIndex) {
        let mut extending: Vec<(u32, u32)> = Vec::new();
        for table in 0..index.table_classes.len() {
            for (position, class) in index.table_classes(table).iter().enumerate() {
                let parents = index.parents(table, position);
                extending.extend(parents.map(|parent| (index.parent_class(table, parent), *class)));
            }
        }
        let count = index.class_name_count();
        let turned = extending.iter().map(|(parent, class)| (*class, *parent));
        let from_cycles = nodes_leading_to_cycles(count, turned.collect());
        let to_cycles = nodes_leading_to_cycles(count, extending);
        for (class, home) in self.homes.iter().enumerate() {
            if *home != NONE && to_cycles[class] && from_cycles[class] {
                // If several packages have the class, none of them has separate classes anyway.
                self.separate_classes[*home as usize] = false;
            }
        }
    }
}

/// Which nodes have a path to a cycle; a pair is a node and a predecessor of it.
pub(crate) fn nodes_leading_to_cycles(count: u32, mut pairs: Vec<(u32, u32)>) -> Vec<bool> {
    if pairs.is_empty() {
        return vec![false; count as usize];
    }
    pairs.sort_unstable();
    pairs.dedup();
    let mut successors = vec![0_u32; count as usize];
    for (_, from) in &pairs {
        successors[*from as usize] += 1;
    }
    // Nodes without successors are removed, then those whose successors were all removed.
    let mut removed: Vec<u32> = (0..count)
        .filter(|node| successors[*node as usize] == 0)
        .collect();
    while let Some(node) = removed.pop() {
        let first = pairs.partition_point(|(to, _)| *to < node);
        for (_, from) in pairs[first..].iter().take_while(|pair| pair.0 == node) {
            successors[*from as usize] -= 1;
            if successors[*from as usize] == 0 {
                removed.push(*from);
            }
        }
    }
    successors
        .iter()
        .map(|successors| *successors > 0)
        .collect()
}

/// Whether classes of a table extend each other in a cycle.
pub(super) fn has_own_cycle(index: &CompiledIndex, table: u32) -> bool {
    let count = to_u32(index.table_classes(table).len());
    let mut pairs = Vec::new();
    for class in 0..count {
        for parent in index.parents(table, class as usize) {
            if let ParentNumber::Own(parent) = parent {
                pairs.push((parent, class));
            }
        }
    }
    !pairs.is_empty() && nodes_leading_to_cycles(count, pairs).contains(&true)
}
