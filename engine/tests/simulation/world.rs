//! What happens to the machine of a run beside the engine: faults, crashes and changes by others.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use pkgres_engine::{Effect, Fault, SimulatedFiles};

use crate::random::Random;

/// What others and faults do, shared with the machine.
pub(crate) struct World {
    pub(crate) random: Random,
    pub(crate) paths: Vec<PathBuf>,
    pub(crate) faults_left: usize,
    pub(crate) changes_left: usize,
    /// Paths that were changed since the last look.
    pub(crate) touched: Vec<PathBuf>,
    /// When others changed each path last.
    pub(crate) touched_at: BTreeMap<PathBuf, usize>,
    /// The step of the run.
    pub(crate) step: usize,
    /// The paths that the running attempt, and others meanwhile, have changed.
    pub(crate) written: BTreeSet<PathBuf>,
    pub(crate) touched_meanwhile: BTreeSet<PathBuf>,
    /// Whether a fault or a change by others hit the running attempt.
    pub(crate) is_disturbed: bool,
    pub(crate) junk: usize,
}

impl World {
    pub(crate) fn before(&mut self, effect: &Effect<'_>, files: &mut SimulatedFiles) -> Fault {
        if self.changes_left > 0 && self.random.chance(4) {
            self.is_disturbed = true;
            self.change(files);
        }
        if self.faults_left > 0 && self.random.chance(5) {
            self.faults_left -= 1;
            self.is_disturbed = true;
            return if self.random.chance(25) {
                Fault::Crash
            } else {
                Fault::Fail
            };
        }
        if let Effect::Write(path) = effect {
            self.touched.push(path.to_path_buf());
            self.written.insert(path.to_path_buf());
        }
        Fault::None
    }

    /// Others change a file.
    pub(crate) fn change(&mut self, files: &mut SimulatedFiles) {
        self.changes_left -= 1;
        let path = self.paths[self.random.below(self.paths.len())].clone();
        self.junk += 1;
        if self.random.chance(30) {
            files.remove(&path);
        } else {
            files.insert(path.clone(), format!("junk {}", self.junk).into_bytes());
        }
        self.touched_at.insert(path.clone(), self.step);
        self.touched_meanwhile.insert(path.clone());
        self.touched.push(path);
    }
}
