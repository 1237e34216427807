//! The budget: step limits, cancellation, and how work ends early.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::request::Engine;
use crate::universe::Missing;

/// Why work ends before it has a result.
///
/// Everything that searches returns `Result<_, Interrupt>`. Work that waits for releases is called
/// again after they were provided. It continues with its state, or starts again, and then its steps
/// do not [count](Budget::restartable).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Interrupt {
    /// Releases have to be provided first.
    Missing(Missing),
    /// The budget is used up, or the solver was cancelled.
    Exhausted,
}

impl From<Missing> for Interrupt {
    fn from(missing: Missing) -> Self {
        Self::Missing(missing)
    }
}

/// Cancels a [`Resolver`](crate::Resolver), from another thread or a signal handler.
///
/// ```
/// use pkgres_manifest::{IndexRecord, Limits};
/// use pkgres_resolver::{Request, Resolver, Step};
///
/// let root = IndexRecord::parse_line(
///     r#"{"name":"org.acme.Web","version":"1.0.0","require":[["org.acme.Db","1"]]}"#,
///     &Limits::default(),
/// )?;
/// let mut resolver = Resolver::new(Request::new(root));
/// let cancellation = resolver.cancellation();
/// std::thread::spawn(move || cancellation.cancel()).join().unwrap();
/// assert_eq!(resolver.step(), Step::Cancelled);
/// # Ok::<(), pkgres_manifest::diagnostic::Diagnostic>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Cancellation(Arc<AtomicBool>);

impl Cancellation {
    /// Makes the solver stop before its next unit of work: the current or next
    /// [`Resolver::step`](crate::Resolver::step) returns [`Step::Cancelled`](crate::Step::Cancelled), unless it has a
    /// whole answer. This cannot be undone.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the solver was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The steps that several budgets have taken together.
#[derive(Debug, Clone, Default)]
pub(crate) struct StepCount(Arc<AtomicU64>);

impl StepCount {
    fn add(&self, steps: u64) {
        self.0.fetch_add(steps, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The looks that count as a step. A look is at a term of a clause or at a reduced variable, about as
/// long as a memory access: 3 ns while the search is in the cache of the processor, and up to 100 ns
/// in a large problem.
const LOOKS_PER_STEP: u64 = 16;

/// The looks at values of a model that are counted together, about a millisecond.
const VALUES_AT_ONCE: u64 = 1 << 16;

/// The steps that the solver may still take.
#[derive(Debug)]
pub(crate) struct Budget {
    limit: u64,
    taken: u64,
    /// The looks that are not a whole step yet.
    looks: u64,
    /// The looks at values of a model that do not count yet.
    values: u64,
    /// The number of conflicts after which any selection is enough.
    pub(crate) conflict_limit: u64,
    /// The engine that searches.
    pub(crate) engine: Engine,
    /// Whether searches keep the derivations of their proofs.
    pub(crate) records_derivation: bool,
    cancellation: Cancellation,
    /// Counts the steps of this budget and of all side questions, as far as they are [reported](Self::report).
    pub(crate) total: StepCount,
    /// The steps of this budget that the total has.
    reported: u64,
}

impl Budget {
    pub(crate) fn new(limit: u64, conflict_limit: u64, engine: Engine) -> Self {
        Self {
            limit,
            taken: 0,
            looks: 0,
            values: 0,
            conflict_limit,
            engine,
            records_derivation: false,
            cancellation: Cancellation::default(),
            total: StepCount::default(),
            reported: 0,
        }
    }

    /// Adds the steps since the last report to the total.
    pub(crate) fn report(&mut self) {
        self.total.add(self.taken.saturating_sub(self.reported));
        self.reported = self.taken;
    }

    /// A separate budget for a subproblem, for the native engine. It shares the cancellation. Its
    /// conflict limit is zero, because any solution is enough: hard conflicts are explained in half
    /// the time that way.
    pub(crate) fn for_side_question(&self, limit: u64) -> Self {
        Self {
            cancellation: self.cancellation.clone(),
            total: self.total.clone(),
            ..Self::new(limit, 0, Engine::Native)
        }
    }

    pub(crate) fn cancellation(&self) -> &Cancellation {
        &self.cancellation
    }

    /// Takes a step, or ends the work.
    pub(crate) fn take(&mut self) -> Result<(), Interrupt> {
        if self.taken >= self.limit || self.cancellation.is_cancelled() {
            return Err(Interrupt::Exhausted);
        }
        self.taken += 1;
        Ok(())
    }

    /// Converts looks into steps, so that a step is bounded work: propagating one decision can visit every clause. The
    /// search converts its looks at each conflict.
    pub(crate) fn take_looks(&mut self, looks: u64) {
        self.looks += looks;
        self.taken = self.taken.saturating_add(self.looks / LOOKS_PER_STEP);
        self.looks %= LOOKS_PER_STEP;
    }

    /// Takes the steps for looks at values of a model; ends the work if they use the budget up. Only many of them count,
    /// so that a lock that holds takes no steps.
    pub(crate) fn look_at_values(&mut self, values: u64) -> Result<(), Interrupt> {
        self.values += values;
        if self.values >= VALUES_AT_ONCE {
            self.take_looks(self.values);
            self.values = 0;
        }
        if self.taken > self.limit || self.cancellation.is_cancelled() {
            return Err(Interrupt::Exhausted);
        }
        Ok(())
    }

    /// The steps taken so far.
    pub(crate) fn taken(&self) -> u64 {
        self.taken
    }

    /// Runs work that starts again after an interrupt: if releases are missing, its steps do not
    /// count. Otherwise it would depend on the order of deliveries whether the solver gives up.
    pub(crate) fn restartable<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, Interrupt>,
    ) -> Result<T, Interrupt> {
        let before = (self.taken, self.looks, self.values);
        let result = work(self);
        if let Err(Interrupt::Missing(_)) = result {
            (self.taken, self.looks, self.values) = before;
        }
        result
    }
}
