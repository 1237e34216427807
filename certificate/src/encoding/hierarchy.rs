//! Rule 3: no class inherits from itself, or from two classes of one name.
//!
//! A class is a name and the place where it is defined: a release, or a package that has one release. *Extends*
//! variables follow from what is present: the releases of a place extend the class that lookup finds, in the first
//! required package that defines the name. *Inherits* variables follow from these, step by step, but only towards
//! classes that matter: those of a name that several places define, and those on circles. Both are implications in one
//! direction, as more inheritance only violates more.

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::{ClassName, PackageName, Version};
use pkgres_proof_checker::Literal;

use crate::formula::{Formula, Meaning, Place, Row};
use crate::scope::Scope;
use crate::universe::{Candidate, Universe};

use super::definers;
use super::groups::Groups;

/// A class with its place.
type Node = (ClassName, PackageName, Option<Version>);

/// "A class extends another one", with the inequalities that imply it.
#[derive(Debug)]
pub(crate) struct Edge {
    /// The package of the class that extends.
    pub(crate) owner: PackageName,
    pub(crate) literal: Literal,
    /// Each of them implies it for one release.
    pub(crate) rows: Vec<usize>,
}

/// The inequalities of the class hierarchy.
#[derive(Debug, Default)]
pub(crate) struct HierarchyRows {
    pub(crate) edges: Vec<Edge>,
    /// What is inherited, and what must not be.
    pub(crate) chains: Vec<usize>,
}

/// Adds the inequalities for the classes whose hierarchy is in the scope, as far as releases in a selection extend
/// others.
pub(crate) fn add(
    universe: &Universe,
    scope: &Scope,
    groups: &Groups,
    formula: &mut Formula,
    is_selected: impl Fn(&PackageName, &Version) -> bool,
) -> HierarchyRows {
    let mut builder = Builder {
        universe,
        scope,
        groups,
        formula,
        edges: BTreeMap::new(),
    };
    if !scope.hierarchy.is_empty() {
        for package in &scope.packages {
            for candidate in universe.of(package) {
                if is_selected(package, &candidate.version) {
                    builder.add_candidate(package, candidate);
                }
            }
        }
    }
    let edges = builder.edges;
    HierarchyRows {
        chains: add_chains(&edges, formula),
        edges: edges.into_values().collect(),
    }
}

struct Builder<'encoding> {
    universe: &'encoding Universe,
    scope: &'encoding Scope,
    groups: &'encoding Groups,
    formula: &'encoding mut Formula,
    edges: BTreeMap<(Node, Node), Edge>,
}

impl Builder<'_> {
    fn place(&self, package: &PackageName, version: &Version) -> Place {
        let is_split = self.scope.split.contains(package);
        (package.clone(), is_split.then(|| version.clone()))
    }

    /// Adds what the classes of a candidate extend.
    fn add_candidate(&mut self, package: &PackageName, candidate: &Candidate) {
        let absent = self.groups.release(package, &candidate.version).negated();
        let place = self.place(package, &candidate.version);
        for (class, parent) in candidate.extensions() {
            let is_in_scope = |name| self.scope.hierarchy.contains(name);
            if !is_in_scope(class) || !is_in_scope(parent) {
                continue;
            }
            let node: Node = (class.clone(), place.0.clone(), place.1.clone());
            if candidate.has(parent) {
                let own = (parent.clone(), place.0.clone(), place.1.clone());
                self.add_edge(node, own, vec![absent]);
                continue;
            }
            // Literals of earlier packages that would define the class.
            let mut earlier = vec![absent];
            for (required, _) in &candidate.requirements {
                let candidates = self.universe.of(required);
                if !candidates.iter().any(|one| one.exports(parent)) {
                    continue;
                }
                let pair = (package.clone(), required.clone());
                if !self.scope.requirements.contains(&pair) {
                    // Whether it defines the class is not part of the problem.
                    break;
                }
                let binding = self.groups.binding(package, candidate, required);
                let defining = definers(self.universe, binding, required, parent);
                if self.scope.split.contains(required) {
                    for one in candidates.iter().filter(|one| one.exports(parent)) {
                        if let Some(literal) = binding.value(&one.version) {
                            let mut unless = earlier.clone();
                            unless.push(literal.negated());
                            let version = Some(one.version.clone());
                            let found = (parent.clone(), required.clone(), version);
                            self.add_edge(node.clone(), found, unless);
                        }
                    }
                } else {
                    let mut unless = earlier.clone();
                    unless.extend(binding.literals().filter(|one| !defining.contains(one)));
                    let found = (parent.clone(), required.clone(), None);
                    self.add_edge(node.clone(), found, unless);
                }
                earlier.extend(defining);
            }
        }
    }

    /// Adds "a class extends another one, unless one of these literals holds".
    fn add_edge(&mut self, class: Node, parent: Node, unless: Vec<Literal>) {
        let (formula, owner) = (&mut *self.formula, class.1.clone());
        let edge = (self.edges)
            .entry((class.clone(), parent.clone()))
            .or_insert_with(|| Edge {
                owner,
                literal: formula.variable(Meaning::Extends { class, parent }),
                rows: Vec::new(),
            });
        let row = Row::clause(unless.into_iter().chain([edge.literal]));
        edge.rows.push(formula.add(row));
    }
}

/// Adds what follows from the edges, and what must not.
fn add_chains(edges: &BTreeMap<(Node, Node), Edge>, formula: &mut Formula) -> Vec<usize> {
    let mut parents: BTreeMap<&Node, Vec<(&Node, Literal)>> = BTreeMap::new();
    let mut nodes: BTreeSet<&Node> = BTreeSet::new();
    for ((class, parent), edge) in edges {
        let of_class = parents.entry(class).or_default();
        of_class.push((parent, edge.literal));
        nodes.extend([class, parent]);
    }
    let mut of_name: BTreeMap<&ClassName, usize> = BTreeMap::new();
    for node in &nodes {
        *of_name.entry(&node.0).or_default() += 1;
    }
    let mut inherits: BTreeMap<(&Node, &Node), Literal> = BTreeMap::new();
    for node in &nodes {
        for ancestor in ancestors(node, &parents) {
            if of_name[&ancestor.0] > 1 || ancestor == *node {
                // Towards a class on a circle, every class on it needs a variable.
                inherits.insert((*node, ancestor), Literal::positive(0));
            }
        }
    }
    let on_circles: Vec<&Node> = (inherits.keys())
        .filter(|(class, ancestor)| class == ancestor)
        .map(|(class, _)| *class)
        .collect();
    for target in on_circles {
        for node in &nodes {
            if ancestors(node, &parents).contains(target) {
                inherits.insert((*node, target), Literal::positive(0));
            }
        }
    }
    for ((class, ancestor), literal) in &mut inherits {
        *literal = formula.variable(Meaning::Inherits {
            class: (*class).clone(),
            ancestor: (*ancestor).clone(),
        });
    }
    let mut rows = Vec::new();
    for ((class, ancestor), literal) in &inherits {
        for (parent, extends) in &parents[class] {
            if parent == ancestor {
                rows.push(formula.add(Row::clause([extends.negated(), *literal])));
            }
            if let Some(from_parent) = inherits.get(&(*parent, *ancestor)) {
                let row = Row::clause([extends.negated(), from_parent.negated(), *literal]);
                rows.push(formula.add(row));
            }
        }
        let is_same_name = class.0 == ancestor.0;
        if is_same_name {
            rows.push(formula.add(Row::clause([literal.negated()])));
        }
        let others = inherits.range((*class, *ancestor)..).skip(1);
        let others = others.take_while(|((of, _), _)| of == class);
        for ((_, other), other_literal) in others {
            if other.0 == ancestor.0 {
                let row = Row::clause([literal.negated(), other_literal.negated()]);
                rows.push(formula.add(row));
            }
        }
    }
    rows
}

/// The nodes that are reached from a node by at least one edge.
fn ancestors<'edges>(
    node: &'edges Node,
    parents: &BTreeMap<&'edges Node, Vec<(&'edges Node, Literal)>>,
) -> BTreeSet<&'edges Node> {
    let mut found = BTreeSet::new();
    let mut open = vec![node];
    while let Some(next) = open.pop() {
        for (parent, _) in parents.get(next).into_iter().flatten() {
            if found.insert(*parent) {
                open.push(parent);
            }
        }
    }
    found
}
