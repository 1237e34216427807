//! XML documents as open and close tags with their places, within limits.
//!
//! There are no document type definitions, and so no entities but the predefined ones. Nothing outside of the document
//! is ever read, and nothing recurses.

use std::borrow::Cow;

use pkgres_manifest::diagnostic::{Code, Escaped, Span};
use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::attributes::{AttrError, Attributes};
use quick_xml::events::{BytesRef, Event};

/// A reader of the tags of a document.
pub(super) struct Document<'text> {
    text: &'text str,
    reader: Reader<&'text [u8]>,
    depth: usize,
    max_depth: usize,
}

/// What comes next in a document.
pub(super) enum Token<'text> {
    /// A tag that opens an element. If the element [is empty](Tag::is_empty), nothing closes it.
    Open(Tag<'text>),
    /// The tag that closes the innermost element.
    Close,
    /// A part of the text of an element.
    Text(Cow<'text, str>),
    /// The end of the document.
    End,
}

/// A tag that opens an element.
#[derive(Clone, Copy)]
pub(super) struct Tag<'text> {
    /// What is between `<` and `>`, or `/>`.
    content: &'text str,
    name_bytes: usize,
    /// Where the content begins in the document.
    start: usize,
    /// Whether the element has neither text nor elements.
    pub(super) is_empty: bool,
}

/// The value of an attribute, with the range that it has in the document.
#[derive(Clone, Copy)]
pub(super) struct Value<'text> {
    raw: &'text str,
    pub(super) span: Span,
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

    /// The next token. Comments and processing instructions are skipped.
    #[inline]
    pub(super) fn next(&mut self) -> Result<Token<'text>, Problem> {
        loop {
            let event = match self.reader.read_event() {
                Ok(event) => event,
                Err(error) => return Err(self.broken(&error)),
            };
            match event {
                Event::Start(start) => {
                    self.depth += 1;
                    if self.depth > self.max_depth {
                        return Err(self.too_deep());
                    }
                    let name_bytes = start.name().as_ref().len();
                    return Ok(Token::Open(self.tag(start.len(), 1, name_bytes)));
                }
                Event::Empty(start) => {
                    if self.depth >= self.max_depth {
                        return Err(self.too_deep());
                    }
                    let name_bytes = start.name().as_ref().len();
                    return Ok(Token::Open(self.tag(start.len(), 2, name_bytes)));
                }
                Event::End(_) => {
                    self.depth -= 1;
                    return Ok(Token::Close);
                }
                Event::Text(text) => {
                    let end = self.position();
                    return Ok(Token::Text(self.slice(end - text.len(), end).into()));
                }
                Event::CData(text) => {
                    let end = self.position() - "]]>".len();
                    return Ok(Token::Text(self.slice(end - text.len(), end).into()));
                }
                Event::GeneralRef(reference) => return self.reference(&reference),
                Event::DocType(_) => {
                    let message = "a document type definition is not allowed";
                    return Err(Problem::malformed(message, self.here()));
                }
                Event::Eof if self.depth > 0 => {
                    let message = "the document ends within an element";
                    return Err(Problem::malformed(message, self.here()));
                }
                Event::Eof => return Ok(Token::End),
                Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
            }
        }
    }

    /// Skips the rest of an element that was just opened.
    pub(super) fn skip(&mut self, tag: Tag<'text>) -> Result<(), Problem> {
        if tag.is_empty {
            return Ok(());
        }
        let outside = self.depth - 1;
        while self.depth > outside {
            self.next()?;
        }
        Ok(())
    }

    /// The text of an element that was just opened, without the elements in it.
    pub(super) fn text_of(&mut self, tag: Tag<'text>) -> Result<(Cow<'text, str>, Span), Problem> {
        let mut whole = Cow::Borrowed("");
        let start = self.position();
        if tag.is_empty {
            return Ok((whole, Span { start, end: start }));
        }
        let mut end = start;
        loop {
            match self.next()? {
                Token::Text(part) => {
                    if whole.is_empty() {
                        whole = part;
                    } else {
                        whole.to_mut().push_str(&part);
                    }
                    end = self.position();
                }
                Token::Open(inner) => self.skip(inner)?,
                Token::Close | Token::End => return Ok((whole, Span { start, end })),
            }
        }
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

    fn slice(&self, start: usize, end: usize) -> &'text str {
        self.text.get(start..end).unwrap_or_default()
    }

    /// The tag that was just read, of which `closing` bytes follow its content.
    fn tag(&self, bytes: usize, closing: usize, name_bytes: usize) -> Tag<'text> {
        let end = self.position() - closing;
        let start = end - bytes;
        Tag {
            content: self.slice(start, end),
            name_bytes,
            start,
            is_empty: closing == 2,
        }
    }

    /// The character that a reference in a text stands for.
    fn reference(&self, reference: &BytesRef<'text>) -> Result<Token<'text>, Problem> {
        if let Ok(Some(character)) = reference.resolve_char_ref() {
            return Ok(Token::Text(character.to_string().into()));
        }
        let name = String::from_utf8_lossy(reference);
        if let Some(text) = resolve_predefined_entity(&name) {
            return Ok(Token::Text(text.into()));
        }
        let message = format!("the entity `{}` is not defined", Escaped::shortened(&name));
        Err(Problem::malformed(message, self.here()))
    }

    fn too_deep(&self) -> Problem {
        Problem {
            code: Code::Limit,
            message: format!("more than the limit of {} nested elements", self.max_depth),
            span: self.here(),
        }
    }

    fn broken(&self, error: &quick_xml::Error) -> Problem {
        let at = usize::try_from(self.reader.error_position()).unwrap_or_default();
        let message = error.to_string();
        let message = Escaped::within(&message, 200).to_string();
        Problem::malformed(message, Span { start: at, end: at })
    }
}

impl<'text> Tag<'text> {
    /// The name, with its prefix.
    pub(super) fn name(&self) -> &'text str {
        self.content.get(..self.name_bytes).unwrap_or_default()
    }

    /// The place of the name.
    pub(super) fn span(&self) -> Span {
        Span {
            start: self.start,
            end: self.start + self.name_bytes,
        }
    }

    /// The values of some attributes. An attribute that comes twice is an error.
    #[inline]
    pub(super) fn values<const COUNT: usize>(
        &self,
        names: [&str; COUNT],
    ) -> Result<[Option<Value<'text>>; COUNT], Problem> {
        let mut values = [None; COUNT];
        self.each_attribute(|key, value| {
            if let Some(at) = names.iter().position(|name| *name == key)
                && values[at].replace(value).is_some()
            {
                let message = format!("the attribute `{key}` comes twice");
                return Err(Problem::malformed(message, value.span));
            }
            Ok(())
        })?;
        Ok(values)
    }

    /// Calls `visit` with each attribute.
    #[inline]
    pub(super) fn each_attribute(
        &self,
        mut visit: impl FnMut(&'text str, Value<'text>) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
        let base = self.content.as_ptr().addr();
        // Duplicates of attributes that matter are found by `values`.
        let mut attributes = Attributes::new(self.content, self.name_bytes);
        attributes.with_checks(false);
        for attribute in attributes {
            let attribute = attribute.map_err(|error| self.broken_attribute(&error))?;
            let Cow::Borrowed(raw) = attribute.value else {
                continue;
            };
            let offset = raw.as_ptr().addr() - base;
            let key_offset = attribute.key.0.as_ptr().addr() - base;
            let slice = |start: usize, bytes: usize| {
                self.content.get(start..start + bytes).unwrap_or_default()
            };
            let value = Value {
                raw: slice(offset, raw.len()),
                span: Span {
                    start: self.start + offset,
                    end: self.start + offset + raw.len(),
                },
            };
            visit(slice(key_offset, attribute.key.0.len()), value)?;
        }
        Ok(())
    }

    fn broken_attribute(&self, error: &AttrError) -> Problem {
        Problem::malformed(error.to_string(), self.span())
    }
}

impl<'text> Value<'text> {
    /// The value as it is written, with references.
    pub(super) fn raw(&self) -> &'text str {
        self.raw
    }

    /// The value with the characters that references stand for.
    pub(super) fn text(&self) -> Result<Cow<'text, str>, Problem> {
        if !self.raw.bytes().any(|next| next == b'&' || next < b' ') {
            return Ok(Cow::Borrowed(self.raw));
        }
        let text = quick_xml::escape::unescape(self.raw)
            .map_err(|error| Problem::malformed(error.to_string(), self.span))?;
        Ok(Cow::Owned(text.replace(['\t', '\r', '\n'], " ")))
    }
}
