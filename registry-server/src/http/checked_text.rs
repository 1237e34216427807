//! Checks texts of requests that are shown to people, as manifests are checked: they must not contain characters that
//! act on a terminal or reorder what a reader sees.

use pkgres_manifest::diagnostic::{Escaped, hazardous_character, hazardous_character_in_lines};

use crate::problem::{Problem, ProblemCode};

/// An error if a text of one line has a character that could change how the text around it is shown. `what` is the
/// text in the message.
pub(super) fn check_line(what: &str, text: &str) -> Result<(), Problem> {
    hazardous_character(text).map_or(Ok(()), |character| Err(contains(what, character)))
}

/// The same as [`check_line`] for a text that may have several lines.
pub(super) fn check_lines(what: &str, text: &str) -> Result<(), Problem> {
    hazardous_character_in_lines(text).map_or(Ok(()), |character| Err(contains(what, character)))
}

fn contains(what: &str, character: char) -> Problem {
    let character = Escaped::from_char(character);
    let detail = format!("{what} contains the character `{character}`");
    Problem::new(ProblemCode::BodyInvalid, detail)
}
