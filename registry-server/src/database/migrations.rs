//! Migrations: the steps that update the schema of an existing database.

use super::engine::Database;
use super::error::{DatabaseError, Result};

/// The steps from an empty database to the newest schema. Steps are added, and never changed.
const STEPS: &[&str] = &[
    include_str!("../../migrations/0001_initial.sql"),
    include_str!("../../migrations/0002_catalog.sql"),
    include_str!("../../migrations/0003_removals.sql"),
    include_str!("../../migrations/0004_search.sql"),
    include_str!("../../migrations/0005_collections.sql"),
    include_str!("../../migrations/0006_interfaces.sql"),
    include_str!("../../migrations/0007_contents.sql"),
];

/// Runs the steps that a database has not had yet, each in a transaction of its own.
pub(super) fn run(database: &Database) -> Result<()> {
    let mut next = 1;
    loop {
        let is_done = database.write(|transaction| {
            // Two nodes that start together wait for each other in `write`.
            transaction
                .script("CREATE TABLE IF NOT EXISTS migrations (step BIGINT PRIMARY KEY)")?;
            let row =
                transaction.query_one("SELECT COALESCE(MAX(step), 0) FROM migrations", &[])?;
            let found = row.map_or(Ok(0), |row| row.integer(0))?;
            let known = i64::try_from(STEPS.len()).expect("there are few steps");
            if found > known {
                return Err(DatabaseError::Newer { found, known });
            }
            next = next.max(found + 1);
            let at = usize::try_from(next - 1).expect("steps are counted from one");
            let Some(step) = STEPS.get(at) else {
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
