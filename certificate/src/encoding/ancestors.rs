//! The classes that objects can inherit, and the releases in which classes are found, as variables.

use std::collections::BTreeMap;

use pkgres_manifest::{ClassName, PackageName, Release, Spec, Version};
use pkgres_proof_checker::Literal;

use crate::formula::{Formula, Meaning, Row};
use crate::universe::{Candidate, Universe};

use super::Groups;
use super::hierarchy::ClassIn;

/// The classes that an object can inherit, with the literals "it does".
pub(super) type Ancestors<'all> = BTreeMap<ClassIn<'all>, Literal>;

/// A release in which a class can be found.
#[derive(Debug, Clone, Copy)]
pub(super) struct FoundClass<'all> {
    pub(super) class: ClassIn<'all>,
    /// The spec of the requirement on its package.
    pub(super) spec: &'all Spec,
    /// "It is found there."
    pub(super) literal: Literal,
}

pub(super) struct RowBuilder<'all, 'formula> {
    pub(super) universe: &'all Universe,
    pub(super) groups: &'all Groups,
    pub(super) formula: &'formula mut Formula,
    /// What was looked up, by the release and the class.
    pub(super) found:
        BTreeMap<(&'all PackageName, &'all Version, &'all ClassName), Vec<FoundClass<'all>>>,
}

impl<'all> RowBuilder<'all, '_> {
    pub(super) fn clause(&mut self, literals: impl IntoIterator<Item = Literal>) {
        self.formula.add(Row::clause(literals));
    }

    /// The conjunction of two literals as one.
    pub(super) fn both(&mut self, one: Literal, other: Literal, meaning: Meaning) -> Literal {
        let both = self.formula.variable(meaning);
        self.clause([one.negated(), other.negated(), both]);
        self.clause([both.negated(), one]);
        self.clause([both.negated(), other]);
        both
    }

    /// The releases in which a release can find a class in what it requires.
    pub(super) fn found(
        &mut self,
        (package, candidate): (&'all PackageName, &'all Candidate),
        class: &'all ClassName,
    ) -> Vec<FoundClass<'all>> {
        let key = (package, &candidate.version, class);
        if let Some(known) = self.found.get(&key) {
            return known.clone();
        }
        let (universe, groups) = (self.universe, self.groups);
        let mut found = Vec::new();
        // Literals of packages that define the class and are required before.
        let mut earlier: Vec<Literal> = Vec::new();
        for (required, spec) in &candidate.requirements {
            let binding = groups.binding(package, candidate, required);
            let definers = universe.of(required).iter();
            let definers = definers.filter(|one| one.exports(class));
            let definers: Vec<(&Version, Literal)> = definers
                .filter_map(|one| Some((&one.version, binding.value(&one.version)?)))
                .collect();
            for (version, bound) in &definers {
                let literal = if earlier.is_empty() {
                    *bound
                } else {
                    let owner = Release::new(package.clone(), candidate.version.clone());
                    let class = (class.clone(), required.clone(), Version::clone(version));
                    let is_found = self.formula.variable(Meaning::Finds { owner, class });
                    let unless = earlier.iter().copied();
                    self.clause(unless.chain([bound.negated(), is_found]));
                    for excluded in [bound.negated()].iter().chain(&earlier) {
                        self.clause([is_found.negated(), excluded.negated()]);
                    }
                    is_found
                };
                found.push(FoundClass {
                    class: (class, required, version),
                    spec,
                    literal,
                });
            }
            earlier.extend(definers.into_iter().map(|(_, bound)| bound));
        }
        self.found.insert(key, found.clone());
        found
    }

    /// The classes that a class can extend, each with the literal that it depends on, if any.
    pub(super) fn parents(
        &mut self,
        class: ClassIn<'all>,
    ) -> Vec<(ClassIn<'all>, Option<Literal>)> {
        let (name, package, version) = class;
        let Some(candidate) = self.universe.candidate(package, version) else {
            return Vec::new();
        };
        let mut parents = Vec::new();
        for (_, parent) in candidate.extensions().filter(|(class, _)| *class == name) {
            if candidate.has(parent) {
                parents.push(((parent, package, version), None));
            } else {
                let found = self.found((package, candidate), parent).into_iter();
                parents.extend(found.map(|found| (found.class, Some(found.literal))));
            }
        }
        parents
    }

    /// The ancestors of an object, starting from the classes that it can be of, each with its condition.
    pub(super) fn ancestors(
        &mut self,
        object: &str,
        starts: Vec<(ClassIn<'all>, Literal)>,
    ) -> Ancestors<'all> {
        let mut ancestors = Ancestors::new();
        // For each class what it follows from.
        let mut causes: BTreeMap<ClassIn<'all>, Vec<Literal>> = BTreeMap::new();
        let mut open = Vec::new();
        let is_of = |formula: &mut Formula, class| {
            formula.variable(Meaning::IsOf {
                object: object.to_owned(),
                class: owned(class),
            })
        };
        for (class, start) in starts {
            ancestors.insert(class, is_of(self.formula, class));
            causes.entry(class).or_default().push(start);
            open.push(class);
        }
        while let Some(class) = open.pop() {
            let literal = ancestors[&class];
            for (parent, condition) in self.parents(class) {
                ancestors.entry(parent).or_insert_with(|| {
                    open.push(parent);
                    is_of(self.formula, parent)
                });
                let cause = match condition {
                    None => literal,
                    Some(found) => {
                        let meaning = Meaning::Leads {
                            object: object.to_owned(),
                            class: owned(class),
                            to: owned(parent),
                        };
                        self.both(literal, found, meaning)
                    }
                };
                causes.entry(parent).or_default().push(cause);
            }
        }
        for (class, causes) in causes {
            let literal = ancestors[&class];
            for cause in &causes {
                self.clause([cause.negated(), literal]);
            }
            self.clause(causes.into_iter().chain([literal.negated()]));
        }
        ancestors
    }
}

pub(super) fn owned((class, package, version): ClassIn<'_>) -> (ClassName, PackageName, Version) {
    (class.clone(), package.clone(), version.clone())
}
