//! Why there is no resolution.
//!
//! # Problem
//!
//! A proof from the search can rest on thousands of facts, most of which happen to be on its way. A reader
//! needs the few that are really incompatible, in an order that begins with their own manifest.
//!
//! # Idea
//!
//! 1. [`reduce`] removes one fact after the other and searches again. If there is still no selection without
//!    a fact, the fact goes. What remains is a minimal unsatisfiable subset, found by deletion (Marques-Silva
//!    2010). [`Conflict::is_minimal`] is false if a limit was reached.
//! 2. [`repairs`] tries single changes: a requirement, or an override, that allows more. Only changes that
//!    make the problem solvable become hints. [`hints`] adds versions that match but cannot be chosen.
//! 3. [`clash`] finds what the conflict is about, which determines its code and its summary.
//! 4. [`lines`] removes lines that are not needed, since several releases may write one fact in several ways.
//! 5. [`tell`] orders the reasons from the root on. [`reasons`] has a sentence for each kind of fact.
//!
//! # Cost
//!
//! Each attempt has its own step limit, and all together have a limit of facts, so that an explanation ends in
//! seconds. Steps that the search took before do not count: the explanation must depend only on the metadata.
//!
//! # What users see
//!
//! Variables for classes, bindings and nogoods exist only in the encoding. They never appear in a reason.

mod breaches;
mod clash;
mod extends;
mod goals;
mod hint;
mod hints;
mod inherited;
mod kept_out;
mod lines;
mod object_requirements;
mod places;
mod reason;
mod reasons;
mod reduce;
mod repairs;
mod requirements;
mod roots;
mod subject;
mod tell;
mod unmet;

use std::collections::BTreeSet;

use pkgres_manifest::PackageName;
use pkgres_manifest::diagnostic::Code;

use crate::budget::{Budget, Interrupt};
use crate::problem::{Fact, Goals, Nogood, Problem};
use crate::search::Refuted;
use crate::set::PositionSet;
use crate::universe::{PackageId, Universe};
use breaches::Breaches;
pub use hint::{Hint, HintKind};
pub(crate) use places::locate_classes;
pub use reason::{Reason, ReasonKind};
use reduce::Reduction;
pub use repairs::Repair;
use repairs::Repairs;
pub(crate) use roots::several_roots_of_one_name;

/// How many versions are listed before "and n more".
const LISTED_VERSIONS: usize = 4;

/// Why there is no resolution: reasons that together leave none. Only where
/// [`is_minimal`](Self::is_minimal) does not hold, some of them may not be needed for that.
///
/// It depends on the request and on what was provided, but not on how many steps the search took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The kind of conflict.
    pub code: Code,
    /// The conflict in one sentence.
    pub summary: String,
    /// The packages that take part, sorted.
    pub packages: Vec<PackageName>,
    /// The reasons: those that clash first, then how the others came in, from the root on.
    pub reasons: Vec<Reason>,
    /// Whether it is proved that no reason can be left out. It is not where that would take too
    /// long, as with a chain of very many packages.
    pub is_minimal: bool,
    /// What can be done, at most two entries.
    pub hints: Vec<Hint>,
    /// Changes of which any one makes it solvable with one release of each package; each was tried.
    pub repairs: Vec<Repair>,
}

/// That versions of a package were asked for, in words.
pub(crate) fn wanted(problem: &mut Problem<'_>, package: PackageId) -> Vec<Reason> {
    let fact = Fact::Wanted { package };
    let told = reasons::of(problem, &fact, &PositionSet::FULL, &Breaches::default());
    told.expect("nothing has to be known to say what was asked for")
}

/// An explanation in the making.
#[derive(Debug)]
pub(crate) struct Explanation {
    split: BTreeSet<PackageId>,
    nogoods: Vec<Nogood>,
    goals: Goals,
    reduction: Reduction,
    repairs: Option<Repairs>,
    may_split: bool,
}

impl Explanation {
    /// Begins to explain why a search was in vain; `may_split` says whether a repair may leave packages
    /// with several releases.
    pub(crate) fn new(universe: &Universe, refuted: Refuted, may_split: bool) -> Self {
        // A repair is looked for with one release of the package that is asked for.
        let repairs = refuted.goals.has_partial_goals().then(Repairs::none);
        Self {
            split: refuted.split,
            nogoods: refuted.nogoods,
            goals: refuted.goals,
            reduction: Reduction::new(universe, refuted.proof.facts),
            repairs,
            may_split,
        }
    }

    /// Begins to explain without a look for repairs.
    pub(crate) fn without_repairs(universe: &Universe, refuted: Refuted) -> Self {
        Self {
            repairs: Some(Repairs::none()),
            ..Self::new(universe, refuted, false)
        }
    }

    /// The facts that are left.
    pub(crate) fn facts(&self) -> impl Iterator<Item = &Fact> {
        self.reduction.facts().iter()
    }

    /// The conflict, or what has to be known to tell which reasons can be left out.
    pub(crate) fn finish(
        &mut self,
        universe: &mut Universe,
        budget: &Budget,
    ) -> Result<Conflict, Interrupt> {
        let mut problem = Problem::with_nogoods(universe, self.split.clone(), self.nogoods.clone());
        problem.set_goals(self.goals.clone());
        let reduced = self.reduction.finish(&mut problem, budget)?;
        let repairs = match &mut self.repairs {
            Some(repairs) => repairs,
            None => self.repairs.insert(Repairs::new(
                problem.universe,
                reduced.facts,
                self.may_split,
            )),
        };
        let repairs = repairs.finish(problem.universe, &self.goals, budget)?;
        tell::tell(&mut problem, &reduced, repairs, budget)
    }
}
