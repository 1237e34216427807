//! The reader of index lines, which shares names and specs between records.

use super::IndexRecord;
use super::ecosystem::{CLASS_PACKAGES, Ecosystems};
use super::fast_path::{self, LastLine};
use super::interner::Interner;
use super::json;
use crate::diagnostic::{Code, Diagnostic, Escaped, Location, Span};
use crate::read_options::Limits;
use crate::strict_json::read_json;

/// The character that some editors write at the beginning of a file. It is not allowed in JSON.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// The most characters of a reason why a line of another ecosystem is not an index record.
const MAX_REASON: usize = 300;

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
    ecosystems: Ecosystems,
}

impl IndexReader {
    /// Returns a reader of the records of class packages.
    pub fn new(limits: Limits) -> Self {
        Self::of_ecosystems(limits, Ecosystems::default())
    }

    /// Returns a reader of the records of these ecosystems. A line of another one is an error.
    pub fn of_ecosystems(limits: Limits, ecosystems: Ecosystems) -> Self {
        Self {
            interner: Interner::new(limits),
            last: LastLine::default(),
            ecosystems,
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
        if let Some(record) = fast_path::read(&mut self.interner, &mut self.last, line) {
            return Ok(record);
        }
        let limits = &self.interner.limits;
        let stated = other_ecosystem(line);
        let Some(id) = stated.map_err(|error| json::rejected(&error, line, locate))? else {
            return json::read(&mut self.interner, line, locate);
        };
        let whole = Span {
            start: 0,
            end: line.len(),
        };
        let rejected =
            |message: String| Diagnostic::error(Code::IndexRecord, message).at(locate(whole));
        let Some(ecosystem) = self.ecosystems.find(&id) else {
            let message = format!("the ecosystem `{}` is not known", Escaped::shortened(&id));
            return Err(rejected(message));
        };
        let record = ecosystem.read_record(line, limits);
        record.map_err(|message| {
            // The JSON reader quotes values of any length.
            let message = Escaped::within(json::without_position(&message), MAX_REASON);
            rejected(format!("not an index record: {message}"))
        })
    }
}

/// The ecosystem that a line states, unless it is that of class packages. An error if the line is no JSON at all.
fn other_ecosystem(line: &str) -> serde_json::Result<Option<String>> {
    #[derive(serde::Deserialize)]
    struct Stated {
        ecosystem: Option<String>,
    }
    // Most lines do not have the word, and need not be parsed twice.
    if memchr::memmem::find(line.as_bytes(), b"\"ecosystem\"").is_none() {
        return Ok(None);
    }
    match read_json::<Stated>(line.as_bytes()) {
        Ok(Stated { ecosystem }) => Ok(ecosystem.filter(|id| id != CLASS_PACKAGES.id())),
        // Another type of value, or a key that comes twice: the reader of the whole record reports it.
        Err(error) if error.is_data() => Ok(None),
        Err(error) => Err(error),
    }
}
