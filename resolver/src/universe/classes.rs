//! The classes of a release, and which releases define a class.

use std::sync::Arc;

use pkgres_manifest::ClassName;

use super::{ClassId, Demand, PackageId, ReleaseId, Universe};
use crate::index::{CompiledIndex, ParentNumber, to_u32};
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

impl Universe {
    /// The releases of a package that define a class for others. Releases whose classes are
    /// unknown define whatever is asked for.
    pub(crate) fn definers(&mut self, package: PackageId, class: ClassId) -> WordSet {
        if let Some(known) = self.definers.get(&(package, class)) {
            return known.clone();
        }
        let defining = self.find_definers(package, class);
        self.definers.insert((package, class), defining.clone());
        defining
    }

    fn find_definers(&self, package: PackageId, class: ClassId) -> WordSet {
        let mut releases = self.releases(package).peekable();
        let Some(first) = releases.peek() else {
            return WordSet::EMPTY;
        };
        // All releases of a package are in one index.
        let (index, start) = self.locate(*first);
        let name = index.find_class(self.class_name(class).as_str());
        let defines = |release: &ReleaseId| match index.table(start + release.index) {
            None => true,
            Some(table) => name.and_then(|name| index.has_class(table, name)) == Some(true),
        };
        releases
            .filter(defines)
            .map(|release| release.index)
            .collect()
    }

    /// Whether a release defines a class for others.
    pub(crate) fn defines(&self, release: ReleaseId, class: ClassId) -> bool {
        match self.definers.get(&(release.package, class)) {
            Some(defining) => defining.contains(release.index),
            None => (self.find_definers(release.package, class)).contains(release.index),
        }
    }

    /// The names of the classes of a release and of those that they extend, as far as they are
    /// written; `None` if the classes are unknown.
    pub(crate) fn written_classes(
        &self,
        release: ReleaseId,
    ) -> Option<Vec<(ClassName, Vec<ClassName>)>> {
        let (index, number) = self.locate(release);
        let table = index.table(number)?;
        let (classes, externals) = (index.table_classes(table), index.externals(table));
        let named = classes.iter().enumerate().map(|(position, class)| {
            let parents = index.parents(table, position).map(|parent| match parent {
                ParentNumber::Own(own) => index.class_name(classes[own as usize]),
                ParentNumber::External(at) => index.class_name(externals[at as usize]),
            });
            (index.class_name(*class), parents.collect())
        });
        Some(named.collect())
    }

    /// The releases of the same package that extend a class too, and can find it in the same
    /// required package alone: those that require nothing that `release` does not require.
    pub(crate) fn extenders(
        &mut self,
        release: ReleaseId,
        demands: &[Demand],
        class: ClassId,
    ) -> WordSet {
        let mut found = WordSet::single(release.index);
        let defining = |universe: &mut Self, demand: &Demand| {
            let defining = universe.definers(demand.target, class);
            !defining.is_disjoint(&universe.candidates_of(demand.target))
        };
        let mut others = Vec::new();
        for other in self.releases(release.package) {
            let extends = |table: &Arc<ClassTable>| table.external.contains(&class);
            if other == release || !self.class_table(other).as_ref().is_some_and(extends) {
                continue;
            }
            self.demands(other, &mut others);
            let is_known = |other: &Demand| {
                let mut targets = demands.iter();
                targets.any(|demand| demand.target == other.target)
            };
            if !others.iter().all(is_known) {
                continue;
            }
            if others.iter().any(|demand| defining(self, demand)) {
                found = found.union(&WordSet::single(other.index));
            }
        }
        found
    }

    /// Whether no class of a release extends another one, even implicitly.
    pub(crate) fn extends_nothing(&self, release: ReleaseId) -> bool {
        let (index, number) = self.locate(release);
        index.table(number).is_none_or(|table| {
            self.root_class.is_none() && index.extends_nothing(table)
                || index.table_classes(table).is_empty()
        })
    }

    /// The classes of a release, if they are known.
    pub(crate) fn class_table(&mut self, release: ReleaseId) -> Option<Arc<ClassTable>> {
        let delivered = self.delivered(release.package);
        let shard = delivered.shard;
        let index = Arc::clone(&self.shards[shard as usize].index);
        let table = index.table(delivered.first + release.index)?;
        let is_core = self.core == Some(release.package);
        if let Some(known) = self.tables.get(&(shard, table, is_core)) {
            return Some(Arc::clone(known));
        }
        let worked_out = Arc::new(self.work_out_table(shard, &index, table, is_core));
        self.tables
            .insert((shard, table, is_core), Arc::clone(&worked_out));
        Some(worked_out)
    }

    fn work_out_table(
        &mut self,
        shard: u32,
        index: &CompiledIndex,
        table: u32,
        is_core: bool,
    ) -> ClassTable {
        let own = index.table_classes(table);
        let mut external: Vec<ClassId> = Vec::new();
        let mut classes = Vec::with_capacity(own.len());
        for (position, class) in own.iter().enumerate() {
            let name = self.class_in(shard, *class);
            let parents = index.parents(table, position);
            let implicit = self
                .root_class
                .filter(|root| parents.len() == 0 && !(is_core && *root == name));
            let mut found = Vec::with_capacity(parents.len().max(1));
            for parent in parents {
                found.push(match parent {
                    ParentNumber::Own(own) => Parent::Own(own),
                    ParentNumber::External(at) => {
                        let class = index.externals(table)[at as usize];
                        Parent::External(add(&mut external, self.class_in(shard, class)))
                    }
                });
            }
            if let Some(root) = implicit {
                let root_name = self.class_name(root);
                let at_home = index
                    .find_class(root_name.as_str())
                    .and_then(|root| own.binary_search(&root).ok());
                found.push(match at_home {
                    Some(position) => Parent::Own(to_u32(position)),
                    None => Parent::External(add(&mut external, root)),
                });
            }
            classes.push(ClassNode {
                name,
                parents: found.into_boxed_slice(),
            });
        }
        let mut positions: Box<[(ClassId, u32)]> = classes
            .iter()
            .map(|class| class.name)
            .zip(0_u32..)
            .collect();
        positions.sort_unstable();
        ClassTable {
            positions,
            own_cycle: own_cycle(&classes),
            classes: classes.into_boxed_slice(),
            external: external.into_boxed_slice(),
        }
    }

    /// The class of a name of a shard.
    fn class_in(&mut self, shard: u32, number: u32) -> ClassId {
        let known = self.shards[shard as usize].classes[number as usize];
        if let Some(known) = known.checked_sub(1) {
            return ClassId(known);
        }
        let name = self.shards[shard as usize].index.class_name(number);
        let class = self.class_id(&name);
        self.shards[shard as usize].classes[number as usize] = class.0 + 1;
        class
    }
}

/// The position of a class among some; adds it if it is not there.
fn add(classes: &mut Vec<ClassId>, class: ClassId) -> u32 {
    let at = classes.iter().position(|known| *known == class);
    to_u32(at.unwrap_or_else(|| {
        classes.push(class);
        classes.len() - 1
    }))
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
