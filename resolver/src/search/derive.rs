//! Turns the proof of a search into a [`Derivation`].
//!
//! *Problem.* Learned clauses refer to their antecedents by number, and to terms that held at level zero by the number
//! of reductions until then. An external checker needs a list in which each clause follows from earlier ones.
//!
//! *Idea.* Clauses and reductions at level zero form a directed acyclic graph. A depth-first walk from the empty clause
//! lists each after what it depends on. A reduction at level zero is a clause with one literal: the values that it
//! removed are excluded. A term depends only on those reductions of its variable that removed values outside of the
//! term.
//!
//! *Cost.* Linear in the size of the proof, and none unless a derivation is requested.

use pkgres_manifest::Release;
use rustc_hash::FxHashMap;

use crate::derivation::{
    ClauseOrigin, Derivation, DerivationVariable, DerivedClause, DerivedLiteral,
};
use crate::problem::{Fact, NogoodCause, Problem, Variable};
use crate::set::bits;
use crate::universe::PackageId;

use super::assignment::{Assignment, ClauseRef, Term, Var};
use super::clauses::{Antecedent, ClauseDatabase, Origin};
use super::proof::Removals;

/// What a clause of the derivation is in the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Node {
    Clause(ClauseRef),
    /// A reduction at level zero.
    Reduction(u32),
    /// The clause that the search ended with.
    Empty,
}

/// The derivation of the empty clause; `None` if a root is the objects of a model.
pub(super) fn derivation(
    assignment: &Assignment,
    clauses: &ClauseDatabase,
    problem: &Problem<'_>,
    origin: Origin,
) -> Option<Derivation> {
    let catalog = &problem.universe.catalog;
    if catalog
        .roots()
        .iter()
        .any(|root| catalog.is_model(root.package))
    {
        return None;
    }
    let mut writer = Writer {
        assignment,
        clauses,
        problem,
        written: FxHashMap::default(),
        variables: FxHashMap::default(),
        removals: Removals::default(),
        derivation: Derivation {
            variables: Vec::new(),
            clauses: Vec::new(),
        },
    };
    writer.write_all(origin);
    Some(writer.derivation)
}

struct Writer<'search, 'universe> {
    assignment: &'search Assignment,
    clauses: &'search ClauseDatabase,
    problem: &'search Problem<'universe>,
    /// The position of each clause that was written.
    written: FxHashMap<Node, usize>,
    /// The position of each variable.
    variables: FxHashMap<Var, usize>,
    removals: Removals,
    derivation: Derivation,
}

impl Writer<'_, '_> {
    /// Writes everything that the empty clause depends on, and the empty clause.
    fn write_all(&mut self, empty: Origin) {
        // A node that is ready has what it depends on, which is written.
        let mut open: Vec<(Node, Option<Vec<Node>>)> = vec![(Node::Empty, None)];
        while let Some((node, ready)) = open.pop() {
            if self.written.contains_key(&node) {
                continue;
            }
            if let Some(before) = ready {
                self.write(node, empty, &before);
                continue;
            }
            let before = self.dependencies(node, empty);
            let waiting = before.iter().copied();
            let waiting: Vec<Node> = waiting
                .filter(|node| !self.written.contains_key(node))
                .collect();
            open.push((node, Some(before)));
            open.extend(waiting.into_iter().map(|node| (node, None)));
        }
    }

    /// What a clause depends on, if it was derived.
    fn dependencies(&mut self, node: Node, empty: Origin) -> Vec<Node> {
        let mut nodes = Vec::new();
        match node {
            Node::Empty => self.add_antecedents(empty, &mut nodes),
            Node::Clause(reason) => self.add_antecedents(self.clauses.origin(reason), &mut nodes),
            Node::Reduction(at) => {
                let reduction = self.assignment.level_zero[at as usize];
                if !matches!(reduction.reason, ClauseRef::Root) {
                    nodes.push(Node::Clause(reduction.reason));
                    let mut terms = Vec::new();
                    self.clauses
                        .terms(self.assignment, reduction.reason, &mut terms);
                    for term in terms.iter().filter(|term| term.var != reduction.var) {
                        self.add_reductions(*term, &mut nodes);
                    }
                }
            }
        }
        nodes
    }

    fn add_antecedents(&mut self, origin: Origin, nodes: &mut Vec<Node>) {
        let Origin::Learned { from, until } = origin else {
            return;
        };
        let clauses = self.clauses;
        for antecedent in &clauses.antecedents[from as usize..until as usize] {
            match antecedent {
                Antecedent::Clause(ClauseRef::Root | ClauseRef::Decision) => {}
                Antecedent::Clause(reason) => nodes.push(Node::Clause(*reason)),
                Antecedent::LevelZero(term, _) => self.add_reductions(*term, nodes),
            }
        }
    }

    /// Adds the reductions at level zero because of which a term holds.
    fn add_reductions(&mut self, term: Term, nodes: &mut Vec<Node>) {
        let mut needed = Vec::new();
        (self.removals).add_needed(self.assignment, term, &mut needed);
        nodes.extend(needed.into_iter().map(Node::Reduction));
    }

    fn write(&mut self, node: Node, empty: Origin, before: &[Node]) {
        let mut terms = Vec::new();
        let origin = match node {
            Node::Empty => empty,
            Node::Clause(reason) => {
                self.clauses.terms(self.assignment, reason, &mut terms);
                self.clauses.origin(reason)
            }
            Node::Reduction(at) => {
                let reduction = self.assignment.level_zero[at as usize];
                terms.push(Term {
                    var: reduction.var,
                    set: reduction.removed,
                });
                match reduction.reason {
                    ClauseRef::Root => Origin::Problem,
                    _ => Origin::Learned { from: 0, until: 0 },
                }
            }
        };
        let origin = match origin {
            Origin::Learned { .. } => {
                let mut before: Vec<usize> = before.iter().map(|node| self.written[node]).collect();
                // The clause that implied a reduction comes before those that hold because of others.
                let reason = matches!(node, Node::Reduction(_)).then(|| before.remove(0));
                before.sort_unstable();
                before.dedup();
                match reason {
                    Some(reason) => ClauseOrigin::Implied { reason, by: before },
                    None => ClauseOrigin::Derived(before),
                }
            }
            _ if matches!(node, Node::Reduction(_)) => ClauseOrigin::Root,
            Origin::Problem => ClauseOrigin::Bound,
            Origin::Requirement => ClauseOrigin::Requirement,
            Origin::Extends(class) => {
                let catalog = &self.problem.universe.catalog;
                let owner = terms.first().map(|owner| self.package(owner.var));
                match owner {
                    Some(owner) => ClauseOrigin::Class {
                        owner: catalog.name(owner).clone(),
                        class: catalog.class_name(class).clone(),
                    },
                    None => ClauseOrigin::Other,
                }
            }
            Origin::Fact(number) => {
                self.origin_of_fact(&self.clauses.facts[number as usize], &terms)
            }
        };
        let literals = terms.iter().map(|term| self.literal(*term)).collect();
        self.written.insert(node, self.derivation.clauses.len());
        self.derivation
            .clauses
            .push(DerivedClause { literals, origin });
    }

    /// The package whose releases are the values of a variable.
    fn package(&self, var: Var) -> PackageId {
        let variable = self.assignment.details(var).variable;
        self.problem.package_of(variable)
    }

    fn origin_of_fact(&self, fact: &Fact, terms: &[Term]) -> ClauseOrigin {
        let catalog = &self.problem.universe.catalog;
        match fact {
            Fact::Requires { .. } => ClauseOrigin::Requirement,
            Fact::Extends { owner, class } => ClauseOrigin::Class {
                owner: catalog.name(*owner).clone(),
                class: catalog.class_name(*class).clone(),
            },
            Fact::OwnCycle { .. } => ClauseOrigin::OwnCycle,
            Fact::Nogood(number) => {
                let nogood = &self.problem.nogoods()[*number as usize];
                let NogoodCause::Rule(violation) = &nogood.cause else {
                    return ClauseOrigin::Other;
                };
                let paths = violation.closed_paths();
                if paths.is_empty() {
                    return ClauseOrigin::Other;
                }
                let classes = paths.iter().flatten();
                let mut classes: Vec<_> = classes
                    .map(|class| catalog.class_name(class.class).clone())
                    .collect();
                classes.sort_unstable();
                classes.dedup();
                // Packages that were searched without success, and cannot define the class, do not matter.
                let packages = terms.iter().map(|term| self.package(term.var));
                let packages: Vec<PackageId> = packages.collect();
                let pairs = nogood.bindings.iter();
                let pairs = pairs.filter(|(_, target)| packages.contains(target));
                let requirements = pairs
                    .map(|(owner, target)| {
                        (catalog.name(*owner).clone(), catalog.name(*target).clone())
                    })
                    .collect();
                ClauseOrigin::Hierarchy {
                    classes,
                    requirements,
                }
            }
            Fact::Wanted { .. } | Fact::Stays { .. } => ClauseOrigin::Other,
        }
    }

    /// The literal that a term does not hold.
    fn literal(&mut self, term: Term) -> DerivedLiteral {
        let set = self.assignment.set(term);
        let count = self.assignment.var(term.var).values;
        let is_among = bits::count(set) > count / 2;
        let values = if is_among {
            let values = (0..=count).filter(|value| !bits::contains(set, *value));
            values.collect()
        } else {
            bits::numbers(set).collect()
        };
        DerivedLiteral {
            variable: self.variable(term.var),
            is_among,
            values,
        }
    }

    fn variable(&mut self, var: Var) -> usize {
        if let Some(known) = self.variables.get(&var) {
            return *known;
        }
        let catalog = &self.problem.universe.catalog;
        let variable = match self.assignment.details(var).variable {
            Variable::Package(package) => DerivationVariable::Package {
                package: catalog.name(package).clone(),
                versions: catalog.versions(package).to_vec(),
            },
            Variable::Release(release) => DerivationVariable::Release {
                package: catalog.name(release.package).clone(),
                version: catalog.version(release).clone(),
            },
            Variable::Binding(release, number) => {
                let package = (self.problem.universe).required_package(release, number as usize);
                DerivationVariable::Binding {
                    owner: Release::new(
                        catalog.name(release.package).clone(),
                        catalog.version(release).clone(),
                    ),
                    package: catalog.name(package).clone(),
                    versions: catalog.versions(package).to_vec(),
                }
            }
        };
        let position = self.derivation.variables.len();
        self.derivation.variables.push(variable);
        self.variables.insert(var, position);
        position
    }
}
