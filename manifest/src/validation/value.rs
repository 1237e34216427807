//! Names and values of a validation, each of which is checked when it is made.

use std::fmt;

use crate::diagnostic::Escaped;

/// The longest name or value in bytes.
const MAX_BYTES: usize = 4096;

/// The error for a string that is not a name or value of a validation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[error("`{}` is not {what}: {reason}", Escaped::shortened(.text))]
pub struct ValidationValueError {
    /// The text as written.
    pub text: String,
    /// A description of what it should be.
    pub what: &'static str,
    /// The rule that it breaks.
    pub reason: &'static str,
}

/// Declares a checked text. `$problem` returns the rule that a string breaks.
macro_rules! checked_texts {
    ($($(#[doc = $documentation:literal])+ $name:ident = $what:literal, $problem:expr;)+) => {$(
        $(#[doc = $documentation])+
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// Reads it from text.
            pub fn parse(text: &str) -> Result<Self, ValidationValueError> {
                let problem: fn(&str) -> Option<&'static str> = $problem;
                let reason = match text {
                    "" => Some("it is empty"),
                    _ if text.len() > MAX_BYTES => Some("it is longer than 4096 bytes"),
                    _ => problem(text),
                };
                match reason {
                    None => Ok(Self(text.to_owned())),
                    Some(reason) => Err(ValidationValueError {
                        text: text.to_owned(),
                        what: $what,
                        reason,
                    }),
                }
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }
    )+};
}

checked_texts! {
    /// The name of an argument.
    ArgumentName = "the name of an argument", |text| {
        name_problem(text, "-_", "it can have ASCII letters, digits, `_` and `-`")
    };
    /// The name of a variable of a process.
    VariableName = "the name of a variable", |text| {
        name_problem(text, "_", "it can have ASCII letters, digits and `_`")
    };
    /// The name of an operating system or of a family of them, such as `debian`, in lower case.
    OsName = "the name of an operating system", |text| {
        let is_allowed = |byte: u8| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"._-".contains(&byte)
        };
        (!text.bytes().all(is_allowed))
            .then_some("it can have small ASCII letters, digits, `.`, `_` and `-`")
    };
    /// The name of a package of an operating system. It is no option of a package manager.
    SystemPackageName = "the name of a system package", |text| {
        if !text.starts_with(|first: char| first.is_ascii_alphanumeric()) {
            return Some("it begins with neither a letter nor a digit");
        }
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"+-._:".contains(&byte);
        (!text.bytes().all(is_allowed))
            .then_some("it can have ASCII letters, digits, `+`, `-`, `.`, `_` and `:`")
    };
    /// The version of a package of an operating system, as the package manager writes it.
    SystemPackageVersion = "the version of a system package", |text| {
        if !text.starts_with(|first: char| first.is_ascii_alphanumeric()) {
            return Some("it begins with neither a letter nor a digit");
        }
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.~:_^".contains(&byte);
        (!text.bytes().all(is_allowed))
            .then_some("it can have ASCII letters, digits, `+`, `-`, `.`, `~`, `:`, `_` and `^`")
    };
}

fn name_problem(text: &str, others: &str, reason: &'static str) -> Option<&'static str> {
    if !text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') {
        return Some("it begins with neither a letter nor `_`");
    }
    let is_allowed =
        |character: char| character.is_ascii_alphanumeric() || others.contains(character);
    (!text.chars().all(is_allowed)).then_some(reason)
}

impl ArgumentName {
    /// The variable with the argument's name, in which `-` becomes `_`.
    pub fn as_variable(&self) -> VariableName {
        VariableName(self.0.replace('-', "_"))
    }
}

/// The value of an argument: text that can be a variable of a process.
#[derive(Debug, Clone)]
pub struct ArgumentValue {
    text: String,
    is_plain_text: bool,
}

impl ArgumentValue {
    /// Reads a value from text.
    pub fn parse(text: &str) -> Result<Self, ValidationValueError> {
        let reason = if text.len() > MAX_BYTES {
            "it is longer than 4096 bytes"
        } else if text.contains('\0') {
            "it has a character with the number zero"
        } else {
            return Ok(Self {
                text: text.to_owned(),
                is_plain_text: true,
            });
        };
        Err(ValidationValueError {
            text: text.to_owned(),
            what: "the value of an argument",
            reason,
        })
    }

    /// Returns the same value, written so that YAML readers take it for a number or the like.
    #[must_use]
    pub(crate) fn mistakable(self) -> Self {
        Self {
            is_plain_text: false,
            ..self
        }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether every YAML reader reads it as the same text.
    pub fn is_plain_text(&self) -> bool {
        self.is_plain_text
    }
}

/// Values are equal if their texts are.
impl PartialEq for ArgumentValue {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for ArgumentValue {}

impl std::hash::Hash for ArgumentValue {
    fn hash<State: std::hash::Hasher>(&self, state: &mut State) {
        self.text.hash(state);
    }
}

impl fmt::Display for ArgumentValue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_be_options_or_code() {
        for bad in [
            "",
            "-y",
            "--force-yes",
            "a b",
            "a;b",
            "$(id)",
            "a\nb",
            "a/b",
            "\u{e9}",
        ] {
            assert!(SystemPackageName::parse(bad).is_err(), "{bad:?}");
            assert!(VariableName::parse(bad).is_err(), "{bad:?}");
            assert!(ArgumentName::parse(bad).is_err(), "{bad:?}");
        }
        for good in [
            "g++",
            "libc6:i386",
            "java-1.8.0-openjdk-devel",
            "libXt",
            "0ad",
        ] {
            assert!(SystemPackageName::parse(good).is_ok(), "{good:?}");
        }
        for good in ["1:2.3-4+deb12u1~bpo1", "4.2.8p15"] {
            assert!(SystemPackageVersion::parse(good).is_ok(), "{good:?}");
        }
        assert!(SystemPackageVersion::parse("=1").is_err());
        assert!(OsName::parse("Debian").is_err());
        let name = ArgumentName::parse("java-distro").expect("it is a name");
        assert_eq!(name.as_variable().as_str(), "java_distro");
    }

    #[test]
    fn values_can_be_variables() {
        assert!(ArgumentValue::parse("ab; touch /tmp/x").is_ok());
        assert!(ArgumentValue::parse("").is_ok());
        assert!(ArgumentValue::parse("a\0b").is_err());
    }
}
