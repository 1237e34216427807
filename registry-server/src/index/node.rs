//! What a node holds of the index, and how it follows the database.

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use pkgres_manifest::{ClassName, PackageName};
use pkgres_registry_client::protocol::Digest;

use super::Document;
use super::cache::Cache;
use super::snapshot::Signer;
use super::state::State;
use crate::database::Database;
use crate::problem::Problem;
use crate::store;
use crate::store::documents::{self, Kind};

/// How often a document is looked for again that was rendered anew meanwhile.
const ATTEMPTS: usize = 8;

/// What a node holds of the index.
pub(crate) struct Node {
    database: Arc<Database>,
    state: RwLock<Arc<State>>,
    /// Held while the state is brought up to date, so that this is done once for all who wait.
    refreshing: Mutex<()>,
    cache: Cache,
    pub(super) signer: Signer,
}

impl Node {
    /// A node that holds bodies of together `cache_bytes`.
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
        node.refresh(0)?;
        Ok(node)
    }

    /// The state that is served.
    pub(crate) fn state(&self) -> Arc<State> {
        Arc::clone(&self.state.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Brings the state up to date, unless it has a serial already.
    pub(crate) fn refresh(&self, at_least: u64) -> Result<Arc<State>, Problem> {
        let _only_one = self
            .refreshing
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let state = self.state();
        if at_least > 0 && state.serial >= at_least {
            return Ok(state);
        }
        let (serial, rendered) = self.database.read(|transaction| {
            let serial = store::current_serial(transaction)?;
            let rendered = if serial > state.serial {
                documents::rendered_after(transaction, state.serial)?
            } else {
                Vec::new()
            };
            Ok::<_, Problem>((serial, rendered))
        })?;
        if serial == state.serial {
            return Ok(state);
        }
        let next = Arc::new(state.after(serial, rendered)?);
        *self.state.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&next);
        Ok(next)
    }

    /// The index document of a package of this name, if there is one and it is in memory. Does not
    /// block.
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
            (Kind::Package, name.to_string(), entry)
        })
    }

    /// The document of a class.
    pub(crate) fn class(&self, class: &ClassName) -> Result<Option<Arc<Document>>, Problem> {
        self.current(|state| (Kind::Class, class.to_string(), state.class(class).copied()))
    }

    /// The document that a state names, whatever is published meanwhile.
    fn current(
        &self,
        named: impl Fn(&State) -> (Kind, String, Option<Digest>),
    ) -> Result<Option<Arc<Document>>, Problem> {
        let mut state = self.state();
        for _ in 0..ATTEMPTS {
            let (kind, name, Some(digest)) = named(&state) else {
                return Ok(None);
            };
            if let Some(document) = self.document(kind, &name, &digest)? {
                return Ok(Some(document));
            }
            state = self.refresh(0)?;
        }
        Err(Problem::unavailable(
            "a document changes faster than it can be read",
        ))
    }

    /// The document with a digest: from memory, or from the database if it still is the newest.
    pub(crate) fn document(
        &self,
        kind: Kind,
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

    /// Does work on one state, and again on a later one if a document of the first is gone.
    pub(super) fn consistently<T>(
        &self,
        mut work: impl FnMut(&Arc<State>) -> Result<Option<T>, Problem>,
    ) -> Result<T, Problem> {
        let mut state = self.state();
        for _ in 0..ATTEMPTS {
            if let Some(done) = work(&state)? {
                return Ok(done);
            }
            state = self.refresh(0)?;
        }
        Err(Problem::unavailable(
            "the index changes faster than it can be read",
        ))
    }
}
