//! The database of a registry: SQLite or PostgreSQL behind one type.

use std::time::Duration;

use super::error::{DatabaseError, Result};
use super::postgres::Postgres;
use super::sqlite::Sqlite;
use super::transaction::Transaction;

/// The database of a registry.
pub(crate) enum Database {
    /// A file, which this process alone uses.
    Sqlite(Sqlite),
    /// A server, which several nodes share.
    Postgres(Box<Postgres>),
}

impl Database {
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

    /// Changes the database: everything is written, or nothing if `work` fails. Writers of all nodes
    /// wait for each other.
    pub(crate) fn write<T, E: From<DatabaseError>>(
        &self,
        work: impl FnOnce(&mut dyn Transaction) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        match self {
            Self::Sqlite(sqlite) => sqlite.write(work),
            Self::Postgres(postgres) => postgres.write(work),
        }
    }

    /// Waits until another node may have changed something, but no longer than `timeout`.
    pub(crate) fn wait_for_change(&self, timeout: Duration) -> Result<()> {
        match self {
            // No other process writes the file.
            Self::Sqlite(_) => {
                std::thread::sleep(timeout);
                Ok(())
            }
            Self::Postgres(postgres) => postgres.wait_for_change(timeout),
        }
    }

    /// The collation that compares texts by their bytes.
    pub(super) fn byte_order(&self) -> &'static str {
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
