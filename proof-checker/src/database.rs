//! The inequalities that hold, and unit propagation on them.

use crate::constraint::{Constraint, Literal};

/// Inequalities, numbered from 1.
#[derive(Debug, Clone, Default)]
pub struct Database {
    constraints: Vec<Constraint>,
    /// The value of each variable during a propagation.
    values: Vec<Option<bool>>,
}

impl Database {
    /// Adds an inequality without a check; returns its number.
    pub fn add(&mut self, constraint: Constraint) -> usize {
        self.constraints.push(constraint);
        self.constraints.len()
    }

    /// The inequality of a number.
    pub fn get(&self, number: usize) -> Option<&Constraint> {
        self.constraints.get(number.checked_sub(1)?)
    }

    /// How many inequalities there are.
    pub fn count(&self) -> usize {
        self.constraints.len()
    }

    /// Whether an inequality follows by reverse unit propagation from those with some numbers, or from all.
    /// Numbers of inequalities that are not there do not count.
    pub fn follows(&mut self, constraint: &Constraint, from: Option<&[usize]>) -> bool {
        let negation = constraint.negation();
        let mut values = std::mem::take(&mut self.values);
        let used: Vec<&Constraint> = match from {
            Some(numbers) => (numbers.iter())
                .filter_map(|number| self.get(*number))
                .collect(),
            None => self.constraints.iter().collect(),
        };
        let mut assigned = Vec::new();
        let follows = propagate(&negation, &used, &mut values, &mut assigned);
        for variable in assigned {
            values[variable] = None;
        }
        self.values = values;
        follows
    }
}

/// Whether unit propagation of some inequalities leads to a contradiction.
fn propagate(
    first: &Constraint,
    others: &[&Constraint],
    values: &mut Vec<Option<bool>>,
    assigned: &mut Vec<usize>,
) -> bool {
    let mut is_done = false;
    while !is_done {
        is_done = true;
        for constraint in std::iter::once(&first).chain(others) {
            // How much of the sum can still be lost.
            let mut slack = constraint.total() - constraint.degree;
            for (coefficient, literal) in &constraint.terms {
                if value(values, *literal) == Some(false) {
                    slack -= coefficient;
                }
            }
            if slack < 0 {
                return true;
            }
            for (coefficient, literal) in &constraint.terms {
                if *coefficient > slack && value(values, *literal).is_none() {
                    if values.len() <= literal.variable {
                        values.resize(literal.variable + 1, None);
                    }
                    values[literal.variable] = Some(!literal.is_negated);
                    assigned.push(literal.variable);
                    is_done = false;
                }
            }
        }
    }
    false
}

/// Whether a literal holds, if its variable has a value.
fn value(values: &[Option<bool>], literal: Literal) -> Option<bool> {
    let value = values.get(literal.variable).copied().flatten()?;
    Some(value != literal.is_negated)
}
