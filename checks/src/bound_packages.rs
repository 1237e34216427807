//! Looks classes up in a resolution, where every requirement is bound to a release.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use pkgres_manifest::{ClassDefinition, ClassName, Interface, Package, Release};

/// A class of a release.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ClassAt {
    pub(crate) release: Release,
    pub(crate) class: ClassName,
}

/// A release of a resolution: its classes, and the versions that its requirements are bound to.
#[derive(Debug, Clone)]
pub struct BoundPackage {
    /// The package with its classes; `None` if it is not available.
    pub package: Option<Arc<Package>>,
    /// The bound versions: first the core library, then the others in the order of the manifest.
    pub requires: Vec<Release>,
}

/// The releases of a resolution, with their classes.
#[derive(Debug, Clone, Default)]
pub struct BoundPackages {
    /// The class that classes without `Extends` extend, if there is a core library.
    pub root_class: Option<ClassName>,
    /// The releases.
    pub releases: BTreeMap<Release, BoundPackage>,
}

impl BoundPackages {
    pub(crate) fn definition(&self, at: &ClassAt) -> Option<&ClassDefinition> {
        let package = self.releases.get(&at.release)?.package.as_ref()?;
        package.classes.as_ref()?.get(&at.class)
    }

    /// Returns the releases with another one in place of one of them: requirements that are bound to `old` are bound to
    /// `new`, which is one of the releases, too.
    #[must_use]
    pub fn with_replaced(&self, old: &Release, new: &Release) -> Self {
        let mut replaced = self.clone();
        for (release, bound) in &mut replaced.releases {
            if release == new {
                continue;
            }
            for required in bound.requires.iter_mut().filter(|it| *it == old) {
                required.clone_from(new);
            }
        }
        replaced
    }

    /// Resolves a class name in a release: to its own class, else to that of the first required package that
    /// defines it for others.
    pub(crate) fn lookup(&self, release: &Release, class: &ClassName) -> Option<ClassAt> {
        let bound = self.releases.get(release)?;
        let own = ClassAt {
            release: release.clone(),
            class: class.clone(),
        };
        if self.definition(&own).is_some() {
            return Some(own);
        }
        bound.requires.iter().find_map(|required| {
            let package = self.releases.get(required)?.package.as_ref()?;
            package.exports(class).then(|| ClassAt {
                release: required.clone(),
                class: class.clone(),
            })
        })
    }

    /// Whether a package that a release requires may define a class, because its classes are not known.
    pub(crate) fn may_define(&self, release: &Release, class: &ClassName) -> bool {
        let required = self.releases.get(release).map(|bound| &bound.requires);
        required.into_iter().flatten().any(|required| {
            let name = &required.name;
            let bound = self.releases.get(required);
            let is_unknown = bound.is_none_or(|bound| bound.package.is_none());
            // The names of classes of the core library begin with its own.
            let is_core = self.root_class.as_ref() == Some(&name.root_class());
            let rest = class.as_str().strip_prefix(name.as_str());
            is_unknown && (!is_core || rest.is_some_and(|rest| rest.starts_with('.')))
        })
    }

    /// Resolves the name of an interface in a release, as a class name is: the release that defines it, and its
    /// definition.
    pub(crate) fn interface(
        &self,
        release: &Release,
        interface: &ClassName,
    ) -> Option<(Release, &Interface)> {
        let bound = self.releases.get(release)?;
        let releases = std::iter::once(release).chain(&bound.requires);
        releases.into_iter().find_map(|release| {
            let package = self.releases.get(release)?.package.as_ref()?;
            let definition = package.interfaces.get(interface)?;
            Some((release.clone(), definition))
        })
    }

    /// Whether a class is one of the core library.
    pub(crate) fn is_of_core(&self, at: &ClassAt) -> bool {
        let root = self.root_class.as_ref().map(ClassName::as_str);
        let core = root.and_then(|root| root.rsplit_once('.'));
        core.is_some_and(|(core, _)| at.release.name.as_str() == core)
    }

    /// The class that a name means in a release, and its ancestors as far as they are known: the release and the name of
    /// each, nearest first. Empty if the name means nothing there.
    pub fn lineage(&self, release: &Release, class: &ClassName) -> Vec<(Release, ClassName)> {
        let Some(start) = self.lookup(release, class) else {
            return Vec::new();
        };
        let known = self.known_ancestry(&start).known.into_iter();
        known.map(|(at, _)| (at.release, at.class)).collect()
    }

    /// The class and its known ancestors, nearest first, and the names of those that are unknown.
    pub(crate) fn known_ancestry(&self, start: &ClassAt) -> Ancestry<'_> {
        self.known_ancestry_of_all(BTreeSet::from([start.clone()]))
    }

    /// Some classes and their known ancestors, and the names of those that are unknown.
    pub(crate) fn known_ancestry_of_all(&self, starts: BTreeSet<ClassAt>) -> Ancestry<'_> {
        let mut ancestry = Ancestry::default();
        let mut queue: VecDeque<ClassAt> = starts.iter().cloned().collect();
        let mut seen = starts;
        while let Some(at) = queue.pop_front() {
            let Some(definition) = self.definition(&at) else {
                ancestry.unknown.insert(at.class);
                continue;
            };
            let implicit = self
                .root_class
                .iter()
                .filter(|root| definition.extends.is_empty() && **root != at.class);
            let written = definition.extends.iter().map(|parent| &parent.value);
            for parent in written.chain(implicit) {
                match self.lookup(&at.release, parent) {
                    Some(next) if seen.contains(&next) => {}
                    Some(next) => {
                        seen.insert(next.clone());
                        queue.push_back(next);
                    }
                    None => {
                        ancestry.unknown.insert(parent.clone());
                    }
                }
            }
            ancestry.known.push((at, definition));
        }
        ancestry
    }
}

/// A class with its ancestors.
#[derive(Default)]
pub(crate) struct Ancestry<'packages> {
    /// The class and its known ancestors, nearest first.
    pub(crate) known: Vec<(ClassAt, &'packages ClassDefinition)>,
    /// The ancestors that are unknown. They may have others.
    pub(crate) unknown: BTreeSet<ClassName>,
}
