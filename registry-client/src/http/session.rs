//! What is known of a registry in one run.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use pkgres_manifest::{ClassName, PackageName};
use pkgres_resolver::CompiledIndex;

use crate::protocol::{Config, Digest};

use super::document::{Document, DocumentReader};
use super::store::{Header, Kept};
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
    pub(super) reader: DocumentReader,
    /// What was asked for first and all that it requires, prepared for solving.
    pub(super) prepared: Prepared,
}

/// Releases that were prepared for solving.
pub(super) enum Prepared {
    NotYet,
    /// There are too few for it to be worth the while.
    TooFew,
    Done(Arc<CompiledIndex>),
}

/// What is known of a package.
pub(super) struct Entry {
    /// Its document; nothing if the registry does not have the package.
    pub(super) document: Option<Arc<Document>>,
    /// Whether that was so in this run, and not only in an earlier one.
    pub(super) is_fresh: bool,
    /// The newest serial for which it is known to be so.
    pub(super) serial: u64,
}

impl Session {
    pub(super) fn new(reader: DocumentReader) -> Self {
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
            prepared: Prepared::NotYet,
        }
    }

    /// Takes over what an earlier run kept.
    pub(super) fn load(&mut self, kept: Kept) {
        let Kept {
            config,
            config_at,
            serial,
            root,
            documents,
            absent,
            classes,
        } = kept;
        (self.serial, self.root) = (serial, root);
        self.config = Some((config, config_at));
        self.entries.reserve(documents.len() + absent.len());
        for (name, document, is_current) in documents {
            let entry = Entry {
                document: Some(Arc::new(document)),
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
        let mut header = Header::new(config, at, self.serial, self.root);
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
    pub(super) fn set(&mut self, name: PackageName, document: Option<Arc<Document>>, serial: u64) {
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

    /// A reader of documents beside the session.
    pub(super) fn another_reader(&self) -> DocumentReader {
        self.reader.another()
    }

    /// The document of a package, if the registry has the package and it is at hand.
    pub(super) fn document(&self, name: &PackageName) -> Option<&Arc<Document>> {
        self.entries.get(name)?.document.as_ref()
    }

    /// The packages that the releases of a package require, as far as its document is known.
    pub(super) fn required_by(&mut self, name: &PackageName) -> Arc<[PackageName]> {
        let document = self
            .entries
            .get(name)
            .and_then(|entry| entry.document.as_ref());
        match document {
            Some(document) => document.requires(name, &mut self.reader),
            None => Arc::default(),
        }
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
                let required = self.required_by(&name);
                rest.extend(required.iter().cloned());
            }
        }
        found
    }

    /// Forgets documents that turn out to be damaged on the disk; gives their packages.
    pub(super) fn forget_damaged<'name>(
        &mut self,
        names: impl IntoIterator<Item = &'name PackageName>,
    ) -> Vec<PackageName> {
        let is_damaged = |name: &&PackageName| {
            let document = self.document(name);
            document.is_some_and(|document| !document.is_whole())
        };
        let damaged: Vec<_> = names.into_iter().filter(is_damaged).cloned().collect();
        for name in &damaged {
            self.entries.remove(name);
        }
        damaged
    }
}
