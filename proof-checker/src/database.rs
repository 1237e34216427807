//! The inequalities that hold, and unit propagation on them.

use crate::constraint::{Constraint, Literal};

/// Inequalities, numbered from 1.
#[derive(Debug, Clone, Default)]
pub struct Database {
    constraints: Vec<Constraint>,
    propagation: Propagation,
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

    /// How many inequalities, and terms of them, all propagations have visited.
    pub(crate) fn visits(&self) -> u64 {
        self.propagation.visits
    }

    /// Whether an inequality follows by reverse unit propagation from those with some numbers, or from all.
    /// Numbers of inequalities that are not there do not count.
    pub fn follows(&mut self, constraint: &Constraint, from: Option<&[usize]>) -> bool {
        let negation = constraint.negation();
        let mut used: Vec<&Constraint> = match from {
            Some(numbers) => {
                let mut numbers = numbers.to_vec();
                numbers.sort_unstable();
                numbers.dedup();
                let constraints = &self.constraints;
                let used = numbers.iter().filter_map(|number| number.checked_sub(1));
                used.filter_map(|at| constraints.get(at)).collect()
            }
            None => self.constraints.iter().collect(),
        };
        used.push(&negation);
        self.propagation.contradicts(&used)
    }
}

/// Unit propagation: what some inequalities imply one by one, until one is violated or nothing more follows.
///
/// A propagation visits each term a few times at most. An inequality implies a literal if it cannot do without: if the
/// coefficient is greater than what its sum can still lose. That only becomes less, and the terms are sorted, so each
/// inequality has a first term that is not implied, and it only moves on.
#[derive(Debug, Clone, Default)]
struct Propagation {
    /// The value of each variable. None has one between propagations.
    values: Vec<Option<bool>>,
    /// For each variable, the inequalities with it, and the position of its term. Empty between propagations.
    occurrences: Vec<Vec<(usize, usize)>>,
    visits: u64,
}

/// An inequality in a propagation.
#[derive(Debug)]
struct Propagated<'constraint> {
    terms: &'constraint [(i128, Literal)],
    /// How much of the sum can still be lost.
    slack: i128,
    /// The position of the first term that is not implied.
    next: usize,
}

impl Propagation {
    /// Whether unit propagation of some inequalities violates one of them.
    fn contradicts(&mut self, constraints: &[&Constraint]) -> bool {
        let mut all = Vec::with_capacity(constraints.len());
        for (number, constraint) in constraints.iter().enumerate() {
            for (at, (_, literal)) in constraint.terms.iter().enumerate() {
                if self.values.len() <= literal.variable {
                    self.values.resize(literal.variable + 1, None);
                    self.occurrences.resize(literal.variable + 1, Vec::new());
                }
                self.occurrences[literal.variable].push((number, at));
                self.visits += 1;
            }
            self.visits += 1;
            all.push(Propagated {
                terms: &constraint.terms,
                slack: constraint.total() - constraint.degree,
                next: 0,
            });
        }
        let contradicts = self.propagate(&mut all);
        for (_, literal) in constraints.iter().flat_map(|constraint| &constraint.terms) {
            self.values[literal.variable] = None;
            self.occurrences[literal.variable].clear();
        }
        contradicts
    }

    fn propagate(&mut self, all: &mut [Propagated<'_>]) -> bool {
        // The inequalities that could imply something.
        let mut open: Vec<usize> = (0..all.len()).collect();
        while let Some(number) = open.pop() {
            let constraint = &mut all[number];
            let (terms, slack, from) = (constraint.terms, constraint.slack, constraint.next);
            if slack < 0 {
                return true;
            }
            let implied = terms[from..].iter();
            let implied = implied.take_while(|(coefficient, _)| *coefficient > slack);
            constraint.next += implied.clone().count();
            for (_, implied) in implied {
                self.visits += 1;
                let value = &mut self.values[implied.variable];
                // What contradicts the value has lost it already.
                if value.is_some() {
                    continue;
                }
                *value = Some(!implied.is_negated);
                for (other, at) in &self.occurrences[implied.variable] {
                    self.visits += 1;
                    let other_constraint = &mut all[*other];
                    let (coefficient, literal) = other_constraint.terms[*at];
                    if literal != *implied {
                        other_constraint.slack -= coefficient;
                        open.push(*other);
                    }
                }
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clause(literals: &[Literal]) -> Constraint {
        let terms = literals.iter().map(|literal| (1, *literal));
        Constraint::new(terms, 1).expect("small numbers")
    }

    /// How many terms are visited to find the contradiction of a chain of implications, from its end if `is_reversed`.
    fn visits(length: usize, is_reversed: bool) -> u64 {
        let implies = |at| clause(&[Literal::positive(at).negated(), Literal::positive(at + 1)]);
        let mut chain: Vec<Constraint> = (0..length).map(implies).collect();
        chain.push(clause(&[Literal::positive(0)]));
        chain.push(clause(&[Literal::positive(length).negated()]));
        if is_reversed {
            chain.reverse();
        }
        let mut database = Database::default();
        for constraint in chain {
            database.add(constraint);
        }
        assert!(database.follows(&clause(&[]), None));
        database.visits()
    }

    #[test]
    fn propagation_visits_each_term_a_few_times_in_any_order() {
        for is_reversed in [false, true] {
            let length = 2_000;
            let visits = visits(length, is_reversed);
            assert!(visits <= 10 * length as u64, "{visits}");
        }
    }

    #[test]
    fn an_inequality_that_is_named_again_costs_nothing() {
        let mut database = Database::default();
        let wide: Vec<Literal> = (0..100).map(Literal::positive).collect();
        database.add(clause(&wide));
        database.add(clause(&[Literal::positive(200)]));
        let mut names = vec![1; 1_000];
        names.push(2);
        assert!(database.follows(&clause(&[Literal::positive(200)]), Some(&names)));
        assert!(database.visits() <= 200, "{}", database.visits());
    }

    #[test]
    fn great_coefficients_are_implied_before_small_ones() {
        let [a, b, c] = [0, 1, 2].map(Literal::positive);
        let mut database = Database::default();
        // 1 a + 3 b + 2 c >= 4: b has to hold, and then either of the others.
        let weighted = Constraint::new([(1, a), (3, b), (2, c)], 4);
        database.add(weighted.expect("small numbers"));
        assert!(database.follows(&clause(&[b]), None));
        assert!(database.follows(&clause(&[a, c]), None));
        assert!(!database.follows(&clause(&[a]), None));
        assert!(!database.follows(&clause(&[c]), None));
    }
}
