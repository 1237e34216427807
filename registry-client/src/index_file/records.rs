//! Reads the lines of a package from the file.

use std::collections::BTreeSet;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::sync::{Arc, MutexGuard};

use memchr::{memchr, memmem};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Location, SourceText, Span};
use pkgres_manifest::{ArtifactDigest, IndexRecord, PackageName, Version};

use super::IndexFileRegistry;
use super::line_positions::Run;
use crate::registry_error::RegistryError;
use crate::registry_title::titled;
use crate::threads::lock;

/// The byte order mark in UTF-8.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// A line without the byte order mark that a file may begin with: elsewhere it is an error.
pub(super) fn without_mark(line: &[u8], is_first: bool) -> &[u8] {
    let rest = line.strip_prefix(BYTE_ORDER_MARK).filter(|_| is_first);
    rest.unwrap_or(line)
}

impl IndexFileRegistry {
    /// Reads a line of the file; `number` counts from one.
    pub(super) fn read_line(&self, line: &[u8], number: usize) -> Result<IndexRecord, Diagnostic> {
        let line = without_mark(line, number == 1);
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
        let message = format!("a line of an index is skipped: {}", error.message);
        let mut finding = Diagnostic::warning(error.code, message);
        finding.labels.clone_from(&error.labels);
        finding.hints.clone_from(&error.hints);
        skipped.findings.push(finding);
    }

    /// A location in a line.
    pub(super) fn location(&self, number: usize, line: &str, span: Span) -> Location {
        let source: Arc<SourceText> =
            SourceText::from_line(self.path.to_string_lossy(), number, line);
        Location::new(&source, span)
    }

    /// The location of a whole line, for messages.
    fn whole_line(&self, line: Run) -> Location {
        let mut bytes = Vec::new();
        let text = self.read_run(line, &mut bytes).ok();
        let text = text.and_then(|()| std::str::from_utf8(bytes.trim_ascii_end()).ok());
        let text = text.unwrap_or_default();
        let end = text.len();
        self.location(line.first_line, text, Span { start: 0, end })
    }

    /// Reads the lines of a run into a buffer.
    fn read_run(&self, run: Run, buffer: &mut Vec<u8>) -> Result<(), RegistryError> {
        let length = run.end - run.start;
        buffer.clear();
        let file = &self.file;
        let read = self
            .seek(run.start)
            .and_then(|_cursor| file.take(length).read_to_end(buffer))
            .map_err(|error| self.read_error(error))?;
        if read as u64 == length {
            Ok(())
        } else {
            Err(self.read_error("the file became shorter while it was in use"))
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
        let Some(mut records) = self.all_records_of(package)? else {
            return Ok(None);
        };
        self.leave_out_hidden(package, &mut records);
        if let Some(ecosystem) = self.ecosystem {
            let first = records.first().cloned();
            records.retain(|(record, _)| record.ecosystem.id() == ecosystem);
            if records.is_empty()
                && let Some(first) = first
            {
                self.tell_ecosystem(&first, ecosystem);
                return Ok(None);
            }
        }
        if !records.is_sorted_by(|one, two| one.0.version < two.0.version) {
            records.sort_by(|one, two| {
                let by_version = one.0.version.cmp(&two.0.version);
                by_version.then(one.1.start.cmp(&two.1.start))
            });
            records = self.settled(&records);
        }
        Ok(Some(
            records.into_iter().map(|(record, _)| record).collect(),
        ))
    }

    /// The records of all lines about a package that can be read, with their lines.
    fn all_records_of(
        &self,
        package: &str,
    ) -> Result<Option<Vec<(IndexRecord, Run)>>, RegistryError> {
        let Some(runs) = self.runs()?.of(package) else {
            return Ok(None);
        };
        let mut buffer = lock(&self.buffer);
        let mut records: Vec<(IndexRecord, Run)> = Vec::new();
        for run in runs {
            self.read_run(run, &mut buffer)?;
            let mut rest = buffer.as_slice();
            let mut number = run.first_line;
            let mut start = run.start;
            while !rest.is_empty() {
                let length = memchr(b'\n', rest).unwrap_or(rest.len() - 1) + 1;
                let (line, after) = rest.split_at(length);
                let end = start + length as u64;
                let line = line.trim_ascii_end();
                if !line.is_empty() {
                    match self.read_line(line, number) {
                        Ok(record) if record.name.as_str() == package => {
                            records.push((record, Run::of_line(number, start, end)));
                        }
                        Ok(_) => {
                            return Err(self.read_error("the file changed while it was in use"));
                        }
                        Err(error) => {
                            self.skip_line(number, &error);
                            self.hide_version(package, line, number);
                        }
                    }
                }
                rest = after;
                start = end;
                number += 1;
            }
        }
        Ok(Some(records))
    }

    /// Remembers that a line which cannot be read hides a version. A line that certainly belongs to another ecosystem
    /// hides none that is used.
    pub(super) fn hide_version(&self, package: &str, line: &[u8], number: usize) {
        if let Some(wanted) = self.ecosystem
            && IndexRecord::ecosystem_of_line(line).is_some_and(|stated| stated != wanted)
        {
            return;
        }
        if let Some(version) = IndexRecord::version_of_line(line) {
            let version = plain_version(&version);
            let key = (package.to_owned(), version);
            lock(&self.skipped).hidden.entry(key).or_insert(number);
        }
    }

    /// Leaves out the records of versions that a line hides, each with a warning: nobody knows which line is right.
    fn leave_out_hidden(&self, package: &str, records: &mut Vec<(IndexRecord, Run)>) {
        if lock(&self.skipped).hidden.is_empty() {
            return;
        }
        let hides = |record: &IndexRecord| {
            let version = plain_version(&record.version.to_string());
            let key = (package.to_owned(), version);
            lock(&self.skipped).hidden.get(&key).copied()
        };
        records.retain(|(record, line)| {
            let Some(number) = hides(record) else {
                return true;
            };
            // The line is read from the file while the lock is not held.
            if lock(&self.skipped).lines.insert(line.first_line) {
                let release = format!("{} {}", record.name, record.version);
                let finding = Diagnostic::warning(Code::DuplicateRelease, hidden(&release))
                    .label(self.whole_line(*line), "not used")
                    .label(self.location(number, "", Span::default()), "cannot be read")
                    .hint("correct the line that cannot be read, or remove it");
                lock(&self.skipped).findings.push(finding);
            }
            false
        });
    }

    /// The record of a version with one of some digests, if the version is left out because it has two contents.
    pub(super) fn locked_record_of(
        &self,
        package: &PackageName,
        version: &Version,
        digests: &BTreeSet<ArtifactDigest>,
    ) -> Result<Option<IndexRecord>, RegistryError> {
        // An index with such a version is not compiled.
        if self.compiled_index().is_some() {
            return Ok(None);
        }
        let mut records = self.all_records_of(package.as_str())?.unwrap_or_default();
        let is_used = |record: &IndexRecord| {
            let ecosystem = record.ecosystem.id();
            self.ecosystem.is_none_or(|wanted| wanted == ecosystem)
        };
        records.retain(|(record, _)| record.version == *version && is_used(record));
        let is_locked = |digest: ArtifactDigest| digests.contains(&digest);
        let mut locked =
            (records.iter()).filter(|(record, _)| record.digest.is_some_and(is_locked));
        // Lines with the locked digest that differ otherwise remain ambiguous.
        let Some(used) = locked
            .next()
            .filter(|(first, _)| locked.all(|one| one.0 == *first))
        else {
            return Ok(None);
        };
        if let Some(other) = records.iter().find(|(record, _)| *record != used.0) {
            self.tell_locked(used, other);
        }
        // What is said of the line that cannot be read remains.
        let release = format!("{} {}", used.0.name, used.0.version);
        let warning = hidden(&release);
        (lock(&self.skipped).findings).retain(|finding| finding.message != warning);
        Ok(Some(used.0.clone()))
    }

    /// Reports a package that has records of other ecosystems alone, once. For the solver, there is no such package.
    fn tell_ecosystem(&self, first: &(IndexRecord, Run), ecosystem: &str) {
        let IndexRecord {
            name,
            ecosystem: other,
            ..
        } = &first.0;
        if !lock(&self.skipped).packages.insert(name.clone()) {
            return;
        }
        let message = format!(
            "{} has {name} only as a package of the ecosystem `{}`, which cannot be used in `{ecosystem}`",
            titled(&self.name),
            other.id()
        );
        let finding =
            Diagnostic::warning(Code::UnknownPackage, message).at(self.whole_line(first.1));
        lock(&self.skipped).findings.push(finding);
    }

    /// Reports that the line with the locked digest is used, instead of the warning that none is.
    fn tell_locked(&self, used: &(IndexRecord, Run), other: &(IndexRecord, Run)) {
        let record = &used.0;
        let release = format!("{} {}", record.name, record.version);
        let message = format!(
            "{release} appears twice with different content: the line with the locked digest is used"
        );
        let finding = Diagnostic::warning(Code::DuplicateRelease, message)
            .label(self.whole_line(used.1), "used")
            .label(self.whole_line(other.1), "not used")
            .hint("give one of them another version, or remove it");
        let before = not_used(&release);
        let mut skipped = lock(&self.skipped);
        let mut findings = skipped.findings.iter_mut();
        if let Some(warning) = findings.find(|warning| warning.message == before) {
            *warning = finding;
        }
    }

    /// One record of each version, from sorted records with their lines. A version with two contents is left out, with
    /// a warning.
    fn settled(&self, records: &[(IndexRecord, Run)]) -> Vec<(IndexRecord, Run)> {
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
    fn skip_ambiguous(&self, first: &(IndexRecord, Run), other: &(IndexRecord, Run)) {
        // The lines are read from the file while the lock is not held: opening an index takes both locks in the other
        // order.
        if !lock(&self.skipped).lines.insert(other.1.first_line) {
            return;
        }
        let record = &first.0;
        let message = not_used(&format!("{} {}", record.name, record.version));
        let finding = Diagnostic::warning(Code::DuplicateRelease, message)
            .label(self.whole_line(first.1), "first here")
            .label(self.whole_line(other.1), "again here")
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

/// The text of a version without build metadata, padded if it is short.
fn plain_version(text: &str) -> String {
    match Version::parse(text) {
        Ok(version) => {
            let text = version.to_string();
            let end = text.find('+').unwrap_or(text.len());
            text[..end].to_owned()
        }
        Err(_) => text.to_owned(),
    }
}

/// The message about a release with a line that can be read and one that cannot.
fn hidden(release: &str) -> String {
    format!("{release} appears twice, and one of its lines cannot be read, so it is not used")
}

/// The message about a release with two contents.
fn not_used(release: &str) -> String {
    format!("{release} appears twice with different content, so it is not used")
}
