//! Which graphs are too large to be drawn, and the order in which to lay out the others.
//!
//! For each edge that it adds, the layout library looks for a cycle along every path of the graph, and the number of
//! paths can be exponential. If the edges of a node come before those of its targets, it sees at once that there is no
//! cycle. So edges are added in topological order, and graphs that would still take long are rejected.

use std::collections::BTreeMap;

use pkgres_manifest::diagnostic::{Code, Diagnostic};

/// The most nodes of a graph that is drawn; a larger one is unreadable.
const MAX_NODES: usize = 500;

/// The most slots that nodes and edges take in the layout. Its time is cubic in their number.
const MAX_SLOTS: usize = 2_000;

/// The most steps along paths that the search for cycles takes.
const MAX_STEPS: u64 = 1_000_000;

/// The order in which to add the edges; an error if drawing would take long.
pub(super) fn drawing_order<'a>(
    nodes: impl Iterator<Item = &'a str>,
    edges: impl Iterator<Item = (&'a str, &'a str)>,
) -> Result<Vec<usize>, Box<Diagnostic>> {
    let numbers: BTreeMap<&str, usize> = nodes.zip(0..).collect();
    if numbers.len() > MAX_NODES {
        let count = numbers.len();
        return Err(Box::new(too_large(&format!(
            "a graph of {count} nodes is not drawn: the limit is {MAX_NODES}"
        ))));
    }
    let edges: Vec<(usize, usize)> = edges
        .filter_map(|(from, to)| Some((*numbers.get(from)?, *numbers.get(to)?)))
        .collect();
    let mut targets = vec![Vec::new(); numbers.len()];
    for (from, to) in &edges {
        targets[*from].push(*to);
    }
    let order = topological_order(&targets);
    let mut position = vec![0; order.len()];
    for (at, node) in order.iter().enumerate() {
        position[*node] = at;
    }
    let leads_on = |from: usize, to: usize| position[from] < position[to];
    // The level of each node, and the number of steps on all paths from it.
    let mut level = vec![0_usize; order.len()];
    for from in &order {
        for to in targets[*from].iter().filter(|to| leads_on(*from, **to)) {
            level[*to] = level[*to].max(level[*from] + 1);
        }
    }
    let mut steps = vec![1_u64; order.len()];
    for from in order.iter().rev() {
        for to in targets[*from].iter().filter(|to| leads_on(*from, **to)) {
            steps[*from] = steps[*from].saturating_add(steps[*to]);
        }
    }
    // An edge takes a slot for its label, and one on each level that it crosses.
    let spans = edges
        .iter()
        .map(|(from, to)| (2 * level[*from].abs_diff(level[*to])).max(1));
    let slots = order.len() + spans.sum::<usize>();
    let back_edges = edges
        .iter()
        .filter(|(from, to)| from != to && !leads_on(*from, *to));
    let steps = back_edges.fold(0, |sum: u64, (_, to)| sum.saturating_add(steps[*to]));
    if slots > MAX_SLOTS || steps > MAX_STEPS {
        return Err(Box::new(too_large(
            "a graph with so many edges across levels is not drawn: it would take very long",
        )));
    }
    let mut numbers: Vec<usize> = (0..edges.len()).collect();
    // Edges that close a cycle come last.
    numbers.sort_by_key(|at| {
        let (from, to) = edges[*at];
        (!leads_on(from, to), position[from])
    });
    Ok(numbers)
}

fn too_large(message: &str) -> Diagnostic {
    Diagnostic::error(Code::Limit, message)
        .hint("use `--format dot` or `--format mermaid`, which other programs draw")
}

/// The nodes, each before its targets, as far as there are no cycles.
fn topological_order(targets: &[Vec<usize>]) -> Vec<usize> {
    let mut order = Vec::with_capacity(targets.len());
    let mut is_seen = vec![false; targets.len()];
    for start in 0..targets.len() {
        if is_seen[start] {
            continue;
        }
        is_seen[start] = true;
        let mut stack = vec![(start, 0)];
        while let Some((node, next)) = stack.last_mut() {
            let Some(target) = targets[*node].get(*next).copied() else {
                order.push(*node);
                stack.pop();
                continue;
            };
            *next += 1;
            if !is_seen[target] {
                is_seen[target] = true;
                stack.push((target, 0));
            }
        }
    }
    order.reverse();
    order
}
