//! Where the classes that a release extends are found, in numbers.

use super::edges::{PackageRequirement, SetId};
use super::{ClassId, PackageId, ReleaseId, Universe};
use crate::index::{Link, NONE, SEVERAL, to_u32};
use crate::set::PositionSet;

/// A class that a release extends and that required packages must define.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClassRequirement {
    pub(crate) class: ClassId,
    /// Where it is found, if that is known without asking: only one of the required packages can
    /// define it. Otherwise [`definers`](Universe::definers) says what each of them has.
    pub(crate) found: Option<Found>,
}

/// The only required package that can define a class.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Found {
    /// The position of the requirement on it.
    pub(crate) requirement: usize,
    /// The candidates that define the class.
    pub(crate) allowed: SetId,
    /// The releases of the same package that find the class in the same package alone, if the index
    /// knows them; otherwise [`extenders`](Universe::extenders) says.
    pub(crate) owners: Option<SetId>,
}

/// What a release extends.
#[derive(Debug, Default)]
pub(crate) struct ClassRequirements {
    /// In the order in which the classes are extended.
    pub(crate) all: Vec<ClassRequirement>,
    /// Whether classes of the release extend each other in a cycle. No choice of other packages
    /// mends that: such a release is no candidate.
    pub(crate) has_cycle: bool,
}

impl Universe {
    /// Puts what a release extends into `classes`; `requirements` is what it requires.
    pub(crate) fn class_requirements(
        &mut self,
        release: ReleaseId,
        requirements: &[PackageRequirement],
        classes: &mut ClassRequirements,
    ) {
        classes.all.clear();
        classes.has_cycle = false;
        if self.read_links(release, requirements, classes) {
            return;
        }
        classes.all.clear();
        let Some(table) = self.class_table(release) else {
            return;
        };
        classes.has_cycle = table.has_cycle;
        let all = table.external.iter().map(|class| ClassRequirement {
            class: *class,
            found: None,
        });
        classes.all.extend(all);
    }

    /// Reads what the index knows of where classes are found; says whether that holds here: all
    /// that is required is to come from the same index.
    fn read_links(
        &mut self,
        release: ReleaseId,
        requirements: &[PackageRequirement],
        classes: &mut ClassRequirements,
    ) -> bool {
        let delivered = self.delivered(release.package);
        let (loaded, number) = (delivered.loaded, delivered.first + release.index);
        let core = self.core;
        let is_elsewhere = |requirement: &PackageRequirement| {
            Some(requirement.target) != core && self.delivered(requirement.target).loaded != loaded
        };
        if core == Some(release.package) || requirements.iter().any(is_elsewhere) {
            return false;
        }
        let index = self.indexes[loaded as usize].index();
        let Some(table) = index.table(number) else {
            return true;
        };
        let inheritance = index.inheritance();
        if inheritance.has_cycle(table) {
            return false;
        }
        let links = inheritance.link_range(number);
        let link_count = to_u32(links.len());
        let implicit = match self.root_class {
            Some(root) => inheritance.implicit_at(table).map(|at| (root, at)),
            None => None,
        };
        for (position, at) in (0..).zip(links) {
            let link = self.indexes[loaded as usize].index().inheritance().link(at);
            if let Some((root, at)) = implicit
                && at == position
                && !self.add_implicit(loaded, root, classes)
            {
                return false;
            }
            let class = self.class_in(loaded, link.class);
            if classes.all.iter().any(|known| known.class == class) {
                continue;
            }
            let found = match link.requirement {
                SEVERAL => None,
                NONE => self.found_in_core(class),
                edge => self.found_by_edge(loaded, edge, link, class, requirements),
            };
            classes.all.push(ClassRequirement { class, found });
        }
        match implicit {
            Some((root, at)) if at >= link_count => self.add_implicit(loaded, root, classes),
            _ => true,
        }
    }

    /// Adds the class that classes without `Extends` extend; says whether it is known where that
    /// is found.
    fn add_implicit(
        &mut self,
        loaded: u32,
        root: ClassId,
        classes: &mut ClassRequirements,
    ) -> bool {
        if !self.root_class_is_of_core(loaded, root) {
            return false;
        }
        if classes.all.iter().all(|known| known.class != root) {
            let found = self.found_in_core(root);
            classes.all.push(ClassRequirement { class: root, found });
        }
        true
    }

    /// Whether it is known of an index that none of its packages but the core library has the class that
    /// classes extend which do not say it.
    pub(super) fn root_class_is_of_core(&self, loaded: u32, root: ClassId) -> bool {
        let core = self.core.expect("whoever has a root class has a core");
        let index = self.indexes[loaded as usize].index();
        let inheritance = index.inheritance();
        let in_loaded = self.class_number(root, loaded);
        let home = in_loaded.and_then(|root| inheritance.home(root));
        let is_cores = home.is_none_or(|home| {
            self.indexes[loaded as usize].seen.packages[home as usize].package() == Some(core)
                && inheritance.is_harmless(home)
        });
        is_cores && !inheritance.any_unknown()
    }

    /// That a class is found in the package that a requirement is on, if that is the only place.
    fn found_by_edge(
        &mut self,
        loaded: u32,
        edge: u32,
        link: Link,
        class: ClassId,
        requirements: &[PackageRequirement],
    ) -> Option<Found> {
        let [target, ..] = self.indexes[loaded as usize]
            .index()
            .requirement(edge as usize);
        let target = self.package_in(loaded, target);
        if Some(target) == self.core {
            // Whether a release says that it requires the core library makes no difference.
            return self.found_in_core(class);
        }
        let requirement = requirements
            .iter()
            .position(|requirement| requirement.target == target);
        let is_only = self.has_default_order(target) && !self.core_defines(target, class);
        requirement.filter(|_| is_only).map(|requirement| Found {
            requirement,
            allowed: SetId::inherited(loaded, link.allowed),
            owners: (link.owners != NONE).then(|| SetId::inherited(loaded, link.owners)),
        })
    }

    /// That a class is found in the core library, if that defines it.
    fn found_in_core(&mut self, class: ClassId) -> Option<Found> {
        let core = self.core?;
        let allowed = if let Some(known) = self.core_sets.get(&class) {
            *known
        } else {
            let defining = self.definers(core, class);
            let defining = defining.intersection(&self.candidates_of(core));
            let at = (!defining.is_empty()).then(|| self.keep(core, &defining));
            let set = at.map(SetId::worked_out);
            self.core_sets.insert(class, set);
            set
        };
        // The core library comes first among what is required.
        Some(Found {
            requirement: 0,
            allowed: allowed?,
            owners: None,
        })
    }

    /// Whether the core library, being another package, defines a class, too.
    fn core_defines(&mut self, package: PackageId, class: ClassId) -> bool {
        match self.core {
            Some(core) if core != package => !self.definers(core, class).is_empty(),
            _ => false,
        }
    }

    /// The releases of a package that define a class for others. Releases whose classes are
    /// unknown define whatever is asked for.
    pub(crate) fn definers(&self, package: PackageId, class: ClassId) -> PositionSet {
        PositionSet::of_words(self.words_of_definers(package, class))
    }

    /// Whether a release defines a class for others.
    pub(crate) fn defines(&self, release: ReleaseId, class: ClassId) -> bool {
        let words = self.words_of_definers(release.package, class);
        let word = words.get(release.index as usize / 64);
        word.is_some_and(|word| word >> (release.index % 64) & 1 == 1)
    }

    /// The words of the set of releases that define a class for others; none if none does.
    pub(super) fn words_of_definers(&self, package: PackageId, class: ClassId) -> &[u64] {
        let delivered = self.delivered(package);
        if delivered.count == 0 {
            return &[];
        }
        // All releases of a package are in one index.
        let inheritance = self.indexes[delivered.loaded as usize]
            .index()
            .inheritance();
        let set = match self.class_number(class, delivered.loaded) {
            Some(number) => inheritance.definers_of(delivered.name, number),
            None => inheritance.unknown_of(delivered.name),
        };
        set.map_or(&[], |at| {
            inheritance.words_at(at as usize, self.width(package))
        })
    }
}
