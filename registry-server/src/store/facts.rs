//! The table of facts about the registry itself: its identity and its signing key.

use pkgres_manifest::{Hexadecimal, from_hexadecimal};
use pkgres_registry_client::protocol::SigningKey;

use crate::database::{DatabaseError, Result, Transaction};
use crate::environment::Environment;

/// The fact that artifacts were marked.
const ARTIFACTS: &str = "artifacts";

/// The identity of a registry.
pub(crate) struct Identity {
    /// A random UUID.
    pub(crate) registry: String,
    /// The key that snapshots are signed with.
    pub(crate) key: SigningKey,
}

/// The identity of the registry, which is created if the data are new.
pub(crate) fn identity(
    transaction: &mut dyn Transaction,
    environment: &Environment,
) -> Result<Identity> {
    let registry = fact(transaction, "registry", || environment.uuid())?;
    let key = fact(transaction, "signing_key", || {
        Hexadecimal(&environment.random::<32>()).to_string()
    })?;
    let mut secret = [0; 32];
    if !from_hexadecimal(&key, &mut secret) {
        return Err(DatabaseError::failed("the signing key is not one"));
    }
    Ok(Identity {
        registry,
        key: SigningKey::from_bytes(&secret),
    })
}

/// Whether artifacts were marked as those of the registry.
pub(crate) fn has_artifacts(transaction: &mut dyn Transaction) -> Result<bool> {
    let known = transaction.query_one(
        "SELECT value FROM facts WHERE name = $1",
        &[ARTIFACTS.into()],
    )?;
    Ok(known.is_some())
}

/// Remembers that artifacts were marked as those of the registry.
pub(crate) fn remember_artifacts(transaction: &mut dyn Transaction) -> Result<()> {
    fact(transaction, ARTIFACTS, || "marked".to_owned()).map(drop)
}

fn fact(
    transaction: &mut dyn Transaction,
    name: &str,
    make: impl FnOnce() -> String,
) -> Result<String> {
    let known = transaction.query_one("SELECT value FROM facts WHERE name = $1", &[name.into()])?;
    if let Some(row) = known {
        return row.text(0).map(str::to_owned);
    }
    let value = make();
    transaction.execute(
        "INSERT INTO facts (name, value) VALUES ($1, $2)",
        &[name.into(), value.as_str().into()],
    )?;
    Ok(value)
}
