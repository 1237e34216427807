//! The solver as a machine that is told what it asks for.

use std::collections::BTreeSet;
use std::sync::Arc;

use pkgres_manifest::{Package, PackageName, ReleaseSource, Version};
use rustc_hash::FxHashSet;

use crate::budget::Budget;
use crate::cancel::Cancellation;
use crate::contracts::violated_contracts;
use crate::explain::{self, Conflict, Explanation};
use crate::greedy::{Greedy, Progress};
use crate::index::CompiledIndex;
use crate::problem::{Goals, Nogood, Problem};
use crate::request::Engine;
use crate::request::{Request, SolveOptions, by_name};
use crate::resolution::Resolution;
use crate::search::{Impossible, Outcome, Proof, SearchEngine, search_from};
use crate::selection::Selection;
use crate::supply::Supply;
use crate::tiers::{Tier, can_split, search_second_tier};
use crate::universe::{Missing, Universe};
use crate::update::{Ended, Told, Updating};
use crate::whole_lock;

/// What the solver says after a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Releases of these packages are needed; [`Resolver::provide`] all of them, then go on.
    Need(Vec<PackageName>),
    /// The classes of these releases are needed, to see whether the contracts of a model are met;
    /// [`Resolver::provide_classes`] of all of them, then go on.
    NeedClasses(Vec<(PackageName, Version)>),
    /// There is a valid resolution. This is the best one in the order of decisions, or, if to find that
    /// takes more than [`conflict_limit`](SolveOptions::conflict_limit), one of which no release can be exchanged
    /// for a better one.
    Solved(Box<Resolution>),
    /// There is no valid resolution. Going on finds out why, and ends in a conflict.
    Impossible,
    /// There is no valid resolution; this is why.
    Conflict(Box<Conflict>),
    /// No answer was found. This says nothing about whether there is a resolution.
    GaveUp {
        /// The steps that were taken. If there were fewer than [allowed](SolveOptions::max_steps), more
        /// would not help: an update could not find out whether what was asked for is possible.
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
    universe: Box<Universe>,
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
    /// Without looking back: the walk as far as it got.
    Greedy(Option<Box<Greedy>>),
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
    /// There is no resolution. Why is found out only if somebody wants to know.
    Impossible(Box<Impossible>),
    /// What of the proof is needed to see why?
    Explaining(Box<Explanation>),
    /// The request makes no sense, which was not said yet.
    Refused(Box<Conflict>),
    /// There is no resolution, and this is why.
    Explained(Box<Conflict>),
    /// No answer was found.
    GaveUp,
}

/// What follows from a phase.
enum Turn {
    /// The next phase.
    To(Phase),
    /// Something to say, and the phase that goes on after it.
    Say(Step, Phase),
}

impl Turn {
    fn impossible(impossible: Box<Impossible>) -> Self {
        Self::Say(Step::Impossible, Phase::Impossible(impossible))
    }
}

/// A search that waits for something, and the nogoods that it found.
#[derive(Debug, Default)]
struct Paused {
    search: Option<SearchEngine>,
    nogoods: Vec<Nogood>,
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
        let refused = explain::several_roots_of_one_name(&roots);
        let has_lock = locked.binds_roots();
        let is_root = |name: &PackageName| roots.iter().any(|root| root.name() == Some(name));
        let told = (update.as_ref()).map(|_| Told::new(&locked, is_root));
        let may_split = !options.single_version;
        let updating = (update.as_ref().zip(told.as_ref()))
            .map(|(update, told)| Updating::new(update, &locked, told, may_split));
        // Only the native engine can be told what stays.
        let engine = update.as_ref().map_or(options.engine, |_| Engine::Native);
        let locked = match update {
            Some(update) => update.let_go(locked),
            None => locked,
        };
        let mut universe = Box::new(Universe::new(core.as_ref(), options.prerelease, locked));
        universe.prefer(options.prefer, options.exclude_newer);
        universe.override_requirements(overrides);
        // Where they are refused nothing is looked at.
        for root in roots.into_iter().filter(|_| refused.is_none()) {
            universe.add_root(root);
        }
        let mut resolver = Self {
            universe,
            budget: Budget::new(options.max_steps, options.conflict_limit, engine),
            options,
            phase: match (refused, updating) {
                (Some(conflict), _) => Phase::Refused(Box::new(conflict)),
                (None, Some(updating)) => Phase::Update(Box::new(updating)),
                _ if has_lock => Phase::Lock,
                _ => Phase::Greedy(None),
            },
            update: told,
        };
        if !provided.is_empty() {
            for (name, records) in by_name(provided) {
                let source = ReleaseSource::Host;
                resolver.provide(&name, Supply::Releases { source, records });
            }
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

    /// Answers a need. What was provided first for a name stays. Records of other packages are dropped,
    /// and if none is left, the package counts as unknown.
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
            // A turn always says what its place is taken by.
            let phase = std::mem::replace(&mut self.phase, Phase::GaveUp);
            match self.turn(phase) {
                Turn::To(phase) => self.phase = phase,
                Turn::Say(step, phase) => {
                    self.phase = phase;
                    return step;
                }
            }
        }
    }

    fn turn(&mut self, phase: Phase) -> Turn {
        match phase {
            Phase::Lock => self.try_lock(),
            Phase::Greedy(greedy) => self.walk(greedy),
            Phase::Candidate(selection) => self.try_candidate(selection),
            Phase::Update(updating) => self.update(updating),
            Phase::FirstTier(paused) => self.first_tier(paused),
            Phase::SecondTier(proof) => self.second_tier(proof),
            Phase::Solved(resolution) => {
                Turn::Say(Step::Solved(resolution.clone()), Phase::Solved(resolution))
            }
            Phase::Impossible(impossible) => {
                let may_split = !self.options.single_version;
                let explanation = Explanation::new(&self.universe, *impossible, may_split);
                Turn::To(Phase::Explaining(Box::new(explanation)))
            }
            Phase::Explaining(explanation) => self.explain(explanation),
            Phase::Refused(conflict) => Turn::Say(Step::Impossible, Phase::Explained(conflict)),
            Phase::Explained(conflict) => {
                Turn::Say(Step::Conflict(conflict.clone()), Phase::Explained(conflict))
            }
            Phase::GaveUp => self.give_up(),
        }
    }

    /// A lock that is whole and still valid is the answer if no contract speaks against it. If one
    /// does, the search is next: the walk without looking back would take the same releases again.
    fn try_lock(&mut self) -> Turn {
        let missing = whole_lock::missing(&mut self.universe);
        if !missing.is_empty() {
            return self.need(Missing::Packages(missing), Phase::Lock);
        }
        Turn::To(
            match whole_lock::selection(&mut self.universe, self.options.single_version) {
                Some(selection) => Phase::Candidate(selection),
                None => Phase::Greedy(None),
            },
        )
    }

    fn walk(&mut self, paused: Option<Box<Greedy>>) -> Turn {
        let mut greedy = paused.unwrap_or_else(|| Box::new(Greedy::new()));
        match greedy.advance(&mut self.universe, &mut self.budget) {
            Progress::Missing(missing) => {
                self.need(Missing::Packages(missing), Phase::Greedy(Some(greedy)))
            }
            Progress::Done(Some(selection)) => Turn::To(Phase::Candidate(selection)),
            Progress::Done(None) => Turn::To(Phase::FirstTier(Paused::default())),
            Progress::GaveUp => self.give_up(),
        }
    }

    /// What fits otherwise is the answer if no contract speaks against it.
    fn try_candidate(&mut self, selection: Selection) -> Turn {
        match violated_contracts(&mut self.universe, &selection) {
            Ok(unmet) if unmet.is_empty() => self.solved(selection),
            Ok(_) => Turn::To(Phase::FirstTier(Paused::default())),
            Err(missing) => self.need(missing, Phase::Candidate(selection)),
        }
    }

    fn update(&mut self, mut updating: Box<Updating>) -> Turn {
        match updating.advance(&mut self.universe, &mut self.budget) {
            Ended::Missing(missing) => self.need(missing, Phase::Update(updating)),
            Ended::GaveUp => self.give_up(),
            Ended::Impossible(impossible) => Turn::impossible(impossible),
            Ended::Solved(selection, findings) => {
                if let Some(told) = &mut self.update {
                    told.findings = Some(*findings);
                }
                self.solved(*selection)
            }
        }
    }

    fn first_tier(&mut self, paused: Paused) -> Turn {
        let Paused {
            mut search,
            nogoods,
        } = paused;
        let taken = self.budget.taken();
        let split = BTreeSet::new();
        let mut problem = Problem::with_nogoods(&mut self.universe, split, nogoods);
        match search_from(&mut search, &mut problem, &mut self.budget) {
            Outcome::Solved(selection) => self.solved(selection),
            Outcome::Impossible(proof) => {
                let nogoods = problem.into_nogoods();
                if !self.options.single_version && can_split(&self.universe, &proof) {
                    return Turn::To(Phase::SecondTier(proof));
                }
                let impossible = Impossible {
                    proof,
                    split: BTreeSet::new(),
                    nogoods,
                    goals: Goals::default(),
                };
                Turn::impossible(Box::new(impossible))
            }
            Outcome::Missing(missing) => {
                let paused = if search.is_some() {
                    let nogoods = problem.into_nogoods();
                    Paused { search, nogoods }
                } else {
                    // It begins again.
                    self.budget.rewind(taken);
                    Paused::default()
                };
                self.need(missing, Phase::FirstTier(paused))
            }
            Outcome::GaveUp => self.give_up(),
        }
    }

    fn second_tier(&mut self, first: Proof) -> Turn {
        let taken = self.budget.taken();
        let (goals, split) = (Goals::default(), BTreeSet::new());
        let (universe, budget) = (&mut self.universe, &mut self.budget);
        match search_second_tier(universe, &goals, split, &first, budget) {
            Tier::Solved(selection) => self.solved(*selection),
            Tier::Impossible(impossible) => Turn::impossible(impossible),
            Tier::Missing(missing) => {
                // It begins again.
                self.budget.rewind(taken);
                self.need(missing, Phase::SecondTier(first))
            }
            Tier::GaveUp => self.give_up(),
        }
    }

    fn explain(&mut self, mut explanation: Box<Explanation>) -> Turn {
        match explanation.finish(&mut self.universe, &self.budget) {
            Ok(conflict) => Turn::To(Phase::Explained(Box::new(conflict))),
            Err(missing) => self.need(missing, Phase::Explaining(explanation)),
        }
    }

    fn solved(&mut self, selection: Selection) -> Turn {
        // The resolution takes what is known along, and makes words of it when it is asked to.
        let universe = std::mem::take(&mut self.universe);
        let update = (self.update.take()).map(|told| told.report(&universe, &selection));
        let resolution = Resolution::new(universe, selection, self.budget.taken(), update);
        Turn::To(Phase::Solved(Box::new(resolution)))
    }

    fn give_up(&self) -> Turn {
        let steps = self.budget.taken();
        Turn::Say(Step::GaveUp { steps }, Phase::GaveUp)
    }

    /// Asks for what is missing before a phase can go on.
    fn need(&self, missing: Missing, phase: Phase) -> Turn {
        Turn::Say(self.missing(missing), phase)
    }

    fn missing(&self, missing: Missing) -> Step {
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
}
