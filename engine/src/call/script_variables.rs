//! Which names variables of a script may have.

use pkgres_manifest::is_identifier;

/// Variables that shells and other interpreters read themselves: no argument may set them.
const RESERVED: [&str; 6] = ["BASH_ENV", "ENV", "HOME", "IFS", "PATH", "SHELLOPTS"];

/// The beginnings of the names of such variables.
const RESERVED_PREFIXES: [&str; 7] = ["BASH_", "LC_", "LD_", "PERL", "PKGRES_", "PYTHON", "RUBY"];

/// Whether an argument can be a variable of a script, which no interpreter reads itself.
pub(super) fn is_variable(name: &str) -> bool {
    let is_reserved = RESERVED.contains(&name)
        || RESERVED_PREFIXES
            .iter()
            .any(|prefix| name.starts_with(prefix));
    is_identifier(name) && !is_reserved
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
