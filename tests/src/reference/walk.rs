//! The search: plain backtracking that binds one requirement after the other, best candidate first.

use std::collections::BTreeMap;

use super::preference::best_first;
use super::problem::{Need, Problem, ROOT, ReleaseId};
use crate::solution::Solution;

/// A partial resolution.
pub(super) struct Walk<'problem> {
    pub(super) problem: &'problem Problem,
    /// By package: whether the whole resolution shares one release of it.
    single: &'problem [bool],
    /// The releases so far, in the order of decisions.
    pub(super) decided: Vec<ReleaseId>,
    /// By package: the shared release.
    shared: Vec<Option<ReleaseId>>,
    /// By release and requirement: the bound release, if the package is split.
    own: Vec<Vec<Option<ReleaseId>>>,
    /// The condition that complete resolutions must satisfy beyond the rules.
    judge: &'problem dyn Fn(&Solution) -> bool,
    /// Whether rules are checked on partial resolutions.
    has_checks: bool,
}

impl<'problem> Walk<'problem> {
    /// A search in which the root is decided. `judge` accepts or rejects complete resolutions.
    pub(super) fn new(
        problem: &'problem Problem,
        single: &'problem [bool],
        judge: &'problem dyn Fn(&Solution) -> bool,
    ) -> Self {
        let mut shared = vec![None; problem.packages.len()];
        shared[problem.releases[ROOT].package] = Some(ROOT);
        Self {
            problem,
            single,
            decided: vec![ROOT],
            shared,
            own: problem
                .releases
                .iter()
                .map(|release| vec![None; release.needs.len()])
                .collect(),
            judge,
            has_checks: true,
        }
    }

    /// The same search without checks on partial resolutions: `judge` alone decides.
    #[cfg(test)]
    pub(super) fn judged_at_the_end(mut self) -> Self {
        self.has_checks = false;
        self
    }

    /// The best resolution.
    pub(super) fn run(mut self) -> Option<Solution> {
        if !self.problem.has_root() || !self.holds() {
            return None;
        }
        self.walk(0, 0).then(|| self.solution())
    }

    /// Binds every requirement from `next` of the decided release `front` on. Restores the state if that
    /// is impossible.
    fn walk(&mut self, mut front: usize, mut next: usize) -> bool {
        let problem = self.problem;
        loop {
            let Some(requirer) = self.decided.get(front).copied() else {
                return (self.judge)(&self.solution());
            };
            let Some(need) = problem.releases[requirer].needs.get(next) else {
                (front, next) = (front + 1, 0);
                continue;
            };
            if self.bound(requirer, next).is_some() {
                next += 1;
                continue;
            }
            let is_split = !self.single[need.package];
            for candidate in best_first(problem, &self.decided, need, is_split) {
                let known = self.decided.len();
                self.bind(requirer, next, Some(candidate));
                if !self.decided.contains(&candidate) {
                    self.decided.push(candidate);
                }
                if self.holds() && self.walk(front, next + 1) {
                    return true;
                }
                self.decided.truncate(known);
                self.bind(requirer, next, None);
            }
            return false;
        }
    }

    fn bind(&mut self, requirer: ReleaseId, need: usize, to: Option<ReleaseId>) {
        let package = self.problem.releases[requirer].needs[need].package;
        if self.single[package] {
            self.shared[package] = to;
        } else {
            self.own[requirer][need] = to;
        }
    }

    /// The release that a requirement is bound to so far.
    pub(super) fn bound(&self, requirer: ReleaseId, need: usize) -> Option<ReleaseId> {
        let package = self.problem.releases[requirer].needs[need].package;
        if self.single[package] {
            self.shared[package]
        } else {
            self.own[requirer][need]
        }
    }

    /// The requirements of the decided releases that are bound, with their bindings.
    fn bindings(&self) -> impl Iterator<Item = (ReleaseId, &Need, ReleaseId)> {
        self.decided.iter().flat_map(move |requirer| {
            let needs = self.problem.releases[*requirer].needs.iter();
            needs.enumerate().filter_map(move |(position, need)| {
                let bound = self.bound(*requirer, position)?;
                Some((*requirer, need, bound))
            })
        })
    }

    /// Whether the decisions so far obey all rules. A broken rule stays broken, as bindings are only
    /// added.
    fn holds(&self) -> bool {
        !self.has_checks
            || (self.bindings().all(|(_, need, bound)| need.matching[bound]) && self.classes_hold())
    }

    fn solution(&self) -> Solution {
        let packages = &self.problem.packages;
        let bindings: BTreeMap<_, _> = self
            .bindings()
            .map(|(requirer, need, bound)| {
                let requirer = &self.problem.releases[requirer];
                let key = (
                    packages[requirer.package].clone(),
                    requirer.version.clone(),
                    packages[need.package].clone(),
                );
                (key, self.problem.releases[bound].version.clone())
            })
            .collect();
        Solution::new(bindings)
    }
}
