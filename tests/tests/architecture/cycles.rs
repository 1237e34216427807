//! Cycles of modules, at every depth of a crate.

use std::collections::{BTreeMap, BTreeSet};

use crate::names::Definition;
use crate::sources::{Crate, ModuleId, Written};

/// A module that uses another one: the names of both.
pub(crate) type Arrow = (String, String);

/// For each module and each module that it uses, a path that says so.
pub(crate) type Arrows = BTreeMap<(ModuleId, ModuleId), Written>;

/// Which modules use which: from the one that mentions an item to the one that defines it.
pub(crate) fn arrows(read: &Crate) -> Arrows {
    let mut arrows = Arrows::new();
    for (from, module) in read.modules.iter().enumerate() {
        for path in &module.mentions {
            for to in used(read, from, path) {
                if from != to {
                    arrows.entry((from, to)).or_insert_with(|| path.clone());
                }
            }
        }
    }
    arrows
}

/// The modules that a module uses by a path: the one that defines what the path means, and if that
/// is a function of a module around it, what the function uses.
fn used(read: &Crate, from: ModuleId, path: &[String]) -> BTreeSet<ModuleId> {
    let around = around(read, from);
    let mut definitions = read.definitions(from, path);
    let mut open: Vec<_> = definitions.iter().cloned().collect();
    while let Some(Definition { module, item }) = open.pop() {
        if !around.contains(&module) || module == from {
            continue;
        }
        let function = item.and_then(|item| read.modules[module].functions.get(&item));
        for path in function.into_iter().flatten() {
            let next = read.definitions(module, path).into_iter();
            open.extend(next.filter(|next| definitions.insert(next.clone())));
        }
    }
    definitions
        .into_iter()
        .map(|definition| definition.module)
        .collect()
}

/// The name of a module in messages and lists.
pub(crate) fn shown(read: &Crate, module: ModuleId) -> String {
    match read.modules[module].name.join("::") {
        name if name.is_empty() => "crate".to_owned(),
        name => name,
    }
}

/// A module with the modules around it, from the root on.
fn around(read: &Crate, module: ModuleId) -> Vec<ModuleId> {
    let parents = std::iter::successors(Some(module), |module| read.modules[*module].parent);
    let mut around: Vec<_> = parents.collect();
    around.reverse();
    around
}

/// The two siblings that an arrow joins, with all that is in them. None for an arrow between a
/// module and one that it is in, which has no direction to keep.
fn siblings(read: &Crate, (from, to): (ModuleId, ModuleId)) -> Option<(ModuleId, ModuleId)> {
    let (from, to) = (around(read, from), around(read, to));
    let mut pairs = from.into_iter().zip(to);
    pairs.find(|(from, to)| from != to)
}

/// The arrows that are part of a cycle of siblings.
pub(crate) fn in_cycles(read: &Crate) -> BTreeMap<Arrow, Written> {
    let arrows = arrows(read).into_iter().filter_map(|(arrow, path)| {
        let names = (shown(read, arrow.0), shown(read, arrow.1));
        Some((names, siblings(read, arrow)?, path))
    });
    let arrows: Vec<_> = arrows.collect();
    let mut used: BTreeMap<ModuleId, BTreeSet<ModuleId>> = BTreeMap::new();
    for (_, (from, to), _) in &arrows {
        used.entry(*from).or_default().insert(*to);
    }
    let closed = arrows
        .into_iter()
        .filter(|(_, (from, to), _)| reaches(&used, *to, *from));
    closed.map(|(names, _, path)| (names, path)).collect()
}

/// Whether arrows lead from one module to another.
fn reaches(used: &BTreeMap<ModuleId, BTreeSet<ModuleId>>, from: ModuleId, to: ModuleId) -> bool {
    let mut seen = BTreeSet::from([from]);
    let mut open = vec![from];
    while let Some(module) = open.pop() {
        let next = used.get(&module).into_iter().flatten();
        open.extend(next.filter(|module| seen.insert(**module)));
    }
    seen.contains(&to)
}
