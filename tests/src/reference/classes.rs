//! Rules 2 and 3 on a resolution that is not complete.

use super::problem::{ClassId, ReleaseId};
use super::walk::Walk;

/// Where a class name leads.
enum Found {
    /// To the class of this release.
    In(ReleaseId),
    /// A requirement that comes before any provider is not bound yet, and could provide it.
    NotKnownYet,
    /// Nowhere.
    Nowhere,
}

/// A class: its name, and the release that defines it.
type Class = (ClassId, ReleaseId);

impl Walk<'_> {
    /// Whether rules 2 and 3 hold as far as the bindings tell.
    pub(super) fn classes_hold(&self) -> bool {
        self.decided
            .iter()
            .all(|release| self.names_are_found(*release) && self.hierarchy_holds(*release))
    }

    /// Rule 2 for one release.
    fn names_are_found(&self, release: ReleaseId) -> bool {
        let rules = &self.problem.rules;
        let classes = self.problem.releases[release].classes.iter().flatten();
        !rules.classes
            || classes
                .flat_map(|class| &class.parents)
                .all(|parent| !matches!(self.look_up(release, *parent), Found::Nowhere))
    }

    /// Rule 3 for the classes of one release.
    fn hierarchy_holds(&self, release: ReleaseId) -> bool {
        let rules = &self.problem.rules;
        let classes = self.problem.releases[release].classes.iter().flatten();
        classes.into_iter().all(|class| {
            let own = (class.name, release);
            let mut family = self.ancestors(own);
            if rules.cycles && family.contains(&own) {
                return false;
            }
            family.push(own);
            !rules.diamonds
                || family.iter().all(|(name, release)| {
                    family
                        .iter()
                        .all(|(other, its_release)| other != name || its_release == release)
                })
        })
    }

    /// Everything that a class extends, directly or not; itself only if it is its own ancestor.
    fn ancestors(&self, class: Class) -> Vec<Class> {
        let mut ancestors = Vec::new();
        self.add_parents(class, &mut ancestors);
        let mut done = 0;
        while done < ancestors.len() {
            self.add_parents(ancestors[done], &mut ancestors);
            done += 1;
        }
        ancestors
    }

    fn add_parents(&self, (name, release): Class, ancestors: &mut Vec<Class>) {
        let classes = self.problem.releases[release].classes.iter().flatten();
        for class in classes.filter(|class| class.name == name) {
            for parent in &class.parents {
                if let Found::In(provider) = self.look_up(release, *parent)
                    && !ancestors.contains(&(*parent, provider))
                {
                    ancestors.push((*parent, provider));
                }
            }
        }
    }

    fn look_up(&self, release: ReleaseId, name: ClassId) -> Found {
        if self.problem.defines_for_itself(release, name) {
            return Found::In(release);
        }
        let needs = self.problem.releases[release].needs.len();
        for step in 0..needs {
            let need = if self.problem.rules.lookup_order {
                step
            } else {
                needs - 1 - step
            };
            match self.bound(release, need) {
                Some(bound) if self.problem.defines_for_others(bound, name) => {
                    return Found::In(bound);
                }
                None if self.may_provide(release, need, name) => return Found::NotKnownYet,
                _ => {}
            }
        }
        Found::Nowhere
    }

    /// Whether a requirement could be bound to a release that defines a class.
    fn may_provide(&self, release: ReleaseId, need: usize, name: ClassId) -> bool {
        let need = &self.problem.releases[release].needs[need];
        self.problem.candidates[need.package]
            .iter()
            .any(|candidate| {
                need.matching[*candidate] && self.problem.defines_for_others(*candidate, name)
            })
    }
}
