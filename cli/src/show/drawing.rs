//! Drawing pictures, and which of them can be drawn in a moment.
//!
//! What lays a picture out looks for circles again with each edge, along each path that there is, of which a
//! picture can have more than anybody can count. It finds at once that there is none where all edges of a node
//! come before those of the nodes that they lead to, so that is the order in which it gets them.

use std::collections::BTreeMap;

use layout::backends::svg::SVGWriter;
use layout::gv::{DotParser, GraphBuilder};
use pkgres_manifest::diagnostic::{Code, Diagnostic};

/// The largest picture that is drawn, in nodes: nobody sees anything in a larger one.
const MAX_NODES: usize = 500;

/// How many places nodes and edges may take in a picture. The time that it takes to lay it out grows with the
/// cube of their number.
const MAX_PLACES: usize = 2_000;

/// How many steps may be taken along the paths of a picture for edges that close circles.
const MAX_STEPS: u64 = 1_000_000;

/// The edges, as numbers, in the order in which they are quickly drawn; refuses what would take long.
pub(super) fn drawable<'a>(
    nodes: impl Iterator<Item = &'a str>,
    edges: impl Iterator<Item = (&'a str, &'a str)>,
) -> Result<Vec<usize>, Box<Diagnostic>> {
    let numbers: BTreeMap<&str, usize> = nodes.zip(0..).collect();
    if numbers.len() > MAX_NODES {
        let count = numbers.len();
        return Err(Box::new(too_large(&format!(
            "a picture of {count} nodes is not drawn: more than the limit of {MAX_NODES}"
        ))));
    }
    let edges: Vec<(usize, usize)> = edges
        .filter_map(|(from, to)| Some((*numbers.get(from)?, *numbers.get(to)?)))
        .collect();
    let mut targets = vec![Vec::new(); numbers.len()];
    for (from, to) in &edges {
        targets[*from].push(*to);
    }
    let order = order(&targets);
    let mut position = vec![0; order.len()];
    for (at, node) in order.iter().enumerate() {
        position[*node] = at;
    }
    let leads_on = |from: usize, to: usize| position[from] < position[to];
    // How far down a node stands, and how many steps there are on all paths from it.
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
    // An edge has a place for its label, and one on each level that it passes.
    let spans = edges
        .iter()
        .map(|(from, to)| (2 * level[*from].abs_diff(level[*to])).max(1));
    let places = order.len() + spans.sum::<usize>();
    let circles = edges
        .iter()
        .filter(|(from, to)| from != to && !leads_on(*from, *to));
    let steps = circles.fold(0, |sum: u64, (_, to)| sum.saturating_add(steps[*to]));
    if places > MAX_PLACES || steps > MAX_STEPS {
        return Err(Box::new(too_large(
            "a picture with so many edges over so many levels is not drawn: it would take very long",
        )));
    }
    let mut numbers: Vec<usize> = (0..edges.len()).collect();
    // What closes a circle comes last, when it is known which way the others lead.
    numbers.sort_by_key(|at| {
        let (from, to) = edges[*at];
        (!leads_on(from, to), position[from])
    });
    Ok(numbers)
}

fn too_large(message: &str) -> Diagnostic {
    Diagnostic::error(Code::Limit, message)
        .hint("`--format dot` and `--format mermaid` are drawn by other programs")
}

/// The nodes, each before those that it leads to, as far as there are no circles.
fn order(targets: &[Vec<usize>]) -> Vec<usize> {
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

/// Draws a picture that is described for Graphviz.
pub(super) fn svg(text: &str) -> Result<String, Box<Diagnostic>> {
    let mut parser = DotParser::new(text);
    let graph = parser.process().map_err(|error| {
        let message = format!("the picture cannot be drawn: {error}");
        Box::new(Diagnostic::error(Code::Usage, message))
    })?;
    let mut builder = GraphBuilder::new();
    builder.visit_graph(&graph);
    let mut drawing = builder.get();
    // To check after each edge that there is no circle goes along each path as well.
    drawing.dag.set_validate(false);
    let mut writer = SVGWriter::new();
    drawing.do_it(false, false, false, &mut writer);
    Ok(writer.finalize())
}
