//! Violations of rule 3 as nogoods.

use crate::contracts::ContractViolation;
use crate::hierarchy::{ClassAt, Violation, provider};
use crate::selection::Selection;
use crate::set::PositionSet;
use crate::universe::{ClassId, PackageId, Parent, ReleaseId};

use super::{Problem, Variable};

/// Terms that cannot all hold: each says that a variable has a value in a set.
#[derive(Debug, Clone)]
pub(crate) struct Nogood {
    /// One term a variable.
    pub(crate) terms: Vec<(Variable, PositionSet)>,
    /// Packages whose terms say what another one's requirement on them is bound to, each after that one.
    pub(crate) bindings: Vec<(PackageId, PackageId)>,
    /// What would be wrong if all held.
    pub(crate) cause: NogoodCause,
}

/// What a nogood keeps from being.
#[derive(Debug, Clone)]
pub(crate) enum NogoodCause {
    /// A class rule would be broken.
    Rule(Violation),
    /// A contract of an object model would not be met.
    Contract(Box<ContractViolation>),
    /// What a line of an explanation says would not hold, see `conflict/lines.rs`.
    Line,
}

/// Which class of a release extends which, and, if the parent is another package's, which packages
/// are searched for it, the last one of them with success.
#[derive(Debug, Clone, PartialEq, Eq)]
struct PathStep {
    class: ClassId,
    parent: ClassId,
    searched: Vec<PackageId>,
}

/// The steps that a path takes inside one release.
struct PathSegment {
    release: ReleaseId,
    /// The class at which the path enters.
    entry: ClassId,
    /// Whether the path comes from another release, rather than begins here.
    is_entered: bool,
    steps: Vec<PathStep>,
}

impl Nogood {
    /// The nogood against a violation. As long as a package is not split, versions in which the
    /// same classes extend the same classes share a term.
    pub(super) fn of_violation(
        problem: &mut Problem<'_>,
        selection: &Selection,
        violation: Violation,
    ) -> Self {
        let mut terms = NogoodBuilder::default();
        // That classes are found, which is rule 2, is part of the problem.
        let paths = violation.paths();
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

    /// Whether all terms hold in a selection.
    pub(super) fn excludes(&self, selection: &Selection) -> bool {
        let value = |variable: &Variable| match variable {
            Variable::Package(package) => Some(selection.only(*package)?.index),
            Variable::Release(release) => selection.position(*release).map(|_| 0),
            Variable::Binding(release, edge) => {
                let bound = selection.bound(*release).get(*edge as usize)?;
                Some(bound.index)
            }
        };
        let holds = |(variable, values): &(Variable, PositionSet)| {
            value(variable).is_some_and(|value| values.contains(value))
        };
        self.terms.iter().all(holds)
    }
}

/// Splits a path at the borders of releases.
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
            let (edge, _) = provider(problem.universe, selection, class.release, next.class)
                .expect("the path was found through it");
            let details = problem.universe.known_details(class.release);
            details.edges[..=edge]
                .iter()
                .map(|edge| edge.package)
                .collect()
        };
        let segment = segments.last_mut().expect("a segment was begun above");
        segment.steps.push(PathStep {
            class: class.class,
            parent: next.class,
            searched,
        });
    }
    segments
}

/// The terms of a nogood in the making.
#[derive(Debug, Default)]
pub(crate) struct NogoodBuilder {
    /// One a variable.
    terms: Vec<(Variable, PositionSet)>,
    /// See [`Nogood`].
    bindings: Vec<(PackageId, PackageId)>,
    /// Of packages that were searched for a class in vain, the releases that do not have it.
    without_class: Vec<(Variable, PositionSet)>,
}

impl NogoodBuilder {
    /// Adds that a variable has a value in a set, next to what is terms of it already.
    pub(crate) fn add(&mut self, variable: Variable, values: PositionSet) {
        match self.terms.iter_mut().find(|(known, _)| *known == variable) {
            Some((_, known)) => *known = known.intersection(&values),
            None => self.terms.push((variable, values)),
        }
    }

    /// The nogood that keeps a cause from being.
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
            // Packages that were searched in vain must go on not defining the class.
            for edge in 0..earlier.len() {
                let package = problem.universe.known_details(release).edges[edge].package;
                let defining = problem.universe.definers(package, step.parent);
                if !defining.is_empty() {
                    let allowed = problem.universe.candidates_of(package);
                    let others = allowed.intersection(&defining.complement());
                    let variable = problem.bound_variable(release, edge);
                    self.without_class.push((variable, others.clone()));
                    self.add(variable, others);
                }
            }
            let edge = earlier.len();
            let bound = selection.bound(release)[edge];
            if problem.is_split(bound.package) {
                let variable = problem.bound_variable(release, edge);
                self.add(variable, PositionSet::single(bound.index));
            }
        }
    }

    /// If both paths end in one split package, any two different releases of it that define the
    /// class clash: the paths need not end in exactly the releases that were found.
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
        let defining = problem.universe.definers(package, second.class);
        let defining = defining.intersection(&problem.universe.candidates_of(package));
        let mut at_first = PositionSet::single(first_end.index);
        // Whatever the first requirement allows clashes with what it does not allow.
        if let Some(first) = first {
            let details = problem.universe.known_details(first.owner);
            let allowed = problem.universe.allowed(&details.edges[first.edge]);
            let clashing = defining.intersection(&allowed);
            let variable = problem.bound_variable(first.owner, first.edge);
            if !clashing.contains(second.release.index)
                && self.widen(variable, first.release, &clashing)
            {
                at_first = clashing;
            }
        }
        let variable = problem.bound_variable(second.owner, second.edge);
        let others = defining.intersection(&at_first.complement());
        self.widen(variable, second.release, &others);
    }

    /// Says of a variable that it has a value in a set, in place of the one that it was found to have; says
    /// whether that is so. What was found has to stay ruled out, also where an index contradicts itself, and
    /// what was searched in vain has to go on not having what it was searched for.
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

/// Where a path comes from another release into one of a split package and ends.
struct DiamondEnd {
    release: ReleaseId,
    class: ClassId,
    /// The requirement that leads there.
    owner: ReleaseId,
    edge: usize,
}

impl DiamondEnd {
    /// The end of a path, unless that or a release that it is in is part of the paths in another way.
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
        let (edge, _) = provider(problem.universe, selection, before.release, end.class)?;
        Some(Self {
            release: end.release,
            class: end.class,
            owner: before.release,
            edge,
        })
    }
}

/// The versions of a package in which the classes of a segment extend the same classes, found in
/// the same way.
fn equivalent_releases(problem: &mut Problem<'_>, segment: &PathSegment) -> PositionSet {
    let package = segment.release.package;
    let allowed = problem.universe.candidates_of(package);
    allowed
        .iter()
        .filter(|index| {
            let release = ReleaseId {
                package,
                index: *index,
            };
            release == segment.release || takes_same_steps(problem, release, segment)
        })
        .collect()
}

fn takes_same_steps(problem: &mut Problem<'_>, release: ReleaseId, segment: &PathSegment) -> bool {
    let details = problem.universe.details(release);
    let Some(table) = &details.classes else {
        // Unknown classes extend nothing, but they are whatever is searched for.
        return segment.steps.is_empty();
    };
    let has_entry = if segment.is_entered {
        problem.universe.defines(release, segment.entry)
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
                            && details.edges.len() >= step.searched.len()
                            && details
                                .edges
                                .iter()
                                .zip(&step.searched)
                                .all(|(edge, searched)| edge.package == *searched)
                    }
                })
        })
}
