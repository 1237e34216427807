//! What is not run, and what may fail, each with the reason.

use super::hint::{Suggestion, has_placeholder};

/// Parts of command lines, and reasons.
type Exceptions = &'static [(&'static str, &'static str)];

/// Suggestions that are not run.
const NOT_RUN: Exceptions = &[
    ("pkgres login ", "reads a token"),
    (" serve --data ", "runs until it is ended"),
];

/// Commands of documents that print other hints in a sandbox.
pub(super) const NOT_REPLAYED: Exceptions = &[(
    "pkgres -C members diff",
    "the folder of the document is in a repository",
)];

/// Suggestions that end with another failure, about which the command that printed the hint does not know.
pub(super) const ANOTHER_FAILURE: Exceptions = &[
    (
        "pkgres -C lost lock",
        "members of this workspace have no folder or no valid manifest",
    ),
    ("pkgres -C apps/one diff", "the sandbox is in no repository"),
    (
        "pkgres install worked requirements.yml",
        "another hint says to move a folder away first",
    ),
    (
        "pkgres -C members publish apps/web",
        "no registry is configured",
    ),
    (
        "pkgres owner list org.example.Base",
        "no registry on the network is configured",
    ),
    (
        "pkgres semver @newest templates",
        "no registry has another version",
    ),
];

/// Why a suggestion is not run, if it is not.
pub(super) fn why_not_run(suggestion: &Suggestion) -> Option<&'static str> {
    if has_placeholder(suggestion.text()) {
        Some("has a placeholder")
    } else if suggestion.lacks_value() {
        Some("needs a value")
    } else {
        reason(NOT_RUN, suggestion.text())
    }
}

fn reason(exceptions: Exceptions, line: &str) -> Option<&'static str> {
    let found = exceptions.iter().find(|(part, _)| line.contains(part));
    found.map(|(_, reason)| *reason)
}

/// Whether a line is an exception.
pub(super) fn has(exceptions: Exceptions, line: &str) -> bool {
    reason(exceptions, line).is_some()
}
