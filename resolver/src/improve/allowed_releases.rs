//! The releases that all requirements on a package allow.

use std::collections::BTreeSet;

use crate::index::{NONE, to_u32};
use crate::selection::Selection;
use crate::universe::{ClassRequirements, PackageId, ReleaseId, Universe};

/// The intersection of all requirements on a package, for packages with better candidates than the
/// chosen one.
#[derive(Default)]
pub(super) struct AllowedByAll {
    /// For each package the start of its set in `words`; [`NONE`] if it has none.
    sets: Vec<u32>,
    words: Vec<u64>,
}

impl AllowedByAll {
    pub(super) fn compute(
        universe: &mut Universe,
        selection: &Selection,
        split: &BTreeSet<PackageId>,
    ) -> Self {
        let mut allowed_by_all = Self::default();
        allowed_by_all.track(universe, selection, split);
        let (mut requirements, mut classes) = (Vec::new(), ClassRequirements::default());
        for (at, release) in selection.releases().iter().enumerate() {
            let mut bound = selection.bound_at(at).iter();
            if !bound.any(|bound| allowed_by_all.is_tracked(bound.package)) {
                continue;
            }
            universe.requirements(*release, &mut requirements);
            for requirement in &requirements {
                let allowed = universe.allowed_words(requirement);
                allowed_by_all.restrict(requirement.target, allowed);
            }
            if !universe.requirements_define_all_classes(*release, &requirements) {
                universe.class_requirements(*release, &requirements, &mut classes);
                allowed_by_all.restrict_to_definers(universe, selection, *release, &classes);
            }
        }
        allowed_by_all
    }

    /// Adds a set for each package with better candidates.
    pub(super) fn track(
        &mut self,
        universe: &Universe,
        selection: &Selection,
        split: &BTreeSet<PackageId>,
    ) {
        self.sets.resize(universe.catalog.package_count(), NONE);
        for release in selection.releases() {
            let package = release.package;
            if universe.catalog.is_root(package)
                || split.contains(&package)
                || universe.catalog.is_best(*release)
            {
                continue;
            }
            self.sets[package.position()] = to_u32(self.words.len());
            let width = universe.catalog.width(package);
            self.words.resize(self.words.len() + width, u64::MAX);
        }
    }

    pub(super) fn is_tracked(&self, package: PackageId) -> bool {
        self.sets[package.position()] != NONE
    }

    /// Intersects the set of a package with the releases that a requirement allows.
    pub(super) fn restrict(&mut self, package: PackageId, allowed: &[u64]) {
        if self.is_tracked(package) {
            let words = &mut self.words[self.sets[package.position()] as usize..];
            for (word, allowed) in words.iter_mut().zip(allowed) {
                *word &= allowed;
            }
        }
    }

    /// Intersects with the classes that a release extends: if only one of its bound releases
    /// defines a class, that package has to define it.
    fn restrict_to_definers(
        &mut self,
        universe: &mut Universe,
        selection: &Selection,
        release: ReleaseId,
        classes: &ClassRequirements,
    ) {
        for class_requirement in &classes.all {
            let mut defining = selection
                .bound(release)
                .iter()
                .map(|bound| {
                    (
                        *bound,
                        universe
                            .catalog
                            .definers(bound.package, class_requirement.class),
                    )
                })
                .filter(|(bound, defining)| defining.contains(bound.index));
            let (Some((bound, only)), None) = (defining.next(), defining.next()) else {
                continue;
            };
            let mut words = vec![0; universe.catalog.width(bound.package)];
            only.copy_to(&mut words);
            self.restrict(bound.package, &words);
        }
    }

    /// The releases that all requirements allow; `None` if there is no better candidate.
    pub(super) fn of(&self, universe: &Universe, package: PackageId) -> Option<&[u64]> {
        let set = self.sets[package.position()];
        (set != NONE).then(|| &self.words[set as usize..][..universe.catalog.width(package)])
    }
}
