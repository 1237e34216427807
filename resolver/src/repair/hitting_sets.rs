//! The sets of restrictions that can repair a conflict: the hitting sets of its cores.
//!
//! A core is a set of restrictions of which every repair changes at least one. Each set of changes that is tried and does
//! not repair the conflict shows another core.

use std::collections::BTreeSet;

use super::restriction::{Restriction, restrictions_of};
use crate::explain::Conflict;
use crate::request::Request;

/// The maximum number of hitting sets that are looked at in one go.
const MAX_SETS: usize = 20_000;

/// The restrictions of which at least one has to be given up.
#[derive(Debug)]
pub(super) struct Core {
    pub(super) restrictions: BTreeSet<Restriction>,
    /// The conflict in one sentence.
    summary: String,
}

impl Core {
    /// The core of a conflict that is left although some restrictions are given up.
    pub(super) fn new(
        request: &Request,
        conflict: &Conflict,
        given_up: &BTreeSet<Restriction>,
    ) -> Self {
        Self {
            restrictions: restrictions_of(request, conflict, given_up),
            summary: conflict.summary.clone(),
        }
    }
}

/// The known cores.
#[derive(Debug, Default)]
pub(super) struct Cores(Vec<Core>);

impl Cores {
    pub(super) fn add(&mut self, core: Core) {
        self.0.push(core);
    }

    /// Whether a core has no restriction that may be given up: nothing repairs the conflict.
    pub(super) fn rule_out_all(&self, may_change: &impl Fn(&Restriction) -> bool) -> bool {
        let has_none = |core: &Core| !core.restrictions.iter().any(may_change);
        self.0.iter().any(has_none)
    }

    /// All restrictions of all cores that may be given up.
    pub(super) fn union(
        &self,
        may_change: &impl Fn(&Restriction) -> bool,
    ) -> BTreeSet<Restriction> {
        let all = self.0.iter().flat_map(|core| &core.restrictions);
        all.filter(|one| may_change(one)).cloned().collect()
    }

    /// The sets of so many restrictions that have one of each core; `None` if there are too many.
    pub(super) fn hitting_sets(
        &self,
        size: usize,
        may_change: &impl Fn(&Restriction) -> bool,
    ) -> Option<BTreeSet<BTreeSet<Restriction>>> {
        let mut complete = BTreeSet::new();
        let mut partial: BTreeSet<BTreeSet<Restriction>> = BTreeSet::from([BTreeSet::new()]);
        for core in &self.0 {
            let mut extended = BTreeSet::new();
            for set in partial {
                if !set.is_disjoint(&core.restrictions) {
                    extended.insert(set);
                    continue;
                }
                if set.len() == size {
                    continue;
                }
                for restriction in core.restrictions.iter().filter(|one| may_change(one)) {
                    let mut larger = set.clone();
                    larger.insert(restriction.clone());
                    extended.insert(larger);
                }
            }
            if extended.len() > MAX_SETS {
                return None;
            }
            partial = extended;
        }
        complete.extend(partial.into_iter().filter(|set| set.len() == size));
        Some(complete)
    }

    /// The conflict that remains if only this restriction is given up, in one sentence.
    pub(super) fn without(&self, restriction: &Restriction) -> Option<&str> {
        let mut others = self.0.iter();
        let core = others.find(|core| !core.restrictions.contains(restriction))?;
        Some(&core.summary)
    }
}
