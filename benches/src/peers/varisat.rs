//! The crate `varisat`: what a general solver for clauses makes of it, with no preference for new
//! versions. Making clauses of all that can be reached is part of solving.

use std::io;
use std::process::Command;

use varisat::{ExtendFormula as _, Lit, Var};

use crate::check::Answer;
use crate::peers::child::{Process, serve};
use crate::universe::{Plain, Versions, is_in};

/// The argument with which a program has to call [`run`].
pub const ARGUMENT: &str = "--varisat";

/// Up to how many versions of a package exclude each other in pairs; more of them are counted.
const PAIRS: usize = 6;

/// Starts this program once more, to solve a universe.
pub fn start(universe: &Plain) -> io::Result<Process> {
    Process::start(
        Command::new(std::env::current_exe()?).arg(ARGUMENT),
        universe,
    )
}

/// Is the child.
pub fn run() -> io::Result<()> {
    serve(|universe| universe, solve)
}

fn solve(universe: &Plain, root: usize) -> Option<Answer> {
    let mut solver = varisat::Solver::new();
    let mut reached = Reached {
        universe,
        variables: vec![None; universe.packages.len()],
        order: Vec::new(),
    };
    for (package, versions) in &universe.roots[root] {
        let allowed = reached.allowed(&mut solver, *package, versions);
        solver.add_clause(&allowed);
    }
    let mut at = 0;
    let mut clause = Vec::new();
    while let Some(package) = reached.order.get(at).copied() {
        at += 1;
        let variables = reached.variables[package].clone().expect("it is reached");
        exclude_each_other(&mut solver, &variables);
        for (release, variable) in universe.packages[package].iter().zip(&variables) {
            for (target, versions) in &release.dependencies {
                clause.clear();
                clause.push(variable.negative());
                clause.extend(reached.allowed(&mut solver, *target, versions));
                solver.add_clause(&clause);
            }
        }
    }
    if !solver.solve().expect("it is never interrupted") {
        return None;
    }
    let mut is_chosen = Vec::new();
    for literal in solver.model().expect("there is a solution") {
        is_chosen.resize(is_chosen.len().max(literal.index() + 1), false);
        is_chosen[literal.index()] = literal.is_positive();
    }
    let mut answer = Answer::new();
    for package in reached.order {
        let variables = reached.variables[package].iter().flatten();
        for (release, variable) in universe.packages[package].iter().zip(variables) {
            if is_chosen.get(variable.index()).copied().unwrap_or(false) {
                answer.push((package, release.version));
            }
        }
    }
    Some(answer)
}

/// The packages that can be reached from a root, each with a variable for each release.
struct Reached<'universe> {
    universe: &'universe Plain,
    variables: Vec<Option<Vec<Var>>>,
    order: Vec<usize>,
}

impl Reached<'_> {
    /// The releases of a package that a requirement allows.
    fn allowed(
        &mut self,
        solver: &mut varisat::Solver<'_>,
        package: usize,
        versions: &Versions,
    ) -> Vec<Lit> {
        let releases = &self.universe.packages[package];
        let order = &mut self.order;
        let variables = self.variables[package].get_or_insert_with(|| {
            order.push(package);
            releases.iter().map(|_| solver.new_var()).collect()
        });
        releases
            .iter()
            .zip(variables)
            .filter(|(release, _)| is_in(versions, release.version))
            .map(|(_, variable)| variable.positive())
            .collect()
    }
}

/// At most one of some variables holds.
fn exclude_each_other(solver: &mut varisat::Solver<'_>, variables: &[Var]) {
    if variables.len() <= PAIRS {
        for (at, one) in variables.iter().enumerate() {
            for other in &variables[..at] {
                solver.add_clause(&[one.negative(), other.negative()]);
            }
        }
        return;
    }
    // One more variable for each: whether one up to here holds.
    let mut before: Option<Var> = None;
    for variable in variables {
        let up_to: Var = solver.new_var();
        solver.add_clause(&[variable.negative(), up_to.positive()]);
        if let Some(before) = before {
            solver.add_clause(&[before.negative(), up_to.positive()]);
            solver.add_clause(&[before.negative(), variable.negative()]);
        }
        before = Some(up_to);
    }
}
