//! Groups: several resources that one operation changes, such as packages that are installed together.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::edges::{Edges, leads_to};
use super::{Graph, Node, assemble};
use crate::resource::Resource;

/// Groups what can be grouped: resources of one kind and with the same parameters, none of which goes before another,
/// directly or not.
pub(super) fn group(graph: Graph) -> Graph {
    let mut candidates: BTreeMap<(String, String), Vec<usize>> = BTreeMap::new();
    for (number, node) in graph.nodes().iter().enumerate() {
        let group = node.resource.group();
        if let Some(group) = group.filter(|_| node.meta.automatic_grouping && !node.meta.hidden) {
            let key = (node.id.kind().to_owned(), group);
            candidates.entry(key).or_default().push(number);
        }
    }
    let mut graph = Contracted::new(graph);
    for members in candidates.into_values() {
        let mut groups: Vec<usize> = Vec::new();
        for member in members {
            let found = groups
                .iter()
                .copied()
                .find(|group| graph.can_join(*group, member));
            match found {
                Some(group) => graph.join(group, member),
                None => groups.push(member),
            }
        }
    }
    graph.finish()
}

/// A graph whose nodes are joined bit by bit.
struct Contracted {
    graph: Graph,
    /// The group that each node is in, as the number of its first member.
    group_of: Vec<usize>,
    members: HashMap<usize, Vec<usize>>,
}

impl Contracted {
    fn new(graph: Graph) -> Self {
        Self {
            group_of: (0..graph.nodes().len()).collect(),
            members: HashMap::new(),
            graph,
        }
    }

    fn members_of(&self, group: usize) -> &[usize] {
        self.members
            .get(&group)
            .map_or(std::slice::from_ref(&self.group_of[group]), Vec::as_slice)
    }

    fn can_join(&self, group: usize, member: usize) -> bool {
        let nodes = self.graph.nodes();
        nodes[group].meta == nodes[member].meta
            && !self.is_before(group, member)
            && !self.is_before(member, group)
            && self.resource_of(group, member).is_some()
    }

    /// Whether a path leads from one group to another.
    fn is_before(&self, first: usize, second: usize) -> bool {
        leads_to(self.group_of.len(), first, second, |group| {
            let members = self.members_of(group).iter();
            let edges = members.flat_map(|member| self.graph.successors(*member));
            edges.map(|edge| self.group_of[edge.to])
        })
    }

    /// The resource of a group with one more member.
    fn resource_of(&self, group: usize, member: usize) -> Option<Box<dyn Resource>> {
        let nodes = self.graph.nodes();
        let members = self.members_of(group).iter().chain([&member]);
        let members: Vec<&dyn Resource> = members
            .map(|member| nodes[*member].resource.as_ref())
            .collect();
        nodes[group].resource.grouped(&members)
    }

    fn join(&mut self, group: usize, member: usize) {
        self.group_of[member] = group;
        self.members
            .entry(group)
            .or_insert_with(|| vec![group])
            .push(member);
    }

    fn finish(self) -> Graph {
        if self.members.is_empty() {
            return self.graph;
        }
        let mut numbers = HashMap::new();
        let mut nodes: Vec<Node> = Vec::new();
        for (number, node) in self.graph.nodes().iter().enumerate() {
            if self.group_of[number] != number {
                continue;
            }
            numbers.insert(number, nodes.len());
            let mut node = node.clone();
            if let Some(members) = self.members.get(&number) {
                let all = self.graph.nodes();
                let resources: Vec<&dyn Resource> = members
                    .iter()
                    .map(|member| all[*member].resource.as_ref())
                    .collect();
                if let Some(resource) = node.resource.grouped(&resources) {
                    node.resource = Arc::from(resource);
                }
                node.members = members
                    .iter()
                    .map(|member| all[*member].id.clone())
                    .collect();
                node.member_resources = members
                    .iter()
                    .map(|member| Arc::clone(&all[*member].resource))
                    .collect();
                node.receives = members
                    .iter()
                    .flat_map(|member| all[*member].receives.clone())
                    .collect();
            }
            nodes.push(node);
        }
        let number_of = |node: usize| numbers[&self.group_of[node]];
        let mut edges = Edges::default();
        let mut senders: HashMap<(usize, usize), BTreeSet<usize>> = HashMap::new();
        for from in 0..self.group_of.len() {
            let members = self.members.get(&self.group_of[from]);
            let member = members.and_then(|members| members.iter().position(|it| *it == from));
            for edge in self.graph.successors(from) {
                let ends = (number_of(from), number_of(edge.to));
                edges.add(ends.0, ends.1, edge.kind);
                if let Some(member) = member {
                    senders.entry(ends).or_default().insert(member);
                }
            }
        }
        let by_id = self.graph.nodes().iter().enumerate();
        let by_id = by_id.map(|(number, node)| (node.id.clone(), number_of(number)));
        let by_id = by_id.collect();
        Graph {
            senders,
            ..assemble(nodes, &edges, by_id)
        }
    }
}
