//! Which releases of a package share a requirement.
//!
//! What releases share is one constraint. An index knows it of requirements on its own packages, and on
//! those that nobody has; the rest is worked out when a search first asks.

use rustc_hash::FxHashMap;

use super::edges::{PackageRequirement, SetId};
use super::{PackageId, ReleaseId, Universe};
use crate::index::{RequirementNumbers, to_u32, width};
use crate::set::PositionSet;

impl Universe {
    /// The releases of the same package that allow the same releases of a target. Only those of
    /// the object model are not known.
    pub(crate) fn owners(
        &mut self,
        release: ReleaseId,
        requirement: &PackageRequirement,
    ) -> Option<SetId> {
        if requirement.owners.is_some() {
            return requirement.owners;
        }
        let package = release.package;
        if self.is_model(package) {
            return None;
        }
        if self.release_count(package) == 1 {
            // Most roots are such packages, and may require very many others.
            let at = match self.sets.first {
                Some(known) => known,
                None => self.keep(package, &PositionSet::single(0)),
            };
            self.sets.first = Some(at);
            return Some(SetId::worked_out(at));
        }
        let key = (package, requirement.target, requirement.allowed);
        if let Some(known) = self.sets.of_owners.get(&key) {
            return Some(*known);
        }
        if Some(requirement.target) == self.core {
            let owners = self.owners_of_core(package, requirement.allowed);
            let owners = SetId::worked_out(self.keep(package, &owners));
            self.sets.of_owners.insert(key, owners);
            return Some(owners);
        }
        self.find_owners(package);
        self.sets.of_owners.get(&key).copied()
    }

    /// The releases of a package that allow the same of the core library. Most say nothing of it, so
    /// that only those are looked at that do.
    fn owners_of_core(&mut self, package: PackageId, allowed: SetId) -> PositionSet {
        let core = self.core.expect("a core library is required");
        let core_width = self.width(core);
        let delivered = *self.delivered(package);
        let (loaded, owners_width) = (delivered.loaded, to_u32(width(delivered.count)));
        let number = self.core_number(loaded);
        let default = self.default_core_set(core);
        let is_default_same = self.set(default, core_width) == self.set(allowed, core_width);
        // Releases mostly write it alike.
        let mut known: FxHashMap<RequirementNumbers, bool> = FxHashMap::default();
        let mut owners = Vec::new();
        for index in 0..delivered.count {
            let edges = self.indexes[loaded as usize]
                .index()
                .requirement_range(delivered.first + index);
            let written = number.and_then(|number| {
                let index = self.indexes[loaded as usize].index();
                let mut written = edges.rev().map(|edge| index.requirement(edge));
                written.find(|[target, ..]| *target == number)
            });
            let is_same = written.map_or(is_default_same, |edge| {
                *known.entry(edge).or_insert_with(|| {
                    let set = self.set_of_core_edge(loaded, owners_width, edge);
                    self.set(set, core_width) == self.set(allowed, core_width)
                })
            });
            if is_same {
                owners.push(index);
            }
        }
        owners.into_iter().collect()
    }

    /// The number of the core library in the index of a loaded index, if that names it.
    pub(super) fn core_number(&self, loaded: u32) -> Option<u32> {
        let name = self.name(self.core?);
        self.indexes[loaded as usize].index().find(name.as_str())
    }

    /// Finds out which releases of a package share the requirements of which no index knows it.
    fn find_owners(&mut self, package: PackageId) {
        let mut requirements = Vec::new();
        let mut all: Vec<(PackageRequirement, u32)> = Vec::new();
        for release in self.releases(package) {
            self.requirements(release, &mut requirements);
            // What others require may not have been delivered yet.
            let is_open = |requirement: &&PackageRequirement| {
                requirement.owners.is_none() && requirement.is_known()
            };
            let open = requirements.iter().filter(is_open);
            all.extend(open.map(|requirement| (*requirement, release.index)));
        }
        let universe = &*self;
        let key = |requirement: &PackageRequirement| {
            (requirement.target, universe.allowed_words(requirement))
        };
        all.sort_by(|(one, _), (two, _)| key(one).cmp(&key(two)));
        let alike = all.chunk_by(|(one, _), (two, _)| key(one) == key(two));
        let alike: Vec<(&[(PackageRequirement, u32)], PositionSet)> = alike
            .map(|alike| (alike, alike.iter().map(|(_, release)| *release).collect()))
            .collect();
        for (alike, owners) in alike {
            let owners = SetId::worked_out(self.keep(package, &owners));
            for (requirement, _) in alike {
                let key = (package, requirement.target, requirement.allowed);
                self.sets.of_owners.insert(key, owners);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use pkgres_manifest::{IndexRecord, Limits, PackageName, RegistryName, ReleaseSource};

    use super::*;
    use crate::index::CompiledIndex;
    use crate::set::bits;
    use crate::supply::Supply;

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
        universe.provide(&x_name, x);
        let records: Vec<IndexRecord> = lines.iter().chain(others).copied().map(record).collect();
        universe.attach(source, CompiledIndex::compile(&records).into());
        let package = universe.package_id(&a);
        let releases = universe.releases(package);
        let mut requirements = Vec::new();
        let of_release = |release| {
            universe.requirements(release, &mut requirements);
            let owners = universe.owners(release, requirements.first()?)?;
            let owners = universe.set(owners, universe.width(package));
            Some((0..4).filter(|at| bits::contains(owners, *at)).collect())
        };
        releases.filter_map(of_release).collect()
    }

    #[test]
    fn all_that_require_what_nobody_has_require_the_same() {
        assert_eq!(sharing(Supply::Unknown, &[]), vec![[0, 1, 2]; 3]);
    }

    #[test]
    fn what_an_index_has_is_nowhere_if_that_was_said_before() {
        let others = [
            r#"{"name":"X","version":"1.5.0"}"#,
            r#"{"name":"X","version":"2.0.0"}"#,
        ];
        assert_eq!(sharing(Supply::Unknown, &others), vec![[0, 1, 2]; 3]);
    }

    #[test]
    fn what_allows_the_same_of_what_another_index_has_is_required_together() {
        let source = ReleaseSource::Host;
        let records = vec![
            record(r#"{"name":"X","version":"1.5.0"}"#),
            record(r#"{"name":"X","version":"2.0.0"}"#),
        ];
        let shared = sharing(Supply::Releases { source, records }, &[]);
        assert_eq!(shared, [vec![0, 2], vec![1], vec![0, 2]]);
    }
}
