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
    pub(crate) breach: NogoodCause,
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
/// are asked for it, the last one of them with success.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Step {
    class: ClassId,
    parent: ClassId,
    asked: Vec<PackageId>,
}

/// The steps that a path takes inside one release.
struct Visit {
    release: ReleaseId,
    /// The class at which the path enters.
    entry: ClassId,
    /// Whether the path comes from another release, rather than begins here.
    is_entered: bool,
    steps: Vec<Step>,
}

impl Nogood {
    /// The nogood against a violation. As long as a package is not split, versions in which the
    /// same classes extend the same classes share a term.
    pub(super) fn against(
        problem: &mut Problem<'_>,
        selection: &Selection,
        violation: Violation,
    ) -> Self {
        let mut terms = NogoodBuilder::default();
        // That classes are found, which is rule 2, is part of the problem.
        let paths = violation.paths();
        let is_diamond = paths.len() == 2;
        for path in &paths {
            for visit in visits(problem, selection, path) {
                terms.visit(problem, selection, &visit);
            }
        }
        if is_diamond {
            terms.widen_diamond(problem, selection, &paths);
        }
        terms.against(NogoodCause::Rule(violation))
    }

    /// Whether all terms hold in a selection.
    pub(super) fn speaks_against(&self, selection: &Selection) -> bool {
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
fn visits(problem: &Problem<'_>, selection: &Selection, path: &[ClassAt]) -> Vec<Visit> {
    let mut visits: Vec<Visit> = Vec::new();
    for (at, class) in path.iter().enumerate() {
        // A release never requires itself, so a parent in the same release is its own class.
        let continues = at > 0 && path[at - 1].release == class.release;
        if !continues {
            visits.push(Visit {
                release: class.release,
                entry: class.class,
                is_entered: at > 0,
                steps: Vec::new(),
            });
        }
        let Some(next) = path.get(at + 1) else {
            continue;
        };
        let asked = if next.release == class.release {
            Vec::new()
        } else {
            let (edge, _) = provider(problem.universe, selection, class.release, next.class)
                .expect("the path was found through it");
            let details = problem.universe.known_details(class.release);
            details.requirements[..=edge]
                .iter()
                .map(|edge| edge.package)
                .collect()
        };
        let visit = visits.last_mut().expect("a visit was begun above");
        visit.steps.push(Step {
            class: class.class,
            parent: next.class,
            asked,
        });
    }
    visits
}

/// The terms of a nogood in the making.
#[derive(Debug, Default)]
pub(crate) struct NogoodBuilder {
    /// One a variable.
    said: Vec<(Variable, PositionSet)>,
    /// See [`Nogood`].
    bindings: Vec<(PackageId, PackageId)>,
    /// Of packages that were asked for a class in vain, the releases that do not have it.
    in_vain: Vec<(Variable, PositionSet)>,
}

impl NogoodBuilder {
    /// Adds that a variable has a value in a set, next to what is said of it already.
    pub(crate) fn add(&mut self, variable: Variable, values: PositionSet) {
        match self.said.iter_mut().find(|(known, _)| *known == variable) {
            Some((_, known)) => *known = known.intersection(&values),
            None => self.said.push((variable, values)),
        }
    }

    /// The nogood that keeps a breach from being.
    pub(crate) fn against(self, breach: NogoodCause) -> Nogood {
        Nogood {
            terms: self.said,
            bindings: self.bindings,
            breach,
        }
    }

    fn visit(&mut self, problem: &mut Problem<'_>, selection: &Selection, visit: &Visit) {
        let release = visit.release;
        if !problem.is_split(release.package) {
            let alike = alike(problem, visit);
            self.add(Variable::Package(release.package), alike);
        } else if !visit.is_entered {
            self.add(Variable::Release(release), PositionSet::single(0));
        }
        for step in &visit.steps {
            let Some((_, earlier)) = step.asked.split_last() else {
                continue;
            };
            let bindings = step.asked.iter().map(|asked| (release.package, *asked));
            self.bindings.extend(bindings);
            // Packages that were asked in vain must go on not defining the class.
            for edge in 0..earlier.len() {
                let package = problem.universe.known_details(release).requirements[edge].package;
                let defining = problem.universe.catalog.definers(package, step.parent);
                if !defining.is_empty() {
                    let allowed = problem.universe.catalog.candidates_of(package);
                    let others = allowed.intersection(&defining.complement());
                    let variable = problem.bound_variable(release, edge);
                    self.in_vain.push((variable, others.clone()));
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
        let ends = [one, two].map(|path| End::of(problem, selection, path, paths));
        let [first, Some(second)] = ends else {
            return;
        };
        let first_end = one.last().expect("a path is not empty").release;
        if first_end.package != second.release.package {
            return;
        }
        let package = second.release.package;
        let defining = problem.universe.catalog.definers(package, second.class);
        let defining = defining.intersection(&problem.universe.catalog.candidates_of(package));
        let mut at_first = PositionSet::single(first_end.index);
        // Whatever the first requirement allows clashes with what it does not allow.
        if let Some(first) = first {
            let details = problem.universe.known_details(first.owner);
            let allowed = problem.universe.allowed(&details.requirements[first.edge]);
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
    /// what was asked in vain has to go on not having what it was asked for.
    fn widen(&mut self, variable: Variable, found: ReleaseId, values: &PositionSet) -> bool {
        let mut terms = self.said.iter_mut();
        let term = terms.find(|(known, _)| *known == variable);
        let Some((_, term)) = term.filter(|_| values.contains(found.index)) else {
            return false;
        };
        let in_vain = self.in_vain.iter();
        let in_vain = in_vain.filter(|(known, _)| *known == variable);
        *term = in_vain.fold(values.clone(), |values, (_, others)| {
            values.intersection(others)
        });
        true
    }
}

/// Where a path comes from another release into one of a split package and ends.
struct End {
    release: ReleaseId,
    class: ClassId,
    /// The requirement that leads there.
    owner: ReleaseId,
    edge: usize,
}

impl End {
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
        let ways = || paths.iter().flat_map(|path| &path[..path.len() - 1]);
        let is_on_the_way = || ways().any(|class| class.release == end.release);
        if !problem.is_split(end.release.package) || is_on_the_way() {
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

/// The versions of a package in which the classes of a visit extend the same classes, found in
/// the same way.
fn alike(problem: &mut Problem<'_>, visit: &Visit) -> PositionSet {
    let package = visit.release.package;
    let allowed = problem.universe.catalog.candidates_of(package);
    allowed
        .iter()
        .filter(|index| {
            let release = ReleaseId {
                package,
                index: *index,
            };
            release == visit.release || takes_same_steps(problem, release, visit)
        })
        .collect()
}

fn takes_same_steps(problem: &mut Problem<'_>, release: ReleaseId, visit: &Visit) -> bool {
    let details = problem.universe.details(release);
    let Some(table) = &details.classes else {
        // Unknown classes extend nothing, but they are whatever is asked for.
        return visit.steps.is_empty();
    };
    let has_entry = if visit.is_entered {
        problem.universe.catalog.defines(release, visit.entry)
    } else {
        table.position(visit.entry).is_some()
    };
    has_entry
        && visit.steps.iter().all(|step| {
            let Some(position) = table.position(step.class) else {
                return false;
            };
            table.classes[position as usize]
                .parents
                .iter()
                .any(|parent| match parent {
                    Parent::Own(own) => {
                        step.asked.is_empty() && table.classes[*own as usize].name == step.parent
                    }
                    Parent::External(external) => {
                        !step.asked.is_empty()
                            && table.external[*external as usize] == step.parent
                            && details.requirements.len() >= step.asked.len()
                            && details
                                .requirements
                                .iter()
                                .zip(&step.asked)
                                .all(|(edge, asked)| edge.package == *asked)
                    }
                })
        })
}
