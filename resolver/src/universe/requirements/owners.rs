//! Sets of releases, by reference, and the releases of a package that share a requirement.
//!
//! Most sets are in an index, and the others are computed once. Releases that share a requirement share one constraint.
//! An index knows the owners of requirements on its own packages and on packages without releases. Other owners are
//! computed when the search first asks for them.

use rustc_hash::FxHashMap;

use super::{
    Identified, Owners, PackageRequirement, RequirementReader, Requirements, SetKey, known_width,
    matching_candidates,
};
use crate::index::{IndexedRequirement, NONE, to_u32, width};
use crate::set::PositionSet;
use crate::universe::catalog::Catalog;
use crate::universe::{PackageId, ReleaseId};

impl Requirements {
    /// The owners of a requirement and what it allows, if the index holds both and each takes one word, as
    /// nearly always.
    #[inline]
    pub(in crate::universe) fn short_sets(
        catalog: &Catalog,
        requirement: &PackageRequirement,
    ) -> Option<[u64; 2]> {
        match requirement.owners {
            Owners::Set(SetId {
                place: SetPlace::Index(loaded),
                at,
            }) if requirement.is_short => {
                let words = catalog.index(loaded).words_at(at as usize, 2);
                Some([words[0], words[1]])
            }
            _ => None,
        }
    }

    /// The releases of the same package that allow the same releases of the target; `None` for the
    /// requirements of objects, and if they are too few to share a constraint.
    pub(in crate::universe) fn owners(
        &mut self,
        catalog: &mut Catalog,
        release: ReleaseId,
        requirement: &PackageRequirement,
    ) -> Option<SetId> {
        match requirement.owners {
            Owners::Set(owners) => return Some(owners),
            Owners::Few => return None,
            Owners::Unknown => {}
        }
        let package = release.package;
        if catalog.is_model(package) {
            return None;
        }
        if catalog.release_count(package) == 1 {
            // Most roots are such packages, and may have very many requirements.
            let first = |_: &Catalog| PositionSet::single(0);
            return Some(self.known_or_stored(catalog, package, SetKey::SingleRelease, first));
        }
        let key = (package, requirement.target, requirement.allowed);
        if let Some(known) = self.owners.get(&key) {
            return Some(*known);
        }
        if Some(requirement.target) == catalog.core() {
            let owners = self.owners_of_core(catalog, package, requirement);
            let owners = self.store(catalog, package, &owners);
            self.owners.insert(key, owners);
            return Some(owners);
        }
        let allowed = PositionSet::of_words(self.allowed_words(catalog, requirement));
        let group = (requirement.target, allowed);
        // Targets may have been delivered since the groups were found, so they are found again.
        if !self.groups_of(package).contains_key(&group) {
            let groups = Self::find_groups(catalog, package);
            self.groups.insert(package, groups);
        }
        let group = self.groups_of(package).get(&group)?.clone();
        if group.len() == 1 {
            return None;
        }
        let owners = self.store(catalog, package, &group);
        self.owners.insert(key, owners);
        Some(owners)
    }

    fn groups_of(&mut self, package: PackageId) -> &OwnerGroups {
        self.groups.entry(package).or_default()
    }

    /// The releases of a package that allow the same releases of the core library. Most state no requirement on
    /// it, so only the others are compared.
    fn owners_of_core(
        &mut self,
        catalog: &mut Catalog,
        package: PackageId,
        requirement: &PackageRequirement,
    ) -> PositionSet {
        let core = requirement.target;
        let core_width = known_width(catalog, core) as usize;
        let delivered = *catalog.delivered(package);
        let (loaded, owners_width) = (delivered.loaded, to_u32(width(delivered.count)));
        let core_name = catalog.name(core).clone();
        let core_number = catalog.index(loaded).find(core_name.as_str());
        let implied = self.implied_of_core(catalog, core);
        let is_same = |requirements: &Self, catalog: &Catalog, set: SetId| {
            requirements.set(catalog, set, core_width)
                == requirements.set(catalog, requirement.allowed, core_width)
        };
        let is_implied_same = is_same(self, catalog, implied);
        // Releases mostly state the same requirement.
        let mut known: FxHashMap<IndexedRequirement, bool> = FxHashMap::default();
        let mut owners = Vec::new();
        for release in 0..delivered.count {
            let index = catalog.index(loaded);
            let stated = core_number.and_then(|core| {
                let range = index.requirement_range(delivered.first + release);
                let mut stated = range.rev().map(|number| index.requirement(number));
                stated.find(|requirement| requirement.target == core)
            });
            let is_owner = match stated {
                None => is_implied_same,
                Some(stated) => *known.entry(stated).or_insert_with(|| {
                    let set = self.stated_of_core(catalog, core, loaded, owners_width, stated);
                    is_same(self, catalog, set)
                }),
            };
            if is_owner {
                owners.push(release);
            }
        }
        owners.into_iter().collect()
    }

    /// The owners of all requirements of a package whose owners no index holds, except those on the core library. Sets of
    /// words would take memory with the square of the versions, most of which no search looks at.
    fn find_groups(catalog: &mut Catalog, package: PackageId) -> OwnerGroups {
        let mut allowed_by: FxHashMap<(u32, PackageId), PositionSet> = FxHashMap::default();
        let mut groups: FxHashMap<(PackageId, PositionSet), Vec<u32>> = FxHashMap::default();
        for release in catalog.releases(package) {
            let (reader, range) = RequirementReader::new(catalog, release);
            for number in range {
                let Some(identified) = reader.identify(catalog, number) else {
                    continue;
                };
                let Identified { target, spec, .. } = identified;
                // The targets of other releases may not have been delivered yet.
                let is_open = identified.owners == Owners::Unknown
                    && !identified.is_core
                    && catalog.is_delivered(target);
                if !is_open {
                    continue;
                }
                let allowed = allowed_by.entry((spec, target)).or_insert_with(|| {
                    let overriding = catalog.policy().overriding(target).cloned();
                    let spec =
                        overriding.unwrap_or_else(|| catalog.index(reader.loaded).spec(spec));
                    matching_candidates(catalog, target, &spec)
                });
                let group = groups.entry((target, allowed.clone())).or_default();
                group.push(release.index);
            }
        }
        let groups = groups.into_iter();
        groups
            .map(|(group, owners)| (group, owners.into_iter().collect()))
            .collect()
    }
}

/// The releases of a package that share a requirement, by its target and what it allows of that.
pub(super) type OwnerGroups = FxHashMap<(PackageId, PositionSet), PositionSet>;

/// A set of releases of one package.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct SetId {
    place: SetPlace,
    at: u32,
}

/// Where the words of a set are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum SetPlace {
    /// Among the sets of a loaded index that belong to its requirements.
    Index(u32),
    /// Among the sets of a loaded index that belong to its classes.
    Inheritance(u32),
    /// Among the [sets that are in no index](Requirements).
    Store,
}

impl SetId {
    /// What a requirement allows of a package that was not delivered.
    pub(super) const UNKNOWN: Self = Self {
        place: SetPlace::Store,
        at: NONE,
    };

    /// A set that belongs to the requirements of a loaded index.
    #[inline]
    pub(super) fn indexed(loaded: u32, at: u32) -> Self {
        let place = SetPlace::Index(loaded);
        Self { place, at }
    }

    /// A set that belongs to the classes of a loaded index.
    pub(in crate::universe) fn inherited(loaded: u32, at: u32) -> Self {
        let place = SetPlace::Inheritance(loaded);
        Self { place, at }
    }
}

impl Requirements {
    /// Stores a set of releases of a package.
    pub(in crate::universe) fn store(
        &mut self,
        catalog: &Catalog,
        package: PackageId,
        set: &PositionSet,
    ) -> SetId {
        let at = self.words.len();
        self.words.extend(set.to_words(catalog.width(package)));
        SetId {
            place: SetPlace::Store,
            at: to_u32(at),
        }
    }

    /// The words of a set, of which there are `width`.
    #[inline]
    pub(in crate::universe) fn set<'set>(
        &'set self,
        catalog: &'set Catalog,
        set: SetId,
        width: usize,
    ) -> &'set [u64] {
        let at = set.at as usize;
        match set.place {
            SetPlace::Index(loaded) => catalog.index(loaded).words_at(at, width),
            SetPlace::Inheritance(loaded) => {
                let inheritance = catalog.index(loaded).inheritance();
                inheritance.words_at(at, width)
            }
            SetPlace::Store => &self.words[at..at + width],
        }
    }
}

#[cfg(test)]
mod tests {
    use pkgres_manifest::{IndexRecord, Limits, PackageName, RegistryName, ReleaseSource};

    use crate::index::CompiledIndex;
    use crate::set::bits;
    use crate::universe::Supply;
    use crate::universe::Universe;

    fn record(line: &str) -> IndexRecord {
        IndexRecord::parse_line(line, &Limits::default()).expect("the test writes lines")
    }

    /// Which of the releases of A, in an index with `others`, share what each requires of X.
    fn sharing(x: Supply, others: &[&str]) -> Vec<Vec<u32>> {
        let lines = [
            r#"{"name":"A","version":"1.0.0","require":[["X","1"]]}"#,
            r#"{"name":"A","version":"2.0.0","require":[["X","2"]]}"#,
            r#"{"name":"A","version":"3.0.0","require":[["X",">=1,<2"]]}"#,
            r#"{"name":"A","version":"4.0.0"}"#,
        ];
        let mut universe = Universe::default();
        let source = ReleaseSource::Registry(RegistryName::parse("demo").expect("a name"));
        let [a, x_name] = ["A", "X"].map(|name| PackageName::parse(name).expect("a name"));
        universe.catalog.provide(&x_name, x);
        let records: Vec<IndexRecord> = lines.iter().chain(others).copied().map(record).collect();
        (universe.catalog).attach(source, CompiledIndex::compile(&records).into());
        let package = universe.catalog.package_id(&a);
        let releases = universe.catalog.releases(package);
        let mut requirements = Vec::new();
        let of_release = |release| {
            universe.requirements(release, &mut requirements);
            let requirement = requirements.first()?;
            let Some(owners) = universe.owners(release, requirement) else {
                return Some(vec![release.index]);
            };
            let owners = universe.set(owners, universe.catalog.width(package));
            Some((0..4).filter(|at| bits::contains(owners, *at)).collect())
        };
        releases.filter_map(of_release).collect()
    }

    #[test]
    fn requirements_on_an_unknown_package_are_the_same() {
        assert_eq!(sharing(Supply::Unknown, &[]), vec![[0, 1, 2]; 3]);
    }

    #[test]
    fn an_unknown_package_stays_unknown_if_an_index_has_it() {
        let others = [
            r#"{"name":"X","version":"1.5.0"}"#,
            r#"{"name":"X","version":"2.0.0"}"#,
        ];
        assert_eq!(sharing(Supply::Unknown, &others), vec![[0, 1, 2]; 3]);
    }

    #[test]
    fn specs_that_allow_the_same_releases_of_another_index_share_owners() {
        let source = ReleaseSource::Host;
        let records = vec![
            record(r#"{"name":"X","version":"1.5.0"}"#),
            record(r#"{"name":"X","version":"2.0.0"}"#),
        ];
        let shared = sharing(Supply::Releases { source, records }, &[]);
        assert_eq!(shared, [vec![0, 2], vec![1], vec![0, 2]]);
    }
}
