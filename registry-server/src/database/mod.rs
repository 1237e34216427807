//! Transactions on SQLite or PostgreSQL, with one SQL for both.
//!
//! Statements are written with `$1`, `$2` … and use what both engines understand alike. Everything
//! here blocks: callers that serve requests run it on threads that may.

mod migrations;
mod postgres;
mod secure;
mod sqlite;
mod told;
mod value;

use std::time::Duration;

pub(crate) use value::{Row, Value};

/// What a database answers.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// The address of the database makes no sense, or asks for what cannot be done.
    #[error("the address of the database cannot be used: {0}")]
    Address(String),
    /// The address asks for TLS, and the server has none.
    #[error(
        "the database offers no TLS, and the address asks for it: turn on `ssl` there, or say \
         `sslmode=disable` if nobody can listen in between"
    )]
    NoTls,
    /// The certificate of the server is not signed by an authority that is believed, is not for the
    /// host of the address, or is out of date.
    #[error(
        "the certificate of the database is not trusted: {0}; name the file of its authority with \
         `sslrootcert=…`, and the host as the certificate has it"
    )]
    Untrusted(String),
    /// A text has the character NUL, which PostgreSQL cannot keep, and SQLite not well.
    #[error("a text has the character U+0000, which cannot be kept")]
    Nul,
    /// There is no connection, or it was lost.
    #[error("the database cannot be reached: {0}")]
    Unreachable(String),
    /// The database refused a statement, or holds something that should not be there.
    #[error("the database failed: {0}")]
    Failed(String),
    /// The data were written by a newer version of this program.
    #[error(
        "the data have schema {found}, and this version knows only {known}: use the version that \
         wrote them"
    )]
    Newer {
        /// The schema of the data.
        found: i64,
        /// The newest that is known.
        known: i64,
    },
}

pub(crate) type Result<T> = std::result::Result<T, DatabaseError>;

/// Refuses what not every engine can keep, so that all of them behave alike.
fn check(values: &[Value]) -> Result<()> {
    let has_nul = |value: &Value| matches!(value, Value::Text(text) if text.contains('\0'));
    if values.iter().any(has_nul) {
        return Err(DatabaseError::Nul);
    }
    Ok(())
}

/// Statements inside a transaction.
pub(crate) trait Transaction {
    /// Runs a statement that returns no rows; says how many it changed.
    fn execute(&mut self, statement: &'static str, values: &[Value]) -> Result<u64>;

    /// Runs a statement and gives all its rows.
    fn query(&mut self, statement: &'static str, values: &[Value]) -> Result<Vec<Row>>;

    /// Runs several statements without values.
    fn script(&mut self, statements: &str) -> Result<()>;

    /// Runs a statement that returns at most one row.
    fn query_one(&mut self, statement: &'static str, values: &[Value]) -> Result<Option<Row>> {
        Ok(self.query(statement, values)?.into_iter().next())
    }
}

/// The database of a registry.
pub(crate) enum Database {
    /// A file, used by this process alone.
    Sqlite(sqlite::Sqlite),
    /// A server, which several nodes share.
    Postgres(Box<postgres::Postgres>),
}

impl Database {
    /// Opens a file, or makes it, and brings its schema up to date.
    pub(crate) fn open_sqlite(path: &std::path::Path) -> Result<Self> {
        let database = Self::Sqlite(sqlite::Sqlite::open(path)?);
        migrations::run(&database)?;
        Ok(database)
    }

    /// Connects to a server and brings its schema up to date.
    pub(crate) fn open_postgres(address: &str) -> Result<Self> {
        let database = Self::Postgres(Box::new(postgres::Postgres::open(address)?));
        migrations::run(&database)?;
        Ok(database)
    }

    /// Reads from one state of the database: all statements see the same.
    pub(crate) fn read<T, E: From<DatabaseError>>(
        &self,
        work: impl FnOnce(&mut dyn Transaction) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        match self {
            Self::Sqlite(sqlite) => sqlite.read(work),
            Self::Postgres(postgres) => postgres.read(work),
        }
    }

    /// Changes the database: all of it is done, or on an error nothing. Writers of all nodes wait
    /// for each other.
    pub(crate) fn write<T, E: From<DatabaseError>>(
        &self,
        work: impl FnOnce(&mut dyn Transaction) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        match self {
            Self::Sqlite(sqlite) => sqlite.write(work),
            Self::Postgres(postgres) => postgres.write(work),
        }
    }

    /// Waits until another node may have changed something, but no longer than `patience`.
    pub(crate) fn wait_for_change(&self, patience: Duration) -> Result<()> {
        match self {
            // Nobody else writes the file.
            Self::Sqlite(_) => {
                std::thread::sleep(patience);
                Ok(())
            }
            Self::Postgres(postgres) => postgres.wait_for_change(patience),
        }
    }

    /// The collation that compares texts by their bytes.
    fn byte_order(&self) -> &'static str {
        match self {
            Self::Sqlite(_) => "BINARY",
            Self::Postgres(_) => "\"C\"",
        }
    }

    /// Whether other processes may write as well.
    pub(crate) fn is_shared(&self) -> bool {
        matches!(self, Self::Postgres(_))
    }
}
