//! The classes that a release extends and that required packages must define.

use std::sync::Arc;

use super::{Catalog, ClassId, Classes, PackageId, ReleaseId};
use super::{PackageRequirement, Requirements, SetId};
use crate::index::{Link, NONE, SEVERAL, is_worth_a_set, to_u32};
use crate::set::PositionSet;

/// A class that a release extends and that a required package must define.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClassRequirement {
    pub(crate) class: ClassId,
    /// The only required package that can define the class, if the index knows it. Otherwise
    /// [`Catalog::definers`] says which releases of each package do.
    pub(crate) only_definer: Option<OnlyDefiner>,
}

/// The only required package that can define a class.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OnlyDefiner {
    /// The position of the requirement on it.
    pub(crate) requirement: usize,
    /// The candidates that define the class.
    pub(crate) allowed: SetId,
    /// The releases of the extending package for which this holds too, if the index knows them. Otherwise
    /// [`Universe::extenders`](crate::universe::Universe::extenders) works them out.
    pub(crate) owners: Option<SetId>,
}

/// What a release extends.
#[derive(Debug, Default)]
pub(crate) struct ClassRequirements {
    /// In the order in which the classes are extended.
    pub(crate) all: Vec<ClassRequirement>,
    /// Whether classes of the release extend each other in a cycle. Such a release is no candidate, whatever
    /// else is chosen.
    pub(crate) has_cycle: bool,
}

impl ClassRequirements {
    pub(in crate::universe) fn clear(&mut self) {
        self.all.clear();
        self.has_cycle = false;
    }

    fn contains(&self, class: ClassId) -> bool {
        self.all.iter().any(|known| known.class == class)
    }
}

/// The parts of the universe that are needed to read what a release extends.
struct LinkReader<'universe> {
    catalog: &'universe mut Catalog,
    requirements: &'universe mut Requirements,
    classes: &'universe mut Classes,
}

impl Classes {
    /// Puts what a release extends into `extended`. `required` is what it requires.
    pub(in crate::universe) fn read(
        &mut self,
        catalog: &mut Catalog,
        requirements: &mut Requirements,
        release: ReleaseId,
        required: &[PackageRequirement],
        extended: &mut ClassRequirements,
    ) {
        extended.clear();
        let mut reader = LinkReader {
            catalog,
            requirements,
            classes: self,
        };
        if reader.read_links(release, required, extended).is_some() {
            return;
        }
        extended.clear();
        let Some(table) = self.table(catalog, release) else {
            return;
        };
        extended.has_cycle = table.has_cycle;
        let all = table.external.iter().map(|class| ClassRequirement {
            class: *class,
            only_definer: None,
        });
        extended.all.extend(all);
    }

    /// The releases of the same package that extend a class too and have the same only definer, `target`: those
    /// that require nothing that `release` does not require. `None` if the releases of the package share no such
    /// requirement.
    pub(in crate::universe) fn extenders(
        &mut self,
        catalog: &mut Catalog,
        requirements: &mut Requirements,
        release: ReleaseId,
        class: ClassId,
        target: PackageId,
    ) -> Option<SetId> {
        let delivered = *catalog.delivered(release.package);
        let (loaded, first, name) = (delivered.loaded, delivered.first, delivered.name);
        let index = Arc::clone(catalog.indexes().index(loaded));
        let inheritance = index.inheritance();
        if !inheritance.may_share_links(name) {
            return None;
        }
        let own = first + release.index;
        let key = (release.package, class, target, inheritance.required(own));
        if let Some(known) = self.extenders.get(&key) {
            return *known;
        }
        // Every package requires the core library, whether or not it states it.
        let core = catalog.core().filter(|core| *core == target);
        let core = core.and_then(|core| index.find(catalog.name(core).as_str()));
        let number = catalog.class_number(class, loaded);
        let mut required = Vec::new();
        let mut extenders = Vec::new();
        for other in catalog.releases(release.package) {
            let at = first + other.index;
            if other.index == release.index {
                extenders.push(other.index);
                continue;
            }
            if !inheritance.requires_subset(at, own, core)
                || !extends(catalog, loaded, at, class, number)
            {
                continue;
            }
            requirements.read(catalog, other, &mut required);
            if (required.iter()).any(|requirement| requirement.target == target) {
                extenders.push(other.index);
            }
        }
        let is_worth_it = is_worth_a_set(catalog.width(release.package), extenders.len());
        let set = is_worth_it.then(|| {
            let extenders: PositionSet = extenders.into_iter().collect();
            requirements.store(catalog, release.package, &extenders)
        });
        self.extenders.insert(key, set);
        set
    }
}

/// Whether a release extends a class of another package. `number` is the number of the class in its index.
fn extends(
    catalog: &Catalog,
    loaded: u32,
    release: u32,
    class: ClassId,
    number: Option<u32>,
) -> bool {
    let index = catalog.index(loaded);
    let inheritance = index.inheritance();
    let is_class = |link: &Link| Some(link.class) == number;
    if inheritance.links(release).iter().any(is_class) {
        return true;
    }
    let is_root = catalog.root_class() == Some(class);
    let Some(table) = index.table(release).filter(|_| is_root) else {
        return false;
    };
    let has_own = number.is_some_and(|root| index.table_classes(table).contains(&root));
    inheritance.implicit_at(table).is_some() && !has_own
}

impl LinkReader<'_> {
    /// Reads what the index of a release says of the classes that it extends. `None` if that does not hold here,
    /// because something required comes from elsewhere.
    fn read_links(
        &mut self,
        release: ReleaseId,
        required: &[PackageRequirement],
        extended: &mut ClassRequirements,
    ) -> Option<()> {
        let (loaded, number) = self.catalog.locate(release);
        let core = self.catalog.core();
        let is_elsewhere = |requirement: &PackageRequirement| {
            Some(requirement.target) != core
                && self.catalog.delivered(requirement.target).loaded != loaded
        };
        if core == Some(release.package) || required.iter().any(is_elsewhere) {
            return None;
        }
        let index = self.catalog.index(loaded);
        let Some(table) = index.table(number) else {
            return Some(());
        };
        let inheritance = index.inheritance();
        if inheritance.has_cycle(table) {
            return None;
        }
        let links = inheritance.link_range(number);
        let link_count = to_u32(links.len());
        let root = self.catalog.root_class();
        let implicit = root.and_then(|root| Some((root, inheritance.implicit_at(table)?)));
        for (position, at) in (0..).zip(links) {
            let link = self.catalog.index(loaded).inheritance().link(at);
            if let Some((root, at)) = implicit
                && at == position
            {
                self.add_root_class(loaded, root, extended)?;
            }
            let class = self.catalog.class_id_in(loaded, link.class);
            if extended.contains(class) {
                continue;
            }
            let only_definer = match link.requirement {
                SEVERAL => None,
                NONE => self.core_definer(class),
                number => self.definer_of_link(loaded, number, link, class, required),
            };
            extended.all.push(ClassRequirement {
                class,
                only_definer,
            });
        }
        match implicit {
            Some((root, at)) if at >= link_count => self.add_root_class(loaded, root, extended),
            _ => Some(()),
        }
    }

    /// Adds the root class, which classes without `Extends` extend; `None` if it is not known where it is
    /// defined.
    fn add_root_class(
        &mut self,
        loaded: u32,
        root: ClassId,
        extended: &mut ClassRequirements,
    ) -> Option<()> {
        if !self.catalog.only_core_defines_root_class(loaded, root) {
            return None;
        }
        if !extended.contains(root) {
            let only_definer = self.core_definer(root);
            extended.all.push(ClassRequirement {
                class: root,
                only_definer,
            });
        }
        Some(())
    }

    /// The target of a requirement as the only definer of a class, unless the core library defines it too.
    fn definer_of_link(
        &mut self,
        loaded: u32,
        number: u32,
        link: Link,
        class: ClassId,
        required: &[PackageRequirement],
    ) -> Option<OnlyDefiner> {
        let target = self
            .catalog
            .index(loaded)
            .requirement(number as usize)
            .target;
        let target = self.catalog.package_id_in(loaded, target);
        let core = self.catalog.core();
        if Some(target) == core {
            // A stated requirement on the core library makes no difference.
            return self.core_definer(class);
        }
        let requirement = (required.iter()).position(|requirement| requirement.target == target)?;
        let core_defines = core.is_some_and(|core| !self.catalog.definers(core, class).is_empty());
        if core_defines || !self.catalog.has_default_order(target) {
            return None;
        }
        Some(OnlyDefiner {
            requirement,
            allowed: SetId::inherited(loaded, link.allowed),
            owners: (link.owners != NONE).then(|| SetId::inherited(loaded, link.owners)),
        })
    }

    /// The core library as the only definer of a class, if it defines it.
    fn core_definer(&mut self, class: ClassId) -> Option<OnlyDefiner> {
        let core = self.catalog.core()?;
        let known = self.classes.core_definers.get(&class).copied();
        let allowed = known.unwrap_or_else(|| {
            let definers = self.catalog.defining_candidates(core, class);
            let set = (!definers.is_empty())
                .then(|| self.requirements.store(self.catalog, core, &definers));
            self.classes.core_definers.insert(class, set);
            set
        });
        Some(OnlyDefiner {
            // The core library is required first.
            requirement: 0,
            allowed: allowed?,
            owners: None,
        })
    }
}
