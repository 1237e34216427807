//! Prints a graph as trees, depth first and without recursion: each part of it once.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::hash::Hash;

use rustc_hash::FxHashSet;

/// The levels below a root, or below what is continued, that are indented. What is deeper is continued at the margin: a
/// chain of packages would otherwise take space with the square of its length.
pub(super) const MAX_LEVELS: usize = 48;

/// A graph whose edges are lines of a tree.
pub(super) trait TreeGraph {
    /// A line: it leads to a node.
    type Edge: Copy;
    /// What is below a line.
    type Node: Copy + Eq + Hash;

    /// The node that an edge leads to.
    fn node(&self, edge: Self::Edge) -> Self::Node;

    /// The edges below a node.
    fn edges(&self, node: Self::Node) -> Vec<Self::Edge>;

    /// The text of an edge.
    fn label(&self, edge: Self::Edge) -> String;

    /// The text of a node that is continued at the margin.
    fn title(&self, node: Self::Node) -> String;
}

/// Prints trees of a graph. A subtree that was printed before is replaced by `(*)`.
pub(super) struct TreePrinter<'graph, G: TreeGraph> {
    graph: &'graph G,
    /// The most levels below a root.
    depth: usize,
    shown: FxHashSet<G::Node>,
    /// The nodes whose edges are printed later, with the levels above them.
    continued: VecDeque<(G::Node, usize)>,
    text: String,
}

/// A node whose edges are being printed.
struct Open<Edge> {
    edges: Vec<Edge>,
    next: usize,
    /// The length of the line prefix of this level.
    prefix: usize,
}

impl<'graph, G: TreeGraph> TreePrinter<'graph, G> {
    /// A printer of trees; `depth` limits the levels below a root.
    pub(super) fn new(graph: &'graph G, depth: Option<usize>) -> Self {
        Self {
            graph,
            depth: depth.unwrap_or(usize::MAX),
            shown: FxHashSet::default(),
            continued: VecDeque::new(),
            text: String::new(),
        }
    }

    /// Prints the tree of a root.
    pub(super) fn tree(&mut self, root: &str, edges: Vec<G::Edge>) {
        self.line(root);
        self.below(edges, 0);
        while let Some((node, levels)) = self.continued.pop_front() {
            if self.shown.insert(node) {
                let title = self.graph.title(node);
                self.line(&format!("{title} (continued)"));
                self.below(self.graph.edges(node), levels);
            }
        }
    }

    /// What was printed.
    pub(super) fn into_text(self) -> String {
        self.text
    }

    fn line(&mut self, line: &str) {
        writeln!(self.text, "{line}").expect("writing to a string does not fail");
    }

    /// Prints edges and what is below them. There are `above` levels above them.
    fn below(&mut self, edges: Vec<G::Edge>, above: usize) {
        if self.depth <= above {
            return;
        }
        let mut stack = vec![Open {
            edges,
            next: 0,
            prefix: 0,
        }];
        let mut prefix = String::new();
        while let Some(open) = stack.last_mut() {
            let Some(edge) = open.edges.get(open.next).copied() else {
                stack.pop();
                continue;
            };
            open.next += 1;
            let is_last = open.next == open.edges.len();
            prefix.truncate(open.prefix);
            self.text.push_str(&prefix);
            self.text.push_str(if is_last {
                "\u{2514}\u{2500}\u{2500} "
            } else {
                "\u{251c}\u{2500}\u{2500} "
            });
            let levels = stack.len();
            if let Some(edges) = self.edge(edge, above + levels, levels >= MAX_LEVELS) {
                prefix.push_str(if is_last { "    " } else { "\u{2502}   " });
                stack.push(Open {
                    edges,
                    next: 0,
                    prefix: prefix.len(),
                });
            }
        }
    }

    /// Prints an edge on a level; returns the edges to print below it, if it was not decided to print none or to print
    /// them later. `is_at_limit` says that no further level can be indented.
    fn edge(&mut self, edge: G::Edge, level: usize, is_at_limit: bool) -> Option<Vec<G::Edge>> {
        let node = self.graph.node(edge);
        let below = self.graph.edges(node);
        let is_deepest = level >= self.depth;
        let is_continued = !is_deepest && is_at_limit;
        // A subtree that is cut off here can still fit elsewhere.
        let is_new = if is_deepest || is_continued {
            !self.shown.contains(&node)
        } else {
            self.shown.insert(node)
        };
        self.text.push_str(&self.graph.label(edge));
        if !is_new && !below.is_empty() {
            self.text.push_str(" (*)");
        }
        if is_new && is_continued && !below.is_empty() {
            self.text.push_str(" (continued below)");
            self.continued.push_back((node, level));
        }
        self.text.push('\n');
        (is_new && !is_deepest && !is_continued).then_some(below)
    }
}
