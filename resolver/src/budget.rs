//! How many steps the solver may take, and whether it is to end.

use crate::cancel::Cancellation;
use crate::request::Engine;

/// What is left of the steps that the solver may take.
#[derive(Debug)]
pub(crate) struct Budget {
    limit: u64,
    taken: u64,
    conflict_limit: u64,
    engine: Engine,
    cancellation: Cancellation,
}

/// The budget is used up, or the solver is to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exhausted;

impl Budget {
    pub(crate) fn new(limit: u64, conflict_limit: u64, engine: Engine) -> Self {
        Self {
            limit,
            taken: 0,
            conflict_limit,
            engine,
            cancellation: Cancellation::default(),
        }
    }

    /// So many steps for the native engine to find out on the side whether there is any selection,
    /// which ends when the solver is to end. Nothing that was taken before counts, and as any
    /// selection will do there is no conflict_limit: hard conflicts are explained in half the time so.
    pub(crate) fn aside(&self, limit: u64) -> Self {
        Self {
            cancellation: self.cancellation.clone(),
            ..Self::new(limit, 0, Engine::Native)
        }
    }

    /// The same for a search that never settles for less than the best selection.
    pub(crate) fn without_conflict_limit(self) -> Self {
        Self {
            conflict_limit: u64::MAX,
            ..self
        }
    }

    /// After how many conflicts a search no longer insists on the best selection.
    pub(crate) fn conflict_limit(&self) -> u64 {
        self.conflict_limit
    }

    /// Which engine searches.
    pub(crate) fn engine(&self) -> Engine {
        self.engine
    }

    pub(crate) fn cancellation(&self) -> &Cancellation {
        &self.cancellation
    }

    pub(crate) fn take(&mut self) -> Result<(), Exhausted> {
        if self.taken >= self.limit || self.cancellation.is_cancelled() {
            return Err(Exhausted);
        }
        self.taken += 1;
        Ok(())
    }

    pub(crate) fn taken(&self) -> u64 {
        self.taken
    }

    /// Forgets the steps since an earlier count. A search that begins again once more is delivered
    /// counts once: whether the solver gives up must not depend on what was there beforehand.
    pub(crate) fn rewind(&mut self, taken: u64) {
        self.taken = taken;
    }
}
