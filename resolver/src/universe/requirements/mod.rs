//! The requirements of releases: as numbers for the search, as texts for people.
//!
//! A requirement allows a set of the candidates of its target, and releases of one package that require the same
//! share one constraint. A compiled index holds both sets for requirements between its own packages, so that the
//! search mostly reads them in place. The rest is computed once and kept here: requirements on packages of other
//! indexes, implicit requirements on the core library, requirements of the objects of a model, and requirements
//! with overrides.

mod owners;
mod stated;

use std::ops::Range;
use std::sync::Arc;

use pkgres_manifest::Spec;
use rustc_hash::FxHashMap;

use super::catalog::Catalog;
use super::{PackageId, ReleaseId};
use crate::index::{IndexedRequirement, NONE, is_large, to_u32, width};
use crate::set::PositionSet;
use owners::OwnerGroups;
pub(crate) use owners::SetId;
pub(crate) use stated::{ReleaseRequirement, SpecCache};

/// What requirements allow, as far as no index holds it.
#[derive(Debug, Default)]
pub(crate) struct Requirements {
    /// The words of sets that are in no index.
    words: Vec<u64>,
    /// The sets among them that are asked for again.
    known: FxHashMap<SetKey, SetId>,
    /// Specs that were read.
    specs: SpecCache,
    /// The requirements of the objects of a model.
    objects: Arc<[ReleaseRequirement]>,
    /// The releases that share a requirement, by package, target, and the set that they allow of it.
    owners: FxHashMap<(PackageId, PackageId, SetId), SetId>,
    /// All groups of a package, found when one is first needed; `owners` has those that are stored as words.
    groups: FxHashMap<PackageId, OwnerGroups>,
}

/// A set that is asked for again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum SetKey {
    /// What a spec of a loaded index allows of a package.
    OfSpec(u32, u32, PackageId),
    /// What an override allows of its package.
    OfOverride(PackageId),
    /// What a release without a stated requirement on the core library allows of it.
    OfCore,
    /// What the requirement of an object of a model allows, by position.
    OfObject(usize),
    /// What requirements on a package without releases allow.
    Nothing,
    /// The first release of a package that has only one.
    SingleRelease,
}

/// A requirement of a release, as numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PackageRequirement {
    pub(crate) target: PackageId,
    /// The candidates that the requirement allows; unknown until the target is delivered.
    pub(crate) allowed: SetId,
    /// How many words that set takes.
    width: u32,
    /// The releases of the same package with the same requirement, as far as the index says.
    owners: Owners,
    /// Whether the requirement allows no more than its index says; true if it is not stated.
    pub(super) is_as_indexed: bool,
    pub(crate) names_prerelease: bool,
    /// Whether the index holds both sets and each takes one word.
    is_short: bool,
}

/// Which releases of a package have a requirement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owners {
    /// Those of a set.
    Set(SetId),
    /// So few that the index has no set of them.
    Few,
    /// They are worked out when the search asks.
    Unknown,
}

impl PackageRequirement {
    /// Whether the target was delivered.
    #[inline]
    pub(crate) fn is_known(&self) -> bool {
        self.allowed != SetId::UNKNOWN
    }
}

/// The release whose requirements are read.
#[derive(Debug, Clone, Copy)]
struct RequirementReader {
    release: ReleaseId,
    /// The core library, unless the release is one of it.
    core: Option<PackageId>,
    loaded: u32,
    /// How many words a set of releases of its package takes.
    owners_width: u32,
}

/// A requirement of a release, before what it allows is worked out.
#[derive(Debug, Clone, Copy)]
struct Identified {
    target: PackageId,
    /// The number of its spec in the index.
    spec: u32,
    /// Where the index has its sets.
    sets: u32,
    owners: Owners,
    /// Whether it is on the core library.
    is_core: bool,
    is_as_indexed: bool,
}

impl RequirementReader {
    /// A reader, and the numbers of the requirements that the release states.
    fn new(catalog: &Catalog, release: ReleaseId) -> (Self, Range<usize>) {
        let delivered = *catalog.delivered(release.package);
        let reader = Self {
            release,
            core: catalog.core_required_by(release.package),
            loaded: delivered.loaded,
            owners_width: to_u32(width(delivered.count)),
        };
        let index = catalog.index(reader.loaded);
        (
            reader,
            index.requirement_range(delivered.first + release.index),
        )
    }

    /// A requirement that counts: it is neither on the package itself nor left out.
    fn identify(self, catalog: &mut Catalog, number: usize) -> Option<Identified> {
        let loaded = self.loaded;
        let IndexedRequirement {
            target: name,
            spec,
            sets,
        } = catalog.index(loaded).requirement(number);
        let target = catalog.package_id_in(loaded, name);
        if target == self.release.package || catalog.is_left_out(target) {
            return None;
        }
        let is_as_indexed = is_as_indexed(catalog, loaded, target);
        let are_owners_indexed = is_as_indexed || has_no_releases(catalog, loaded, name, target);
        let is_core = Some(target) == self.core;
        let owners = if are_owners_indexed && !is_core {
            owners_in_index(loaded, sets)
        } else {
            // Releases that do not state a requirement on the core library have it, too.
            Owners::Unknown
        };
        Some(Identified {
            target,
            spec,
            sets,
            owners,
            is_core,
            is_as_indexed,
        })
    }
}

/// Where the reading of simple requirements ended.
enum Next {
    End,
    /// At a requirement on a package that is not interned yet, by its name.
    NotInterned(u32),
    /// At a requirement that is not simple.
    Other(usize),
}

/// The releases that have a requirement, as its index says.
#[inline]
fn owners_in_index(loaded: u32, sets: u32) -> Owners {
    if sets == NONE {
        return Owners::Few;
    }
    Owners::Set(SetId::indexed(loaded, sets))
}

impl Requirements {
    /// A set that is stored when it is first asked for.
    fn known_or_stored(
        &mut self,
        catalog: &Catalog,
        package: PackageId,
        key: SetKey,
        set: impl FnOnce(&Catalog) -> PositionSet,
    ) -> SetId {
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let stored = self.store(catalog, package, &set(catalog));
        self.known.insert(key, stored);
        stored
    }

    /// The words of the set that a requirement allows. Its target must have been delivered.
    #[inline]
    pub(super) fn allowed_words<'set>(
        &'set self,
        catalog: &'set Catalog,
        requirement: &PackageRequirement,
    ) -> &'set [u64] {
        self.set(catalog, requirement.allowed, requirement.width as usize)
    }

    /// Puts the requirements of a release into `requirements`, in the order of its manifest, the core
    /// library first.
    pub(super) fn read(
        &mut self,
        catalog: &mut Catalog,
        release: ReleaseId,
        requirements: &mut Vec<PackageRequirement>,
    ) {
        requirements.clear();
        if catalog.is_model(release.package) {
            self.read_objects(catalog, requirements);
            return;
        }
        let (reader, mut range) = RequirementReader::new(catalog, release);
        if let Some(core) = reader.core {
            let overriding = catalog.policy().overriding(core);
            requirements.push(PackageRequirement {
                target: core,
                allowed: self.implied_of_core(catalog, core),
                width: known_width(catalog, core),
                owners: Owners::Unknown,
                is_as_indexed: true,
                names_prerelease: overriding.is_some_and(Spec::names_prerelease),
                is_short: false,
            });
        }
        requirements.reserve(range.len() + 1);
        loop {
            match read_simple(catalog, reader, &mut range, requirements) {
                Next::End => return,
                Next::NotInterned(name) => {
                    catalog.package_id_in(reader.loaded, name);
                }
                Next::Other(number) => self.read_one(catalog, reader, number, requirements),
            }
        }
    }

    /// Reads any requirement.
    fn read_one(
        &mut self,
        catalog: &mut Catalog,
        reader: RequirementReader,
        number: usize,
        requirements: &mut Vec<PackageRequirement>,
    ) {
        let Some(Identified {
            target,
            spec,
            sets,
            owners,
            is_core,
            is_as_indexed,
        }) = reader.identify(catalog, number)
        else {
            return;
        };
        let loaded = reader.loaded;
        let allowed = if is_as_indexed && has_allowed_set(catalog, sets, target) {
            SetId::indexed(loaded, sets + reader.owners_width)
        } else {
            self.allowed_by_spec(catalog, loaded, spec, target)
        };
        let overriding = catalog.policy().overriding(target);
        let names_prerelease = match overriding {
            Some(spec) => spec.names_prerelease(),
            None => catalog.index(loaded).names_prerelease(spec),
        };
        let requirement = PackageRequirement {
            target,
            allowed,
            width: known_width(catalog, target),
            owners,
            is_as_indexed,
            names_prerelease,
            is_short: false,
        };
        if is_core {
            // It replaces the implied requirement, which comes first.
            requirements[0] = requirement;
        } else {
            requirements.push(requirement);
        }
    }

    fn read_objects(&mut self, catalog: &Catalog, requirements: &mut Vec<PackageRequirement>) {
        let objects = Arc::clone(&self.objects);
        for (position, stated) in objects.iter().enumerate() {
            let allowed = if catalog.is_delivered(stated.package) {
                let key = SetKey::OfObject(position);
                self.known_or_stored(catalog, stated.package, key, |catalog| {
                    stated.allowed(catalog)
                })
            } else {
                SetId::UNKNOWN
            };
            requirements.push(PackageRequirement {
                target: stated.package,
                allowed,
                width: known_width(catalog, stated.package),
                owners: Owners::Unknown,
                is_as_indexed: false,
                names_prerelease: stated.spec.names_prerelease(),
                is_short: false,
            });
        }
    }

    /// The set that a spec of a loaded index allows of a package that does not come from there.
    fn allowed_by_spec(
        &mut self,
        catalog: &Catalog,
        loaded: u32,
        spec: u32,
        target: PackageId,
    ) -> SetId {
        if let Some(allowed) = self.allowed_by_any_spec(catalog, target) {
            return allowed;
        }
        let key = SetKey::OfSpec(loaded, spec, target);
        let matching = |catalog: &Catalog| {
            let spec = catalog.index(loaded).spec(spec);
            matching_candidates(catalog, target, &spec)
        };
        self.known_or_stored(catalog, target, key, matching)
    }

    /// The set that requirements on a package allow, if their specs make no difference.
    fn allowed_by_any_spec(&mut self, catalog: &Catalog, target: PackageId) -> Option<SetId> {
        match catalog.find_delivered(target) {
            None => Some(SetId::UNKNOWN),
            Some(delivered) if delivered.count == 0 => {
                let nothing = |_: &Catalog| PositionSet::EMPTY;
                Some(self.known_or_stored(catalog, target, SetKey::Nothing, nothing))
            }
            Some(_) => self.allowed_by_override(catalog, target),
        }
    }

    /// The set that the override of a package allows, if there is one.
    fn allowed_by_override(&mut self, catalog: &Catalog, target: PackageId) -> Option<SetId> {
        let spec = catalog.policy().overriding(target)?;
        let key = SetKey::OfOverride(target);
        let matching = |catalog: &Catalog| matching_candidates(catalog, target, spec);
        Some(self.known_or_stored(catalog, target, key, matching))
    }

    /// The set that a release without a stated requirement on the core library allows of it.
    fn implied_of_core(&mut self, catalog: &Catalog, core: PackageId) -> SetId {
        if !catalog.is_delivered(core) {
            return SetId::UNKNOWN;
        }
        if let Some(allowed) = self.allowed_by_override(catalog, core) {
            return allowed;
        }
        let matching = |catalog: &Catalog| matching_candidates(catalog, core, &Spec::unspecified());
        self.known_or_stored(catalog, core, SetKey::OfCore, matching)
    }

    /// The set that a stated requirement of an index allows of the core library.
    fn stated_of_core(
        &mut self,
        catalog: &Catalog,
        core: PackageId,
        loaded: u32,
        owners_width: u32,
        requirement: IndexedRequirement,
    ) -> SetId {
        if is_as_indexed(catalog, loaded, core) && has_allowed_set(catalog, requirement.sets, core)
        {
            SetId::indexed(loaded, requirement.sets + owners_width)
        } else {
            self.allowed_by_spec(catalog, loaded, requirement.spec, core)
        }
    }
}

/// Reads the next requirements as long as they are on interned packages that are
/// simple, as nearly all are.
#[inline]
fn read_simple(
    catalog: &Catalog,
    reader: RequirementReader,
    range: &mut Range<usize>,
    requirements: &mut Vec<PackageRequirement>,
) -> Next {
    let loaded = catalog.indexes().get(reader.loaded);
    let index = loaded.index();
    for IndexedRequirement {
        target: name,
        spec,
        sets,
    } in index.requirements(range.clone())
    {
        let package = loaded.package(name);
        let Some(target) = package.id() else {
            return Next::NotInterned(name);
        };
        range.start += 1;
        if !package.is_simple() || Some(target) == reader.core || sets == NONE {
            return Next::Other(range.start - 1);
        }
        if target == reader.release.package || catalog.is_left_out(target) {
            continue;
        }
        requirements.push(PackageRequirement {
            target,
            allowed: SetId::indexed(reader.loaded, sets + reader.owners_width),
            width: 1,
            owners: Owners::Set(SetId::indexed(reader.loaded, sets)),
            is_as_indexed: true,
            names_prerelease: index.names_prerelease(spec),
            is_short: reader.owners_width == 1,
        });
    }
    Next::End
}

fn matching_candidates(catalog: &Catalog, package: PackageId, spec: &Spec) -> PositionSet {
    let matching = catalog.versions_in(package, spec);
    if catalog.has_default_order(package) {
        return matching;
    }
    matching.intersection(&catalog.candidates_of(package))
}

/// Whether requirements on a package are what their index says: the package comes from there, is not overridden,
/// and all of its releases are candidates.
#[inline]
fn is_as_indexed(catalog: &Catalog, loaded: u32, target: PackageId) -> bool {
    let delivered = catalog.find_delivered(target);
    delivered.is_some_and(|delivered| delivered.loaded == loaded && delivered.has_default_order)
        && catalog.policy().overriding(target).is_none()
}

/// Whether an index has the set that a requirement allows of one of its packages.
#[inline]
fn has_allowed_set(catalog: &Catalog, sets: u32, target: PackageId) -> bool {
    sets != NONE && !is_large(known_width(catalog, target) as usize)
}

/// Whether neither a registry nor the index of a requirement has releases of its target.
fn has_no_releases(catalog: &Catalog, loaded: u32, name: u32, target: PackageId) -> bool {
    let delivered = catalog.find_delivered(target);
    let is_empty = delivered.is_some_and(|delivered| delivered.count == 0);
    is_empty && catalog.index(loaded).releases(name).is_empty()
}

/// How many words the sets of a package take; 0 if it was not delivered.
fn known_width(catalog: &Catalog, package: PackageId) -> u32 {
    let delivered = catalog.find_delivered(package);
    delivered.map_or(0, |delivered| to_u32(width(delivered.count)))
}
