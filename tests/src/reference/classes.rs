//! Rules 2 and 3 (class lookup and inheritance) on a partial resolution.

use super::problem::{ClassId, ReleaseId};
use super::walk::Walk;

/// The result of looking up a class name.
enum Lookup {
    /// This release provides the class.
    Provided(ReleaseId),
    /// Undecided: a requirement that comes before any provider is not bound yet, and could provide it.
    Undecided,
    /// No release provides it.
    Missing,
}

/// A class: its name, and the release that defines it.
type ProvidedClass = (ClassId, ReleaseId);

impl Walk<'_> {
    /// Whether rules 2 and 3 hold for the bindings so far.
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
                .all(|parent| !matches!(self.look_up(release, *parent), Lookup::Missing))
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

    /// The ancestors of a class. The class itself is among them only if it extends itself.
    fn ancestors(&self, class: ProvidedClass) -> Vec<ProvidedClass> {
        let mut ancestors = Vec::new();
        self.add_parents(class, &mut ancestors);
        let mut done = 0;
        while done < ancestors.len() {
            self.add_parents(ancestors[done], &mut ancestors);
            done += 1;
        }
        ancestors
    }

    fn add_parents(&self, (name, release): ProvidedClass, ancestors: &mut Vec<ProvidedClass>) {
        let classes = self.problem.releases[release].classes.iter().flatten();
        for class in classes.filter(|class| class.name == name) {
            for parent in &class.parents {
                if let Lookup::Provided(provider) = self.look_up(release, *parent)
                    && !ancestors.contains(&(*parent, provider))
                {
                    ancestors.push((*parent, provider));
                }
            }
        }
    }

    fn look_up(&self, release: ReleaseId, name: ClassId) -> Lookup {
        if self.problem.defines_for_itself(release, name) {
            return Lookup::Provided(release);
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
                    return Lookup::Provided(bound);
                }
                None if self.may_provide(release, need, name) => return Lookup::Undecided,
                _ => {}
            }
        }
        Lookup::Missing
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
