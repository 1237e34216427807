//! A selection: releases, and what each of their requirements is bound to.

use rustc_hash::FxHashMap;

use crate::index::{NONE, to_u32};
use crate::universe::{PackageId, PackageRequirement, ReleaseId, Universe};

/// Releases in the order in which they were decided, each with the releases that its requirements
/// are bound to, in the order of the requirements. All are reached from the roots, which come
/// first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Selection {
    order: Vec<ReleaseId>,
    /// Where the bound releases of each release begin; one more than there are releases.
    starts: Vec<u32>,
    bound: Vec<ReleaseId>,
    /// For each package the position of its first release; [`NONE`] if it has none.
    first: Vec<u32>,
    /// The positions of releases that are not the first of their package.
    others: FxHashMap<ReleaseId, u32>,
}

impl Selection {
    /// A selection of releases in the order of decisions. `bound` has what their requirements are
    /// bound to, and `ends` where that ends for each release.
    pub(crate) fn new(order: &[ReleaseId], bound: Vec<ReleaseId>, ends: &[u32]) -> Self {
        let packages = order.iter().map(|release| release.package.position());
        let mut selection = Self {
            order: Vec::with_capacity(order.len()),
            first: vec![NONE; packages.max().map_or(0, |last| last + 1)],
            starts: std::iter::once(0).chain(ends.iter().copied()).collect(),
            bound,
            ..Self::default()
        };
        for release in order {
            selection.add(*release);
        }
        selection
    }

    /// The releases that the roots reach if `bind` returns what a requirement is bound to. `None`
    /// if `bind` returns `None`.
    pub(crate) fn collect(
        universe: &mut Universe,
        mut bind: impl FnMut(&mut Universe, ReleaseId, usize, &PackageRequirement) -> Option<u32>,
    ) -> Option<Self> {
        let roots = universe.catalog.roots().to_vec();
        let mut requirements = Vec::new();
        Self::walk(&roots, |release, bound| {
            universe.requirements(release, &mut requirements);
            for (number, requirement) in requirements.iter().enumerate() {
                let index = bind(universe, release, number, requirement)?;
                let package = requirement.target;
                bound.push(ReleaseId { package, index });
            }
            Some(())
        })
    }

    /// The releases that the roots reach if `bind` adds what all requirements of a release are
    /// bound to. `None` if `bind` returns `None`.
    pub(crate) fn walk(
        roots: &[ReleaseId],
        mut bind: impl FnMut(ReleaseId, &mut Vec<ReleaseId>) -> Option<()>,
    ) -> Option<Self> {
        let mut selection = Self::default();
        for root in roots {
            selection.add(*root);
        }
        selection.starts.push(0);
        let mut at = 0;
        while let Some(release) = selection.order.get(at).copied() {
            at += 1;
            let first = selection.bound.len();
            bind(release, &mut selection.bound)?;
            for target in first..selection.bound.len() {
                selection.add(selection.bound[target]);
            }
            selection.starts.push(to_u32(selection.bound.len()));
        }
        Some(selection)
    }

    /// Appends a release, unless it is selected already.
    fn add(&mut self, release: ReleaseId) {
        let package = release.package.position();
        if self.first.len() <= package {
            self.first.resize(package + 1, NONE);
        }
        let next = to_u32(self.order.len());
        let first = &mut self.first[package];
        if *first == NONE {
            *first = next;
            self.order.push(release);
        } else if self.order[*first as usize] != release && !self.others.contains_key(&release) {
            self.others.insert(release, next);
            self.order.push(release);
        }
    }

    /// The first release of a package, which is the only one unless the package is split.
    pub(crate) fn first_release_of(&self, package: PackageId) -> Option<ReleaseId> {
        let first = *self.first.get(package.position())?;
        (first != NONE).then(|| self.order[first as usize])
    }

    /// The packages that have several releases.
    pub(crate) fn packages_side_by_side(&self) -> impl Iterator<Item = PackageId> + '_ {
        self.others.keys().map(|release| release.package)
    }

    /// The position of a release in the order of decisions.
    pub(crate) fn position(&self, release: ReleaseId) -> Option<usize> {
        let first = *self.first.get(release.package.position())?;
        if first == NONE {
            None
        } else if self.order[first as usize] == release {
            Some(first as usize)
        } else {
            self.others.get(&release).map(|at| *at as usize)
        }
    }

    /// The releases in the order of decisions, roots first.
    pub(crate) fn releases(&self) -> &[ReleaseId] {
        &self.order
    }

    /// How many requirements its releases have.
    pub(crate) fn bound_count(&self) -> usize {
        self.bound.len()
    }

    /// What the requirements of a release are bound to.
    pub(crate) fn bound(&self, release: ReleaseId) -> &[ReleaseId] {
        self.position(release).map_or(&[], |at| self.bound_at(at))
    }

    /// What the requirements of the release at a position are bound to.
    pub(crate) fn bound_at(&self, at: usize) -> &[ReleaseId] {
        &self.bound[self.starts[at] as usize..self.starts[at + 1] as usize]
    }
}
