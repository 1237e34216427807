//! Phrases that messages have in common.

use std::fmt::Display;

/// A number with its noun: `1 package`, `2 packages`.
pub fn counted<N: Copy + Display + PartialEq + From<u8>>(count: N, noun: &str) -> String {
    let plural = if count == N::from(1) { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// Words as a list in a sentence, with a conjunction before the last one.
///
/// ```
/// use pkgres_manifest::diagnostic::sentence_list;
///
/// assert_eq!(sentence_list(["1", "2", "3"], "and"), "1, 2 and 3");
/// assert_eq!(sentence_list(["a", "b"], "or"), "a or b");
/// ```
pub fn sentence_list(words: impl IntoIterator<Item = impl ToString>, conjunction: &str) -> String {
    let words: Vec<String> = words.into_iter().map(|word| word.to_string()).collect();
    match words.as_slice() {
        [others @ .., last] if !others.is_empty() => {
            format!("{} {conjunction} {last}", others.join(", "))
        }
        _ => words.concat(),
    }
}
