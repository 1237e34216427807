//! Proves violations of the class hierarchy.
//!
//! The search states a violation as one clause about sets of releases, which needs more than unit propagation to
//! follow from the encoding. The first steps are the steps of inheritance that all of these releases share. If these
//! are not enough, further steps go through the releases of one package one by one.

use std::collections::BTreeSet;

use pkgres_manifest::PackageName;
use pkgres_proof_checker::{Constraint, Database, Literal};
use pkgres_resolver::DerivationVariable;

use super::Writer;
use super::clause::Term;
use crate::NotCertified;
use crate::formula::Row;

/// How many steps the proof of one violation of the class hierarchy may take.
const MOST_STEPS: usize = 100_000;

impl Writer<'_> {
    /// Writes that literals follow from the rules of the class hierarchy: without them, these are violated.
    pub(super) fn write_violation(
        &mut self,
        literals: &BTreeSet<Literal>,
        terms: &[Term],
    ) -> Result<(), NotCertified> {
        let variables: BTreeSet<usize> = terms.iter().map(|term| term.variable).collect();
        let variables: Vec<usize> = variables.into_iter().collect();
        self.write_violation_of(literals, &variables, &mut 0)
    }

    fn write_violation_of(
        &mut self,
        literals: &BTreeSet<Literal>,
        variables: &[usize],
        steps: &mut usize,
    ) -> Result<(), NotCertified> {
        *steps += 1;
        if *steps > MOST_STEPS {
            return Err(NotCertified::Step(
                "a violation of the class hierarchy takes too many steps",
            ));
        }
        let encoding = self.encoding;
        // What requirements are bound to is present, and exactly one value of each variable.
        let mut present: BTreeSet<usize> = BTreeSet::new();
        for variable in variables {
            let group = self.group(*variable);
            present.extend(group.at_least.into_iter().chain(group.at_most));
            let bound = encoding
                .rows()
                .bound
                .get(self.derivation.variables[*variable].package());
            present.extend(bound.into_iter().flatten());
        }
        // Steps of inheritance that all remaining releases share.
        let mut hints = Vec::new();
        for edge in &encoding.hierarchy().edges {
            let mut is_about = variables.iter();
            if !is_about
                .any(|variable| owner_of(&self.derivation.variables[*variable], &edge.owner))
            {
                continue;
            }
            let mut from = edge.rows.clone();
            from.extend(&present);
            let row = Row::clause(literals.iter().copied().chain([edge.literal]));
            if self.follows(&row, &from) {
                hints.push(self.rup(row, &from));
            }
        }
        hints.extend(&encoding.hierarchy().chains);
        hints.extend(&present);
        let row = Row::clause(literals.iter().copied());
        if self.follows(&row, &hints) {
            self.rup(row, &hints);
            return Ok(());
        }
        // Otherwise, the releases of one package one by one.
        let open = variables.iter().find_map(|variable| {
            let group = self.group(*variable);
            let open = group.literals().filter(|one| !literals.contains(one));
            let open: Vec<Literal> = open.collect();
            let is_decided = group
                .literals()
                .any(|one| literals.contains(&one.negated()));
            (open.len() > 1 && !is_decided).then_some((group, open))
        });
        let (group, open) = open.ok_or(NotCertified::Step("a violation of the class hierarchy"))?;
        let mut hints = Vec::new();
        for value in open {
            let mut with_value = literals.clone();
            with_value.insert(value.negated());
            self.write_violation_of(&with_value, variables, steps)?;
            hints.push(self.last);
        }
        hints.extend(group.at_least);
        self.rup(row, &hints);
        Ok(())
    }

    /// Whether an inequality follows from others by unit propagation.
    fn follows(&self, row: &Row, from: &[usize]) -> bool {
        let known = self.encoding.formula().rows();
        let mut database = Database::default();
        for number in from {
            let row = known.get(*number - 1).or_else(|| {
                let derived = self.derived.get(*number - 1 - known.len());
                derived.and_then(Option::as_ref)
            });
            if let Some(constraint) = row.and_then(constraint) {
                database.add(constraint);
            }
        }
        constraint(row).is_some_and(|row| database.follows(&row, None))
    }
}

/// The inequality of a row.
fn constraint(row: &Row) -> Option<Constraint> {
    let degree = i128::try_from(row.degree).ok()?;
    Constraint::new(row.literals.iter().map(|literal| (1, *literal)), degree)
}

/// Whether a variable is about releases of a package, as owners of classes.
fn owner_of(variable: &DerivationVariable, package: &PackageName) -> bool {
    let is_bound_by =
        matches!(variable, DerivationVariable::Binding { owner, .. } if owner.name == *package);
    is_bound_by || variable.package() == package
}
