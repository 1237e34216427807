//! Groups of variables of which exactly one is 1: the releases of a package, or the bindings of a requirement.

use std::collections::BTreeMap;

use pkgres_manifest::{PackageName, Release, Version};
use pkgres_proof_checker::Literal;

use crate::formula::{Formula, Meaning, Row};
use crate::scope::Scope;
use crate::universe::{Candidate, Universe};

/// What a group of literals decides.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum GroupKey {
    /// The release of a package with one release.
    Package(PackageName),
    /// Whether a release of a package with several is present.
    Release(PackageName, Version),
    /// What a release binds its requirement on a package with several releases to.
    Binding(Release, PackageName),
    /// What an object of the model binds its requirement on a package with several releases to, by its number.
    Object(usize),
}

/// Literals of which exactly one holds.
#[derive(Debug)]
pub(crate) struct Group {
    /// By version, ascending.
    values: BTreeMap<Version, Literal>,
    /// None of them.
    pub(crate) none: Literal,
    /// The number of the inequality "at least one".
    pub(crate) at_least: Option<usize>,
    /// The number of the inequality "at most one".
    pub(crate) at_most: Option<usize>,
}

impl Group {
    /// A group of new variables.
    fn new(
        values: impl IntoIterator<Item = (Version, Meaning)>,
        none: Meaning,
        formula: &mut Formula,
    ) -> Self {
        let values = values.into_iter();
        let values = values.map(|(version, meaning)| (version, formula.variable(meaning)));
        let values: BTreeMap<Version, Literal> = values.collect();
        let mut group = Self {
            none: formula.variable(none),
            values,
            at_least: None,
            at_most: None,
        };
        let all: Vec<Literal> = group.literals().collect();
        group.at_least = Some(formula.add(Row::clause(all.iter().copied())));
        if all.len() > 1 {
            group.at_most = Some(formula.add(Row {
                degree: all.len() - 1,
                literals: all.into_iter().map(Literal::negated).collect(),
            }));
        }
        group
    }

    /// The literal of a version; `None` if it is no candidate.
    pub(crate) fn value(&self, version: &Version) -> Option<Literal> {
        self.values.get(version).copied()
    }

    /// All literals, "none" last.
    pub(crate) fn literals(&self) -> impl Iterator<Item = Literal> {
        self.values.values().copied().chain([self.none])
    }
}

/// All groups.
#[derive(Debug, Default)]
pub(crate) struct Groups(BTreeMap<GroupKey, Group>);

impl Groups {
    /// The groups for the releases of the packages in a scope.
    pub(crate) fn new(universe: &Universe, scope: &Scope, formula: &mut Formula) -> Self {
        let mut groups = Self::default();
        for package in &scope.packages {
            let versions = universe.of(package).iter();
            let releases = versions.map(|candidate| {
                let version = candidate.version.clone();
                (version.clone(), Meaning::Release(package.clone(), version))
            });
            if !scope.split.contains(package) {
                let group = Group::new(releases, Meaning::Absent(package.clone()), formula);
                groups.0.insert(GroupKey::Package(package.clone()), group);
                continue;
            }
            for (version, meaning) in releases {
                let present = formula.variable(meaning);
                let group = Group {
                    values: BTreeMap::from([(version.clone(), present)]),
                    none: present.negated(),
                    at_least: None,
                    at_most: None,
                };
                let key = GroupKey::Release(package.clone(), version);
                groups.0.insert(key, group);
            }
        }
        groups
    }

    pub(super) fn get(&self, key: &GroupKey) -> Option<&Group> {
        self.0.get(key)
    }

    /// The literals for the releases of a package with one release.
    pub(crate) fn present(&self, package: &PackageName) -> Vec<Literal> {
        let group = self.get(&GroupKey::Package(package.clone()));
        let values = group.map(|group| group.values.values().copied().collect());
        values.unwrap_or_default()
    }

    /// Adds the group for what a requirement is bound to, if the package may have several releases. `is_bound` gets the
    /// numbers of the inequalities "what is bound, and what it is bound to, are present".
    pub(crate) fn bind(
        &mut self,
        owner: &PackageName,
        candidate: &Candidate,
        package: &PackageName,
        allowed: &[&Version],
        formula: &mut Formula,
        mut is_bound: impl FnMut(usize),
    ) {
        if self.0.contains_key(&GroupKey::Package(package.clone())) {
            return;
        }
        let owner = Release::new(owner.clone(), candidate.version.clone());
        let key = GroupKey::Binding(owner.clone(), package.clone());
        if self.0.contains_key(&key) {
            return;
        }
        let values = allowed.iter().map(|version| {
            let version = Version::clone(version);
            let target = Release::new(package.clone(), version.clone());
            let owner = owner.clone();
            (version, Meaning::Binding { owner, target })
        });
        let none = Meaning::Unbound {
            owner: owner.clone(),
            package: package.clone(),
        };
        let group = Group::new(values, none, formula);
        let owner_present = self.release(&owner.name, &owner.version);
        for (version, literal) in &group.values {
            for present in [self.release(package, version), owner_present] {
                is_bound(formula.add(Row::clause([literal.negated(), present])));
            }
        }
        self.0.insert(key, group);
    }

    /// Adds the group for the release that an object of the model is bound to, if its package may have several.
    pub(super) fn bind_object(
        &mut self,
        number: usize,
        shown: &str,
        package: &PackageName,
        allowed: &[&Version],
        formula: &mut Formula,
    ) {
        if self.0.contains_key(&GroupKey::Package(package.clone())) {
            return;
        }
        let values = allowed.iter().map(|version| {
            let version = Version::clone(version);
            let target = Release::new(package.clone(), version.clone());
            let object = shown.to_owned();
            (version, Meaning::ObjectBinding { object, target })
        });
        let none = Meaning::ObjectUnbound {
            object: shown.to_owned(),
        };
        let group = Group::new(values, none, formula);
        for (version, literal) in &group.values {
            let present = self.release(package, version);
            formula.add(Row::clause([literal.negated(), present]));
        }
        self.0.insert(GroupKey::Object(number), group);
    }

    /// The candidates that an object of the model can be bound to.
    pub(super) fn of_object(&self, number: usize, package: &PackageName) -> &Group {
        let single = self.get(&GroupKey::Package(package.clone()));
        single
            .or_else(|| self.get(&GroupKey::Object(number)))
            .expect("every object has a group")
    }

    /// The literal for a candidate.
    pub(crate) fn release(&self, package: &PackageName, version: &Version) -> Literal {
        let single = self.get(&GroupKey::Package(package.clone()));
        let group =
            single.or_else(|| self.get(&GroupKey::Release(package.clone(), version.clone())));
        let literal = group.and_then(|group| group.value(version));
        literal.expect("every candidate of a package in the scope has a literal")
    }

    /// The candidates that a requirement in the scope can be bound to.
    pub(crate) fn binding(
        &self,
        owner: &PackageName,
        candidate: &Candidate,
        package: &PackageName,
    ) -> &Group {
        let single = self.get(&GroupKey::Package(package.clone()));
        single
            .or_else(|| {
                let owner = Release::new(owner.clone(), candidate.version.clone());
                let key = GroupKey::Binding(owner, package.clone());
                self.get(&key)
            })
            .expect("every requirement in the scope has a group")
    }
}
