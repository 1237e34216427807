//! The reader of index lines, which shares names and specs between records.

use super::IndexRecord;
use super::fast_path::{self, LastLine};
use super::interner::Interner;
use super::json;
use crate::diagnostic::{Code, Diagnostic, Location, Span};
use crate::read_options::Limits;

/// The character that some editors write at the beginning of a file. It is not allowed in JSON.
const BYTE_ORDER_MARK: char = '\u{feff}';

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
    interner: Interner,
    last: LastLine,
}

impl IndexReader {
    /// Returns a reader.
    pub fn new(limits: Limits) -> Self {
        Self {
            interner: Interner::new(limits),
            last: LastLine::default(),
        }
    }

    /// Reads one line. `locate` returns the place of a range of bytes in the line, for errors.
    pub fn read_line(
        &mut self,
        line: &str,
        locate: &dyn Fn(Span) -> Location,
    ) -> Result<IndexRecord, Diagnostic> {
        let limit = self.interner.limits.index_line_bytes;
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
        match fast_path::read(&mut self.interner, &mut self.last, line) {
            Some(record) => Ok(record),
            None => json::read(&mut self.interner, line, locate),
        }
    }
}
