//! Values and rows, the same for every engine.

use super::{DatabaseError, Result};

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

/// A row of an answer. Columns are counted from zero.
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

    /// A column that holds text or nothing.
    pub(crate) fn optional_text(&self, column: usize) -> Result<Option<&str>> {
        match self.0.get(column) {
            Some(Value::Null) => Ok(None),
            _ => self.text(column).map(Some),
        }
    }

    /// Takes the bytes of a column.
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
    DatabaseError::Failed(format!(
        "column {column} holds {found} instead of {expected}"
    ))
}
