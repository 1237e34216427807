//! Index documents as they are sent, and a cache of their bodies.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use bytes::Bytes;
use http::HeaderValue;
use pkgres_registry_client::protocol::Digest;

/// A body that is served, with its digest and `ETag`, which are computed once.
#[derive(Debug, Clone)]
pub(crate) struct Document {
    pub(crate) body: Bytes,
    pub(crate) digest: Digest,
    pub(crate) etag: HeaderValue,
}

impl Document {
    pub(crate) fn new(body: impl Into<Bytes>) -> Self {
        let body = body.into();
        let digest = Digest::of(&body);
        Self::of_digest(body, digest)
    }

    /// A body whose digest is known.
    pub(crate) fn of_digest(body: impl Into<Bytes>, digest: Digest) -> Self {
        let etag = HeaderValue::from_str(&digest.to_etag())
            .expect("quotes and hexadecimal digits are valid in a header");
        Self {
            body: body.into(),
            digest,
            etag,
        }
    }
}

/// Documents by digest, of a limited size together. A full cache evicts documents that were not used
/// since their last turn (the CLOCK algorithm), so a hit costs readers no lock that excludes others.
pub(super) struct Cache {
    limit: usize,
    inner: RwLock<Inner>,
}

#[derive(Default)]
struct Inner {
    documents: HashMap<Digest, Slot>,
    /// The order in which documents have their turn when the cache is full.
    order: VecDeque<Digest>,
    bytes: usize,
}

struct Slot {
    document: Arc<Document>,
    was_used: AtomicBool,
}

impl Cache {
    /// A cache of bodies with `limit` bytes together.
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            inner: RwLock::default(),
        }
    }

    pub(super) fn get(&self, digest: &Digest) -> Option<Arc<Document>> {
        let inner = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        let slot = inner.documents.get(digest)?;
        // Readers would wait for each other if each wrote a value that is set already.
        if !slot.was_used.load(Ordering::Relaxed) {
            slot.was_used.store(true, Ordering::Relaxed);
        }
        Some(Arc::clone(&slot.document))
    }

    pub(super) fn put(&self, document: Arc<Document>) {
        let size = document.body.len();
        if size > self.limit {
            return;
        }
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        let digest = document.digest;
        if inner.documents.contains_key(&digest) {
            return;
        }
        while inner.bytes + size > self.limit {
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
    fn used_documents_stay_and_the_limit_holds() {
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
