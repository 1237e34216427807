//! `index:FILE`: index records, one JSON object a line.
//!
//! Opening an index only finds out where the lines of each package stand. To that end the file is
//! gone through once, and of a line no more is looked at than its length and the name of its
//! package. A line is read when its package is asked for, from the file again: memory holds the
//! names of the packages and what is asked for, however large the file is.
//!
//! Therefore a fault in a line comes to light only when its package is asked for. Such an error
//! names the file, the line and the column. Only lines whose package cannot be told, or that are
//! too long, are errors of the index as a whole.
//!
//! With a cache, the index is compiled when it seems to be used again, and the compiled one serves
//! from then on: then lines are looked for only when all that a record says is asked for. An index
//! that has a fault anywhere is not compiled, so that the same faults are told with and without.
//!
//! Without one, an index that is not large is compiled for the run alone once a solver has asked for a
//! good part of its packages. Who needs few of them does not pay for all.
//!
//! The file is not mapped into memory: it may be replaced or cut short while it is in use, which
//! has to be an error and not the end of the process. Reading it in portions costs no more.

mod compiled;
mod lines;
mod portions;
mod runs;

use std::cell::{Cell, OnceCell, RefCell};
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memchr::{memchr, memmem};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped, Location, SourceText, Span};
use pkgres_manifest::{
    ArtifactDigest, ClassName, IndexReader, IndexRecord, Limits, PackageName, RegistryName,
};
use pkgres_resolver::CompiledIndex;

use crate::background::Background;
use crate::index_cache::{Digest, Entry as CacheEntry, IndexCache, Known, Look, Stamp};
use crate::registry::{Artifact, Registry, RegistryError, defined_classes};
use lines::{Line, Lines};
use runs::{Run, Runs};

/// The index records of a file.
#[derive(Debug)]
pub struct IndexFileRegistry {
    name: RegistryName,
    path: PathBuf,
    limits: Limits,
    file: File,
    /// What the file looked like when it was opened.
    look: Look,
    /// How many threads read all lines.
    threads: NonZeroUsize,
    reader: RefCell<IndexReader>,
    /// What was read of the file last. It is kept for its room alone.
    buffer: RefCell<Vec<u8>>,
    /// Found out when the index is opened, or when they are first needed if it is compiled.
    runs: OnceCell<Runs>,
    /// What the cache knows of the content, if it knows what it is.
    known: Option<(CacheEntry, Stamp, Digest)>,
    /// Looked up when the registry is opened, or when it is first asked if the content is known:
    /// then nothing can be wrong with it.
    compiled: OnceCell<Option<Arc<CompiledIndex>>>,
    /// The index compiled for this run alone, once that was worth while.
    prepared: OnceCell<Option<Arc<CompiledIndex>>>,
    /// How many packages a solver has asked for.
    asked: Cell<usize>,
    background: Background,
}

impl IndexFileRegistry {
    /// Opens an index. A line whose package cannot be told is an error; other faults of a line are
    /// found when its package is asked for.
    ///
    /// Where all lines are needed, so many threads read them: nothing else depends on their number.
    pub fn open(
        name: RegistryName,
        path: &Path,
        limits: &Limits,
        threads: NonZeroUsize,
    ) -> Result<Self, RegistryError> {
        let registry = Self::unread(name, path, limits, threads)?;
        let _ = registry.compiled.set(None);
        registry.runs()?;
        Ok(registry)
    }

    /// Likewise with a cache, from which the index comes if it is there, and where it is kept
    /// otherwise. Nothing but the time that it takes depends on the cache. What is kept is there
    /// at the latest when the registry is dropped.
    pub fn open_cached(
        name: RegistryName,
        path: &Path,
        limits: &Limits,
        threads: NonZeroUsize,
        cache: &IndexCache,
    ) -> Result<Self, RegistryError> {
        let mut registry = Self::unread(name, path, limits, threads)?;
        let entry = cache.entry(path, limits);
        let stamp = entry.stamp();
        if let Some(stamp) = stamp
            && stamp.look == registry.look
            && let Known::Content(content) = stamp.known
        {
            registry.known = Some((entry, stamp, content));
            return Ok(registry);
        }
        let index = registry.find_compiled(&entry, stamp);
        let has_index = index.is_some();
        let _ = registry.compiled.set(index);
        if !has_index {
            registry.runs()?;
        }
        Ok(registry)
    }

    /// The compiled index, if there is one.
    fn compiled_index(&self) -> Option<&Arc<CompiledIndex>> {
        let find = || {
            let (entry, stamp, _) = self.known.as_ref()?;
            self.find_compiled(entry, Some(*stamp))
        };
        self.compiled.get_or_init(find).as_ref()
    }

    /// Opens the file and no more.
    fn unread(
        name: RegistryName,
        path: &Path,
        limits: &Limits,
        threads: NonZeroUsize,
    ) -> Result<Self, RegistryError> {
        let open = || {
            let file = File::open(path)?;
            let metadata = file.metadata()?;
            if metadata.is_file() {
                Ok((file, Look::of(&metadata)))
            } else {
                Err(io::Error::other("this is not a plain file"))
            }
        };
        let (file, look) = open().map_err(|error| unreachable(&name, path, &error))?;
        Ok(Self {
            name,
            path: path.to_owned(),
            limits: limits.clone(),
            file,
            look,
            threads,
            reader: RefCell::new(IndexReader::new(limits.clone())),
            buffer: RefCell::default(),
            runs: OnceCell::new(),
            known: None,
            compiled: OnceCell::new(),
            prepared: OnceCell::new(),
            asked: Cell::new(0),
            background: Background::default(),
        })
    }

    /// Where the lines of each package stand.
    fn runs(&self) -> Result<&Runs, RegistryError> {
        if let Some(runs) = self.runs.get() {
            return Ok(runs);
        }
        if self.compiled_index().is_some() {
            let now = self
                .file
                .metadata()
                .map_err(|error| self.unreadable(&error))?;
            if Look::of(&now) != self.look {
                return Err(self.unreadable(&"the file changed while it was in use"));
            }
        }
        let runs = self.find_runs()?;
        Ok(self.runs.get_or_init(|| runs))
    }

    /// Finds out where the lines of each package stand.
    fn find_runs(&self) -> Result<Runs, RegistryError> {
        let start = (&self.file).seek(SeekFrom::Start(0));
        start.map_err(|error| self.unreadable(&error))?;
        let mut found = Runs::default();
        let mut current: Option<PackageName> = None;
        let mut lines = Lines::new(&self.file, self.limits.index_line_bytes);
        let mut number = 0;
        loop {
            let line = lines.next().map_err(|error| self.unreadable(&error))?;
            let Some(line) = line else {
                return Ok(found);
            };
            number += 1;
            let Line::Whole {
                start,
                end,
                content,
            } = line
            else {
                let limit = self.limits.index_line_bytes;
                let error = Limits::exceeded("bytes in a line of an index", limit);
                return Err(error.at(self.location(number, "", Span::default())).into());
            };
            if content.is_empty() {
                continue;
            }
            let name = IndexRecord::package_of_line(content);
            let name = name.as_deref();
            if name.is_none() || name != current.as_ref().map(PackageName::as_str) {
                let known = name.and_then(|name| found.name(name));
                let package = match known {
                    Some(known) => known.clone(),
                    None => match name.map(PackageName::parse) {
                        Some(Ok(package)) => package,
                        // Reading the line says what is wrong with it.
                        _ => self.read_line(content, number)?.name,
                    },
                };
                found.begin(package.clone(), start, number);
                current = Some(package);
            }
            found.extend(end);
        }
    }

    /// Reads a line of the file; `number` counts from one.
    fn read_line(&self, line: &[u8], number: usize) -> Result<IndexRecord, RegistryError> {
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
        Ok(self.reader.borrow_mut().read_line(text, &locate)?)
    }

    /// A place in a line. The lines before it are not kept, so empty ones stand for them.
    fn location(&self, number: usize, line: &str, span: Span) -> Location {
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

    /// A line about a package as a place, for messages.
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
        let mut file = &self.file;
        let read = file
            .seek(SeekFrom::Start(run.start))
            .and_then(|_| file.take(length).read_to_end(buffer))
            .map_err(|error| self.unreadable(&error))?;
        if read as u64 == length {
            Ok(())
        } else {
            Err(self.unreadable(&"the file became shorter while it was in use"))
        }
    }

    /// The records of a package, by version. Of lines that differ in build metadata alone, the one
    /// counts that has the least, wherever it stands.
    fn records_of(&self, package: &str) -> Result<Option<Vec<IndexRecord>>, RegistryError> {
        if let Some(compiled) = self.compiled_index()
            && !compiled.has_package(package)
        {
            return Ok(None);
        }
        let Some(runs) = self.runs()?.of(package) else {
            return Ok(None);
        };
        let mut buffer = self.buffer.borrow_mut();
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
                    let record = self.read_line(line, number)?;
                    if record.name.as_str() != package {
                        return Err(self.unreadable(&"the file changed while it was in use"));
                    }
                    records.push((record, number));
                }
                rest = after;
                number += 1;
            }
        }
        if !records.is_sorted_by(|one, two| one.0.version < two.0.version) {
            records.sort_by(|one, two| (&one.0.version, one.1).cmp(&(&two.0.version, two.1)));
            if let Some(pair) = records
                .windows(2)
                .find(|pair| pair[0].0.version == pair[1].0.version && pair[0].0 != pair[1].0)
            {
                let (record, again) = &pair[1];
                let message = format!(
                    "{} {} stands twice with different content",
                    record.name, record.version
                );
                return Err(Diagnostic::error(Code::DuplicateRelease, message)
                    .label(self.whole_line(package, pair[0].1), "first here")
                    .label(self.whole_line(package, *again), "again here")
                    .hint("give one of them another version, or remove it")
                    .into());
            }
            records.dedup_by(|next, kept| {
                let is_same = next.0.version == kept.0.version;
                if is_same && next.0.version.build() < kept.0.version.build() {
                    std::mem::swap(next, kept);
                }
                is_same
            });
        }
        Ok(Some(
            records.into_iter().map(|(record, _)| record).collect(),
        ))
    }

    /// Whether a record among some lines may speak of a class; if not, none does.
    fn may_name(&self, run: Run, class: &memmem::Finder<'_>) -> Result<bool, RegistryError> {
        let mut buffer = self.buffer.borrow_mut();
        self.read_run(run, &mut buffer)?;
        // A name may be written with escapes.
        Ok(class.find(&buffer).is_some() || memchr(b'\\', &buffer).is_some())
    }

    fn unreadable(&self, error: &dyn std::fmt::Display) -> RegistryError {
        unreachable(&self.name, &self.path, error)
    }
}

fn unreachable(
    registry: &RegistryName,
    path: &Path,
    error: &dyn std::fmt::Display,
) -> RegistryError {
    RegistryError::Unreachable {
        registry: registry.clone(),
        reason: format!("{}: {error}", Escaped::new(&path.to_string_lossy())),
    }
}

impl Registry for IndexFileRegistry {
    fn name(&self) -> &RegistryName {
        &self.name
    }

    fn records(
        &self,
        names: &[PackageName],
    ) -> Result<Vec<Option<Vec<IndexRecord>>>, RegistryError> {
        names
            .iter()
            .map(|name| self.records_of(name.as_str()))
            .collect()
    }

    fn compiled(&self) -> Result<Option<Arc<CompiledIndex>>, RegistryError> {
        Ok(self.compiled_index().cloned())
    }

    fn prepared(&self, names: &[PackageName]) -> Result<Option<Arc<CompiledIndex>>, RegistryError> {
        Ok(self.find_prepared(names.len()))
    }

    fn content(&self) -> Option<[u8; 32]> {
        let (_, _, content) = self.known.as_ref()?;
        match self.compiled.get() {
            // The file is not what it was, or it is not known whether it is.
            Some(None) => None,
            Some(Some(_)) | None => Some(*content),
        }
    }

    fn defining(&self, class: &ClassName) -> Result<Vec<PackageName>, RegistryError> {
        if let Some(compiled) = self.compiled_index() {
            return Ok(compiled.defining(class));
        }
        let runs = self.runs()?;
        let finder = memmem::Finder::new(class.as_str());
        let mut found = Vec::new();
        // Of several faults always the same one is told.
        for package in runs.packages() {
            let runs = runs.of(package.as_str()).unwrap_or_default();
            let mut may_define = false;
            for run in runs {
                may_define = may_define || self.may_name(run, &finder)?;
            }
            if !may_define {
                continue;
            }
            let records = self.records_of(package.as_str())?.unwrap_or_default();
            if records.iter().any(|record| record.exports(class)) {
                found.push(package.clone());
            }
        }
        found.sort_unstable();
        Ok(found)
    }

    fn defined_classes(&self) -> Vec<ClassName> {
        if let Some(compiled) = self.compiled_index() {
            return compiled.defined_classes().collect();
        }
        let Ok(runs) = self.runs() else {
            return Vec::new();
        };
        let packages = runs.packages().into_iter();
        // What is wrong with a line is not what is asked for here.
        let records = packages.filter_map(|package| self.records_of(package.as_str()).ok()?);
        defined_classes(records.flatten())
    }

    fn known_packages(&self) -> Vec<PackageName> {
        if let Some(compiled) = self.compiled_index() {
            return compiled.packages().collect();
        }
        let runs = self.runs();
        let packages = runs.map(|runs| runs.packages().into_iter().cloned().collect());
        packages.unwrap_or_default()
    }

    fn artifact(&self, _: &ArtifactDigest) -> Result<Option<Artifact>, RegistryError> {
        // An index says which artifacts there are; it does not hold them.
        Ok(None)
    }

    fn take_findings(&self) -> Vec<Diagnostic> {
        Vec::new()
    }
}
