//! The solver as a state machine that names the packages it needs.
//!
//! # Problem
//!
//! Registries can be slow, asynchronous or in memory, so the solver must not call them. Nor may it
//! depend on when an answer arrives: the same metadata has to give the same resolution.
//!
//! # Idea
//!
//! [`Resolver::step`] runs until it has an answer or needs packages that were not provided. The
//! caller provides them and calls it again. Internally, any function that needs more packages returns
//! an [`Interrupt`], which suspends the current phase. The phases, in order:
//!
//! 1. **Lock**: if the whole lock is still valid, it is the answer. Nothing is searched.
//! 2. **Greedy**: decide each package once, at its best release. A release that contradicts an
//!    earlier decision is skipped, and no decision is undone. If that succeeds, the result is the
//!    best resolution.
//! 3. **First tier**: search with one release of each package, learning from conflicts.
//! 4. **Second tier**: only after a proof that the first tier has no solution, search with several
//!    releases of as few packages as possible.
//! 5. **Explain**: reduce the proof to its reasons, and report them.
//!
//! A request with an update has one phase, `Update`, instead of phases 1 to 4. A candidate from the
//! lock or the greedy phase is also checked against the contracts of an object model.
//!
//! [`Step::Impossible`] comes before the explanation. An explanation takes further steps; callers
//! that only want to know whether there is a resolution can stop before.
//!
//! # Cost
//!
//! The lock phase takes time linear in the number of locked packages, and the greedy phase in the
//! number of releases that it reaches. The search is exponential in the worst case, as dependency
//! resolution is NP-complete, so it is limited by [`max_steps`](SolveOptions::max_steps). A search
//! that exceeds the limit ends with [`Step::GaveUp`], never with "no solution".
//!
//! # Source
//!
//! The design without input and output is known as sans-IO. Phases 3 and 4 are conflict-driven clause
//! learning (Silva and Sakallah 1996), see `search/mod.rs`.

use std::collections::BTreeSet;
use std::sync::Arc;

use pkgres_manifest::{Package, PackageName, Release, ReleaseSource, Version};
use rustc_hash::FxHashSet;

use crate::budget::{Budget, Cancellation, Interrupt, StepCount};
use crate::contracts::violated_contracts;
use crate::derivation::{Derivation, Evidence};
use crate::explain::{self, Conflict, Explanation};
use crate::greedy::Greedy;
use crate::index::CompiledIndex;
use crate::lock_check::locked_selection;
use crate::problem::Goals;
use crate::request::{Engine, LockedArtifacts, Request, SolveOptions};
use crate::resolution::Resolution;
use crate::search::{Proof, Refuted, Verdict};
use crate::selection::Selection;
use crate::tiers::{FirstTier, can_split, search_second_tier};
use crate::universe::{Missing, Policy, Universe};
use crate::universe::{ProvideError, Supply, check_names};
use crate::update::{ReportBuilder, UpdateSearch};

/// The result of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// Releases of these packages are needed. [`Resolver::provide`] all of them, then continue.
    Need(Vec<PackageName>),
    /// The classes of these releases are needed to check the contracts of a model.
    /// [`Resolver::provide_classes`] of all of them, then continue.
    NeedClasses(Vec<Release>),
    /// There is a valid resolution. It is the best one in the order of decisions. If finding that
    /// takes more than [`conflict_limit`](SolveOptions::conflict_limit) conflicts, it is one of
    /// which no release can be exchanged for a better one.
    Solved(Box<Resolution>),
    /// There is no valid resolution. Further steps explain why, and end in a conflict.
    Impossible,
    /// There is no valid resolution, for these reasons.
    Conflict(Box<Conflict>),
    /// No answer was found. There may or may not be a resolution.
    GaveUp {
        /// The number of steps taken, at least [`max_steps`](SolveOptions::max_steps): a conflict counts all looks
        /// since the one before.
        steps: u64,
    },
    /// The solver was cancelled, see [`Cancellation`].
    Cancelled,
    /// Nothing was provided since the last step, which needed the same packages or the classes of
    /// their releases. The solver would ask for ever.
    Unanswered(Vec<PackageName>),
}

/// Solves a [`Request`] without doing any input or output.
///
/// [`step`](Self::step) returns an answer, or the names of packages whose releases are needed
/// first. The answer depends only on what is provided, not on the order. Packages may be provided
/// before they are needed. The solver decides nothing until everything that the decision can depend
/// on was provided.
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
///                 let supply = Supply::Releases {
///                     source: ReleaseSource::Registry(RegistryName::parse("demo").unwrap()),
///                     records: vec![
///                         record(r#"{"name":"org.acme.Db","version":"1.2.0"}"#),
///                         record(r#"{"name":"org.acme.Db","version":"2.0.0"}"#),
///                     ],
///                 };
///                 resolver.provide(&name, supply).unwrap();
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
    update: Option<ReportBuilder>,
    /// The packages whose releases were provided.
    provided_names: FxHashSet<PackageName>,
    /// The packages of the last need, until something is provided.
    needed: Option<Vec<PackageName>>,
    /// Whether a conflict says which single changes would help.
    has_hints: bool,
    /// How it was proved that there is no resolution.
    derivation: Option<Box<Derivation>>,
}

/// The phase of the solver. Each phase keeps its progress while packages are missing.
#[derive(Debug)]
enum Phase {
    /// Check whether the lock is still valid as a whole.
    Lock,
    /// Decide each package once, without backtracking.
    Greedy(Box<Greedy>),
    /// Check whether a selection that is valid otherwise meets the contracts of the model.
    Candidate(Selection),
    /// Move what is to be updated, and as little else as possible.
    Update(Box<UpdateSearch>),
    /// Search with one release of each package.
    FirstTier(FirstTier),
    /// Search with several releases of some packages. The proof shows that one release each is not
    /// enough.
    SecondTier(Proof),
    /// Turn a selection into a resolution.
    Selected(Selection),
    /// Report the resolution.
    Solved(Box<Resolution>),
    /// Report that there is no resolution.
    Impossible(Box<Refuted>),
    /// Start to explain, as the caller continues after [`Step::Impossible`].
    Unexplained(Box<Refuted>),
    /// Reduce the proof to its reasons.
    Explain(Box<Explanation>),
    /// Report that the request contradicts itself.
    Invalid(Box<Conflict>),
    /// Report why there is no resolution.
    Conflict(Box<Conflict>),
    /// Report that no answer was found.
    GaveUp,
}

impl Resolver {
    /// A solver for a request. It does nothing before the first step.
    pub fn new(request: Request) -> Self {
        let Request {
            roots,
            core,
            host_releases,
            locked,
            overrides,
            options,
            update,
        } = request;
        let invalid = explain::several_roots_of_one_name(&roots);
        let has_lock = locked.binds_roots();
        let is_root = |name: &PackageName| roots.iter().any(|root| root.name() == Some(name));
        let report_builder = (update.as_ref()).map(|_| ReportBuilder::new(&locked, is_root));
        let may_split = !options.single_version;
        let update_search =
            (update.as_ref().zip(report_builder.as_ref())).map(|(update, report_builder)| {
                UpdateSearch::new(update, &locked, report_builder, may_split)
            });
        // Only the native engine supports goals.
        let engine = update.as_ref().map_or(options.engine, |_| Engine::Native);
        let locked = match update {
            Some(update) => update.unlock(locked),
            None => locked,
        };
        let policy = Policy::new(&options, locked);
        let mut universe = Box::new(Universe::new(core.as_ref(), policy, overrides));
        // Roots that exclude each other are not looked at.
        for root in roots.into_iter().filter(|_| invalid.is_none()) {
            universe.add_root(root);
        }
        let mut budget = Budget::new(options.max_steps, options.conflict_limit, engine);
        budget.records_derivation = options.record_derivation;
        let mut resolver = Self {
            universe,
            budget,
            options,
            phase: match (invalid, update_search) {
                (Some(conflict), _) => Phase::Invalid(Box::new(conflict)),
                (None, Some(update_search)) => Phase::Update(Box::new(update_search)),
                _ if has_lock => Phase::Lock,
                _ => Phase::Greedy(Box::default()),
            },
            update: report_builder,
            provided_names: FxHashSet::default(),
            needed: None,
            has_hints: true,
            derivation: None,
        };
        resolver.universe.catalog.provide_by_host(host_releases);
        resolver
    }

    /// The resolver of a trial, whose steps are counted in a total. Its conflict consists of reasons only. Changes that
    /// would help take time to find, and nobody reads them if the caller looks for [repairs](crate::find_repairs) itself.
    #[must_use]
    pub(crate) fn for_trial(mut self, total: StepCount) -> Self {
        self.has_hints = false;
        self.budget.total = total;
        self
    }

    /// Attaches an index: its packages are not needed any more. What was provided or attached
    /// before takes precedence. Attach indexes before the first step, or when packages are needed.
    ///
    /// # Errors
    ///
    /// An index has no dates of publication. A request with a cut-off date [needs
    /// dates](Self::needs_dates), so it accepts no index.
    pub fn attach(
        &mut self,
        source: ReleaseSource,
        index: Arc<CompiledIndex>,
    ) -> Result<(), ProvideError> {
        if self.needs_dates() {
            return Err(ProvideError::DatesNeeded);
        }
        self.needed = None;
        self.universe.catalog.attach(source, index);
        Ok(())
    }

    /// Whether the solver needs dates of publication, and therefore the records of each package.
    pub fn needs_dates(&self) -> bool {
        self.universe.catalog.policy().needs_dates()
    }

    /// The artifacts that the request has locked. A registry that has several contents of a release has to provide the
    /// locked one. There are none left once a resolution was returned, which [has them](Resolution::locked_artifacts)
    /// then.
    pub fn locked_artifacts(&self) -> &LockedArtifacts {
        &self.universe.catalog.policy().locked().artifacts
    }

    /// Provides all releases of a package, when they are needed or before. Roots, releases of the
    /// host and packages of an attached index take precedence. Without records, the package counts
    /// as unknown.
    ///
    /// # Errors
    ///
    /// A record is about another package, or the package was provided before.
    pub fn provide(&mut self, name: &PackageName, supply: Supply) -> Result<(), ProvideError> {
        check_names(name, &supply)?;
        if !self.provided_names.insert(name.clone()) {
            return Err(ProvideError::ProvidedTwice(name.clone()));
        }
        self.needed = None;
        self.universe.catalog.provide(name, supply);
        Ok(())
    }

    /// Provides the classes of a release. `None` means that they are not available; the contracts
    /// that they declare are not checked then.
    ///
    /// # Errors
    ///
    /// No such release was provided.
    pub fn provide_classes(
        &mut self,
        name: &PackageName,
        version: &Version,
        classes: Option<Arc<Package>>,
    ) -> Result<(), ProvideError> {
        if !self.universe.provide_classes(name, version, classes) {
            return Err(ProvideError::UnknownRelease {
                name: name.clone(),
                version: version.clone(),
            });
        }
        self.needed = None;
        Ok(())
    }

    /// Lets the next step ask again for the releases that the last one asked for. Call it if nothing could be
    /// provided, but another try is worthwhile. Otherwise, the next step returns [`Step::Unanswered`], because a
    /// caller that never provides anything would loop forever.
    pub fn ask_again(&mut self) {
        self.needed = None;
    }

    /// Takes the evidence that there is no resolution. Call it once, after [`Step::Impossible`]: the derivation is
    /// moved out.
    pub fn take_evidence(&mut self) -> Evidence {
        Evidence {
            derivation: self.derivation.take(),
            class_files: self.universe.class_files(),
        }
    }

    /// A handle that cancels the solver from another thread.
    pub fn cancellation(&self) -> Cancellation {
        self.budget.cancellation().clone()
    }

    /// Runs until there is an answer or something is needed.
    pub fn step(&mut self) -> Step {
        let step = match self.advance() {
            Ok(step) => step,
            Err(interrupt) => self.interrupted(interrupt),
        };
        self.budget.report();
        // A result that was cut short by the cancellation may be incomplete.
        let is_whole = matches!(step, Step::Solved(_) | Step::Impossible);
        if !is_whole && self.budget.cancellation().is_cancelled() {
            return Step::Cancelled;
        }
        self.detect_unanswered(step)
    }

    /// Ends with [`Step::Unanswered`] if the same packages are needed again and nothing was
    /// provided since.
    fn detect_unanswered(&mut self, step: Step) -> Step {
        let needed: Option<Vec<PackageName>> = match &step {
            Step::Need(names) => Some(names.clone()),
            Step::NeedClasses(releases) => Some(
                releases
                    .iter()
                    .map(|Release { name, .. }| name.clone())
                    .collect(),
            ),
            _ => None,
        };
        let before = std::mem::replace(&mut self.needed, needed.clone());
        match needed {
            Some(names) if before.as_ref() == Some(&names) => Step::Unanswered(names),
            _ => step,
        }
    }

    /// Runs phases until there is something to report. An interrupt leaves the phase as it is, to
    /// be continued.
    fn advance(&mut self) -> Result<Step, Interrupt> {
        let may_split = !self.options.single_version;
        loop {
            let (universe, budget) = (&mut *self.universe, &mut self.budget);
            self.phase = match &mut self.phase {
                Phase::Lock => match locked_selection(universe, self.options.single_version)? {
                    Some(selection) => Phase::Candidate(selection),
                    None => Phase::Greedy(Box::default()),
                },
                Phase::Greedy(greedy) => match greedy.advance(universe, budget)? {
                    Some(selection) => Phase::Candidate(selection),
                    None => Phase::FirstTier(FirstTier::default()),
                },
                Phase::Candidate(selection) => {
                    if violated_contracts(universe, selection, budget)?.is_empty() {
                        Phase::Selected(std::mem::take(selection))
                    } else {
                        // The greedy phase would end in the same releases again.
                        Phase::FirstTier(FirstTier::default())
                    }
                }
                Phase::Update(update_search) => match update_search.advance(universe, budget)? {
                    Verdict::Solved((selection, findings)) => {
                        if let Some(report_builder) = &mut self.update {
                            report_builder.findings = Some(findings);
                        }
                        Phase::Selected(selection)
                    }
                    Verdict::Impossible(refuted) => Phase::Impossible(refuted),
                },
                Phase::FirstTier(first_tier) => match first_tier.advance(universe, budget)? {
                    Verdict::Solved(selection) => Phase::Selected(selection),
                    Verdict::Impossible(Refuted { proof, .. })
                        if may_split && can_split(universe, &proof) =>
                    {
                        Phase::SecondTier(proof)
                    }
                    Verdict::Impossible(refuted) => Phase::Impossible(Box::new(refuted)),
                },
                Phase::SecondTier(proof) => {
                    let goals = Goals::default();
                    match search_second_tier(universe, &goals, BTreeSet::new(), proof, budget)? {
                        Verdict::Solved(selection) => Phase::Selected(selection),
                        Verdict::Impossible(refuted) => Phase::Impossible(refuted),
                    }
                }
                Phase::Selected(selection) => {
                    // The resolution takes the universe along, and is rendered when it is read.
                    let (universe, selection) = (
                        std::mem::take(&mut self.universe),
                        std::mem::take(selection),
                    );
                    let update = self.update.take();
                    let update =
                        update.map(|report_builder| report_builder.report(&universe, &selection));
                    let resolution = Resolution::new(universe, selection, budget.taken(), update);
                    Phase::Solved(Box::new(resolution))
                }
                Phase::Solved(resolution) => return Ok(Step::Solved(resolution.clone())),
                Phase::Impossible(refuted) => {
                    self.derivation = refuted.proof.derivation.take();
                    self.phase = Phase::Unexplained(std::mem::take(refuted));
                    return Ok(Step::Impossible);
                }
                Phase::Unexplained(refuted) => {
                    let refuted = std::mem::take(&mut **refuted);
                    let explanation = if self.has_hints {
                        Explanation::new(universe, refuted, may_split)
                    } else {
                        Explanation::of_reasons_only(universe, refuted, may_split)
                    };
                    Phase::Explain(Box::new(explanation))
                }
                Phase::Explain(explanation) => {
                    Phase::Conflict(Box::new(explanation.finish(universe, budget)?))
                }
                Phase::Invalid(conflict) => {
                    self.phase = Phase::Conflict(conflict.clone());
                    return Ok(Step::Impossible);
                }
                Phase::Conflict(conflict) => return Ok(Step::Conflict(conflict.clone())),
                Phase::GaveUp => return Err(Interrupt::Exhausted),
            };
        }
    }

    fn interrupted(&mut self, interrupt: Interrupt) -> Step {
        match interrupt {
            Interrupt::Exhausted => {
                self.phase = Phase::GaveUp;
                Step::GaveUp {
                    steps: self.budget.taken(),
                }
            }
            Interrupt::Missing(Missing::Packages(mut packages)) => {
                let mut seen = FxHashSet::default();
                packages.retain(|package| seen.insert(*package));
                let names = packages.iter();
                Step::Need(
                    names
                        .map(|package| self.universe.catalog.name(*package).clone())
                        .collect(),
                )
            }
            Interrupt::Missing(Missing::Classes(mut releases)) => {
                let mut seen = FxHashSet::default();
                releases.retain(|release| seen.insert(*release));
                let releases = releases.into_iter();
                let releases = releases.map(|release| self.universe.catalog.named_version(release));
                Step::NeedClasses(releases.collect())
            }
        }
    }
}
