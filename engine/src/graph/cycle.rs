//! Finds a cycle in a graph, for the error that names its resources.

use super::Graph;

/// A cycle of nodes, each of which goes before the next; `None` if there is none.
pub(super) fn find(graph: &Graph) -> Option<Vec<usize>> {
    #[derive(Clone, Copy, PartialEq)]
    enum Seen {
        No,
        OnPath,
        Done,
    }
    let mut seen = vec![Seen::No; graph.nodes().len()];
    for start in 0..seen.len() {
        // The nodes of a path, and how many of their edges were followed.
        let mut path: Vec<(usize, usize)> = Vec::new();
        if seen[start] == Seen::No {
            seen[start] = Seen::OnPath;
            path.push((start, 0));
        }
        while let Some((node, followed)) = path.last_mut() {
            let Some(edge) = graph.successors(*node).get(*followed) else {
                seen[*node] = Seen::Done;
                path.pop();
                continue;
            };
            *followed += 1;
            match seen[edge.to] {
                Seen::Done => {}
                Seen::No => {
                    seen[edge.to] = Seen::OnPath;
                    path.push((edge.to, 0));
                }
                Seen::OnPath => {
                    let cycle = path.iter().map(|(node, _)| *node);
                    return Some(cycle.skip_while(|node| *node != edge.to).collect());
                }
            }
        }
    }
    None
}
