//! The greedy walk: decide each package once, without backtracking.
//!
//! Packages are decided in the order of decisions, each at the best release in its domain. If the
//! requirements of a release contradict earlier decisions, it is skipped: no resolution contains it
//! together with these decisions. If every package gets a release and the result violates no class
//! rule, it is the best resolution, because no decision could have been better. Otherwise an
//! earlier decision has to change, which is left to the search; the walk then only finds out which
//! packages the search will probably need.
//!
//! Most real problems end here, in time linear in the number of requirements of the selected
//! releases.

mod domains;
#[cfg(feature = "prefetch")]
mod read_ahead;

use crate::budget::{Budget, Interrupt};
use crate::class_rules;
use crate::index::to_u32;
use crate::selection::Selection;
use crate::set::PositionSet;
use crate::universe::{
    ClassRequirement, ClassRequirements, Missing, PackageId, PackageRequirement, ReleaseId,
    Universe,
};
use domains::Domains;

/// How many releases are skipped at most. With more, some package mostly has none in the end, and
/// the walk was useless.
const MAX_SKIPPED: u32 = 8;

/// A walk that can be interrupted while releases are fetched.
#[derive(Debug, Default)]
pub(crate) struct Greedy {
    order: Vec<ReleaseId>,
    /// How many roots were added.
    roots_added: usize,
    /// The packages that the releases require, and where those of each release end.
    targets: Vec<PackageId>,
    ends: Vec<u32>,
    /// The index of the next requirement.
    next: usize,
    /// The release that may be selected for it.
    candidate: Option<ReleaseId>,
    /// The domains. The changes of `candidate` can be undone.
    domains: Domains,
    requirements: Vec<PackageRequirement>,
    classes: ClassRequirements,
    /// Whether several packages can define a class that is extended.
    may_lack_classes: bool,
    /// How many releases were skipped.
    skipped: u32,
    failed: bool,
    #[cfg(feature = "prefetch")]
    prefetched: read_ahead::Prefetched,
}

impl Greedy {
    /// Continues until there is a result: `None` if a class rule or a requirement is violated.
    pub(crate) fn advance(
        &mut self,
        universe: &mut Universe,
        budget: &mut Budget,
    ) -> Result<Option<Selection>, Interrupt> {
        if self.order.is_empty() {
            self.domains.grow(universe.catalog.package_count());
            for root in universe.catalog.roots() {
                self.domains.choose(*root);
                self.order.push(*root);
            }
        }
        while let Some(root) = universe.catalog.roots().get(self.roots_added).copied() {
            if self.add_release(universe, root)? {
                self.roots_added += 1;
            } else {
                self.failed = true;
            }
        }
        loop {
            if self.failed && universe.catalog.has_attached() {
                // No releases have to be fetched, so it is useless to find out early which ones are
                // needed.
                return Ok(None);
            }
            if !self.decide_next(universe, budget)? {
                return Ok(self.result(universe));
            }
        }
    }

    /// Adds the requirements of a release, unless they contradict earlier decisions; returns
    /// whether it did. A walk that has failed adds all that it can.
    fn add_release(
        &mut self,
        universe: &mut Universe,
        release: ReleaseId,
    ) -> Result<bool, Interrupt> {
        let mut requirements = std::mem::take(&mut self.requirements);
        universe.requirements(release, &mut requirements);
        self.domains.grow(universe.catalog.package_count());
        self.domains.checkpoint();
        let taken = self.add_requirements(universe, release, &requirements);
        if matches!(taken, Ok(true)) {
            for requirement in &requirements {
                self.targets.push(requirement.target);
                if requirement.names_prerelease {
                    self.domains.name_prerelease(requirement.target);
                }
            }
            self.ends.push(to_u32(self.targets.len()));
        } else {
            self.domains.rollback();
        }
        self.requirements = requirements;
        taken
    }

    fn add_requirements(
        &mut self,
        universe: &mut Universe,
        release: ReleaseId,
        requirements: &[PackageRequirement],
    ) -> Result<bool, Interrupt> {
        let mut missing = Vec::new();
        for requirement in requirements {
            if !requirement.is_known() {
                missing.push(requirement.target);
                continue;
            }
            if !self.restrict(requirement.target, universe.allowed_words(requirement)) {
                return Ok(false);
            }
        }
        if !missing.is_empty() {
            return Err(Missing::Packages(missing).into());
        }
        let is_open =
            !self.failed && !universe.requirements_define_all_classes(release, requirements);
        if is_open && !self.add_classes(universe, release, requirements) {
            return Ok(false);
        }
        Ok(true)
    }

    /// Adds the extended classes of a release; returns whether they can be found.
    fn add_classes(
        &mut self,
        universe: &mut Universe,
        release: ReleaseId,
        requirements: &[PackageRequirement],
    ) -> bool {
        let mut classes = std::mem::take(&mut self.classes);
        universe.class_requirements(release, requirements, &mut classes);
        let can_be_found = |required_class| self.add_class(universe, required_class, requirements);
        let is_right = !classes.has_cycle && classes.all.iter().all(can_be_found);
        self.classes = classes;
        is_right
    }

    fn add_class(
        &mut self,
        universe: &mut Universe,
        required_class: &ClassRequirement,
        requirements: &[PackageRequirement],
    ) -> bool {
        if let Some(found) = required_class.only_definer {
            let target = requirements[found.requirement].target;
            let allowed = universe.set(found.allowed, universe.catalog.width(target));
            return self.restrict(target, allowed);
        }
        let mut defining: Option<(PackageId, PositionSet)> = None;
        for requirement in requirements {
            let by_target = (universe.catalog).definers(requirement.target, required_class.class);
            if !by_target.is_empty() {
                if defining.is_some() {
                    // The check of the complete selection decides.
                    self.may_lack_classes = true;
                    return true;
                }
                defining = Some((requirement.target, by_target));
            }
        }
        let Some((package, defining)) = defining else {
            return false;
        };
        let allowed = defining.to_words(universe.catalog.width(package));
        self.restrict(package, &allowed)
    }

    /// Restricts the domain of a package; returns whether that is possible. For a walk that has
    /// failed, it always is.
    #[inline]
    fn restrict(&mut self, package: PackageId, to: &[u64]) -> bool {
        self.domains.restrict(package, to, self.failed) || self.failed
    }

    /// Decides the next package; returns whether there was one.
    fn decide_next(
        &mut self,
        universe: &mut Universe,
        budget: &mut Budget,
    ) -> Result<bool, Interrupt> {
        while let Some(package) = self.targets.get(self.next).copied() {
            if self.domains.chosen(package).is_some() {
                self.next += 1;
                continue;
            }
            #[cfg(feature = "prefetch")]
            self.read_ahead(universe);
            let release = if let Some(candidate) = self.candidate {
                candidate
            } else {
                let Some(index) = self.best(universe, package) else {
                    self.failed = true;
                    self.next += 1;
                    return Ok(true);
                };
                if !self.failed {
                    // After a failure, only fetching depends on what follows.
                    budget.take()?;
                }
                ReleaseId { package, index }
            };
            self.candidate = Some(release);
            let fits = self.add_release(universe, release)?;
            self.candidate = None;
            if !fits {
                self.skipped += 1;
                self.failed |= self.skipped > MAX_SKIPPED;
                self.domains.remove(release);
                continue;
            }
            self.next += 1;
            self.domains.choose(release);
            self.order.push(release);
            return Ok(true);
        }
        Ok(false)
    }

    /// The best release in the domain of a package.
    #[inline]
    fn best(&self, universe: &Universe, package: PackageId) -> Option<u32> {
        let domain = self.domains.of(package, universe.catalog.width(package));
        let prerelease_named = self.domains.is_prerelease_named(package);
        (universe.catalog).best_of_words(package, domain, prerelease_named)
    }

    fn result(&self, universe: &mut Universe) -> Option<Selection> {
        if self.failed {
            return None;
        }
        let bound = self.targets.iter().map(|package| ReleaseId {
            package: *package,
            index: (self.domains.chosen(*package)).expect("all are decided"),
        });
        let selection = Selection::new(&self.order, bound.collect(), &self.ends);
        let is_valid = !self.may_lack_classes && class_rules::is_known_valid(universe, &selection)
            || class_rules::violation(universe, &selection).is_none();
        is_valid.then_some(selection)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use pkgres_manifest::{IndexRecord, Limits, PackageName, RegistryName, ReleaseSource};

    use super::*;
    use crate::index::CompiledIndex;
    use crate::request::Engine;
    use crate::request::Root;
    use crate::universe::Policy;

    /// The result for some index lines, of which the first is the root.
    fn walk(lines: &[String]) -> Option<Vec<String>> {
        let read = |line: &String| {
            IndexRecord::parse_line(line, &Limits::default()).expect("the test writes lines")
        };
        let mut records: Vec<IndexRecord> = lines.iter().map(read).collect();
        let mut universe = Universe::new(None, Policy::default(), BTreeMap::new());
        universe.add_root(Root::Package(Box::new(records.remove(0))));
        let source = ReleaseSource::Registry(RegistryName::parse("demo").expect("a name"));
        (universe.catalog).attach(source, CompiledIndex::compile(&records).into());
        let mut budget = Budget::new(1000, 0, Engine::Native);
        let found = Greedy::default().advance(&mut universe, &mut budget);
        let found = found.expect("all releases are there");
        let chosen = found?.releases()[1..].to_vec();
        let described = chosen.iter().map(|release| {
            let name: &PackageName = universe.catalog.name(release.package);
            format!("{name} {}", universe.catalog.version(*release))
        });
        Some(described.collect())
    }

    fn line(name: &str, major: u32, require: &str) -> String {
        format!(r#"{{"name":"{name}","version":"{major}.0.0","require":[{require}]}}"#)
    }

    #[test]
    fn a_release_that_contradicts_a_decision_is_skipped_without_effects() {
        let lines = [
            line("R", 1, r#"["A","*"],["B","*"],["C","*"]"#),
            line("A", 1, ""),
            line("A", 2, ""),
            line("B", 1, ""),
            line("B", 2, r#"["C","<2"],["A","<2"]"#),
            line("C", 1, ""),
            line("C", 2, ""),
        ];
        let found = walk(&lines).expect("a resolution");
        assert_eq!(found, ["A 2.0.0", "B 1.0.0", "C 2.0.0"]);
    }

    #[test]
    fn a_package_without_releases_is_left_to_the_search() {
        let lines = [
            line("R", 1, r#"["A","*"],["B","*"]"#),
            line("A", 1, ""),
            line("A", 2, ""),
            line("B", 2, r#"["A","<2"]"#),
        ];
        assert_eq!(walk(&lines), None);
    }

    #[test]
    fn the_number_of_skipped_releases_is_limited() {
        let with = |count: u32| {
            let root = line("R", 1, r#"["A","*"],["B","*"]"#);
            let others = [line("A", 1, ""), line("A", 2, ""), line("B", 1, "")];
            let refused = (0..count).map(|at| line("B", at + 2, r#"["A","<2"]"#));
            let lines: Vec<String> = [root].into_iter().chain(others).chain(refused).collect();
            walk(&lines)
        };
        let found = with(MAX_SKIPPED).expect("a resolution");
        assert_eq!(found, ["A 2.0.0", "B 1.0.0"]);
        assert_eq!(with(MAX_SKIPPED + 1), None);
    }
}
