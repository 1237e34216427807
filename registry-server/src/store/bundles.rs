//! Bundles: lists of packages to be imported together.

use crate::database::{Result, Transaction};

/// The document of a bundle.
pub(crate) fn get(transaction: &mut dyn Transaction, name: &str) -> Result<Option<String>> {
    let row = transaction.query_one("SELECT body FROM bundles WHERE name = $1", &[name.into()])?;
    row.map(|row| row.text(0).map(str::to_owned)).transpose()
}

/// Puts a bundle in place of the one before it.
pub(crate) fn put(transaction: &mut dyn Transaction, name: &str, body: &str) -> Result<()> {
    transaction.execute(
        "INSERT INTO bundles (name, body) VALUES ($1, $2) \
         ON CONFLICT (name) DO UPDATE SET body = excluded.body",
        &[name.into(), body.into()],
    )?;
    Ok(())
}

/// Removes a bundle; says whether there was one.
pub(crate) fn remove(transaction: &mut dyn Transaction, name: &str) -> Result<bool> {
    let removed = transaction.execute("DELETE FROM bundles WHERE name = $1", &[name.into()])?;
    Ok(removed > 0)
}
