//! The tables of changes of the index: the current serial, and a log.
//!
//! A serial is the number of a state of the index. A transaction that changes the index takes its serial
//! first, from a row that stays locked until it ends. So serials have no gaps, and become visible in
//! their order. A sequence of the database would give neither.

use jiff::Timestamp;
use pkgres_manifest::{PackageName, Version};
use pkgres_registry_client::protocol::{Change, ChangeKind};

use super::columns::{credential_value, serial_value};
use crate::access::Credential;
use crate::database::{DatabaseError, Result, Row, Transaction};

/// Takes the next serial: the first statement of every transaction that changes the index. Other
/// writers wait until the transaction ends; if it fails, the serial is free again.
pub(crate) fn next_serial(transaction: &mut dyn Transaction) -> Result<u64> {
    let statement = "UPDATE counter SET serial = serial + 1 WHERE id = 1 RETURNING serial";
    let row = transaction.query_one(statement, &[])?;
    let serial = row.map_or(Ok(0), |row| row.integer(0))?;
    Ok(serial.unsigned_abs())
}

/// The newest serial that was committed.
pub(crate) fn current_serial(transaction: &mut dyn Transaction) -> Result<u64> {
    let row = transaction.query_one("SELECT serial FROM counter WHERE id = 1", &[])?;
    let serial = row.map_or(Ok(0), |row| row.integer(0))?;
    Ok(serial.unsigned_abs())
}

/// The text of a kind in the table.
fn kind_text(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Publish => "publish",
        ChangeKind::Yank => "yank",
        ChangeKind::Unyank => "unyank",
        ChangeKind::Delete => "delete",
        _ => "other",
    }
}

/// The kind of a text in the table. A later version may have written one that this version does not
/// know.
fn kind_of(text: &str) -> ChangeKind {
    match text {
        "publish" => ChangeKind::Publish,
        "yank" => ChangeKind::Yank,
        "unyank" => ChangeKind::Unyank,
        "delete" => ChangeKind::Delete,
        _ => ChangeKind::Other,
    }
}

/// Adds a change to the log.
pub(crate) fn add(
    transaction: &mut dyn Transaction,
    change: &Change,
    credential: &Credential,
) -> Result<()> {
    let version = change.version.as_ref().map(ToString::to_string);
    transaction.execute(
        "INSERT INTO changes (serial, kind, package, version, at, token) \
         VALUES ($1, $2, $3, $4, $5, $6)",
        &[
            serial_value(change.serial),
            kind_text(change.kind).into(),
            change.name.as_str().into(),
            version.unwrap_or_default().into(),
            change.at.to_string().into(),
            credential_value(credential),
        ],
    )?;
    Ok(())
}

/// When a package last changed, and the serial of the change.
pub(crate) fn last_of(
    transaction: &mut dyn Transaction,
    package: &PackageName,
) -> Result<Option<(Timestamp, u64)>> {
    let row = transaction.query_one(
        "SELECT at, serial FROM changes WHERE package = $1 ORDER BY serial DESC LIMIT 1",
        &[package.as_str().into()],
    )?;
    let read = |row: Row| {
        let at = row.text(0)?.parse().map_err(DatabaseError::failed)?;
        Ok((at, row.integer(1)?.unsigned_abs()))
    };
    row.map(read).transpose()
}

/// At most `limit` changes after a serial, the oldest first.
pub(crate) fn after(
    transaction: &mut dyn Transaction,
    since: u64,
    limit: u64,
) -> Result<Vec<Change>> {
    let rows = transaction.query(
        "SELECT serial, kind, package, version, at FROM changes \
         WHERE serial > $1 ORDER BY serial LIMIT $2",
        &[serial_value(since), serial_value(limit)],
    )?;
    rows.iter()
        .map(|row| {
            let damaged = || DatabaseError::failed("a change cannot be read");
            let version = row.text(3)?;
            Ok(Change {
                serial: row.integer(0)?.unsigned_abs(),
                kind: kind_of(row.text(1)?),
                name: PackageName::parse(row.text(2)?).map_err(|_| damaged())?,
                version: match version {
                    "" => None,
                    text => Some(Version::parse(text).map_err(|_| damaged())?),
                },
                at: row.text(4)?.parse().map_err(|_| damaged())?,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_read_as_they_are_written() {
        for kind in [
            ChangeKind::Publish,
            ChangeKind::Yank,
            ChangeKind::Unyank,
            ChangeKind::Delete,
            ChangeKind::Other,
        ] {
            assert_eq!(kind_of(kind_text(kind)), kind);
        }
        assert_eq!(kind_of("rename"), ChangeKind::Other);
    }
}
