//! Migrations: the steps that update the schema of an existing database.

use super::engine::Database;
use super::error::{DatabaseError, Result};

/// The steps from an empty database to the newest schema. After a release, steps are added and never changed.
const STEPS: &[&str] = &[include_str!("../../migrations/0001_initial.sql")];

/// Runs the steps that a database has not had yet, each in a transaction of its own.
pub(super) fn run(database: &Database) -> Result<()> {
    run_steps(database, STEPS)
}

fn run_steps(database: &Database, steps: &[&str]) -> Result<()> {
    let mut next = 1;
    loop {
        let is_done = database.write(|transaction| {
            // Two nodes that start together wait for each other in `write`.
            transaction
                .script("CREATE TABLE IF NOT EXISTS migrations (step BIGINT PRIMARY KEY)")?;
            let row =
                transaction.query_one("SELECT COALESCE(MAX(step), 0) FROM migrations", &[])?;
            let found = row.map_or(Ok(0), |row| row.integer(0))?;
            let known = i64::try_from(steps.len()).expect("there are few steps");
            if found > known {
                return Err(DatabaseError::Newer { found, known });
            }
            next = next.max(found + 1);
            let at = usize::try_from(next - 1).expect("steps are counted from one");
            let Some(step) = steps.get(at) else {
                return Ok(true);
            };
            transaction.script(&step.replace("{bytes}", database.byte_order()))?;
            transaction.execute("INSERT INTO migrations (step) VALUES ($1)", &[next.into()])?;
            Ok::<_, DatabaseError>(false)
        })?;
        if is_done {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::postgres::Postgres;
    use super::super::sqlite::Sqlite;
    use super::*;

    const TABLE: &str = "CREATE TABLE things (name TEXT COLLATE {bytes} PRIMARY KEY)";
    const ROW: &str = "INSERT INTO things (name) VALUES ('first')";
    const COLUMN: &str = "ALTER TABLE things ADD COLUMN size BIGINT NOT NULL DEFAULT 7";
    const WRONG: &str = "INSERT INTO things (name) VALUES ('lost'); SELECT nothing FROM nowhere";

    /// The number of the last step, and a text of every row.
    fn state(database: &Database) -> Result<(i64, Vec<String>)> {
        database.read(|transaction| {
            let step = transaction.query_one("SELECT MAX(step) FROM migrations", &[])?;
            let rows = transaction.query("SELECT name FROM things ORDER BY name", &[])?;
            let names = rows.iter().map(|row| row.text(0).map(str::to_owned));
            let step = step.expect("a row").integer(0)?;
            Ok((step, names.collect::<Result<_>>()?))
        })
    }

    /// `open` opens the same database each time.
    fn steps_run_once(open: &(impl Fn() -> Database + Sync)) {
        let first = || (1, Vec::new());
        run_steps(&open(), &[TABLE]).expect("the first step");
        assert_eq!(state(&open()).expect("a state"), first());
        // A step that fails leaves nothing behind.
        let failed = run_steps(&open(), &[TABLE, WRONG]).expect_err("no such table");
        assert!(matches!(failed, DatabaseError::Failed(_)), "{failed}");
        assert_eq!(state(&open()).expect("a state"), first());
        // Each of the processes that start together sees all steps done, and each step runs once.
        let steps = [TABLE, ROW, COLUMN];
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| run_steps(&open(), &steps).expect("all steps"));
            }
        });
        let all = (3, vec!["first".to_owned()]);
        assert_eq!(state(&open()).expect("a state"), all);
        run_steps(&open(), &steps).expect("nothing is left to do");
        assert_eq!(state(&open()).expect("a state"), all);
        let size = open().read(|transaction| {
            let row = transaction.query_one("SELECT size FROM things", &[])?;
            row.expect("a row").integer(0)
        });
        assert_eq!(size.expect("a size"), 7);
        // An older program does not touch what a newer one wrote.
        let newer = run_steps(&open(), &[TABLE]).expect_err("the data are newer");
        let is_newer = matches!(newer, DatabaseError::Newer { found: 3, known: 1 });
        assert!(is_newer, "{newer}");
    }

    #[test]
    fn steps_of_sqlite_run_once() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("data.sqlite");
        steps_run_once(&|| Database::Sqlite(Sqlite::open(&path).expect("a database")));
    }

    #[test]
    fn steps_of_postgres_run_once() {
        let Some(server) = pkgres_tests::services::postgres() else {
            return;
        };
        let address = server.database();
        steps_run_once(&|| {
            let database = Postgres::open(&address).expect("a connection");
            Database::Postgres(Box::new(database))
        });
    }
}
