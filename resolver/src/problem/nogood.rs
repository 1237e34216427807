//! Nogoods: sets of terms that must not all hold, and how they follow from violations of class
//! rules.
//!
//! A violation is one or two paths of classes. Its nogood has a term for each package on the paths.
//! To rule out as much as possible, a term contains all versions in which the same classes extend
//! the same classes. If a diamond ends in a split package, its nogood is widened to all pairs of
//! releases that clash.

use std::collections::BTreeSet;

use crate::class_rules::{ClassAt, Violation, definer};
use crate::contracts::ContractViolation;
use crate::named_prereleases::versions_that_do_not_name;
use crate::selection::Selection;
use crate::set::PositionSet;
use crate::universe::{ClassId, PackageId, Parent, ReleaseId};

use super::{Problem, Variable};

/// Terms that must not all hold: each contains the values of a variable.
#[derive(Debug, Clone)]
pub(crate) struct Nogood {
    /// One term for each variable.
    pub(crate) terms: Vec<(Variable, PositionSet)>,
    /// Pairs of packages: the term of the second is what a requirement of the first is bound to.
    pub(crate) bindings: Vec<(PackageId, PackageId)>,
    /// What would be violated if all terms held.
    pub(crate) cause: NogoodCause,
}

/// The violation that a nogood prevents.
#[derive(Debug, Clone)]
pub(crate) enum NogoodCause {
    /// A class rule.
    Rule(Violation),
    /// A contract of an object model.
    Contract(Box<ContractViolation>),
    /// A line of an explanation, see `explain/minimize.rs`.
    Line,
}

/// A class of a release and its parent. If the parent is another package's, also the packages that
/// are searched for it; the last one of them defines it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ExtensionStep {
    class: ClassId,
    parent: ClassId,
    searched: Vec<PackageId>,
}

/// The part of a path that is inside one release.
struct PathSegment {
    release: ReleaseId,
    /// The first class of the segment.
    entry: ClassId,
    /// Whether the path comes from another release.
    is_entered: bool,
    steps: Vec<ExtensionStep>,
}

impl Nogood {
    /// The nogood for a violation. Unless a package is split, all versions in which the same
    /// classes extend the same classes are in its term.
    pub(super) fn of_violation(
        problem: &mut Problem<'_>,
        selection: &Selection,
        violation: Violation,
    ) -> Self {
        if let Violation::UnnamedPrerelease(release) = violation {
            return Self::of_unnamed_prerelease(problem, selection, release);
        }
        let mut terms = NogoodBuilder::default();
        let paths = violation.closed_paths();
        debug_assert!(
            !paths.is_empty(),
            "clauses guarantee that extended classes are found"
        );
        let is_diamond = paths.len() == 2;
        for path in &paths {
            for segment in segments(problem, selection, path) {
                terms.add_segment(problem, selection, &segment);
            }
        }
        if is_diamond {
            terms.widen_diamond(problem, selection, &paths);
        }
        terms.build(NogoodCause::Rule(violation))
    }

    /// The nogood for a prerelease that no requirement names: the same packages without any that name it.
    fn of_unnamed_prerelease(
        problem: &mut Problem<'_>,
        selection: &Selection,
        prerelease: ReleaseId,
    ) -> Self {
        let mut terms = NogoodBuilder::default();
        for release in selection.releases() {
            let package = release.package;
            if problem.is_split(package) {
                terms.add(Variable::Release(*release), PositionSet::single(0));
            } else if *release == prerelease {
                terms.add(
                    Variable::Package(package),
                    PositionSet::single(release.index),
                );
            } else {
                let universe = &mut *problem.universe;
                let values = versions_that_do_not_name(universe, package, selection, prerelease);
                terms.add(Variable::Package(package), values);
            }
        }
        terms.build(NogoodCause::Rule(Violation::UnnamedPrerelease(prerelease)))
    }

    /// Whether a term is about the only release of one of some packages.
    pub(crate) fn is_about_one_release_of(&self, packages: &BTreeSet<PackageId>) -> bool {
        let mut variables = self.terms.iter().map(|(variable, _)| variable);
        variables.any(
            |variable| matches!(variable, Variable::Package(package) if packages.contains(package)),
        )
    }

    /// Whether all terms hold in a selection.
    pub(super) fn excludes(&self, selection: &Selection) -> bool {
        let value = |variable: &Variable| match variable {
            Variable::Package(package) => Some(selection.first_release_of(*package)?.index),
            Variable::Release(release) => selection.position(*release).map(|_| 0),
            Variable::Binding(release, number) => {
                let bound = selection.bound(*release).get(*number as usize)?;
                Some(bound.index)
            }
        };
        let holds = |(variable, values): &(Variable, PositionSet)| {
            value(variable).is_some_and(|value| values.contains(value))
        };
        self.terms.iter().all(holds)
    }
}

/// Splits a path into segments.
fn segments(problem: &Problem<'_>, selection: &Selection, path: &[ClassAt]) -> Vec<PathSegment> {
    let mut segments: Vec<PathSegment> = Vec::new();
    for (at, class) in path.iter().enumerate() {
        // A release never requires itself, so a parent in the same release is its own class.
        let continues = at > 0 && path[at - 1].release == class.release;
        if !continues {
            segments.push(PathSegment {
                release: class.release,
                entry: class.class,
                is_entered: at > 0,
                steps: Vec::new(),
            });
        }
        let Some(next) = path.get(at + 1) else {
            continue;
        };
        let searched = if next.release == class.release {
            Vec::new()
        } else {
            let (stated, _) = definer(problem.universe, selection, class.release, next.class)
                .expect("the path was found through it");
            let details = problem.universe.known_details(class.release);
            details.requirements[..=stated]
                .iter()
                .map(|stated| stated.package)
                .collect()
        };
        let segment = segments.last_mut().expect("a segment was begun above");
        segment.steps.push(ExtensionStep {
            class: class.class,
            parent: next.class,
            searched,
        });
    }
    segments
}

/// A nogood under construction.
#[derive(Debug, Default)]
pub(crate) struct NogoodBuilder {
    /// One for each variable.
    terms: Vec<(Variable, PositionSet)>,
    /// See [`Nogood`].
    bindings: Vec<(PackageId, PackageId)>,
    /// For packages that were searched without success, the releases that do not define the class.
    without_class: Vec<(Variable, PositionSet)>,
}

impl NogoodBuilder {
    /// Adds a term, or intersects it with that of the same variable.
    pub(crate) fn add(&mut self, variable: Variable, values: PositionSet) {
        match self.terms.iter_mut().find(|(known, _)| *known == variable) {
            Some((_, known)) => *known = known.intersection(&values),
            None => self.terms.push((variable, values)),
        }
    }

    /// The nogood of the terms.
    pub(crate) fn build(self, cause: NogoodCause) -> Nogood {
        Nogood {
            terms: self.terms,
            bindings: self.bindings,
            cause,
        }
    }

    fn add_segment(
        &mut self,
        problem: &mut Problem<'_>,
        selection: &Selection,
        segment: &PathSegment,
    ) {
        let release = segment.release;
        if !problem.is_split(release.package) {
            let equivalent_releases = equivalent_releases(problem, segment);
            self.add(Variable::Package(release.package), equivalent_releases);
        } else if !segment.is_entered {
            self.add(Variable::Release(release), PositionSet::single(0));
        }
        for step in &segment.steps {
            let Some((_, earlier)) = step.searched.split_last() else {
                continue;
            };
            let bindings = step
                .searched
                .iter()
                .map(|searched| (release.package, *searched));
            self.bindings.extend(bindings);
            // The packages before the last one must still not define the class.
            for number in 0..earlier.len() {
                let package = problem.universe.required_package(release, number);
                let defining = problem.universe.catalog.definers(package, step.parent);
                if !defining.is_empty() {
                    let allowed = problem.universe.catalog.candidates_of(package);
                    let others = allowed.intersection(&defining.complement());
                    let variable = problem.bound_variable(release, number);
                    self.without_class.push((variable, others.clone()));
                    self.add(variable, others);
                }
            }
            let number = earlier.len();
            let bound = selection.bound(release)[number];
            if problem.is_split(bound.package) {
                let variable = problem.bound_variable(release, number);
                self.add(variable, PositionSet::single(bound.index));
            }
        }
    }

    /// If both paths end in one split package, any two different releases of it that define the
    /// class clash, not only those that were found.
    fn widen_diamond(
        &mut self,
        problem: &mut Problem<'_>,
        selection: &Selection,
        paths: &[Vec<ClassAt>],
    ) {
        let [one, two] = paths else {
            return;
        };
        let ends = [one, two].map(|path| DiamondEnd::of(problem, selection, path, paths));
        let [first, Some(second)] = ends else {
            return;
        };
        let first_end = one.last().expect("a path is not empty").release;
        if first_end.package != second.release.package {
            return;
        }
        let package = second.release.package;
        let defining = (problem.universe.catalog).defining_candidates(package, second.class);
        let mut at_first = PositionSet::single(first_end.index);
        // The releases that the first requirement allows clash with all others.
        if let Some(first) = first {
            let details = problem.universe.known_details(first.owner);
            let allowed = problem
                .universe
                .allowed(&details.requirements[first.number]);
            let clashing = defining.intersection(&allowed);
            let variable = problem.bound_variable(first.owner, first.number);
            if !clashing.contains(second.release.index)
                && self.widen(variable, first.release, &clashing)
            {
                at_first = clashing;
            }
        }
        let variable = problem.bound_variable(second.owner, second.number);
        let others = defining.intersection(&at_first.complement());
        self.widen(variable, second.release, &others);
    }

    /// Replaces the term of a variable by a larger one; returns whether it did. The selection must
    /// still be excluded, even if an index contradicts itself, and packages that were searched
    /// without success must still not define the class.
    fn widen(&mut self, variable: Variable, found: ReleaseId, values: &PositionSet) -> bool {
        let mut terms = self.terms.iter_mut();
        let term = terms.find(|(known, _)| *known == variable);
        let Some((_, term)) = term.filter(|_| values.contains(found.index)) else {
            return false;
        };
        let without_class = self.without_class.iter();
        let without_class = without_class.filter(|(known, _)| *known == variable);
        *term = without_class.fold(values.clone(), |values, (_, others)| {
            values.intersection(others)
        });
        true
    }
}

/// The end of a path in a split package, entered from another release.
struct DiamondEnd {
    release: ReleaseId,
    class: ClassId,
    /// The requirement through which it is entered.
    owner: ReleaseId,
    number: usize,
}

impl DiamondEnd {
    /// The end of a path, unless its release is elsewhere on the paths.
    fn of(
        problem: &Problem<'_>,
        selection: &Selection,
        path: &[ClassAt],
        paths: &[Vec<ClassAt>],
    ) -> Option<Self> {
        let [.., before, end] = path else {
            return None;
        };
        let inner_classes = || paths.iter().flat_map(|path| &path[..path.len() - 1]);
        let is_inner = || inner_classes().any(|class| class.release == end.release);
        if !problem.is_split(end.release.package) || is_inner() {
            return None;
        }
        let (number, _) = definer(problem.universe, selection, before.release, end.class)?;
        Some(Self {
            release: end.release,
            class: end.class,
            owner: before.release,
            number,
        })
    }
}

/// The versions of a package in which the classes of a segment extend the same classes, found in
/// the same way.
fn equivalent_releases(problem: &mut Problem<'_>, segment: &PathSegment) -> PositionSet {
    let releases = (problem.universe.catalog).candidate_releases(segment.release.package);
    (releases.into_iter())
        .filter(|release| {
            *release == segment.release || takes_same_steps(problem, *release, segment)
        })
        .map(|release| release.index)
        .collect()
}

fn takes_same_steps(problem: &mut Problem<'_>, release: ReleaseId, segment: &PathSegment) -> bool {
    let details = problem.universe.details(release);
    let Some(table) = &details.classes else {
        // Unknown classes extend nothing, but the release defines any class.
        return segment.steps.is_empty();
    };
    let has_entry = if segment.is_entered {
        problem.universe.catalog.defines(release, segment.entry)
    } else {
        table.position(segment.entry).is_some()
    };
    has_entry
        && segment.steps.iter().all(|step| {
            let Some(position) = table.position(step.class) else {
                return false;
            };
            table.classes[position as usize]
                .parents
                .iter()
                .any(|parent| match parent {
                    Parent::Own(own) => {
                        step.searched.is_empty() && table.classes[*own as usize].name == step.parent
                    }
                    Parent::External(external) => {
                        !step.searched.is_empty()
                            && table.external[*external as usize] == step.parent
                            && details.requirements.len() >= step.searched.len()
                            && details
                                .requirements
                                .iter()
                                .zip(&step.searched)
                                .all(|(stated, searched)| stated.package == *searched)
                    }
                })
        })
}
