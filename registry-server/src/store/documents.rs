//! The table of index documents, as they are served.

use pkgres_registry_client::protocol::Digest;

use super::columns::serial_value;
use crate::database::{DatabaseError, Result, Transaction};

/// The kind of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DocumentKind {
    Package,
    Class,
}

impl DocumentKind {
    fn as_str(self) -> &'static str {
        match self {
            Self::Package => "package",
            Self::Class => "class",
        }
    }

    fn parse(text: &str) -> Result<Self> {
        let all = [Self::Package, Self::Class];
        let found = all.into_iter().find(|kind| kind.as_str() == text);
        found.ok_or_else(|| DatabaseError::failed(format!("a document has the kind `{text}`")))
    }
}

/// A row of the table of documents, without the body.
pub(crate) struct DocumentRow {
    pub(crate) kind: DocumentKind,
    pub(crate) name: String,
    /// The digest of the body; none if the document was removed.
    pub(crate) digest: Option<Digest>,
    /// The packages that releases of the package require, sorted, one a line.
    pub(crate) requires: String,
}

/// Adds or replaces a document.
pub(crate) fn put(
    transaction: &mut dyn Transaction,
    kind: DocumentKind,
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

/// Marks a document as removed. The row stays, so that other nodes see the removal.
pub(crate) fn remove(
    transaction: &mut dyn Transaction,
    kind: DocumentKind,
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
) -> Result<Vec<DocumentRow>> {
    let rows = transaction.query(
        "SELECT kind, name, sha256, requires FROM documents WHERE serial > $1",
        &[serial_value(serial)],
    )?;
    rows.iter()
        .map(|row| {
            Ok(DocumentRow {
                kind: DocumentKind::parse(row.text(0)?)?,
                name: row.text(1)?.to_owned(),
                digest: match row.text(2)? {
                    "" => None,
                    text => Some(Digest::parse(text).map_err(DatabaseError::failed)?),
                },
                requires: row.text(3)?.to_owned(),
            })
        })
        .collect()
}

/// The body of a document, if it still has the digest.
pub(crate) fn body(
    transaction: &mut dyn Transaction,
    kind: DocumentKind,
    name: &str,
    digest: &Digest,
) -> Result<Option<Vec<u8>>> {
    let row = transaction.query_one(
        "SELECT body FROM documents WHERE kind = $1 AND name = $2 AND sha256 = $3",
        &[kind.as_str().into(), name.into(), digest.to_string().into()],
    )?;
    row.map(|mut row| row.take_bytes(0)).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_that_is_unknown_is_an_error() {
        for kind in [DocumentKind::Package, DocumentKind::Class] {
            assert_eq!(
                DocumentKind::parse(kind.as_str()).expect("it is known"),
                kind
            );
        }
        assert!(DocumentKind::parse("interface").is_err());
    }
}
