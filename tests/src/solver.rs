//! The solver's answer to a universe, in the types of the reference.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::Arc;

use pkgres_manifest::{IndexRecord, Package, PackageName, Release};
use pkgres_resolver::{
    CompiledIndex, Conflict, Engine, Locked, Outcome, PrereleasePolicy, Repairs, Request,
    Resolution, Resolver, SolveOptions, Step, Supply, Update, find_repairs,
};

use crate::drive::{NoPackages, Packages, Records, attached, drive, source};
use crate::reference::Answer;
use crate::solution::Solution;
use crate::universe::{self, Universe};

/// The answer of the solver to a universe.
#[derive(Debug, PartialEq, Eq)]
pub enum Verdict {
    /// There is a resolution.
    Solved(Box<Resolution>),
    /// There is none.
    Conflict(Box<Conflict>),
}

impl Verdict {
    /// The verdict that a solver ended with.
    ///
    /// # Panics
    ///
    /// If it gave up, or was cancelled.
    pub fn of(step: Step) -> Self {
        match step {
            Step::Solved(resolution) => Self::Solved(resolution),
            Step::Conflict(conflict) => Self::Conflict(conflict),
            step => panic!("there is no verdict: {step:?}"),
        }
    }

    /// The verdict as an answer of the reference.
    pub fn answer(&self) -> Answer {
        match self {
            Self::Solved(resolution) => Answer::Solved(solution(resolution)),
            Self::Conflict(_) => Answer::NoSolution,
        }
    }

    /// The conflict, if that is the verdict.
    pub fn conflict(self) -> Option<Box<Conflict>> {
        match self {
            Self::Solved(_) => None,
            Self::Conflict(conflict) => Some(conflict),
        }
    }
}

/// When and in which form packages are provided to the solver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Supplies {
    /// By name, as the solver asks for them.
    OnDemand,
    /// By name, all of them before the first step, in the order of the records.
    Beforehand,
    /// As one index, before the first step.
    Attached,
    /// As one compiled index that was written and read again, before the first step.
    Compiled,
    /// As a compiled index, with every other package provided by name before it.
    PartlyCompiled,
    /// Two of three packages as one index when the solver first asks for any of them, the others by name.
    AttachedWhenNeeded,
}

/// The answer of the solver. Packages are provided as it asks for them.
///
/// # Panics
///
/// If the solver gives up, or asks twice for a package.
pub fn solve(universe: &Universe) -> Verdict {
    solve_with(
        universe,
        Supplies::OnDemand,
        SolveOptions::default().conflict_limit,
    )
}

/// The answer of the solver, with packages provided in a certain form.
///
/// # Panics
///
/// If the solver gives up, or asks twice for a package.
pub fn solve_with(universe: &Universe, supplies: Supplies, conflict_limit: u64) -> Verdict {
    let mut request = request(universe);
    request.options.conflict_limit = conflict_limit;
    run(universe, supplies, request)
}

/// The answer of a certain engine.
///
/// # Panics
///
/// If the solver gives up, or asks twice for a package.
pub fn solve_by(universe: &Universe, engine: Engine) -> Verdict {
    let mut request = request(universe);
    request.options.engine = engine;
    run(universe, Supplies::OnDemand, request)
}

/// The answer to an update of the lock of a universe.
///
/// # Panics
///
/// If the solver gives up, or asks twice for a package.
pub fn update(
    universe: &Universe,
    supplies: Supplies,
    update: Update,
    conflict_limit: u64,
) -> Verdict {
    let mut request = request(universe);
    request.options.conflict_limit = conflict_limit;
    request.update = Some(update);
    run(universe, supplies, request)
}

/// The answer of the solver to a request about a universe.
///
/// # Panics
///
/// If the solver gives up, or asks twice for a package.
pub fn run(universe: &Universe, supplies: Supplies, request: Request) -> Verdict {
    run_with_classes(universe, supplies, request, |release| {
        panic!("the classes of {release:?} are needed for no model")
    })
}

/// The answer of the solver to a request about a universe and a model, for which it may need the
/// classes of releases.
///
/// # Panics
///
/// If the solver gives up, or asks twice for a package.
pub fn run_with_classes(
    universe: &Universe,
    supplies: Supplies,
    request: Request,
    classes: impl Fn(&Release) -> Option<Arc<Package>>,
) -> Verdict {
    let mut packages = PackagesOfUniverse {
        records: Records::new(universe.records.iter().cloned()),
        late: None,
        classes,
    };
    let mut resolver = Resolver::new(request);
    let names: Vec<&PackageName> = match supplies {
        Supplies::Beforehand => {
            // In the order in which they come.
            let mut seen = BTreeSet::new();
            let names = universe.records.iter().map(|record| &record.name);
            names.filter(|name| seen.insert(*name)).collect()
        }
        Supplies::PartlyCompiled => packages.records.by_name().keys().step_by(2).collect(),
        _ => Vec::new(),
    };
    for name in names {
        let provided = resolver.provide(name, packages.records.supply_of(name));
        provided.expect("the records are of the package");
    }
    match supplies {
        Supplies::OnDemand | Supplies::Beforehand => {}
        // Indexes do not have the dates that some requests need.
        _ if resolver.needs_dates() => {}
        Supplies::Attached => {
            let index = CompiledIndex::compile(&universe.records);
            let attached = resolver.attach(source(), Arc::new(index));
            attached.expect("no dates are needed");
        }
        Supplies::Compiled | Supplies::PartlyCompiled => {
            let index = CompiledIndex::from_bytes(compiled(universe), &SOURCE);
            let index = index.expect("nothing happened to the bytes");
            let attached = resolver.attach(source(), Arc::new(index));
            attached.expect("no dates are needed");
        }
        Supplies::AttachedWhenNeeded => {
            let all = packages.records.by_name().values().enumerate();
            let some = all.filter(|(at, _)| at % 3 != 0);
            let records = some.flat_map(|(_, records)| records);
            packages.late = Some(Arc::new(CompiledIndex::compile(records)));
        }
    }
    Verdict::of(drive(&mut resolver, &mut packages))
}

/// The cheapest repairs of a conflict of a universe.
///
/// # Panics
///
/// If the solver asks twice for a package, or is cancelled.
pub fn repairs(universe: &Universe, conflict: &Conflict) -> Repairs {
    repairs_of(universe, &request(universe), conflict)
}

/// The cheapest repairs of the conflict of a request about a universe.
///
/// # Panics
///
/// If the solver asks twice for a package, or is cancelled.
pub fn repairs_of(universe: &Universe, request: &Request, conflict: &Conflict) -> Repairs {
    counted_repairs(universe, request, conflict).0
}

/// The cheapest repairs of the conflict of a request about a universe, and the number of trials that found them.
///
/// # Panics
///
/// If the solver asks twice for a package, or is cancelled.
pub fn counted_repairs(
    universe: &Universe,
    request: &Request,
    conflict: &Conflict,
) -> (Repairs, usize) {
    let mut records = Records::new(universe.records.iter().cloned());
    let mut trials = 0;
    let found = find_repairs(request, conflict, |trial| {
        trials += 1;
        let mut resolver = trial.resolver();
        for name in trial.rewritten_packages() {
            let mut supply = records.supply_of(name);
            if let Supply::Releases { records, .. } = &mut supply {
                for record in records {
                    trial.rewrite(record);
                }
            }
            let provided = resolver.provide(name, supply);
            provided.expect("the records are of the package");
        }
        Ok::<_, Infallible>(match drive(&mut resolver, &mut records) {
            Step::Solved(resolution) => Outcome::Solved(resolution),
            Step::Conflict(conflict) => Outcome::Conflict(conflict),
            Step::GaveUp { .. } => Outcome::Unknown,
            step => panic!("there is no outcome: {step:?}"),
        })
    });
    (found.unwrap_or_else(|never| match never {}), trials)
}

/// The packages of a universe, some of them perhaps as an index that comes late.
struct PackagesOfUniverse<C> {
    records: Records,
    /// Attached when the first of its packages is needed.
    late: Option<Arc<CompiledIndex>>,
    classes: C,
}

impl<C: Fn(&Release) -> Option<Arc<Package>>> Packages for PackagesOfUniverse<C> {
    fn attach(&mut self, resolver: &mut Resolver, needed: &[PackageName]) -> bool {
        let has_any = |index: &mut Arc<CompiledIndex>| needed.iter().any(|name| index.has(name));
        let late = self
            .late
            .take_if(has_any)
            .filter(|_| !resolver.needs_dates());
        let is_attached = late.is_some();
        if let Some(index) = late {
            let attached = resolver.attach(source(), index);
            attached.expect("no dates are needed");
        }
        is_attached
    }

    fn supply(&mut self, name: &PackageName) -> Supply {
        self.records.supply(name)
    }

    fn classes(&mut self, release: &Release) -> Option<Arc<Package>> {
        (self.classes)(release)
    }
}

/// The answer of the solver to a request about the packages of an index.
///
/// # Panics
///
/// If the solver gives up, or needs classes.
pub fn run_on(index: &Arc<CompiledIndex>, request: Request) -> Verdict {
    let mut resolver = attached(request, Arc::clone(index));
    Verdict::of(drive(&mut resolver, &mut NoPackages))
}

/// The digest of the source that compiled indexes of universes carry.
pub const SOURCE: [u8; 32] = [7; 32];

/// The releases of a universe as the bytes of a compiled index.
///
/// # Panics
///
/// If the records have locations in files, which those of universes do not.
pub fn compiled(universe: &Universe) -> Vec<u8> {
    let index = CompiledIndex::compile(&universe.records);
    index
        .to_bytes(&SOURCE)
        .expect("nothing is written in a file")
}

/// The request to solve a universe.
pub fn request(universe: &Universe) -> Request {
    let mut locked = universe
        .locked
        .as_ref()
        .map(|lock| locked(lock, &universe.root))
        .unwrap_or_default();
    locked.kept.clone_from(&universe.kept);
    let mut options = SolveOptions::default();
    options.prerelease = match universe.prerelease {
        universe::PrereleasePolicy::IfNecessary => PrereleasePolicy::IfNecessary,
        universe::PrereleasePolicy::Allow => PrereleasePolicy::Allow,
        universe::PrereleasePolicy::Never => PrereleasePolicy::Never,
    };
    options.single_version = universe.single_version;
    Request {
        core: universe.core.clone(),
        locked,
        options,
        ..Request::new(universe.root.clone())
    }
}

/// A lock of the reference as a lock of the solver. The solver knows roots by name only, so bindings of
/// another version of the root become preferences.
fn locked(lock: &Solution, root: &IndexRecord) -> Locked {
    let mut locked = Locked::default();
    for ((requirer, version, required), bound) in &lock.bindings {
        let bindings = if *requirer != root.name {
            locked
                .packages
                .entry(Release::new(requirer.clone(), version.clone()))
                .or_default()
        } else if *version == root.version {
            locked.roots.entry(requirer.clone()).or_default()
        } else {
            locked
                .preferred
                .insert(Release::new(required.clone(), bound.clone()));
            continue;
        };
        bindings.insert(required.clone(), bound.clone());
    }
    locked
}

/// A resolution as a solution of the reference.
pub fn solution(resolution: &Resolution) -> Solution {
    let mut solution = Solution::new(
        resolution
            .owners()
            .flat_map(|owner| {
                let (name, version) = owner.release().expect("universes have no models");
                owner.requires().iter().map(move |bound| {
                    let key = (name.clone(), version.clone(), bound.package.clone());
                    (key, bound.version.clone())
                })
            })
            .collect(),
    );
    solution.side_by_side = resolution
        .side_by_side()
        .iter()
        .map(|entry| entry.name.clone())
        .collect();
    solution
}
