//! SQLite: one connection that writes, and a pool of connections that read.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rusqlite::functions::FunctionFlags;
use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags, params_from_iter};

use super::error::{DatabaseError, Result};
use super::transaction::{Row, Transaction, Value, check};

/// The limit of idle connections in the pool.
const IDLE_READERS: usize = 8;

/// How many prepared statements a connection keeps.
const STATEMENTS: usize = 64;

/// A file of SQLite.
pub(crate) struct Sqlite {
    path: PathBuf,
    writer: Mutex<Connection>,
    readers: Mutex<Vec<Connection>>,
}

impl Sqlite {
    pub(super) fn open(path: &Path) -> Result<Self> {
        let writer = connect(
            path,
            OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
        )?;
        // In WAL mode readers and the writer do not wait for each other. FULL: what was committed is
        // on the disk, even if the machine loses power.
        writer
            .execute_batch(
                "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;",
            )
            .map_err(failed)?;
        Ok(Self {
            path: path.to_owned(),
            writer: Mutex::new(writer),
            readers: Mutex::new(Vec::new()),
        })
    }

    pub(super) fn read<T, E: From<DatabaseError>>(
        &self,
        work: impl FnOnce(&mut dyn Transaction) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        let idle = self
            .readers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop();
        let mut connection = match idle {
            Some(connection) => connection,
            None => connect(&self.path, OpenFlags::SQLITE_OPEN_READ_ONLY)?,
        };
        let result = run(&mut connection, "BEGIN", work)?;
        let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        if readers.len() < IDLE_READERS {
            readers.push(connection);
        }
        result
    }

    pub(super) fn write<T, E: From<DatabaseError>>(
        &self,
        work: impl FnOnce(&mut dyn Transaction) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        // The transaction of a writer that panicked was rolled back when it was dropped.
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        run(&mut writer, "BEGIN IMMEDIATE", work)?
    }
}

fn connect(path: &Path, access: OpenFlags) -> Result<Connection> {
    let connection = Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)
        .map_err(|error| DatabaseError::Unreachable(error.into()))?;
    connection
        .busy_timeout(Duration::from_secs(10))
        .map_err(failed)?;
    lower_all_letters(&connection).map_err(failed)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(connection)
}

/// Replaces the function `LOWER` of SQLite, which knows the letters of ASCII only.
fn lower_all_letters(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_scalar_function("lower", 1, flags, |context| {
        let text: Option<String> = context.get(0)?;
        Ok(text.map(|text| text.to_lowercase()))
    })
}

/// Runs a transaction. The outer error is one of its begin or commit.
fn run<T, E: From<DatabaseError>>(
    connection: &mut Connection,
    begin: &str,
    work: impl FnOnce(&mut dyn Transaction) -> std::result::Result<T, E>,
) -> Result<std::result::Result<T, E>> {
    connection.execute_batch(begin).map_err(failed)?;
    let mut open = SqliteTransaction {
        connection,
        is_open: true,
    };
    let result = work(&mut open);
    if result.is_ok() {
        open.connection.execute_batch("COMMIT").map_err(failed)?;
        open.is_open = false;
    }
    drop(open);
    Ok(result)
}

/// A transaction, which is rolled back when it is dropped unless it was committed.
struct SqliteTransaction<'connection> {
    connection: &'connection mut Connection,
    is_open: bool,
}

impl Drop for SqliteTransaction<'_> {
    fn drop(&mut self) {
        if self.is_open {
            // If that fails, the next statement reports that there is still a transaction.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
    }
}

impl Transaction for SqliteTransaction<'_> {
    fn execute(&mut self, statement: &'static str, values: &[Value]) -> Result<u64> {
        check(values)?;
        let mut statement = self
            .connection
            .prepare_cached(&numbered(statement))
            .map_err(failed)?;
        let changed = statement
            .execute(params_from_iter(values))
            .map_err(failed)?;
        Ok(changed as u64)
    }

    fn query(&mut self, statement: &'static str, values: &[Value]) -> Result<Vec<Row>> {
        check(values)?;
        let mut statement = self
            .connection
            .prepare_cached(&numbered(statement))
            .map_err(failed)?;
        let columns = statement.column_count();
        let mut rows = statement.query(params_from_iter(values)).map_err(failed)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next().map_err(failed)? {
            let mut values = Vec::with_capacity(columns);
            for column in 0..columns {
                values.push(match row.get_ref(column).map_err(failed)? {
                    ValueRef::Null => Value::Null,
                    ValueRef::Integer(value) => Value::Integer(value),
                    ValueRef::Text(value) => {
                        Value::Text(String::from_utf8_lossy(value).into_owned())
                    }
                    ValueRef::Blob(value) => Value::Bytes(value.to_vec()),
                    ValueRef::Real(_) => {
                        return Err(DatabaseError::failed("a column holds a fraction"));
                    }
                });
            }
            found.push(Row(values));
        }
        Ok(found)
    }

    fn script(&mut self, statements: &str) -> Result<()> {
        self.connection.execute_batch(statements).map_err(failed)
    }
}

/// The statement with its parameters numbered: for SQLite `$1` would be a name.
fn numbered(statement: &str) -> String {
    statement.replace('$', "?")
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Integer(value) => ValueRef::Integer(*value),
            Self::Text(value) => ValueRef::Text(value.as_bytes()),
            Self::Bytes(value) => ValueRef::Blob(value),
        }))
    }
}

fn failed(error: rusqlite::Error) -> DatabaseError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull | ErrorCode::ReadOnly) => DatabaseError::Unwritable(error.into()),
        _ => DatabaseError::failed(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_that_cannot_be_written_differs_from_a_failure() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let database = Sqlite::open(&folder.path().join("data.sqlite")).expect("a database");
        let write = |statements: &str| -> Result<()> {
            database.write(|transaction| transaction.script(statements))
        };
        write("CREATE TABLE things (bytes BYTEA); PRAGMA max_page_count = 3").expect("a table");
        let full = write("INSERT INTO things (bytes) VALUES (ZEROBLOB(100000))");
        assert!(
            matches!(full, Err(DatabaseError::Unwritable(_))),
            "{full:?}"
        );
        let readonly: Result<()> = database
            .read(|transaction| transaction.script("INSERT INTO things (bytes) VALUES ('a')"));
        let is_unwritable = matches!(readonly, Err(DatabaseError::Unwritable(_)));
        assert!(is_unwritable, "{readonly:?}");
        let wrong = write("INSERT INTO nothing (bytes) VALUES ('a')");
        assert!(matches!(wrong, Err(DatabaseError::Failed(_))), "{wrong:?}");
    }
}
