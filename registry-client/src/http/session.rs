//! What is known of a registry in one run.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use pkgres_manifest::diagnostic::Diagnostic;
use pkgres_manifest::{ClassName, IndexReader, IndexRecord, PackageName};

use crate::protocol::{Config, Digest, IndexDocument};

use super::store::{Bytes, Header, KeptDocument};
use super::trust::Seen;

/// What is known of a registry in one run.
pub(super) struct Session {
    /// Whether what earlier runs kept was looked at.
    pub(super) is_loaded: bool,
    /// Whether the registry was asked what changed since.
    pub(super) is_refreshed: bool,
    pub(super) config: Option<(Config, jiff::Timestamp)>,
    pub(super) serial: u64,
    pub(super) root: Option<Digest>,
    pub(super) entries: HashMap<PackageName, Entry>,
    /// Who defines a class, and the serial that this belongs to.
    pub(super) classes: BTreeMap<ClassName, (Vec<PackageName>, u64)>,
    /// The digests of all documents, where there is no batch.
    pub(super) names: Option<HashMap<PackageName, Digest>>,
    pub(super) seen: Option<Seen>,
    pub(super) reader: IndexReader,
}

/// What is known of a package.
pub(super) struct Entry {
    /// Its document; nothing if the registry does not have the package.
    pub(super) document: Option<Document>,
    /// Whether that was so in this run, and not only in an earlier one.
    pub(super) is_fresh: bool,
    /// The newest serial for which it is known to be so.
    pub(super) serial: u64,
}

/// An index document.
pub(super) struct Document {
    pub(super) sha256: Digest,
    pub(super) bytes: Bytes,
    records: OnceCell<Result<Vec<IndexRecord>, Box<Diagnostic>>>,
}

impl Document {
    pub(super) fn new(sha256: Digest, bytes: Bytes) -> Self {
        Self {
            sha256,
            bytes,
            records: OnceCell::new(),
        }
    }

    /// The releases. Whether they are right comes to light only when somebody asks.
    pub(super) fn records(
        &self,
        shown: &str,
        name: &PackageName,
        reader: &mut IndexReader,
    ) -> &Result<Vec<IndexRecord>, Box<Diagnostic>> {
        self.records.get_or_init(|| {
            IndexDocument::parse(shown, &self.bytes, name, reader).map_err(Box::new)
        })
    }
}

impl Session {
    pub(super) fn new(reader: IndexReader) -> Self {
        Self {
            is_loaded: false,
            is_refreshed: false,
            config: None,
            serial: 0,
            root: None,
            entries: HashMap::new(),
            classes: BTreeMap::new(),
            names: None,
            seen: None,
            reader,
        }
    }

    /// Takes over what an earlier run kept.
    pub(super) fn load(&mut self, header: Header, documents: Vec<Bytes>) {
        let Header {
            config,
            config_at,
            serial,
            root,
            documents: kept,
            absent,
            classes,
            ..
        } = header;
        (self.serial, self.root) = (serial, root);
        self.config = Some((config, config_at));
        for (document, bytes) in kept.into_iter().zip(documents) {
            let KeptDocument {
                name,
                sha256,
                is_current,
                ..
            } = document;
            let entry = Entry {
                document: Some(Document::new(sha256, bytes)),
                is_fresh: false,
                serial: if is_current { serial } else { 0 },
            };
            self.entries.insert(name, entry);
        }
        for name in absent {
            let entry = Entry {
                document: None,
                is_fresh: false,
                serial,
            };
            self.entries.insert(name, entry);
        }
        for (class, packages) in classes {
            self.classes.insert(class, (packages, serial));
        }
    }

    /// What is kept for later runs.
    pub(super) fn header(&self) -> Option<Header> {
        let (config, at) = self.config.clone()?;
        let mut header = Header::new(config, at);
        (header.serial, header.root) = (self.serial, self.root);
        let is_current = |entry: &Entry| entry.serial == self.serial;
        header.absent = self
            .entries
            .iter()
            .filter(|(_, entry)| entry.document.is_none() && is_current(entry))
            .map(|(name, _)| name.clone())
            .collect();
        header.absent.sort();
        header.classes = self
            .classes
            .iter()
            .filter(|(_, (_, serial))| *serial == self.serial)
            .map(|(class, (packages, _))| (class.clone(), packages.clone()))
            .collect();
        Some(header)
    }

    pub(super) fn is_fresh(&self, name: &PackageName) -> bool {
        self.entries.get(name).is_some_and(|entry| entry.is_fresh)
    }

    /// Whatever was known of the state before is known of this one, but for some packages.
    pub(super) fn carry_over(&mut self, serial: u64, changed: &BTreeSet<PackageName>) {
        let before = self.serial;
        for (name, entry) in &mut self.entries {
            if entry.serial == before && !changed.contains(name) {
                (entry.serial, entry.is_fresh) = (serial, true);
            }
        }
        if changed.is_empty() {
            for (_, of) in self.classes.values_mut() {
                if *of == before {
                    *of = serial;
                }
            }
        }
        self.serial = serial;
    }

    /// Notes that a package is like that, unless it was already answered for in this run.
    pub(super) fn set(&mut self, name: PackageName, document: Option<Document>, serial: u64) {
        if self.is_fresh(&name) {
            return;
        }
        let entry = Entry {
            document,
            is_fresh: true,
            serial,
        };
        self.entries.insert(name, entry);
    }

    /// The packages that the releases of a package require, as far as its document is known.
    pub(super) fn required_by(&mut self, name: &PackageName) -> Vec<PackageName> {
        let Some(document) = self
            .entries
            .get(name)
            .and_then(|entry| entry.document.as_ref())
        else {
            return Vec::new();
        };
        let records = document.records(name.as_str(), name, &mut self.reader);
        let mut names: Vec<PackageName> = records
            .iter()
            .flatten()
            .flat_map(|record| &record.requirements)
            .map(|requirement| requirement.package.clone())
            .collect();
        names.sort();
        names.dedup();
        names
    }

    /// The packages that can be reached from some through documents that are at hand, those
    /// included.
    pub(super) fn reachable(
        &mut self,
        from: impl IntoIterator<Item = PackageName>,
        limit: usize,
    ) -> BTreeSet<PackageName> {
        let mut found: BTreeSet<PackageName> = BTreeSet::new();
        let mut rest: Vec<PackageName> = from.into_iter().collect();
        while let Some(name) = rest.pop() {
            if found.len() < limit && found.insert(name.clone()) {
                rest.extend(self.required_by(&name));
            }
        }
        found
    }
}
