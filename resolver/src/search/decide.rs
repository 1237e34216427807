//! Decisions: which variable is next, and which value it gets.
//!
//! Requirements are decided in the order in which they are reached: the requirements of the roots,
//! then those of the release decided first, and so on. A search that follows this order ends in the
//! best selection. After the conflict limit, the variables with the highest activity come first, like
//! VSIDS (Moskewicz et al. 2001) but without decay.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use rustc_hash::FxHashMap;

use super::Search;
use super::assignment::{Assignment, Var};
use crate::budget::{Budget, Interrupt};
use crate::index::to_u32;
use crate::problem::{Problem, Variable};
use crate::set::{PositionSet, bits};
use crate::universe::{PackageId, ReleaseId};

impl Search {
    /// Decides the next requirement; returns whether all are decided.
    pub(super) fn decide_in_order(
        &mut self,
        problem: &mut Problem<'_>,
        budget: &mut Budget,
    ) -> Result<bool, Interrupt> {
        if self.order.is_empty() {
            for root in problem.universe.catalog.roots() {
                let var = self.package_var(problem, root.package);
                self.order
                    .place(&mut self.assignment, var, root.index, *root);
            }
        }
        while let Some(PendingVariable { var, package }) = self.order.next() {
            if self.assignment.var(var).ordered {
                self.order.advance();
                continue;
            }
            let Some(value) = self.assignment.value(var) else {
                if !self.assignment.is_present(var) {
                    // The requirement was dropped from a restricted problem.
                    self.order.advance();
                    continue;
                }
                self.decide_best(problem, budget, var)?;
                return Ok(false);
            };
            self.order.advance();
            let bound = ReleaseId {
                package,
                index: value,
            };
            if self.is_of_package(var) {
                self.order.place(&mut self.assignment, var, value, bound);
                continue;
            }
            let var = self.var(problem, Variable::Release(bound));
            if !self.assignment.var(var).ordered {
                self.order.place(&mut self.assignment, var, 0, bound);
            }
        }
        Ok(true)
    }

    /// Decides the variable with the highest activity; returns whether all are decided.
    pub(super) fn decide_by_activity(
        &mut self,
        problem: &mut Problem<'_>,
        budget: &mut Budget,
    ) -> Result<bool, Interrupt> {
        let Some(var) = self.variable_queue.next(&self.assignment) else {
            return Ok(true);
        };
        self.decide_best(problem, budget, var)?;
        Ok(false)
    }

    /// Decides that a variable has its best value.
    pub(super) fn decide_best(
        &mut self,
        problem: &Problem<'_>,
        budget: &mut Budget,
        var: Var,
    ) -> Result<(), Interrupt> {
        budget.take()?;
        let value = self.best(problem, var);
        self.order.mark();
        self.assignment.decide(var, value);
        Ok(())
    }

    /// Whether a variable is that of a package with one release.
    #[inline]
    pub(super) fn is_of_package(&self, var: Var) -> bool {
        self.assignment.var(var).has_default_order
            || matches!(self.assignment.details(var).variable, Variable::Package(_))
    }

    /// The best value in a domain.
    #[inline]
    pub(super) fn best(&self, problem: &Problem<'_>, var: Var) -> u32 {
        let variable = self.assignment.var(var);
        if variable.has_default_order {
            return bits::last_below(self.assignment.domain(var), variable.values)
                .expect("a value is left");
        }
        self.best_by_preference(problem, var)
    }

    /// The best value of a variable whose greatest value need not be the best.
    #[inline(never)]
    fn best_by_preference(&self, problem: &Problem<'_>, var: Var) -> u32 {
        let values = self.assignment.var(var).values;
        let (domain, universe) = (self.assignment.domain(var), &*problem.universe);
        let variable = self.assignment.details(var).variable;
        if let Variable::Release(_) = variable {
            return 0;
        }
        let package = problem.package_of(variable);
        let mut candidates = domain.to_vec();
        bits::remove(&mut candidates, values);
        let candidates = PositionSet::of_words(&candidates);
        let named = self.order.is_prerelease_named(package);
        let best = if let Variable::Binding(release, number) = variable {
            let number = number as usize;
            (universe.catalog).best_binding(release, number, package, &candidates, named)
        } else {
            universe.catalog.best(package, &candidates, named)
        };
        best.expect("a value is left")
    }
}

/// Undecided variables: those with the highest activity first, then those with the fewest values.
#[derive(Debug, Default)]
pub(super) struct VariableQueue {
    heap: BinaryHeap<(Activity, Reverse<Var>)>,
    /// For each variable its highest activity in the heap.
    known: Vec<Option<Activity>>,
}

/// How often a variable took part in conflicts, and how few values it has.
type Activity = (u32, Reverse<u32>);

impl VariableQueue {
    /// Removes all variables.
    pub(super) fn clear(&mut self) {
        self.heap.clear();
        self.known.clear();
    }

    pub(super) fn add(&mut self, assignment: &Assignment, var: Var) {
        if assignment.is_present(var) && assignment.value(var).is_none() {
            self.push(Self::activity(assignment, var), var);
        }
    }

    /// Adds a variable, unless it is queued with at least this activity.
    fn push(&mut self, activity: Activity, var: Var) {
        if self.known.len() <= var as usize {
            self.known.resize(var as usize + 1, None);
        }
        let known = &mut self.known[var as usize];
        if *known < Some(activity) {
            *known = Some(activity);
            self.heap.push((activity, Reverse(var)));
        }
    }

    fn activity(assignment: &Assignment, var: Var) -> Activity {
        let values = bits::count(assignment.domain(var));
        (assignment.details(var).conflicts, Reverse(values))
    }

    /// The variable to decide next.
    pub(super) fn next(&mut self, assignment: &Assignment) -> Option<Var> {
        while let Some((activity, Reverse(var))) = self.heap.pop() {
            let known = &mut self.known[var as usize];
            if *known == Some(activity) {
                *known = None;
            }
            if !assignment.is_present(var) || assignment.value(var).is_some() {
                continue;
            }
            let now = Self::activity(assignment, var);
            if now == activity {
                return Some(var);
            }
            self.push(now, var);
        }
        None
    }
}

/// A release with a place in the order, and the range of its requirements.
#[derive(Debug, Clone, Copy)]
struct PlacedRelease {
    release: ReleaseId,
    /// The variable whose value it is.
    var: Var,
    from: u32,
    until: u32,
}

impl PlacedRelease {
    fn targets(self) -> Range<usize> {
        self.from as usize..self.until as usize
    }
}

/// The target of a requirement.
#[derive(Debug, Clone, Copy)]
pub(super) struct RequiredVariable {
    pub(super) var: Var,
    pub(super) package: PackageId,
    pub(super) names_prerelease: bool,
}

/// A variable in the order, which is decided in its turn.
#[derive(Debug, Clone, Copy)]
struct PendingVariable {
    var: Var,
    /// The package that is required.
    package: PackageId,
}

#[derive(Debug, Default)]
struct ExpandedRequirements {
    all: Vec<RequiredVariable>,
    /// For each expanded value, the index of its first requirement.
    starts: Vec<RequirementsStart>,
    /// For each variable the latest of its starts, counted from 1.
    latest: Vec<u32>,
}

#[derive(Debug, Clone, Copy)]
struct RequirementsStart {
    value: u32,
    target: u32,
    /// The previous one of the same variable, counted from 1.
    previous: u32,
}

impl ExpandedRequirements {
    fn begin(&mut self, var: Var, value: u32, count: usize) {
        self.all.reserve(count);
        let var = var as usize;
        if self.latest.len() <= var {
            self.latest.resize(var + 1, 0);
        }
        self.starts.push(RequirementsStart {
            value,
            target: to_u32(self.all.len()),
            previous: self.latest[var],
        });
        self.latest[var] = to_u32(self.starts.len());
    }

    /// The range of the requirements of a release.
    fn of(&self, var: Var, value: u32) -> Range<u32> {
        let mut at = self.latest.get(var as usize).copied().unwrap_or(0);
        while let Some(position) = at.checked_sub(1) {
            let start = self.starts[position as usize];
            if start.value == value {
                let next = self.starts.get(position as usize + 1);
                let end = next.map_or(to_u32(self.all.len()), |next| next.target);
                return start.target..end;
            }
            at = start.previous;
        }
        0..0
    }
}

/// The state of the order before a decision.
#[derive(Debug, Clone, Copy)]
struct LevelMark {
    items: u32,
    vars: u32,
    next: u32,
}

/// The releases in the order of decisions.
#[derive(Debug, Default)]
pub(super) struct DecisionOrder {
    targets: ExpandedRequirements,
    items: Vec<PlacedRelease>,
    /// The variables of the requirements of these releases, each at its first occurrence.
    vars: Vec<PendingVariable>,
    /// The index of the variable to decide next.
    next: u32,
    marks: Vec<LevelMark>,
    /// For each package how many of the requirements name a prerelease.
    prerelease_named: FxHashMap<PackageId, u32>,
}

impl DecisionOrder {
    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Whether a requirement of a release in the order names a prerelease of a package.
    pub(super) fn is_prerelease_named(&self, package: PackageId) -> bool {
        self.prerelease_named
            .get(&package)
            .is_some_and(|count| *count > 0)
    }

    /// Begins the list of the requirements of a value, which has so many.
    pub(super) fn begin(&mut self, var: Var, value: u32, count: usize) {
        self.targets.begin(var, value, count);
    }

    /// Adds a requirement of the value that was begun last.
    pub(super) fn require(&mut self, target: RequiredVariable) {
        self.targets.all.push(target);
    }

    /// Appends a release, which is the value of a variable, to the order.
    pub(super) fn place(
        &mut self,
        assignment: &mut Assignment,
        var: Var,
        value: u32,
        release: ReleaseId,
    ) {
        assignment.var_mut(var).ordered = true;
        let Range { start, end } = self.targets.of(var, value);
        let item = PlacedRelease {
            release,
            var,
            from: start,
            until: end,
        };
        let targets = &self.targets.all[item.targets()];
        for target in targets {
            if !std::mem::replace(&mut assignment.var_mut(target.var).listed, true) {
                self.vars.push(PendingVariable {
                    var: target.var,
                    package: target.package,
                });
            }
            if target.names_prerelease {
                *self.prerelease_named.entry(target.package).or_default() += 1;
            }
        }
        self.items.push(item);
    }

    /// The variable of the next requirement; all earlier ones are decided.
    fn next(&self) -> Option<PendingVariable> {
        self.vars.get(self.next as usize).copied()
    }

    /// The releases in their order, and where the requirements of each end.
    pub(super) fn releases(&self) -> (Vec<ReleaseId>, Vec<u32>) {
        let releases = self.items.iter().map(|item| item.release).collect();
        let ends = self.items.iter().scan(0, |end, item| {
            *end += item.until - item.from;
            Some(*end)
        });
        (releases, ends.collect())
    }

    /// The requirements of all releases in the order, by release.
    pub(super) fn targets(&self) -> impl Iterator<Item = &[RequiredVariable]> {
        let items = self.items.iter();
        items.map(|item| &self.targets.all[item.targets()])
    }

    /// Continues with the requirement after the next one, which is decided.
    pub(super) fn advance(&mut self) {
        self.next += 1;
    }

    /// Records the state before a decision.
    pub(super) fn mark(&mut self) {
        self.marks.push(LevelMark {
            items: to_u32(self.items.len()),
            vars: to_u32(self.vars.len()),
            next: self.next,
        });
    }

    /// Restores the state before the decisions above a level.
    pub(super) fn backtrack_to(&mut self, assignment: &mut Assignment, level: u32) {
        let Some(mark) = self.marks.get(level as usize).copied() else {
            return;
        };
        self.marks.truncate(level as usize);
        for item in self.items.drain(mark.items as usize..) {
            assignment.var_mut(item.var).ordered = false;
            for target in &self.targets.all[item.targets()] {
                if target.names_prerelease {
                    let count = self.prerelease_named.get_mut(&target.package);
                    *count.expect("it was counted") -= 1;
                }
            }
        }
        for listed in self.vars.drain(mark.vars as usize..) {
            assignment.var_mut(listed.var).listed = false;
        }
        self.next = mark.next;
    }
}
