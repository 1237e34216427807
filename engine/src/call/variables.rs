//! Turns the arguments of a call into variables of the script, and checks their names and, as far as contracts allow,
//! their values.

use pkgres_manifest::{Contract, Rule};
use serde_json::Value;

/// Variables that shells and other interpreters read themselves: no argument may set them.
const RESERVED: [&str; 6] = ["BASH_ENV", "ENV", "HOME", "IFS", "PATH", "SHELLOPTS"];

/// The beginnings of the names of such variables.
const RESERVED_PREFIXES: [&str; 7] = ["BASH_", "LC_", "LD_", "PERL", "PKGRES_", "PYTHON", "RUBY"];

/// Whether an argument can be a variable of a script, which no interpreter reads itself.
pub(super) fn is_variable(name: &str) -> bool {
    let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name
            .chars()
            .all(|character| character.is_ascii_alphanumeric() || character == '_');
    let is_reserved = RESERVED.contains(&name)
        || RESERVED_PREFIXES
            .iter()
            .any(|prefix| name.starts_with(prefix));
    is_name && !is_reserved
}

/// What a contract requires of a value that does not meet it, as far as the text of the contract says.
pub(super) fn mismatch(contract: &Contract, value: &str) -> Option<&'static str> {
    let json = || serde_json::from_str::<Value>(value).ok();
    let rules = match contract {
        Contract::Rules(rules) => rules,
        Contract::List { .. } => {
            let is_list = json().is_some_and(|value| value.is_array());
            return (!is_list).then_some("a list in JSON, such as [\"a\", \"b\"]");
        }
        Contract::Map(_) => {
            let is_mapping = json().is_some_and(|value| value.is_object());
            return (!is_mapping).then_some("a mapping in JSON, such as {\"a\": 1}");
        }
    };
    rules.iter().find_map(|rule| match rule {
        Rule::Int if value.parse::<i64>().is_err() => Some("a whole number"),
        Rule::Bool if !matches!(value, "true" | "false") => Some("true or false"),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_interpreters_are_no_arguments() {
        for (name, expected) in [
            ("size", true),
            ("_size2", true),
            ("Path", true),
            ("PATH", false),
            ("BASH_ENV", false),
            ("LD_PRELOAD", false),
            ("PYTHONSTARTUP", false),
            ("PKGRES_CLASS", false),
            ("2size", false),
            ("a b", false),
            ("", false),
        ] {
            assert_eq!(is_variable(name), expected, "{name}");
        }
    }
}
