//! The table of tokens. Only the digests of their secrets are stored.

use crate::database::{Result, Row, Transaction, Value};

/// A row of the table of tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TokenRow {
    pub(crate) id: String,
    pub(crate) owner: String,
    /// Names of scopes, separated by spaces.
    pub(crate) scopes: String,
    /// Names and patterns, separated by spaces; empty for all names.
    pub(crate) names: String,
    pub(crate) note: String,
    pub(crate) created: String,
    pub(crate) expires: Option<String>,
}

fn token(row: &Row) -> Result<TokenRow> {
    Ok(TokenRow {
        id: row.text(0)?.to_owned(),
        owner: row.text(1)?.to_owned(),
        scopes: row.text(2)?.to_owned(),
        names: row.text(3)?.to_owned(),
        note: row.text(4)?.to_owned(),
        created: row.text(5)?.to_owned(),
        expires: row.optional_text(6)?.map(str::to_owned),
    })
}

/// The token whose secret has the digest.
pub(crate) fn by_digest(
    transaction: &mut dyn Transaction,
    digest: &str,
) -> Result<Option<TokenRow>> {
    let row = transaction.query_one(
        "SELECT id, owner, scopes, names, note, created, expires FROM tokens WHERE sha256 = $1",
        &[digest.into()],
    )?;
    row.map(|row| token(&row)).transpose()
}

/// The token with an id.
pub(crate) fn by_id(transaction: &mut dyn Transaction, id: &str) -> Result<Option<TokenRow>> {
    let row = transaction.query_one(
        "SELECT id, owner, scopes, names, note, created, expires FROM tokens WHERE id = $1",
        &[id.into()],
    )?;
    row.map(|row| token(&row)).transpose()
}

/// The tokens of an owner, or all, the oldest first.
pub(crate) fn list(
    transaction: &mut dyn Transaction,
    owner: Option<&str>,
) -> Result<Vec<TokenRow>> {
    let rows = transaction.query(
        "SELECT id, owner, scopes, names, note, created, expires FROM tokens \
         WHERE $1 = '' OR owner = $1 ORDER BY created, id",
        &[owner.unwrap_or_default().into()],
    )?;
    rows.iter().map(token).collect()
}

/// Adds a token.
pub(crate) fn add(transaction: &mut dyn Transaction, token: &TokenRow, digest: &str) -> Result<()> {
    transaction.execute(
        "INSERT INTO tokens (id, sha256, owner, scopes, names, note, created, expires) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        &[
            token.id.as_str().into(),
            digest.into(),
            token.owner.as_str().into(),
            token.scopes.as_str().into(),
            token.names.as_str().into(),
            token.note.as_str().into(),
            token.created.as_str().into(),
            token.expires.as_deref().map_or(Value::Null, Value::from),
        ],
    )?;
    Ok(())
}

/// Removes a token. Returns whether there was one.
pub(crate) fn remove(transaction: &mut dyn Transaction, id: &str) -> Result<bool> {
    let removed = transaction.execute("DELETE FROM tokens WHERE id = $1", &[id.into()])?;
    Ok(removed > 0)
}

/// Whether there is any token.
pub(crate) fn is_empty(transaction: &mut dyn Transaction) -> Result<bool> {
    let row = transaction.query_one("SELECT COUNT(*) FROM tokens", &[])?;
    Ok(row.map_or(Ok(0), |row| row.integer(0))? == 0)
}
