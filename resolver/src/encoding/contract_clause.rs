//! What a contract that is not met rules out.

use pkgres_manifest::ClassName;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::contracts::{Lookup, Say, Unmet};
use crate::selection::Selection;
use crate::universe::{PackageId, ReleaseId};
use crate::word_set::WordSet;

use super::{Breach, Clause, Encoding, Terms};

impl Unmet {
    /// The clause that forbids it. Everything that it depends on stays as it is, but for the
    /// release that was asked for the class that is wanted, which may be any that will not do.
    pub(crate) fn clause(self, encoding: &mut Encoding<'_>, selection: &Selection) -> Clause {
        let mut terms = Terms::default();
        follow(&mut terms, encoding, selection, &self.holder_trail);
        if self.is_found || !self.is_never_found(encoding) {
            follow(&mut terms, encoding, selection, &self.allowed_trail);
            let wanted = encoding.universe.class_id(&self.breach.class);
            match self.object_trail.split_last() {
                // It was asked for the class itself, not for one that extends it there.
                Some((last, before)) if last.say == Say::Entered(wanted) => {
                    follow(&mut terms, encoding, selection, before);
                    let package = selection.bound(last.release)[last.edge].package;
                    let unfit = self.unfit(encoding, package);
                    terms.add(encoding.bound_variable(last.release, last.edge), unfit);
                }
                _ => follow(&mut terms, encoding, selection, &self.object_trail),
            }
        }
        terms.against(Breach::Contract(Box::new(self.breach)))
    }

    /// The releases of a package that define the wanted class in a version that will not do.
    fn unfit(&self, encoding: &mut Encoding<'_>, package: PackageId) -> WordSet {
        let class = encoding.universe.class_id(&self.breach.class);
        let defining = encoding.universe.definers(package, class);
        let allowed = encoding.universe.candidates_of(package);
        defining
            .intersection(&allowed)
            .iter()
            .filter(|index| {
                let release = ReleaseId {
                    package,
                    index: *index,
                };
                !self
                    .breach
                    .allowed
                    .allows(encoding.universe.version(release))
            })
            .collect()
    }

    /// Whether the object's class inherits the wanted one in no version of anything. Only names
    /// are looked at; what is not known counts as possible.
    fn is_never_found(&self, encoding: &mut Encoding<'_>) -> bool {
        let universe = &mut *encoding.universe;
        let mut parents: FxHashMap<ClassName, Vec<ClassName>> = FxHashMap::default();
        let mut unknown = false;
        for package in universe
            .reached()
            .filter(|package| !universe.is_root(*package))
        {
            for release in universe.releases(package) {
                let Some(classes) = universe.written_classes(release) else {
                    unknown = true;
                    continue;
                };
                for (class, extends) in classes {
                    parents.entry(class).or_default().extend(extends);
                }
            }
        }
        let root_class = universe.root_class_name();
        let mut seen: FxHashSet<ClassName> = FxHashSet::default();
        let mut rest = vec![self.breach.is.0.clone()];
        while let Some(class) = rest.pop() {
            if class == self.breach.class || Some(&self.breach.class) == root_class.as_ref() {
                return false;
            }
            match parents.get(&class) {
                Some(above) => rest.extend(
                    above
                        .iter()
                        .filter(|above| seen.insert((*above).clone()))
                        .cloned(),
                ),
                None if Some(&class) == root_class.as_ref() => {}
                // The class is defined by something that was not looked at.
                None => return false,
            }
        }
        !unknown
    }
}

/// Holds on to what a search went along.
fn follow(terms: &mut Terms, encoding: &mut Encoding<'_>, selection: &Selection, trail: &[Lookup]) {
    for lookup in trail {
        let bound = selection.bound(lookup.release)[lookup.edge];
        let package = bound.package;
        let values = match lookup.say {
            Say::Entered(_) => WordSet::single(bound.index),
            Say::Passed(class) | Say::Defines(class) => {
                let defining = encoding.universe.definers(package, class);
                let allowed = encoding.universe.candidates_of(package);
                let passes = matches!(lookup.say, Say::Passed(_));
                let says = if passes {
                    defining.complement()
                } else {
                    defining
                };
                let values = allowed.intersection(&says);
                if values == allowed {
                    // It cannot be otherwise.
                    continue;
                }
                values
            }
        };
        terms.add(encoding.bound_variable(lookup.release, lookup.edge), values);
    }
}
