//! The rules of a valid selection that its releases alone decide: class rules and named prereleases.
//!
//! # Problem
//!
//! Every class that a release extends is found in what it requires; no class extends itself through others; and no
//! class inherits two versions of one ancestor (a diamond with two ends). [`ClassRules`] can switch rules off.
//! Prereleases that have to be named are checked here as well, so that a complete selection is judged at once.
//!
//! # Idea
//!
//! The classes of a selection are nodes of a graph with edges from class to parent. A depth-first search finds a
//! cycle or an order with parents first. In this order, the names that each class reaches are collected; a class
//! clashes if it reaches one name twice. Each violation becomes a nogood and possibly a line of an explanation, so
//! it should be short: a breadth-first search finds the shortest cycles and paths. It starts only at classes that
//! inherit from no other clashing class.
//!
//! # Cost
//!
//! Linear in the graph if every name is defined once. Otherwise each class collects the ancestors whose names are
//! defined several times, which is quadratic in the worst case. Most selections need no check at all: the index knows
//! which packages have [separate classes](is_known_valid): none of their classes can be part of a cycle or has
//! the same name as a class of another package.

use std::collections::VecDeque;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::index::to_u32;
use crate::named_prereleases::{may_be_unnamed, unnamed_prerelease};
use crate::request::ClassRules;
use crate::selection::Selection;
use crate::universe::{ClassId, ClassTable, Parent, ReleaseId, Universe};

/// A class of a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ClassAt {
    pub(crate) release: ReleaseId,
    pub(crate) class: ClassId,
}

/// A violated class rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Violation {
    /// A class that the release extends is not found.
    Missing { release: ReleaseId, class: ClassId },
    /// Each class extends the next, and the last one the first.
    Cycle(Vec<ClassAt>),
    /// Both paths begin at one class and end at two classes of one name.
    Diamond([Vec<ClassAt>; 2]),
    /// A prerelease has to be named by a requirement, and is not; see `named_prereleases.rs`.
    UnnamedPrerelease(ReleaseId),
}

impl Violation {
    /// The paths of the violation from class to class; a cycle ends where it begins.
    pub(crate) fn closed_paths(&self) -> Vec<Vec<ClassAt>> {
        match self {
            Self::Missing { .. } | Self::UnnamedPrerelease(_) => Vec::new(),
            Self::Cycle(cycle) => {
                let mut closed = cycle.clone();
                closed.extend(cycle.first().copied());
                vec![closed]
            }
            Self::Diamond(paths) => paths.to_vec(),
        }
    }
}

/// The first violation of a selection: unnamed prereleases, then missing classes, then cycles, then diamonds; classes of
/// earlier releases first.
pub(crate) fn violation(universe: &mut Universe, selection: &Selection) -> Option<Violation> {
    violations(universe, selection).next()
}

/// The violations of a selection, from the [first](violation) on: one missing class; if there is none, short cycles; if
/// there are none, one diamond for each class whose parents have none.
pub(crate) fn violations(
    universe: &mut Universe,
    selection: &Selection,
) -> Box<dyn Iterator<Item = Violation>> {
    if let Some(release) = unnamed_prerelease(universe, selection) {
        return Box::new(std::iter::once(Violation::UnnamedPrerelease(release)));
    }
    let graph = match Graph::build(universe, selection) {
        Ok(graph) => graph,
        Err(missing) => return Box::new(std::iter::once(missing)),
    };
    if universe.catalog.policy().class_rules() != ClassRules::Inheritance {
        return Box::new(std::iter::empty());
    }
    match graph.parents_first() {
        Ok(order) => Box::new(graph.diamonds(&order).map(Violation::Diamond)),
        Err(cycle) => Box::new(graph.cycles(cycle).map(Violation::Cycle)),
    }
}

/// Whether the index alone shows that a selection obeys all rules, if its extended classes are found: no package in it
/// has a class whose name another one has too, or which can be part of a cycle, and no prerelease has to be named.
pub(crate) fn is_known_valid(universe: &Universe, selection: &Selection) -> bool {
    if may_be_unnamed(universe, selection) {
        return false;
    }
    if universe.catalog.policy().class_rules() != ClassRules::Inheritance {
        return true;
    }
    let mut foreign = None;
    selection.packages_side_by_side().next().is_none()
        && (selection.releases().iter()).all(|release| {
            match universe
                .catalog
                .package_has_separate_classes(release.package)
            {
                Some(is_separate) => is_separate,
                // One release from outside the indexes is fine if its classes are unrelated to theirs.
                None => foreign.replace(*release).is_none(),
            }
        })
        && foreign.is_none_or(|release| universe.catalog.release_has_separate_classes(release))
}

/// The release that defines an external class for `release`, and the number of the requirement on
/// it: the first in the order of lookup.
pub(crate) fn definer(
    universe: &Universe,
    selection: &Selection,
    release: ReleaseId,
    class: ClassId,
) -> Option<(usize, ReleaseId)> {
    selection
        .bound(release)
        .iter()
        .copied()
        .enumerate()
        .find(|(_, target)| universe.catalog.defines(*target, class))
}

/// The classes of a selection and their parents, by dense numbers in the order of decisions.
struct Graph {
    nodes: Vec<ClassAt>,
    parents: Vec<Vec<u32>>,
}

impl Graph {
    fn build(universe: &mut Universe, selection: &Selection) -> Result<Self, Violation> {
        let mut graph = Self {
            nodes: Vec::new(),
            parents: Vec::new(),
        };
        // Classes that extend nothing are nodes only if others extend them.
        let extending = selection.releases().iter().filter_map(|release| {
            if universe.catalog.extends_nothing(*release) {
                return None;
            }
            Some((*release, universe.class_table(*release)?))
        });
        let extending: Vec<(ReleaseId, Arc<ClassTable>)> = extending.collect();
        let mut first: FxHashMap<ReleaseId, (u32, usize)> = FxHashMap::default();
        for (table_number, (release, table)) in extending.iter().enumerate() {
            first.insert(*release, (to_u32(graph.nodes.len()), table_number));
            graph
                .nodes
                .extend(table.classes.iter().map(|class| ClassAt {
                    release: *release,
                    class: class.name,
                }));
        }
        let mut others: FxHashMap<ClassAt, u32> = FxHashMap::default();
        for (release, table) in &extending {
            let mut found = Vec::with_capacity(table.external.len());
            for class in &table.external {
                let Some((_, target)) = definer(universe, selection, *release, *class) else {
                    return Err(Violation::Missing {
                        release: *release,
                        class: *class,
                    });
                };
                let at = ClassAt {
                    release: target,
                    class: *class,
                };
                let written = first.get(&target).and_then(|(from, table_number)| {
                    let position = extending[*table_number].1.position(*class);
                    position.map(|position| from + position)
                });
                // A class that only a wildcard defines is not in the table of its release. It extends nothing.
                found.push(written.unwrap_or_else(|| {
                    *others.entry(at).or_insert_with(|| {
                        graph.nodes.push(at);
                        to_u32(graph.nodes.len() - 1)
                    })
                }));
            }
            let (from, _) = first[release];
            for class in &table.classes {
                graph.parents.push(
                    class
                        .parents
                        .iter()
                        .map(|parent| match parent {
                            Parent::Own(position) => from + position,
                            Parent::External(position) => found[*position as usize],
                        })
                        .collect(),
                );
            }
        }
        graph.parents.resize(graph.nodes.len(), Vec::new());
        Ok(graph)
    }

    /// All classes with parents before children, or a cycle.
    fn parents_first(&self) -> Result<Vec<u32>, Vec<u32>> {
        #[derive(Clone, Copy, PartialEq)]
        enum State {
            New,
            Open,
            Done,
        }
        let mut states = vec![State::New; self.nodes.len()];
        let mut order = Vec::with_capacity(self.nodes.len());
        let mut path: Vec<(u32, usize)> = Vec::new();
        for start in 0..to_u32(self.nodes.len()) {
            if states[start as usize] != State::New {
                continue;
            }
            states[start as usize] = State::Open;
            path.push((start, 0));
            while let Some((node, next)) = path.last_mut() {
                let node = *node;
                let Some(parent) = self.parents[node as usize].get(*next).copied() else {
                    states[node as usize] = State::Done;
                    order.push(node);
                    path.pop();
                    continue;
                };
                *next += 1;
                match states[parent as usize] {
                    State::Done => {}
                    State::New => {
                        states[parent as usize] = State::Open;
                        path.push((parent, 0));
                    }
                    State::Open => {
                        let begin = path.iter().position(|(on_path, _)| *on_path == parent);
                        let cycle = &path[begin.expect("open classes are on the path")..];
                        return Err(cycle.iter().map(|(at, _)| *at).collect());
                    }
                }
            }
        }
        Ok(order)
    }

    /// Short cycles in place of a long one: each of its classes is on one of them.
    fn cycles(self, cycle: Vec<u32>) -> impl Iterator<Item = Vec<ClassAt>> {
        let mut covered: FxHashSet<u32> = FxHashSet::default();
        cycle.into_iter().filter_map(move |start| {
            if covered.contains(&start) {
                return None;
            }
            let cycle = self.cycle(start)?;
            covered.extend(&cycle);
            Some(self.classes(&cycle))
        })
    }

    /// The shortest cycle that has a class.
    fn cycle(&self, start: u32) -> Option<Vec<u32>> {
        let mut came_from: FxHashMap<u32, u32> = FxHashMap::default();
        let mut queue = VecDeque::from([start]);
        came_from.insert(start, start);
        while let Some(node) = queue.pop_front() {
            for parent in &self.parents[node as usize] {
                if *parent == start {
                    return Some(path(&came_from, node));
                }
                if let Entry::Vacant(entry) = came_from.entry(*parent) {
                    entry.insert(node);
                    queue.push_back(*parent);
                }
            }
        }
        None
    }

    /// For each class that reaches two classes of one name, although none of its parents does, the
    /// shortest paths to two such classes.
    fn diamonds(self, parents_first: &[u32]) -> impl Iterator<Item = [Vec<ClassAt>; 2]> + use<> {
        let mut clashing = self.clashing(parents_first);
        clashing.sort_unstable();
        clashing
            .into_iter()
            .map(move |node| self.shortest_clash(node))
    }

    /// The classes that reach two classes of one name, although none of their parents does.
    fn clashing(&self, parents_first: &[u32]) -> Vec<u32> {
        let mut counts: FxHashMap<ClassId, u32> = FxHashMap::default();
        for node in &self.nodes {
            *counts.entry(node.class).or_default() += 1;
        }
        let is_shared = |node: u32| counts[&self.nodes[node as usize].class] > 1;
        if counts.values().all(|count| *count < 2) {
            return Vec::new();
        }
        // For each class the classes it reaches, itself included, whose name is defined several
        // times.
        let mut reached: Vec<Vec<u32>> = vec![Vec::new(); self.nodes.len()];
        let mut clashing = Vec::new();
        for node in parents_first {
            let mut all: FxHashSet<u32> = FxHashSet::default();
            all.extend(Some(*node).filter(|node| is_shared(*node)));
            for parent in &self.parents[*node as usize] {
                all.extend(&reached[*parent as usize]);
            }
            let names: FxHashSet<ClassId> = all
                .iter()
                .map(|at| self.nodes[*at as usize].class)
                .collect();
            if names.len() < all.len() {
                // Classes that extend this one clash as well, for the same reason.
                clashing.push(*node);
                continue;
            }
            reached[*node as usize] = all.into_iter().collect();
        }
        clashing
    }

    /// The two shortest paths from a class to two classes of one name.
    fn shortest_clash(&self, start: u32) -> [Vec<ClassAt>; 2] {
        let mut came_from: FxHashMap<u32, u32> = FxHashMap::default();
        let mut by_name: FxHashMap<ClassId, u32> = FxHashMap::default();
        let mut queue = VecDeque::from([start]);
        came_from.insert(start, start);
        by_name.insert(self.nodes[start as usize].class, start);
        while let Some(node) = queue.pop_front() {
            for parent in &self.parents[node as usize] {
                if came_from.contains_key(parent) {
                    continue;
                }
                came_from.insert(*parent, node);
                let name = self.nodes[*parent as usize].class;
                if let Some(other) = by_name.insert(name, *parent) {
                    return [other, *parent].map(|end| self.classes(&path(&came_from, end)));
                }
                queue.push_back(*parent);
            }
        }
        unreachable!("the class was found to reach two classes of one name")
    }

    fn classes(&self, path: &[u32]) -> Vec<ClassAt> {
        path.iter().map(|at| self.nodes[*at as usize]).collect()
    }
}

/// The path that led to a class.
fn path(came_from: &FxHashMap<u32, u32>, end: u32) -> Vec<u32> {
    let mut path = vec![end];
    let mut at = end;
    while came_from[&at] != at {
        at = came_from[&at];
        path.push(at);
    }
    path.reverse();
    path
}
