//! A reading of a registry: what is known of its state.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use pkgres_manifest::{ClassName, PackageName};
use pkgres_resolver::CompiledIndex;

use crate::protocol::{Config, Digest};

use super::document::{Document, DocumentReader};
use super::store::{CacheHeader, CachedData};
use super::trust::TrustedState;

/// What is known of the state of a registry in one reading.
pub(super) struct Reading {
    /// Whether the cache of earlier runs was loaded.
    pub(super) is_loaded: bool,
    /// Whether the changes were requested.
    pub(super) is_refreshed: bool,
    pub(super) config: Option<(Config, jiff::Timestamp)>,
    pub(super) serial: u64,
    pub(super) root: Option<Digest>,
    pub(super) entries: HashMap<PackageName, PackageState>,
    /// The packages that define a class, and the serial at which they did.
    pub(super) classes: BTreeMap<ClassName, (Vec<PackageName>, u64)>,
    /// The digests of all documents, for registries without batch requests.
    pub(super) names: Option<HashMap<PackageName, Digest>>,
    pub(super) seen: Option<TrustedState>,
    pub(super) reader: DocumentReader,
    /// The number of packages that the registry answered in this reading.
    pub(super) answered: usize,
    /// The compiled index of the packages that were needed first.
    pub(super) prepared: Prepared,
}

/// The state of the compiled index.
pub(super) enum Prepared {
    NotYet,
    /// There are too few packages for an index to be faster.
    TooFew,
    Done(Arc<CompiledIndex>),
}

/// The known state of a package.
pub(super) struct PackageState {
    /// Its document; `None` if the registry does not have the package.
    pub(super) document: Option<Arc<Document>>,
    /// Whether this reading confirmed it.
    pub(super) is_fresh: bool,
    /// The newest serial for which it is known.
    pub(super) serial: u64,
}

impl Reading {
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
            answered: 0,
            prepared: Prepared::NotYet,
        }
    }

    /// Another reading: it knows what this one knows, but confirms it first. Absent packages are not
    /// carried over: whoever sends requests to a service chooses these names, so there may be any number of them.
    pub(super) fn reread(&self) -> Self {
        let mut next = Self::new(self.another_reader());
        next.is_loaded = self.is_loaded;
        next.config.clone_from(&self.config);
        (next.serial, next.root) = (self.serial, self.root);
        next.seen.clone_from(&self.seen);
        for (name, entry) in &self.entries {
            if entry.document.is_none() {
                continue;
            }
            let is_current = entry.serial == self.serial;
            let entry = PackageState {
                document: entry.document.clone(),
                is_fresh: false,
                serial: if is_current { entry.serial } else { 0 },
            };
            next.entries.insert(name.clone(), entry);
        }
        let classes = self.classes.iter();
        let current = classes
            .filter(|(_, (packages, serial))| !packages.is_empty() && *serial == self.serial);
        next.classes = current
            .map(|(class, known)| (class.clone(), known.clone()))
            .collect();
        next
    }

    /// Loads the cache of earlier runs.
    pub(super) fn load(&mut self, kept: CachedData) {
        let CachedData {
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
            let entry = PackageState {
                document: Some(Arc::new(document)),
                is_fresh: false,
                serial: if is_current { serial } else { 0 },
            };
            self.entries.insert(name, entry);
        }
        for name in absent {
            let entry = PackageState {
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

    /// The header of the cache for later runs.
    pub(super) fn header(&self) -> Option<CacheHeader> {
        let (config, at) = self.config.clone()?;
        let mut header = CacheHeader::new(config, at, self.serial, self.root);
        let is_current = |entry: &PackageState| entry.serial == self.serial;
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

    /// Advances to a newer state in which only some packages changed.
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

    /// Sets the document of a package, unless this reading confirmed it before: one reading sees one state.
    pub(super) fn set(&mut self, name: PackageName, document: Option<Arc<Document>>, serial: u64) {
        if self.is_fresh(&name) {
            return;
        }
        self.answered += 1;
        let entry = PackageState {
            document,
            is_fresh: true,
            serial,
        };
        self.entries.insert(name, entry);
    }

    /// A reader of documents beside the reading.
    pub(super) fn another_reader(&self) -> DocumentReader {
        self.reader.another()
    }

    /// The document of a package, if it is known and the registry has the package.
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

    /// The packages that can be reached through known documents, with the first ones, up to a limit.
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

    /// Removes documents that are damaged on the disk; returns their packages.
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
