//! Merge conflict markers: the lines that a version control system leaves in a file that it could not merge.

use std::sync::Arc;

use crate::diagnostic::{Code, Diagnostic, Location, SourceText, Span};

/// The beginnings of markers that can have a label.
const SIDES: [&str; 3] = ["<<<<<<<", "|||||||", ">>>>>>>"];
/// The marker between the sides, which has none.
const MIDDLE: &str = "=======";

/// The error for a file with merge conflict markers, if a text has one. They cause many kinds of errors, none of which
/// names the cause, and some formats accept them as text.
///
/// ```
/// use pkgres_manifest::diagnostic::SourceText;
/// use pkgres_manifest::document::merge_conflict;
///
/// let source = SourceText::new("pkgres.toml", "<<<<<<< HEAD\ncolor = \"auto\"\n");
/// assert!(merge_conflict(&source).is_some());
/// ```
pub fn merge_conflict(source: &Arc<SourceText>) -> Option<Diagnostic> {
    let marker = first(source)?;
    let error = Diagnostic::error(Code::Syntax, "the file contains merge conflict markers");
    Some(
        error
            .at(marker)
            .hint("resolve the conflict, and remove the lines with markers"),
    )
}

/// The place of the first merge conflict marker.
pub(crate) fn first(source: &Arc<SourceText>) -> Option<Location> {
    let mut start = 0;
    for line in source.text().split_inclusive('\n') {
        let text = line.trim_end();
        if is_marker(text) {
            let end = start + text.len();
            return Some(Location::new(source, Span { start, end }));
        }
        start += line.len();
    }
    None
}

fn is_marker(line: &str) -> bool {
    let is_side = |marker: &&str| {
        let rest = line.strip_prefix(marker);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    line == MIDDLE || SIDES.iter().any(is_side)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line_of_first(text: &str) -> Option<usize> {
        let source = SourceText::new("manifest.yaml", text);
        first(&source).map(|location| location.position().line)
    }

    #[test]
    fn the_first_marker_is_found() {
        assert_eq!(line_of_first("a: 1\n<<<<<<< HEAD\nb: 2\n"), Some(2));
        assert_eq!(line_of_first("a: 1\r\n=======\r\n"), Some(2));
        assert_eq!(line_of_first("||||||| 1a2b3c4\n"), Some(1));
        assert_eq!(line_of_first(">>>>>>>"), Some(1));
    }

    #[test]
    fn similar_lines_are_not_merge_markers() {
        for line in [
            "<<<<<<<<",
            "a: <<<<<<< b",
            "========",
            "=======x",
            " =======",
            "<<: a",
        ] {
            assert_eq!(line_of_first(line), None, "{line}");
        }
    }
}
