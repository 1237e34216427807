//! Bodies of documents in memory, up to a bound.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use pkgres_registry_client::protocol::Digest;

use super::Document;

/// Documents by digest. What is full makes room by letting go what was not asked for since it was
/// last looked at.
pub(super) struct Cache {
    bound: usize,
    inner: RwLock<Inner>,
}

#[derive(Default)]
struct Inner {
    documents: HashMap<Digest, Slot>,
    /// The order in which documents are looked at when room is needed.
    order: VecDeque<Digest>,
    bytes: usize,
}

struct Slot {
    document: Arc<Document>,
    was_used: AtomicBool,
}

impl Cache {
    /// A cache for bodies of together `bound` bytes.
    pub(super) fn new(bound: usize) -> Self {
        Self {
            bound,
            inner: RwLock::default(),
        }
    }

    pub(super) fn get(&self, digest: &Digest) -> Option<Arc<Document>> {
        let inner = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        let slot = inner.documents.get(digest)?;
        // Readers would wait for each other if each wrote what already stands there.
        if !slot.was_used.load(Ordering::Relaxed) {
            slot.was_used.store(true, Ordering::Relaxed);
        }
        Some(Arc::clone(&slot.document))
    }

    pub(super) fn put(&self, document: Arc<Document>) {
        let size = document.body.len();
        if size > self.bound {
            return;
        }
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        let digest = document.digest;
        if inner.documents.contains_key(&digest) {
            return;
        }
        while inner.bytes + size > self.bound {
            let Some(oldest) = inner.order.pop_front() else {
                break;
            };
            let is_used = inner
                .documents
                .get(&oldest)
                .is_some_and(|slot| slot.was_used.swap(false, Ordering::Relaxed));
            if is_used {
                inner.order.push_back(oldest);
            } else if let Some(slot) = inner.documents.remove(&oldest) {
                inner.bytes -= slot.document.body.len();
            }
        }
        inner.bytes += size;
        inner.order.push_back(digest);
        let was_used = AtomicBool::new(false);
        inner.documents.insert(digest, Slot { document, was_used });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(text: &str) -> Arc<Document> {
        Arc::new(Document::new(text.as_bytes().to_vec()))
    }

    #[test]
    fn what_is_asked_for_stays_and_the_bound_holds() {
        let cache = Cache::new(20);
        let often = document("often asked");
        cache.put(Arc::clone(&often));
        for number in 0..100 {
            assert!(cache.get(&often.digest).is_some(), "{number}");
            let other = document(&format!("seldom {number}"));
            cache.put(Arc::clone(&other));
            assert!(cache.get(&often.digest).is_some());
            let bytes = cache.inner.read().expect("no one panicked").bytes;
            assert!(bytes <= 20, "{bytes}");
        }
        let large = document("larger than everything");
        cache.put(Arc::clone(&large));
        assert!(cache.get(&large.digest).is_none());
    }
}
