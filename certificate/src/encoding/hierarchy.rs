//! Encodes the class hierarchy: no class inherits from itself, or from two classes of one name.
//!
//! A class is a name and the place where it is defined: a release, or a package that has one release. *Extends*
//! variables follow from what is present: the releases of a place extend the class that lookup finds, in the first
//! required package that defines the name. *Inherits* variables follow from these, step by step, but only towards
//! classes that matter: those of a name that several places define, and those on cycles. Both are implications in one
//! direction, because more inheritance can only violate more.

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

/// A class of a release.
pub(crate) type ClassIn<'a> = (&'a ClassName, &'a PackageName, &'a Version);

/// Which part of the hierarchy is stated.
pub(crate) trait Part {
    /// Whether it is stated that the first class extends the second, if it does.
    fn has(&self, class: ClassIn<'_>, parent: ClassIn<'_>) -> bool;

    /// Whether a lookup goes on behind a required package that is absent.
    fn passes_absent(&self) -> bool;

    /// Whether it is stated that no class inherits from itself.
    fn forbids_cycles(&self) -> bool;

    /// Whether it is stated that no class inherits from two classes of one name.
    fn forbids_diamonds(&self) -> bool;
}

/// All of it. Required packages are not absent.
pub(crate) struct Whole;

impl Part for Whole {
    fn has(&self, _: ClassIn<'_>, _: ClassIn<'_>) -> bool {
        true
    }

    fn passes_absent(&self) -> bool {
        true
    }

    fn forbids_cycles(&self) -> bool {
        true
    }

    fn forbids_diamonds(&self) -> bool {
        true
    }
}

/// Adds the inequalities for a part of the hierarchy of the classes in the scope.
pub(crate) fn add(
    universe: &Universe,
    scope: &Scope,
    groups: &Groups,
    formula: &mut Formula,
    part: &impl Part,
) -> HierarchyRows {
    let mut builder = Builder {
        universe,
        scope,
        groups,
        formula,
        part,
        edges: BTreeMap::new(),
    };
    if !scope.hierarchy.is_empty() {
        for package in &scope.packages {
            for candidate in universe.of(package) {
                builder.add_candidate(package, candidate);
            }
        }
    }
    let edges = builder.edges;
    HierarchyRows {
        chains: add_chains(&edges, formula, part),
        edges: edges.into_values().collect(),
    }
}

struct Builder<'encoding, P> {
    universe: &'encoding Universe,
    scope: &'encoding Scope,
    groups: &'encoding Groups,
    formula: &'encoding mut Formula,
    part: &'encoding P,
    edges: BTreeMap<(Node, Node), Edge>,
}

impl<P: Part> Builder<'_, P> {
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
            let class: ClassIn<'_> = (class, package, &candidate.version);
            if candidate.has(parent) {
                if self.part.has(class, (parent, package, &candidate.version)) {
                    let own = (parent.clone(), place.0.clone(), place.1.clone());
                    self.add_edge(node, own, vec![absent]);
                }
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
                let part = self.part;
                let stated = candidates.iter().filter(|one| {
                    one.exports(parent) && part.has(class, (parent, required, &one.version))
                });
                let stated = stated.filter_map(|one| Some((one, binding.value(&one.version)?)));
                let stated: Vec<(&Candidate, Literal)> = stated.collect();
                if self.scope.split.contains(required) {
                    for (one, literal) in stated {
                        let mut unless = earlier.clone();
                        unless.push(literal.negated());
                        let version = Some(one.version.clone());
                        let found = (parent.clone(), required.clone(), version);
                        self.add_edge(node.clone(), found, unless);
                    }
                } else if !stated.is_empty() {
                    let is_stated = |literal| stated.iter().any(|(_, stated)| *stated == literal);
                    let mut unless = earlier.clone();
                    unless.extend(binding.literals().filter(|one| !is_stated(*one)));
                    let found = (parent.clone(), required.clone(), None);
                    self.add_edge(node.clone(), found, unless);
                }
                earlier.extend(definers(self.universe, binding, required, parent));
                if !self.part.passes_absent() {
                    earlier.push(binding.none);
                }
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
fn add_chains(
    edges: &BTreeMap<(Node, Node), Edge>,
    formula: &mut Formula,
    part: &impl Part,
) -> Vec<usize> {
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
                // Towards a class on a cycle, every class on it needs a variable.
                inherits.insert((*node, ancestor), Literal::positive(0));
            }
        }
    }
    let on_cycles: Vec<&Node> = (inherits.keys())
        .filter(|(class, ancestor)| class == ancestor)
        .map(|(class, _)| *class)
        .collect();
    for target in on_cycles {
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
        let is_forbidden = if class == ancestor {
            part.forbids_cycles()
        } else {
            class.0 == ancestor.0 && part.forbids_diamonds()
        };
        if is_forbidden {
            rows.push(formula.add(Row::clause([literal.negated()])));
        }
        if !part.forbids_diamonds() {
            continue;
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
