//! Reading ahead what will be decided next: see [`Ahead`].

use prefetch_index::prefetch_index;

use crate::problem::Problem;
use crate::set::bits;
use crate::universe::{Coming, PackageId, PackageRequirement};

use super::Search;
use super::assignment::Var;
use super::decision_order::{Listed, Target};

/// How many requirements ahead the variables are fetched of what they require.
const REQUIRED: usize = 12;

/// How many requirements lie between one thing that is fetched to find out what comes and the next.
const STEP: usize = 8;

impl Search {
    /// Fetches what will be looked at when requirements are decided that come soon: the best releases of what
    /// these require.
    #[inline]
    pub(super) fn read_ahead(&mut self, problem: &Problem<'_>) {
        if !problem.universe.is_large() {
            return;
        }
        let (vars, next) = self.order.upcoming();
        let mut ahead = std::mem::take(&mut self.ahead);
        ahead.read(
            problem.universe,
            (next, vars.len()),
            |place| self.fetch_foreseen(vars, place),
            |place| self.foreseen(vars[place].var),
            |package| self.fetch_var(package),
        );
        self.ahead = ahead;
    }

    /// Fetches, step by step, what [`foreseen`](Self::foreseen) looks at for requirements that come after the
    /// one of which it is asked now.
    #[inline]
    fn fetch_foreseen(&self, vars: &[Listed], place: usize) {
        let var = |steps: usize| vars.get(place + steps * STEP).map(|listed| listed.var);
        if let Some(var) = var(3) {
            self.state.fetch(var);
            self.order.fetch_latest(var);
        }
        if let Some(var) = var(2) {
            self.order.fetch_start(var);
        }
        if let Some(var) = var(1) {
            self.order.fetch_requirements(var);
        }
    }

    /// The releases that will probably be looked at when a variable is decided.
    fn foreseen(&self, var: Var) -> impl Iterator<Item = Coming> {
        self.required_by(var)
            .iter()
            .filter_map(|target| target.coming)
    }

    /// What will be required when a variable is decided.
    #[inline]
    fn required_by(&self, var: Var) -> &[Target] {
        let values = self.state.var(var).values;
        match bits::last_below(self.state.domain(var), values) {
            Some(value) => self.order.requirements(var, value),
            None => &[],
        }
    }

    /// Fetches the variables of requirements that come soon, which may all be decided, those of what they
    /// require in turn, and the constraints by which they do.
    #[inline]
    pub(super) fn fetch_next_vars(&self, problem: &Problem<'_>) {
        if !problem.universe.is_large() {
            return;
        }
        let (vars, next) = self.order.upcoming();
        if let Some(listed) = vars.get(next + REQUIRED) {
            let required = self.required_by(listed.var);
            for target in required {
                self.state.fetch(target.var);
                if target.coming.is_some() {
                    // It will probably be looked at for the first time.
                    self.state.fetch_details(target.var);
                    problem.universe.fetch_package(target.package);
                }
            }
            self.state.fetch_owned(listed.var, required.len());
        }
    }

    /// Fetches all that requirements are on before the first of them is looked at.
    pub(super) fn fetch_demanded(&self, problem: &Problem<'_>, demands: &[PackageRequirement]) {
        if !problem.universe.is_large() {
            return;
        }
        for demand in demands {
            problem.universe.fetch_allowed(demand);
            prefetch_index(&self.package_vars, demand.target.position());
        }
        for demand in demands {
            self.fetch_var(demand.target);
        }
    }

    fn fetch_var(&self, package: PackageId) {
        if let Some(var) = self.known_var(package) {
            self.state.fetch(var);
        }
    }
}
