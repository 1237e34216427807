//! The classes of a release, and which releases define a class.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{ClassId, PackageId, PackageRequirement, ReleaseId, Universe};
use crate::index::{CompiledIndex, Interner, ParentNumber, nodes_leading_to_cycles, to_u32};
use crate::set::bits;

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
    /// Whether classes of the release extend each other in a cycle. No choice of other packages
    /// mends that: such a release is no candidate.
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

    /// Classes of the release of which each extends the next, and the last one the first; none if
    /// there is no cycle.
    pub(crate) fn own_cycle(&self) -> Vec<ClassId> {
        let leads = leading(&self.classes);
        let mut way: Vec<u32> = Vec::new();
        let mut seen: FxHashMap<u32, usize> = FxHashMap::default();
        let first = (0..).zip(&leads).find(|(_, leads)| **leads);
        let mut next = first.map(|(class, _)| class);
        while let Some(class) = next {
            if let Some(begin) = seen.insert(class, way.len()) {
                let cycle = way[begin..].iter();
                return cycle.map(|at| self.classes[*at as usize].name).collect();
            }
            way.push(class);
            let mut parents = self.classes[class as usize].parents.iter();
            next = parents.find_map(|parent| match parent {
                Parent::Own(parent) if leads[*parent as usize] => Some(*parent),
                _ => None,
            });
        }
        Vec::new()
    }
}

impl Universe {
    /// Whether no class of a package can be part of a cycle or have the name of another
    /// package's class; `None` if the package does not come from the only attached index.
    pub(crate) fn is_harmless(&self, package: PackageId) -> Option<bool> {
        let [loaded] = self.attached[..] else {
            return None;
        };
        let delivered = self.delivered(package);
        let inheritance = self.indexes[loaded as usize].index().inheritance();
        let mut releases = delivered.first..delivered.first + delivered.count;
        // What the core library extends is extended by all.
        let ends_here = self.core != Some(package)
            || releases.all(|release| inheritance.links(release).is_empty());
        (delivered.loaded == loaded).then(|| inheritance.is_harmless(delivered.name) && ends_here)
    }

    /// Whether nothing in the only attached index refers to a release that is not in it, and no
    /// class of the release has the name of a class that is.
    pub(crate) fn stands_apart(&self, release: ReleaseId) -> bool {
        let [attached] = self.attached[..] else {
            return false;
        };
        let all = self.indexes[attached as usize].index();
        let is_named = || all.find(self.name(release.package).as_str()).is_some();
        if self.is_without_classes(release) {
            return !is_named();
        }
        let (index, number) = self.locate(release);
        let Some(table) = index.table(number) else {
            return !is_named();
        };
        let is_elsewhere = |class: &u32| {
            let text = index.class_text(*class);
            let there = all.find_class(text);
            there.is_some_and(|class| all.inheritance().home(class).is_some())
        };
        // What the core library extends is extended by all.
        let ends_here = self.core != Some(release.package) || index.externals(table).is_empty();
        ends_here
            && !index.inheritance().has_cycle(table)
            && !is_named()
            && !index.table_classes(table).iter().any(is_elsewhere)
    }

    /// Whether it is known that nothing that came with a release has classes.
    #[inline]
    fn is_without_classes(&self, release: ReleaseId) -> bool {
        let loaded = self.delivered(release.package).loaded;
        self.indexes[loaded as usize].has_no_classes
    }

    /// Whether no class of a release extends another one, even implicitly.
    pub(crate) fn extends_nothing(&self, release: ReleaseId) -> bool {
        if self.is_without_classes(release) {
            return true;
        }
        let (index, number) = self.locate(release);
        let extends = index.inheritance().extends(number);
        extends.nothing(self.root_class.is_some())
    }

    /// Whether it is known without looking that whatever meets the requirements of a release has
    /// all classes that the release extends; `requirements` is what it requires.
    pub(crate) fn finds_classes(
        &self,
        release: ReleaseId,
        requirements: &[PackageRequirement],
    ) -> bool {
        if self.is_without_classes(release) {
            return true;
        }
        let (index, number) = self.locate(release);
        let extends = index.inheritance().extends(number);
        extends.nothing(self.root_class.is_some())
            || extends.nothing(false) && self.has_root_class(release)
            || extends.follows_from_requirements()
                && requirements
                    .iter()
                    .all(|requirement| requirement.is_as_indexed)
                && (!extends.is_implicit() || self.finds_root_class(release, requirements))
    }

    /// Whether a release is one of the core library that has the class itself which classes extend that
    /// do not say it.
    fn has_root_class(&self, release: ReleaseId) -> bool {
        let is_core = self.core == Some(release.package);
        is_core
            && self
                .root_class
                .is_some_and(|root| self.defines(release, root))
    }

    /// Whether whatever a release allows of the core library has the class that classes extend which
    /// do not say it.
    fn finds_root_class(&self, release: ReleaseId, requirements: &[PackageRequirement]) -> bool {
        let Some(root) = self.root_class else {
            return true;
        };
        let loaded = self.delivered(release.package).loaded;
        if self.core == Some(release.package) || !self.root_class_is_of_core(loaded, root) {
            return false;
        }
        // The core library comes first among what is required.
        requirements.first().is_some_and(|requirement| {
            let allowed = self.allowed_words(requirement);
            let defining = self.words_of_definers(requirement.target, root);
            defining.len() == allowed.len() && bits::is_subset(allowed, defining)
        })
    }

    /// The classes of a release, if they are known.
    pub(crate) fn class_table(&mut self, release: ReleaseId) -> Option<Arc<ClassTable>> {
        let delivered = self.delivered(release.package);
        let loaded = delivered.loaded;
        let index = Arc::clone(self.indexes[loaded as usize].index());
        let table = index.table(delivered.first + release.index)?;
        let is_core = self.core == Some(release.package);
        if let Some(known) = self.tables.get(&(loaded, table, is_core)) {
            return Some(Arc::clone(known));
        }
        let worked_out = Arc::new(self.work_out_table(loaded, &index, table, is_core));
        self.tables
            .insert((loaded, table, is_core), Arc::clone(&worked_out));
        Some(worked_out)
    }

    fn work_out_table(
        &mut self,
        loaded: u32,
        index: &CompiledIndex,
        table: u32,
        is_core: bool,
    ) -> ClassTable {
        let own = index.table_classes(table);
        let mut external: Interner<ClassId> = Interner::default();
        let mut classes = Vec::with_capacity(own.len());
        for (position, class) in own.iter().enumerate() {
            let name = self.class_in(loaded, *class);
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
                        Parent::External(external.number(self.class_in(loaded, class)))
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
                    None => Parent::External(external.number(root)),
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
