//! Semaphores: limit how many resources with the same semaphore run at once.

use std::collections::HashMap;

use pkgres_manifest::Semaphore;

/// The semaphores that running resources hold.
#[derive(Debug, Default)]
pub(super) struct Semaphores(HashMap<Semaphore, u32>);

impl Semaphores {
    /// Takes all of some semaphores, or none if one of them is taken: so nothing waits while it holds one.
    pub(super) fn take(&mut self, semaphores: &[Semaphore]) -> bool {
        let is_free =
            |semaphore: &Semaphore| self.0.get(semaphore).copied().unwrap_or(0) < semaphore.count();
        if !semaphores.iter().all(is_free) {
            return false;
        }
        for semaphore in semaphores {
            *self.0.entry(semaphore.clone()).or_default() += 1;
        }
        true
    }

    /// Gives semaphores back.
    pub(super) fn give_back(&mut self, semaphores: &[Semaphore]) {
        for semaphore in semaphores {
            if let Some(held) = self.0.get_mut(semaphore) {
                *held = held.saturating_sub(1);
            }
        }
    }
}
