//! XML documents as elements with their positions, within limits.
//!
//! There are no document type definitions, and so only the predefined entities. Nothing outside of the document is
//! ever read, and nothing recurses.
//!
//! Names, values and texts are slices of the document. Their positions are computed from these slices, and only on
//! request.

use std::borrow::Cow;

use memchr::memchr;
use pkgres_manifest::diagnostic::{Code, Escaped, Span};
use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};

/// A reader of the elements of a document.
pub(super) struct Document<'text> {
    text: &'text str,
    reader: Reader<&'text [u8]>,
    depth: usize,
    max_depth: usize,
}

/// The tag that opens an element.
#[derive(Clone, Copy)]
pub(super) struct Tag<'text> {
    /// The name, with its prefix.
    pub(super) name: &'text str,
    /// The attributes, as they are written.
    pub(super) attributes: &'text str,
    /// Whether the element has neither text nor elements, and no tag that closes it.
    is_empty: bool,
}

/// The elements in an element.
pub(super) struct Children {
    /// The depth of the element.
    depth: usize,
    is_over: bool,
}

/// An error in a document.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) code: Code,
    pub(super) message: String,
    pub(super) span: Span,
}

impl Problem {
    /// Returns an error about the form of a document.
    pub(super) fn malformed(message: impl Into<String>, span: Span) -> Self {
        Self {
            code: Code::Syntax,
            message: message.into(),
            span,
        }
    }
}

impl<'text> Document<'text> {
    /// Returns a reader of a document that begins without a byte order mark.
    pub(super) fn new(text: &'text str, max_depth: usize) -> Self {
        Self {
            text,
            reader: Reader::from_str(text),
            depth: 0,
            max_depth,
        }
    }

    /// Rejects what the XML reader does not look for: characters that no document has, and blanks before the declaration.
    pub(super) fn check_characters(&self) -> Result<(), Problem> {
        let start = self.text.trim_ascii_start();
        if start.len() < self.text.len() && start.starts_with("<?xml") {
            let message = "there is something before the XML declaration";
            return Err(Problem::malformed(message, Span::default()));
        }
        let Some(start) = position_of_forbidden(self.text) else {
            return Ok(());
        };
        let character = self.text[start..].chars().next().unwrap_or_default();
        let message = format!("U+{:04X} is not a character of XML", u32::from(character));
        let end = start + character.len_utf8();
        Err(Problem::malformed(message, Span { start, end }))
    }

    /// The tag of the root element.
    pub(super) fn root(&mut self) -> Result<Tag<'text>, Problem> {
        loop {
            let event = self.reader.read_event();
            self.admit(&event)?;
            match &event {
                Ok(Event::Start(start)) => return Ok(self.tag(start, false)),
                Ok(Event::Empty(start)) => return Ok(self.tag(start, true)),
                Ok(event) if is_blank(event) => {}
                _ => {
                    let message = "the root element is missing";
                    return Err(Problem::malformed(message, Span::default()));
                }
            }
        }
    }

    /// Checks that nothing follows the root element.
    pub(super) fn finish(&mut self) -> Result<(), Problem> {
        loop {
            let before = self.position();
            let event = self.reader.read_event();
            self.admit(&event)?;
            match &event {
                Ok(Event::Eof) => return Ok(()),
                Ok(event) if is_blank(event) => {}
                _ => {
                    let message = "the document goes on after its root element";
                    let end = self.position();
                    let rest = self.text.get(before..end).unwrap_or_default();
                    let start = end - rest.trim_ascii_start().len();
                    return Err(Problem::malformed(message, Span { start, end }));
                }
            }
        }
    }

    /// The elements in the element that was opened last.
    pub(super) fn children(&self, parent: Tag<'text>) -> Children {
        Children {
            depth: self.depth,
            is_over: parent.is_empty,
        }
    }

    /// The text of the element that was opened last, without that of the elements in it.
    pub(super) fn text_of(&mut self, tag: Tag<'text>) -> Result<(Cow<'text, str>, Span), Problem> {
        let mut whole = Cow::Borrowed("");
        let mut span = self.here();
        if tag.is_empty {
            return Ok((whole, span));
        }
        let depth = self.depth;
        loop {
            let is_own = self.depth == depth;
            let event = self.reader.read_event();
            let part = match &event {
                Ok(Event::Text(text)) if is_own => self.part(text).into(),
                Ok(Event::CData(text)) if is_own => self.part(text).into(),
                Ok(Event::GeneralRef(reference)) if is_own => self.referenced(reference)?,
                Ok(Event::End(_)) if is_own => {
                    self.depth -= 1;
                    return Ok((whole, span));
                }
                _ => {
                    self.admit(&event)?;
                    continue;
                }
            };
            span.end = self.position();
            if whole.is_empty() {
                whole = part;
            } else {
                whole.to_mut().push_str(&part);
            }
        }
    }

    /// The values of some attributes, as they are written. An attribute that appears twice is an error.
    #[inline]
    pub(super) fn attributes<const COUNT: usize>(
        &self,
        tag: Tag<'text>,
        names: [&str; COUNT],
    ) -> Result<[Option<&'text str>; COUNT], Problem> {
        let mut values = [None; COUNT];
        let mut rest = tag.attributes.trim_ascii();
        while !rest.is_empty() {
            let Some((name, value, after)) = split_attribute(rest) else {
                let message = format!(
                    "an attribute of `{}` is not `NAME=\"VALUE\"`",
                    Escaped::shortened(tag.name)
                );
                return Err(Problem::malformed(message, self.span(rest)));
            };
            if let Some(at) = names.iter().position(|wanted| *wanted == name)
                && values[at].replace(value).is_some()
            {
                let message = format!("the attribute `{name}` appears twice");
                return Err(Problem::malformed(message, self.span(value)));
            }
            rest = after.trim_ascii_start();
        }
        Ok(values)
    }

    /// A value with the characters that its references stand for.
    #[inline]
    pub(super) fn unescaped(&self, value: &'text str) -> Result<Cow<'text, str>, Problem> {
        if !value.bytes().any(|next| next == b'&' || next < b' ') {
            return Ok(Cow::Borrowed(value));
        }
        let text = quick_xml::escape::unescape(value).map_err(|error| {
            // It has what is not an entity, which can be any text of any length.
            let message = shown(&error);
            Problem::malformed(message, self.span(value))
        })?;
        Ok(Cow::Owned(text.replace(['\t', '\r', '\n'], " ")))
    }

    /// The place of a part of the document, such as a name or a value.
    #[inline]
    pub(super) fn span(&self, part: &'text str) -> Span {
        let start = part.as_ptr().addr() - self.text.as_ptr().addr();
        Span {
            start,
            end: start + part.len(),
        }
    }

    /// Counts the depth, and rejects an event that is an error or beyond the limits.
    fn admit(&mut self, event: &Result<Event<'text>, quick_xml::Error>) -> Result<(), Problem> {
        match event {
            Ok(Event::Start(_)) => self.open()?,
            Ok(Event::Empty(_)) => self.check_depth(self.depth + 1)?,
            // The reader rejects a tag that closes nothing.
            Ok(Event::End(_)) => self.depth -= 1,
            Ok(Event::GeneralRef(reference)) => {
                self.referenced(reference)?;
            }
            Ok(Event::DocType(_)) => {
                let message = "a document type definition is not allowed";
                return Err(Problem::malformed(message, self.here()));
            }
            Ok(Event::Eof) if self.depth > 0 => {
                let message = "the document ends within an element";
                return Err(Problem::malformed(message, self.here()));
            }
            Ok(_) => {}
            Err(error) => return Err(self.broken(error)),
        }
        Ok(())
    }

    /// Counts an element that is opened.
    #[inline]
    fn open(&mut self) -> Result<(), Problem> {
        self.depth += 1;
        self.check_depth(self.depth)
    }

    #[inline]
    fn check_depth(&self, depth: usize) -> Result<(), Problem> {
        if depth > self.max_depth {
            return Err(self.too_deep());
        }
        Ok(())
    }

    /// The number of bytes that were read.
    fn position(&self) -> usize {
        usize::try_from(self.reader.buffer_position())
            .map_or(self.text.len(), |position| position.min(self.text.len()))
    }

    fn here(&self) -> Span {
        let end = self.position();
        Span { start: end, end }
    }

    #[inline]
    fn tag(&self, start: &BytesStart<'text>, is_empty: bool) -> Tag<'text> {
        let content = self.part(start);
        let (name, attributes) = content
            .split_at_checked(start.name().as_ref().len())
            .unwrap_or((content, ""));
        Tag {
            name,
            attributes,
            is_empty,
        }
    }

    /// The bytes of an event, which are a part of the document.
    #[inline]
    fn part(&self, bytes: &[u8]) -> &'text str {
        let start = bytes.as_ptr().addr() - self.text.as_ptr().addr();
        self.text
            .get(start..start + bytes.len())
            .unwrap_or_default()
    }

    /// The character that a reference in a text stands for.
    fn referenced(&self, reference: &BytesRef<'text>) -> Result<Cow<'text, str>, Problem> {
        if let Ok(Some(character)) = reference.resolve_char_ref()
            && is_character(character)
        {
            return Ok(character.to_string().into());
        }
        let name = self.part(reference);
        let text = resolve_predefined_entity(name);
        text.map(Cow::Borrowed).ok_or_else(|| {
            let message = format!("the entity `{}` is not defined", Escaped::shortened(name));
            Problem::malformed(message, self.here())
        })
    }

    #[cold]
    fn too_deep(&self) -> Problem {
        Problem {
            code: Code::Limit,
            message: format!("more than the limit of {} nested elements", self.max_depth),
            span: self.here(),
        }
    }

    fn broken(&self, error: &quick_xml::Error) -> Problem {
        let at = usize::try_from(self.reader.error_position()).unwrap_or_default();
        Problem::malformed(shown(error), Span { start: at, end: at })
    }
}

/// The position of the first character that no document has: a control character, U+FFFE or U+FFFF.
#[expect(
    clippy::needless_bitwise_bool,
    reason = "without jumps, the loop is compiled to vector instructions"
)]
fn position_of_forbidden(text: &str) -> Option<usize> {
    const CHUNK: usize = 1024;
    let bytes = text.as_bytes();
    let is_control = |byte: u8| (byte < b' ') & (byte != b'\t') & (byte != b'\n') & (byte != b'\r');
    // U+FFFE and U+FFFF begin with 0xef in UTF-8.
    let is_suspicious = |chunk: &[u8]| {
        let bytes = chunk.iter().copied();
        bytes.fold(false, |found, byte| {
            found | is_control(byte) | (byte == 0xef)
        })
    };
    let chunks = bytes.chunks(CHUNK).enumerate();
    let mut suspicious = chunks
        .filter(|(_, chunk)| is_suspicious(chunk))
        .flat_map(|(number, chunk)| (number * CHUNK..).take(chunk.len()));
    suspicious.find(|position| match bytes[*position..] {
        [0xef, 0xbf, 0xbe | 0xbf, ..] => true,
        [byte, ..] => is_control(byte),
        [] => false,
    })
}

/// Whether a document can have a character, also one that is referred to by its number.
fn is_character(character: char) -> bool {
    match character {
        '\t' | '\n' | '\r' => true,
        other => other >= ' ' && !matches!(other, '\u{fffe}' | '\u{ffff}'),
    }
}

impl Children {
    /// The next element. What was not read of the one before is skipped.
    ///
    /// Nearly all events are texts and tags. They are looked at here, where the reader puts them: a call for each
    /// event, or a move of it, costs a tenth of the time.
    #[expect(
        clippy::inline_always,
        reason = "the compiler does not find it worth it"
    )]
    #[inline(always)]
    pub(super) fn next<'text>(
        &mut self,
        document: &mut Document<'text>,
    ) -> Result<Option<Tag<'text>>, Problem> {
        while !self.is_over {
            let event = document.reader.read_event();
            match &event {
                Ok(Event::Text(_)) => {}
                Ok(Event::Start(start)) => {
                    document.open()?;
                    if document.depth == self.depth + 1 {
                        return Ok(Some(document.tag(start, false)));
                    }
                }
                Ok(Event::Empty(start)) => {
                    document.check_depth(document.depth + 1)?;
                    if document.depth == self.depth {
                        return Ok(Some(document.tag(start, true)));
                    }
                }
                Ok(Event::End(_)) => {
                    document.depth -= 1;
                    self.is_over = document.depth < self.depth;
                }
                _ => document.admit(&event)?,
            }
        }
        Ok(None)
    }
}

/// The message of an error of the XML reader, which can have parts of the document in it.
fn shown(error: &dyn std::error::Error) -> String {
    Escaped::within(&error.to_string(), 200).to_string()
}

/// Whether an event has nothing to say outside of the root element.
fn is_blank(event: &Event<'_>) -> bool {
    match event {
        Event::Text(text) => text.trim_ascii().is_empty(),
        Event::Comment(_) | Event::Decl(_) | Event::PI(_) => true,
        _ => false,
    }
}

/// Splits the attribute off that a text begins with: its name, its value as written, and what follows.
#[inline]
fn split_attribute(text: &str) -> Option<(&str, &str, &str)> {
    let end = text
        .bytes()
        .position(|next| next == b'=' || next.is_ascii_whitespace())?;
    let (name, after) = text.split_at(end);
    let after = after
        .trim_ascii_start()
        .strip_prefix('=')?
        .trim_ascii_start();
    let quote = after.bytes().next()?;
    if !matches!(quote, b'"' | b'\'') {
        return None;
    }
    let after = &after[1..];
    let (value, after) = after.split_at(memchr(quote, after.as_bytes())?);
    Some((name, value, &after[1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forbidden_characters_are_found_anywhere() {
        for forbidden in ["\0", "\u{b}", "\u{1f}", "\u{fffe}", "\u{ffff}"] {
            // Around the ends of the pieces that are looked at together.
            for before in (0..8).chain(1018..1030).chain(2040..2052) {
                let allowed = "\u{fffd}\t\r\n\u{ff0c}".repeat(before / 12 + 1);
                let padding = "x".repeat(before);
                let text = format!("{allowed}{padding}{forbidden}{forbidden}{allowed}");
                let position = allowed.len() + before;
                assert_eq!(position_of_forbidden(&text), Some(position), "{before}");
                assert_eq!(position_of_forbidden(&text[..position]), None, "{before}");
            }
        }
    }

    #[test]
    fn attributes_are_split() {
        for (text, parts) in [
            ("a='1' b='2'", Some(("a", "1", " b='2'"))),
            ("a\n=\t\"'\"", Some(("a", "'", ""))),
            ("a=''b=''", Some(("a", "", "b=''"))),
            ("a b='1'", None),
            ("a", None),
            ("a ", None),
            ("a=1", None),
            ("a=", None),
            ("a='1", None),
        ] {
            assert_eq!(split_attribute(text), parts, "{text}");
        }
    }
}
