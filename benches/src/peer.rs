//! Universes as a program solves them that uses the `pubgrub` crate as its documentation shows:
//! sets of ranges over semantic versions.

use std::cmp::Reverse;
use std::fmt;
use std::time::Duration;

use pubgrub::{
    Dependencies, DependencyConstraints, DependencyProvider, PackageResolutionStatistics,
    PubGrubError, Ranges,
};

use crate::measure::thread_time;
use crate::universe::{Range, Universe};

type Versions = Ranges<semver::Version>;

/// The package of the root.
const ROOT: u32 = u32::MAX;

/// A universe with everything made ready for the crate.
#[derive(Debug)]
pub struct Pubgrub {
    packages: Vec<Vec<(semver::Version, DependencyConstraints<u32, Versions>)>>,
    root: DependencyConstraints<u32, Versions>,
    until: Duration,
}

/// The time was used up.
#[derive(Debug)]
pub struct Timeout;

impl fmt::Display for Timeout {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the time was used up")
    }
}

impl std::error::Error for Timeout {}

impl Pubgrub {
    /// Makes a universe ready.
    pub fn new(universe: &Universe) -> Self {
        let releases = |releases: &Vec<crate::universe::Release>| {
            let release = |release: &crate::universe::Release| {
                (version(release.version), constraints(&release.dependencies))
            };
            releases.iter().map(release).collect()
        };
        Self {
            packages: universe.packages.iter().map(releases).collect(),
            root: DependencyConstraints::default(),
            until: Duration::MAX,
        }
    }

    /// Solves each root; says how many have a solution.
    pub fn solve(&mut self, universe: &Universe, limit: Duration) -> Result<usize, Timeout> {
        self.until = thread_time() + limit;
        let mut solved = 0;
        for root in &universe.roots {
            self.root = constraints(root);
            match pubgrub::resolve(self, ROOT, version(0)) {
                Ok(_) => solved += 1,
                Err(PubGrubError::NoSolution(_)) => {}
                Err(_) => return Err(Timeout),
            }
        }
        Ok(solved)
    }

    fn releases(&self, package: u32) -> &[(semver::Version, DependencyConstraints<u32, Versions>)] {
        &self.packages[package as usize]
    }
}

fn version(number: u32) -> semver::Version {
    semver::Version::new(u64::from(number), 0, 0)
}

fn constraints(dependencies: &[(usize, Range)]) -> DependencyConstraints<u32, Versions> {
    let constraint = |(package, range): &(usize, Range)| {
        let low = version(range.low);
        let versions = match range.high {
            None => Ranges::higher_than(low),
            Some(high) => Ranges::between(low, version(high)),
        };
        (u32::try_from(*package).expect("few packages"), versions)
    };
    dependencies.iter().map(constraint).collect()
}

impl DependencyProvider for Pubgrub {
    type P = u32;
    type V = semver::Version;
    type VS = Versions;
    type Priority = (u32, Reverse<usize>);
    type M = String;
    type Err = Timeout;

    fn prioritize(
        &self,
        package: &u32,
        range: &Versions,
        statistics: &PackageResolutionStatistics,
    ) -> Self::Priority {
        if *package == ROOT {
            return (u32::MAX, Reverse(0));
        }
        let matching = self
            .releases(*package)
            .iter()
            .filter(|(version, _)| range.contains(version))
            .count();
        if matching == 0 {
            return (u32::MAX, Reverse(0));
        }
        (statistics.conflict_count(), Reverse(matching))
    }

    fn choose_version(
        &self,
        package: &u32,
        range: &Versions,
    ) -> Result<Option<semver::Version>, Timeout> {
        if *package == ROOT {
            return Ok(Some(version(0)));
        }
        let newest_first = self.releases(*package).iter().rev();
        let mut matching = newest_first.filter(|(version, _)| range.contains(version));
        Ok(matching.next().map(|(version, _)| version.clone()))
    }

    fn get_dependencies(
        &self,
        package: &u32,
        version: &semver::Version,
    ) -> Result<Dependencies<u32, Versions, String>, Timeout> {
        if *package == ROOT {
            return Ok(Dependencies::Available(self.root.clone()));
        }
        let releases = self.releases(*package);
        let at = releases.binary_search_by(|(known, _)| known.cmp(version));
        let (_, dependencies) = &releases[at.expect("only known versions are chosen")];
        Ok(Dependencies::Available(dependencies.clone()))
    }

    fn should_cancel(&self) -> Result<(), Timeout> {
        if thread_time() > self.until {
            Err(Timeout)
        } else {
            Ok(())
        }
    }
}
