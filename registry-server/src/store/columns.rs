//! Converts values to columns and back.

use pkgres_formats::ECOSYSTEMS;
use pkgres_manifest::diagnostic::{Diagnostic, Location, SourceText};
use pkgres_manifest::{IndexReader, IndexRecord, Limits, Version, read_json};
use serde::de::DeserializeOwned;

use crate::access::Credential;
use crate::database::{DatabaseError, Value};

/// A serial, or another number that is not negative.
pub(super) fn serial_value(serial: u64) -> Value {
    i64::try_from(serial).unwrap_or(i64::MAX).into()
}

/// A credential: the id of the token, or the empty text for the operator.
pub(super) fn credential_value(credential: &Credential) -> Value {
    credential.token().unwrap_or_default().into()
}

/// The credential that [`credential_value`] wrote.
pub(super) fn credential_from(text: &str) -> Credential {
    match text {
        "" => Credential::Operator,
        id => Credential::Token(id.to_owned()),
    }
}

/// Reads the line of a release in the index, of any ecosystem.
pub(crate) fn read_record(line: &str, limits: &Limits) -> Result<IndexRecord, Diagnostic> {
    let mut reader = IndexReader::of_ecosystems(limits.clone(), ECOSYSTEMS);
    let source = SourceText::new("the index record", "");
    reader.read_line(line, &|span| Location::new(&source, span))
}

/// Texts in the form that searches compare: lower case, one per line. No word of a search contains a line feed, so no
/// word matches across two texts.
pub(super) fn searched<'text>(texts: impl IntoIterator<Item = &'text String>) -> Value {
    let texts: Vec<String> = texts.into_iter().map(|text| text.to_lowercase()).collect();
    texts.join("\n").into()
}

/// Reads a value that is stored as JSON.
pub(super) fn from_json<T: DeserializeOwned>(text: &str) -> Result<T, DatabaseError> {
    read_json(text.as_bytes())
        .map_err(|error| DatabaseError::failed(format!("a column cannot be read: {error}")))
}

/// A version without its build metadata, which does not distinguish releases.
pub(crate) fn version_key(version: &Version) -> String {
    version.without_build().to_string()
}
