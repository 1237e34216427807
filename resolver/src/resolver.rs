//! The solver as a machine that is told what it asks for.

use std::collections::BTreeSet;
use std::sync::Arc;

use pkgres_manifest::{IndexRecord, Package, PackageName, ReleaseSource, Version};
use rustc_hash::FxHashSet;

use crate::cancel::Cancellation;
use crate::conflict::{self, Conflict, Explanation};
use crate::encoding::{Clause, Encoding, Limits, Missing};
use crate::engine::{Budget, Engine, Impossible, Outcome, Proof, Search, search_from};
use crate::greedy::{Greedy, Progress};
use crate::hierarchy;
use crate::index::CompiledIndex;
use crate::model::unmet_contract;
use crate::request::{Request, Root, SolveOptions, by_name};
use crate::resolution::Resolution;
use crate::second_tier::{Tier, search_second_tier};
use crate::selection::Selection;
use crate::universe::{PackageId, Universe};
use crate::update::{Ended, Told, Updating};

/// What a registry has of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Supply {
    /// No registry has a package of the name.
    Unknown,
    /// All releases of the package.
    Releases {
        /// Where they come from.
        source: ReleaseSource,
        /// One record a release, in any order.
        records: Vec<IndexRecord>,
    },
}

/// What the solver says after a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Releases of these packages are needed; [`Resolver::provide`] all of them, then go on.
    Need(Vec<PackageName>),
    /// The classes of these releases are needed, to see whether the contracts of a model are met;
    /// [`Resolver::provide_classes`] of all of them, then go on.
    NeedClasses(Vec<(PackageName, Version)>),
    /// There is a valid resolution; this is the best one.
    Solved(Box<Resolution>),
    /// There is no valid resolution. Going on finds out why, and ends in a conflict.
    Impossible,
    /// There is no valid resolution; this is why.
    Conflict(Box<Conflict>),
    /// The step budget was used up. This says nothing about whether there is a resolution.
    GaveUp {
        /// The steps that were taken.
        steps: u64,
    },
    /// The solver was told to end, see [`Cancellation`].
    Cancelled,
}

/// Solves a [`Request`] without doing any input or output.
///
/// [`step`](Self::step) answers, or names packages whose releases are needed first. The answer
/// depends on what is provided alone, not on the order in which it is, and packages may be
/// provided before they are asked for. No decision is taken before everything is there that it
/// can depend on.
///
/// ```
/// use pkgres_manifest::{IndexRecord, PackageName, RegistryName, ReleaseSource};
/// use pkgres_resolver::{Request, Resolver, Step, Supply};
///
/// let record = |line: &str| IndexRecord::parse_line(line, &Default::default()).unwrap();
/// let root = record(r#"{"name":"org.acme.Web","version":"1.0.0","require":[["org.acme.Db","1"]]}"#);
/// let mut request = Request::new(root);
/// request.core = None;
///
/// let mut resolver = Resolver::new(request);
/// let resolution = loop {
///     match resolver.step() {
///         Step::Need(names) => {
///             for name in names {
///                 resolver.provide(&name, Supply::Releases {
///                     source: ReleaseSource::Registry(RegistryName::parse("demo").unwrap()),
///                     records: vec![
///                         record(r#"{"name":"org.acme.Db","version":"1.2.0"}"#),
///                         record(r#"{"name":"org.acme.Db","version":"2.0.0"}"#),
///                     ],
///                 });
///             }
///         }
///         Step::Solved(resolution) => break resolution,
///         other => panic!("{other:?}"),
///     }
/// };
/// assert_eq!(resolution.packages()[0].version.to_string(), "1.2.0");
/// ```
#[derive(Debug)]
pub struct Resolver {
    universe: Universe,
    options: SolveOptions,
    budget: Budget,
    phase: Phase,
    /// What to say of an update.
    update: Option<Told>,
}

#[derive(Debug)]
enum Phase {
    /// Whether the lock is still valid as a whole.
    Lock,
    /// Without looking back.
    Greedy(Greedy),
    /// Whether what fits otherwise, the lock or what the walk without looking back found, meets the
    /// contracts of the model.
    Candidate(Selection),
    /// With as few moves as possible.
    Update(Box<Updating>),
    /// One release of each package: the search as far as it got.
    FirstTier(Paused),
    /// Several releases of some.
    SecondTier(Proof),
    /// There is a resolution.
    Solved(Box<Resolution>),
    /// There is no resolution.
    Impossible(Box<Impossible>),
    /// There is no resolution, and it is known why.
    Refused(Box<Conflict>),
    /// What of the proof is needed to see why?
    Explaining(Explanation),
    /// There is no resolution, and this is why.
    Explained(Box<Conflict>),
}

/// A search that waits for something, and the clauses that it found.
#[derive(Debug, Default)]
struct Paused {
    search: Option<Search>,
    clauses: Vec<Clause>,
}

impl Resolver {
    /// A solver for a request. Nothing is done before the first step.
    pub fn new(request: Request) -> Self {
        let Request {
            roots,
            core,
            provided,
            locked,
            overrides,
            options,
            update,
        } = request;
        let refused = conflict::several_roots_of_one_name(&roots);
        let has_lock = !locked.roots.is_empty();
        let is_root = |name: &PackageName| {
            roots.iter().any(|root| match root {
                Root::Package(record) => record.name == *name,
                Root::Model(_) => false,
            })
        };
        let told = (update.as_ref()).map(|_| Told::new(&locked, is_root));
        let locked = match &update {
            Some(update) => update.let_go(locked),
            None => locked,
        };
        // Only the native engine can be told what stays.
        let engine = update.as_ref().map_or(options.engine, |_| Engine::Native);
        let may_split = !options.single_version;
        let mut universe = Universe::new(core.as_ref(), options.prerelease, locked);
        universe.prefer(options.prefer, options.exclude_newer);
        universe.override_requirements(overrides);
        // Where they are refused nothing is looked at.
        for root in roots.into_iter().filter(|_| refused.is_none()) {
            universe.add_root(root);
        }
        let mut resolver = Self {
            universe,
            budget: Budget::new(options.max_steps, options.patience, engine),
            options,
            phase: match (refused, update, &told) {
                (Some(conflict), ..) => Phase::Refused(Box::new(conflict)),
                (None, Some(update), Some(told)) => {
                    Phase::Update(Box::new(Updating::new(update, told, may_split)))
                }
                _ if has_lock => Phase::Lock,
                _ => Phase::Greedy(Greedy::default()),
            },
            update: told,
        };
        for (name, records) in by_name(provided) {
            let source = ReleaseSource::Host;
            resolver.provide(&name, Supply::Releases { source, records });
        }
        resolver
    }

    /// Takes a whole index: for the packages that it has there will be no need. What was provided
    /// or attached before goes first. Indexes are attached before the first step, or in answer to a
    /// need.
    ///
    /// An index does not hold when releases were published. Where that
    /// [has to be known](Self::needs_dates) it is not taken.
    pub fn attach(&mut self, source: ReleaseSource, index: Arc<CompiledIndex>) {
        if !self.needs_dates() {
            self.universe.attach(source, index);
        }
    }

    /// Whether the solver has to know when releases were published, so that it asks for the records
    /// of every package.
    pub fn needs_dates(&self) -> bool {
        self.universe.needs_dates()
    }

    /// Answers a need. What was provided first for a name stays.
    pub fn provide(&mut self, name: &PackageName, supply: Supply) {
        self.universe.provide(name, supply);
    }

    /// Answers a need for the classes of a release; `None` if nobody has them, in which case the
    /// contracts that they declare are not checked.
    pub fn provide_classes(
        &mut self,
        name: &PackageName,
        version: &Version,
        classes: Option<Arc<Package>>,
    ) {
        self.universe.provide_classes(name, version, classes);
    }

    /// Something by which the solver can be broken off, from another thread.
    pub fn cancellation(&self) -> Cancellation {
        self.budget.cancellation().clone()
    }

    /// Goes on until there is an answer or something is needed.
    pub fn step(&mut self) -> Step {
        let step = self.advance();
        // What was found out while the solver was to end may be half of it.
        let is_whole = matches!(step, Step::Solved(_) | Step::Impossible);
        if !is_whole && self.budget.cancellation().is_cancelled() {
            return Step::Cancelled;
        }
        step
    }

    fn advance(&mut self) -> Step {
        loop {
            let result = match &mut self.phase {
                Phase::Solved(resolution) => Some(Step::Solved(resolution.clone())),
                Phase::Lock => self.try_lock(),
                Phase::Greedy(greedy) => {
                    let progress = greedy.advance(&mut self.universe, &mut self.budget);
                    match progress {
                        Progress::Missing(missing) => Some(self.need(Missing::Packages(missing))),
                        Progress::Done(Some(selection)) => {
                            self.phase = Phase::Candidate(selection);
                            None
                        }
                        Progress::Done(None) => {
                            self.phase = Phase::FirstTier(Paused::default());
                            None
                        }
                        Progress::GaveUp => Some(self.gave_up()),
                    }
                }
                Phase::Update(_) => Some(self.update()),
                Phase::Candidate(_) => self.try_candidate(),
                Phase::FirstTier(_) => self.first_tier(),
                Phase::SecondTier(_) => Some(self.second_tier()),
                Phase::Impossible(impossible) => {
                    let impossible = std::mem::take(&mut **impossible);
                    self.phase = Phase::Explaining(Explanation::new(
                        &self.universe,
                        impossible,
                        !self.options.single_version,
                    ));
                    None
                }
                Phase::Refused(conflict) => {
                    self.phase = Phase::Explained(conflict.clone());
                    Some(Step::Impossible)
                }
                Phase::Explained(conflict) => Some(Step::Conflict(conflict.clone())),
                Phase::Explaining(explanation) => {
                    let explained = explanation.finish(&mut self.universe, &self.budget);
                    Some(match explained {
                        Ok(conflict) => Step::Conflict(Box::new(conflict)),
                        Err(missing) => self.need(missing),
                    })
                }
            };
            if let Some(step) = result {
                return step;
            }
        }
    }

    /// A lock that is whole and still valid is the answer if no contract speaks against it. If one
    /// does, the search is next: the walk without looking back would take the same releases again.
    fn try_lock(&mut self) -> Option<Step> {
        let missing = self.missing_for_lock();
        if !missing.is_empty() {
            return Some(self.need(Missing::Packages(missing)));
        }
        self.phase = match self.locked_selection() {
            Some(selection) => Phase::Candidate(selection),
            None => Phase::Greedy(Greedy::default()),
        };
        None
    }

    /// What fits otherwise is the answer if no contract speaks against it.
    fn try_candidate(&mut self) -> Option<Step> {
        let Phase::Candidate(selection) = &self.phase else {
            unreachable!("this is the phase");
        };
        match unmet_contract(&mut self.universe, selection) {
            Ok(None) => {
                let selection = selection.clone();
                Some(self.solved(selection))
            }
            Ok(Some(_)) => {
                self.phase = Phase::FirstTier(Paused::default());
                None
            }
            Err(missing) => Some(self.need(missing)),
        }
    }

    fn update(&mut self) -> Step {
        let Phase::Update(updating) = &mut self.phase else {
            unreachable!("this is the phase");
        };
        match updating.advance(&mut self.universe, &mut self.budget) {
            Ended::Missing(missing) => self.need(missing),
            Ended::GaveUp => self.gave_up(),
            Ended::Impossible(impossible) => self.explain(*impossible),
            Ended::Solved(selection, findings) => {
                if let Some(told) = &mut self.update {
                    told.findings = Some(*findings);
                }
                self.solved(*selection)
            }
        }
    }

    fn first_tier(&mut self) -> Option<Step> {
        let Phase::FirstTier(paused) = &mut self.phase else {
            unreachable!("this is the phase");
        };
        let Paused {
            mut search,
            clauses,
        } = std::mem::take(paused);
        let taken = self.budget.taken();
        let split = BTreeSet::new();
        let mut encoding = Encoding::with_clauses(&mut self.universe, split, clauses);
        match search_from(&mut search, &mut encoding, &mut self.budget) {
            Outcome::Solved(selection) => Some(self.solved(selection)),
            Outcome::Impossible(proof) if self.options.single_version => {
                let impossible = Impossible {
                    proof,
                    split: BTreeSet::new(),
                    clauses: encoding.into_clauses(),
                    limits: Limits::default(),
                };
                Some(self.explain(impossible))
            }
            Outcome::Impossible(proof) => {
                self.phase = Phase::SecondTier(proof);
                None
            }
            Outcome::Missing(missing) if search.is_some() => {
                let clauses = encoding.into_clauses();
                self.phase = Phase::FirstTier(Paused { search, clauses });
                Some(self.need(missing))
            }
            Outcome::Missing(missing) => Some(self.begin_again_with(missing, taken)),
            Outcome::GaveUp => Some(self.gave_up()),
        }
    }

    fn second_tier(&mut self) -> Step {
        let Phase::SecondTier(first) = &self.phase else {
            unreachable!("this is the phase");
        };
        let taken = self.budget.taken();
        match search_second_tier(&mut self.universe, first, &mut self.budget) {
            Tier::Solved(selection) => self.solved(*selection),
            Tier::Impossible(impossible) => self.explain(*impossible),
            Tier::Missing(missing) => self.begin_again_with(missing, taken),
            Tier::GaveUp => self.gave_up(),
        }
    }

    fn explain(&mut self, impossible: Impossible) -> Step {
        self.phase = Phase::Impossible(Box::new(impossible));
        Step::Impossible
    }

    /// Asks for what a search needs, which then begins again.
    fn begin_again_with(&mut self, missing: Missing, taken: u64) -> Step {
        self.budget.rewind(taken);
        self.need(missing)
    }

    fn solved(&mut self, selection: Selection) -> Step {
        // The resolution takes what is known along, and makes words of it when it is asked to.
        let universe = std::mem::take(&mut self.universe);
        let update = (self.update.take()).map(|told| told.report(&universe, &selection));
        let resolution = Resolution::new(universe, selection, self.budget.taken(), update);
        self.phase = Phase::Solved(Box::new(resolution.clone()));
        Step::Solved(Box::new(resolution))
    }

    fn gave_up(&self) -> Step {
        Step::GaveUp {
            steps: self.budget.taken(),
        }
    }

    fn need(&self, missing: Missing) -> Step {
        match missing {
            Missing::Packages(mut packages) => {
                let mut seen = FxHashSet::default();
                packages.retain(|package| seen.insert(*package));
                let names = packages
                    .into_iter()
                    .map(|package| self.universe.name(package).clone());
                Step::Need(names.collect())
            }
            Missing::Classes(mut releases) => {
                let mut seen = FxHashSet::default();
                releases.retain(|release| seen.insert(*release));
                let releases = releases.into_iter().map(|release| {
                    let name = self.universe.name(release.package).clone();
                    (name, self.universe.version(release).clone())
                });
                Step::NeedClasses(releases.collect())
            }
        }
    }

    /// Every package that the lock names and every package that a root requires.
    fn missing_for_lock(&mut self) -> Vec<PackageId> {
        let names: Vec<PackageName> = self
            .universe
            .locked()
            .releases()
            .map(|(name, _)| name.clone())
            .collect();
        let mut packages: Vec<PackageId> = names
            .iter()
            .map(|name| self.universe.package_id(name))
            .collect();
        for root in self.universe.roots().to_vec() {
            let details = self.universe.details(root);
            packages.extend(details.edges.iter().map(|edge| edge.package));
        }
        packages.retain(|package| !self.universe.is_delivered(*package));
        packages
    }

    /// The lock as a selection, if it is whole and valid.
    fn locked_selection(&mut self) -> Option<Selection> {
        let selection = Selection::collect(&mut self.universe, |universe, release, _, demand| {
            if !universe.is_delivered(demand.target) {
                return None;
            }
            let index = universe.locked_binding(release, demand.target)?;
            universe.allows(demand, index).then_some(index)
        })?;
        if hierarchy::violation(&mut self.universe, &selection).is_some() {
            return None;
        }
        let mut packages: Vec<PackageId> = selection
            .releases()
            .iter()
            .map(|release| release.package)
            .collect();
        packages.sort_unstable();
        let is_single = packages.windows(2).all(|pair| pair[0] != pair[1]);
        (is_single || !self.options.single_version).then_some(selection)
    }
}
