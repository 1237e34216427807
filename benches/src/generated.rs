//! Universes that are generated from a seed around a planted solution.
//!
//! Every package has a *planned* version, and the planned versions fit each other. Versions that
//! are newer than the plan may require something that the plan does not have: taking the newest
//! of everything then leads into conflicts from which a solver has to find back.

use crate::inherited::{NO_CLASS, add_classes};
use crate::random::Random;
use crate::universe::{Dependency, Range, Release, Universe};

/// The shape of a generated universe.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// How many packages there are.
    pub packages: usize,
    /// How many versions each of them has.
    pub versions: u32,
    /// How many dependencies a release has at most.
    pub dependencies: usize,
    /// How many versions a range spans at most on either side of the plan.
    pub width: u32,
    /// Of a thousand releases newer than the plan, how many exclude it somewhere.
    pub excluding: u32,
    /// Of a thousand ranges, how many have an upper bound.
    pub capped: u32,
    /// Of a thousand versions newer than the plan, how many drop a class that others extend; if
    /// none do, nothing is extended.
    pub dropping: u32,
    /// Whether three packages lead from the root to a version, or a class, that does not exist.
    pub unsolvable: bool,
}

/// Of a hundred packages, how many the root requires.
const ROOT_PERCENT: usize = 2;

impl Shape {
    /// Packages whose newest versions all fit.
    pub fn without_conflicts(packages: usize, versions: u32) -> Self {
        Self {
            packages,
            versions,
            dependencies: 5,
            width: 4,
            excluding: 0,
            capped: 0,
            dropping: 0,
            unsolvable: false,
        }
    }

    /// Packages whose newest versions do not all fit.
    #[must_use]
    pub fn with_conflicts(mut self, excluding: u32, capped: u32) -> Self {
        self.excluding = excluding;
        self.capped = capped;
        self
    }

    /// The same with classes that newer versions drop.
    #[must_use]
    pub fn with_classes(mut self, dropping: u32) -> Self {
        self.dropping = dropping;
        self
    }

    /// The same with something that the root cannot have.
    #[must_use]
    pub fn unsolvable(mut self) -> Self {
        self.unsolvable = true;
        self
    }

    /// The name of a universe of this shape in the table.
    pub fn name(&self) -> String {
        let per_thousand = |share: u32| f64::from(share) / 1000.0;
        let (q, cap) = (per_thousand(self.excluding), per_thousand(self.capped));
        let classes = match self.dropping {
            0 => String::new(),
            dropping => format!(":classes:{}", per_thousand(dropping)),
        };
        format!(
            "gen:{}:{}:{}:{}:{q}/{cap}{classes}{}",
            self.packages,
            self.versions,
            self.dependencies,
            self.width,
            if self.unsolvable { ":unsat" } else { "" }
        )
    }

    /// The universe of this shape and seed.
    pub fn universe(&self, seed: u64) -> Universe {
        let mut random = Random::new(seed);
        let plan: Vec<u32> = (0..self.packages)
            .map(|_| 1 + random.below(self.versions))
            .collect();
        let mut packages: Vec<Vec<Release>> = (0..self.packages)
            .map(|package| {
                (1..=self.versions)
                    .map(|version| {
                        let dependencies = self.dependencies(&mut random, &plan, package, version);
                        Release::new(version, dependencies)
                    })
                    .collect()
            })
            .collect();
        let direct = (self.packages * ROOT_PERCENT / 100).max(1);
        let mut root: Vec<Dependency> = Vec::new();
        for _ in 0..direct {
            let package = random.index(self.packages);
            if root.iter().all(|(known, _)| *known != package) {
                root.push((package, self.around(&mut random, plan[package])));
            }
        }
        if self.dropping > 0 {
            add_classes(&mut random, &plan, self.dropping, &mut packages);
        }
        if self.unsolvable {
            // The packages of the chain are new: nothing else requires them.
            let first = packages.len();
            for link in 0..3 {
                let is_last = link == 2;
                let next = first + link + 1;
                let range = match self.dropping {
                    0 if is_last => Range::at_least(self.versions + 1),
                    _ => Range::FULL,
                };
                let release = |version| {
                    let mut release = Release::new(version, vec![(next, range)]);
                    let extends_nothing = self.dropping == 0 || !is_last;
                    release.extends = if extends_nothing {
                        vec![]
                    } else {
                        vec![(next, NO_CLASS)]
                    };
                    release
                };
                packages.push((1..=self.versions).map(release).collect());
            }
            let releases = (1..=self.versions).map(|version| Release::new(version, Vec::new()));
            packages.push(releases.collect());
            let at = random.index(root.len());
            root.insert(at, (first, Range::FULL));
        }
        Universe {
            name: self.name(),
            packages,
            roots: vec![root],
        }
    }

    fn dependencies(
        &self,
        random: &mut Random,
        plan: &[u32],
        package: usize,
        version: u32,
    ) -> Vec<Dependency> {
        let count = random.index(self.dependencies + 1);
        let mut dependencies: Vec<Dependency> = Vec::with_capacity(count);
        for _ in 0..count {
            let target = random.index(self.packages);
            if target != package && dependencies.iter().all(|(known, _)| *known != target) {
                dependencies.push((target, self.around(random, plan[target])));
            }
        }
        let excludes = version > plan[package] && random.below(1000) < self.excluding;
        if excludes && !dependencies.is_empty() {
            let at = random.index(dependencies.len());
            let planned = plan[dependencies[at].0];
            // Below the plan or, where there is nothing, above it.
            dependencies[at].1 = if planned > 1 && random.below(2) == 0 {
                Range::between(planned.saturating_sub(self.width).max(1), planned)
            } else {
                Range::at_least(planned + 1)
            };
        }
        dependencies
    }

    /// A range that holds a planned version.
    fn around(&self, random: &mut Random, planned: u32) -> Range {
        let low = planned.saturating_sub(random.below(self.width)).max(1);
        let is_capped = random.below(1000) < self.capped;
        Range {
            low,
            high: is_capped.then(|| planned + 1 + random.below(self.width)),
            except: None,
        }
    }
}
