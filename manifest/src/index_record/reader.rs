//! The reader of index lines, which shares names and specs between records.

use std::collections::HashMap;
use std::fmt;

use foldhash::fast::RandomState;
use serde::de::Deserializer as _;

use super::IndexRecord;
use super::fast_path::{self, LastLine};
use super::json;
use crate::diagnostic::{Code, Diagnostic, Escaped, Location, Span};
use crate::name::{ClassName, PackageName};
use crate::read_options::Limits;
use crate::spec::Spec;

/// The most characters shown of a message that may quote the record.
const MESSAGE_CHARACTERS: usize = 300;

/// The character that some editors write at the beginning of a file. It is not allowed in JSON.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Values by their texts. Most of the time of reading goes here, so the hash is a fast one; it has a random
/// seed, because a foreign index could otherwise be made of collisions.
type Known<T> = HashMap<Box<str>, T, RandomState>;

/// A reader of index records. It parses a name or spec once, and shares it between all records.
///
/// ```
/// use pkgres_manifest::diagnostic::{Location, SourceText};
/// use pkgres_manifest::{IndexReader, Limits};
///
/// let mut reader = IndexReader::new(Limits::default());
/// let line = r#"{"name":"org.acme.Web","version":"1.2.0"}"#;
/// let record = reader.read_line(line, &|span| {
///     Location::new(&SourceText::new("index.ndjson", line), span)
/// })?;
/// assert_eq!(record.name.as_str(), "org.acme.Web");
/// # Ok::<(), pkgres_manifest::diagnostic::Diagnostic>(())
/// ```
#[derive(Debug, Default)]
pub struct IndexReader {
    pub(super) limits: Limits,
    pub(super) last: LastLine,
    packages: Known<PackageName>,
    classes: Known<ClassName>,
    specs: Known<Spec>,
}

impl IndexReader {
    /// Returns a reader.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            ..Self::default()
        }
    }

    /// Reads one line. `locate` returns the place of a range of bytes in the line, for errors.
    pub fn read_line(
        &mut self,
        line: &str,
        locate: &dyn Fn(Span) -> Location,
    ) -> Result<IndexRecord, Diagnostic> {
        let limit = self.limits.index_line_bytes;
        if line.len() as u64 > limit {
            let error = Limits::exceeded("bytes in a line of an index", limit);
            return Err(error.at(locate(Span::default())));
        }
        if line.starts_with(BYTE_ORDER_MARK) {
            let error = Diagnostic::error(Code::Encoding, "the line begins with a byte order mark");
            return Err(error
                .at(locate(Span {
                    start: 0,
                    end: BYTE_ORDER_MARK.len_utf8(),
                }))
                .hint("save it as UTF-8 without a byte order mark (BOM)"));
        }
        match fast_path::read(self, line) {
            Some(record) => Ok(record),
            None => self.read_json(line, locate),
        }
    }

    /// Reads one line with the JSON reader.
    pub(super) fn read_json(
        &mut self,
        line: &str,
        locate: &dyn Fn(Span) -> Location,
    ) -> Result<IndexRecord, Diagnostic> {
        let mut deserializer = serde_json::Deserializer::from_str(line);
        deserializer
            .deserialize_map(json::RecordVisitor(self))
            .and_then(|record| deserializer.end().map(|()| record))
            .map_err(|error| {
                let start = error.column().saturating_sub(1);
                let message = error.to_string();
                let message = message.split(" at line ").next().unwrap_or_default();
                let message = format!(
                    "not an index record: {}",
                    Escaped::within(message, MESSAGE_CHARACTERS)
                );
                Diagnostic::error(Code::IndexRecord, message).at(locate(Span {
                    start,
                    end: start + 1,
                }))
            })
    }

    pub(super) fn package(&mut self, text: &str) -> Result<PackageName, String> {
        if let Some(known) = self.packages.get(text) {
            return Ok(known.clone());
        }
        let name = PackageName::parse(text).map_err(|error| named("package name", text, &error))?;
        self.packages.insert(text.into(), name.clone());
        Ok(name)
    }

    pub(super) fn class(&mut self, text: &str) -> Result<ClassName, String> {
        if let Some(known) = self.classes.get(text) {
            return Ok(known.clone());
        }
        let name = ClassName::parse(text).map_err(|error| named("class name", text, &error))?;
        self.classes.insert(text.into(), name.clone());
        Ok(name)
    }

    pub(super) fn spec(&mut self, text: &str) -> Result<Spec, String> {
        if let Some(known) = self.specs.get(text) {
            return Ok(known.clone());
        }
        let spec = Spec::parse(text).map_err(|error| error.to_string())?;
        self.specs.insert(text.into(), spec.clone());
        Ok(spec)
    }
}

fn named(what: &str, text: &str, error: &dyn fmt::Display) -> String {
    format!("`{}` is not a {what}: {error}", Escaped::shortened(text))
}
