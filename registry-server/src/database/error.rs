//! The errors of databases, the same for SQLite and PostgreSQL.

use std::error::Error;
use std::fmt;

/// An error of a driver, or a message.
pub(crate) type BoxError = Box<dyn Error + Send + Sync>;

/// An error of a database. The source of each is the error of the driver.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DatabaseError {
    /// The address of the database is invalid, or requires something impossible.
    #[error("the address of the database cannot be used: {0}")]
    Address(#[source] BoxError),
    /// The address requires TLS, and the server has none.
    #[error(
        "the database offers no TLS, and the address asks for it: turn on `ssl` there, or say \
         `sslmode=disable` if nobody can listen in between"
    )]
    NoTls,
    /// The certificate of the server is not signed by a trusted authority, is not for the host of the
    /// address, or is out of date.
    #[error(
        "the certificate of the database is not trusted: {0}; name the file of its authority with \
         `sslrootcert=…`, and the host as the certificate has it"
    )]
    Untrusted(#[source] BoxError),
    /// A text has the character NUL, which PostgreSQL cannot store, and SQLite not reliably.
    #[error("a text has the character U+0000, which cannot be kept")]
    Nul,
    /// There is no connection, or it was lost.
    #[error("the database cannot be reached: {0}")]
    Unreachable(#[source] BoxError),
    /// There is no space left, or the data can only be read, as on a standby.
    #[error("the database cannot be written: {0}")]
    Unwritable(#[source] BoxError),
    /// A statement failed, or the data are damaged.
    #[error("the database failed: {0}")]
    Failed(#[source] BoxError),
    /// A newer version of this program wrote the data.
    #[error(
        "the data have schema {found}, and this version knows only {known}: use the version that \
         wrote them"
    )]
    Newer {
        /// The schema of the data.
        found: i64,
        /// The newest schema that this version knows.
        known: i64,
    },
}

/// The result of a statement.
pub(crate) type Result<T> = std::result::Result<T, DatabaseError>;

impl DatabaseError {
    /// The address is invalid for a reason.
    pub(super) fn address(reason: impl Into<BoxError>) -> Self {
        Self::Address(reason.into())
    }

    /// A statement failed, or the data are damaged, for a reason.
    pub(crate) fn failed(reason: impl Into<BoxError>) -> Self {
        Self::Failed(reason.into())
    }
}

/// An error of the driver of PostgreSQL with its causes: its own message is only "db error".
#[derive(Debug)]
pub(super) struct PostgresError(pub(super) postgres::Error);

impl fmt::Display for PostgresError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)?;
        let mut source = self.0.source();
        while let Some(cause) = source {
            write!(formatter, ": {cause}")?;
            source = cause.source();
        }
        Ok(())
    }
}

impl Error for PostgresError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}
