//! Proofs: finds out on an overlay what a validation would change, and which of its tests cannot be trusted.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pkgres_files::{EntryKind, RootEntry};
use pkgres_manifest::sha256;

use super::arguments::ArgumentValues;
use super::leaf::Access;
use super::prepare::PreparedValidation;
use super::report::{ValidationError, ValidationReport};
use super::run::{Observer, Run};
use crate::target::{Cancellable, Cancellation, Overlay, Probe, TargetError};

/// The most bytes of a file whose content is compared. Of larger ones, sizes are.
const MAX_COMPARED_BYTES: u64 = 1 << 20;

/// The result of reconciling on an overlay.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ValidationProof {
    /// The steps and findings. Each test that succeeded although its validator then changed something is a finding.
    pub report: ValidationReport,
    /// The paths that reconciling would change, sorted.
    pub changes: Vec<ChangedPath>,
}

/// A path that reconciling would change.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChangedPath {
    /// The path on the machine.
    pub path: PathBuf,
    /// The kind of the entry before; `None` if there is none.
    pub before: Option<EntryKind>,
    /// The kind of the entry afterwards; `None` if there is none.
    pub after: Option<EntryKind>,
}

impl PreparedValidation<'_> {
    /// Reconciles on an overlay of a machine, which stays as it is. `base` is the machine below.
    ///
    /// # Errors
    ///
    /// A custom validator cannot test or reconcile, the overlay cannot be read, or the work is cancelled.
    pub fn prove(
        &self,
        overlay: &Overlay,
        base: &dyn Probe,
        values: ArgumentValues,
        cancellation: &Cancellation,
    ) -> Result<ValidationProof, ValidationError> {
        self.check_custom(false)?;
        self.check_custom(true)?;
        let machine = Cancellable::new(overlay.machine(), cancellation.clone());
        let mut observer = OverlayObserver {
            overlay,
            base,
            known: BTreeMap::new(),
        };
        let run = Run::new(self, &machine, Some(&mut observer));
        let report = run.run_validation(&Access::Reconcile(&machine), values)?;
        let mut changes = Vec::new();
        for (path, state) in &observer.known {
            if state.is_same_as_below(base, path) {
                continue;
            }
            let before = base.entry(path).ok().flatten();
            changes.push(ChangedPath {
                path: path.clone(),
                before: before.map(|entry| entry.kind),
                after: state.entry.as_ref().map(|entry| entry.kind),
            });
        }
        Ok(ValidationProof { report, changes })
    }
}

/// What is at a path of the overlay.
#[derive(Debug, Clone, PartialEq, Eq)]
struct PathState {
    entry: Option<RootEntry>,
    digest: Option<[u8; 32]>,
}

impl PathState {
    /// Whether the machine below has the same. A file that was written as it is comes up in the overlay, too.
    fn is_same_as_below(&self, base: &dyn Probe, path: &Path) -> bool {
        let Ok(below) = base.entry(path) else {
            return false;
        };
        below == self.entry && (self.digest.is_none() || digest(base, path) == self.digest)
    }
}

fn digest(probe: &dyn Probe, path: &Path) -> Option<[u8; 32]> {
    let bytes = probe.read(path, MAX_COMPARED_BYTES).ok()?;
    Some(sha256(&bytes))
}

struct OverlayObserver<'run> {
    overlay: &'run Overlay,
    base: &'run dyn Probe,
    known: BTreeMap<PathBuf, PathState>,
}

impl Observer for OverlayObserver<'_> {
    fn changes(&mut self) -> Result<Vec<PathBuf>, TargetError> {
        let machine = self.overlay.machine();
        let mut now = BTreeMap::new();
        for change in self.overlay.changes()? {
            let is_file = (change.now.as_ref()).is_some_and(|entry| {
                entry.kind == EntryKind::File && entry.size <= MAX_COMPARED_BYTES
            });
            let digest = if is_file {
                digest(machine, &change.path)
            } else {
                None
            };
            let state = PathState {
                entry: change.now,
                digest,
            };
            now.insert(change.path, state);
        }
        let appeared = now
            .iter()
            .filter(|(path, state)| match self.known.get(*path) {
                Some(before) => before != *state,
                None => !state.is_same_as_below(self.base, path),
            });
        let mut changed: Vec<PathBuf> = appeared.map(|(path, _)| path.clone()).collect();
        // What an earlier validator made and this one removed is no longer in the overlay.
        let gone = self.known.keys().filter(|path| !now.contains_key(*path));
        changed.extend(gone.cloned());
        self.known = now;
        Ok(changed)
    }
}
