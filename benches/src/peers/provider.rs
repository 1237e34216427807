//! The interface that the `pubgrub` crate and its descendant share.

use std::cmp::Reverse;
use std::ops::Bound;

/// The package of the root.
pub(super) const ROOT: u32 = u32::MAX;

/// The priority of a package: conflicts, then having few versions left.
pub(super) type Priority = (u32, Reverse<usize>);

/// Before everything else.
pub(super) const MOST_URGENT: Priority = (u32::MAX, Reverse(0));

/// How many of some versions, the lowest first, lie in the segments of a set, and where the newest
/// of those is.
pub(super) fn matching<'set, Version: Ord + 'set>(
    versions: &[Version],
    segments: impl Iterator<Item = (Bound<&'set Version>, Bound<&'set Version>)>,
) -> (usize, Option<usize>) {
    let (mut count, mut newest) = (0, None);
    for (low, high) in segments {
        let begin = versions.partition_point(|version| match low {
            Bound::Unbounded => false,
            Bound::Included(low) => version < low,
            Bound::Excluded(low) => version <= low,
        });
        let end = versions.partition_point(|version| match high {
            Bound::Unbounded => true,
            Bound::Included(high) => version <= high,
            Bound::Excluded(high) => version < high,
        });
        if begin < end {
            count += end - begin;
            newest = Some(end - 1);
        }
    }
    (count, newest)
}

/// Defines `Solver`, a peer that uses the crate `library` as its documentation shows, for a type of
/// versions, ways to make a version of a number and the other way round, and one to bring the
/// bounds of a segment into the form that [`matching`] takes.
macro_rules! provider {
    ($version:ty, $make:expr, $number:expr, $segment:expr) => {
        use std::time::Duration;

        use library::{
            Dependencies, DependencyConstraints, DependencyProvider, PackageResolutionStatistics,
            PubGrubError, Ranges,
        };

        use crate::check::Answer;
        use crate::measure::Deadline;
        use crate::peers::provider::{MOST_URGENT, Priority, ROOT, matching};
        use crate::peers::{Peer, Timeout};
        use crate::universe::{Plain, Versions};

        type Constraints = DependencyConstraints<u32, Ranges<$version>>;

        /// A universe with everything made ready for the crate.
        #[derive(Debug)]
        pub struct Solver {
            packages: Vec<Releases>,
            roots: Vec<Constraints>,
            root: usize,
            deadline: Deadline,
            answer: Answer,
        }

        #[derive(Debug)]
        struct Releases {
            versions: Vec<$version>,
            dependencies: Vec<Constraints>,
        }

        impl Solver {
            /// Makes a universe ready.
            pub fn new(universe: &Plain) -> Self {
                let packages = universe.packages.iter().map(|releases| Releases {
                    versions: (releases.iter())
                        .map(|release| $make(release.version))
                        .collect(),
                    dependencies: (releases.iter())
                        .map(|release| constraints(&release.dependencies))
                        .collect(),
                });
                Self {
                    packages: packages.collect(),
                    roots: universe
                        .roots
                        .iter()
                        .map(|root| constraints(root))
                        .collect(),
                    root: 0,
                    deadline: Deadline::after(Duration::ZERO),
                    answer: Answer::new(),
                }
            }
        }

        fn constraints(dependencies: &[(usize, Versions)]) -> Constraints {
            let constraint = |(package, versions): &(usize, Versions)| {
                let ranges = versions.iter().map(|(low, high)| match high {
                    None => Ranges::higher_than($make(*low)),
                    Some(high) => Ranges::between($make(*low), $make(*high)),
                });
                let package = u32::try_from(*package).expect("few packages");
                (
                    package,
                    ranges.fold(Ranges::empty(), |all, range| all.union(&range)),
                )
            };
            dependencies.iter().map(constraint).collect()
        }

        impl DependencyProvider for Solver {
            type P = u32;
            type V = $version;
            type VS = Ranges<$version>;
            type Priority = Priority;
            type M = String;
            type Err = Timeout;

            fn prioritize(
                &self,
                package: &u32,
                range: &Ranges<$version>,
                statistics: &PackageResolutionStatistics,
            ) -> Priority {
                if *package == ROOT {
                    return MOST_URGENT;
                }
                let versions = &self.packages[*package as usize].versions;
                match matching(versions, range.iter().map($segment)) {
                    (0, _) => MOST_URGENT,
                    (count, _) => (statistics.conflict_count(), std::cmp::Reverse(count)),
                }
            }

            fn choose_version(
                &self,
                package: &u32,
                range: &Ranges<$version>,
            ) -> Result<Option<$version>, Timeout> {
                if *package == ROOT {
                    return Ok(Some($make(0)));
                }
                let versions = &self.packages[*package as usize].versions;
                let (_, newest) = matching(versions, range.iter().map($segment));
                Ok(newest.map(|newest| versions[newest].clone()))
            }

            fn get_dependencies(
                &self,
                package: &u32,
                version: &$version,
            ) -> Result<Dependencies<u32, Ranges<$version>, String>, Timeout> {
                if *package == ROOT {
                    return Ok(Dependencies::Available(self.roots[self.root].clone()));
                }
                let releases = &self.packages[*package as usize];
                let at = releases.versions.binary_search(version);
                let at = at.expect("only known versions are chosen");
                Ok(Dependencies::Available(releases.dependencies[at].clone()))
            }

            fn should_cancel(&self) -> Result<(), Timeout> {
                if self.deadline.is_over() {
                    Err(Timeout)
                } else {
                    Ok(())
                }
            }
        }

        impl Peer for Solver {
            fn solve(&mut self, root: usize, limit: Duration) -> Result<bool, Timeout> {
                self.root = root;
                self.deadline = Deadline::after(limit);
                match library::resolve(self, ROOT, $make(0_u32)) {
                    Ok(found) => {
                        let chosen = found.into_iter().filter(|(package, _)| *package != ROOT);
                        self.answer = chosen
                            .map(|(package, version)| (package as usize, $number(version)))
                            .collect();
                        Ok(true)
                    }
                    Err(PubGrubError::NoSolution(_)) => Ok(false),
                    Err(_) => Err(Timeout),
                }
            }

            fn take_answer(&mut self) -> Answer {
                std::mem::take(&mut self.answer)
            }
        }
    };
}

pub(super) use provider;
