//! Explanations: why there is no resolution.
//!
//! # Problem
//!
//! A proof from the search can depend on thousands of facts, most of which the search met by
//! chance. Readers need the few facts that are really incompatible, in an order that begins with
//! their own manifest.
//!
//! # Idea
//!
//! 1. [`minimize`] leaves out one fact after the other and searches again. If there is still no
//!    selection, the fact is removed. What remains is a minimal unsatisfiable subset (MUS by
//!    deletion, Liffiton and Sakallah 2008). [`Conflict::is_minimal`] is false if a limit was
//!    reached. A fact can appear as several lines of the report, because releases may write the
//!    same requirement in several ways; unnecessary lines are removed in the same way. [`smallest`]
//!    looks for a smaller subset or, if its limits suffice, proves that there is none
//!    ([`Conflict::is_smallest`]).
//! 2. [`suggested_changes`] tries single changes: a requirement, or an override, that allows more. Only
//!    changes that make the problem solvable become hints. [`hints`] adds versions that match but
//!    cannot be chosen.
//! 3. [`summary`] finds what the conflict is about, which determines its code and its
//!    summary.
//!    [`possible`] leaves out releases that other reasons rule out.
//! 4. [`report`] orders the reasons, beginning with the root. [`requirements`], [`missing_classes`] and
//!    [`violations`] write the sentences for each kind of fact, using [`phrases`].
//!
//! # Cost
//!
//! Each attempt has its own step limit, and all attempts together have limits on facts and steps, so an explanation
//! ends within seconds. The steps of the preceding search do not count: the explanation must depend only on the
//! metadata.
//!
//! # What users see
//!
//! Variables for classes, bindings and nogoods exist only in the encoding. They never appear in a
//! reason.

mod conflict;
mod effort;
mod excluded_releases;
mod hints;
mod locate;
mod minimize;
mod missing_classes;
mod phrases;
mod possible;
mod report;
mod requirements;
mod smallest;
mod suggested_changes;
mod summary;
mod violations;

use crate::budget::{Budget, Interrupt};
use crate::problem::{Fact, Problem};
use crate::search::Refuted;
use crate::set::PositionSet;
use crate::universe::{PackageId, Universe};
pub(crate) use conflict::several_roots_of_one_name;
pub use conflict::{Conflict, Hint, HintKind, InheritingClass, Reason, ReasonKind};
pub(crate) use locate::{locate_classes, locate_references, with_labels};
use minimize::Reduction;
use requirements::Spellings;
pub use suggested_changes::SuggestedChange;
use suggested_changes::SuggestedChanges;
use violations::ViolationGroups;

/// The reason that versions of a package were requested.
pub(crate) fn requested(problem: &mut Problem<'_>, package: PackageId) -> Vec<Reason> {
    let fact = Fact::Wanted { package };
    let reasons = report::reasons_of(
        problem,
        (&fact, &[]),
        &PositionSet::FULL,
        &ViolationGroups::default(),
        &mut Spellings::default(),
    );
    reasons.expect("a goal is reported without further packages")
}

/// An explanation in progress.
#[derive(Debug)]
pub(crate) struct Explanation {
    /// What was refuted; its facts were moved into `reduction`.
    refuted: Refuted,
    reduction: Reduction,
    suggestions: Option<SuggestedChanges>,
    has_hints: bool,
    may_split: bool,
}

impl Explanation {
    /// Starts to explain a failed search. `may_split` tells whether a resolution may have several
    /// releases of a package.
    pub(crate) fn new(universe: &Universe, mut refuted: Refuted, may_split: bool) -> Self {
        // Single changes allow one release of the package, so they do not fit goals for single
        // requirements.
        let suggestions = refuted
            .goals
            .has_partial_goals()
            .then(SuggestedChanges::none);
        let facts = std::mem::take(&mut refuted.proof.facts);
        Self {
            refuted,
            reduction: Reduction::new(universe, facts, may_split),
            suggestions,
            has_hints: true,
            may_split,
        }
    }

    /// Starts to explain without looking for suggestions.
    pub(crate) fn without_suggestions(
        universe: &Universe,
        refuted: Refuted,
        may_split: bool,
    ) -> Self {
        Self {
            suggestions: Some(SuggestedChanges::none()),
            ..Self::new(universe, refuted, may_split)
        }
    }

    /// Starts to find reasons that only a program reads: a minimal set, whether or not there is a smaller one.
    pub(crate) fn of_reasons_only(universe: &Universe, refuted: Refuted, may_split: bool) -> Self {
        let explanation = Self::without_suggestions(universe, refuted, may_split);
        Self {
            reduction: explanation.reduction.without_smallest(),
            has_hints: false,
            ..explanation
        }
    }

    /// The remaining facts.
    pub(crate) fn facts(&self) -> impl Iterator<Item = &Fact> {
        self.reduction.facts().iter()
    }

    /// The conflict, or the packages that are needed to find out which reasons can be left out.
    pub(crate) fn finish(
        &mut self,
        universe: &mut Universe,
        budget: &Budget,
    ) -> Result<Conflict, Interrupt> {
        let mut problem = self.refuted.problem(universe);
        let reduced = self.reduction.finish(&mut problem, budget)?;
        let suggestions = match &mut self.suggestions {
            Some(suggestions) => suggestions,
            None => self.suggestions.insert(SuggestedChanges::new(
                problem.universe,
                reduced.facts,
                self.may_split,
            )),
        };
        let suggestions = suggestions.finish(problem.universe, &self.refuted.goals, budget)?;
        let suggestions = self.has_hints.then_some(suggestions);
        report::report(&mut problem, &reduced, suggestions, self.may_split, budget)
    }
}
