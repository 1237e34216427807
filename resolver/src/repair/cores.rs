//! Cores, and the sets of restrictions that have one of each: their hitting sets.
//!
//! A core is a set of restrictions of which every repair changes at least one. Each set of changes that is tried and does
//! not repair the conflict shows another core. Restrictions are numbered, so that sets of them are cheap to compare.

use std::collections::{BTreeMap, BTreeSet};

use super::restriction::{Restriction, restrictions_of};
use crate::explain::Conflict;
use crate::request::Request;

/// The maximum number of hitting sets that are known at once.
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

/// Numbers of restrictions, ascending.
pub(super) type Numbers = Vec<usize>;

/// The known cores.
#[derive(Debug, Default)]
pub(super) struct Cores {
    all: Vec<Core>,
    /// The same cores as numbers.
    numbered: Vec<Numbers>,
    /// The restrictions of all cores, by number.
    restrictions: Vec<Restriction>,
    numbers: BTreeMap<Restriction, usize>,
}

impl Cores {
    pub(super) fn add(&mut self, core: Core) {
        let mut numbers: Numbers = Vec::with_capacity(core.restrictions.len());
        for restriction in &core.restrictions {
            let next = self.restrictions.len();
            let number = *self.numbers.entry(restriction.clone()).or_insert(next);
            if number == next {
                self.restrictions.push(restriction.clone());
            }
            numbers.push(number);
        }
        numbers.sort_unstable();
        self.numbered.push(numbers);
        self.all.push(core);
    }

    /// Whether a core has no restriction that may be given up: nothing repairs the conflict.
    pub(super) fn rule_out_all(&self, may_change: &impl Fn(&Restriction) -> bool) -> bool {
        let has_none = |core: &Core| !core.restrictions.iter().any(may_change);
        self.all.iter().any(has_none)
    }

    /// All restrictions of all cores that may be given up.
    pub(super) fn union(
        &self,
        may_change: &impl Fn(&Restriction) -> bool,
    ) -> BTreeSet<Restriction> {
        let all = self.restrictions.iter();
        all.filter(|one| may_change(one)).cloned().collect()
    }

    /// The restrictions with some numbers.
    pub(super) fn of_numbers(&self, numbers: &[usize]) -> BTreeSet<Restriction> {
        let restrictions = numbers.iter().map(|number| &self.restrictions[*number]);
        restrictions.cloned().collect()
    }

    /// The conflict that remains if only this restriction is given up, in one sentence.
    pub(super) fn without(&self, restriction: &Restriction) -> Option<&str> {
        let mut others = self.all.iter();
        let core = others.find(|core| !core.restrictions.contains(restriction))?;
        Some(&core.summary)
    }
}

/// The hitting sets of one size. They are not computed anew for each core, but extended.
#[derive(Debug)]
pub(super) struct HittingSets {
    size: usize,
    /// How many cores the sets hit.
    cores: usize,
    /// Smaller sets that hit all of these cores.
    partial: BTreeSet<Numbers>,
    /// Sets of the size that hit all of these cores.
    complete: BTreeSet<Numbers>,
}

impl HittingSets {
    pub(super) fn new(size: usize) -> Self {
        Self {
            size,
            cores: 0,
            partial: BTreeSet::from([Numbers::new()]),
            complete: BTreeSet::new(),
        }
    }

    /// Makes the sets hit all known cores; `None` if there are too many.
    pub(super) fn update(
        &mut self,
        known: &Cores,
        may_change: &impl Fn(&Restriction) -> bool,
    ) -> Option<()> {
        while let Some(core) = known.numbered.get(self.cores) {
            self.cores += 1;
            self.hit(core, |number| may_change(&known.restrictions[number]))?;
        }
        Some(())
    }

    /// Takes the first set of the size.
    pub(super) fn take_next(&mut self) -> Option<Numbers> {
        self.complete.pop_first()
    }

    /// Makes the sets hit another core; `None` if there are too many.
    fn hit(&mut self, core: &[usize], may_change: impl Fn(usize) -> bool) -> Option<()> {
        let hits = |set: &Numbers| set.iter().any(|number| core.binary_search(number).is_ok());
        self.complete.retain(hits);
        let mut missing = Vec::new();
        self.partial.retain(|set| {
            let hits = hits(set);
            if !hits {
                missing.push(set.clone());
            }
            hits
        });
        for set in missing {
            for number in core.iter().filter(|number| may_change(**number)) {
                let mut larger = set.clone();
                let at = larger.partition_point(|other| other < number);
                larger.insert(at, *number);
                if larger.len() == self.size {
                    self.complete.insert(larger);
                } else {
                    self.partial.insert(larger);
                }
                if self.complete.len() + self.partial.len() > MAX_SETS {
                    return None;
                }
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sets of a size that hit cores which become known one after the other.
    fn sets(size: usize, cores: &[&[usize]]) -> Vec<Numbers> {
        let mut sets = HittingSets::new(size);
        for core in cores {
            sets.hit(core, |number| number != 9).expect("few sets");
        }
        sets.complete.into_iter().collect()
    }

    #[test]
    fn hitting_sets_have_one_of_each_core() {
        assert_eq!(sets(1, &[&[1, 2, 9]]), [[1], [2]]);
        assert_eq!(sets(1, &[&[1, 2], &[2, 3]]), [[2]]);
        assert_eq!(sets(1, &[&[1, 2], &[3]]), Vec::<Numbers>::new());
        assert_eq!(
            sets(2, &[&[1, 2], &[3, 4]]),
            [[1, 3], [1, 4], [2, 3], [2, 4]]
        );
        assert_eq!(sets(2, &[&[1, 2], &[2, 3], &[4]]), [[2, 4]]);
    }

    #[test]
    fn too_many_sets_are_not_kept() {
        let wide: Vec<Vec<usize>> = (0..3)
            .map(|core| (100 * core..100 * (core + 1)).collect())
            .collect();
        let mut sets = HittingSets::new(3);
        assert!(sets.hit(&wide[0], |_| true).is_some());
        assert!(sets.hit(&wide[1], |_| true).is_some());
        assert!(sets.hit(&wide[2], |_| true).is_none());
    }
}
