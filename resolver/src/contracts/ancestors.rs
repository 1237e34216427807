//! A walk from a class through its ancestors, and the lookups that its result depends on.

use std::collections::VecDeque;
use std::collections::hash_map::Entry;

use pkgres_manifest::ObjectId;
use rustc_hash::FxHashMap;

use crate::class_rules::{ClassAt, definer};
use crate::selection::Selection;
use crate::universe::{ClassId, Parent, ReleaseId, Universe};

/// One lookup of a class in the release that a requirement is bound to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lookup {
    /// The release that has the requirement.
    pub(crate) release: ReleaseId,
    /// The number of the requirement.
    pub(crate) requirement: usize,
    pub(crate) outcome: LookupOutcome,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LookupOutcome {
    /// The release defines the class, and the walk went on in it.
    Entered(ClassId),
    /// The release does not define the class.
    NotDefined(ClassId),
    /// The release defines the class; nothing else about it matters.
    Defines(ClassId),
}

/// The lookups that found a class in a required package: one for each requirement up to the one
/// that provides the class.
pub(super) fn lookups(
    release: ReleaseId,
    provider: usize,
    class: ClassId,
    outcome: LookupOutcome,
) -> Vec<Lookup> {
    (0..=provider)
        .map(|requirement| Lookup {
            release,
            requirement,
            outcome: if requirement == provider {
                outcome
            } else {
                LookupOutcome::NotDefined(class)
            },
        })
        .collect()
}

/// A breadth-first walk from a class through its ancestors.
pub(super) struct AncestorWalk {
    queue: VecDeque<ClassAt>,
    predecessors: FxHashMap<ClassAt, (Option<ClassAt>, Vec<Lookup>)>,
    /// All lookups so far.
    pub(super) lookups: Vec<Lookup>,
}

/// The class that a walk begins with, and the lookups that found it.
#[derive(Debug, Clone)]
pub(super) struct WalkStart {
    pub(super) class: ClassAt,
    pub(super) lookups: Vec<Lookup>,
}

impl WalkStart {
    /// The class of an object of the model.
    pub(super) fn object(root: ReleaseId, object: ObjectId, class: ClassAt) -> Self {
        Self {
            class,
            lookups: vec![Lookup {
                release: root,
                requirement: object.0,
                outcome: LookupOutcome::Entered(class.class),
            }],
        }
    }
}

impl AncestorWalk {
    pub(super) fn from(start: WalkStart) -> Self {
        let WalkStart { class, lookups } = start;
        Self {
            queue: VecDeque::from([class]),
            predecessors: std::iter::once((class, (None, lookups.clone()))).collect(),
            lookups,
        }
    }

    pub(super) fn next(&mut self) -> Option<ClassAt> {
        self.queue.pop_front()
    }

    pub(super) fn push_parents(&mut self, universe: &Universe, selection: &Selection, at: ClassAt) {
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
                    let Some((requirement, release)) =
                        definer(universe, selection, at.release, class)
                    else {
                        continue;
                    };
                    let lookups = lookups(
                        at.release,
                        requirement,
                        class,
                        LookupOutcome::Entered(class),
                    );
                    (ClassAt { release, class }, lookups)
                }
            };
            self.lookups.extend(&lookups);
            if let Entry::Vacant(entry) = self.predecessors.entry(next) {
                entry.insert((Some(at), lookups));
                self.queue.push_back(next);
            }
        }
    }

    /// The lookups on the path to a class; the last one leads to its release.
    pub(super) fn path_to(&self, end: ClassAt) -> Vec<Lookup> {
        let mut path = Vec::new();
        let mut at = Some(end);
        while let Some(class) = at {
            let (before, lookups) = &self.predecessors[&class];
            path.extend(lookups.iter().rev());
            at = *before;
        }
        path.reverse();
        path
    }
}
