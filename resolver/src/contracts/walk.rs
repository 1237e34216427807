//! From a class through its ancestors.

use std::collections::VecDeque;
use std::collections::hash_map::Entry;

use pkgres_manifest::ObjectId;
use rustc_hash::FxHashMap;

use crate::hierarchy::{ClassAt, provider};
use crate::selection::Selection;
use crate::universe::{Parent, ReleaseId, Universe};

use super::trail::{Lookup, Say, Trail, lookups};

/// A walk from a class through its ancestors, nearest first.
pub(super) struct Walk {
    queue: VecDeque<ClassAt>,
    came_from: FxHashMap<ClassAt, (Option<ClassAt>, Trail)>,
    /// Every lookup that was made.
    pub(super) trail: Trail,
}

impl Walk {
    pub(super) fn from(root: ReleaseId, object: ObjectId, start: ClassAt) -> Self {
        let first = vec![Lookup {
            release: root,
            edge: object.0,
            say: Say::Entered(start.class),
        }];
        Self {
            queue: VecDeque::from([start]),
            came_from: std::iter::once((start, (None, first.clone()))).collect(),
            trail: first,
        }
    }

    pub(super) fn next(&mut self) -> Option<ClassAt> {
        self.queue.pop_front()
    }

    /// Adds the parents of a class.
    pub(super) fn climb(&mut self, universe: &Universe, selection: &Selection, at: ClassAt) {
        let Some(table) = &universe.known_details(at.release).classes else {
            return;
        };
        let Some(position) = table.position(at.class) else {
            return;
        };
        for parent in &table.classes[position as usize].parents {
            let (next, lookups) = match parent {
                Parent::Own(own) => {
                    let class = table.classes[*own as usize].name;
                    (
                        ClassAt {
                            release: at.release,
                            class,
                        },
                        Vec::new(),
                    )
                }
                Parent::External(external) => {
                    let class = table.external[*external as usize];
                    let Some((edge, release)) = provider(universe, selection, at.release, class)
                    else {
                        continue;
                    };
                    let lookups = lookups(at.release, edge, class, Say::Entered(class));
                    (ClassAt { release, class }, lookups)
                }
            };
            self.trail.extend(&lookups);
            if let Entry::Vacant(entry) = self.came_from.entry(next) {
                entry.insert((Some(at), lookups));
                self.queue.push_back(next);
            }
        }
    }

    /// The lookups on the way to a class; the last one leads to its release.
    pub(super) fn path_to(&self, end: ClassAt) -> Trail {
        let mut path = Vec::new();
        let mut at = Some(end);
        while let Some(class) = at {
            let (before, lookups) = &self.came_from[&class];
            path.extend(lookups.iter().rev());
            at = *before;
        }
        path.reverse();
        path
    }
}
