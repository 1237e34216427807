//! In which order variables are decided.
//!
//! The order of decisions: what a requirement is bound to is decided in the order in which
//! requirements are met, release after release. A search that keeps to it ends in the best
//! selection. One that has lost its patience decides first what takes part in conflicts.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use crate::index::to_u32;
use crate::universe::{PackageId, ReleaseId};

use super::state::{State, Var};
use super::words;

/// A release that has its place, and where its requirements begin.
#[derive(Debug, Clone, Copy)]
struct Item {
    release: ReleaseId,
    /// The variable that gave it its place.
    var: Var,
    targets: u32,
}

/// A requirement of a release that has its place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Target {
    pub(super) var: Var,
    pub(super) package: PackageId,
    pub(super) names_prerelease: bool,
}

/// The requirements of releases, as they were met.
#[derive(Debug, Default)]
pub(super) struct Targets {
    all: Vec<Target>,
    /// For each value of a variable that is a release, where its requirements begin.
    starts: Vec<Start>,
    /// For each variable the latest of its starts, counted from 1.
    latest: Vec<u32>,
}

#[derive(Debug, Clone, Copy)]
struct Start {
    value: u32,
    target: u32,
    /// The one before it of the same variable, counted from 1.
    previous: u32,
}

impl Targets {
    /// Begins the requirements of a release.
    pub(super) fn begin(&mut self, var: Var, value: u32) {
        if self.latest.len() <= var as usize {
            self.latest.resize(var as usize + 1, 0);
        }
        self.starts.push(Start {
            value,
            target: to_u32(self.all.len()),
            previous: self.latest[var as usize],
        });
        self.latest[var as usize] = to_u32(self.starts.len());
    }

    /// Adds a requirement of the release that was begun last.
    pub(super) fn add(&mut self, target: Target) {
        self.all.push(target);
    }

    /// The requirements of a release.
    pub(super) fn of(&self, var: Var, value: u32) -> &[Target] {
        let mut at = self.latest.get(var as usize).copied().unwrap_or(0);
        while let Some(position) = at.checked_sub(1) {
            let start = self.starts[position as usize];
            if start.value == value {
                let end = match self.starts.get(position as usize + 1) {
                    Some(next) => next.target as usize,
                    None => self.all.len(),
                };
                return &self.all[start.target as usize..end];
            }
            at = start.previous;
        }
        &[]
    }
}

/// What was reached when a decision was taken.
#[derive(Debug, Clone, Copy)]
struct Mark {
    items: usize,
    targets: usize,
    next: (usize, usize),
}

/// The releases in the order of decisions.
#[derive(Debug, Default)]
pub(super) struct Order {
    items: Vec<Item>,
    targets: Vec<Target>,
    /// The release whose requirements are being decided, and the number of the requirement.
    next: (usize, usize),
    marks: Vec<Mark>,
    /// For each package how many of the requirements name a prerelease.
    prerelease_named: FxHashMap<PackageId, u32>,
}

impl Order {
    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Whether a requirement of a release that has its place names a prerelease of a package.
    pub(super) fn is_prerelease_named(&self, package: PackageId) -> bool {
        self.prerelease_named
            .get(&package)
            .is_some_and(|count| *count > 0)
    }

    /// Gives a release its place.
    pub(super) fn add(
        &mut self,
        state: &mut State,
        var: Var,
        release: ReleaseId,
        targets: &[Target],
    ) {
        state.var_mut(var).ordered = true;
        self.items.push(Item {
            release,
            var,
            targets: to_u32(self.targets.len()),
        });
        for target in targets.iter().filter(|target| target.names_prerelease) {
            *self.prerelease_named.entry(target.package).or_default() += 1;
        }
        self.targets.extend_from_slice(targets);
    }

    /// The release whose requirements come next, and the variable of the next one.
    pub(super) fn next(&mut self) -> Option<(ReleaseId, Var)> {
        loop {
            let item = self.items.get(self.next.0)?;
            let end = match self.items.get(self.next.0 + 1) {
                Some(following) => following.targets as usize,
                None => self.targets.len(),
            };
            let at = item.targets as usize + self.next.1;
            if at < end {
                return Some((item.release, self.targets[at].var));
            }
            self.next = (self.next.0 + 1, 0);
        }
    }

    /// The releases that have their places, and where the requirements of each end.
    pub(super) fn releases(&self) -> (Vec<ReleaseId>, Vec<u32>) {
        let releases = self.items.iter().map(|item| item.release).collect();
        let starts = self.items.iter().skip(1).map(|item| item.targets);
        let end = to_u32(self.targets.len());
        (releases, starts.chain([end]).collect())
    }

    /// The requirements of all releases.
    pub(super) fn targets(&self) -> impl Iterator<Item = &Target> {
        self.targets.iter()
    }

    /// The requirement that came next is decided.
    pub(super) fn advance(&mut self) {
        self.next.1 += 1;
    }

    /// Remembers what was reached before a decision.
    pub(super) fn mark(&mut self) {
        self.marks.push(Mark {
            items: self.items.len(),
            targets: self.targets.len(),
            next: self.next,
        });
    }

    /// Goes back to what was reached before the decisions above a level.
    pub(super) fn back_to(&mut self, state: &mut State, level: u32) {
        let Some(mark) = self.marks.get(level as usize).copied() else {
            return;
        };
        self.marks.truncate(level as usize);
        for item in self.items.drain(mark.items..) {
            state.var_mut(item.var).ordered = false;
        }
        for target in self.targets.drain(mark.targets..) {
            if target.names_prerelease {
                let count = self.prerelease_named.get_mut(&target.package);
                *count.expect("it was counted") -= 1;
            }
        }
        self.next = mark.next;
    }
}

/// Undecided variables, those that take part in conflicts first, then those with the fewest
/// values.
#[derive(Debug, Default)]
pub(super) struct Agenda {
    heap: BinaryHeap<(Urgency, Reverse<Var>)>,
    /// For each variable the highest urgency with which it is in the heap.
    known: Vec<Option<Urgency>>,
}

/// How often a variable took part in conflicts, and how few values it has.
type Urgency = (u32, Reverse<u32>);

impl Agenda {
    pub(super) fn add(&mut self, state: &State, var: Var) {
        if state.is_present(var) && state.value(var).is_none() {
            self.push(Self::urgency(state, var), var);
        }
    }

    /// Adds a variable, unless it is there and will come up in time.
    fn push(&mut self, urgency: Urgency, var: Var) {
        if self.known.len() <= var as usize {
            self.known.resize(var as usize + 1, None);
        }
        let known = &mut self.known[var as usize];
        if *known < Some(urgency) {
            *known = Some(urgency);
            self.heap.push((urgency, Reverse(var)));
        }
    }

    fn urgency(state: &State, var: Var) -> Urgency {
        let values = words::count(state.domain(var));
        (state.var(var).conflicts, Reverse(values))
    }

    /// The variable to decide next.
    pub(super) fn next(&mut self, state: &State) -> Option<Var> {
        while let Some((urgency, Reverse(var))) = self.heap.pop() {
            let known = &mut self.known[var as usize];
            if *known == Some(urgency) {
                *known = None;
            }
            if !state.is_present(var) || state.value(var).is_some() {
                continue;
            }
            let now = Self::urgency(state, var);
            if now == urgency {
                return Some(var);
            }
            self.push(now, var);
        }
        None
    }

    pub(super) fn clear(&mut self) {
        self.heap.clear();
        self.known.clear();
    }
}
