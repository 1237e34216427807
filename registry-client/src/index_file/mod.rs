//! `index:FILE`: index records, one JSON object per line.
//!
//! **Problem.** An index can have millions of lines, of which a request needs a few.
//!
//! **Idea.** Opening an index scans it once for the positions of the lines of each package, reading no more of a line
//! than the name of its package. A line is parsed when its package is needed, from the file again, so that memory holds
//! names and positions, however large the file is. A line that cannot be read is left out, with a warning that has
//! file, line and column, when its package is needed, or at once if the line does not name its package; it hides the
//! other lines of its version. So are lines of one version with different content, for either could be the right one.
//! Only a line that is too long, and a file without any record, are errors of the whole index.
//!
//! With a cache, an index is compiled when it is likely to be used again: small ones at once, large ones when they are
//! seen a second time. From then on lines are needed only for full records. Without a cache, an index that is not large
//! is compiled for this run alone, once a solver has needed an eighth of its packages. An index with a line that
//! cannot be read is not compiled, so that warnings are the same with and without a cache.
//!
//! The file is not mapped into memory: it may be replaced or truncated while it is in use, which has to be an error
//! and must not end the process.

mod chunks;
mod compiled;
mod line_positions;
mod lines;
mod provided;
mod records;

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs::File;
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::SystemTime;

use memchr::memmem;
use pkgres_manifest::diagnostic::{Diagnostic, Escaped, Span};
use pkgres_manifest::{
    ArtifactDigest, ClassName, IndexReader, IndexRecord, Limits, PackageName, ReadOptions,
    RegistryName, Version,
};
use pkgres_resolver::CompiledIndex;

use crate::index_cache::{CacheEntry, Fingerprint, IndexCache, KnownContent, Sha256Digest, Stamp};
use crate::registry::Registry;
use crate::registry_error::RegistryError;
use crate::threads::{Background, lock};
use crate::whole_registry::defined_classes;
use line_positions::Runs;
use lines::{Line, Lines};
pub use provided::read_provided;
use records::without_mark;

/// A registry in an index file.
#[derive(Debug)]
pub struct IndexFileRegistry {
    name: RegistryName,
    path: PathBuf,
    limits: Limits,
    /// The id of the only ecosystem whose records are used; `None` for all.
    ecosystem: Option<&'static str>,
    file: File,
    /// The metadata of the file when it was opened.
    fingerprint: Fingerprint,
    /// The number of threads that read all lines.
    threads: NonZeroUsize,
    reader: Mutex<IndexReader>,
    skipped: Mutex<Skipped>,
    /// The bytes read last, kept for their allocation. Locked before the cursor, never after it.
    buffer: Mutex<Vec<u8>>,
    /// Held from seeking in the file to the last byte read: the file has one position for all threads.
    cursor: Mutex<()>,
    /// The positions of lines, found when the index is opened, or on first use if it is compiled.
    runs: OnceLock<Runs>,
    /// The cache entry with the digest of the content, if the cache knows it.
    known: Option<(CacheEntry, Stamp, Sha256Digest)>,
    /// The cache, for the next reading.
    cache: Option<IndexCache>,
    /// The compiled index of the cache. It is loaded on first use if the cache knows the content, as that cannot
    /// fail, and otherwise when the registry is opened.
    compiled: OnceLock<Option<Arc<CompiledIndex>>>,
    /// The index compiled for this run alone, once that was worthwhile.
    prepared: OnceLock<Option<Arc<CompiledIndex>>>,
    /// The number of packages that solvers needed.
    needed: AtomicUsize,
    background: Background,
}

/// What is left out.
#[derive(Debug, Default)]
struct Skipped {
    /// The numbers of lines.
    lines: BTreeSet<usize>,
    /// The versions that lines which cannot be read are about, by package, with the number of the first such line.
    hidden: BTreeMap<(String, String), usize>,
    /// The packages that have records of other ecosystems alone.
    packages: BTreeSet<PackageName>,
    /// The warnings that were not taken yet.
    findings: Vec<Diagnostic>,
}

impl IndexFileRegistry {
    /// Opens an index. If all lines are needed, `threads` threads read them; nothing else depends on their number.
    ///
    /// # Errors
    ///
    /// The file cannot be read, a line is too long, or no line is a record. Other lines that cannot be read are
    /// [findings](Registry::take_findings).
    pub fn open(
        name: RegistryName,
        path: &Path,
        limits: &Limits,
        threads: NonZeroUsize,
    ) -> Result<Self, RegistryError> {
        Self::open_for(name, path, &with_limits(limits), threads, None)
    }

    /// Opens an index with a cache of compiled ones: it is loaded from there, or compiled and stored there, at the
    /// latest when the registry is dropped. Only time depends on the cache.
    ///
    /// # Errors
    ///
    /// As for [`open`](Self::open).
    pub fn open_cached(
        name: RegistryName,
        path: &Path,
        limits: &Limits,
        threads: NonZeroUsize,
        cache: &IndexCache,
    ) -> Result<Self, RegistryError> {
        Self::open_for(name, path, &with_limits(limits), threads, Some(cache))
    }

    /// Opens an index for one [ecosystem](ReadOptions::ecosystem), or for all: records of others are not used, and a
    /// warning names the packages that have no others.
    ///
    /// # Errors
    ///
    /// As for [`open`](Self::open).
    pub fn open_for(
        name: RegistryName,
        path: &Path,
        options: &ReadOptions,
        threads: NonZeroUsize,
        cache: Option<&IndexCache>,
    ) -> Result<Self, RegistryError> {
        let mut registry = Self::unread(name, path, options, threads)?;
        let Some(cache) = cache else {
            let _ = registry.compiled.set(None);
            registry.runs()?;
            return Ok(registry);
        };
        registry.cache = Some(cache.clone());
        let entry = cache.entry(path, &options.limits, options.ecosystem);
        let stamp = entry.stamp();
        if let Some(stamp) = stamp
            && stamp.fingerprint == registry.fingerprint
            && let KnownContent::Content(content) = stamp.known
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

    /// Opens the file without reading it.
    fn unread(
        name: RegistryName,
        path: &Path,
        options: &ReadOptions,
        threads: NonZeroUsize,
    ) -> Result<Self, RegistryError> {
        let limits = &options.limits;
        let open = || {
            // Opening a pipe would wait for somebody to write into it.
            if !std::fs::metadata(path)?.is_file() {
                return Err(io::Error::other("this is not a plain file"));
            }
            let file = File::open(path)?;
            let metadata = file.metadata()?;
            if metadata.is_file() {
                Ok((file, Fingerprint::of(&metadata)))
            } else {
                Err(io::Error::other("this is not a plain file"))
            }
        };
        let (file, fingerprint) = open().map_err(|error| {
            RegistryError::unreachable_at(&name, Escaped::path(path).to_string(), error)
        })?;
        Ok(Self {
            name,
            path: path.to_owned(),
            limits: limits.clone(),
            ecosystem: options.ecosystem,
            file,
            fingerprint,
            threads,
            reader: Mutex::new(IndexReader::of_ecosystems(
                limits.clone(),
                pkgres_formats::ECOSYSTEMS,
            )),
            skipped: Mutex::default(),
            buffer: Mutex::default(),
            cursor: Mutex::default(),
            runs: OnceLock::new(),
            known: None,
            cache: None,
            compiled: OnceLock::new(),
            prepared: OnceLock::new(),
            needed: AtomicUsize::new(0),
            background: Background::default(),
        })
    }

    /// The positions of the lines of each package.
    fn runs(&self) -> Result<&Runs, RegistryError> {
        if let Some(runs) = self.runs.get() {
            return Ok(runs);
        }
        if self.compiled_index().is_some() {
            let now = self
                .file
                .metadata()
                .map_err(|error| self.read_error(error))?;
            if Fingerprint::of(&now) != self.fingerprint {
                return Err(self.read_error("the file changed while it was in use"));
            }
        }
        let runs = self.find_runs()?;
        Ok(self.runs.get_or_init(|| runs))
    }

    /// Scans the file for the lines of each package.
    fn find_runs(&self) -> Result<Runs, RegistryError> {
        let _cursor = self.seek(0).map_err(|error| self.read_error(error))?;
        let mut found = Runs::default();
        let mut current: Option<PackageName> = None;
        let mut first_error: Option<Diagnostic> = None;
        let mut lines = Lines::new(&self.file, self.limits.index_line_bytes);
        let mut number = 0;
        loop {
            let line = lines.next().map_err(|error| self.read_error(error))?;
            let Some(line) = line else {
                // Without any record, this is no index.
                return match first_error {
                    Some(error) if found.packages().is_empty() => Err(error.into()),
                    _ => Ok(found),
                };
            };
            number += 1;
            let (start, end, content) = match line {
                Line::Whole {
                    start,
                    end,
                    content,
                } => (start, end, content),
                Line::TooLong { head } => {
                    let package = name_in(head);
                    let error = self.too_long(number, package.as_ref());
                    let Some(package) = package else {
                        // Another registry might serve its name.
                        return Err(error.into());
                    };
                    self.skip_line(number, &error);
                    self.hide_version(package.as_str(), head, number);
                    first_error.get_or_insert(error);
                    // The package keeps its name, also if nothing else is known of it.
                    found.begin(package, 0, number);
                    current = None;
                    continue;
                }
            };
            if content.is_empty() {
                continue;
            }
            let content = without_mark(content, number == 1);
            let name = IndexRecord::package_of_line(content);
            let name = name.as_deref();
            if name.is_none() || name != current.as_ref().map(PackageName::as_str) {
                let known = name.and_then(|name| found.name(name));
                let package = match known {
                    Some(known) => known.clone(),
                    None => match name.map(PackageName::parse) {
                        Some(Ok(package)) => package,
                        _ => match self.read_line(content, number) {
                            Ok(record) => record.name,
                            Err(error) => {
                                self.skip_line(number, &error);
                                first_error.get_or_insert(error);
                                current = None;
                                continue;
                            }
                        },
                    },
                };
                found.begin(package.clone(), start, number);
                current = Some(package);
            }
            found.extend(end);
        }
    }

    /// The error about a line that is too long.
    fn too_long(&self, number: usize, package: Option<&PackageName>) -> Diagnostic {
        let about = package.map_or_else(String::new, |package| format!(", about `{package}`"));
        let what = format!("bytes in line {number} of an index{about}");
        let error = Limits::exceeded(&what, self.limits.index_line_bytes);
        error.at(self.location(number, "", Span::default()))
    }

    fn read_error(&self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> RegistryError {
        let path = Escaped::path(&self.path).to_string();
        RegistryError::unreachable_at(&self.name, path, cause)
    }
}

/// The package that a line is about, from its beginning.
fn name_in(head: &[u8]) -> Option<PackageName> {
    let name = IndexRecord::package_of_line(head)?;
    let package = PackageName::parse(&name);
    package.or_else(|_| PackageName::native(&name)).ok()
}

/// Options for the records of all ecosystems.
fn with_limits(limits: &Limits) -> ReadOptions {
    let mut options = ReadOptions::default();
    options.limits = limits.clone();
    options
}

impl Registry for IndexFileRegistry {
    fn name(&self) -> &RegistryName {
        &self.name
    }

    /// A file that did not change is not opened again: this value goes on to answer from its loaded index.
    fn reread(&self, now: SystemTime) -> Result<Option<Box<dyn Registry>>, RegistryError> {
        let metadata = std::fs::metadata(&self.path);
        if metadata.is_ok_and(|metadata| Fingerprint::of(&metadata) == self.fingerprint) {
            return Ok(None);
        }
        let mut options = with_limits(&self.limits);
        options.ecosystem = self.ecosystem;
        let cache = self.cache.as_ref().map(|cache| cache.at(now));
        let name = self.name.clone();
        let again = Self::open_for(name, &self.path, &options, self.threads, cache.as_ref())?;
        Ok(Some(Box::new(again)))
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

    fn locked_record(
        &self,
        package: &PackageName,
        version: &Version,
        digests: &BTreeSet<ArtifactDigest>,
    ) -> Result<Option<IndexRecord>, RegistryError> {
        self.locked_record_of(package, version, digests)
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
            // The file has changed, or may have.
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
        // In order, so that of several errors always the same one is reported.
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
        // Errors in lines are reported when their packages are needed.
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

    fn unreadable(&self, package: &PackageName) -> Vec<String> {
        let has_lines = |runs: &Runs| runs.name(package.as_str()).is_some();
        let sentence = || {
            let path = Escaped::path(&self.path);
            format!("no line of {path} about `{package}` can be used: the warnings say why")
        };
        let has_none = || {
            let records = self.records_of(package.as_str());
            records.is_ok_and(|records| records.is_none_or(|records| records.is_empty()))
        };
        let is_unreadable = self.runs().is_ok_and(has_lines) && has_none();
        is_unreadable.then(sentence).into_iter().collect()
    }

    fn take_findings(&self) -> Vec<Diagnostic> {
        std::mem::take(&mut lock(&self.skipped).findings)
    }
}
