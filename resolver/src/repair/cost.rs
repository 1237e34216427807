//! Repairs, and the order of them by cost.

use super::change::Change;
use crate::resolution::Resolution;

/// A set of changes that makes a conflict solvable.
#[derive(Debug, Clone)]
pub struct Repair {
    /// The changes, in the order of restrictions.
    pub changes: Vec<Change>,
    /// The resolution with these changes.
    pub resolution: Box<Resolution>,
}

/// The cost of a repair. Fields are compared in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Cost {
    /// The number of changes.
    pub changes: usize,
    /// The number of changes to options: the cut-off date, the prerelease policy, or one release of each package.
    pub options: usize,
    /// The number of changes that need a new release of a package.
    pub releases: usize,
    /// The number of overrides.
    pub overrides: usize,
}

impl Repair {
    /// The cost of the repair.
    pub fn cost(&self) -> Cost {
        let mut cost = Cost {
            changes: self.changes.len(),
            ..Cost::default()
        };
        for change in &self.changes {
            match change {
                Change::Requirement { .. } => {}
                Change::Override { .. } | Change::NoOverride { .. } => cost.overrides += 1,
                Change::Release { .. } => cost.releases += 1,
                Change::CutOff { .. } | Change::Prereleases { .. } | Change::SideBySide => {
                    cost.options += 1;
                }
            }
        }
        cost
    }

    /// Whether it is enough to change requirements of roots, overrides and options: nobody has to make a release.
    pub fn needs_no_release(&self) -> bool {
        self.cost().releases == 0
    }
}
