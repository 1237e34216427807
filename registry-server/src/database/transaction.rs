//! Transactions, statements, values and rows, the same for SQLite and PostgreSQL.
//!
//! Statements are written with `$1`, `$2` … in the SQL that both engines understand alike.

use super::error::{DatabaseError, Result};

/// A transaction, in which statements run.
pub(crate) trait Transaction {
    /// Runs a statement that returns no rows. Returns how many rows it changed.
    fn execute(&mut self, statement: &'static str, values: &[Value]) -> Result<u64>;

    /// Runs a statement. Returns all its rows.
    fn query(&mut self, statement: &'static str, values: &[Value]) -> Result<Vec<Row>>;

    /// Runs several statements without values.
    fn script(&mut self, statements: &str) -> Result<()>;

    /// Runs a statement that returns at most one row.
    fn query_one(&mut self, statement: &'static str, values: &[Value]) -> Result<Option<Row>> {
        Ok(self.query(statement, values)?.into_iter().next())
    }
}

/// Rejects values that not every engine can store, so that all engines behave alike.
pub(super) fn check(values: &[Value]) -> Result<()> {
    let has_nul = |value: &Value| matches!(value, Value::Text(text) if text.contains('\0'));
    if values.iter().any(has_nul) {
        return Err(DatabaseError::Nul);
    }
    Ok(())
}

/// A value of a column or of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Null,
    Integer(i64),
    Text(String),
    Bytes(Vec<u8>),
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Integer(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl From<Vec<u8>> for Value {
    fn from(value: Vec<u8>) -> Self {
        Self::Bytes(value)
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// A row of a result. Columns are counted from zero.
#[derive(Debug)]
pub(crate) struct Row(pub(super) Vec<Value>);

impl Row {
    /// A column that holds an integer.
    pub(crate) fn integer(&self, column: usize) -> Result<i64> {
        match self.0.get(column) {
            Some(Value::Integer(value)) => Ok(*value),
            other => Err(unexpected(column, "an integer", other)),
        }
    }

    /// A column that holds text.
    pub(crate) fn text(&self, column: usize) -> Result<&str> {
        match self.0.get(column) {
            Some(Value::Text(value)) => Ok(value),
            other => Err(unexpected(column, "text", other)),
        }
    }

    /// A column that holds text or null.
    pub(crate) fn optional_text(&self, column: usize) -> Result<Option<&str>> {
        match self.0.get(column) {
            Some(Value::Null) => Ok(None),
            _ => self.text(column).map(Some),
        }
    }

    /// The bytes of a column, which are taken out of the row.
    pub(crate) fn take_bytes(&mut self, column: usize) -> Result<Vec<u8>> {
        match self.0.get_mut(column) {
            Some(Value::Bytes(value)) => Ok(std::mem::take(value)),
            other => Err(unexpected(column, "bytes", other.map(|value| &*value))),
        }
    }
}

fn unexpected(column: usize, expected: &str, found: Option<&Value>) -> DatabaseError {
    let found = match found {
        None => "nothing",
        Some(Value::Null) => "null",
        Some(Value::Integer(_)) => "an integer",
        Some(Value::Text(_)) => "text",
        Some(Value::Bytes(_)) => "bytes",
    };
    DatabaseError::failed(format!(
        "column {column} holds {found} instead of {expected}"
    ))
}
