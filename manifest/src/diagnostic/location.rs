//! Named inputs, and places in them.

use std::fmt;
use std::sync::{Arc, OnceLock};

/// An input with the name that messages give it, such as a path.
#[derive(Debug)]
pub struct SourceText {
    name: String,
    text: String,
    /// The number of the first line of the text.
    first_line: usize,
    /// The beginnings of lines, computed when a line is first needed.
    line_starts: OnceLock<Vec<usize>>,
    /// The characters before each block of [`BLOCK`] bytes, computed when a column is first needed in a
    /// line that is longer than a block.
    characters_before: OnceLock<Vec<usize>>,
}

/// A model or an index can be one line of megabytes with a place for each of its objects, so columns are
/// not counted from the beginning of the line.
const BLOCK: usize = 4096;

impl PartialEq for SourceText {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.text == other.text && self.first_line == other.first_line
    }
}

impl Eq for SourceText {}

impl SourceText {
    /// Returns an input with a name for messages, which need not be a path.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Arc<Self> {
        Self::from_line(name, 1, text)
    }

    /// Returns a part of an input, which begins with a line of it; lines are counted from one.
    ///
    /// ```
    /// use pkgres_manifest::diagnostic::{Location, SourceText, Span};
    ///
    /// let source = SourceText::from_line("index.ndjson", 7, "nonsense");
    /// let location = Location::new(&source, Span { start: 2, end: 3 });
    /// assert_eq!(location.to_string(), "index.ndjson:7:3");
    /// ```
    pub fn from_line(
        name: impl Into<String>,
        first_line: usize,
        text: impl Into<String>,
    ) -> Arc<Self> {
        Arc::new(Self {
            name: name.into(),
            text: text.into(),
            first_line,
            line_starts: OnceLock::new(),
            characters_before: OnceLock::new(),
        })
    }

    /// The name of the input in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The beginnings of all lines. They are computed once, because an input can have as many findings as
    /// lines.
    fn line_starts(&self) -> &[usize] {
        self.line_starts.get_or_init(|| {
            let newlines = self.text.bytes().enumerate();
            let after = newlines.filter_map(|(at, byte)| (byte == b'\n').then_some(at + 1));
            std::iter::once(0).chain(after).collect()
        })
    }

    /// The number of characters that begin before a byte. Linear in [`BLOCK`], and the first time in the
    /// length of the input.
    fn characters_before(&self, at: usize) -> usize {
        let bytes = self.text.as_bytes();
        let blocks = self.characters_before.get_or_init(|| {
            let counts = bytes.chunks(BLOCK).scan(0, |before, block| {
                *before += characters(block);
                Some(*before)
            });
            std::iter::once(0).chain(counts).collect()
        });
        let block = at / BLOCK;
        blocks[block] + characters(&bytes[block * BLOCK..at])
    }
}

/// The characters that begin in these bytes of a text.
fn characters(bytes: &[u8]) -> usize {
    let is_continuation = |byte: &&u8| **byte & 0xC0 == 0x80;
    bytes.len() - bytes.iter().filter(is_continuation).count()
}

/// A range of bytes in an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// The byte after the last one.
    pub end: usize,
}

/// A line and a column, both counted from one; columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column, in characters.
    pub column: usize,
}

/// A place in an input. Shown as `name:line:column`.
#[derive(Clone, PartialEq, Eq)]
pub struct Location {
    source: Arc<SourceText>,
    span: Span,
}

impl Location {
    /// Returns a place in `source`. A range past the end or inside a character is moved to fit.
    pub fn new(source: &Arc<SourceText>, span: Span) -> Self {
        let text = source.text();
        let start = text.floor_char_boundary(span.start.min(text.len()));
        let end = text
            .floor_char_boundary(span.end.min(text.len()))
            .max(start);
        Self {
            source: Arc::clone(source),
            span: Span { start, end },
        }
    }

    /// The input.
    pub fn source(&self) -> &Arc<SourceText> {
        &self.source
    }

    /// The range of bytes.
    pub fn span(&self) -> Span {
        self.span
    }

    /// The line and column of the first byte. The first time, this takes time linear in the length of the
    /// input.
    pub fn position(&self) -> Position {
        let starts = self.source.line_starts();
        let line = starts.partition_point(|start| *start <= self.span.start);
        let (line_start, at) = (starts[line - 1], self.span.start);
        let characters = if at - line_start < BLOCK {
            characters(&self.source.text().as_bytes()[line_start..at])
        } else {
            self.source.characters_before(at) - self.source.characters_before(line_start)
        };
        Position {
            line: self.source.first_line + line - 1,
            column: characters + 1,
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Position { line, column } = self.position();
        let name = super::Escaped::new(self.source.name());
        write!(formatter, "{name}:{line}:{column}")
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

/// A value and its place in the input.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Located<T> {
    /// The value.
    pub value: T,
    /// Its place.
    pub location: Location,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters_from_one() {
        let source = SourceText::new("x.yaml", "a\u{e9}: 1\nb: 2\n");
        let at = |start| Location::new(&source, Span { start, end: start }).to_string();
        assert_eq!(at(0), "x.yaml:1:1");
        assert_eq!(at(3), "x.yaml:1:3");
        assert_eq!(at(7), "x.yaml:2:1");
        assert_eq!(at(999), "x.yaml:3:1");
        assert_eq!(at(2), "x.yaml:1:2", "inside a character");
    }

    #[test]
    fn columns_of_long_lines_count_characters() {
        let text = "\u{e9}a\u{1f600}".repeat(5_000) + "\n" + &"\u{e9}b".repeat(5_000);
        let source = SourceText::new("x.yaml", text.as_str());
        let newline = text.find('\n').expect("it has one");
        let starts: Vec<usize> = text.char_indices().map(|(start, _)| start).collect();
        for (number, start) in starts.iter().enumerate().step_by(97) {
            let (line, first) = if *start > newline {
                (2, 15_001)
            } else {
                (1, 0)
            };
            let span = Span {
                start: *start,
                end: *start,
            };
            let column = number - first + 1;
            let position = Location::new(&source, span).position();
            assert_eq!(position, Position { line, column }, "{start}");
        }
    }
}
