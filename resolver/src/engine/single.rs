//! Of which packages a proof uses that they have one release.
//!
//! It does where releases of two packages require one and have to agree. A package that one other requires, as
//! far as the proof goes, could have any number of releases: each would be what a release of the other is bound
//! to, and what the proof says of the only release could be said of that one.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use crate::encoding::{Breach, Clause, Encoding, Fact, Variable};
use crate::universe::PackageId;

/// The packages that have to have one release for what was taken in of a proof.
#[derive(Debug, Default)]
pub(super) struct Single {
    packages: BTreeSet<PackageId>,
    /// For each package the first one that was seen to require it.
    requirers: FxHashMap<PackageId, PackageId>,
}

impl Single {
    /// Takes in a constraint between variables that a proof rests on, and the fact that it stands for.
    pub(super) fn add(
        &mut self,
        encoding: &Encoding<'_>,
        fact: Option<&Fact>,
        variables: impl Iterator<Item = Variable>,
    ) {
        match fact {
            Some(Fact::Requires { owner, .. } | Fact::Extends { owner, .. }) => {
                let unsplit = unsplit(variables);
                for target in unsplit.iter().filter(|package| *package != owner) {
                    // Each object of a model requires on its own.
                    if encoding.universe.is_model(*owner) {
                        self.packages.insert(*target);
                    }
                    self.require(&unsplit, *owner, *target);
                }
            }
            // Whatever releases a package has, none of them is one of these.
            Some(Fact::OwnCycle { .. }) => {}
            Some(Fact::Clause(number)) => self.add_clause(&encoding.clauses()[*number as usize]),
            Some(Fact::Wanted { .. } | Fact::Stays { .. }) | None => {
                self.packages.extend(unsplit(variables));
            }
        }
    }

    fn add_clause(&mut self, clause: &Clause) {
        let unsplit = unsplit(clause.terms.iter().map(|(variable, _)| *variable));
        if !matches!(clause.breach, Breach::Rule(_)) {
            self.packages.extend(unsplit);
            return;
        }
        for (owner, target) in &clause.bindings {
            if unsplit.contains(target) {
                self.require(&unsplit, *owner, *target);
            }
        }
    }

    /// Takes in that a package requires another one. Where it has several releases itself, these have to
    /// agree.
    fn require(&mut self, unsplit: &[PackageId], owner: PackageId, target: PackageId) {
        let first = *self.requirers.entry(target).or_insert(owner);
        if first != owner || !unsplit.contains(&owner) {
            self.packages.insert(target);
        }
    }

    pub(super) fn into_packages(self) -> BTreeSet<PackageId> {
        self.packages
    }
}

/// The packages that have one variable, for they are not split.
fn unsplit(variables: impl Iterator<Item = Variable>) -> Vec<PackageId> {
    let packages = variables.filter_map(|variable| match variable {
        Variable::Package(package) => Some(package),
        _ => None,
    });
    packages.collect()
}
