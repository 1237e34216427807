//! Transactions on SQLite or PostgreSQL, with one SQL for both.
//!
//! A registry of one node uses a file of SQLite, several nodes share a server of PostgreSQL. A
//! transaction that reads sees one state of the database, and never waits. Transactions that write
//! wait for each other, on all nodes: each sees all that those before it wrote.
//!
//! Everything here blocks; callers that serve requests run it on threads that may.

mod engine;
mod error;
mod migrations;
mod postgres;
mod sqlite;
mod tls;
mod transaction;

use std::path::Path;

pub(crate) use engine::Database;
pub use error::DatabaseError;
pub(crate) use error::{BoxError, Result};
pub(crate) use transaction::{Row, Transaction, Value};

/// Opens a file, or creates it, and brings its schema up to date.
pub(crate) fn open_sqlite(path: &Path) -> Result<Database> {
    up_to_date(Database::Sqlite(sqlite::Sqlite::open(path)?))
}

/// Connects to a server and brings its schema up to date.
pub(crate) fn open_postgres(address: &str) -> Result<Database> {
    let server = postgres::Postgres::open(address)?;
    up_to_date(Database::Postgres(Box::new(server)))
}

/// Whether the database of a server has the tables of a registry.
pub(crate) fn is_postgres_in_use(address: &str) -> Result<bool> {
    let server = postgres::Postgres::open(address)?;
    let database = Database::Postgres(Box::new(server));
    database.read(|transaction| {
        let row = transaction.query_one(
            "SELECT CAST(1 AS BIGINT) FROM information_schema.tables
             WHERE table_schema = current_schema() AND table_name = 'migrations'",
            &[],
        )?;
        Ok(row.is_some())
    })
}

fn up_to_date(database: Database) -> Result<Database> {
    migrations::run(&database)?;
    Ok(database)
}
