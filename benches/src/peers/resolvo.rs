//! The crate `resolvo`, which asks for what it comes across.

use std::any::Any;
use std::fmt::Display;
use std::time::Duration;

use resolvo::{
    Candidates, Condition, ConditionId, ConditionalRequirement, Dependencies, DependencyProvider,
    Interner, KnownDependencies, NameId, Problem, SolvableId, SolverCache, StringId,
    UnsolvableOrCancelled, VersionSetId, VersionSetUnionId,
};

use crate::check::Answer;
use crate::measure::Deadline;
use crate::peers::{Peer, Timeout};
use crate::universe::{Plain, Versions, is_in};

/// A universe with everything made ready for the crate.
#[derive(Debug)]
pub struct Solver {
    index: Index,
    answer: Answer,
}

#[derive(Debug, Default)]
struct Index {
    /// The releases of each package, the newest first.
    candidates: Vec<Vec<SolvableId>>,
    /// The package and version of each release.
    solvables: Vec<(u32, u32)>,
    dependencies: Vec<Vec<ConditionalRequirement>>,
    sets: Vec<(u32, Versions)>,
    roots: Vec<Vec<ConditionalRequirement>>,
}

fn to_u32(number: usize) -> u32 {
    u32::try_from(number).expect("fewer than 2^32 of anything")
}

impl Index {
    fn requirements(&mut self, dependencies: &[(usize, Versions)]) -> Vec<ConditionalRequirement> {
        let mut requirements = Vec::with_capacity(dependencies.len());
        for (package, versions) in dependencies {
            requirements.push(VersionSetId(to_u32(self.sets.len())).into());
            self.sets.push((to_u32(*package), versions.clone()));
        }
        requirements
    }

    fn version(&self, solvable: SolvableId) -> u32 {
        self.solvables[solvable.into_raw() as usize].1
    }
}

impl Solver {
    /// Makes a universe ready.
    pub fn new(universe: &Plain) -> Self {
        let mut index = Index::default();
        for (package, releases) in universe.packages.iter().enumerate() {
            let first = to_u32(index.solvables.len());
            for release in releases {
                index.solvables.push((to_u32(package), release.version));
                let requirements = index.requirements(&release.dependencies);
                index.dependencies.push(requirements);
            }
            let newest_first = (first..to_u32(index.solvables.len())).rev();
            index
                .candidates
                .push(newest_first.map(SolvableId::from_raw).collect());
        }
        for root in &universe.roots {
            let requirements = index.requirements(root);
            index.roots.push(requirements);
        }
        Self {
            index,
            answer: Answer::new(),
        }
    }
}

struct Provider<'index> {
    index: &'index Index,
    deadline: Deadline,
}

impl Interner for Provider<'_> {
    type NameId = NameId;
    type SolvableId = SolvableId;

    fn display_solvable(&self, solvable: SolvableId) -> impl Display + '_ {
        let (package, version) = self.index.solvables[solvable.into_raw() as usize];
        format!("p{package} {version}")
    }

    fn display_name(&self, name: NameId) -> impl Display + '_ {
        format!("p{}", name.into_raw())
    }

    fn display_version_set(&self, version_set: VersionSetId) -> impl Display + '_ {
        format!("{:?}", self.index.sets[version_set.0 as usize].1)
    }

    fn display_string(&self, string_id: StringId) -> impl Display + '_ {
        string_id.0
    }

    fn version_set_name(&self, version_set: VersionSetId) -> NameId {
        NameId::from_raw(self.index.sets[version_set.0 as usize].0)
    }

    fn solvable_name(&self, solvable: SolvableId) -> NameId {
        NameId::from_raw(self.index.solvables[solvable.into_raw() as usize].0)
    }

    fn version_sets_in_union(&self, _: VersionSetUnionId) -> impl Iterator<Item = VersionSetId> {
        std::iter::empty()
    }

    fn resolve_condition(&self, _: ConditionId) -> Condition {
        unreachable!("no requirement has a condition")
    }
}

impl DependencyProvider for Provider<'_> {
    async fn filter_candidates(
        &self,
        candidates: &[SolvableId],
        version_set: VersionSetId,
        inverse: bool,
    ) -> Vec<SolvableId> {
        let versions = &self.index.sets[version_set.0 as usize].1;
        let fits = |solvable: &SolvableId| is_in(versions, self.index.version(*solvable));
        let candidates = candidates.iter().copied();
        candidates
            .filter(|solvable| fits(solvable) != inverse)
            .collect()
    }

    async fn get_candidates(&self, name: NameId) -> Option<Candidates> {
        Some(Candidates {
            candidates: self.index.candidates[name.into_raw() as usize].clone(),
            ..Candidates::default()
        })
    }

    async fn sort_candidates(&self, _: &SolverCache<Self>, solvables: &mut [SolvableId]) {
        solvables.sort_unstable_by_key(|solvable| std::cmp::Reverse(self.index.version(*solvable)));
    }

    async fn get_dependencies(&self, solvable: SolvableId) -> Dependencies {
        Dependencies::Known(KnownDependencies {
            requirements: self.index.dependencies[solvable.into_raw() as usize].clone(),
            constrains: Vec::new(),
        })
    }

    fn should_cancel_with_value(&self) -> Option<Box<dyn Any>> {
        self.deadline
            .is_over()
            .then(|| Box::new(Timeout) as Box<dyn Any>)
    }
}

impl Peer for Solver {
    fn solve(&mut self, root: usize, limit: Duration) -> Result<bool, Timeout> {
        let mut solver = resolvo::Solver::new(Provider {
            index: &self.index,
            deadline: Deadline::after(limit),
        });
        let problem = Problem::new().requirements(self.index.roots[root].clone());
        match solver.solve(problem) {
            Ok(found) => {
                let solvables = found
                    .into_iter()
                    .map(|solvable| solvable.into_raw() as usize);
                let releases = solvables.map(|solvable| self.index.solvables[solvable]);
                self.answer = releases
                    .map(|(package, version)| (package as usize, version))
                    .collect();
                Ok(true)
            }
            Err(UnsolvableOrCancelled::Unsolvable(_)) => Ok(false),
            Err(UnsolvableOrCancelled::Cancelled(_)) => Err(Timeout),
        }
    }

    fn take_answer(&mut self) -> Answer {
        std::mem::take(&mut self.answer)
    }
}
