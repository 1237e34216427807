//! Releases as numbers: what the search sees.

use std::ops::Range;

use pkgres_manifest::Spec;
use rustc_hash::FxHashMap;

use super::{ClassId, PackageId, ReleaseId, Universe};
use crate::index::{NONE, RequirementNumbers, to_u32, width};
use crate::set::PositionSet;
use crate::set::bits;

/// Where a set of releases stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct SetId {
    /// The place that the set stands in.
    place: SetPlace,
    at: u32,
}

/// What sets of releases stand in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum SetPlace {
    /// The sets of a loaded index.
    Index(u32),
    /// Those that follow from its classes.
    Inheritance(u32),
    /// What was worked out here.
    Here,
}

impl SetId {
    const UNKNOWN: Self = Self {
        place: SetPlace::Here,
        at: NONE,
    };

    /// A set that no loaded index has.
    pub(super) fn worked_out(at: u32) -> Self {
        let place = SetPlace::Here;
        Self { place, at }
    }

    /// A set that follows from the classes of a loaded index.
    pub(super) fn inherited(loaded: u32, at: u32) -> Self {
        let place = SetPlace::Inheritance(loaded);
        Self { place, at }
    }
}

/// A requirement of a release in numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PackageRequirement {
    pub(crate) target: PackageId,
    /// The candidates that it allows. Unknown as long as the target was not delivered.
    pub(crate) allowed: SetId,
    /// How many words these take.
    width: u32,
    /// The releases of the same package that have the same requirement, if the index knows them.
    pub(super) owners: Option<SetId>,
    /// Whether it allows no more than the index of its owner says; what nobody wrote there does not.
    pub(super) is_as_indexed: bool,
    /// Whether it names a prerelease.
    pub(crate) names_prerelease: bool,
    /// Whether the index has both sets and each takes one word.
    is_short: bool,
}

/// The release whose requirements are looked at.
#[derive(Debug, Clone, Copy)]
pub(super) struct RequirementReader {
    pub(super) release: ReleaseId,
    /// The core library, unless the release is one of it.
    core: Option<PackageId>,
    pub(super) loaded: u32,
    /// How many words a set of releases of its package takes.
    owners_width: u32,
}

impl RequirementReader {
    /// Puts a requirement into `requirements`: one on the core library takes the place of what nobody wrote,
    /// which comes first.
    #[inline]
    pub(super) fn require(
        self,
        requirement: PackageRequirement,
        requirements: &mut Vec<PackageRequirement>,
    ) {
        if Some(requirement.target) == self.core {
            requirements[0] = requirement;
        } else {
            requirements.push(requirement);
        }
    }
}

/// What comes after requirements that are simple.
enum Next {
    /// Nothing does.
    Nothing,
    /// A requirement on a package that was not seen yet, by its name.
    New(u32),
    /// The requirement with this number.
    Other(usize),
}

/// What a requirement allows and which releases of the same package have it, as the index of a loaded index
/// says.
#[inline]
fn in_index(loaded: u32, sets: u32, owners_width: u32) -> (SetId, SetId) {
    let place = SetPlace::Index(loaded);
    let allowed = SetId {
        place,
        at: sets + owners_width,
    };
    (allowed, SetId { place, at: sets })
}

impl PackageRequirement {
    /// Whether the target was delivered.
    #[inline]
    pub(crate) fn is_known(&self) -> bool {
        self.allowed != SetId::UNKNOWN
    }
}

/// Sets of releases that no loaded index has.
#[derive(Debug, Default)]
pub(super) struct Sets {
    words: Vec<u64>,
    /// What a spec of a loaded index allows of a package.
    of_specs: FxHashMap<(u32, u32, PackageId), u32>,
    /// What releases that say nothing of the core library allow of it.
    of_core: Option<u32>,
    of_overrides: FxHashMap<PackageId, u32>,
    of_objects: FxHashMap<(ReleaseId, usize), u32>,
    /// By package, target, and what is allowed of that.
    pub(super) of_owners: FxHashMap<(PackageId, PackageId, SetId), SetId>,
    /// By package, class, where it is found, and what a release requires.
    pub(super) of_extenders: FxHashMap<(PackageId, ClassId, PackageId, u32), SetId>,
    /// The first release of a package with one.
    pub(super) first: Option<u32>,
    /// What any requirement allows of a package that nobody has.
    nothing: Option<u32>,
}

impl Universe {
    /// The words of a set of releases of a package.
    #[inline]
    pub(crate) fn set(&self, set: SetId, width: usize) -> &[u64] {
        match set.place {
            // So it is nearly always.
            SetPlace::Index(loaded) => {
                let index = self.indexes[loaded as usize].index();
                index.words_at(set.at as usize, width)
            }
            _ => self.set_apart(set, width),
        }
    }

    /// The words of a set that is none of a requirement of an index.
    #[inline(never)]
    fn set_apart(&self, set: SetId, width: usize) -> &[u64] {
        let from = set.at as usize;
        let inheritance = |loaded: u32| self.indexes[loaded as usize].index().inheritance();
        match set.place {
            SetPlace::Index(_) => unreachable!("it is one of a requirement"),
            SetPlace::Inheritance(loaded) => inheritance(loaded).words_at(from, width),
            SetPlace::Here => &self.sets.words[from..from + width],
        }
    }

    /// Which releases of the same package have a requirement, and what it allows, where that takes a word
    /// each and stands in an index, as of nearly all.
    #[inline]
    pub(crate) fn short_sets(&self, requirement: &PackageRequirement) -> Option<[u64; 2]> {
        match requirement.owners {
            Some(SetId {
                place: SetPlace::Index(loaded),
                at,
            }) if requirement.is_short => {
                let index = self.indexes[loaded as usize].index();
                let words = index.words_at(at as usize, 2);
                Some([words[0], words[1]])
            }
            _ => None,
        }
    }

    /// The words of what a requirement allows, whose target was delivered.
    #[inline]
    pub(crate) fn allowed_words(&self, requirement: &PackageRequirement) -> &[u64] {
        self.set(requirement.allowed, requirement.width as usize)
    }

    /// How many words the sets of a package take; none if it was not delivered.
    fn known_width(&self, package: PackageId) -> u32 {
        let delivered = &self.packages[package.position()].delivered;
        delivered.map_or(0, |delivered| to_u32(width(delivered.count)))
    }

    /// Puts the requirements of a release into `requirements`, in the order of its manifest, the core
    /// library first.
    pub(crate) fn requirements(
        &mut self,
        release: ReleaseId,
        requirements: &mut Vec<PackageRequirement>,
    ) {
        requirements.clear();
        if self.is_model(release.package) {
            self.requirements_of_objects(release, requirements);
            return;
        }
        let delivered = self.delivered(release.package);
        let (loaded, number) = (delivered.loaded, delivered.first + release.index);
        let owners_width = to_u32(width(delivered.count));
        let core = self.core.filter(|core| *core != release.package);
        if let Some(core) = core {
            let allowed = self.default_core_set(core);
            let names_prerelease = self.overriding(core).is_some_and(Spec::names_prerelease);
            requirements.push(PackageRequirement {
                target: core,
                allowed,
                width: self.known_width(core),
                owners: None,
                is_as_indexed: true,
                names_prerelease,
                is_short: false,
            });
        }
        let reader = RequirementReader {
            release,
            core,
            loaded,
            owners_width,
        };
        let index = self.indexes[loaded as usize].index();
        let mut edges = index.requirement_range(number);
        requirements.reserve(edges.len() + 1);
        loop {
            match self.simple_requirements(reader, &mut edges, requirements) {
                Next::Nothing => return,
                Next::New(name) => {
                    self.package_in(loaded, name);
                }
                Next::Other(edge) => self.requirement(reader, edge, requirements),
            }
        }
    }

    /// Takes the next requirements in that are on [simple](super::seen::Seen::is_simple) packages which were
    /// seen, as nearly all are; says where it came to.
    #[inline]
    fn simple_requirements(
        &self,
        reader: RequirementReader,
        edges: &mut Range<usize>,
        requirements: &mut Vec<PackageRequirement>,
    ) -> Next {
        let loaded = &self.indexes[reader.loaded as usize];
        let index = loaded.index();
        let names_prerelease = index.any_names_prerelease();
        for [name, spec, sets] in index.requirements(edges.clone()) {
            let seen = loaded.seen.packages[*name as usize];
            let Some(target) = seen.package() else {
                return Next::New(*name);
            };
            edges.start += 1;
            if !seen.is_simple() || Some(target) == reader.core {
                return Next::Other(edges.start - 1);
            }
            if target == reader.release.package {
                continue;
            }
            let (allowed, owners) = in_index(reader.loaded, *sets, reader.owners_width);
            requirements.push(PackageRequirement {
                target,
                allowed,
                width: 1,
                owners: Some(owners),
                is_as_indexed: true,
                names_prerelease: names_prerelease && index.names_prerelease(*spec),
                is_short: reader.owners_width == 1,
            });
        }
        Next::Nothing
    }

    /// Takes any requirement in.
    fn requirement(
        &mut self,
        reader: RequirementReader,
        edge: usize,
        requirements: &mut Vec<PackageRequirement>,
    ) {
        let RequirementReader {
            release,
            core,
            loaded,
            owners_width,
        } = reader;
        let [name, spec, sets] = self.indexes[loaded as usize].index().requirement(edge);
        let target = self.package_in(loaded, name);
        if target == release.package {
            return;
        }
        let is_core = Some(target) == core;
        let indexed = self.indexed(loaded, sets, owners_width, target);
        let (allowed, owners) = if let Some((allowed, owners)) = indexed {
            (allowed, Some(owners))
        } else {
            let is_nowhere = self.is_nowhere(loaded, name, target);
            let (_, owners) = in_index(loaded, sets, owners_width);
            let allowed = self.set_of_edge(loaded, spec, target);
            (allowed, is_nowhere.then_some(owners))
        };
        let names_prerelease = || self.indexes[loaded as usize].index().names_prerelease(spec);
        let requirement = PackageRequirement {
            // Releases that do not write the requirement have it, too.
            owners: owners.filter(|_| !is_core),
            is_as_indexed: indexed.is_some(),
            ..self.requirement_apart(target, allowed, names_prerelease)
        };
        reader.require(requirement, requirements);
    }

    /// What an index says that a requirement allows, and which releases of the same package have it;
    /// nothing if the target does not come from there, or not all of its releases may be chosen:
    /// the sets of the index were made as if they could.
    #[inline]
    fn indexed(
        &self,
        loaded: u32,
        sets: u32,
        owners_width: u32,
        target: PackageId,
    ) -> Option<(SetId, SetId)> {
        let delivered = self.packages[target.position()].delivered.as_ref()?;
        let is_indexed = delivered.loaded == loaded && delivered.has_default_order;
        if !is_indexed || self.overriding(target).is_some() {
            return None;
        }
        Some(in_index(loaded, sets, owners_width))
    }

    /// Whether nobody has the package of a name of a loaded index, not even its index.
    fn is_nowhere(&self, loaded: u32, name: u32, package: PackageId) -> bool {
        let delivered = &self.packages[package.position()].delivered;
        let is_unknown = delivered.is_some_and(|delivered| delivered.count == 0);
        let index = self.indexes[loaded as usize].index();
        is_unknown && index.releases(name).is_empty()
    }

    /// What a requirement allows of a target that does not come from the index of its owner.
    fn set_of_edge(&mut self, loaded: u32, spec: u32, target: PackageId) -> SetId {
        match self.set_whatever_is_said(target) {
            Some(allowed) => allowed,
            None => self.set_of_spec(loaded, spec, target),
        }
    }

    /// What a requirement allows of a target if it does not matter what it says.
    pub(super) fn set_whatever_is_said(&mut self, target: PackageId) -> Option<SetId> {
        match &self.packages[target.position()].delivered {
            None => Some(SetId::UNKNOWN),
            Some(delivered) if delivered.count == 0 => Some(self.nothing(target)),
            Some(_) if self.overriding(target).is_some() => Some(self.set_of_override(target)),
            Some(_) => None,
        }
    }

    /// A requirement of which no index knows what it allows.
    pub(super) fn requirement_apart(
        &self,
        target: PackageId,
        allowed: SetId,
        names_prerelease: impl FnOnce() -> bool,
    ) -> PackageRequirement {
        let overriding = self.overriding(target).map(Spec::names_prerelease);
        PackageRequirement {
            target,
            allowed,
            width: self.known_width(target),
            owners: None,
            is_as_indexed: false,
            names_prerelease: overriding.unwrap_or_else(names_prerelease),
            is_short: false,
        }
    }

    /// What the requirement on the core library of a release allows that writes it so.
    pub(super) fn set_of_core_edge(
        &mut self,
        loaded: u32,
        width: u32,
        edge: RequirementNumbers,
    ) -> SetId {
        let core = self.core.expect("a core library is required");
        let [_, spec, sets] = edge;
        match self.indexed(loaded, sets, width, core) {
            Some((allowed, _)) => allowed,
            None => self.set_of_edge(loaded, spec, core),
        }
    }

    /// Whether a requirement allows a release of its target.
    pub(crate) fn allows(&self, requirement: &PackageRequirement, index: u32) -> bool {
        bits::contains(self.allowed_words(requirement), index)
    }

    fn requirements_of_objects(
        &mut self,
        release: ReleaseId,
        requirements: &mut Vec<PackageRequirement>,
    ) {
        let details = self.details(release);
        for (number, edge) in details.edges.iter().enumerate() {
            let allowed = if !self.is_delivered(edge.package) {
                SetId::UNKNOWN
            } else if let Some(at) = self.sets.of_objects.get(&(release, number)) {
                SetId::worked_out(*at)
            } else {
                let allowed = self.allowed(edge);
                let at = self.keep(edge.package, &allowed);
                self.sets.of_objects.insert((release, number), at);
                SetId::worked_out(at)
            };
            requirements.push(PackageRequirement {
                target: edge.package,
                allowed,
                width: self.known_width(edge.package),
                owners: None,
                is_as_indexed: false,
                names_prerelease: edge.requirement.spec.names_prerelease(),
                is_short: false,
            });
        }
    }

    /// What a release that says nothing of the core library allows of it.
    pub(super) fn default_core_set(&mut self, core: PackageId) -> SetId {
        if !self.is_delivered(core) {
            return SetId::UNKNOWN;
        }
        if self.overriding(core).is_some() {
            return self.set_of_override(core);
        }
        if let Some(at) = self.sets.of_core {
            return SetId::worked_out(at);
        }
        let at = self.keep_matching(core, &Spec::unspecified());
        self.sets.of_core = Some(at);
        SetId::worked_out(at)
    }

    /// What an override allows of a package that was delivered.
    fn set_of_override(&mut self, target: PackageId) -> SetId {
        if let Some(at) = self.sets.of_overrides.get(&target) {
            return SetId::worked_out(*at);
        }
        let at = match self.overriding(target).cloned() {
            Some(spec) => self.keep_matching(target, &spec),
            None => self.keep(target, &PositionSet::EMPTY),
        };
        self.sets.of_overrides.insert(target, at);
        SetId::worked_out(at)
    }

    /// What is allowed of a package that nobody has: whatever is required of it, that is the same set.
    fn nothing(&mut self, target: PackageId) -> SetId {
        let at = match self.sets.nothing {
            Some(known) => known,
            None => self.keep(target, &PositionSet::EMPTY),
        };
        self.sets.nothing = Some(at);
        SetId::worked_out(at)
    }

    fn set_of_spec(&mut self, loaded: u32, spec: u32, target: PackageId) -> SetId {
        let key = (loaded, spec, target);
        if let Some(at) = self.sets.of_specs.get(&key) {
            return SetId::worked_out(*at);
        }
        let spec = self.spec(loaded, spec);
        let at = self.keep_matching(target, &spec);
        self.sets.of_specs.insert(key, at);
        SetId::worked_out(at)
    }

    /// Keeps the set of the candidates of a package that match a spec.
    pub(super) fn keep_matching(&mut self, package: PackageId, spec: &Spec) -> u32 {
        let matching = self.versions_in(package, spec);
        if self.has_default_order(package) {
            return self.keep(package, &matching);
        }
        let candidates = self.candidates_of(package);
        self.keep(package, &matching.intersection(&candidates))
    }

    /// Keeps a set of releases of a package.
    pub(super) fn keep(&mut self, package: PackageId, set: &PositionSet) -> u32 {
        let at = to_u32(self.sets.words.len());
        let width = self.width(package);
        self.sets.words.resize(self.sets.words.len() + width, 0);
        set.copy_to(&mut self.sets.words[at as usize..]);
        at
    }
}
