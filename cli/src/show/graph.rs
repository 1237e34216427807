//! Graphs of resolutions and conflicts.

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::diagnostic::Diagnostic;
use pkgres_registry_client::ClassNode;
use pkgres_resolver::{Conflict, ReasonKind, Resolution, ResolvedOwner};
use serde_json::{Value, json};

use super::drawable_graphs::drawing_order;
use super::picture::{Picture, PictureEdge, PictureLine, PictureNode, PictureNodeKind, png};

/// A graph of packages and classes. Its nodes and edges are sorted, so that its output is always the same.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    /// The title of its picture.
    title: String,
    nodes: BTreeMap<String, Node>,
    edges: BTreeSet<Edge>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Root,
    Package,
    Class,
    Resource,
}

#[derive(Debug)]
struct Node {
    label: String,
    shape: Shape,
    clashes: bool,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Edge {
    from: String,
    to: String,
    label: String,
    kind: EdgeKind,
    clashes: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum EdgeKind {
    Requires,
    Defines,
    Extends,
    Precedes,
    Notifies,
}

impl EdgeKind {
    fn name(self) -> &'static str {
        match self {
            Self::Requires => "requires",
            Self::Defines => "defines",
            Self::Extends => "extends",
            Self::Precedes => "precedes",
            Self::Notifies => "notifies",
        }
    }
}

impl Graph {
    /// The graph of a resolution.
    pub(crate) fn of_resolution(
        resolution: &Resolution,
        classes: &BTreeMap<ClassNode, Vec<ClassNode>>,
    ) -> Self {
        let mut graph = Self {
            title: title_of(resolution, !classes.is_empty()),
            ..Self::default()
        };
        for owner in resolution.owners() {
            let shape = match owner {
                ResolvedOwner::Root(_) => Shape::Root,
                ResolvedOwner::Package(_) => Shape::Package,
            };
            let id = owner.owner().to_string();
            graph.node(&id, shape, false);
            for bound in owner.requires() {
                let label = match &bound.overridden {
                    Some(_) => format!("{} (override)", bound.spec),
                    None => bound.spec.to_string(),
                };
                let to = format!("{} {}", bound.package, bound.version);
                graph.edge(&id, &to, &label, EdgeKind::Requires, false);
            }
        }
        let class_id =
            |node: &ClassNode| format!("{} ({} {})", node.class, node.package, node.version);
        for (class, parents) in classes {
            let id = class_id(class);
            graph.node(&id, Shape::Class, false);
            let package = format!("{} {}", class.package, class.version);
            graph.edge(&package, &id, "", EdgeKind::Defines, false);
            for parent in parents {
                graph.edge(&id, &class_id(parent), "", EdgeKind::Extends, false);
            }
        }
        graph
    }

    /// The graph of resources: which ones go before which, and which ones notify others.
    pub(crate) fn of_deployment(resources: &pkgres_engine::Graph) -> Self {
        let mut graph = Self {
            title: "The resources and their order".to_owned(),
            ..Self::default()
        };
        for node in resources.nodes() {
            let id = node.id.to_string();
            graph.node(&id, Shape::Resource, false);
            let members: Vec<_> = node.ids().iter().map(ToString::to_string).collect();
            if let Some(drawn) = graph.nodes.get_mut(&id) {
                drawn.label = members.join(", ");
            }
        }
        for edge in resources.edges() {
            let (kind, label) = match edge.kind {
                pkgres_engine::EdgeKind::Notify => (EdgeKind::Notifies, "notifies"),
                pkgres_engine::EdgeKind::Order => (EdgeKind::Precedes, ""),
            };
            let (from, to) = (edge.from.to_string(), edge.to.to_string());
            graph.edge(&from, &to, label, kind, false);
        }
        graph
    }

    /// The graph of a conflict. Clashing packages are red.
    pub(crate) fn of_conflict(conflict: &Conflict) -> Self {
        let mut graph = Self {
            title: "Why there is no resolution".to_owned(),
            ..Self::default()
        };
        for reason in &conflict.reasons {
            let owner = reason.owner_name();
            let shape = if reason.source.is_none() {
                Shape::Root
            } else {
                Shape::Package
            };
            match &reason.kind {
                ReasonKind::Requires { package, spec, .. } => {
                    let versions: Vec<String> =
                        reason.versions.iter().map(ToString::to_string).collect();
                    graph.node(owner, shape, false);
                    graph.node(package.as_str(), Shape::Package, reason.clashes);
                    let label = format!("{}: {spec}", versions.join(", "));
                    let kind = EdgeKind::Requires;
                    graph.edge(owner, package.as_str(), &label, kind, reason.clashes);
                }
                ReasonKind::Inherits { paths } => {
                    for path in paths {
                        let ids: Vec<String> = path
                            .iter()
                            .map(|at| {
                                let versions: Vec<String> =
                                    at.versions.iter().map(ToString::to_string).collect();
                                format!("{} ({} {})", at.class, at.package, versions.join(", "))
                            })
                            .collect();
                        for id in &ids {
                            graph.node(id, Shape::Class, true);
                        }
                        for pair in ids.windows(2) {
                            graph.edge(&pair[0], &pair[1], "", EdgeKind::Extends, true);
                        }
                    }
                }
                ReasonKind::Extends { class }
                | ReasonKind::Uses { class }
                | ReasonKind::Lacks { class }
                | ReasonKind::Implements { interface: class }
                | ReasonKind::LacksInterface { interface: class } => {
                    graph.node(owner, shape, false);
                    graph.node(class.as_str(), Shape::Class, true);
                    let label = match &reason.kind {
                        ReasonKind::Lacks { .. } | ReasonKind::LacksInterface { .. } => "lacks",
                        ReasonKind::Implements { .. } => "implements",
                        ReasonKind::Uses { .. } => "uses",
                        _ => "",
                    };
                    graph.edge(owner, class.as_str(), label, EdgeKind::Extends, true);
                }
                _ => graph.node(owner, shape, reason.clashes),
            }
        }
        graph
    }

    fn node(&mut self, id: &str, shape: Shape, clashes: bool) {
        let node = self.nodes.entry(id.to_owned()).or_insert(Node {
            label: id.to_owned(),
            shape,
            clashes,
        });
        node.clashes |= clashes;
        if shape == Shape::Root {
            node.shape = shape;
        }
    }

    fn edge(&mut self, from: &str, to: &str, label: &str, kind: EdgeKind, clashes: bool) {
        self.edges.insert(Edge {
            from: from.to_owned(),
            to: to.to_owned(),
            label: label.to_owned(),
            kind,
            clashes,
        });
    }

    /// The graph in the DOT language of Graphviz.
    pub(crate) fn to_dot(&self) -> String {
        let name = if self
            .nodes
            .values()
            .any(|node| matches!(node.shape, Shape::Resource))
        {
            "resources"
        } else {
            "packages"
        };
        let mut text = format!("digraph {name} {{\n");
        for (id, node) in &self.nodes {
            let shape = match node.shape {
                Shape::Root => "doubleoctagon",
                Shape::Package | Shape::Resource => "box",
                Shape::Class => "ellipse",
            };
            let color = if node.clashes { ", color=\"red\"" } else { "" };
            let label = quoted(&node.label);
            text.push_str(&format!(
                "  {} [label={label}, shape={shape}{color}];\n",
                quoted(id)
            ));
        }
        for edge in &self.edges {
            let style = match edge.kind {
                EdgeKind::Requires | EdgeKind::Precedes => "solid",
                EdgeKind::Defines => "dotted",
                EdgeKind::Extends | EdgeKind::Notifies => "dashed",
            };
            let color = if edge.clashes { ", color=\"red\"" } else { "" };
            text.push_str(&format!(
                "  {} -> {} [label={}, style={style}{color}];\n",
                quoted(&edge.from),
                quoted(&edge.to),
                quoted(&edge.label)
            ));
        }
        text.push_str("}\n");
        text
    }

    /// The graph in the language of Mermaid, for Markdown.
    pub(crate) fn to_mermaid(&self) -> String {
        let numbers: BTreeMap<&String, usize> = self.nodes.keys().zip(0..).collect();
        let mut text = "graph TD\n".to_owned();
        let safe = |text: &str| text.replace('"', "#quot;");
        for (id, node) in &self.nodes {
            let (open, close) = match node.shape {
                Shape::Root => ("[[", "]]"),
                Shape::Package | Shape::Resource => ("[", "]"),
                Shape::Class => ("(", ")"),
            };
            let label = safe(&node.label);
            text.push_str(&format!("  n{}{open}\"{label}\"{close}\n", numbers[id]));
        }
        for edge in &self.edges {
            let arrow = match edge.kind {
                EdgeKind::Requires | EdgeKind::Precedes => "-->",
                EdgeKind::Defines | EdgeKind::Extends | EdgeKind::Notifies => "-.->",
            };
            let label = match edge.label.as_str() {
                "" => String::new(),
                label => format!("|\"{}\"|", safe(label)),
            };
            let (from, to) = (numbers.get(&edge.from), numbers.get(&edge.to));
            if let (Some(from), Some(to)) = (from, to) {
                text.push_str(&format!("  n{from} {arrow}{label} n{to}\n"));
            }
        }
        for (at, edge) in self.edges.iter().enumerate() {
            if edge.clashes {
                text.push_str(&format!("  linkStyle {at} stroke:red\n"));
            }
        }
        for (id, node) in &self.nodes {
            if node.clashes {
                text.push_str(&format!("  style n{} stroke:red\n", numbers[id]));
            }
        }
        text
    }

    /// The graph as SVG; an error if it is too large to lay out.
    pub(crate) fn to_svg(&self) -> Result<String, Box<Diagnostic>> {
        let edges: Vec<&Edge> = self.edges.iter().collect();
        let ends = edges
            .iter()
            .map(|edge| (edge.from.as_str(), edge.to.as_str()));
        let order = drawing_order(self.nodes.keys().map(String::as_str), ends)?;
        let numbers: BTreeMap<&str, usize> =
            self.nodes.keys().map(String::as_str).zip(0..).collect();
        let drawn = |at: usize| {
            let edge = edges[at];
            Some(PictureEdge {
                from: *numbers.get(edge.from.as_str())?,
                to: *numbers.get(edge.to.as_str())?,
                label: &edge.label,
                line: match edge.kind {
                    EdgeKind::Requires | EdgeKind::Precedes => PictureLine::Solid,
                    EdgeKind::Defines => PictureLine::Dotted,
                    EdgeKind::Extends | EdgeKind::Notifies => PictureLine::Dashed,
                },
                meaning: edge.kind.name(),
                clashes: edge.clashes,
            })
        };
        let picture = Picture {
            title: self.title.clone(),
            nodes: self.nodes.values().map(Node::drawn).collect(),
            edges: order.into_iter().filter_map(drawn).collect(),
        };
        Ok(picture.to_svg())
    }

    /// The graph as PNG; an error if it is too large to lay out or to draw.
    pub(crate) fn to_png(&self) -> Result<Vec<u8>, Box<Diagnostic>> {
        png(&self.to_svg()?)
    }

    /// The graph as JSON.
    pub(crate) fn to_json(&self) -> Value {
        let nodes: Vec<Value> = self
            .nodes
            .iter()
            .map(|(id, node)| {
                let kind = match node.shape {
                    Shape::Root => "root",
                    Shape::Package => "package",
                    Shape::Class => "class",
                    Shape::Resource => "resource",
                };
                json!({"id": id, "kind": kind, "clashes": node.clashes})
            })
            .collect();
        let edges: Vec<Value> = self
            .edges
            .iter()
            .map(|edge| {
                json!({
                    "from": edge.from,
                    "to": edge.to,
                    "kind": edge.kind.name(),
                    "label": edge.label,
                    "clashes": edge.clashes,
                })
            })
            .collect();
        json!({"schema_version": 1, "nodes": nodes, "edges": edges})
    }
}

impl Node {
    fn drawn(&self) -> PictureNode<'_> {
        if self.shape == Shape::Resource {
            return PictureNode {
                kind: PictureNodeKind::Resource,
                name: &self.label,
                note: "",
                clashes: self.clashes,
            };
        }
        // `name version`, or `class (name versions)`.
        let (name, note) = self.label.split_once(' ').unwrap_or((&self.label, ""));
        let note = note.strip_prefix('(').unwrap_or(note);
        PictureNode {
            kind: match self.shape {
                Shape::Root => PictureNodeKind::Root,
                Shape::Package => PictureNodeKind::Package,
                Shape::Resource => PictureNodeKind::Resource,
                Shape::Class => PictureNodeKind::Class,
            },
            name,
            note: note.strip_suffix(')').unwrap_or(note),
            clashes: self.clashes,
        }
    }
}

/// The most roots that a title names.
const MAX_TITLE_ROOTS: usize = 3;

/// The title of the picture of a resolution.
fn title_of(resolution: &Resolution, has_classes: bool) -> String {
    let mut roots: Vec<String> = resolution
        .owners()
        .filter(|owner| matches!(owner, ResolvedOwner::Root(_)))
        .map(|owner| owner.owner().to_string())
        .collect();
    let what = if has_classes {
        "Packages and classes"
    } else {
        "Packages"
    };
    if roots.len() > MAX_TITLE_ROOTS {
        let count = roots.len() - MAX_TITLE_ROOTS;
        roots.truncate(MAX_TITLE_ROOTS);
        roots.push(format!("{count} more roots"));
    }
    format!("{what} of the resolution of {}", roots.join(", "))
}

/// A string in the DOT language.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
