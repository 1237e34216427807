//! PostgreSQL: a pool of connections, and one that listens for changes.
//!
//! A transaction that writes takes an advisory lock first, and notifies the listeners of all nodes
//! when it commits.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use postgres::error::{DbError, Severity, SqlState};
use postgres::fallible_iterator::FallibleIterator as _;
use postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};
use postgres::{Client, Config, IsolationLevel, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::error::{BoxError, DatabaseError, PostgresError, Result};
use super::tls;
use super::transaction::{Row, Transaction, Value, check};

/// The limit of idle connections in the pool.
const IDLE_CONNECTIONS: usize = 16;

/// After how much silence the driver probes whether the server is still there.
const KEEPALIVE: Duration = Duration::from_secs(30);

/// The lock that writers of all nodes wait for, even in an empty database without a row to lock.
const WRITER_LOCK: &str = "SELECT pg_advisory_xact_lock(7065736572)";

/// A server of PostgreSQL.
pub(crate) struct Postgres {
    config: Config,
    tls: MakeRustlsConnect,
    idle: Mutex<Vec<PooledConnection>>,
    listener: Mutex<Option<Client>>,
}

/// A connection with its prepared statements.
struct PooledConnection {
    client: Client,
    statements: HashMap<&'static str, Statement>,
}

impl Postgres {
    pub(super) fn open(address: &str) -> Result<Self> {
        let (mut config, tls) = tls::parse_address(address)?;
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(Duration::from_secs(10));
        }
        // A server that disappears is noticed; the address can set when.
        if config.get_keepalives_idle() == Config::new().get_keepalives_idle() {
            config.keepalives_idle(KEEPALIVE);
            config.keepalives_interval(KEEPALIVE / 3);
            config.keepalives_retries(3);
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(2 * KEEPALIVE);
        }
        config.application_name("pkgres");
        let pool = Self {
            config,
            tls,
            idle: Mutex::new(Vec::new()),
            listener: Mutex::new(None),
        };
        let connection = pool.connect()?;
        pool.give_back(connection);
        Ok(pool)
    }

    fn connect(&self) -> Result<PooledConnection> {
        let client = self.config.connect(self.tls.clone()).map_err(|error| {
            tls::failure(&error)
                .unwrap_or_else(|| DatabaseError::Unreachable(PostgresError(error).into()))
        })?;
        Ok(PooledConnection {
            client,
            statements: HashMap::new(),
        })
    }

    /// An idle connection, or `None` if there is none.
    fn take_idle(&self) -> Option<PooledConnection> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.pop()
    }

    fn give_back(&self, pooled: PooledConnection) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < IDLE_CONNECTIONS && !pooled.client.is_closed() {
            idle.push(pooled);
        }
    }

    pub(super) fn read<T, E: From<DatabaseError>>(
        &self,
        work: impl FnOnce(&mut dyn Transaction) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        self.run(true, work)
    }

    pub(super) fn write<T, E: From<DatabaseError>>(
        &self,
        work: impl FnOnce(&mut dyn Transaction) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        self.run(false, work)
    }

    fn run<T, E: From<DatabaseError>>(
        &self,
        read_only: bool,
        work: impl FnOnce(&mut dyn Transaction) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        // The server may have ended a connection while it was idle, at a restart for example. Nothing has happened in
        // a transaction that could not begin, so it begins on the next connection, and at last on a new one.
        while let Some(mut pooled) = self.take_idle() {
            let begun = match begin(&mut pooled, read_only) {
                Err(DatabaseError::Unreachable(_)) => continue,
                begun => begun?,
            };
            let result = transact(begun, read_only, work);
            self.give_back(pooled);
            return result;
        }
        let mut pooled = self.connect()?;
        let result = transact(begin(&mut pooled, read_only)?, read_only, work);
        self.give_back(pooled);
        result
    }

    pub(super) fn wait_for_change(&self, timeout: Duration) -> Result<()> {
        let mut listener = self.listener.lock().unwrap_or_else(PoisonError::into_inner);
        let is_lost = listener.as_ref().is_none_or(Client::is_closed);
        if is_lost {
            let mut client = self.connect()?.client;
            client
                .batch_execute("LISTEN pkgres_changes")
                .map_err(failed)?;
            // Earlier notifications are not repeated: the caller looks now.
            *listener = Some(client);
            return Ok(());
        }
        let Some(client) = listener.as_mut() else {
            return Ok(());
        };
        let waited = client.notifications().timeout_iter(timeout).next();
        if let Err(error) = waited {
            *listener = None;
            return Err(failed(error));
        }
        Ok(())
    }
}

/// Begins a transaction on a connection. One that writes waits for those of all nodes.
fn begin(pooled: &mut PooledConnection, read_only: bool) -> Result<PostgresTransaction<'_>> {
    let builder = pooled.client.build_transaction();
    // A reader sees one state. A writer that got the lock has to see what the writers before it wrote. It does not claim
    // to be able to write: a standby rejects that as an unknown feature, before any statement could say that it is one.
    let builder = if read_only {
        builder
            .read_only(true)
            .isolation_level(IsolationLevel::RepeatableRead)
    } else {
        builder.isolation_level(IsolationLevel::ReadCommitted)
    };
    let transaction = builder.start().map_err(failed)?;
    let mut open = PostgresTransaction {
        transaction,
        statements: &mut pooled.statements,
    };
    if !read_only {
        open.script(WRITER_LOCK)?;
    }
    Ok(open)
}

/// Works in a transaction, and ends it.
fn transact<T, E: From<DatabaseError>>(
    mut open: PostgresTransaction<'_>,
    read_only: bool,
    work: impl FnOnce(&mut dyn Transaction) -> std::result::Result<T, E>,
) -> std::result::Result<T, E> {
    let result = work(&mut open);
    let PostgresTransaction {
        mut transaction, ..
    } = open;
    let value = match result {
        Ok(value) => value,
        Err(error) => {
            // The first error is the one that counts. A connection that cannot roll back is gone, and
            // with it the transaction.
            if let Err(second) = transaction.rollback() {
                let error = PostgresError(second);
                tracing::warn!(%error, "a transaction could not be rolled back");
            }
            return Err(error);
        }
    };
    // PostgreSQL notifies the listeners if the transaction commits.
    let notified = if read_only {
        Ok(())
    } else {
        transaction.batch_execute("NOTIFY pkgres_changes")
    };
    notified
        .and_then(|()| transaction.commit())
        .map_err(failed)?;
    Ok(value)
}

/// A transaction on a connection of the pool.
struct PostgresTransaction<'connection> {
    transaction: postgres::Transaction<'connection>,
    statements: &'connection mut HashMap<&'static str, Statement>,
}

impl PostgresTransaction<'_> {
    fn prepare(&mut self, statement: &'static str) -> Result<Statement> {
        if let Some(known) = self.statements.get(statement) {
            return Ok(known.clone());
        }
        let prepared = self.transaction.prepare(statement).map_err(failed)?;
        self.statements.insert(statement, prepared.clone());
        Ok(prepared)
    }
}

fn parameters(values: &[Value]) -> Vec<&(dyn ToSql + Sync)> {
    values
        .iter()
        .map(|value| -> &(dyn ToSql + Sync) { value })
        .collect()
}

impl Transaction for PostgresTransaction<'_> {
    fn execute(&mut self, statement: &'static str, values: &[Value]) -> Result<u64> {
        check(values)?;
        let statement = self.prepare(statement)?;
        self.transaction
            .execute(&statement, &parameters(values))
            .map_err(failed)
    }

    fn query(&mut self, statement: &'static str, values: &[Value]) -> Result<Vec<Row>> {
        check(values)?;
        let statement = self.prepare(statement)?;
        let rows = self
            .transaction
            .query(&statement, &parameters(values))
            .map_err(failed)?;
        rows.iter()
            .map(|row| {
                (0..row.len())
                    .map(|column| row.try_get(column))
                    .collect::<std::result::Result<Vec<Value>, _>>()
                    .map(Row)
                    .map_err(failed)
            })
            .collect()
    }

    fn script(&mut self, statements: &str) -> Result<()> {
        self.transaction.batch_execute(statements).map_err(failed)
    }
}

impl ToSql for Value {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut postgres::types::private::BytesMut,
    ) -> std::result::Result<IsNull, BoxError> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Integer(value) => value.to_sql(kind, out),
            Self::Text(value) => value.to_sql(kind, out),
            Self::Bytes(value) => value.to_sql(kind, out),
        }
    }

    fn accepts(kind: &Type) -> bool {
        matches!(*kind, Type::INT8 | Type::TEXT | Type::BYTEA)
    }

    to_sql_checked!();
}

impl<'row> FromSql<'row> for Value {
    fn from_sql(kind: &Type, raw: &'row [u8]) -> std::result::Result<Self, BoxError> {
        Ok(match *kind {
            Type::INT8 => Self::Integer(i64::from_sql(kind, raw)?),
            Type::BYTEA => Self::Bytes(raw.to_vec()),
            _ => Self::Text(String::from_sql(kind, raw)?),
        })
    }

    fn from_sql_null(_: &Type) -> std::result::Result<Self, BoxError> {
        Ok(Self::Null)
    }

    fn accepts(kind: &Type) -> bool {
        matches!(*kind, Type::INT8 | Type::TEXT | Type::BYTEA)
    }
}

fn failed(error: postgres::Error) -> DatabaseError {
    let is_unwritable = [SqlState::DISK_FULL, SqlState::READ_ONLY_SQL_TRANSACTION]
        .iter()
        .any(|state| error.code() == Some(state));
    let error_of = if is_lost(&error) {
        DatabaseError::Unreachable
    } else if is_unwritable {
        DatabaseError::Unwritable
    } else {
        DatabaseError::Failed
    };
    error_of(PostgresError(error).into())
}

/// Whether an error ends the connection.
fn is_lost(error: &postgres::Error) -> bool {
    let severity = error.as_db_error().and_then(DbError::parsed_severity);
    let source = std::error::Error::source(error);
    error.is_closed()
        || matches!(severity, Some(Severity::Fatal | Severity::Panic))
        || source.is_some_and(<dyn std::error::Error>::is::<std::io::Error>)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq)]
    enum Error {
        First,
        Database,
    }

    impl From<DatabaseError> for Error {
        fn from(_: DatabaseError) -> Self {
            Self::Database
        }
    }

    #[test]
    fn the_first_error_is_reported() {
        let Some(server) = pkgres_tests::services::postgres() else {
            return;
        };
        let pool = Postgres::open(&server.database()).expect("it can be reached");
        let outcome: std::result::Result<(), Error> = pool.write(|transaction| {
            let gone = transaction.script("SELECT pg_terminate_backend(pg_backend_pid())");
            assert!(gone.is_err());
            Err(Error::First)
        });
        assert_eq!(outcome, Err(Error::First));
        // The connection is not used again.
        let outcome: std::result::Result<(), Error> =
            pool.read(|transaction| Ok(transaction.script("SELECT 1")?));
        assert_eq!(outcome, Ok(()));
    }

    #[test]
    fn a_database_that_cannot_be_written_differs_from_a_failure() {
        let Some(server) = pkgres_tests::services::postgres() else {
            return;
        };
        let address = server.database();
        let pool = Postgres::open(&address).expect("it can be reached");
        let readonly: Result<()> =
            pool.read(|transaction| transaction.script("CREATE TABLE things (name TEXT)"));
        let is_unwritable = matches!(readonly, Err(DatabaseError::Unwritable(_)));
        assert!(is_unwritable, "{readonly:?}");
        // The text of the error depends on the language of the server, and its code does not.
        let full: Result<()> = pool.write(|transaction| {
            transaction.script("DO $$ BEGIN RAISE 'kein Platz' USING ERRCODE = 'disk_full'; END $$")
        });
        assert!(
            matches!(full, Err(DatabaseError::Unwritable(_))),
            "{full:?}"
        );
        // As on a standby, or if the operator of the server has made the database read-only.
        let protect: Result<()> = pool.write(|transaction| {
            transaction.script(
                "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on',
                 current_database()); END $$",
            )
        });
        protect.expect("it can be protected");
        let protected = Postgres::open(&address).expect("it can be reached");
        let refused: Result<()> =
            protected.write(|transaction| transaction.script("CREATE TABLE things (name TEXT)"));
        assert!(
            matches!(refused, Err(DatabaseError::Unwritable(_))),
            "{refused:?}"
        );
        let wrong: Result<()> = pool.write(|transaction| transaction.script("SELECT nothing"));
        assert!(matches!(wrong, Err(DatabaseError::Failed(_))), "{wrong:?}");
    }

    #[test]
    fn connections_that_the_server_has_ended_are_replaced() {
        let Some(server) = pkgres_tests::services::postgres() else {
            return;
        };
        let pool = Postgres::open(&server.database()).expect("it can be reached");
        let end_others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE datname = current_database() AND pid <> pg_backend_pid()";
        let select = |pool: &Postgres| pool.read(|transaction| transaction.script("SELECT 1"));
        for writes in [false, true] {
            // Two connections are idle.
            let nested: Result<()> = pool.read(|_| select(&pool));
            nested.expect("both can be reached");
            let mut other = pool.connect().expect("it can be reached");
            other
                .client
                .batch_execute(end_others)
                .expect("they can be ended");
            drop(other);
            let outcome = if writes {
                pool.write(|transaction| transaction.script("SELECT 1"))
            } else {
                select(&pool)
            };
            outcome.expect("a new connection is made");
        }
        // What has begun is not repeated, and its failure passes.
        let outcome: Result<()> = pool.read(|transaction| {
            transaction.script("SELECT pg_terminate_backend(pg_backend_pid())")
        });
        assert!(
            matches!(outcome, Err(DatabaseError::Unreachable(_))),
            "{outcome:?}"
        );
    }
}
