//! Nogoods for violated contracts of an object model.

use crate::contracts::{
    ClassProblem, ContractProblem, ExclusionSource, Lookup, LookupOutcome, OwnDeclaration,
    TracedViolation,
};
use crate::selection::Selection;
use crate::set::PositionSet;
use crate::universe::{PackageId, ReleaseId};

use super::{Nogood, NogoodBuilder, NogoodCause, Problem};

impl TracedViolation {
    /// The nogood that forbids the violation. Its terms are everything that the lookup depended on.
    /// The release in which the wanted class was found may be any that defines it in a version that
    /// the contract does not allow.
    pub(crate) fn nogood(self, problem: &mut Problem<'_>, selection: &Selection) -> Nogood {
        let mut terms = NogoodBuilder::default();
        add_lookups(&mut terms, problem, selection, &self.holder_lookups);
        add_lookups(&mut terms, problem, selection, &self.allowed_lookups);
        for source in &self.exclusion_sources {
            match source {
                ExclusionSource::Own(declaration) => {
                    add_declaration(&mut terms, problem, selection, declaration);
                }
                ExclusionSource::Inherited(lookups) => {
                    add_lookups(&mut terms, problem, selection, lookups);
                }
            }
        }
        if let ContractProblem::Class(violated) = &self.violation.problem
            && (violated.inherits.is_some() || self.may_be_found(problem, selection, violated))
        {
            let wanted = problem.universe.catalog.class_id(&violated.class);
            match self.object_lookups.split_last() {
                // The wanted class itself was found, not one that extends it.
                Some((last, before)) if last.outcome == LookupOutcome::Entered(wanted) => {
                    add_lookups(&mut terms, problem, selection, before);
                    let package = selection.bound(last.release)[last.requirement].package;
                    let disallowed = disallowed(problem, violated, package);
                    terms.add(
                        problem.bound_variable(last.release, last.requirement),
                        disallowed,
                    );
                }
                _ => add_lookups(&mut terms, problem, selection, &self.object_lookups),
            }
        }
        terms.build(NogoodCause::Contract(Box::new(self.violation)))
    }

    /// Whether the object's class inherits the wanted one in some versions.
    fn may_be_found(
        &self,
        problem: &mut Problem<'_>,
        selection: &Selection,
        violated: &ClassProblem,
    ) -> bool {
        // The lookup begins with the class of the object.
        let Some(first) = self.object_lookups.first() else {
            return true;
        };
        let LookupOutcome::Entered(class) = first.outcome else {
            return true;
        };
        let package = selection.bound(first.release)[first.requirement].package;
        problem
            .universe
            .may_inherit(package, class, &violated.class)
    }
}

/// The releases of a package that define the wanted class in a version that the contract does not
/// allow.
fn disallowed(
    problem: &mut Problem<'_>,
    violated: &ClassProblem,
    package: PackageId,
) -> PositionSet {
    let catalog = &mut problem.universe.catalog;
    let class = catalog.class_id(&violated.class);
    let defining = catalog.defining_candidates(package, class);
    let disallowed = defining.iter().filter(|index| {
        let index = *index;
        let version = catalog.version(ReleaseId { package, index });
        !violated.allowed.allows(version)
    });
    disallowed.collect()
}

/// Adds the term that the class of an object declares a property that excludes the same, as far as is known of the
/// releases that were looked at.
fn add_declaration(
    terms: &mut NogoodBuilder,
    problem: &mut Problem<'_>,
    selection: &Selection,
    declaration: &OwnDeclaration,
) {
    let universe = &*problem.universe;
    let (Some(root), Some(model)) = (universe.catalog.model_root(), universe.catalog.model())
    else {
        return;
    };
    let class = declaration.class(model);
    let package = selection.bound(root)[declaration.holder.0].package;
    let allowed = universe.catalog.candidates_of(package);
    let is_same = |index: &u32| {
        let release = ReleaseId {
            package,
            index: *index,
        };
        let classes = universe.classes.looked_at(release);
        let classes = classes.and_then(|package| package.classes.as_ref());
        let definition = classes.and_then(|classes| classes.get(class));
        definition.is_some_and(|definition| declaration.is_same_in(definition, model))
    };
    let same: PositionSet = allowed.iter().filter(is_same).collect();
    if same != allowed {
        terms.add(problem.bound_variable(root, declaration.holder.0), same);
    }
}

/// Adds the terms that make a lookup take the same path.
fn add_lookups(
    terms: &mut NogoodBuilder,
    problem: &mut Problem<'_>,
    selection: &Selection,
    trail: &[Lookup],
) {
    for lookup in trail {
        let bound = selection.bound(lookup.release)[lookup.requirement];
        let package = bound.package;
        let values = match lookup.outcome {
            LookupOutcome::Entered(_) => PositionSet::single(bound.index),
            LookupOutcome::NotDefined(class) | LookupOutcome::Defines(class) => {
                let defining = problem.universe.catalog.definers(package, class);
                let allowed = problem.universe.catalog.candidates_of(package);
                let passes = matches!(lookup.outcome, LookupOutcome::NotDefined(_));
                let matching = if passes {
                    defining.complement()
                } else {
                    defining
                };
                let values = allowed.intersection(&matching);
                if values == allowed {
                    // The term always holds.
                    continue;
                }
                values
            }
        };
        terms.add(
            problem.bound_variable(lookup.release, lookup.requirement),
            values,
        );
    }
}
