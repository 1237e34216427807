//! What is kept in the database, table by table. Every function works inside a transaction that
//! its caller began.

pub(crate) mod bundles;
pub(crate) mod catalog;
pub(crate) mod categories;
pub(crate) mod changes;
pub(crate) mod documents;
pub(crate) mod facts;
pub(crate) mod packages;
pub(crate) mod releases;
pub(crate) mod removals;
pub(crate) mod tokens;

use pkgres_manifest::{PackageName, Version};

use crate::database::{Result, Transaction};
use crate::holder::Holder;

/// Takes the next serial. The first thing that a transaction does which changes the index: from
/// here on no other writer goes on until it ends, and if it fails the serial is not used up.
pub(crate) fn next_serial(transaction: &mut dyn Transaction) -> Result<u64> {
    let statement = "UPDATE counter SET serial = serial + 1 WHERE id = 1 RETURNING serial";
    let row = transaction.query_one(statement, &[])?;
    let serial = row.map_or(Ok(0), |row| row.integer(0))?;
    Ok(serial.unsigned_abs())
}

/// The newest serial that was committed.
pub(crate) fn current_serial(transaction: &mut dyn Transaction) -> Result<u64> {
    let row = transaction.query_one("SELECT serial FROM counter WHERE id = 1", &[])?;
    let serial = row.map_or(Ok(0), |row| row.integer(0))?;
    Ok(serial.unsigned_abs())
}

/// Runs a statement about one version of a package, which are its `$1` and `$2`.
fn of_version(
    transaction: &mut dyn Transaction,
    statement: &'static str,
    package: &PackageName,
    version: &Version,
) -> Result<()> {
    let values = [package.as_str().into(), releases::key(version).into()];
    transaction.execute(statement, &values)?;
    Ok(())
}

/// A serial as a value of the database.
pub(crate) fn serial_value(serial: u64) -> crate::database::Value {
    i64::try_from(serial).unwrap_or(i64::MAX).into()
}

/// Who did something as a value of the database: the number of the token, or nothing for the
/// operator.
pub(crate) fn holder_value(holder: &Holder) -> crate::database::Value {
    holder.token().unwrap_or_default().into()
}

/// Who did something, from what [`holder_value`] makes of it.
pub(crate) fn holder_of(text: &str) -> Holder {
    match text {
        "" => Holder::Operator,
        id => Holder::Token(id.to_owned()),
    }
}
