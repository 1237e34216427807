//! A node: a process that serves the index and follows the database.

use std::cmp::Ordering;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use pkgres_manifest::{ClassName, PackageName};
use pkgres_registry_client::protocol::Digest;

use super::document::{Cache, Document};
use super::snapshot::{Signed, Signer};
use super::state::State;
use crate::database::Database;
use crate::problem::Problem;
use crate::store::changes;
use crate::store::documents::{self, DocumentKind};

/// How often a read is repeated with a later state, because a document of the earlier one was replaced.
const ATTEMPTS: usize = 8;

/// The state of the index that a node serves, and its cache of documents.
pub(crate) struct Node {
    database: Arc<Database>,
    state: RwLock<Arc<State>>,
    /// Held while the state is refreshed, so that one refresh serves all who wait.
    refreshing: Mutex<()>,
    cache: Cache,
    signer: Signer,
}

impl Node {
    /// A node with a cache of `cache_bytes`, at the newest state of the database.
    pub(crate) fn new(
        database: Arc<Database>,
        cache_bytes: usize,
        signer: Signer,
    ) -> Result<Self, Problem> {
        let node = Self {
            database,
            state: RwLock::new(Arc::new(State::empty())),
            refreshing: Mutex::new(()),
            cache: Cache::new(cache_bytes),
            signer,
        };
        node.refresh()?;
        Ok(node)
    }

    /// The state that is served.
    pub(crate) fn state(&self) -> Arc<State> {
        Arc::clone(&self.state.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Refreshes the state.
    pub(crate) fn refresh(&self) -> Result<Arc<State>, Problem> {
        self.refresh_unless(|_| false)
    }

    /// Refreshes the state, unless it has reached a serial already.
    pub(crate) fn refresh_to(&self, serial: u64) -> Result<Arc<State>, Problem> {
        self.refresh_unless(|state| state.serial >= serial)
    }

    fn refresh_unless(
        &self,
        is_enough: impl FnOnce(&State) -> bool,
    ) -> Result<Arc<State>, Problem> {
        let _refreshing = self
            .refreshing
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let state = self.state();
        if is_enough(&state) {
            return Ok(state);
        }
        let (serial, rendered) = self.database.read(|transaction| {
            let serial = changes::current_serial(transaction)?;
            let rendered = match serial.cmp(&state.serial) {
                Ordering::Equal => Vec::new(),
                Ordering::Greater => documents::rendered_after(transaction, state.serial)?,
                Ordering::Less => documents::rendered_after(transaction, 0)?,
            };
            Ok::<_, Problem>((serial, rendered))
        })?;
        let next = match serial.cmp(&state.serial) {
            Ordering::Equal => return Ok(state),
            Ordering::Greater => state.after(serial, rendered)?,
            // A backup of the database was restored. Documents of the later state do not belong to this one.
            Ordering::Less => {
                tracing::warn!(
                    from = state.serial,
                    to = serial,
                    "the database went back to an older state"
                );
                State::empty().after(serial, rendered)?
            }
        };
        let next = Arc::new(next);
        *self.state.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&next);
        Ok(next)
    }

    /// The index document of a package, if there is one and it is in the cache. Does not block.
    pub(crate) fn package_in_memory(&self, name: &str) -> Option<Arc<Document>> {
        let digest = self.state().digest(name)?;
        self.cache.get(&digest)
    }

    /// Whether there is a package. Does not block.
    pub(crate) fn has_package(&self, name: &PackageName) -> bool {
        self.state().package(name).is_some()
    }

    /// The index document of a package.
    pub(crate) fn package(&self, name: &PackageName) -> Result<Option<Arc<Document>>, Problem> {
        self.current(|state| {
            let entry = state.package(name).map(|(_, entry)| entry.digest);
            (DocumentKind::Package, name.to_string(), entry)
        })
    }

    /// The document of a class.
    pub(crate) fn class(&self, class: &ClassName) -> Result<Option<Arc<Document>>, Problem> {
        self.current(|state| {
            (
                DocumentKind::Class,
                class.to_string(),
                state.class(class).copied(),
            )
        })
    }

    /// The document that the state names, whatever is published meanwhile.
    fn current(
        &self,
        named: impl Fn(&State) -> (DocumentKind, String, Option<Digest>),
    ) -> Result<Option<Arc<Document>>, Problem> {
        self.consistently(|state| {
            let (kind, name, Some(digest)) = named(state) else {
                return Ok(Some(None));
            };
            Ok(self.document(kind, &name, &digest)?.map(Some))
        })
    }

    /// The document with a digest: from the cache, or from the database if it still is the newest.
    pub(crate) fn document(
        &self,
        kind: DocumentKind,
        name: &str,
        digest: &Digest,
    ) -> Result<Option<Arc<Document>>, Problem> {
        if let Some(document) = self.cache.get(digest) {
            return Ok(Some(document));
        }
        let body = self.database.read(|transaction| {
            documents::body(transaction, kind, name, digest).map_err(Problem::from)
        })?;
        let Some(body) = body else {
            return Ok(None);
        };
        let document = Arc::new(Document::new(body));
        if document.digest != *digest {
            return Err(Problem::internal(format!(
                "the document of {name} is damaged"
            )));
        }
        self.cache.put(Arc::clone(&document));
        Ok(Some(document))
    }

    /// Does work on one state, and again on a later one if a document of the first was replaced.
    pub(super) fn consistently<T>(
        &self,
        mut work: impl FnMut(&Arc<State>) -> Result<Option<T>, Problem>,
    ) -> Result<T, Problem> {
        let mut state = self.state();
        for _ in 0..ATTEMPTS {
            if let Some(done) = work(&state)? {
                return Ok(done);
            }
            state = self.refresh()?;
        }
        Err(Problem::unavailable(
            "the index changes faster than it can be read",
        ))
    }

    /// The state that is served, signed.
    pub(crate) fn snapshot(&self) -> Signed {
        self.snapshot_of(&self.state())
    }

    /// A state, signed.
    pub(crate) fn snapshot_of(&self, state: &State) -> Signed {
        self.signer.sign(state)
    }

    /// The key and the identity of the registry.
    pub(crate) fn signer(&self) -> &Signer {
        &self.signer
    }
}
