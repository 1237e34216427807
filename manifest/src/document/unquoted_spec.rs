//! Specs without quotes, which YAML reads as something else: `>` begins a block of text, `*` an alias and `!` a tag. The
//! messages of the parser then mislead.

use crate::diagnostic::{Code, Diagnostic, Escaped, Location};
use crate::spec::Spec;

/// The value at or before `offset` on its line that is a spec without quotes, and its place.
pub(super) fn find(text: &str, offset: usize) -> Option<(usize, &str)> {
    let offset = text.floor_char_boundary(offset.min(text.len()));
    // The parser may report the problem at the beginning of the next line.
    let before = &text[..offset];
    let ends = [before.trim_end_matches(['\n', '\r', ' ']), before];
    let starts = ends.map(|end| end.rfind('\n').map_or(0, |at| at + 1));
    starts.into_iter().find_map(|line_start| {
        let line = text[line_start..].lines().next().unwrap_or("");
        let (at, value) = values(line).find(|(_, value)| {
            let mut beginnings = [">", "*", "!="].iter();
            beginnings.any(|start| value.starts_with(start)) && Spec::parse(value).is_ok()
        })?;
        Some((line_start + at, value))
    })
}

/// The number of values per line that [`values`] returns, and the bytes of each: more than any spec needs
/// that people write, and little enough where one line is a whole document.
const VALUES_PER_LINE: usize = 32;
const BYTES_PER_VALUE: usize = 256;

/// The possible values on a line and their places: the text after each colon, or the whole of a line without
/// a colon, each up to the end of the line, up to a closing bracket, and up to a comma.
fn values(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let after_colons = line.match_indices(": ").map(|(at, colon)| at + colon.len());
    let starts = after_colons.chain((!line.contains(':')).then_some(0));
    starts.take(VALUES_PER_LINE).flat_map(move |from| {
        let end = line.floor_char_boundary(from.saturating_add(BYTES_PER_VALUE).min(line.len()));
        let rest = line[from..end].trim_start();
        let start = end - rest.len();
        let rest = rest.split(" #").next().unwrap_or(rest);
        [&[][..], &['}', ']'], &['}', ']', ',']].map(|ends| {
            let end = rest.find(ends).unwrap_or(rest.len());
            (start, rest[..end].trim_end())
        })
    })
}

/// The error for a spec that YAML reads as something else.
pub(crate) fn error(value: &str, location: Location) -> Diagnostic {
    let meaning = match value.chars().next() {
        Some('>') => "YAML reads `>` as the start of a block of text",
        Some('*') => "YAML reads `*` as an alias",
        _ => "YAML reads `!` as a tag",
    };
    Diagnostic::error(Code::UnquotedSpec, "the spec must be quoted")
        .label(location, meaning)
        .hint(format!("write \"{}\"", Escaped::shortened(value)))
}
