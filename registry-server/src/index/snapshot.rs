//! Signing the state of the index.

use std::sync::{Arc, Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};
use pkgres_registry_client::protocol::{PublicKey, SignedSnapshot, Snapshot};

use super::state::State;
use super::{Document, Node};
use crate::environment::Environment;
use crate::store::facts::Identity;

/// For how long a snapshot can be believed. A client that sees no newer one for longer is being
/// kept from news.
const VALIDITY: SignedDuration = SignedDuration::from_hours(7 * 24);

/// Signs states, each once until half of its time is over.
pub(crate) struct Signer {
    identity: Identity,
    environment: Environment,
    last: Mutex<Option<Signed>>,
}

/// A state that was signed.
#[derive(Clone)]
pub(crate) struct Signed {
    serial: u64,
    renew: Timestamp,
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

    /// The key that signatures can be checked with.
    pub(crate) fn public_key(&self) -> PublicKey {
        self.identity.key.public()
    }

    /// The identity of the registry.
    pub(crate) fn registry(&self) -> &str {
        &self.identity.registry
    }

    pub(super) fn sign(&self, state: &State) -> Signed {
        let now = self.environment.now();
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(signed) = last.as_ref()
            && signed.serial == state.serial
            && now < signed.renew
        {
            return signed.clone();
        }
        let snapshot = Snapshot {
            registry: self.identity.registry.clone(),
            serial: state.serial,
            names: state.packages().len() as u64,
            root: state.tree().root(),
            issued: now,
            expires: now + VALIDITY,
        };
        let snapshot = SignedSnapshot::sign(&snapshot, &[&self.identity.key]);
        let signed = Signed {
            serial: state.serial,
            renew: now + VALIDITY / 2,
            document: Arc::new(Document::new(snapshot.to_json())),
            snapshot: Arc::new(snapshot),
        };
        // An older state must not take the place of a newer one.
        if last.as_ref().is_none_or(|last| last.serial <= state.serial) {
            *last = Some(signed.clone());
        }
        signed
    }
}

impl Node {
    /// The signed state that is served.
    pub(crate) fn snapshot(&self) -> Signed {
        self.signer.sign(&self.state())
    }

    /// A state, signed.
    pub(crate) fn snapshot_of(&self, state: &State) -> Signed {
        self.signer.sign(state)
    }

    /// The key and the identity that the registry is known by.
    pub(crate) fn signer(&self) -> &Signer {
        &self.signer
    }
}
