//! The values that resources send to each other, and their types.

use std::collections::BTreeMap;
use std::fmt;

use pkgres_manifest::diagnostic::Escaped;

/// Values that a resource sends to others after it was checked, by name.
pub type Values = BTreeMap<String, SentValue>;

/// A value that a resource sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SentValue {
    /// A text.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// A truth value.
    Boolean(bool),
    /// A list of texts.
    List(Vec<String>),
}

/// The type of a value that a resource sends, or of a property that receives one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueType {
    /// A text.
    Text,
    /// A whole number.
    Integer,
    /// `true` or `false`.
    Boolean,
    /// A list of texts.
    List,
}

impl ValueType {
    /// The name of the type in resources files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Integer => "integer",
            Self::Boolean => "boolean",
            Self::List => "list",
        }
    }

    /// The type of a name.
    pub fn parse(name: &str) -> Option<Self> {
        let all = [Self::Text, Self::Integer, Self::Boolean, Self::List];
        all.into_iter().find(|value_type| value_type.name() == name)
    }

    /// Whether a property of this type can receive a value of another type. A text property also receives numbers and
    /// truth values, as texts.
    pub fn accepts(self, sent: Self) -> bool {
        self == sent || (self == Self::Text && sent != Self::List)
    }

    /// The value of this type that a text says: a list has an item for each line. Blanks around it do not count.
    ///
    /// ```
    /// use pkgres_engine::{SentValue, ValueType};
    ///
    /// assert_eq!(ValueType::Integer.read(" 42"), Ok(SentValue::Integer(42)));
    /// assert_eq!(
    ///     ValueType::Boolean.read("yes"),
    ///     Err("`yes` is no boolean: `true` or `false` is expected".to_owned())
    /// );
    /// ```
    pub fn read(self, text: &str) -> Result<SentValue, String> {
        let trimmed = text.trim();
        let wrong = |what: &str| format!("`{}` is no {what}", Escaped::shortened(trimmed));
        match self {
            Self::Text => Ok(SentValue::Text(text.to_owned())),
            Self::Integer => trimmed
                .parse()
                .map(SentValue::Integer)
                .map_err(|_| wrong("integer")),
            Self::Boolean => trimmed
                .parse()
                .map(SentValue::Boolean)
                .map_err(|_| wrong("boolean: `true` or `false` is expected")),
            Self::List => {
                let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
                Ok(SentValue::List(lines.map(str::to_owned).collect()))
            }
        }
    }
}

impl fmt::Display for ValueType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// The value as a text: a list has a line for each item.
impl fmt::Display for SentValue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => formatter.write_str(text),
            Self::Integer(number) => write!(formatter, "{number}"),
            Self::Boolean(value) => write!(formatter, "{value}"),
            Self::List(items) => formatter.write_str(&items.join("\n")),
        }
    }
}

impl From<&str> for SentValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for SentValue {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}
