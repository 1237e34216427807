//! What follows from the classes of an index: who defines what, where what is extended is found,
//! and which packages cannot break the rules of inheritance.
//!
//! None of it stands in a file. It is worked out when an index is compiled or opened, in about the
//! time that it would take to check it.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::column::{Lists, ListsBuilder};
use super::{CompiledIndex, INTERNAL, NONE, ParentNumber, to_u32, width};

/// A class that a release extends and a required package must define.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Link {
    /// The number of the class.
    pub(crate) class: u32,
    /// The requirement on the only package that can define it; [`NONE`] if no package of the index
    /// can, and [`SEVERAL`] if more than one can.
    pub(crate) edge: u32,
    /// Where the set of releases of that package stands that define it.
    pub(crate) allowed: u32,
    /// Where the set of releases stands that extend it, find it in that package alone, or in none,
    /// and require nothing that this release does not require.
    pub(crate) owners: u32,
}

/// What the classes of a release extend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extends {
    /// There are no classes, or they are unknown.
    Nothing,
    /// At most what classes extend that do not say it.
    Implicitly,
    /// Classes that are named.
    Explicitly,
}

/// Stands for more than one requirement.
pub(crate) const SEVERAL: u32 = NONE - 1;

/// What the classes of an index mean for solving.
#[derive(Debug, Default)]
pub(crate) struct Inheritance {
    words: Vec<u64>,
    /// For each package the classes that any release defines for others, ascending, and where the
    /// sets of those releases stand.
    defined: Lists<u32>,
    defining: Vec<u32>,
    /// For each package where the set of releases stands whose classes are unknown; [`NONE`] if
    /// all are known.
    unknown: Vec<u32>,
    /// For each release what stands in the order of its externals. Nothing if no class of the
    /// index extends another package's.
    links: Vec<Link>,
    /// Where those of each release begin; one more than there are releases.
    link_starts: Vec<u32>,
    /// For each class a package that has it; [`NONE`] if none has.
    homes: Vec<u32>,
    /// Whether the classes of a table extend each other in a circle.
    circles: Vec<bool>,
    /// For each table how many classes of others are extended before a class comes that says
    /// nothing of what it extends; [`NONE`] if all say it.
    implicit: Vec<u32>,
    /// What releases require, apart from their own package: ascending, each set once.
    requirements: Lists<u32>,
    /// For each release which of those sets.
    required: Vec<u32>,
    any_unknown: bool,
    /// For each release what it extends. Nothing if none extends anything.
    extends: Vec<Extends>,
    /// Whether no class of a package can be part of a circle or have the name of another
    /// package's class.
    tame: Vec<bool>,
}

impl Inheritance {
    /// What follows from an index whose columns hold together.
    pub(super) fn of(index: &CompiledIndex) -> Self {
        let mut inheritance = Self::default();
        inheritance.find_definers(index);
        inheritance.look_at_tables(index);
        inheritance.look_at_releases(index);
        inheritance.find_requirements(index);
        inheritance.find_links(index);
        inheritance.find_tame(index);
        inheritance
    }

    /// The words of a set.
    #[inline]
    pub(crate) fn words_at(&self, at: usize, width: usize) -> &[u64] {
        &self.words[at..at + width]
    }

    /// Where the set of releases of a package stands that define a class, if it is not empty.
    pub(crate) fn definers_of(&self, name: u32, class: u32) -> Option<u32> {
        let range = self.defined.range(name);
        match self.defined.items[range.clone()].binary_search(&class) {
            Ok(at) => Some(self.defining[range.start + at]),
            Err(_) => self.unknown_of(name),
        }
    }

    /// Whether any release of a package is known to define a class for others.
    pub(crate) fn defines(&self, name: u32, class: u32) -> bool {
        self.defined.of(name).binary_search(&class).is_ok()
    }

    /// Where the set of releases of a package stands whose classes are unknown, if there are any.
    pub(crate) fn unknown_of(&self, name: u32) -> Option<u32> {
        Some(self.unknown[name as usize]).filter(|at| *at != NONE)
    }

    /// The links of a release.
    #[inline]
    pub(crate) fn links(&self, release: u32) -> &[Link] {
        match self.link_starts.get(release as usize..release as usize + 2) {
            Some(bounds) => &self.links[bounds[0] as usize..bounds[1] as usize],
            None => &[],
        }
    }

    /// A package that has a class, if any has. Where several have it, none of them is tame.
    pub(crate) fn home(&self, class: u32) -> Option<u32> {
        Some(self.homes[class as usize]).filter(|home| *home != NONE)
    }

    /// What the classes of a release extend.
    #[inline]
    pub(crate) fn extends(&self, release: u32) -> Extends {
        let extends = self.extends.get(release as usize);
        extends.copied().unwrap_or(Extends::Nothing)
    }

    /// Whether the classes of any release are unknown.
    pub(crate) fn any_unknown(&self) -> bool {
        self.any_unknown
    }

    /// Whether the classes of a table extend each other in a circle.
    pub(crate) fn has_circle(&self, table: u32) -> bool {
        self.circles[table as usize]
    }

    /// How many classes of others a table extends before a class comes that says nothing of what
    /// it extends, if one does.
    pub(crate) fn implicit_at(&self, table: u32) -> Option<u32> {
        Some(self.implicit[table as usize]).filter(|at| *at != NONE)
    }

    /// Stands for everything that a release with classes requires: equal for releases that require
    /// the same.
    pub(crate) fn required(&self, release: u32) -> u32 {
        self.required[release as usize]
    }

    /// Whether a release requires nothing that another one does not.
    pub(crate) fn requires_no_more(&self, release: u32, than: u32) -> bool {
        let [few, many] = [release, than].map(|release| self.required(release));
        let many = self.requirements.of(many);
        let is_there = |name: &u32| many.binary_search(name).is_ok();
        few == self.required(than) || self.requirements.of(few).iter().all(is_there)
    }

    /// Whether no class of a package can be part of a circle or have the name of another
    /// package's class, as far as the index goes.
    pub(crate) fn is_tame(&self, name: u32) -> bool {
        self.tame[name as usize]
    }

    fn find_definers(&mut self, index: &CompiledIndex) {
        // Looking at a column that is part of a file is not free.
        let tables = &*index.tables;
        let mut defined = ListsBuilder::new();
        let mut own: Vec<(u32, u32)> = Vec::new();
        for name in 0..index.name_count() {
            let releases = index.releases(name);
            let width = width(releases.end - releases.start);
            let unknown = self.find_unknown(tables, &releases, width);
            self.unknown.push(unknown);
            own.clear();
            for (position, release) in (0_u32..).zip(releases) {
                let Some(table) = index.table(release) else {
                    continue;
                };
                let range = index.table_classes.range(table);
                let flags = &index.class_flags[range.clone()];
                let classes = &index.table_classes.items[range];
                for (class, flags) in classes.iter().zip(flags) {
                    if flags & INTERNAL == 0 {
                        own.push((*class, position));
                    }
                }
            }
            own.sort_unstable();
            for same in own.chunk_by(|one, two| one.0 == two.0) {
                let class = same[0].0;
                defined.items.push(class);
                let set = self.new_set(width);
                self.defining.push(set);
                for (_, position) in same {
                    self.insert(set, *position);
                }
                if let Some(unknown) = self.unknown_of(name) {
                    for word in 0..width {
                        self.words[set as usize + word] |= self.words[unknown as usize + word];
                    }
                }
            }
            defined.end();
        }
        self.defined = defined.finish();
    }

    /// Keeps which releases of a package have classes that are unknown, if there are any; `tables` are those
    /// of all releases.
    fn find_unknown(&mut self, tables: &[u32], releases: &Range<u32>, width: usize) -> u32 {
        let mut unknown = releases
            .clone()
            .filter(|release| tables[*release as usize] == 0);
        let Some(first) = unknown.next() else {
            return NONE;
        };
        self.any_unknown = true;
        let set = self.new_set(width);
        for release in std::iter::once(first).chain(unknown) {
            self.insert(set, release - releases.start);
        }
        set
    }

    fn new_set(&mut self, width: usize) -> u32 {
        let set = to_u32(self.words.len());
        self.words.resize(self.words.len() + width, 0);
        set
    }

    fn insert(&mut self, set: u32, number: u32) {
        self.words[set as usize + number as usize / 64] |= 1 << (number % 64);
    }

    fn look_at_tables(&mut self, index: &CompiledIndex) {
        for table in 0..index.table_classes.len() {
            self.implicit.push(externals_before_implicit(index, table));
            self.circles.push(has_own_circle(index, table));
        }
    }

    fn look_at_releases(&mut self, index: &CompiledIndex) {
        let extends = |table: u32| {
            if index.table_classes(table).is_empty() {
                Extends::Nothing
            } else if index.extends_nothing(table) {
                Extends::Implicitly
            } else {
                Extends::Explicitly
            }
        };
        if index.table_classes.items.is_empty() {
            return;
        }
        let tables = index.tables.iter().map(|table| table.checked_sub(1));
        self.extends = tables
            .map(|table| table.map_or(Extends::Nothing, extends))
            .collect();
    }

    fn find_requirements(&mut self, index: &CompiledIndex) {
        // It is asked only of releases that have classes.
        if index.table_classes.items.is_empty() {
            return;
        }
        let mut requirements = ListsBuilder::new();
        let mut known: FxHashMap<Box<[u32]>, u32> = FxHashMap::default();
        let mut targets: Vec<u32> = Vec::new();
        let (mut before, mut set_before): (Vec<u32>, Option<u32>) = (Vec::new(), None);
        for name in 0..index.name_count() {
            for release in index.releases(name) {
                let required = index.edges(release).map(|edge| index.edge_target(edge));
                targets.clear();
                targets.extend(required.filter(|target| *target != name));
                targets.sort_unstable();
                // Most releases require what the one before does.
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
        }
        self.requirements = requirements.finish();
    }

    fn find_links(&mut self, index: &CompiledIndex) {
        if index.externals.items.is_empty() {
            return;
        }
        self.link_starts.push(0);
        for name in 0..index.name_count() {
            let first = self.links.len();
            // The package that each link leads to.
            let mut targets = Vec::new();
            for release in index.releases(name) {
                let table = index.table(release);
                let externals = table.map_or(&[][..], |table| index.externals(table));
                for class in externals {
                    let link = self.link(index, name, release, *class);
                    let (edge, target, allowed) = link.unwrap_or((SEVERAL, NONE, NONE));
                    targets.push(target);
                    self.links.push(Link {
                        class: *class,
                        edge,
                        allowed,
                        owners: NONE,
                    });
                }
                self.link_starts.push(to_u32(self.links.len()));
            }
            self.find_owners(index, name, first, &targets);
        }
    }

    /// Finds out which releases of a package have links in common; `first` is the first link of
    /// the package, and `targets` are the packages that the links lead to.
    fn find_owners(&mut self, index: &CompiledIndex, name: u32, first: usize, targets: &[u32]) {
        let releases = index.releases(name);
        let width = width(releases.end - releases.start);
        let links_of = |inheritance: &Self, release: u32| {
            let bounds = &inheritance.link_starts[release as usize..release as usize + 2];
            bounds[0] as usize..bounds[1] as usize
        };
        let mut known: FxHashMap<(u32, u32, u32), u32> = FxHashMap::default();
        for release in releases.clone() {
            for at in links_of(self, release) {
                let (class, edge) = (self.links[at].class, self.links[at].edge);
                if edge == SEVERAL {
                    continue;
                }
                let target = targets[at - first];
                let key = (class, target, self.required(release));
                if let Some(owners) = known.get(&key) {
                    self.links[at].owners = *owners;
                    continue;
                }
                let owners = self.new_set(width);
                for (position, other) in (0_u32..).zip(releases.clone()) {
                    let mut links = links_of(self, other);
                    let is_alike = links.any(|at| {
                        self.links[at].class == class
                            && self.links[at].edge != SEVERAL
                            && targets[at - first] == target
                    });
                    if is_alike && self.requires_no_more(other, release) {
                        self.insert(owners, position);
                    }
                }
                known.insert(key, owners);
                self.links[at].owners = owners;
            }
        }
    }

    /// The requirement of a release on the only package that can define a class, that package,
    /// and where the set of its releases stands that do; nothing but [`NONE`] if no package can.
    fn link(
        &self,
        index: &CompiledIndex,
        name: u32,
        release: u32,
        class: u32,
    ) -> Option<(u32, u32, u32)> {
        let mut found = self.definers_for(index, name, release, class);
        let only = found.next().unwrap_or((NONE, NONE, NONE));
        found.next().is_none().then_some(only)
    }

    fn definers_for(
        &self,
        index: &CompiledIndex,
        name: u32,
        release: u32,
        class: u32,
    ) -> impl Iterator<Item = (u32, u32, u32)> {
        index.edges(release).filter_map(move |edge| {
            let target = index.edge_target(edge);
            let defining = self.definers_of(target, class)?;
            (target != name).then_some((to_u32(edge), target, defining))
        })
    }

    fn find_tame(&mut self, index: &CompiledIndex) {
        let names = index.name_count();
        // Releases whose classes are unknown have whatever is asked for.
        self.tame = self
            .unknown
            .iter()
            .map(|unknown| *unknown == NONE)
            .collect();
        self.homes = vec![NONE; index.class_name_count() as usize];
        for name in 0..names {
            for release in index.releases(name) {
                let Some(table) = index.table(release) else {
                    continue;
                };
                self.tame[name as usize] &= !self.has_circle(table);
                for class in index.table_classes(table) {
                    let home = &mut self.homes[*class as usize];
                    if *home != NONE && *home != name {
                        let other = *home;
                        self.tame[name as usize] = false;
                        self.tame[other as usize] = false;
                    } else {
                        *home = name;
                    }
                }
            }
        }
        self.find_circles(index);
    }

    /// Packages that have a class which can be part of a circle are not tame. Whichever releases are
    /// chosen, a circle of their classes is one of names.
    fn find_circles(&mut self, index: &CompiledIndex) {
        let mut extending: Vec<(u32, u32)> = Vec::new();
        for table in 0..index.table_classes.len() {
            let (classes, externals) = (index.table_classes(table), index.externals(table));
            for (position, class) in classes.iter().enumerate() {
                extending.extend(index.parents(table, position).map(|parent| match parent {
                    ParentNumber::Own(own) => (classes[own as usize], *class),
                    ParentNumber::External(at) => (externals[at as usize], *class),
                }));
            }
        }
        let count = index.class_name_count();
        let turned = extending.iter().map(|(parent, class)| (*class, *parent));
        let from_circles = leading_to_circles(count, turned.collect());
        let to_circles = leading_to_circles(count, extending);
        for (class, home) in self.homes.iter().enumerate() {
            if *home != NONE && to_circles[class] && from_circles[class] {
                // Where several packages have the class, none of them is tame anyway.
                self.tame[*home as usize] = false;
            }
        }
    }
}

/// Which of some things lead to a circle; a pair is a thing and one that leads to it.
pub(crate) fn leading_to_circles(count: u32, mut pairs: Vec<(u32, u32)>) -> Vec<bool> {
    if pairs.is_empty() {
        return vec![false; count as usize];
    }
    pairs.sort_unstable();
    pairs.dedup();
    let mut left = vec![0_u32; count as usize];
    for (_, from) in &pairs {
        left[*from as usize] += 1;
    }
    // Whatever leads nowhere, or only to what was taken out before, is taken out.
    let mut out: Vec<u32> = (0..count)
        .filter(|thing| left[*thing as usize] == 0)
        .collect();
    while let Some(thing) = out.pop() {
        let first = pairs.partition_point(|(to, _)| *to < thing);
        for (_, from) in pairs[first..].iter().take_while(|pair| pair.0 == thing) {
            left[*from as usize] -= 1;
            if left[*from as usize] == 0 {
                out.push(*from);
            }
        }
    }
    left.iter().map(|left| *left > 0).collect()
}

fn externals_before_implicit(index: &CompiledIndex, table: u32) -> u32 {
    let mut before = 0;
    for position in 0..index.table_classes(table).len() {
        let parents = index.parents(table, position);
        if parents.len() == 0 {
            return before;
        }
        for parent in parents {
            if let ParentNumber::External(at) = parent {
                // They are numbered in the order in which they are first extended.
                before = before.max(at + 1);
            }
        }
    }
    NONE
}

/// Whether classes of a table extend each other in a circle.
fn has_own_circle(index: &CompiledIndex, table: u32) -> bool {
    let count = to_u32(index.table_classes(table).len());
    let mut pairs = Vec::new();
    for class in 0..count {
        for parent in index.parents(table, class as usize) {
            if let ParentNumber::Own(parent) = parent {
                pairs.push((parent, class));
            }
        }
    }
    !pairs.is_empty() && leading_to_circles(count, pairs).contains(&true)
}
