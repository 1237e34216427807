//! Releases that callers provide: their delivery, errors for invalid ones, and interning of package names.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use pkgres_manifest::{IndexRecord, PackageName, ReleaseSource, Spec, Version};

use super::loaded_index::InternedPackage;
use super::{Catalog, Delivered, PackageFacts, PackageId};
use crate::index::{CompiledIndex, NONE, to_u32, width};
use crate::universe::policy::Candidates;

impl Catalog {
    /// Interns a package name.
    pub(crate) fn package_id(&mut self, name: &PackageName) -> PackageId {
        if let Some(known) = self.package_ids.get(name) {
            return *known;
        }
        if let Some((loaded, number)) = self.indexes.find_package(name.as_str()) {
            return self.package_id_in(loaded, number);
        }
        self.add_by_name(name)
    }

    /// Adds a package that no attached index has and that was not interned.
    fn add_by_name(&mut self, name: &PackageName) -> PackageId {
        let id = self.add_package(None, PackageFacts::named(name));
        self.package_ids.insert(name.clone(), id);
        id
    }

    /// Interns a package name of a loaded index.
    #[inline]
    pub(in crate::universe) fn package_id_in(&mut self, loaded: u32, number: u32) -> PackageId {
        match self.indexes.get(loaded).package(number).id() {
            Some(known) => known,
            None => self.intern_in(loaded, number),
        }
    }

    #[inline(never)]
    fn intern_in(&mut self, loaded: u32, number: u32) -> PackageId {
        let id = self.find_or_add(loaded, number);
        self.connect(loaded, number, id);
        id
    }

    /// The package of a name of a loaded index that was not met there before.
    fn find_or_add(&mut self, loaded: u32, number: u32) -> PackageId {
        let index = self.indexes.index(loaded);
        if self.indexes.first_attached() == Some(loaded) && !index.releases(number).is_empty() {
            return self.add_delivered(loaded, number);
        }
        let name = index.name_text(number);
        if let Some(known) = self.package_ids.get(name) {
            *known
        } else if let Some((other, number_there)) = self.indexes.find_package(name) {
            if other == loaded {
                self.add_delivered(loaded, number)
            } else {
                self.package_id_in(other, number_there)
            }
        } else {
            let name = index.name(number);
            self.add_by_name(&name)
        }
    }

    /// Records which package a name of a loaded index is, whether or not the package comes from there.
    #[inline]
    fn connect(&mut self, loaded: u32, number: u32, package: PackageId) {
        let is_simple = self.policy.overriding(package).is_none()
            && self.find_delivered(package).is_some_and(|delivered| {
                delivered.loaded == loaded
                    && delivered.has_default_order
                    && width(delivered.count) == 1
            });
        let package = InternedPackage::new(package, is_simple);
        self.indexes.get_mut(loaded).set_package(number, package);
    }

    /// Adds a package that comes from an attached index.
    #[inline]
    fn add_delivered(&mut self, loaded: u32, number: u32) -> PackageId {
        let (delivered, candidates) = self.releases_in(loaded, number, None);
        let facts = PackageFacts {
            candidates,
            ..PackageFacts::default()
        };
        self.add_package(Some(delivered), facts)
    }

    /// Takes the releases of a package from a loaded index.
    fn deliver_from(&mut self, package: PackageId, loaded: u32, number: u32) {
        let name = self.facts(package).name.get();
        let (delivered, candidates) = self.releases_in(loaded, number, name);
        self.packages[package.position()].delivered = Some(delivered);
        self.facts[package.position()].candidates = candidates;
    }

    /// Where the releases of a name of a loaded index are, and which are candidates.
    #[inline]
    fn releases_in(
        &self,
        loaded: u32,
        number: u32,
        name: Option<&PackageName>,
    ) -> (Delivered, Option<Box<Candidates>>) {
        let index = self.index(loaded);
        let releases = index.releases(number);
        let candidates = self.policy.candidates(index, number, || {
            name.cloned().unwrap_or_else(|| index.name(number))
        });
        let delivered = Delivered {
            loaded,
            name: number,
            first: releases.start,
            count: releases.end - releases.start,
            has_default_order: candidates.is_none(),
        };
        (delivered, candidates)
    }

    /// Attaches a whole index: its packages need not be requested. Packages that were delivered before
    /// keep their releases, and indexes that were attached before are preferred.
    pub(crate) fn attach(&mut self, source: ReleaseSource, index: Arc<CompiledIndex>) {
        let loaded = self.indexes.add(Some(source), index);
        for id in (0..to_u32(self.packages.len())).map(PackageId) {
            // A package whose name was not read comes from another attached index.
            let index = self.indexes.index(loaded);
            let name = self.facts(id).name.get();
            let name = name.filter(|_| !self.is_model(id));
            let Some(number) = name.and_then(|name| index.find(name.as_str())) else {
                continue;
            };
            let has_releases = !index.releases(number).is_empty();
            if has_releases && !self.is_delivered(id) {
                self.deliver_from(id, loaded, number);
            }
            self.connect(loaded, number, id);
        }
        if self.indexes.first_attached().is_none() {
            self.class_names.connect(&mut self.indexes, loaded);
        }
        self.indexes.attach(loaded);
    }

    /// Takes the releases that the host supplies; those of one name keep their order.
    pub(crate) fn provide_by_host(&mut self, provided: Vec<IndexRecord>) {
        let mut by_name: BTreeMap<PackageName, Vec<IndexRecord>> = BTreeMap::new();
        for record in provided {
            by_name.entry(record.name.clone()).or_default().push(record);
        }
        for (name, records) in by_name {
            let source = ReleaseSource::Host;
            self.provide(&name, Supply::Releases { source, records });
        }
    }

    /// Takes what a registry has of a package. All records have to be about that package, see [`check_names`].
    pub(crate) fn provide(&mut self, name: &PackageName, supply: Supply) {
        let package = self.package_id(name);
        match supply {
            Supply::Unknown => self.deliver(package, None, &[]),
            Supply::Releases { source, records } => self.deliver(package, Some(source), &records),
        }
    }

    /// Takes all releases of a package. A second delivery is ignored.
    pub(super) fn deliver(
        &mut self,
        package: PackageId,
        source: Option<ReleaseSource>,
        records: &[IndexRecord],
    ) {
        if self.is_delivered(package) {
            return;
        }
        if records.is_empty() {
            self.packages[package.position()].delivered = Some(Delivered {
                loaded: NONE,
                name: NONE,
                first: 0,
                count: 0,
                has_default_order: true,
            });
            return;
        }
        let name = self.name(package).clone();
        self.policy.record_too_new(&name, source.as_ref(), records);
        let index = Arc::new(CompiledIndex::compile(records));
        let number = index.find(name.as_str()).expect("the records are of it");
        let loaded = self.indexes.add(source, index);
        self.deliver_from(package, loaded, number);
        self.connect(loaded, number, package);
    }

    /// The specs that replace those of requirements.
    pub(crate) fn overrides(&self) -> BTreeMap<PackageName, Spec> {
        let overrides = self.policy.overrides();
        overrides
            .map(|(package, spec)| (self.name(package).clone(), spec.clone()))
            .collect()
    }
}

impl PackageFacts {
    pub(super) fn named(name: &PackageName) -> Self {
        Self {
            name: OnceLock::from(name.clone()),
            ..Self::default()
        }
    }
}

/// The releases of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Supply {
    /// No registry has a package of the name.
    Unknown,
    /// All releases of the package.
    Releases {
        /// The source.
        source: ReleaseSource,
        /// One record for each release, in any order.
        records: Vec<IndexRecord>,
    },
}

impl Supply {
    /// The records of the releases: none if the package is unknown.
    pub fn records(&self) -> &[IndexRecord] {
        match self {
            Self::Releases { records, .. } => records,
            Self::Unknown => &[],
        }
    }

    /// The records of the releases: none if the package is unknown.
    pub fn into_records(self) -> Vec<IndexRecord> {
        match self {
            Self::Releases { records, .. } => records,
            Self::Unknown => Vec::new(),
        }
    }
}

/// The error for data that the solver does not accept. None of it was used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProvideError {
    /// The name of a record is not that of the package that it was provided for.
    #[error("a record of `{found}` was provided as a release of `{expected}`")]
    OtherPackage {
        /// The package.
        expected: PackageName,
        /// The name in the record.
        found: PackageName,
    },
    /// The releases of a package were provided before.
    #[error("the releases of `{0}` were provided twice")]
    ProvidedTwice(PackageName),
    /// Classes were provided for an unknown release.
    #[error("the classes of {name} {version} were provided, but no such release")]
    UnknownRelease {
        /// The package.
        name: PackageName,
        /// The version.
        version: Version,
    },
    /// An index cannot be used for a request with a cut-off date, because it has no dates of
    /// publication.
    #[error("an index without dates cannot answer a request that excludes newer releases")]
    DatesNeeded,
}

/// Rejects records of other packages.
pub(crate) fn check_names(name: &PackageName, supply: &Supply) -> Result<(), ProvideError> {
    if let Supply::Releases { records, .. } = supply
        && let Some(other) = records.iter().find(|record| record.name != *name)
    {
        return Err(ProvideError::OtherPackage {
            expected: name.clone(),
            found: other.name.clone(),
        });
    }
    Ok(())
}
