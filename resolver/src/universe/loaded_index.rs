//! How releases come in: which package a name of an index is, and where its releases are.

use std::collections::HashMap;
use std::sync::Arc;

use pkgres_manifest::{IndexRecord, PackageName, ReleaseSource, Requirement, Spec};

use super::about::About;
use super::candidates::Candidates;
use super::seen::{Seen, SeenNames};
use super::{Delivered, PackageId, Universe};
use crate::index::{CompiledIndex, NONE, to_u32, width};
use crate::supply::Supply;

/// Releases of packages: an index of which some were delivered, or all.
#[derive(Debug)]
pub(super) struct LoadedIndex {
    pub(super) index: Arc<CompiledIndex>,
    pub(super) source: Option<ReleaseSource>,
    pub(super) seen: SeenNames,
    pub(super) specs: HashMap<u32, Spec, rustc_hash::FxBuildHasher>,
    /// Whether it is known that there are no classes.
    pub(super) has_no_classes: bool,
}

impl LoadedIndex {
    /// An index of which nothing was seen.
    fn of_index(source: Option<ReleaseSource>, index: Arc<CompiledIndex>) -> Self {
        let mut seen = SeenNames::default();
        seen.begin(index.name_count() as usize);
        Self {
            has_no_classes: index.has_no_classes(),
            index,
            source,
            seen,
            specs: HashMap::default(),
        }
    }

    /// The index.
    #[inline]
    pub(super) fn index(&self) -> &Arc<CompiledIndex> {
        &self.index
    }

    /// A spec: as it was read, if that is known, and otherwise as its text says.
    pub(super) fn spec(&self, number: u32) -> Spec {
        if let Some(known) = self.specs.get(&number) {
            return known.clone();
        }
        self.index.spec(number)
    }
}

impl Universe {
    pub(crate) fn package_id(&mut self, name: &PackageName) -> PackageId {
        if let Some(known) = self.package_ids.get(name) {
            return *known;
        }
        if let Some((loaded, number)) = self.find_attached(name.as_str()) {
            return self.package_in(loaded, number);
        }
        self.add_named(name)
    }

    /// A package that no attached loaded index has, and that was not seen.
    fn add_named(&mut self, name: &PackageName) -> PackageId {
        let id = self.add_package(None, About::called(name.clone()));
        self.package_ids.insert(name.clone(), id);
        id
    }

    /// The attached loaded index that a name comes from.
    fn find_attached(&self, name: &str) -> Option<(u32, u32)> {
        self.attached.iter().find_map(|loaded| {
            let index = self.indexes[*loaded as usize].index();
            let number = index.find(name)?;
            (!index.releases(number).is_empty()).then_some((*loaded, number))
        })
    }

    /// The package of a name of a loaded index.
    #[inline]
    pub(super) fn package_in(&mut self, loaded: u32, number: u32) -> PackageId {
        let seen = self.indexes[loaded as usize].seen.packages[number as usize];
        match seen.package() {
            Some(known) => known,
            None => self.meet(loaded, number),
        }
    }

    /// Meets a package through a name of a loaded index.
    #[inline(never)]
    fn meet(&mut self, loaded: u32, number: u32) -> PackageId {
        if let Some(id) = self.meet_plain(loaded, number) {
            return id;
        }
        let id = self.find_or_add(loaded, number);
        self.know(loaded, number, id);
        id
    }

    /// Meets a package of the first attached index of which nothing but the index has to be known, as of
    /// nearly all. No other index has the name before this one, or it would stand in the table.
    #[inline]
    fn meet_plain(&mut self, loaded: u32, number: u32) -> Option<PackageId> {
        if self.attached.first() != Some(&loaded) || !self.preferences.keep_default_order() {
            return None;
        }
        let of_loaded = &mut self.indexes[loaded as usize];
        let index = of_loaded.index();
        let releases = index.releases(number);
        if releases.is_empty() || !index.has_default_order(number) || !self.overrides.is_empty() {
            return None;
        }
        let count = releases.end - releases.start;
        let id = PackageId(to_u32(self.packages.len()));
        of_loaded.seen.packages[number as usize] = Seen::new(id, width(count) == 1);
        let delivered = Delivered {
            loaded,
            name: number,
            first: releases.start,
            count,
            has_default_order: true,
        };
        Some(self.add_package(Some(delivered), About::default()))
    }

    /// The package of a name of a loaded index that is seen there for the first time.
    fn find_or_add(&mut self, loaded: u32, number: u32) -> PackageId {
        let index = self.indexes[loaded as usize].index();
        if self.attached.first() == Some(&loaded) && !index.releases(number).is_empty() {
            return self.new_delivered(loaded, number);
        }
        let name = index.name_text(number);
        if let Some(known) = self.package_ids.get(name) {
            *known
        } else if let Some((other, there)) = self.find_attached(name) {
            if other == loaded {
                self.new_delivered(loaded, number)
            } else {
                self.package_in(other, there)
            }
        } else {
            let name = index.name(number);
            self.add_named(&name)
        }
    }

    /// Keeps which package a name of a loaded index is, which comes from there or not.
    #[inline]
    pub(super) fn know(&mut self, loaded: u32, number: u32, package: PackageId) {
        let delivered = &self.packages[package.position()].delivered;
        let is_simple = self.overriding(package).is_none()
            && delivered.is_some_and(|delivered| {
                delivered.loaded == loaded
                    && delivered.has_default_order
                    && width(delivered.count) == 1
            });
        self.indexes[loaded as usize].seen.packages[number as usize] =
            Seen::new(package, is_simple);
    }

    /// A package that is seen and comes from an attached loaded index.
    #[inline]
    fn new_delivered(&mut self, loaded: u32, number: u32) -> PackageId {
        let (delivered, candidates) = self.in_loaded(loaded, number, None);
        let about = candidates.map_or_else(About::default, About::with_candidates);
        self.add_package(Some(delivered), about)
    }

    /// Says that a package comes from a loaded index.
    fn deliver_from(&mut self, package: PackageId, loaded: u32, number: u32) {
        let known_name = self.about(package).known_name();
        let (delivered, candidates) = self.in_loaded(loaded, number, known_name);
        self.packages[package.position()].delivered = Some(delivered);
        if let Some(candidates) = candidates {
            self.about[package.position()].set_candidates(candidates);
        }
    }

    /// Where the releases of a name of a loaded index are, and what decides among them.
    #[inline]
    fn in_loaded(
        &self,
        loaded: u32,
        number: u32,
        known_name: Option<&PackageName>,
    ) -> (Delivered, Option<Box<Candidates>>) {
        let index = self.indexes[loaded as usize].index();
        let releases = index.releases(number);
        let candidates = self.preferences.candidates(index, number, || {
            known_name.cloned().unwrap_or_else(|| index.name(number))
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

    /// Takes a whole index whose packages then need not be asked for. What was provided before
    /// goes first, and so do indexes that were attached before.
    pub(crate) fn attach(&mut self, source: ReleaseSource, index: Arc<CompiledIndex>) {
        let loaded = self.add_index(LoadedIndex::of_index(Some(source), index));
        for id in (0..to_u32(self.packages.len())).map(PackageId) {
            // What has no name yet was seen through another index, and comes from there.
            let index = self.indexes[loaded as usize].index();
            let name = self.about(id).known_name();
            let name = name.filter(|_| !self.is_model(id));
            let Some(number) = name.and_then(|name| index.find(name.as_str())) else {
                continue;
            };
            let has_releases = !index.releases(number).is_empty();
            if has_releases && !self.is_delivered(id) {
                self.deliver_from(id, loaded, number);
            }
            self.know(loaded, number, id);
        }
        if self.attached.is_empty() {
            self.meet_classes(loaded);
        }
        self.attached.push(loaded);
    }

    /// Adds a loaded index; gives the number that it has from now on.
    pub(super) fn add_index(&mut self, loaded: LoadedIndex) -> u32 {
        self.indexes.push(loaded);
        to_u32(self.indexes.len() - 1)
    }

    /// Keeps what the only release of a package requires as it was read: its text need not tell all of it.
    pub(super) fn know_specs(&mut self, package: PackageId, requirements: &[Requirement]) {
        let delivered = *self.delivered(package);
        let loaded = &mut self.indexes[delivered.loaded as usize];
        let index = &loaded.index;
        for (edge, requirement) in index.requirement_range(delivered.first).zip(requirements) {
            let number = index.requirement_spec(edge);
            let known = loaded.specs.entry(number);
            known.or_insert_with(|| requirement.spec.clone());
        }
    }

    /// Takes what a registry has of a package. Records of other packages are dropped.
    pub(crate) fn provide(&mut self, name: &PackageName, supply: Supply) {
        let package = self.package_id(name);
        match supply {
            Supply::Unknown => self.deliver(package, None, &[]),
            Supply::Releases {
                source,
                mut records,
            } => {
                records.retain(|record| record.name == *name);
                self.deliver(package, Some(source), &records);
            }
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
        self.preferences.note_too_new(&name, records);
        let index = Arc::new(CompiledIndex::compile(records));
        let loaded = self.add_index(LoadedIndex::of_index(source, index));
        let index = self.indexes[loaded as usize].index();
        let number = index.find(name.as_str()).expect("the records are of it");
        self.deliver_from(package, loaded, number);
        self.know(loaded, number, package);
    }
}
