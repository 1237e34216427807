//! Composites: names of groups of resources. A composite can be used wherever a resource is named.

use std::collections::HashMap;

use pkgres_manifest::ResourceId;

use super::error::GraphError;

/// The nodes of each composite, by its name.
pub(super) struct Composites<'graph> {
    nodes: &'graph HashMap<ResourceId, usize>,
    members: HashMap<&'graph ResourceId, &'graph [ResourceId]>,
}

impl<'graph> Composites<'graph> {
    /// Reports names that are there twice, members that are not there, and names that contain themselves.
    pub(super) fn new(
        composites: &'graph [(ResourceId, Vec<ResourceId>)],
        nodes: &'graph HashMap<ResourceId, usize>,
        errors: &mut Vec<GraphError>,
    ) -> Self {
        let mut all = Self {
            nodes,
            members: HashMap::new(),
        };
        for (id, members) in composites {
            let again = all.members.insert(id, members).is_some();
            if again || nodes.contains_key(id) {
                errors.push(GraphError::Duplicate(id.clone()));
            }
        }
        for (id, members) in composites {
            let unknown = members
                .iter()
                .filter(|member| !nodes.contains_key(member) && !all.members.contains_key(member));
            errors.extend(unknown.map(|member| GraphError::unknown(id, member)));
        }
        let cycle = composites.iter().find_map(|(id, _)| all.cycle(id));
        errors.extend(cycle.map(GraphError::Cycle));
        all
    }

    /// The nodes of a resource or composite; `None` if there is none with this name.
    pub(super) fn nodes_of(&self, id: &ResourceId) -> Option<Vec<usize>> {
        if let Some(node) = self.nodes.get(id) {
            return Some(vec![*node]);
        }
        let mut nodes = Vec::new();
        let mut seen: Vec<&ResourceId> = vec![*self.members.get_key_value(id)?.0];
        let mut next = 0;
        while let Some(id) = seen.get(next).copied() {
            next += 1;
            for member in self.members[id] {
                if let Some(node) = self.nodes.get(member) {
                    nodes.push(*node);
                } else if self.members.contains_key(member) && !seen.contains(&member) {
                    seen.push(member);
                }
            }
        }
        nodes.sort_unstable();
        nodes.dedup();
        Some(nodes)
    }

    /// The names through which a name contains itself.
    fn cycle(&self, start: &'graph ResourceId) -> Option<Vec<ResourceId>> {
        // A path to each name that is inside.
        let mut paths: Vec<Vec<&ResourceId>> = vec![vec![start]];
        let mut next = 0;
        while let Some(path) = paths.get(next).cloned() {
            next += 1;
            let last = path.last()?;
            for member in self.members.get(last).copied().unwrap_or_default() {
                if member == start {
                    return Some(path.into_iter().cloned().collect());
                }
                let is_seen = paths.iter().any(|other| other.last() == Some(&member));
                if self.members.contains_key(member) && !is_seen {
                    paths.push([path.as_slice(), &[member]].concat());
                }
            }
        }
        None
    }
}

/// All pairs of the nodes of two names.
pub(super) fn pairs<'nodes>(
    first: &'nodes [usize],
    second: &'nodes [usize],
) -> impl Iterator<Item = (usize, usize)> + 'nodes {
    let pairs = first.iter();
    pairs.flat_map(|first| second.iter().map(|second| (*first, *second)))
}
