//! The positions of the lines of each package in an index file.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use pkgres_manifest::PackageName;

/// The positions of the lines of each package in an index file.
#[derive(Debug, Default)]
pub(super) struct Runs {
    /// In the order of the file.
    runs: Vec<Run>,
    /// The position of each package's last run.
    last: HashMap<PackageName, usize>,
}

/// Consecutive lines about one package.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) first_line: usize,
    /// The position of the run before this one that is about the same package.
    previous: Option<usize>,
}

impl Run {
    /// A single line.
    pub(super) fn of_line(number: usize, start: u64, end: u64) -> Self {
        Self {
            start,
            end,
            first_line: number,
            previous: None,
        }
    }
}

impl Runs {
    /// Starts a run.
    pub(super) fn begin(&mut self, package: PackageName, start: u64, first_line: usize) {
        let at = self.runs.len();
        let previous = match self.last.entry(package) {
            Entry::Occupied(mut last) => Some(last.insert(at)),
            Entry::Vacant(last) => {
                last.insert(at);
                None
            }
        };
        self.runs.push(Run {
            start,
            end: start,
            first_line,
            previous,
        });
    }

    /// Extends the last run to a position in the file.
    pub(super) fn extend(&mut self, end: u64) {
        if let Some(run) = self.runs.last_mut() {
            run.end = end;
        }
    }

    /// The runs about a package in the order of the file; `None` if there is none.
    pub(super) fn of(&self, package: &str) -> Option<Vec<Run>> {
        let last = *self.last.get(package)?;
        let mut runs: Vec<Run> = std::iter::successors(Some(self.runs[last]), |run| {
            run.previous.map(|at| self.runs[at])
        })
        .collect();
        runs.reverse();
        Some(runs)
    }

    /// The name of a package, if it is there.
    pub(super) fn name(&self, package: &str) -> Option<&PackageName> {
        self.last.get_key_value(package).map(|(name, _)| name)
    }

    /// The number of packages.
    pub(super) fn package_count(&self) -> usize {
        self.last.len()
    }

    /// All packages, in the order of their last lines.
    pub(super) fn packages(&self) -> Vec<&PackageName> {
        let mut packages: Vec<(usize, &PackageName)> = (self.last.iter())
            .map(|(package, last)| (*last, package))
            .collect();
        packages.sort_unstable();
        packages.into_iter().map(|(_, package)| package).collect()
    }
}
