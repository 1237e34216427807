//! Linear inequalities in normal form: the sum of coefficients of literals that hold is at least the degree.

use std::cmp::Reverse;

/// A variable, or its negation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Literal {
    /// The number of the variable.
    pub variable: usize,
    /// Whether it is the negation.
    pub is_negated: bool,
}

impl Literal {
    /// The literal that holds if a variable is 1.
    pub fn positive(variable: usize) -> Self {
        Self {
            variable,
            is_negated: false,
        }
    }

    /// The opposite literal.
    #[must_use]
    pub fn negated(self) -> Self {
        Self {
            is_negated: !self.is_negated,
            ..self
        }
    }
}

/// An inequality. Each variable appears once, with a positive coefficient: the greatest coefficients come first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Constraint {
    pub(crate) terms: Vec<(i128, Literal)>,
    pub(crate) degree: i128,
}

impl Constraint {
    /// "The sum of the terms is at least the degree." Terms may repeat variables and have any coefficients. `None` if
    /// numbers become too large.
    pub fn new(terms: impl IntoIterator<Item = (i128, Literal)>, degree: i128) -> Option<Self> {
        let mut terms: Vec<(i128, Literal)> = terms.into_iter().collect();
        // In sums of inequalities with equal coefficients, this merges two sorted lists.
        terms.sort_by_key(|(_, literal)| literal.variable);
        let mut degree = degree;
        let mut normal = Vec::new();
        for of_variable in terms.chunk_by(|(_, one), (_, next)| one.variable == next.variable) {
            let Some((_, first)) = of_variable.first() else {
                continue;
            };
            // The coefficient of the variable, where negated literals count as 1 minus the variable.
            let mut sum = 0_i128;
            for (coefficient, literal) in of_variable {
                if literal.is_negated {
                    sum = sum.checked_sub(*coefficient)?;
                    degree = degree.checked_sub(*coefficient)?;
                } else {
                    sum = sum.checked_add(*coefficient)?;
                }
            }
            let positive = Literal::positive(first.variable);
            if sum > 0 {
                normal.push((sum, positive));
            } else if sum < 0 {
                normal.push((sum.checked_neg()?, positive.negated()));
                degree = degree.checked_sub(sum)?;
            }
        }
        normal.sort_by_key(|(coefficient, _)| Reverse(*coefficient));
        let constraint = Self {
            terms: normal,
            degree,
        };
        // Sums of coefficients are safe from here on.
        constraint.checked_total()?;
        Some(constraint)
    }

    fn checked_total(&self) -> Option<i128> {
        let mut coefficients = self.terms.iter();
        let total = coefficients.try_fold(0_i128, |sum, (one, _)| sum.checked_add(*one))?;
        total.checked_sub(self.degree).map(|_| total)
    }

    /// The sum of all coefficients.
    pub(crate) fn total(&self) -> i128 {
        self.terms.iter().map(|(coefficient, _)| coefficient).sum()
    }

    /// Whether no values satisfy it.
    pub fn is_contradiction(&self) -> bool {
        self.total() < self.degree
    }

    /// The inequality that holds exactly if this one does not.
    pub(crate) fn negation(&self) -> Self {
        Self {
            terms: (self.terms.iter())
                .map(|(coefficient, literal)| (*coefficient, literal.negated()))
                .collect(),
            degree: self.total() - self.degree + 1,
        }
    }

    /// The sum of two inequalities.
    pub(crate) fn plus(&self, other: &Self) -> Option<Self> {
        let terms = self.terms.iter().chain(&other.terms).copied();
        Self::new(terms, self.degree.checked_add(other.degree)?)
    }
}
