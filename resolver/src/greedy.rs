//! The way to the answer when nothing conflicts: decide each package once, never look back.
//!
//! Packages are decided in the order of decisions, each at the best release that the requirements
//! met so far leave. If no later requirement and no class rule speaks against any of it, the
//! result is the best resolution there is, because nothing better could have been decided
//! anywhere. Otherwise the walk only finds out which packages the search will probably need.

use rustc_hash::FxHashMap;

use crate::engine::{Budget, Exhausted};
use crate::hierarchy;
use crate::selection::Selection;
use crate::universe::{PackageId, ReleaseId, Universe};
use crate::word_set::WordSet;

/// A walk that can be interrupted while releases are fetched.
#[derive(Debug, Default)]
pub(crate) struct Greedy {
    order: Vec<ReleaseId>,
    /// How many releases of `order` have had their requirements taken in.
    taken_in: usize,
    /// The release and edge that come next.
    next: (usize, usize),
    packages: FxHashMap<PackageId, Constraint>,
    failed: bool,
}

#[derive(Debug)]
struct Constraint {
    allowed: WordSet,
    prerelease_named: bool,
    chosen: Option<u32>,
}

pub(crate) enum Progress {
    Missing(Vec<PackageId>),
    /// The answer, unless a class rule or a requirement spoke against it.
    Done(Option<Selection>),
    GaveUp,
}

impl Greedy {
    pub(crate) fn advance(&mut self, universe: &mut Universe, budget: &mut Budget) -> Progress {
        if self.order.is_empty() {
            for root in universe.roots().to_vec() {
                let constraint = Constraint {
                    allowed: WordSet::single(root.index),
                    prerelease_named: false,
                    chosen: Some(root.index),
                };
                self.packages.insert(root.package, constraint);
                self.order.push(root);
            }
        }
        loop {
            while let Some(release) = self.order.get(self.taken_in).copied() {
                let missing = missing(universe, release);
                if !missing.is_empty() {
                    return Progress::Missing(missing);
                }
                self.take_in(universe, release);
                self.taken_in += 1;
            }
            match self.decide_next(universe, budget) {
                Ok(true) => {}
                Ok(false) => return Progress::Done(self.result(universe)),
                Err(Exhausted) => return Progress::GaveUp,
            }
        }
    }

    /// Takes in what a decided release requires.
    fn take_in(&mut self, universe: &mut Universe, release: ReleaseId) {
        let details = universe.details(release);
        for edge in &details.edges {
            let allowed = universe.allowed(edge);
            self.restrict(
                universe,
                edge.package,
                &allowed,
                edge.requirement.spec.names_prerelease(),
            );
        }
        let Some(classes) = &details.classes else {
            return;
        };
        self.failed |= classes.own_cycle.is_some();
        for class in &classes.external {
            // Where several packages can define a class the check at the end decides.
            let mut defining = details
                .edges
                .iter()
                .map(|edge| (edge.package, universe.definers(edge.package, *class)))
                .filter(|(_, defining)| !defining.is_empty());
            match (defining.next(), defining.next()) {
                (None, _) => self.failed = true,
                (Some((package, defining)), None) => {
                    self.restrict(universe, package, &defining, false);
                }
                (Some(_), Some(_)) => {}
            }
        }
    }

    fn restrict(&mut self, universe: &Universe, package: PackageId, to: &WordSet, named: bool) {
        let constraint = self.packages.entry(package).or_insert_with(|| Constraint {
            allowed: universe.candidates_of(package),
            prerelease_named: false,
            chosen: None,
        });
        constraint.allowed = constraint.allowed.intersection(to);
        constraint.prerelease_named |= named;
        let fits = match constraint.chosen {
            Some(chosen) => constraint.allowed.contains(chosen),
            None => !constraint.allowed.is_empty(),
        };
        self.failed |= !fits;
    }

    /// Decides the next package; says whether there was one.
    fn decide_next(
        &mut self,
        universe: &mut Universe,
        budget: &mut Budget,
    ) -> Result<bool, Exhausted> {
        while let Some(release) = self.order.get(self.next.0).copied() {
            let details = universe.details(release);
            let Some(edge) = details.edges.get(self.next.1) else {
                self.next = (self.next.0 + 1, 0);
                continue;
            };
            self.next.1 += 1;
            let constraint = self
                .packages
                .get_mut(&edge.package)
                .expect("it was taken in");
            if constraint.chosen.is_some() {
                continue;
            }
            let named = constraint.prerelease_named;
            let Some(index) = universe.best(edge.package, &constraint.allowed, named) else {
                continue;
            };
            budget.take()?;
            constraint.chosen = Some(index);
            self.order.push(ReleaseId {
                package: edge.package,
                index,
            });
            return Ok(true);
        }
        Ok(false)
    }

    fn result(&self, universe: &mut Universe) -> Option<Selection> {
        if self.failed {
            return None;
        }
        let selection = Selection::collect(universe, |universe, release, edge| {
            let package = universe.known_details(release).edges[edge].package;
            Some(ReleaseId {
                package,
                index: self.packages.get(&package)?.chosen?,
            })
        })?;
        hierarchy::violation(universe, &selection)
            .is_none()
            .then_some(selection)
    }
}

/// The packages that a release requires and that were not delivered.
pub(crate) fn missing(universe: &mut Universe, release: ReleaseId) -> Vec<PackageId> {
    let details = universe.details(release);
    let mut missing: Vec<PackageId> = details
        .edges
        .iter()
        .map(|edge| edge.package)
        .filter(|package| !universe.is_delivered(*package))
        .collect();
    missing.dedup();
    missing
}
