//! How releases come in: which package a name of an index is, and where its releases are.

use std::collections::HashMap;
use std::sync::Arc;

use pkgres_manifest::{IndexRecord, PackageName, ReleaseSource, Requirement, Spec};

use super::about::About;
use super::candidates::Candidates;
use super::seen::Seen;
use super::{Delivered, PackageId, Universe};
use crate::index::{CompiledIndex, NONE, to_u32, width};
use crate::supply::Supply;

/// An index of which some packages were delivered, or all.
#[derive(Debug)]
pub(super) struct Shard {
    pub(super) index: Arc<CompiledIndex>,
    pub(super) source: Option<ReleaseSource>,
    /// By name of the index.
    pub(super) packages: Vec<Seen>,
    /// For each class name of the index the class, counted from 1; 0 if it was not seen.
    pub(super) classes: Vec<u32>,
    pub(super) specs: HashMap<u32, Spec, rustc_hash::FxBuildHasher>,
}

impl Universe {
    pub(crate) fn package_id(&mut self, name: &PackageName) -> PackageId {
        if let Some(known) = self.package_ids.get(name) {
            return *known;
        }
        if let Some((shard, number)) = self.find_attached(name.as_str()) {
            return self.package_in(shard, number);
        }
        let id = self.add_package(None, About::called(name.clone()));
        self.package_ids.insert(name.clone(), id);
        id
    }

    /// The attached shard that a name comes from.
    fn find_attached(&self, name: &str) -> Option<(u32, u32)> {
        self.attached.iter().find_map(|shard| {
            let index = &self.shards[*shard as usize].index;
            let number = index.find(name)?;
            (!index.releases(number).is_empty()).then_some((*shard, number))
        })
    }

    /// The package of a name of a shard.
    #[inline]
    pub(super) fn package_in(&mut self, shard: u32, number: u32) -> PackageId {
        self.see(shard, number).0
    }

    /// The package of a name of a shard, and whether it is [simple](Seen::is_simple).
    #[inline]
    pub(super) fn see(&mut self, shard: u32, number: u32) -> (PackageId, bool) {
        let seen = self.shards[shard as usize].packages[number as usize];
        match seen.package() {
            Some(known) => (known, seen.is_simple()),
            None => self.meet(shard, number),
        }
    }

    /// Meets a package through a name of a shard.
    #[inline(never)]
    fn meet(&mut self, shard: u32, number: u32) -> (PackageId, bool) {
        let is_first = self.attached.first() == Some(&shard);
        let index = &self.shards[shard as usize].index;
        let id = if is_first && !index.releases(number).is_empty() {
            // No other has the name before this one, or it would stand in the table.
            self.new_delivered(shard, number)
        } else {
            self.find_or_add(shard, number)
        };
        (id, self.know(shard, number, id))
    }

    /// The package of a name of a shard that is seen there for the first time.
    fn find_or_add(&mut self, shard: u32, number: u32) -> PackageId {
        let index = &self.shards[shard as usize].index;
        let name = index.name_text(number);
        if let Some(known) = self.package_ids.get(name) {
            *known
        } else if let Some((other, there)) = self.find_attached(name) {
            if other == shard {
                self.new_delivered(shard, number)
            } else {
                self.package_in(other, there)
            }
        } else {
            let name = index.name(number);
            self.package_id(&name)
        }
    }

    /// Keeps which package a name of a shard is, which comes from there or not; says whether it is
    /// [simple](Seen::is_simple).
    #[inline]
    fn know(&mut self, shard: u32, number: u32, package: PackageId) -> bool {
        let delivered = &self.packages[package.position()].delivered;
        let is_simple = self.overriding(package).is_none()
            && delivered.is_some_and(|delivered| {
                delivered.shard == shard && delivered.is_plain && width(delivered.count) == 1
            });
        self.shards[shard as usize].packages[number as usize] = Seen::new(package, is_simple);
        is_simple
    }

    /// A package that is seen and comes from an attached shard.
    #[inline]
    fn new_delivered(&mut self, shard: u32, number: u32) -> PackageId {
        let (delivered, candidates) = self.in_shard(shard, number, None);
        let about = candidates.map_or_else(About::default, About::with_candidates);
        self.add_package(Some(delivered), about)
    }

    /// Says that a package comes from a shard.
    fn deliver_from(&mut self, package: PackageId, shard: u32, number: u32) {
        let known_name = self.about(package).known_name();
        let (delivered, candidates) = self.in_shard(shard, number, known_name);
        self.packages[package.position()].delivered = Some(delivered);
        if let Some(candidates) = candidates {
            self.about[package.position()].set_candidates(candidates);
        }
    }

    /// Where the releases of a name of a shard are, and what decides among them.
    #[inline]
    fn in_shard(
        &self,
        shard: u32,
        number: u32,
        known_name: Option<&PackageName>,
    ) -> (Delivered, Option<Box<Candidates>>) {
        let index = &self.shards[shard as usize].index;
        let releases = index.releases(number);
        let candidates = self.preferences.candidates(index, number, || {
            known_name.cloned().unwrap_or_else(|| index.name(number))
        });
        let delivered = Delivered {
            shard,
            name: number,
            first: releases.start,
            count: releases.end - releases.start,
            is_plain: candidates.is_none(),
        };
        (delivered, candidates)
    }

    /// Takes a whole index whose packages then need not be asked for. What was provided before
    /// goes first, and so do indexes that were attached before.
    pub(crate) fn attach(&mut self, source: ReleaseSource, index: Arc<CompiledIndex>) {
        let shard = self.add_shard(Some(source), index);
        let index = &self.shards[shard as usize].index;
        let known = self.package_ids.iter();
        let known = known.filter_map(|(name, id)| Some((*id, index.find(name.as_str())?)));
        let mut known: Vec<(PackageId, u32)> = known.collect();
        known.sort_unstable();
        for (id, number) in known {
            let index = &self.shards[shard as usize].index;
            let has_releases = !index.releases(number).is_empty();
            if has_releases && !self.is_delivered(id) {
                self.deliver_from(id, shard, number);
            }
            self.know(shard, number, id);
        }
        if self.attached.is_empty() {
            self.meet_classes(shard);
        }
        if self.large.is_none() && self.shards[shard as usize].index.is_large() {
            self.large = Some(shard);
        }
        self.attached.push(shard);
    }

    fn add_shard(&mut self, source: Option<ReleaseSource>, index: Arc<CompiledIndex>) -> u32 {
        self.shards.push(Shard {
            packages: vec![Seen::default(); index.name_count() as usize],
            classes: vec![0; index.class_name_count() as usize],
            index,
            source,
            specs: HashMap::default(),
        });
        to_u32(self.shards.len() - 1)
    }

    /// Keeps what the only release of a package requires as it was read, so that it is not read again.
    pub(super) fn know_specs(&mut self, package: PackageId, requirements: &[Requirement]) {
        let delivered = *self.delivered(package);
        let shard = &mut self.shards[delivered.shard as usize];
        let edges = shard.index.edges(delivered.first);
        shard.specs.reserve(requirements.len());
        for (edge, requirement) in edges.zip(requirements) {
            let number = shard.index.edge_spec(edge);
            shard.specs.insert(number, requirement.spec.clone());
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
                shard: NONE,
                name: NONE,
                first: 0,
                count: 0,
                is_plain: true,
            });
            return;
        }
        let name = self.name(package).clone();
        self.preferences.note_too_new(&name, records);
        let shard = self.add_shard(source, Arc::new(CompiledIndex::compile(records)));
        let index = &self.shards[shard as usize].index;
        let number = index.find(name.as_str()).expect("the records are of it");
        self.deliver_from(package, shard, number);
        self.know(shard, number, package);
    }
}
