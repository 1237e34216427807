//! In which order variables are decided.
//!
//! The order of decisions: what a requirement is bound to is decided in the order in which
//! requirements are seen, release after release. A search that keeps to it ends in the best
//! selection. One that has passed its conflict limit decides first what takes part in conflicts.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::index::to_u32;
use crate::universe::{PackageId, ReleaseId};

use super::assignment::{Assignment, Var};

/// For so many releases that are looked at there is room from the beginning.
const INITIAL_CAPACITY: usize = 64;

/// A release that has its place, and where its requirements are.
#[derive(Debug, Clone, Copy)]
struct PlacedRelease {
    release: ReleaseId,
    /// The variable that gave it its place.
    var: Var,
    from: u32,
    until: u32,
}

impl PlacedRelease {
    fn targets(self) -> Range<usize> {
        self.from as usize..self.until as usize
    }
}

/// A requirement of a release.
#[derive(Debug, Clone, Copy)]
pub(super) struct RequiredVariable {
    pub(super) var: Var,
    pub(super) package: PackageId,
    pub(super) names_prerelease: bool,
}

/// What a requirement is bound to by the value of a variable.
#[derive(Debug, Clone, Copy)]
pub(super) struct PendingVariable {
    pub(super) var: Var,
    /// The package that the requirement is on.
    pub(super) package: PackageId,
}

/// The requirements of releases, as they were seen.
#[derive(Debug, Default)]
struct Requirements {
    all: Vec<RequiredVariable>,
    /// For each value of a variable that is a release, where its requirements begin.
    starts: Vec<RequirementsStart>,
    /// For each variable the latest of its starts, counted from 1.
    latest: Vec<u32>,
}

#[derive(Debug, Clone, Copy)]
struct RequirementsStart {
    value: u32,
    target: u32,
    /// The one before it of the same variable, counted from 1.
    previous: u32,
}

impl Requirements {
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

    /// Where the requirements of a release are.
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

/// What was reached when a decision was taken.
#[derive(Debug, Clone, Copy)]
struct LevelMark {
    items: u32,
    vars: u32,
    next: u32,
}

/// The releases in the order of decisions.
#[derive(Debug, Default)]
pub(super) struct DecisionOrder {
    targets: Requirements,
    items: Vec<PlacedRelease>,
    /// The variables of the requirements of these releases, each where it comes first.
    vars: Vec<PendingVariable>,
    /// Which of these comes next.
    next: u32,
    marks: Vec<LevelMark>,
    /// For each package how many of the requirements name a prerelease.
    prerelease_named: FxHashMap<PackageId, u32>,
}

impl DecisionOrder {
    /// No order yet, with room for that of a small problem.
    pub(super) fn new() -> Self {
        Self {
            targets: Requirements {
                all: Vec::with_capacity(2 * INITIAL_CAPACITY),
                starts: Vec::with_capacity(INITIAL_CAPACITY),
                latest: Vec::with_capacity(INITIAL_CAPACITY),
            },
            items: Vec::with_capacity(INITIAL_CAPACITY / 2),
            vars: Vec::with_capacity(INITIAL_CAPACITY),
            marks: Vec::with_capacity(INITIAL_CAPACITY / 2),
            ..Self::default()
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Whether a requirement of a release that has its place names a prerelease of a package.
    pub(super) fn is_prerelease_named(&self, package: PackageId) -> bool {
        self.prerelease_named
            .get(&package)
            .is_some_and(|count| *count > 0)
    }

    /// Begins the requirements of a release, which a value of a variable stands for. There are so many
    /// of them.
    pub(super) fn begin(&mut self, var: Var, value: u32, count: usize) {
        self.targets.begin(var, value, count);
    }

    /// Adds a requirement of the release that was begun last, of those that it was said to have.
    pub(super) fn require(&mut self, target: RequiredVariable) {
        self.targets.all.push(target);
    }

    /// Gives a release its place, which a value of a variable stands for.
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

    /// The variable of the requirement that comes next; all requirements before it are decided.
    pub(super) fn next(&self) -> Option<PendingVariable> {
        self.vars.get(self.next as usize).copied()
    }

    /// The releases that have their places, and where the requirements of each end.
    pub(super) fn releases(&self) -> (Vec<ReleaseId>, Vec<u32>) {
        let releases = self.items.iter().map(|item| item.release).collect();
        let ends = self.items.iter().scan(0, |end, item| {
            *end += item.until - item.from;
            Some(*end)
        });
        (releases, ends.collect())
    }

    /// The requirements of all releases that have their places, by release.
    pub(super) fn targets(&self) -> impl Iterator<Item = &[RequiredVariable]> {
        let items = self.items.iter();
        items.map(|item| &self.targets.all[item.targets()])
    }

    /// The requirement that came next is decided.
    pub(super) fn advance(&mut self) {
        self.next += 1;
    }

    /// Remembers what was reached before a decision.
    pub(super) fn mark(&mut self) {
        self.marks.push(LevelMark {
            items: to_u32(self.items.len()),
            vars: to_u32(self.vars.len()),
            next: self.next,
        });
    }

    /// Goes back to what was reached before the decisions above a level.
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
