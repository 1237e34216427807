//! How values are written to columns, and read from them.

use pkgres_manifest::Version;

use crate::access::Credential;
use crate::database::Value;

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

/// A version without its build metadata, which does not distinguish releases.
pub(crate) fn version_key(version: &Version) -> String {
    version.without_build().to_string()
}
