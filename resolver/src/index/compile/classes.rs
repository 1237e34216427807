//! Compiles classes: tables of classes, each stored once, with the parents of each class.
//!
//! Two kinds of names become classes before that:
//!
//! - An interface is a class with its own kind of name. It extends nothing, not even the root class; a class extends the
//!   interfaces that it implements. So the search needs no special rules for interfaces: a version that lost an
//!   interface is excluded like one that lost a class, and a class cannot inherit two releases of one interface.
//! - `a.b.*` defines every class `a.b.NAME`. Ecosystems in which not all names are known use it, for example
//!   for a module whose names are computed. An index lists such a class under each such name that one of its
//!   records defines or extends. The catalog looks up names that only other indexes have.

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::{ClassName, IndexRecord, IndexedClass};
use rustc_hash::FxHashMap;

use crate::index::column::{Lists, ListsBuilder};
use crate::index::interner::{Interner, SortedNumbers, skip_repeats};
use crate::index::{ANY_CLASS, CompiledIndex, INTERNAL, Texts, to_u32};

/// Fills the columns of classes.
pub(super) fn classes(index: &mut CompiledIndex, records: &[&IndexRecord]) {
    let mut known = records.iter().filter_map(|record| record.classes.as_ref());
    if known.all(|classes| classes.is_empty()) {
        return no_classes(index, records);
    }
    let classes_of = skip_repeats(records.iter().map(|record| &record.classes));
    let names = SortedNumbers::sorted(
        (classes_of.flatten().flatten())
            .flat_map(|class| std::iter::once(&class.name).chain(&class.extends)),
    );
    tables(index, records, &names);
    index.class_names = names.texts(ClassName::as_str);
}

/// Fills the columns if no release has classes.
fn no_classes(index: &mut CompiledIndex, records: &[&IndexRecord]) {
    let is_known = |record: &IndexRecord| record.classes.is_some();
    let tables = records.iter().map(|record| u32::from(is_known(record)));
    index.tables = tables.collect::<Vec<u32>>().into();
    let runs = usize::from(index.tables.contains(&1));
    index.table_classes = Lists::empty_runs(runs);
    index.externals = Lists::empty_runs(runs);
    index.parents = Lists::empty_runs(0);
    index.class_names = Texts::of(&[]);
}

fn tables(
    index: &mut CompiledIndex,
    records: &[&IndexRecord],
    names: &SortedNumbers<'_, ClassName>,
) {
    /// The columns of the tables and their classes.
    struct Tables {
        classes: ListsBuilder<u32>,
        flags: Vec<u8>,
        parents: ListsBuilder<u32>,
        externals: ListsBuilder<u32>,
    }
    let mut tables = Tables {
        classes: ListsBuilder::new(),
        flags: Vec::new(),
        parents: ListsBuilder::new(),
        externals: ListsBuilder::new(),
    };
    // Most releases have the classes of the release before.
    let mut known: FxHashMap<Vec<u32>, u32> = FxHashMap::default();
    let mut numbers: Vec<u32> = Vec::with_capacity(records.len());
    let mut external: Interner<u32> = Interner::default();
    let mut before = None;
    for record in records {
        if let (Some(number), true) = (numbers.last(), before == Some(&record.classes)) {
            numbers.push(*number);
            continue;
        }
        before = Some(&record.classes);
        let Some(classes) = &record.classes else {
            numbers.push(0);
            continue;
        };
        let next = to_u32(known.len()) + 1;
        let number = *known.entry(table_key(classes, names)).or_insert(next);
        numbers.push(number);
        if number != next {
            continue;
        }
        external.clear();
        for class in classes {
            tables.classes.items.push(names.number(&class.name));
            tables.flags.push(u8::from(class.internal) * INTERNAL);
            for parent in &class.extends {
                let own = classes.binary_search_by(|class| class.name.cmp(parent));
                tables.parents.items.push(if let Ok(own) = own {
                    to_u32(own) << 1
                } else {
                    external.number(names.number(parent)) << 1 | 1
                });
            }
            tables.parents.end();
        }
        tables.classes.end();
        tables.externals.items.extend(external.items());
        tables.externals.end();
    }
    index.tables = numbers.into();
    index.table_classes = tables.classes.finish();
    index.class_flags = tables.flags.into();
    index.parents = tables.parents.finish();
    index.externals = tables.externals.finish();
}

/// The key by which equal tables are found.
fn table_key(classes: &[IndexedClass], names: &SortedNumbers<'_, ClassName>) -> Vec<u32> {
    let mut key = Vec::new();
    for class in classes {
        key.push(names.number(&class.name));
        key.push(u32::from(class.internal));
        key.push(to_u32(class.extends.len()));
        key.extend(class.extends.iter().map(|parent| names.number(parent)));
    }
    key
}

/// The records with interfaces as classes; `None` if there are no interfaces.
pub(super) fn interfaces_as_classes(records: &[&IndexRecord]) -> Option<Vec<IndexRecord>> {
    let has_any = |record: &IndexRecord| {
        let mut classes = record.classes.iter().flatten();
        !record.interfaces.is_empty() || classes.any(|class| !class.implements.is_empty())
    };
    if !records.iter().any(|record| has_any(record)) {
        return None;
    }
    let with_classes = |record: &IndexRecord| {
        let Some(classes) = record.classes.as_deref().filter(|_| has_any(record)) else {
            return record.clone();
        };
        let classes = classes.iter().cloned().map(|mut class| {
            let interfaces = std::mem::take(&mut class.implements);
            let interfaces = interfaces.iter().map(ClassName::of_interface);
            class.extends.extend(interfaces);
            class
        });
        let interfaces = record.interfaces.iter();
        let interfaces = interfaces.map(|name| IndexedClass::new(name.of_interface()));
        record.clone().with_classes(classes.chain(interfaces))
    };
    Some(records.iter().map(|record| with_classes(record)).collect())
}

/// The records with each wildcard class replaced by the known classes that it matches; `None` if there is no wildcard.
pub(super) fn expand_wildcards(records: &[&IndexRecord]) -> Option<Vec<IndexRecord>> {
    let may_have = |record: &&&IndexRecord| record.ecosystem.has_wildcard_classes();
    let classes = records.iter().filter(may_have);
    let mut classes = classes.flat_map(|record| record.classes.iter().flatten());
    classes.find(|class| class.name.as_str().ends_with(ANY_CLASS))?;
    let mut names: BTreeMap<&str, BTreeSet<&ClassName>> = BTreeMap::new();
    for class in records
        .iter()
        .flat_map(|record| record.classes.iter().flatten())
    {
        for name in std::iter::once(&class.name).chain(&class.extends) {
            if let Some((prefix, _)) = name.as_str().rsplit_once('.') {
                names.entry(prefix).or_default().insert(name);
            }
        }
    }
    let expand = |record: &IndexRecord| {
        let Some(classes) = record.classes.as_deref() else {
            return record.clone();
        };
        let prefixes = classes
            .iter()
            .filter_map(|class| class.name.as_str().strip_suffix(ANY_CLASS));
        let others = prefixes
            .filter_map(|prefix| names.get(prefix))
            .flatten()
            .map(|name| IndexedClass::new((*name).clone()));
        let all: Vec<IndexedClass> = classes.iter().cloned().chain(others).collect();
        record.clone().with_classes(all)
    };
    Some(records.iter().map(|record| expand(record)).collect())
}
