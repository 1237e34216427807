//! The log of changes.

use pkgres_manifest::{PackageName, Version};
use pkgres_registry_client::protocol::{Change, ChangeKind};

use super::{holder_value, serial_value};
use crate::database::{DatabaseError, Result, Transaction};
use crate::holder::Holder;

/// How a kind is kept.
fn kind_text(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Publish => "publish",
        ChangeKind::Yank => "yank",
        ChangeKind::Unyank => "unyank",
        ChangeKind::Delete => "delete",
        ChangeKind::Other => "other",
    }
}

/// The kind that is kept as a text. A later version may have written one that this one does not know.
fn kind_of(text: &str) -> ChangeKind {
    match text {
        "publish" => ChangeKind::Publish,
        "yank" => ChangeKind::Yank,
        "unyank" => ChangeKind::Unyank,
        "delete" => ChangeKind::Delete,
        _ => ChangeKind::Other,
    }
}

/// Writes down a change, and tells other nodes when the transaction is committed.
pub(crate) fn add(
    transaction: &mut dyn Transaction,
    change: &Change,
    holder: &Holder,
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
            holder_value(holder),
        ],
    )?;
    Ok(())
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
            let damaged = || DatabaseError::Failed("a change cannot be read".to_owned());
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
    fn kinds_stay_what_they_are() {
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
