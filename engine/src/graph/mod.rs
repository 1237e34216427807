//! Graphs: resources and their order.
//!
//! A [`GraphBuilder`] takes resources and edges. [`build`](GraphBuilder::build) adds automatic edges, groups
//! resources that one operation can change, and detects cycles.

mod automatic_edges;
mod composites;
mod cycle;
mod edges;
mod error;
mod grouping;

pub use edges::{EdgeKind, GraphEdge};
pub use error::GraphError;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use pkgres_manifest::{MetaParameters, ResourceId};

use crate::resource::{Difference, Resource, ValueType};
use composites::{Composites, pairs};
pub(crate) use edges::Edge;
use edges::{Edges, leads_to};

/// A resource as a part of a graph.
#[derive(Clone)]
pub struct Node {
    /// Its identity. A group has the identity of its first member.
    pub id: ResourceId,
    /// The resources that are grouped in this node; empty if it is a single resource.
    pub members: Vec<ResourceId>,
    /// The resource.
    pub resource: Arc<dyn Resource>,
    /// The resources of the members.
    pub(crate) member_resources: Vec<Arc<dyn Resource>>,
    /// Whether it restores the earlier state of a resource that is gone.
    pub is_reversal: bool,
    /// Its parameters.
    pub meta: MetaParameters,
    /// The values that it receives.
    pub receives: Vec<Receipt>,
}

impl std::fmt::Debug for Node {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Node")
            .field("id", &self.id)
            .field("members", &self.members)
            .finish_non_exhaustive()
    }
}

impl Node {
    /// The ids of the resources in this node: one, or the ids of all members if it is a group.
    pub fn ids(&self) -> &[ResourceId] {
        if self.members.is_empty() {
            return std::slice::from_ref(&self.id);
        }
        &self.members
    }

    /// The differences of one member of a group: those whose property is its name. Differences that belong to no member
    /// count for the first.
    pub(crate) fn differences_of(
        &self,
        member: &ResourceId,
        differences: &[Difference],
    ) -> Vec<Difference> {
        let ids = self.ids();
        let is_own = |difference: &&Difference| {
            let named = ids.iter().find(|id| id.name() == difference.property);
            *named.unwrap_or(&ids[0]) == *member
        };
        differences.iter().filter(is_own).cloned().collect()
    }

    /// The resources that it consists of: itself, or its members.
    pub(crate) fn parts(&self) -> Vec<(ResourceId, Arc<dyn Resource>)> {
        if self.members.is_empty() {
            return vec![(self.id.clone(), Arc::clone(&self.resource))];
        }
        let resources = self.member_resources.iter().map(Arc::clone);
        self.members.iter().cloned().zip(resources).collect()
    }

    /// Replaces the resources of the members of a group.
    pub(crate) fn wrap_members(
        &mut self,
        mut wrap: impl FnMut(&ResourceId, &Arc<dyn Resource>) -> Arc<dyn Resource>,
    ) {
        for (id, resource) in self.members.iter().zip(&mut self.member_resources) {
            *resource = wrap(id, resource);
        }
    }

    /// Whether another node does exactly the same, so that it can take the place of this one and keep its state.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.id == other.id
            && self.members == other.members
            && self.meta == other.meta
            && self.receives == other.receives
            && self.resource.definition() == other.resource.definition()
    }
}

/// A value that a resource receives from another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// The property that gets the value.
    pub property: String,
    /// The resource that sends it.
    pub from: ResourceId,
    /// The name of the value there.
    pub value: String,
}

/// Resources in an order without cycles. Nodes are numbered in the order in which they were added.
#[derive(Debug, Clone, Default)]
pub struct Graph {
    nodes: Vec<Node>,
    successors: Vec<Vec<Edge>>,
    by_id: HashMap<ResourceId, usize>,
    /// The members of groups from which edges come. Other edges of a group come from all of its members.
    senders: HashMap<(usize, usize), BTreeSet<usize>>,
}

impl Graph {
    /// The nodes in the order in which they were added.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The edges between resources.
    pub fn edges(&self) -> impl Iterator<Item = GraphEdge<'_>> {
        let all = self.successors.iter().enumerate();
        all.flat_map(move |(from, edges)| {
            edges.iter().map(move |edge| GraphEdge {
                from: &self.nodes[from].id,
                to: &self.nodes[edge.to].id,
                kind: edge.kind,
            })
        })
    }

    /// The nodes in an order in which they can be changed one after another. Of several possible next nodes, the one
    /// that was added first comes next.
    pub fn order(&self) -> impl Iterator<Item = &Node> {
        let mut before = vec![0_usize; self.nodes.len()];
        for edge in self.successors.iter().flatten() {
            before[edge.to] += 1;
        }
        let mut ready: BTreeSet<usize> = (0..self.nodes.len())
            .filter(|node| before[*node] == 0)
            .collect();
        std::iter::from_fn(move || {
            let node = ready.pop_first()?;
            for edge in &self.successors[node] {
                before[edge.to] -= 1;
                if before[edge.to] == 0 {
                    ready.insert(edge.to);
                }
            }
            Some(&self.nodes[node])
        })
    }

    /// Whether a path leads from one node to another.
    pub(crate) fn is_before(&self, first: usize, second: usize) -> bool {
        leads_to(self.nodes.len(), first, second, |node| {
            self.successors[node].iter().map(|edge| edge.to)
        })
    }

    /// The number of a resource, or of the group that it is in.
    pub(crate) fn number_of(&self, id: &ResourceId) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    pub(crate) fn successors(&self, node: usize) -> &[Edge] {
        &self.successors[node]
    }

    /// The members of a group, by their number, that go before another node; `None` if all do.
    pub(crate) fn senders(&self, group: usize, to: usize) -> Option<&BTreeSet<usize>> {
        self.senders.get(&(group, to))
    }

    /// The resources, members of groups among them.
    pub(crate) fn ids(&self) -> impl Iterator<Item = &ResourceId> {
        self.by_id.keys()
    }

    pub(crate) fn nodes_mut(&mut self) -> &mut [Node] {
        &mut self.nodes
    }

    /// The nodes that have an edge to each node.
    pub(crate) fn predecessors(&self) -> Vec<Vec<usize>> {
        let mut predecessors = vec![Vec::new(); self.nodes.len()];
        for (from, edges) in self.successors.iter().enumerate() {
            for edge in edges {
                predecessors[edge.to].push(from);
            }
        }
        predecessors
    }

    /// This graph with another one, all of which goes before the nodes of this one that `waits` names.
    pub(crate) fn preceded_by(self, first: Self, waits: impl Fn(&Node) -> bool) -> Self {
        let offset = first.nodes.len();
        let predecessors = self.predecessors();
        // What waits for a node that waits need not wait by itself.
        let waiting = (0..self.nodes.len()).filter(|node| {
            let mut before = predecessors[*node].iter();
            waits(&self.nodes[*node]) && !before.any(|before| waits(&self.nodes[*before]))
        });
        let waiting: Vec<usize> = waiting.map(|node| node + offset).collect();
        let sinks = first.successors.iter().enumerate();
        let sinks: Vec<usize> = sinks
            .filter_map(|(node, edges)| edges.is_empty().then_some(node))
            .collect();
        let mut whole = first;
        for sink in sinks {
            let edges = waiting.iter().map(|to| Edge {
                to: *to,
                kind: EdgeKind::Order,
            });
            whole.successors[sink].extend(edges);
        }
        whole.nodes.extend(self.nodes);
        whole
            .successors
            .extend(self.successors.into_iter().map(|edges| {
                let moved = edges.into_iter().map(|edge| Edge {
                    to: edge.to + offset,
                    ..edge
                });
                moved.collect()
            }));
        let senders = self.senders.into_iter();
        let senders = senders.map(|((from, to), members)| ((from + offset, to + offset), members));
        whole.senders.extend(senders);
        let moved = self.by_id.into_iter();
        whole
            .by_id
            .extend(moved.map(|(id, node)| (id, node + offset)));
        whole
    }
}

/// Collects resources and edges.
///
/// ```
/// use pkgres_engine::{Directory, File, GraphBuilder};
/// use pkgres_manifest::MetaParameters;
///
/// let mut builder = GraphBuilder::new();
/// builder.add("file:/srv/web/index.html".parse()?, File::new("/srv/web/index.html"), MetaParameters::default());
/// builder.add("directory:/srv".parse()?, Directory::new("/srv"), MetaParameters::default());
/// let graph = builder.build().expect("there is no cycle");
///
/// // The file looks for the nearest folder around it.
/// let edges: Vec<_> = graph.edges().map(|edge| format!("{} -> {}", edge.from, edge.to)).collect();
/// assert_eq!(edges, ["directory:/srv -> file:/srv/web/index.html"]);
/// # Ok::<(), pkgres_manifest::ResourceIdError>(())
/// ```
#[derive(Debug)]
pub struct GraphBuilder {
    nodes: Vec<Node>,
    edges: Vec<NamedEdge>,
    /// Names that stand for several resources.
    composites: Vec<(ResourceId, Vec<ResourceId>)>,
    automatic_edges: bool,
    grouping: bool,
}

/// An edge between resources or composites, which may not be there.
#[derive(Debug)]
struct NamedEdge {
    from: ResourceId,
    to: ResourceId,
    kind: EdgeKind,
}

impl Default for GraphBuilder {
    fn default() -> Self {
        Self {
            nodes: Vec::new(),
            edges: Vec::new(),
            composites: Vec::new(),
            automatic_edges: true,
            grouping: true,
        }
    }
}

impl GraphBuilder {
    /// Returns a builder without resources.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a resource.
    pub fn add(
        &mut self,
        id: ResourceId,
        resource: impl Resource + 'static,
        meta: MetaParameters,
    ) -> &mut Self {
        self.add_shared(id, Arc::new(resource), meta)
    }

    /// Adds a resource that is shared with others, such as one of a graph before this one.
    pub fn add_shared(
        &mut self,
        id: ResourceId,
        resource: Arc<dyn Resource>,
        meta: MetaParameters,
    ) -> &mut Self {
        self.nodes.push(Node {
            id,
            members: Vec::new(),
            resource,
            member_resources: Vec::new(),
            is_reversal: false,
            meta,
            receives: Vec::new(),
        });
        self
    }

    /// The resources that were added, in order.
    pub(crate) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Adds an edge: `first` is in order before `second` is looked at.
    pub fn order(&mut self, first: ResourceId, second: ResourceId) -> &mut Self {
        self.add_edge(first, second, EdgeKind::Order)
    }

    /// Adds an edge with a notification: if `first` is changed, `second` is refreshed.
    pub fn notify(&mut self, first: ResourceId, second: ResourceId) -> &mut Self {
        self.add_edge(first, second, EdgeKind::Notify)
    }

    fn add_edge(&mut self, from: ResourceId, to: ResourceId, kind: EdgeKind) -> &mut Self {
        self.edges.push(NamedEdge { from, to, kind });
        self
    }

    /// Adds a composite of several resources, which go one after another: an edge from it or to it is one from or
    /// to each of them. Members may be such names, too.
    ///
    /// ```
    /// use pkgres_engine::{File, GraphBuilder};
    /// use pkgres_manifest::ResourceId;
    ///
    /// let id = |text: &str| text.parse::<ResourceId>();
    /// let mut builder = GraphBuilder::new();
    /// for file in ["/a", "/b", "/c"] {
    ///     builder.add(ResourceId::new("file", file)?, File::new(file), Default::default());
    /// }
    /// builder.add_composite(id("all:first")?, vec![id("file:/b")?, id("file:/a")?]);
    /// builder.order(id("all:first")?, id("file:/c")?);
    /// let graph = builder.build().expect("there is no cycle");
    /// let mut edges: Vec<_> = graph.edges().map(|edge| format!("{} -> {}", edge.from, edge.to)).collect();
    /// edges.sort();
    /// assert_eq!(edges, ["file:/a -> file:/c", "file:/b -> file:/a", "file:/b -> file:/c"]);
    /// # Ok::<(), pkgres_manifest::ResourceIdError>(())
    /// ```
    pub fn add_composite(&mut self, id: ResourceId, members: Vec<ResourceId>) -> &mut Self {
        for pair in members.windows(2) {
            self.order(pair[0].clone(), pair[1].clone());
        }
        self.composites.push((id, members));
        self
    }

    /// Lets a resource receive a value of another one, which goes before it.
    pub fn add_receipt(&mut self, by: &ResourceId, receipt: Receipt) -> &mut Self {
        self.order(receipt.from.clone(), by.clone());
        if let Some(node) = self.nodes.iter_mut().find(|node| &node.id == by) {
            node.receives.push(receipt);
        }
        self
    }

    /// Adds no edges that resources ask for.
    pub fn without_automatic_edges(&mut self) -> &mut Self {
        self.automatic_edges = false;
        self
    }

    /// Groups no resources.
    pub fn without_grouping(&mut self) -> &mut Self {
        self.grouping = false;
        self
    }

    /// The graph.
    ///
    /// # Errors
    ///
    /// All of: resources of one identity, edges and values of resources that are not there, and a cycle.
    pub fn build(self) -> Result<Graph, Vec<GraphError>> {
        let mut errors = Vec::new();
        let mut by_id = HashMap::new();
        for (number, node) in self.nodes.iter().enumerate() {
            if by_id.insert(node.id.clone(), number).is_some() {
                errors.push(GraphError::Duplicate(node.id.clone()));
            }
        }
        let composites = Composites::new(&self.composites, &by_id, &mut errors);
        let mut edges = Edges::default();
        for NamedEdge { from, to, kind } in &self.edges {
            match (composites.nodes_of(from), composites.nodes_of(to)) {
                (Some(from), Some(to)) => {
                    for (from, to) in pairs(&from, &to) {
                        edges.add(from, to, *kind);
                    }
                }
                (None, _) => errors.push(GraphError::unknown(to, from)),
                (_, None) => errors.push(GraphError::unknown(from, to)),
            }
        }
        errors.extend(wrong_values(&self.nodes, &by_id, &self.composites));
        let irreversible = self
            .nodes
            .iter()
            .filter(|node| node.meta.reverse && !node.resource.is_reversible());
        errors.extend(irreversible.map(|node| GraphError::Irreversible(node.id.clone())));
        if self.automatic_edges {
            automatic_edges::add(&self.nodes, &mut edges);
        }
        let mut graph = assemble(self.nodes, &edges, by_id);
        if let Some(cycle) = cycle::find(&graph) {
            let ids = cycle.iter().map(|node| graph.nodes[*node].id.clone());
            errors.push(GraphError::Cycle(ids.collect()));
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        if self.grouping {
            graph = grouping::group(graph);
        }
        Ok(graph)
    }
}

/// The graph of nodes and edges.
fn assemble(nodes: Vec<Node>, edges: &Edges, by_id: HashMap<ResourceId, usize>) -> Graph {
    Graph {
        successors: edges.successors(nodes.len()),
        nodes,
        by_id,
        senders: HashMap::new(),
    }
}

/// Values that are not sent, or cannot be received.
fn wrong_values(
    nodes: &[Node],
    by_id: &HashMap<ResourceId, usize>,
    composites: &[(ResourceId, Vec<ResourceId>)],
) -> Vec<GraphError> {
    let find = |values: &[(&str, ValueType)], name: &str| {
        let found = values.iter().find(|(other, _)| *other == name);
        found.map(|(_, value_type)| *value_type)
    };
    let names = |values: &[(&str, ValueType)]| {
        let names = values.iter().map(|(name, _)| (*name).to_owned());
        names.collect()
    };
    let mut errors = Vec::new();
    for node in nodes {
        for receipt in &node.receives {
            let expected = find(node.resource.receives(), &receipt.property);
            if expected.is_none() {
                errors.push(GraphError::CannotReceive {
                    id: node.id.clone(),
                    property: receipt.property.clone(),
                    possible: names(node.resource.receives()),
                });
            }
            let not_sent = |sends: &[(&str, ValueType)]| GraphError::NotSent {
                id: receipt.from.clone(),
                value: receipt.value.clone(),
                receiver: node.id.clone(),
                possible: names(sends),
            };
            let Some(from) = by_id.get(&receipt.from) else {
                // What stands for several resources sends nothing. Other names are unknown, which the edge reports.
                if composites.iter().any(|(id, _)| *id == receipt.from) {
                    errors.push(not_sent(&[]));
                }
                continue;
            };
            let from = &nodes[*from];
            let sent = find(from.resource.sends(), &receipt.value);
            match (expected, sent.filter(|_| !from.meta.hidden)) {
                (_, None) => errors.push(not_sent(from.resource.sends())),
                (Some(expected), Some(sent)) if !expected.accepts(sent) => {
                    errors.push(GraphError::WrongType {
                        id: node.id.clone(),
                        property: receipt.property.clone(),
                        expected,
                        sent,
                    });
                }
                _ => {}
            }
        }
    }
    errors
}
