//! The rules of resolution on complete solutions, stated as directly as possible: on names, and
//! independent of how a solution is found.

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::{ClassName, IndexRecord, PackageName, Release, Spec};

use super::Rules;
use super::candidates::{candidates, has, parents, requirements};
use crate::solution::Solution;
use crate::universe::Universe;

/// A class: its name, and the release that defines it.
pub type Class = (ClassName, Release);

/// Whether a solution is a valid resolution; if not, the reason.
///
/// A valid resolution binds exactly the requirements of the root and of the releases that are reached
/// from it, each to a candidate. It obeys rules 1 to 3, and has one release of each package if the
/// universe or [`Rules::second_tier`] demands it. It need not be the best one, and
/// [`Solution::side_by_side`] is not checked.
pub fn is_valid(universe: &Universe, solution: &Solution, rules: &Rules) -> Result<(), String> {
    let classes = Classes::of(universe, solution, rules)?;
    if universe.single_version || !rules.second_tier {
        for Release { name, version } in classes.reached.keys() {
            let mut reached = classes.reached.keys();
            if reached.any(
                |Release {
                     name: other,
                     version: its_version,
                 }| other == name && its_version != version,
            ) {
                return Err(format!("there are several releases of `{name}`"));
            }
        }
    }
    for (release, record) in &classes.reached {
        for class in record.classes.iter().flatten() {
            let class = (class.name.clone(), release.clone());
            classes.check_names(&class)?;
            classes.check_hierarchy(&class)?;
        }
    }
    Ok(())
}

/// The solution without bindings of releases that are not reached from the root.
pub(super) fn needed(universe: &Universe, solution: &Solution) -> Solution {
    let mut bindings = BTreeMap::new();
    let mut seen = BTreeSet::new();
    let mut waiting = vec![&universe.root];
    while let Some(record) = waiting.pop() {
        if !seen.insert((&record.name, &record.version)) {
            continue;
        }
        for (package, _) in requirements(universe, record) {
            let key = (record.name.clone(), record.version.clone(), package.clone());
            let Some(version) = solution.bindings.get(&key) else {
                continue;
            };
            bindings.insert(key, version.clone());
            let is_root = package == universe.root.name;
            let releases = universe.records.iter().filter(|_| !is_root);
            waiting.extend(
                releases.filter(|other| other.name == package && other.version == *version),
            );
        }
    }
    Solution::new(bindings)
}

/// The releases that are reached from the root through bindings. Checks rule 1.
fn reached<'universe>(
    universe: &'universe Universe,
    solution: &Solution,
    rules: &Rules,
) -> Result<BTreeMap<Release, &'universe IndexRecord>, String> {
    let mut reached = BTreeMap::new();
    let mut used = BTreeSet::new();
    let mut waiting = vec![&universe.root];
    while let Some(record) = waiting.pop() {
        let release = record.release();
        if reached.insert(release, record).is_some() {
            continue;
        }
        for (package, spec) in requirements(universe, record) {
            let who = format!("`{}` {}", record.name, record.version);
            let key = (record.name.clone(), record.version.clone(), package.clone());
            let Some(version) = solution.bindings.get(&key) else {
                return Err(format!("{who} requires `{package}`, which is not bound"));
            };
            if rules.specs && !spec.matches(version) {
                return Err(format!(
                    "{who} requires `{package}` {spec}, which {version} does not match"
                ));
            }
            let candidates = candidates(universe, rules, &package);
            let Some(bound) = candidates
                .into_iter()
                .find(|candidate| candidate.version == *version)
            else {
                return Err(format!("`{package}` {version} is no candidate"));
            };
            used.insert(key);
            waiting.push(bound);
        }
    }
    match solution.bindings.keys().find(|key| !used.contains(*key)) {
        Some((requirer, version, package)) => Err(format!(
            "`{requirer}` {version} is not reached or does not require `{package}`"
        )),
        None => Ok(reached),
    }
}

/// The classes of a resolution, with lookup and ancestors.
pub struct Classes<'solution> {
    universe: &'solution Universe,
    solution: &'solution Solution,
    rules: &'solution Rules,
    reached: BTreeMap<Release, &'solution IndexRecord>,
}

impl<'solution> Classes<'solution> {
    /// The classes of the releases that are reached from the root. Fails if a requirement is not bound
    /// to a candidate inside its spec.
    pub fn of(
        universe: &'solution Universe,
        solution: &'solution Solution,
        rules: &'solution Rules,
    ) -> Result<Self, String> {
        let reached = reached(universe, solution, rules)?;
        Ok(Self {
            universe,
            solution,
            rules,
            reached,
        })
    }

    /// A class and all its ancestors, nearest first.
    pub fn family(&self, class: Class) -> Vec<Class> {
        let mut family = vec![class];
        let mut done = 0;
        while let Some(next) = family.get(done) {
            for (name, provider) in self.parents(next) {
                let parent = provider.map(|provider| (name, provider));
                family.extend(parent.filter(|parent| !family.contains(parent)));
            }
            done += 1;
        }
        family
    }

    /// Whether the classes of a release are known.
    pub fn are_known(&self, release: &Release) -> bool {
        self.reached[release].classes.is_some()
    }

    /// The spec of a release's requirement on a package.
    pub fn required(&self, release: &Release, package: &PackageName) -> Option<Spec> {
        let requirements = requirements(self.universe, self.reached[release]).into_iter();
        let mut on_package = requirements.filter(|(name, _)| name == package);
        on_package.next().map(|(_, spec)| spec)
    }

    /// The release that provides a class name to another release.
    pub fn provider(&self, release: &Release, name: &ClassName) -> Option<Release> {
        let record = self.reached[release];
        let has = |record, internal_too| has(record, name, internal_too);
        if has(record, true) {
            return Some(release.clone());
        }
        let mut providers: Vec<Release> = requirements(self.universe, record)
            .into_iter()
            .map(|(package, _)| {
                let key = (
                    release.name.clone(),
                    release.version.clone(),
                    package.clone(),
                );
                Release::new(package, self.solution.bindings[&key].clone())
            })
            .filter(|bound| has(self.reached[bound], false))
            .collect();
        if !self.rules.lookup_order {
            providers.reverse();
        }
        providers.into_iter().next()
    }

    /// The names that a class extends, each with its provider.
    fn parents(&self, class: &Class) -> Vec<(ClassName, Option<Release>)> {
        let (name, release) = class;
        let record = self.reached[release];
        let Some(definition) = record
            .classes
            .iter()
            .flatten()
            .find(|definition| definition.name == *name)
        else {
            return Vec::new();
        };
        parents(self.universe, record, definition)
            .into_iter()
            .map(|parent| {
                let provider = self.provider(release, &parent);
                (parent, provider)
            })
            .collect()
    }

    /// Rule 2 for a class.
    fn check_names(&self, class: &Class) -> Result<(), String> {
        for (parent, provider) in self.parents(class) {
            if provider.is_none() && self.rules.classes {
                return Err(format!(
                    "`{}` of {:?} extends `{parent}`, which is not found",
                    class.0, class.1
                ));
            }
        }
        Ok(())
    }

    /// Rule 3 for a class.
    fn check_hierarchy(&self, class: &Class) -> Result<(), String> {
        let mut ancestors: BTreeSet<Class> = BTreeSet::new();
        let mut waiting = vec![class.clone()];
        while let Some(next) = waiting.pop() {
            for (name, provider) in self.parents(&next) {
                if let Some(provider) = provider
                    && ancestors.insert((name.clone(), provider.clone()))
                {
                    waiting.push((name, provider));
                }
            }
        }
        if self.rules.cycles && ancestors.contains(class) {
            return Err(format!("`{}` of {:?} extends itself", class.0, class.1));
        }
        ancestors.insert(class.clone());
        let names: BTreeSet<&ClassName> = ancestors.iter().map(|(name, _)| name).collect();
        if self.rules.diamonds && names.len() < ancestors.len() {
            return Err(format!(
                "`{}` of {:?} reaches two classes of one name",
                class.0, class.1
            ));
        }
        Ok(())
    }
}
