//! Inputs by name, and places in them.

use std::fmt;
use std::sync::Arc;

/// An input with the name under which it is shown, such as a path.
#[derive(Debug, PartialEq, Eq)]
pub struct SourceText {
    name: String,
    text: String,
}

impl SourceText {
    /// Names an input. The name is what messages show; it need not be a path.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Arc<Self> {
        Arc::new(Self {
            name: name.into(),
            text: text.into(),
        })
    }

    /// The name under which the input is shown.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// A range of bytes in an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
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
    /// A place in `source`; a range past the end, or inside a character, is moved to fit.
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

    /// Line and column of the first byte. Takes time linear in the offset.
    pub fn position(&self) -> Position {
        let before = &self.source.text()[..self.span.start];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Position {
            line: before.bytes().filter(|byte| *byte == b'\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
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
}
