//! What follows from the classes of an index: definers, where external classes are found, and which
//! packages cannot violate the rules of the class hierarchy.
//!
//! This data is not stored in files, but derived when an index is compiled or opened, which takes
//! about as long as validating stored data would.
//!
//! Without links and without separate classes, the search reads the classes of every release that it reaches, and
//! checks all classes of every selection. Solving then takes four to seven times as long: 4.3 instead of 0.6 ms for
//! 1,000 packages of 20 versions with classes, and 59 instead of 10 ms for 10,000. Solvers without classes would be
//! faster (`cargo bench -p pkgres-benches --bench solve classes`).

mod cycles;
mod definers;
mod links;

pub(crate) use cycles::nodes_leading_to_cycles;
pub(crate) use definers::ClassDefiners;

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::column::{Lists, ListsBuilder};
use super::{CompiledIndex, NONE, ParentNumber, to_u32};

/// A class that a release extends and a required package must define.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Link {
    /// The number of the class.
    pub(crate) class: u32,
    /// The requirement on the only package that can define it; [`NONE`] if no package of the index
    /// can, and [`SEVERAL`] if more than one can or there is no set of its releases.
    pub(crate) requirement: u32,
    /// The index of the set of its releases that define the class.
    pub(crate) allowed: u32,
    /// The index of the set of releases that extend the class, find it in the same package, or in
    /// none, and require a subset of what this release requires; [`NONE`] if releases of the
    /// package do not share links, or too few share this one.
    pub(crate) owners: u32,
}

/// More than one requirement, or one whose definers are few of many releases.
pub(crate) const SEVERAL: u32 = NONE - 1;

/// What follows from the classes of an index. All columns are empty if there are no classes.
#[derive(Debug, Default)]
pub(crate) struct Inheritance {
    words: Vec<u64>,
    /// For each package the classes that any release defines for others, ascending, and the index
    /// of those releases, see [`ClassDefiners`].
    defined: Lists<u32>,
    defining: Vec<u32>,
    /// For each package the index of the set of releases with unknown classes; [`NONE`] if all are
    /// known.
    unknown: Vec<u32>,
    /// The links of each release, in the order of its external classes. Empty if there are no
    /// external classes.
    links: Vec<Link>,
    /// Where the links of each release begin; one more than there are releases.
    link_starts: Vec<u32>,
    /// For each class a package that has it; [`NONE`] if none has.
    homes: Vec<u32>,
    /// Whether the classes of a table extend each other in a cycle.
    cycles: Vec<bool>,
    /// For each table how many external classes are extended before the implicit parent of the first class that has
    /// one; [`NONE`] if none has.
    implicit: Vec<u32>,
    /// The distinct sets of names that releases require, without their own; ascending.
    requirements: Lists<u32>,
    /// For each release the number of that set.
    required: Vec<u32>,
    /// For each package whether its releases have few enough of these sets to share links.
    may_share_links: Vec<bool>,
    any_unknown: bool,
    /// For each release what it extends. Empty if none extends anything.
    extends: Vec<Extends>,
    /// For each package whether none of its classes can be part of a cycle or has the name of
    /// another package's class.
    separate_classes: Vec<bool>,
}

impl Inheritance {
    /// What follows from an index with valid columns.
    pub(super) fn of(index: &CompiledIndex) -> Self {
        let mut inheritance = Self::default();
        inheritance.find_definers(index);
        inheritance.examine_tables(index);
        inheritance.find_extends(index);
        inheritance.find_requirements(index);
        inheritance.find_links(index);
        inheritance.find_separate_classes(index);
        inheritance
    }

    /// The words of a set.
    #[inline]
    pub(crate) fn words_at(&self, at: usize, width: usize) -> &[u64] {
        &self.words[at..at + width]
    }

    /// Whether any release of a package is known to define a class for others.
    pub(crate) fn defines(&self, name: u32, class: u32) -> bool {
        let defined = &self.defined.items[self.defined_by(name)];
        defined.binary_search(&class).is_ok()
    }

    /// The range of the classes that any release of a package defines for others.
    fn defined_by(&self, name: u32) -> Range<usize> {
        match self.defined.starts.get(name as usize..name as usize + 2) {
            Some(bounds) => bounds[0] as usize..bounds[1] as usize,
            None => 0..0,
        }
    }

    /// The classes that any release defines for others, package by package.
    pub(crate) fn defined_classes(&self) -> &[u32] {
        &self.defined.items
    }

    /// The index of the set of a package's releases with unknown classes, if there are any.
    fn unknown_of(&self, name: u32) -> Option<u32> {
        let unknown = self.unknown.get(name as usize);
        unknown.copied().filter(|at| *at != NONE)
    }

    pub(crate) fn links(&self, release: u32) -> &[Link] {
        &self.links[self.link_range(release)]
    }

    #[inline]
    pub(crate) fn link_range(&self, release: u32) -> Range<usize> {
        match self.link_starts.get(release as usize..release as usize + 2) {
            Some(bounds) => bounds[0] as usize..bounds[1] as usize,
            None => 0..0,
        }
    }

    #[inline]
    pub(crate) fn link(&self, number: usize) -> Link {
        self.links[number]
    }

    /// A package that has a class. If several have it, none of them has separate classes.
    pub(crate) fn home(&self, class: u32) -> Option<u32> {
        Some(self.homes[class as usize]).filter(|home| *home != NONE)
    }

    /// What the classes of a release extend.
    #[inline]
    pub(crate) fn extends(&self, release: u32) -> Extends {
        let extends = self.extends.get(release as usize);
        extends.copied().unwrap_or_default()
    }

    /// Whether the classes of any release are unknown.
    pub(crate) fn any_unknown(&self) -> bool {
        self.any_unknown
    }

    /// Whether the classes of a table extend each other in a cycle.
    pub(crate) fn has_cycle(&self, table: u32) -> bool {
        self.cycles.get(table as usize).is_some_and(|cycle| *cycle)
    }

    #[cfg(feature = "prefetch")]
    pub(super) fn prefetch_extends(&self, release: u32) {
        prefetch_index::prefetch_index(&self.extends, release as usize);
    }

    /// How many external classes a table extends before the first implicit parent, if there is one.
    pub(crate) fn implicit_at(&self, table: u32) -> Option<u32> {
        let implicit = self.implicit.get(table as usize);
        implicit.copied().filter(|at| *at != NONE)
    }

    /// The number of the set of names that a release with classes requires: equal for releases that
    /// require the same.
    pub(crate) fn required(&self, release: u32) -> u32 {
        self.required[release as usize]
    }

    /// Whether a release requires a subset of what another one requires, `apart` from one package.
    pub(crate) fn requires_subset(&self, release: u32, than: u32, apart: Option<u32>) -> bool {
        let [few, many] = [release, than].map(|release| self.required(release));
        let required = self.requirements.run(many);
        let is_there = |name: &u32| Some(*name) == apart || required.binary_search(name).is_ok();
        few == many || self.requirements.run(few).iter().all(is_there)
    }

    /// Whether the releases of a package share links, because they have few distinct sets of
    /// required names.
    pub(crate) fn may_share_links(&self, name: u32) -> bool {
        self.may_share_links[name as usize]
    }

    /// Whether no class of a package can be part of a cycle or have the name of another
    /// package's class, as far as the index goes.
    pub(crate) fn has_separate_classes(&self, name: u32) -> bool {
        self.separate_classes
            .get(name as usize)
            .is_none_or(|is| *is)
    }

    fn examine_tables(&mut self, index: &CompiledIndex) {
        for table in 0..index.table_classes.len() {
            self.implicit.push(externals_before_implicit(index, table));
            self.cycles.push(cycles::has_own_cycle(index, table));
        }
    }

    /// Derives what each release extends; links make more of it unresolved.
    fn find_extends(&mut self, index: &CompiledIndex) {
        if index.table_classes.items.is_empty() {
            return;
        }
        let extends = |table: u32| Extends {
            named: !index.extends_nothing(table),
            implicit: self.implicit_at(table).is_some(),
            unresolved: self.has_cycle(table),
        };
        let tables = index.tables.iter().map(|table| table.checked_sub(1));
        let extends = tables.map(|table| table.map(extends).unwrap_or_default());
        self.extends = extends.collect();
    }

    fn find_requirements(&mut self, index: &CompiledIndex) {
        // Only releases with classes need it.
        if index.table_classes.items.is_empty() {
            return;
        }
        let mut requirements = ListsBuilder::new();
        let mut known: FxHashMap<Box<[u32]>, u32> = FxHashMap::default();
        let mut targets: Vec<u32> = Vec::new();
        let (mut before, mut set_before): (Vec<u32>, Option<u32>) = (Vec::new(), None);
        for name in 0..index.name_count() {
            let first = self.required.len();
            for release in index.releases(name) {
                let required = index.requirements(index.requirement_range(release));
                let required = required.map(|requirement| requirement.target);
                targets.clear();
                targets.extend(required.filter(|target| *target != name));
                targets.sort_unstable();
                // Most releases require what the one before requires.
                if let Some(set) = set_before.filter(|_| before == targets) {
                    self.required.push(set);
                    continue;
                }
                let next = to_u32(known.len());
                let set = known.get(&targets[..]).copied().unwrap_or(next);
                if set == next {
                    known.insert(targets.as_slice().into(), set);
                    requirements.items.extend_from_slice(&targets);
                    requirements.end();
                }
                self.required.push(set);
                std::mem::swap(&mut before, &mut targets);
                set_before = Some(set);
            }
            let may_share = links::may_share_links(&self.required[first..]);
            self.may_share_links.push(may_share);
        }
        self.requirements = requirements.finish();
    }
}

fn externals_before_implicit(index: &CompiledIndex, table: u32) -> u32 {
    let mut before = 0;
    for position in 0..index.table_classes(table).len() {
        for parent in index.parents(table, position) {
            if let ParentNumber::External(at) = parent {
                // They are numbered in the order in which they are first extended.
                before = before.max(at + 1);
            }
        }
        if index.is_implicit(table, position) {
            return before;
        }
    }
    NONE
}

/// What the classes of a release extend; nothing if they are unknown.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Extends {
    /// Whether a class names a parent.
    named: bool,
    /// Whether a class names no parent, so it extends the root class implicitly.
    pub(crate) implicit: bool,
    /// Whether it does not follow from the requirements that all named parents are found and in no cycle.
    pub(crate) unresolved: bool,
}

impl Extends {
    /// Whether no class extends another one. `has_root_class` says whether implicit parents exist.
    #[inline]
    pub(crate) fn nothing(self, has_root_class: bool) -> bool {
        !(self.named || has_root_class && self.implicit)
    }
}

#[cfg(test)]
mod tests {
    use pkgres_manifest::{IndexRecord, Limits};

    use super::*;

    #[test]
    fn nothing_follows_where_there_are_no_classes() {
        let lines = [
            r#"{"name":"a.A","version":"1.0.0","require":[["b.B","1"],["c.C","1"]],"classes":{}}"#,
            r#"{"name":"a.A","version":"2.0.0","classes":{}}"#,
            r#"{"name":"c.C","version":"1.0.0","classes":{"c.C":{}}}"#,
        ];
        let read = |line| IndexRecord::parse_line(line, &Limits::default()).expect("a record");
        let records = lines.map(read);
        // Only with the last record is there inheritance to derive.
        for count in 2..=lines.len() {
            let index = CompiledIndex::compile(&records[..count]);
            let inheritance = index.inheritance();
            for name in 0..2 {
                assert!(inheritance.has_separate_classes(name));
                assert_eq!(inheritance.unknown_of(name), None);
                assert!(!inheritance.defines(name, 0));
            }
            assert!(!inheritance.has_cycle(0));
            assert_eq!(inheritance.implicit_at(0), None);
            assert!(inheritance.links(0).is_empty() && !inheritance.any_unknown());
            assert!(inheritance.extends(0).nothing(true));
        }
    }
}
