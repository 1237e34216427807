//! Clauses for a solver of others.

use pkgres_certificate::Row;
use varisat::{ExtendFormula as _, Lit, Solver};

/// A solver for the problems of certificates.
pub(crate) struct ClauseSolver {
    solver: Solver<'static>,
}

impl ClauseSolver {
    /// A solver without clauses.
    pub(crate) fn new() -> Self {
        Self {
            solver: Solver::new(),
        }
    }

    /// Adds "at least so many of these hold", where literals are numbers from 1, negative if negated.
    pub(crate) fn add(&mut self, literals: &[isize], degree: usize) {
        let literals: Vec<Lit> = literals.iter().map(|one| Lit::from_dimacs(*one)).collect();
        if degree == 0 {
            return;
        }
        let Some(may_fail) = literals.len().checked_sub(degree) else {
            self.solver.add_clause(&[]);
            return;
        };
        // One of each group holds that has one more than may fail.
        for_each_group(&literals, may_fail + 1, &mut Vec::new(), &mut |group| {
            self.solver.add_clause(group);
        });
    }

    /// Adds an inequality.
    pub(crate) fn add_row(&mut self, row: &Row) {
        let literals: Vec<isize> = (row.literals.iter())
            .map(|literal| {
                let number = isize::try_from(literal.variable + 1).expect("it is small");
                if literal.is_negated { -number } else { number }
            })
            .collect();
        self.add(&literals, row.degree);
    }

    /// The variables from 1 that are true in a solution; `None` if there is none.
    pub(crate) fn solve(&mut self) -> Option<Vec<isize>> {
        let is_satisfiable = self.solver.solve().expect("nothing interrupts it");
        is_satisfiable.then(|| {
            let model = self.solver.model().expect("there is a solution");
            let holding = model.into_iter().filter(|literal| literal.is_positive());
            holding.map(Lit::to_dimacs).collect()
        })
    }
}

/// Visits each group of so many items.
fn for_each_group(
    items: &[Lit],
    size: usize,
    chosen: &mut Vec<Lit>,
    visit: &mut impl FnMut(&[Lit]),
) {
    if size == 0 {
        visit(chosen);
        return;
    }
    for (at, item) in items.iter().enumerate() {
        if items.len() - at < size {
            return;
        }
        chosen.push(*item);
        for_each_group(&items[at + 1..], size - 1, chosen, visit);
        chosen.pop();
    }
}
