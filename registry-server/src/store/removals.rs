//! The table of removals of artifacts: those in progress, and those that ended within the last day.

use crate::database::{Result, Row, Transaction};

/// The removal of an artifact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Removal {
    /// A random UUID.
    pub(crate) id: String,
    /// The process that removes the artifact.
    pub(crate) node: String,
    /// When the removal began or, if it is over, ended, in seconds since 1970.
    pub(crate) at: i64,
    /// Whether the artifact is gone, so that this removal cannot remove it again.
    pub(crate) is_over: bool,
}

/// The last removal of an artifact.
pub(crate) fn last(transaction: &mut dyn Transaction, sha256: &str) -> Result<Option<Removal>> {
    let statement = "SELECT id, node, at, is_over FROM removals WHERE sha256 = $1";
    let row = transaction.query_one(statement, &[sha256.into()])?;
    row.map(|row| removal(&row)).transpose()
}

fn removal(row: &Row) -> Result<Removal> {
    Ok(Removal {
        id: row.text(0)?.to_owned(),
        node: row.text(1)?.to_owned(),
        at: row.integer(2)?,
        is_over: row.integer(3)? != 0,
    })
}

/// The artifacts whose removal began at a time or before, and has not ended.
pub(crate) fn unfinished(transaction: &mut dyn Transaction, at: i64) -> Result<Vec<String>> {
    let statement = "SELECT sha256 FROM removals WHERE is_over = 0 AND at <= $1";
    let rows = transaction.query(statement, &[at.into()])?;
    rows.iter().map(|row| Ok(row.text(0)?.to_owned())).collect()
}

/// Records that the removal of an artifact begins. It replaces an earlier removal.
pub(crate) fn begin(
    transaction: &mut dyn Transaction,
    sha256: &str,
    removal: &Removal,
) -> Result<()> {
    transaction.execute("DELETE FROM removals WHERE sha256 = $1", &[sha256.into()])?;
    transaction.execute(
        "INSERT INTO removals (sha256, id, node, at, is_over) VALUES ($1, $2, $3, $4, 0)",
        &[
            sha256.into(),
            removal.id.as_str().into(),
            removal.node.as_str().into(),
            removal.at.into(),
        ],
    )?;
    Ok(())
}

/// Records that the removal of an artifact ended.
pub(crate) fn end(
    transaction: &mut dyn Transaction,
    sha256: &str,
    id: &str,
    at: i64,
) -> Result<()> {
    transaction.execute(
        "UPDATE removals SET is_over = 1, at = $3 WHERE sha256 = $1 AND id = $2",
        &[sha256.into(), id.into(), at.into()],
    )?;
    Ok(())
}

/// Forgets removals that ended at a time or before.
pub(crate) fn forget(transaction: &mut dyn Transaction, at: i64) -> Result<()> {
    let statement = "DELETE FROM removals WHERE is_over = 1 AND at <= $1";
    transaction.execute(statement, &[at.into()])?;
    Ok(())
}
