//! What a picture shows, nodes and edges, and how much space the texts of nodes take.

/// The widths of characters, in sizes 13, 12 and 11 of a monospaced font.
pub(super) const WIDE: f64 = 7.9;
pub(super) const MIDDLE: f64 = 7.3;
pub(super) const NARROW: f64 = 6.7;

/// The height of a node.
pub(super) const HEIGHT: f64 = 50.0;

/// The space inside of a node at its left and right.
pub(super) const INNER: f64 = 14.0;

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PictureNodeKind {
    Root,
    Package,
    Class,
    Resource,
}

/// A node.
#[derive(Debug)]
pub(crate) struct PictureNode<'text> {
    pub(crate) kind: PictureNodeKind,
    /// The name of the package, class or resource.
    pub(crate) name: &'text str,
    /// The text beside the name, such as a version.
    pub(crate) note: &'text str,
    pub(crate) clashes: bool,
}

/// The style of an edge's line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PictureLine {
    Solid,
    Dotted,
    Dashed,
}

/// An edge between two nodes, which are known by their numbers.
#[derive(Debug)]
pub(crate) struct PictureEdge<'text> {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) label: &'text str,
    pub(crate) line: PictureLine,
    /// What its line means, for the legend.
    pub(crate) meaning: &'static str,
    pub(crate) clashes: bool,
}

/// A graph to be drawn, with its edges in the order in which the layout is to add them.
#[derive(Debug)]
pub(crate) struct Picture<'text> {
    pub(crate) title: String,
    pub(crate) nodes: Vec<PictureNode<'text>>,
    pub(crate) edges: Vec<PictureEdge<'text>>,
}

impl PictureNodeKind {
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::Package | Self::Resource => "package",
            Self::Class => "class",
        }
    }
}

impl PictureLine {
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Solid => "solid",
            Self::Dotted => "dotted",
            Self::Dashed => "dashed",
        }
    }
}

impl PictureNode<'_> {
    /// The namespace without its last dot, and the last part of the name. Resources have no namespace.
    pub(super) fn halves(&self) -> (&str, &str) {
        if self.kind == PictureNodeKind::Resource {
            return ("", self.name);
        }
        self.name.rsplit_once('.').unwrap_or(("", self.name))
    }

    pub(super) fn width(&self) -> f64 {
        let (namespace, last) = self.halves();
        let second = length(namespace) + length(self.note) + 2.0;
        (length(last) * WIDE).max(second * NARROW).max(70.0) + 2.0 * INNER
    }
}

/// The number of characters of a text.
#[expect(
    clippy::cast_precision_loss,
    reason = "texts are far shorter than 2^52"
)]
pub(super) fn length(text: &str) -> f64 {
    text.chars().count() as f64
}
