//! Releases that the host provides, from a string of index records.

use std::collections::BTreeMap;

use pkgres_manifest::diagnostic::{Code, Diagnostic, Location, SourceText, Span};
use pkgres_manifest::{IndexReader, IndexRecord, Limits, Release};

/// Reads index records, one per line, with blank lines skipped. `name` is the name of the text in messages.
///
/// # Errors
///
/// One finding for each line that cannot be read, or that has a release of another line with different content.
pub fn read_provided(
    name: &str,
    text: &str,
    limits: &Limits,
) -> Result<Vec<IndexRecord>, Vec<Diagnostic>> {
    let source = SourceText::new(name, text);
    let mut reader = IndexReader::of_ecosystems(limits.clone(), pkgres_formats::ECOSYSTEMS);
    let mut records: Vec<IndexRecord> = Vec::new();
    let mut seen: BTreeMap<Release, (usize, Span)> = BTreeMap::new();
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
                Ok(record) => {
                    let release = Release::new(record.name.clone(), record.version.clone());
                    let span = Span {
                        start,
                        end: start + trimmed.len(),
                    };
                    match seen.get(&release) {
                        None => {
                            seen.insert(release, (records.len(), span));
                            records.push(record);
                        }
                        Some((first, _)) if records[*first] == record => {}
                        Some((_, first)) => {
                            let place = |span| Location::new(&source, span);
                            errors.push(provided_twice(&release, place(*first), place(span)));
                        }
                    }
                }
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

/// The error about a release with two contents.
fn provided_twice(release: &Release, first: Location, again: Location) -> Diagnostic {
    let Release { name, version } = release;
    let message = format!("{name} {version} is provided twice with different content");
    Diagnostic::error(Code::DuplicateRelease, message)
        .label(first, "first here")
        .label(again, "again here")
        .hint("give one of them another version, or remove it")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_is_provided_once() {
        let plain = r#"{"name":"p.A","version":"1.0.0"}"#;
        let other = r#"{"name":"p.A","version":"1.0.0","require":[["p.Q","1"]]}"#;
        let read = |lines: &[&str]| {
            let read = read_provided("provided", &lines.join("\n"), &Limits::default());
            read.map_err(|errors| errors.into_iter().map(|error| error.message).collect())
        };
        assert_eq!(
            read(&[plain, "", plain]).map(|records| records.len()),
            Ok(1)
        );
        let twice = vec!["p.A 1.0.0 is provided twice with different content".to_owned()];
        assert_eq!(
            read(&[plain, other]),
            Err::<Vec<IndexRecord>, Vec<String>>(twice.clone())
        );
        assert_eq!(read(&[other, plain]), Err(twice));
    }
}
