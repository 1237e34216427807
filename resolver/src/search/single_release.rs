//! Of which packages a proof uses that they have one release.
//!
//! It does where releases of two packages require one and have to agree. A package that one other requires, as
//! far as the proof goes, could have any number of releases: each would be what a release of the other is bound
//! to, and what the proof says of the only release could be said of that one.

use crate::problem::{Fact, Nogood, NogoodCause, Problem, Variable};
use crate::universe::PackageId;

/// The packages that have to have one release for what was taken in of a proof.
#[derive(Debug)]
pub(super) struct Single {
    packages: Vec<PackageId>,
    /// For each package the first one that was seen to require it.
    requirers: Vec<Option<PackageId>>,
    /// The packages of the constraint at hand that have one variable, for they are not split.
    unsplit: Vec<PackageId>,
}

impl Single {
    /// Nothing of a proof yet. There are so many packages: those that a proof is about were met before it ended.
    pub(super) fn new(packages: usize) -> Self {
        Self {
            packages: Vec::new(),
            requirers: vec![None; packages],
            unsplit: Vec::new(),
        }
    }

    /// Takes in a constraint between variables that a proof rests on, and the fact that it stands for.
    pub(super) fn add(
        &mut self,
        problem: &Problem<'_>,
        fact: Option<&Fact>,
        variables: impl Iterator<Item = Variable>,
    ) {
        match fact {
            Some(Fact::Requires { owner, .. } | Fact::Extends { owner, .. }) => {
                self.find_unsplit(variables);
                for at in 0..self.unsplit.len() {
                    let target = self.unsplit[at];
                    if target != *owner {
                        // Each object of a model requires on its own.
                        if problem.universe.catalog.is_model(*owner) {
                            self.packages.push(target);
                        }
                        self.require(*owner, target);
                    }
                }
            }
            // Whatever releases a package has, none of them is one of these.
            Some(Fact::OwnCycle { .. }) => {}
            Some(Fact::Nogood(number)) => self.add_nogood(&problem.nogoods()[*number as usize]),
            Some(Fact::Wanted { .. } | Fact::Stays { .. }) | None => {
                self.find_unsplit(variables);
                self.packages.extend_from_slice(&self.unsplit);
            }
        }
    }

    fn add_nogood(&mut self, nogood: &Nogood) {
        self.find_unsplit(nogood.terms.iter().map(|(variable, _)| *variable));
        if !matches!(nogood.breach, NogoodCause::Rule(_)) {
            self.packages.extend_from_slice(&self.unsplit);
            return;
        }
        for (owner, target) in &nogood.bindings {
            if self.unsplit.contains(target) {
                self.require(*owner, *target);
            }
        }
    }

    /// Takes in that a package requires another one. Where it has several releases itself, these have to
    /// agree.
    fn require(&mut self, owner: PackageId, target: PackageId) {
        let first = *self.requirers[target.position()].get_or_insert(owner);
        if first != owner || !self.unsplit.contains(&owner) {
            self.packages.push(target);
        }
    }

    fn find_unsplit(&mut self, variables: impl Iterator<Item = Variable>) {
        let packages = variables.filter_map(|variable| match variable {
            Variable::Package(package) => Some(package),
            _ => None,
        });
        self.unsplit.clear();
        self.unsplit.extend(packages);
    }

    pub(super) fn into_packages(mut self) -> Vec<PackageId> {
        self.packages.sort_unstable();
        self.packages.dedup();
        self.packages
    }
}
