//! Reading ahead what will be decided next: see [`Ahead`].

use prefetch_index::prefetch_index;

use crate::encoding::{Encoding, Variable};
use crate::universe::{Ahead, Demand, PackageId, ReleaseId};
use crate::words;

use super::Core;
use super::order::TOP;
use super::state::Var;

/// How many requirements ahead variables are fetched.
const VARIABLES: usize = 24;

/// What was fetched.
#[derive(Debug, Default)]
pub(super) struct Fetched {
    in_order: Ahead,
    /// What was at each place of the top of the agenda.
    top: [Option<Var>; TOP],
}

impl Core {
    /// Fetches what will be looked at when requirements are decided that come soon.
    pub(super) fn read_ahead_in_order(&mut self, encoding: &Encoding<'_>) {
        let Some((targets, next)) = self.order.seen() else {
            return;
        };
        let mut ahead = std::mem::take(&mut self.fetched.in_order);
        ahead.read(
            encoding.universe,
            (next, targets.len()),
            |place| {
                let var = targets[place].var;
                let is_open = self.state.value(var).is_none();
                self.upcoming(var).filter(|_| is_open)
            },
            |package| self.fetch_var(package),
        );
        self.fetched.in_order = ahead;
    }

    /// Fetches the variables of requirements that come soon, which may all be decided.
    #[inline]
    pub(super) fn fetch_next_vars(&self, encoding: &Encoding<'_>) {
        if encoding.universe.is_large()
            && let Some((targets, next)) = self.order.seen()
            && let Some(target) = targets.get(next + VARIABLES)
        {
            self.state.fetch(target.var);
            self.state.fetch_details(target.var);
        }
    }

    /// Fetches what will be looked at when what comes next on the agenda is decided.
    ///
    /// The agenda is a tree of which the root comes next. What moves up in it is seldom overtaken, and
    /// has one more thing fetched at each step.
    pub(super) fn read_ahead_by_conflicts(&mut self, encoding: &Encoding<'_>) {
        let universe = &*encoding.universe;
        if !universe.is_large() {
            return;
        }
        for (place, var) in self.agenda.top().enumerate() {
            if self.fetched.top[place].replace(var) == Some(var) {
                continue;
            }
            let Some(upcoming) = self.upcoming(var) else {
                continue;
            };
            let coming = universe.coming(upcoming);
            match (place + 1).ilog2() {
                0 => universe
                    .seen_targets(coming)
                    .for_each(|package| self.fetch_var(package)),
                1 => universe.fetch_targets(coming),
                2 => universe.fetch_requirements(coming),
                _ => universe.fetch_release(coming),
            }
        }
    }

    /// The release that will probably be decided on for a variable.
    fn upcoming(&self, var: Var) -> Option<ReleaseId> {
        let Variable::Package(package) = self.state.details(var).variable else {
            return None;
        };
        let values = self.state.var(var).values;
        let index = words::last_below(self.state.domain(var), values)?;
        Some(ReleaseId { package, index })
    }

    /// Fetches all that requirements are on before the first of them is looked at.
    pub(super) fn fetch_demanded(&self, encoding: &Encoding<'_>, demands: &[Demand]) {
        if !encoding.universe.is_large() {
            return;
        }
        for demand in demands {
            encoding.universe.fetch_allowed(demand);
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
