//! The documents of the index as they are served.

use pkgres_registry_client::protocol::Digest;

use super::serial_value;
use crate::database::{DatabaseError, Result, Transaction};

/// What a document is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Package,
    Class,
}

impl Kind {
    fn as_str(self) -> &'static str {
        match self {
            Self::Package => "package",
            Self::Class => "class",
        }
    }
}

/// A document without its body.
pub(crate) struct Listed {
    pub(crate) kind: Kind,
    pub(crate) name: String,
    /// The digest of the body; nothing if there is no such document any longer.
    pub(crate) digest: Option<Digest>,
    /// The packages that releases of the package require, sorted.
    pub(crate) requires: String,
}

/// Puts a document in place of the one before it.
pub(crate) fn put(
    transaction: &mut dyn Transaction,
    kind: Kind,
    name: &str,
    body: Vec<u8>,
    requires: String,
    serial: u64,
) -> Result<()> {
    let digest = Digest::of(&body).to_string();
    transaction.execute(
        "INSERT INTO documents (kind, name, body, sha256, requires, serial) \
         VALUES ($1, $2, $3, $4, $5, $6) \
         ON CONFLICT (kind, name) DO UPDATE SET body = excluded.body, sha256 = excluded.sha256, \
         requires = excluded.requires, serial = excluded.serial",
        &[
            kind.as_str().into(),
            name.into(),
            body.into(),
            digest.into(),
            requires.into(),
            serial_value(serial),
        ],
    )?;
    Ok(())
}

/// Says that there is no such document any longer. The row stays, so that other nodes hear of it.
pub(crate) fn remove(
    transaction: &mut dyn Transaction,
    kind: Kind,
    name: &str,
    serial: u64,
) -> Result<()> {
    transaction.execute(
        "UPDATE documents SET body = $1, sha256 = '', requires = '', serial = $2 \
         WHERE kind = $3 AND name = $4",
        &[
            Vec::new().into(),
            serial_value(serial),
            kind.as_str().into(),
            name.into(),
        ],
    )?;
    Ok(())
}

/// The documents that were rendered or removed after a serial.
pub(crate) fn rendered_after(
    transaction: &mut dyn Transaction,
    serial: u64,
) -> Result<Vec<Listed>> {
    let rows = transaction.query(
        "SELECT kind, name, sha256, requires FROM documents WHERE serial > $1",
        &[serial_value(serial)],
    )?;
    rows.iter()
        .map(|row| {
            Ok(Listed {
                kind: match row.text(0)? {
                    "package" => Kind::Package,
                    _ => Kind::Class,
                },
                name: row.text(1)?.to_owned(),
                digest: match row.text(2)? {
                    "" => None,
                    text => Some(
                        Digest::parse(text)
                            .map_err(|error| DatabaseError::Failed(error.to_string()))?,
                    ),
                },
                requires: row.text(3)?.to_owned(),
            })
        })
        .collect()
}

/// The body of a document, if it still is the one with the digest.
pub(crate) fn body(
    transaction: &mut dyn Transaction,
    kind: Kind,
    name: &str,
    digest: &Digest,
) -> Result<Option<Vec<u8>>> {
    let row = transaction.query_one(
        "SELECT body FROM documents WHERE kind = $1 AND name = $2 AND sha256 = $3",
        &[kind.as_str().into(), name.into(), digest.to_string().into()],
    )?;
    row.map(|mut row| row.take_bytes(0)).transpose()
}
