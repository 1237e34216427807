//! Releases that the host provides, from a string of index records.

use pkgres_manifest::diagnostic::{Diagnostic, Location, SourceText, Span};
use pkgres_manifest::{IndexReader, IndexRecord, Limits};

/// Reads index records, one per line, with blank lines skipped. `name` is the name of the text in messages.
///
/// # Errors
///
/// One finding for each line that cannot be read.
pub fn read_provided(
    name: &str,
    text: &str,
    limits: &Limits,
) -> Result<Vec<IndexRecord>, Vec<Diagnostic>> {
    let source = SourceText::new(name, text);
    let mut reader = IndexReader::of_ecosystems(limits.clone(), pkgres_formats::ECOSYSTEMS);
    let mut records = Vec::new();
    let mut errors = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let mut trimmed = line.trim_end();
        // A file may begin with a byte order mark.
        if start == 0
            && let Some(rest) = trimmed.strip_prefix('\u{feff}')
        {
            trimmed = rest;
        }
        if !trimmed.is_empty() {
            let locate = |span: Span| {
                Location::new(
                    &source,
                    Span {
                        start: start + span.start,
                        end: start + span.end,
                    },
                )
            };
            match reader.read_line(trimmed, &locate) {
                Ok(record) => records.push(record),
                Err(error) => errors.push(error),
            }
        }
        start += line.len();
    }
    if errors.is_empty() {
        Ok(records)
    } else {
        Err(errors)
    }
}
