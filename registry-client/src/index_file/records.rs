//! Reading the lines of a package from the file.

use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::sync::{Arc, MutexGuard};

use memchr::{memchr, memmem};
use pkgres_manifest::IndexRecord;
use pkgres_manifest::diagnostic::{Code, Diagnostic, Location, SourceText, Span};

use super::IndexFileRegistry;
use super::runs::Run;
use crate::registry::RegistryError;
use crate::threads::lock;

impl IndexFileRegistry {
    /// Reads a line of the file; `number` counts from one.
    pub(super) fn read_line(&self, line: &[u8], number: usize) -> Result<IndexRecord, Diagnostic> {
        let text = std::str::from_utf8(line).map_err(|error| {
            let start = error.valid_up_to();
            let shown = String::from_utf8_lossy(line);
            Diagnostic::error(Code::Encoding, "the text is not UTF-8").at(self.location(
                number,
                &shown,
                Span {
                    start,
                    end: start + 1,
                },
            ))
        })?;
        let locate = |span| self.location(number, text, span);
        lock(&self.reader).read_line(text, &locate)
    }

    /// Reports a line that cannot be read, once. The other lines can be used.
    pub(super) fn skip_line(&self, number: usize, error: &Diagnostic) {
        let mut skipped = lock(&self.skipped);
        if !skipped.lines.insert(number) {
            return;
        }
        let message = format!("a line of an index is left out: {}", error.message);
        let mut finding = Diagnostic::warning(error.code, message);
        finding.labels.clone_from(&error.labels);
        finding.hints.clone_from(&error.hints);
        skipped.findings.push(finding);
    }

    /// A location in a line. Empty lines replace the lines before it, which are not in memory.
    pub(super) fn location(&self, number: usize, line: &str, span: Span) -> Location {
        let before = number - 1;
        let text = format!("{}{line}", "\n".repeat(before));
        let source: Arc<SourceText> = SourceText::new(self.path.to_string_lossy(), text);
        Location::new(
            &source,
            Span {
                start: before + span.start,
                end: before + span.end,
            },
        )
    }

    /// The location of a whole line about a package, for messages.
    fn whole_line(&self, package: &str, number: usize) -> Location {
        let runs = self.runs.get().and_then(|runs| runs.of(package));
        let mut runs = runs.into_iter().flatten();
        let run = runs.rfind(|run| run.first_line <= number);
        let mut bytes = Vec::new();
        let line = run.and_then(|run| {
            self.read_run(run, &mut bytes).ok()?;
            let mut lines = bytes.split(|byte| *byte == b'\n');
            let line = lines.nth(number - run.first_line)?;
            std::str::from_utf8(line.trim_ascii_end()).ok()
        });
        let line = line.unwrap_or_default();
        let end = line.len();
        self.location(number, line, Span { start: 0, end })
    }

    /// Reads the lines of a run into a buffer.
    fn read_run(&self, run: Run, buffer: &mut Vec<u8>) -> Result<(), RegistryError> {
        let length = run.end - run.start;
        buffer.clear();
        let file = &self.file;
        let read = self
            .seek(run.start)
            .and_then(|_cursor| file.take(length).read_to_end(buffer))
            .map_err(|error| self.unreadable(&error))?;
        if read as u64 == length {
            Ok(())
        } else {
            Err(self.unreadable(&"the file became shorter while it was in use"))
        }
    }

    /// Moves the position in the file, and keeps other threads from moving it while the guard lives.
    pub(super) fn seek(&self, to: u64) -> io::Result<MutexGuard<'_, ()>> {
        let cursor = lock(&self.cursor);
        (&self.file).seek(SeekFrom::Start(to))?;
        Ok(cursor)
    }

    /// The records of a package, by version. Of lines that differ only in build metadata, the one with the least
    /// counts, whatever their order. Of lines that differ in more, none counts.
    pub(super) fn records_of(
        &self,
        package: &str,
    ) -> Result<Option<Vec<IndexRecord>>, RegistryError> {
        if let Some(compiled) = self.compiled_index()
            && !compiled.has_package(package)
        {
            return Ok(None);
        }
        let Some(runs) = self.runs()?.of(package) else {
            return Ok(None);
        };
        let mut buffer = lock(&self.buffer);
        let mut records: Vec<(IndexRecord, usize)> = Vec::new();
        for run in runs {
            self.read_run(run, &mut buffer)?;
            let mut rest = buffer.as_slice();
            let mut number = run.first_line;
            while !rest.is_empty() {
                let length = memchr(b'\n', rest).unwrap_or(rest.len() - 1) + 1;
                let (line, after) = rest.split_at(length);
                let line = line.trim_ascii_end();
                if !line.is_empty() {
                    match self.read_line(line, number) {
                        Ok(record) if record.name.as_str() == package => {
                            records.push((record, number));
                        }
                        Ok(_) => {
                            return Err(self.unreadable(&"the file changed while it was in use"));
                        }
                        Err(error) => self.skip_line(number, &error),
                    }
                }
                rest = after;
                number += 1;
            }
        }
        if !records.is_sorted_by(|one, two| one.0.version < two.0.version) {
            records.sort_by(|one, two| (&one.0.version, one.1).cmp(&(&two.0.version, two.1)));
            records = self.settled(&records);
        }
        Ok(Some(
            records.into_iter().map(|(record, _)| record).collect(),
        ))
    }

    /// One record of each version, from records with the numbers of their lines, which are sorted. A version with two
    /// contents is left out, with a warning.
    fn settled(&self, records: &[(IndexRecord, usize)]) -> Vec<(IndexRecord, usize)> {
        let mut settled = Vec::with_capacity(records.len());
        for group in records.chunk_by(|one, two| one.0.version == two.0.version) {
            let first = &group[0];
            match group.iter().find(|other| other.0 != first.0) {
                Some(other) => self.skip_ambiguous(first, other),
                // Builds do not order versions, and the first of equal ones is the least.
                None => settled.extend(
                    group
                        .iter()
                        .min_by_key(|one| one.0.version.build())
                        .cloned(),
                ),
            }
        }
        settled
    }

    /// Reports two lines of one version with different content, once. Neither is used.
    fn skip_ambiguous(&self, first: &(IndexRecord, usize), other: &(IndexRecord, usize)) {
        // The lines are read from the file while the lock is not held: opening an index takes both locks in the other
        // order.
        if !lock(&self.skipped).lines.insert(other.1) {
            return;
        }
        let (record, package) = (&first.0, first.0.name.as_str());
        let message = format!(
            "{package} {} appears twice with different content, so that it is not used",
            record.version
        );
        let finding = Diagnostic::warning(Code::DuplicateRelease, message)
            .label(self.whole_line(package, first.1), "first here")
            .label(self.whole_line(package, other.1), "again here")
            .hint("give one of them another version, or remove it");
        lock(&self.skipped).findings.push(finding);
    }

    /// Whether some lines may name a class; if not, they certainly do not.
    pub(super) fn may_name(
        &self,
        run: Run,
        class: &memmem::Finder<'_>,
    ) -> Result<bool, RegistryError> {
        let mut buffer = lock(&self.buffer);
        self.read_run(run, &mut buffer)?;
        // A name may be written with escapes.
        Ok(class.find(&buffer).is_some() || memchr(b'\\', &buffer).is_some())
    }
}
