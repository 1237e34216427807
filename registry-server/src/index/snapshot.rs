//! Snapshots: states of the index that are signed for clients.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};
use pkgres_registry_client::protocol::{Digest, PublicKey, SignedSnapshot, Snapshot};

use super::document::Document;
use super::state::State;
use crate::environment::Environment;
use crate::store::facts::Identity;

/// How long a snapshot is valid. A client that gets no newer one for longer is the victim of a freeze
/// attack.
const VALIDITY: SignedDuration = SignedDuration::from_hours(7 * 24);

/// Signs states: each once, and again when half of its validity is over.
pub(crate) struct Signer {
    identity: Identity,
    environment: Environment,
    last: Mutex<Option<Signed>>,
}

/// A signed state.
#[derive(Clone)]
pub(crate) struct Signed {
    serial: u64,
    root: Digest,
    /// From when to when the state is not signed again.
    current: Range<Timestamp>,
    /// When clients stop accepting the signature.
    pub(crate) expires: Timestamp,
    pub(crate) snapshot: Arc<SignedSnapshot>,
    pub(crate) document: Arc<Document>,
}

impl Signer {
    pub(crate) fn new(identity: Identity, environment: Environment) -> Self {
        Self {
            identity,
            environment,
            last: Mutex::new(None),
        }
    }

    /// The key that verifies signatures.
    pub(crate) fn public_key(&self) -> PublicKey {
        self.identity.key.public()
    }

    /// The identity of the registry.
    pub(crate) fn registry(&self) -> &str {
        &self.identity.registry
    }

    pub(super) fn sign(&self, state: &State) -> Signed {
        let now = self.environment.now();
        let root = state.tree().root();
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        // A state of the same serial has another root if a backup was restored, and the clock may have been set back.
        if let Some(signed) = last.as_ref()
            && signed.serial == state.serial
            && signed.root == root
            && signed.current.contains(&now)
        {
            return signed.clone();
        }
        let snapshot = Snapshot {
            registry: self.identity.registry.clone(),
            serial: state.serial,
            names: state.packages().len() as u64,
            root,
            issued: now,
            expires: now + VALIDITY,
        };
        let snapshot = SignedSnapshot::sign(&snapshot, &[&self.identity.key]);
        let signed = Signed {
            serial: state.serial,
            root,
            current: now..now + VALIDITY / 2,
            expires: now + VALIDITY,
            document: Arc::new(Document::new(snapshot.to_json())),
            snapshot: Arc::new(snapshot),
        };
        *last = Some(signed.clone());
        signed
    }
}
