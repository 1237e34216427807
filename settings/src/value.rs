//! The values of settings, by type.

use std::fmt;
use std::num::{IntErrorKind, ParseIntError};

use pkgres_manifest::diagnostic::{is_hazardous, without_credentials};
use toml::Value;

use crate::declared::{Declared, Kind};

/// The value of a setting that is not a table. As JSON it is a boolean, a number, a string or a list of strings.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(untagged)]
pub enum SettingValue {
    /// On or off.
    Flag(bool),
    /// An integer.
    Number(u64),
    /// A word or a string.
    Text(String),
    /// A list of strings.
    List(Vec<String>),
}

impl SettingValue {
    /// The value of a setting that is written as text, in which commas separate the items of a list. The error says
    /// what is expected.
    ///
    /// ```
    /// use pkgres_settings::{Kind, SettingValue};
    ///
    /// assert_eq!(SettingValue::parse(Kind::Number, "7"), Ok(SettingValue::Number(7)));
    /// assert!(SettingValue::parse(Kind::Number, "seven").is_err());
    /// ```
    pub fn parse(kind: Kind, text: &str) -> Result<Self, String> {
        match kind {
            Kind::Flag => {
                let flag = text.parse();
                let flag = flag.map_err(|_| "`true` or `false` is expected".to_owned());
                flag.map(Self::Flag)
            }
            Kind::Number => {
                let number = text.parse().map_err(|error: ParseIntError| {
                    match error.kind() {
                        IntErrorKind::PosOverflow => "the number is too large",
                        _ if text.strip_prefix('-').is_some_and(is_integer) => {
                            "a number of 0 or more is expected"
                        }
                        _ => "an integer is expected",
                    }
                    .to_owned()
                });
                number.map(Self::Number)
            }
            Kind::Choice(words) if !words.contains(&text) => {
                Err(format!("`{}` is expected", words.join("`, `")))
            }
            Kind::Choice(_) | Kind::Text | Kind::Table => Ok(Self::Text(text.to_owned())),
            Kind::List if text.trim().is_empty() => Ok(Self::List(Vec::new())),
            Kind::List => {
                let items = text.split(',').map(|item| item.trim().to_owned());
                Ok(Self::List(items.collect()))
            }
        }
    }

    /// The value of a setting in an environment variable, where flags have more spellings.
    pub fn from_variable(kind: Kind, text: &str) -> Result<Self, String> {
        match (kind, text.to_ascii_lowercase().as_str()) {
            (Kind::Flag, "1" | "yes" | "on" | "true") => Ok(Self::Flag(true)),
            (Kind::Flag, "0" | "no" | "off" | "false") => Ok(Self::Flag(false)),
            _ => Self::parse(kind, text),
        }
    }

    /// The default of a setting. If that depends on more than the declaration, a list is empty, and a string describes
    /// it.
    pub fn default_of(setting: &Declared) -> Self {
        match setting.kind {
            Kind::List => Self::List(Vec::new()),
            kind => Self::parse(kind, setting.default)
                .unwrap_or_else(|_| Self::Text(setting.default.to_owned())),
        }
    }

    /// The value of a settings file; `None` for what no setting can be. Tables of registries are a list of registries, as
    /// `--registry` takes them.
    pub(crate) fn from_toml(value: &Value) -> Option<Self> {
        Some(match value {
            Value::String(text) => Self::Text(text.clone()),
            Value::Integer(number) => Self::Number(u64::try_from(*number).ok()?),
            Value::Boolean(flag) => Self::Flag(*flag),
            Value::Array(items) => {
                let texts = items.iter().map(|item| item.as_str().map(str::to_owned));
                Self::List(texts.collect::<Option<_>>()?)
            }
            Value::Table(tables) => {
                let registry = |(name, table): (&String, &Value)| {
                    let location = table.get("location")?.as_str()?;
                    Some(format!("{name}={location}"))
                };
                Self::List(tables.iter().map(registry).collect::<Option<_>>()?)
            }
            _ => return None,
        })
    }

    /// The value without the credentials of addresses in it.
    #[must_use]
    pub fn without_credentials(&self) -> Self {
        let shown = |text: &String| without_credentials(text).into_owned();
        match self {
            Self::Text(text) => Self::Text(shown(text)),
            Self::List(items) => Self::List(items.iter().map(shown).collect()),
            Self::Flag(_) | Self::Number(_) => self.clone(),
        }
    }

    /// The value as a settings file has it, in one line and without characters that a terminal would hide or follow.
    ///
    /// ```
    /// use pkgres_settings::SettingValue;
    ///
    /// let registries = SettingValue::List(vec!["dir:a,b".to_owned(), "dir:\u{200b}".to_owned()]);
    /// assert_eq!(registries.to_toml(), r#"["dir:a,b", "dir:\u200B"]"#);
    /// ```
    pub fn to_toml(&self) -> String {
        match self {
            Self::Flag(flag) => flag.to_string(),
            Self::Number(number) => number.to_string(),
            Self::Text(text) => toml_string(text),
            Self::List(items) => {
                let items: Vec<String> = items.iter().map(|item| toml_string(item)).collect();
                format!("[{}]", items.join(", "))
            }
        }
    }
}

impl fmt::Display for SettingValue {
    /// Writes the value as programs read it: texts as they are, and each item of a list on its own line.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(flag) => flag.fmt(formatter),
            Self::Number(number) => number.fmt(formatter),
            Self::Text(text) => formatter.write_str(text),
            Self::List(items) => formatter.write_str(&items.join("\n")),
        }
    }
}

/// Whether a string is digits.
fn is_integer(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A basic string of TOML.
fn toml_string(text: &str) -> String {
    let mut string = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => string.extend(['\\', character]),
            '\n' => string.push_str("\\n"),
            '\t' => string.push_str("\\t"),
            _ if is_hazardous(character) => {
                let number = u32::from(character);
                string.push_str(&match number {
                    0..=0xffff => format!("\\u{number:04X}"),
                    _ => format!("\\U{number:08X}"),
                });
            }
            _ => string.push(character),
        }
    }
    string.push('"');
    string
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_as_toml_is_read_as_the_same_value() {
        let texts = [
            "",
            "dir:a,b",
            "a \"quoted\" \\ path",
            "two\nlines\tand a tab\r",
            "\u{200b}\u{e0001}\u{7f}\u{1b}[2J \u{fc}",
        ];
        let mut values = vec![
            SettingValue::Flag(true),
            SettingValue::Number(7),
            SettingValue::List(Vec::new()),
            SettingValue::List(texts.map(str::to_owned).to_vec()),
        ];
        values.extend(texts.map(|text| SettingValue::Text(text.to_owned())));
        for value in values {
            let line = value.to_toml();
            assert!(!line.contains(is_hazardous), "{line:?}");
            let table: toml::Table = toml::from_str(&format!("key = {line}")).expect(&line);
            assert_eq!(SettingValue::from_toml(&table["key"]), Some(value));
        }
    }

    #[test]
    fn variables_have_values_of_the_type_of_their_setting() {
        let check = |kind, text, expected| {
            assert_eq!(
                SettingValue::from_variable(kind, text),
                expected,
                "{text:?}"
            );
        };
        let list = |items: &[&str]| {
            let items = items.iter().map(|item| (*item).to_owned());
            Ok(SettingValue::List(items.collect()))
        };
        check(Kind::List, "dir:a, dir:b", list(&["dir:a", "dir:b"]));
        check(Kind::List, "", list(&[]));
        check(Kind::Flag, "On", Ok(SettingValue::Flag(true)));
        check(Kind::Flag, "0", Ok(SettingValue::Flag(false)));
        assert!(SettingValue::parse(Kind::Flag, "0").is_err());
        let expected = "`true` or `false` is expected";
        check(Kind::Flag, "maybe", Err(expected.to_owned()));
        for (text, expected) in [
            ("seven", "an integer is expected"),
            ("", "an integer is expected"),
            ("-1", "a number of 0 or more is expected"),
            ("99999999999999999999", "the number is too large"),
        ] {
            check(Kind::Number, text, Err(expected.to_owned()));
        }
        let words = Kind::Choice(&["newest", "oldest"]);
        let expected = "`newest`, `oldest` is expected";
        check(words, "old", Err(expected.to_owned()));
    }
}
