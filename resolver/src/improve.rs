//! The end of rule 5: no release can be exchanged for a better candidate with all others kept.
//!
//! A search in the order of decisions ends in such a selection by itself. One that had to follow
//! conflicts instead ends in any valid selection; here it is made locally best, one exchange after
//! the other. Each exchange makes the first decision that it changes better, so there is an end.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::encoding::Missing;
use crate::engine::{Budget, Exhausted};
use crate::hierarchy;
use crate::model::unmet_contract;
use crate::selection::Selection;
use crate::universe::{Demand, PackageId, ReleaseId, Universe};
use crate::word_set::WordSet;

/// Why improving was broken off.
pub(crate) enum Stopped {
    /// Something is needed to tell whether an exchange is valid.
    Missing(Missing),
    /// The budget is used up.
    Exhausted,
}

impl From<Exhausted> for Stopped {
    fn from(_: Exhausted) -> Self {
        Self::Exhausted
    }
}

/// Makes a valid selection locally best, where `split` packages may have several releases.
pub(crate) fn improve(
    universe: &mut Universe,
    selection: Selection,
    split: &BTreeSet<PackageId>,
    budget: &mut Budget,
) -> Result<Selection, Stopped> {
    let mut improvement = Improvement {
        demanded: demanded(universe, &selection),
        universe,
        selection,
        split,
        budget,
    };
    while improvement.pass()? {}
    Ok(improvement.selection)
}

struct Improvement<'search> {
    universe: &'search mut Universe,
    selection: Selection,
    split: &'search BTreeSet<PackageId>,
    budget: &'search mut Budget,
    /// What all requirements on a package together allow.
    demanded: FxHashMap<PackageId, WordSet>,
}

/// What was decided up to a point of a walk through a selection.
#[derive(Default)]
struct Decided {
    releases: FxHashSet<ReleaseId>,
    /// The packages of which a prerelease is named by a requirement of a decided release.
    prerelease_named: FxHashSet<PackageId>,
}

impl Decided {
    fn add(&mut self, universe: &mut Universe, release: ReleaseId) {
        if self.releases.insert(release) {
            let details = universe.details(release);
            let named = details
                .edges
                .iter()
                .filter(|edge| edge.requirement.spec.names_prerelease());
            self.prerelease_named.extend(named.map(|edge| edge.package));
        }
    }
}

/// A decision to be taken differently.
#[derive(Clone, Copy)]
struct Exchange {
    owner: ReleaseId,
    edge: usize,
    /// The release that the requirement is bound to now.
    current: ReleaseId,
    better: ReleaseId,
}

impl Improvement<'_> {
    /// Goes through all decisions in their order; says whether any was improved.
    fn pass(&mut self) -> Result<bool, Stopped> {
        let mut improved = false;
        let mut decided = Decided::default();
        for root in self.universe.roots().to_vec() {
            decided.add(self.universe, root);
        }
        let mut at = 0;
        while let Some(owner) = self.selection.releases().get(at).copied() {
            at += 1;
            for edge in 0..self.selection.bound(owner).len() {
                while self.improve_decision(owner, edge, &decided)? {
                    improved = true;
                }
                let bound = self.selection.bound(owner)[edge];
                decided.add(self.universe, bound);
            }
        }
        Ok(improved)
    }

    /// Binds a requirement to a better release, if that is valid.
    fn improve_decision(
        &mut self,
        owner: ReleaseId,
        edge: usize,
        decided: &Decided,
    ) -> Result<bool, Stopped> {
        let current = self.selection.bound(owner)[edge];
        let package = current.package;
        let is_split = self.split.contains(&package);
        if self.universe.is_root(package) || !is_split && decided.releases.contains(&current) {
            return Ok(false);
        }
        let named = decided.prerelease_named.contains(&package);
        let mut among = if is_split {
            let details = self.universe.details(owner);
            self.universe.allowed(&details.edges[edge])
        } else {
            self.demanded[&package].clone()
        };
        loop {
            let best = if is_split {
                self.universe.best_binding(owner, package, &among, named)
            } else {
                self.universe.best(package, &among, named)
            };
            let Some(index) = best.filter(|index| *index != current.index) else {
                return Ok(false);
            };
            self.budget.take()?;
            let better = ReleaseId { package, index };
            let exchange = Exchange {
                owner,
                edge,
                current,
                better,
            };
            if let Some(selection) = self.exchanged(exchange)? {
                self.demanded = demanded(self.universe, &selection);
                self.selection = selection;
                return Ok(true);
            }
            among = among.intersection(&WordSet::single(index).complement());
        }
    }

    /// The selection after an exchange, if it is valid.
    fn exchanged(&mut self, exchange: Exchange) -> Result<Option<Selection>, Stopped> {
        let Exchange { better, .. } = exchange;
        let details = self.universe.details(better);
        let (selection, split) = (&self.selection, self.split);
        // Few exchanges fit; that one does not usually shows in what it requires itself.
        let fits = (0..details.edges.len()).all(|edge| {
            kept_release(self.universe, selection, split, exchange, better, edge).is_some()
        });
        if !fits {
            return Ok(None);
        }
        let bind = |universe: &mut Universe, owner: ReleaseId, edge: usize, _: &Demand| {
            let is_exchanged = |bound: ReleaseId| {
                let is_decision = owner == exchange.owner && edge == exchange.edge;
                bound == exchange.current && (is_decision || !split.contains(&bound.package))
            };
            match selection.bound(owner).get(edge).copied() {
                Some(bound) if is_exchanged(bound) => Some(better.index),
                Some(bound) => Some(bound.index),
                None => kept_release(universe, selection, split, exchange, owner, edge)
                    .map(|kept| kept.index),
            }
        };
        let Some(found) = Selection::collect(self.universe, bind) else {
            return Ok(None);
        };
        if hierarchy::violation(self.universe, &found).is_some() {
            return Ok(None);
        }
        match unmet_contract(self.universe, &found) {
            Ok(None) => Ok(Some(found)),
            Ok(Some(_)) => Ok(None),
            Err(missing) => Err(Stopped::Missing(missing)),
        }
    }
}

/// What a requirement of a release that comes in is bound to among the releases that are there.
fn kept_release(
    universe: &mut Universe,
    selection: &Selection,
    split: &BTreeSet<PackageId>,
    exchange: Exchange,
    owner: ReleaseId,
    edge: usize,
) -> Option<ReleaseId> {
    let details = universe.details(owner);
    let edge_data = &details.edges[edge];
    let package = edge_data.package;
    if !universe.is_delivered(package) {
        // What the search never came across is not among the releases that are there.
        return None;
    }
    let allowed = universe.allowed(edge_data);
    if package == exchange.better.package && !split.contains(&package) {
        return allowed
            .contains(exchange.better.index)
            .then_some(exchange.better);
    }
    let there: WordSet = selection
        .releases()
        .iter()
        .filter(|release| release.package == package)
        .map(|release| release.index)
        .collect();
    let among = there.intersection(&allowed);
    let index = universe.best_binding(
        owner,
        package,
        &among,
        edge_data.requirement.spec.names_prerelease(),
    )?;
    Some(ReleaseId { package, index })
}

/// What all requirements on each package together allow.
fn demanded(universe: &mut Universe, selection: &Selection) -> FxHashMap<PackageId, WordSet> {
    let mut demanded: FxHashMap<PackageId, WordSet> = FxHashMap::default();
    for release in selection.releases() {
        let details = universe.details(*release);
        for edge in &details.edges {
            let allowed = universe.allowed(edge);
            demanded
                .entry(edge.package)
                .and_modify(|all| *all = all.intersection(&allowed))
                .or_insert(allowed);
        }
    }
    demanded
}
