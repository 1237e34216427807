//! `index:FILE`: index records, one JSON object a line.
//!
//! Opening an index only finds out where the lines of each package stand; a line is read when its
//! package is asked for. Memory holds the names and what the solver reaches, however large the
//! file is.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memchr::memchr;
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped, Location, SourceText, Span};
use pkgres_manifest::{
    ArtifactDigest, ClassName, IndexReader, IndexRecord, Limits, PackageName, RegistryName,
};

use crate::registry::{Artifact, Registry, RegistryError};

/// How a line begins whose package can be told without reading all of it.
const NAME_FIRST: &[u8] = br#"{"name":""#;

/// How much of the file is read at a time.
const BUFFER_BYTES: usize = 1 << 18;

/// The index records of a file.
#[derive(Debug)]
pub struct IndexFileRegistry {
    name: RegistryName,
    path: PathBuf,
    limits: Limits,
    file: RefCell<File>,
    reader: RefCell<IndexReader>,
    /// For each package the runs of lines that are about it.
    packages: HashMap<Box<[u8]>, Vec<Run>>,
}

/// Consecutive lines about one package.
#[derive(Debug, Clone, Copy)]
struct Run {
    start: u64,
    end: u64,
    first_line: usize,
}

impl IndexFileRegistry {
    /// Opens an index. A line whose package cannot be told is an error; other faults of a line are
    /// found when its package is asked for.
    pub fn open(name: RegistryName, path: &Path, limits: &Limits) -> Result<Self, RegistryError> {
        let open = || {
            let file = File::open(path)?;
            if file.metadata()?.is_file() {
                Ok(file)
            } else {
                Err(io::Error::other("this is not a plain file"))
            }
        };
        let file = open().map_err(|error| unreachable(&name, path, &error))?;
        let mut registry = Self {
            name,
            path: path.to_owned(),
            limits: limits.clone(),
            file: RefCell::new(file),
            reader: RefCell::new(IndexReader::new(limits.clone())),
            packages: HashMap::new(),
        };
        registry.packages = registry.find_runs()?;
        Ok(registry)
    }

    /// Finds out where the lines of each package stand.
    fn find_runs(&self) -> Result<HashMap<Box<[u8]>, Vec<Run>>, RegistryError> {
        let mut packages: HashMap<Box<[u8]>, Vec<Run>> = HashMap::new();
        let mut current: Option<(Box<[u8]>, Run)> = None;
        let mut file = self.file.borrow_mut();
        let mut input = BufReader::with_capacity(BUFFER_BYTES, &mut *file);
        let mut line = Vec::new();
        let (mut end, mut number) = (0_u64, 0_usize);
        loop {
            line.clear();
            let limit = self.limits.index_line_bytes;
            // One byte for the line feed, and one more to tell a line that is too long.
            let read = input
                .by_ref()
                .take(limit.saturating_add(2))
                .read_until(b'\n', &mut line);
            let length = read.map_err(|error| unreachable(&self.name, &self.path, &error))?;
            if length == 0 {
                break;
            }
            number += 1;
            let start = end;
            end += length as u64;
            let content = line.trim_ascii_end();
            if content.len() as u64 > limit {
                let error = Limits::exceeded("bytes in a line of an index", limit);
                return Err(error.at(self.location(number, "", Span::default())).into());
            }
            if content.is_empty() {
                continue;
            }
            let name = if let Some(name) = canonical_name(content) {
                name
            } else {
                let record = self.read_line(content, number)?;
                Cow::Owned(record.name.as_str().as_bytes().to_vec())
            };
            match &mut current {
                Some((known, run)) if **known == *name => run.end = end,
                _ => {
                    let first_line = number;
                    let run = Run {
                        start,
                        end,
                        first_line,
                    };
                    if let Some((name, run)) = current.replace((name.as_ref().into(), run)) {
                        packages.entry(name).or_default().push(run);
                    }
                }
            }
        }
        if let Some((name, run)) = current {
            packages.entry(name).or_default().push(run);
        }
        Ok(packages)
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

    /// A line as a place, for messages.
    fn whole_line(&self, runs: &[Run], number: usize) -> Location {
        let run = runs.iter().rfind(|run| run.first_line <= number);
        let bytes = run.and_then(|run| Some((self.read_run(*run).ok()?, run.first_line)));
        let line = bytes.as_ref().and_then(|(bytes, first)| {
            let line = bytes.split(|byte| *byte == b'\n').nth(number - first)?;
            std::str::from_utf8(line.trim_ascii_end()).ok()
        });
        let line = line.unwrap_or_default();
        let end = line.len();
        self.location(number, line, Span { start: 0, end })
    }

    fn read_run(&self, run: Run) -> io::Result<Vec<u8>> {
        let mut file = self.file.borrow_mut();
        file.seek(SeekFrom::Start(run.start))?;
        let length = run.end - run.start;
        let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
        (&mut *file).take(length).read_to_end(&mut bytes)?;
        if bytes.len() as u64 == length {
            Ok(bytes)
        } else {
            Err(io::Error::other(
                "the file became shorter while it was in use",
            ))
        }
    }

    fn records_of(&self, name: &[u8], runs: &[Run]) -> Result<Vec<IndexRecord>, RegistryError> {
        let mut records: Vec<(IndexRecord, usize)> = Vec::new();
        for run in runs {
            let bytes = self
                .read_run(*run)
                .map_err(|error| unreachable(&self.name, &self.path, &error))?;
            for (at, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
                let line = line.trim_ascii_end();
                if line.is_empty() {
                    continue;
                }
                let number = run.first_line + at;
                let record = self.read_line(line, number)?;
                if record.name.as_str().as_bytes() != name {
                    return Err(unreachable(
                        &self.name,
                        &self.path,
                        &"the file changed while it was in use",
                    ));
                }
                records.push((record, number));
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
                    .label(self.whole_line(runs, pair[0].1), "first here")
                    .label(self.whole_line(runs, *again), "again here")
                    .into());
            }
            records.dedup_by(|next, kept| next.0.version == kept.0.version);
        }
        Ok(records.into_iter().map(|(record, _)| record).collect())
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

/// The package of a line that begins with its name, as `pkgres index` writes it.
fn canonical_name(line: &[u8]) -> Option<Cow<'_, [u8]>> {
    let rest = line.strip_prefix(NAME_FIRST)?;
    let name = &rest[..memchr(b'"', rest)?];
    // Escapes are left to the full reader, which also refuses what is not a name.
    let is_plain = name
        .iter()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_'));
    is_plain.then_some(name.into())
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
            .map(|name| {
                let name = name.as_str().as_bytes();
                self.packages
                    .get(name)
                    .map(|runs| self.records_of(name, runs))
                    .transpose()
            })
            .collect()
    }

    fn defining(&self, class: &ClassName) -> Result<Vec<PackageName>, RegistryError> {
        let mut found = BTreeSet::new();
        for (name, runs) in &self.packages {
            let defines = |record: &IndexRecord| {
                record.classes.as_ref().is_some_and(|classes| {
                    classes
                        .iter()
                        .any(|known| known.name == *class && !known.internal)
                })
            };
            if let Some(record) = self.records_of(name, runs)?.into_iter().find(defines) {
                found.insert(record.name);
            }
        }
        Ok(found.into_iter().collect())
    }

    fn artifact(&self, _: &ArtifactDigest) -> Result<Option<Artifact>, RegistryError> {
        // An index says which artifacts there are; it does not hold them.
        Ok(None)
    }

    fn take_findings(&self) -> Vec<Diagnostic> {
        Vec::new()
    }
}
