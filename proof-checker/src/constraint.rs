//! Linear inequalities in normal form: the sum of coefficients of literals that hold is at least the degree.

use std::collections::BTreeMap;

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

/// An inequality. Each variable appears once, with a positive coefficient, in the order of variables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Constraint {
    pub(crate) terms: Vec<(i128, Literal)>,
    pub(crate) degree: i128,
}

impl Constraint {
    /// "The sum of the terms is at least the degree." Terms may repeat variables and have any coefficients. `None` if
    /// numbers become too large.
    pub fn new(terms: impl IntoIterator<Item = (i128, Literal)>, degree: i128) -> Option<Self> {
        // The coefficient of each variable, where negated literals count as 1 minus the variable.
        let mut sums: BTreeMap<usize, i128> = BTreeMap::new();
        let mut degree = degree;
        for (coefficient, literal) in terms {
            let sum = sums.entry(literal.variable).or_default();
            if literal.is_negated {
                *sum = sum.checked_sub(coefficient)?;
                degree = degree.checked_sub(coefficient)?;
            } else {
                *sum = sum.checked_add(coefficient)?;
            }
        }
        let mut normal = Vec::with_capacity(sums.len());
        for (variable, sum) in sums {
            if sum > 0 {
                normal.push((sum, Literal::positive(variable)));
            } else if sum < 0 {
                normal.push((sum.checked_neg()?, Literal::positive(variable).negated()));
                degree = degree.checked_sub(sum)?;
            }
        }
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
