//! The numbered problem: a universe with numbers for names, which is faster to search.

use std::collections::BTreeSet;

use pkgres_manifest::{ClassName, PackageName, Version};

use super::Rules;
use super::candidates::{candidates, is_only_kept, lock, locked_versions, parents, requirements};
use crate::universe::{PrereleasePolicy, Universe};

/// The number of a package: its position in the order of names.
pub(super) type PackageId = usize;
/// The number of a release.
pub(super) type ReleaseId = usize;
/// The number of a class name.
pub(super) type ClassId = usize;

/// The root's number.
pub(super) const ROOT: ReleaseId = 0;

/// A universe with numbers for names.
pub(super) struct Problem {
    /// The rules that apply.
    pub(super) rules: Rules,
    /// The prerelease policy, which orders candidates.
    pub(super) prerelease: PrereleasePolicy,
    /// Every package that is defined or required, by name.
    pub(super) packages: Vec<PackageName>,
    /// The root and every candidate.
    pub(super) releases: Vec<NumberedRelease>,
    /// The candidates of each package, newest first.
    pub(super) candidates: Vec<Vec<ReleaseId>>,
}

/// The root or a candidate.
pub(super) struct NumberedRelease {
    /// Its package.
    pub(super) package: PackageId,
    /// Its version.
    pub(super) version: Version,
    /// Whether the lock binds any requirement to it.
    pub(super) locked: bool,
    /// Whether it is a candidate only because it is kept.
    pub(super) only_kept: bool,
    /// Its requirements, in lookup order.
    pub(super) needs: Vec<Need>,
    /// Its classes, if they are known.
    pub(super) classes: Option<Vec<NumberedClass>>,
}

/// A requirement.
pub(super) struct Need {
    /// The package.
    pub(super) package: PackageId,
    /// For each release, whether it is inside the spec.
    pub(super) matching: Vec<bool>,
    /// Whether the spec names a prerelease.
    pub(super) names_prerelease: bool,
    /// The release that the lock binds this requirement to.
    pub(super) locked_to: Option<ReleaseId>,
}

/// A class.
pub(super) struct NumberedClass {
    /// Its name.
    pub(super) name: ClassId,
    /// Whether it is visible only inside its release.
    pub(super) internal: bool,
    /// The names that it extends.
    pub(super) parents: Vec<ClassId>,
}

impl Problem {
    /// Numbers everything in a universe.
    pub(super) fn new(universe: &Universe, rules: &Rules) -> Self {
        let packages = package_names(universe);
        let mut records = vec![&universe.root];
        for package in &packages {
            if *package != universe.root.name {
                records.extend(candidates(universe, rules, package));
            }
        }
        let package_id = |name: &PackageName| {
            packages
                .binary_search(name)
                .expect("every name in the universe was collected")
        };
        let mut classes = Names::default();
        let mut releases = Vec::new();
        for record in &records {
            let needs = requirements(universe, record)
                .into_iter()
                .map(|(package, spec)| {
                    let key = (record.name.clone(), record.version.clone(), package);
                    let locked_to = lock(universe, rules)
                        .and_then(|lock| lock.bindings.get(&key))
                        .and_then(|version| {
                            records.iter().position(|candidate| {
                                candidate.name == key.2 && candidate.version == *version
                            })
                        });
                    let matching = records.iter().map(|candidate| {
                        candidate.name == key.2
                            && (!rules.specs || spec.matches(&candidate.version))
                    });
                    Need {
                        package: package_id(&key.2),
                        matching: matching.collect(),
                        names_prerelease: spec.names_prerelease(),
                        locked_to,
                    }
                })
                .collect();
            let known = record.classes.as_ref().map(|known| {
                let mut numbered: Vec<NumberedClass> = known
                    .iter()
                    .map(|class| NumberedClass {
                        name: classes.id(&class.name),
                        internal: class.internal,
                        parents: parents(universe, record, class)
                            .iter()
                            .map(|parent| classes.id(parent))
                            .collect(),
                    })
                    .collect();
                // An interface is looked up like a class, and extends nothing.
                numbered.extend(record.interfaces.iter().map(|name| NumberedClass {
                    name: classes.id(&name.of_interface()),
                    internal: false,
                    parents: Vec::new(),
                }));
                numbered
            });
            releases.push(NumberedRelease {
                package: package_id(&record.name),
                version: record.version.clone(),
                locked: locked_versions(universe, rules, &record.name).contains(&record.version),
                only_kept: is_only_kept(universe, rules, record),
                needs,
                classes: known,
            });
        }
        let mut candidates = vec![Vec::new(); packages.len()];
        for (id, release) in releases.iter().enumerate() {
            candidates[release.package].push(id);
        }
        for list in &mut candidates {
            list.sort_by(|one, two| releases[*two].version.cmp(&releases[*one].version));
        }
        Self {
            rules: *rules,
            prerelease: universe.prerelease,
            packages,
            releases,
            candidates,
        }
    }

    /// Drops candidates that no resolution can contain: one of their requirements has no candidate, or
    /// no candidate defines a class that they extend. Otherwise the search would fail on them again in
    /// each combination of the others.
    pub(super) fn drop_hopeless(&mut self) {
        loop {
            let hopeless: Vec<ReleaseId> = self
                .candidates
                .iter()
                .flatten()
                .copied()
                .filter(|release| self.is_hopeless(*release))
                .collect();
            if hopeless.is_empty() {
                return;
            }
            for list in &mut self.candidates {
                list.retain(|candidate| !hopeless.contains(candidate));
            }
        }
    }

    /// Whether the root is still a candidate.
    pub(super) fn has_root(&self) -> bool {
        self.candidates[self.releases[ROOT].package].contains(&ROOT)
    }

    fn is_hopeless(&self, id: ReleaseId) -> bool {
        let release = &self.releases[id];
        let within_reach = |need: &Need| -> Vec<ReleaseId> {
            self.candidates[need.package]
                .iter()
                .copied()
                .filter(|candidate| need.matching[*candidate])
                .collect()
        };
        if release
            .needs
            .iter()
            .any(|need| within_reach(need).is_empty())
        {
            return true;
        }
        if !self.rules.classes {
            return false;
        }
        release
            .classes
            .iter()
            .flatten()
            .flat_map(|class| &class.parents)
            .any(|parent| {
                !self.defines_for_itself(id, *parent)
                    && !release
                        .needs
                        .iter()
                        .flat_map(within_reach)
                        .any(|provider| self.defines_for_others(provider, *parent))
            })
    }

    /// Whether a class is visible inside a release as one of its own.
    pub(super) fn defines_for_itself(&self, release: ReleaseId, class: ClassId) -> bool {
        let classes = self.releases[release].classes.as_ref();
        classes.is_none_or(|classes| classes.iter().any(|own| own.name == class))
    }

    /// Whether a release provides a class to the releases that require it.
    pub(super) fn defines_for_others(&self, release: ReleaseId, class: ClassId) -> bool {
        let classes = self.releases[release].classes.as_ref();
        classes.is_none_or(|classes| classes.iter().any(|own| own.name == class && !own.internal))
    }
}

/// Every package that is defined or required, by name.
fn package_names(universe: &Universe) -> Vec<PackageName> {
    let records = universe.records.iter().chain([&universe.root]);
    let names: BTreeSet<PackageName> = records
        .flat_map(|record| {
            let required = requirements(universe, record).into_iter();
            required.map(|(name, _)| name).chain([record.name.clone()])
        })
        .collect();
    names.into_iter().collect()
}

/// Numbers for the names of classes.
#[derive(Default)]
struct Names(Vec<ClassName>);

impl Names {
    fn id(&mut self, name: &ClassName) -> ClassId {
        let known = self.0.iter().position(|other| other == name);
        known.unwrap_or_else(|| {
            self.0.push(name.clone());
            self.0.len() - 1
        })
    }
}
