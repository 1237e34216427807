//! Which registries a program waits for, so that it can tell its user.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use crate::threads::lock;

/// The requests to registries on the network that have no answer yet. Clones share them.
///
/// Set a clone as [`HttpOptions::activity`](super::HttpOptions::activity), and read it from another thread.
#[derive(Debug, Clone, Default)]
pub struct NetworkActivity(Arc<Mutex<BTreeMap<String, Counts>>>);

/// The requests to a registry.
#[derive(Debug, Default, Clone, Copy)]
struct Counts {
    waiting: usize,
    answered: u64,
}

/// A registry that is waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AwaitedRegistry {
    /// The address of the registry.
    pub address: String,
    /// The number of requests that it answered before.
    pub answered: u64,
}

impl NetworkActivity {
    /// The registry that is waited for; the one with the most requests if there are several.
    pub fn awaited(&self) -> Option<AwaitedRegistry> {
        let counts = self.lock();
        let waiting = counts.iter().filter(|(_, counts)| counts.waiting > 0);
        let (address, counts) = waiting.max_by_key(|(_, counts)| counts.waiting)?;
        Some(AwaitedRegistry {
            address: address.clone(),
            answered: counts.answered,
        })
    }

    /// Counts a request to a registry until the returned value is dropped.
    pub(super) fn begin(&self, address: &str) -> OpenRequest<'_> {
        let mut counts = self.lock();
        counts.entry(address.to_owned()).or_default().waiting += 1;
        OpenRequest {
            activity: self,
            address: address.to_owned(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Counts>> {
        lock(&self.0)
    }
}

/// A request without an answer.
pub(super) struct OpenRequest<'activity> {
    activity: &'activity NetworkActivity,
    address: String,
}

impl Drop for OpenRequest<'_> {
    fn drop(&mut self) {
        if let Some(counts) = self.activity.lock().get_mut(&self.address) {
            counts.waiting -= 1;
            counts.answered += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_registry_with_the_most_requests_is_awaited() {
        let activity = NetworkActivity::default();
        let awaited = || {
            let awaited = activity.awaited();
            awaited.map(|awaited| (awaited.address, awaited.answered))
        };
        assert_eq!(awaited(), None);
        drop(activity.begin("a"));
        assert_eq!(awaited(), None);
        let first = activity.begin("a");
        assert_eq!(awaited(), Some(("a".to_owned(), 1)));
        let others = [activity.begin("b"), activity.begin("b")];
        assert_eq!(awaited(), Some(("b".to_owned(), 0)));
        drop(others);
        assert_eq!(awaited(), Some(("a".to_owned(), 1)));
        drop(first);
        assert_eq!(awaited(), None);
    }
}
