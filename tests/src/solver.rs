//! The solver's answer to a universe, in the terms of the reference.

use std::collections::BTreeMap;
use std::sync::Arc;

use pkgres_manifest::{IndexRecord, Package, PackageName, RegistryName, ReleaseSource};
use pkgres_resolver::{
    CompiledIndex, Conflict, Engine, Locked, PrereleasePolicy, Request, Resolution, Resolver, Root,
    SolveOptions, Step, Supply, Update,
};

use crate::reference::{Answer, Release, Solution};
use crate::universe::{self, Universe};

/// What the solver says of a universe.
#[derive(Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It has a resolution.
    Solved(Box<Resolution>),
    /// It says that there is none.
    Conflict(Box<Conflict>),
}

impl Verdict {
    /// The verdict in the terms of the reference.
    pub fn answer(&self) -> Answer {
        match self {
            Self::Solved(resolution) => Answer::Solved(solution(resolution)),
            Self::Conflict(_) => Answer::NoSolution,
        }
    }

    /// Why there is no resolution, if that is the verdict.
    pub fn conflict(self) -> Option<Box<Conflict>> {
        match self {
            Self::Solved(_) => None,
            Self::Conflict(conflict) => Some(conflict),
        }
    }
}

/// When packages are provided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Supplies {
    /// As the solver asks for them.
    OnDemand,
    /// All of them before the first step, in the order of the records.
    Beforehand,
    /// All of them as one index.
    Attached,
    /// All of them before the first step, as a compiled index that was written and read again.
    Compiled,
    /// Likewise, with every other package from elsewhere and before the index.
    PartlyCompiled,
    /// Two of three packages as one index when the first of them is asked for, the others by name.
    AttachedWhenNeeded,
}

/// Lets the solver answer. Packages are provided one at a time, as it asks for them.
///
/// # Panics
///
/// If the solver gives up, or asks twice for a package.
pub fn solve(universe: &Universe) -> Verdict {
    solve_with(
        universe,
        Supplies::OnDemand,
        SolveOptions::default().patience,
    )
}

/// Lets the solver answer.
///
/// # Panics
///
/// If the solver gives up, or asks twice for a package.
pub fn solve_with(universe: &Universe, supplies: Supplies, patience: u64) -> Verdict {
    let mut request = request(universe);
    request.options.patience = patience;
    run(universe, supplies, request)
}

/// Solves a universe with an engine.
///
/// # Panics
///
/// If the solver gives up, or asks twice for a package.
pub fn solve_by(universe: &Universe, engine: Engine) -> Verdict {
    let mut request = request(universe);
    request.options.engine = engine;
    run(universe, Supplies::OnDemand, request)
}

/// Updates the lock of a universe.
///
/// # Panics
///
/// If the solver gives up, or asks twice for a package.
pub fn update(universe: &Universe, supplies: Supplies, update: Update, patience: u64) -> Verdict {
    let mut request = request(universe);
    request.options.patience = patience;
    request.update = Some(update);
    run(universe, supplies, request)
}

/// Lets the solver answer a request about a universe.
///
/// # Panics
///
/// If the solver gives up, or asks twice for a package.
pub fn run(universe: &Universe, supplies: Supplies, request: Request) -> Verdict {
    run_with_classes(universe, supplies, request, |release| {
        panic!("the classes of {release:?} are needed for no model")
    })
}

/// Lets the solver answer a request about a universe and a model, of which it may have to know the
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
    let mut records: BTreeMap<&PackageName, Vec<IndexRecord>> = BTreeMap::new();
    for record in &universe.records {
        records
            .entry(&record.name)
            .or_default()
            .push(record.clone());
    }
    let source = ReleaseSource::Registry(RegistryName::parse("test").expect("a valid name"));
    let supply = |name: &PackageName| match records.get(name) {
        None => Supply::Unknown,
        Some(records) => Supply::Releases {
            source: source.clone(),
            records: records.clone(),
        },
    };
    let mut resolver = Resolver::new(request);
    if supplies == Supplies::PartlyCompiled {
        for name in records.keys().step_by(2) {
            resolver.provide(name, supply(name));
        }
    }
    if matches!(supplies, Supplies::Compiled | Supplies::PartlyCompiled) {
        let index = CompiledIndex::from_bytes(compiled(universe), &SOURCE);
        let index = index.expect("nothing happened to the bytes");
        resolver.attach(source.clone(), Arc::new(index));
    }
    let mut asked: Vec<PackageName> = Vec::new();
    if supplies == Supplies::Beforehand {
        for record in &universe.records {
            resolver.provide(&record.name, supply(&record.name));
        }
    }
    if supplies == Supplies::Attached {
        let index = CompiledIndex::compile(&universe.records);
        resolver.attach(source.clone(), Arc::new(index));
    }
    let mut late = (supplies == Supplies::AttachedWhenNeeded).then(|| {
        let all = records.values().enumerate();
        let some = all.filter(|(at, _)| at % 3 != 0);
        let records = some.flat_map(|(_, records)| records);
        Arc::new(CompiledIndex::compile(records))
    });
    loop {
        match resolver.step() {
            Step::Need(names) => {
                if let Some(index) = late.take_if(|index| names.iter().any(|name| index.has(name)))
                {
                    resolver.attach(source.clone(), index);
                    continue;
                }
                for name in names {
                    assert!(!asked.contains(&name), "{name} was provided before");
                    resolver.provide(&name, supply(&name));
                    asked.push(name);
                }
            }
            Step::NeedClasses(releases) => {
                for release in releases {
                    let (name, version) = &release;
                    resolver.provide_classes(name, version, classes(&release));
                }
            }
            Step::Solved(resolution) => return Verdict::Solved(resolution),
            Step::Impossible => {}
            Step::Conflict(conflict) => return Verdict::Conflict(conflict),
            Step::GaveUp { steps } => panic!("gave up after {steps} steps"),
            Step::Cancelled => panic!("nobody cancelled"),
        }
    }
}

/// Lets the solver answer a request about what an index has, and nothing else.
///
/// # Panics
///
/// If the solver gives up, or needs classes.
pub fn run_on(index: &Arc<CompiledIndex>, request: Request) -> Verdict {
    let source = ReleaseSource::Registry(RegistryName::parse("test").expect("a valid name"));
    let mut resolver = Resolver::new(request);
    resolver.attach(source, Arc::clone(index));
    loop {
        match resolver.step() {
            Step::Need(names) => {
                for name in names {
                    resolver.provide(&name, Supply::Unknown);
                }
            }
            Step::Solved(resolution) => return Verdict::Solved(resolution),
            Step::Impossible => {}
            Step::Conflict(conflict) => return Verdict::Conflict(conflict),
            step => panic!("{step:?}"),
        }
    }
}

/// What the compiled indexes of universes say that they were made of.
pub const SOURCE: [u8; 32] = [7; 32];

/// The releases of a universe as the bytes of a compiled index.
///
/// # Panics
///
/// If the records know where in files they are written, which those of universes do not.
pub fn compiled(universe: &Universe) -> Vec<u8> {
    let index = CompiledIndex::compile(&universe.records);
    index
        .to_bytes(&SOURCE)
        .expect("nothing is written in a file")
}

/// What a solver is to be asked about a universe.
pub fn request(universe: &Universe) -> Request {
    let locked = universe
        .locked
        .as_ref()
        .map(|lock| locked(lock, &universe.root))
        .unwrap_or_default();
    Request {
        roots: vec![Root::Package(Box::new(universe.root.clone()))],
        core: universe.core.clone(),
        provided: Vec::new(),
        locked: Locked {
            kept: universe.kept.clone(),
            ..locked
        },
        overrides: BTreeMap::new(),
        options: SolveOptions {
            prerelease: match universe.prerelease {
                universe::PrereleasePolicy::IfNecessary => PrereleasePolicy::IfNecessary,
                universe::PrereleasePolicy::Allow => PrereleasePolicy::Allow,
                universe::PrereleasePolicy::Never => PrereleasePolicy::Never,
            },
            single_version: universe.single_version,
            ..SolveOptions::default()
        },
        update: None,
    }
}

/// A lock of the reference as a lock of the solver, which knows roots by name alone: what a lock
/// says of another version of the root is only a preference.
fn locked(lock: &Solution, root: &IndexRecord) -> Locked {
    let mut locked = Locked::default();
    for ((requirer, version, required), bound) in &lock.bindings {
        let bindings = if *requirer != root.name {
            locked
                .packages
                .entry((requirer.clone(), version.clone()))
                .or_default()
        } else if *version == root.version {
            locked.roots.entry(requirer.clone()).or_default()
        } else {
            locked.preferred.insert((required.clone(), bound.clone()));
            continue;
        };
        bindings.insert(required.clone(), bound.clone());
    }
    locked
}

/// A resolution in the terms of the reference.
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
