//! Turns clauses of the search into sums of literals.

use std::collections::BTreeSet;

use pkgres_proof_checker::Literal;
use pkgres_resolver::{DerivationVariable, DerivedLiteral};

use crate::encoding::Group;
use crate::formula::Row;

/// The literals for the values of a variable.
#[derive(Debug)]
pub(super) struct Values<'proof> {
    pub(super) group: &'proof Group,
    /// By value. Versions that are no candidates have none.
    literals: Vec<Option<Literal>>,
    /// How many literals there are.
    count: usize,
}

/// "The value of a variable is one of some literals, or none of them."
#[derive(Debug)]
pub(super) struct Term {
    pub(super) variable: usize,
    is_among: bool,
    literals: Vec<Literal>,
}

impl<'proof> Values<'proof> {
    pub(super) fn new(variable: &DerivationVariable, group: &'proof Group) -> Self {
        let literals = variable
            .versions()
            .iter()
            .map(|version| group.value(version));
        let literals: Vec<Option<Literal>> = literals.chain([Some(group.none)]).collect();
        Self {
            group,
            count: literals.iter().flatten().count(),
            literals,
        }
    }

    /// A literal of a derivation as literals of the problem.
    pub(super) fn term(&self, literal: &DerivedLiteral) -> Term {
        let of_value = |value: &u32| {
            let value = usize::try_from(*value).expect("positions fit");
            self.literals.get(value).copied().flatten()
        };
        Term {
            variable: literal.variable,
            is_among: literal.is_among,
            literals: literal.values.iter().filter_map(of_value).collect(),
        }
    }

    fn others(&self, of: &[Literal]) -> Vec<Literal> {
        let of: BTreeSet<Literal> = of.iter().copied().collect();
        let literals = self.literals.iter().flatten().copied();
        literals.filter(|one| !of.contains(one)).collect()
    }
}

impl Term {
    /// The literals of which it says that one holds.
    pub(super) fn inside(&self, values: &Values<'_>) -> Vec<Literal> {
        if self.is_among {
            self.literals.clone()
        } else {
            values.others(&self.literals)
        }
    }

    /// The literals of which it says that none holds.
    pub(super) fn outside(&self, values: &Values<'_>) -> Vec<Literal> {
        if self.is_among {
            values.others(&self.literals)
        } else {
            self.literals.clone()
        }
    }

    /// How many literals it says to hold, and of how many it says that none does.
    pub(super) fn counts(&self, values: &Values<'_>) -> (usize, usize) {
        let (these, others) = (self.literals.len(), values.count - self.literals.len());
        if self.is_among {
            (these, others)
        } else {
            (others, these)
        }
    }

    /// Adds the literals of a clause that says the same. A set of all but one is the negation of that one, as
    /// the sum would be as long as the list of releases.
    pub(super) fn add_to(&self, values: &Values<'_>, clause: &mut BTreeSet<Literal>) {
        if self.counts(values).1 == 1 {
            clause.extend(self.outside(values).into_iter().map(Literal::negated));
        } else {
            clause.extend(self.inside(values));
        }
    }

    /// "None of the literals outside holds", if these are fewer than those inside. Each of them has to follow by unit
    /// propagation.
    pub(super) fn exclusion(&self, values: &Values<'_>) -> Option<Row> {
        let (inside, outside) = self.counts(values);
        (1..=inside).contains(&outside).then(|| Row {
            literals: (self.outside(values).into_iter())
                .map(Literal::negated)
                .collect(),
            degree: outside,
        })
    }
}
