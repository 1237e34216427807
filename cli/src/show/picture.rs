//! Pictures of graphs: the layout of a graph as SVG, with a title, a legend and both color schemes, and as PNG.
//!
//! The library lays out boxes of given sizes, and calls back to draw them. Everything is drawn here, so that pictures
//! look like those on the pages of a registry, and fit their content.

use std::fmt::Write as _;
use std::sync::Arc;

use layout::core::base::Orientation;
use layout::core::color::Color;
use layout::core::format::{ClipHandle, RenderBackend};
use layout::core::geometry::{Point, Position};
use layout::core::style::{LineStyleKind, StyleAttr};
use layout::std_shapes::shapes::{Arrow, Element, LineEndKind, ShapeKind};
use layout::topo::layout::VisualGraph;
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use resvg::{tiny_skia, usvg};

/// The widths of characters, in sizes 13, 12 and 11 of a monospaced font.
const WIDE: f64 = 7.9;
const MIDDLE: f64 = 7.3;
const NARROW: f64 = 6.7;

/// The height of a node.
const HEIGHT: f64 = 50.0;

/// The space inside of a node at its left and right.
const INNER: f64 = 14.0;

/// The space around the whole picture.
const MARGIN: f64 = 20.0;

/// The height of the title and of a row of the legend.
const ROW: f64 = 26.0;

/// How many characters fit into the room behind a label, where its line can turn.
const ROOM: u8 = 6;

/// The least width in which the legend is broken into rows.
const LEGEND: f64 = 420.0;

/// The length of an arrow head.
const HEAD: f64 = 9.0;

/// How many pixels of a PNG a unit of the picture has, unless it would be too large.
const SCALE: f32 = 2.0;

/// The most pixels of a PNG.
const MAX_PIXELS: f64 = 64e6;

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PictureNodeKind {
    Root,
    Package,
    Class,
}

/// A node.
#[derive(Debug)]
pub(super) struct PictureNode<'text> {
    pub(super) kind: PictureNodeKind,
    /// The name of the package or class.
    pub(super) name: &'text str,
    /// The text beside the name, such as a version.
    pub(super) note: &'text str,
    pub(super) clashes: bool,
}

/// The style of an edge's line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PictureLine {
    Solid,
    Dotted,
    Dashed,
}

/// An edge between two nodes, which are known by their numbers.
#[derive(Debug)]
pub(super) struct PictureEdge<'text> {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) label: &'text str,
    pub(super) line: PictureLine,
    pub(super) clashes: bool,
}

/// A graph to be drawn, with its edges in the order in which the layout is to add them.
#[derive(Debug)]
pub(super) struct Picture<'text> {
    pub(super) title: String,
    pub(super) nodes: Vec<PictureNode<'text>>,
    pub(super) edges: Vec<PictureEdge<'text>>,
}

impl Picture<'_> {
    /// The picture as SVG.
    pub(super) fn to_svg(&self) -> String {
        let mut graph = VisualGraph::new(Orientation::LeftToRight);
        // The check for cycles after each edge follows every path.
        graph.dag.set_validate(false);
        let look = StyleAttr::new(Color::fast("black"), 1, None, 0, 7);
        let handles: Vec<_> = (0..)
            .zip(&self.nodes)
            .map(|(at, node): (usize, _)| {
                let size = Point::new(node.width(), HEIGHT);
                let halo = Point::splat(36.0);
                graph.add_node(Element {
                    shape: ShapeKind::Box(String::new()),
                    pos: Position::new(Point::zero(), size, Point::zero(), halo),
                    look: look.clone(),
                    orientation: Orientation::LeftToRight,
                    properties: Some(at.to_string()),
                })
            })
            .collect();
        for (at, edge) in self.edges.iter().enumerate() {
            let arrow = Arrow {
                start: LineEndKind::None,
                end: LineEndKind::Arrow,
                line_style: LineStyleKind::Normal,
                text: with_room(&Escaped::new(edge.label).to_string()),
                look: look.clone(),
                properties: Some(at.to_string()),
                src_port: None,
                dst_port: None,
            };
            graph.add_edge(arrow, handles[edge.from], handles[edge.to]);
        }
        let mut canvas = Canvas::new(self);
        graph.do_it(false, false, false, &mut canvas);
        canvas.finish()
    }

    /// The lines of the legend: a sample, drawn from a point, and its word.
    fn legend(&self) -> Vec<(String, &'static str)> {
        let mut items = Vec::new();
        for (kind, word) in [
            (PictureNodeKind::Root, "root"),
            (PictureNodeKind::Package, "package"),
            (PictureNodeKind::Class, "class"),
        ] {
            if self.nodes.iter().any(|node| node.kind == kind) {
                let radius = if kind == PictureNodeKind::Class { 7 } else { 4 };
                let class = kind.class();
                items.push((
                    format!(r#"<rect class="box {class}" width="26" height="14" y="-11" rx="{radius}"/>"#),
                    word,
                ));
            }
        }
        for (line, word) in [
            (PictureLine::Solid, "requires"),
            (PictureLine::Dotted, "defines"),
            (PictureLine::Dashed, "extends"),
        ] {
            if self.edges.iter().any(|edge| edge.line == line) {
                let class = line.class();
                items.push((
                    format!(
                        r#"<path class="line {class}" d="M0-4H18"/><path class="head" d="M26-4l-9-4v8z"/>"#
                    ),
                    word,
                ));
            }
        }
        let clashes = self.nodes.iter().any(|node| node.clashes)
            || self.edges.iter().any(|edge| edge.clashes);
        if clashes {
            let sample = r#"<rect class="box clash" width="26" height="14" y="-11" rx="4"/>"#;
            items.push((sample.to_owned(), "part of the clash"));
        }
        items
    }
}

impl PictureNodeKind {
    fn class(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::Package => "package",
            Self::Class => "class",
        }
    }
}

impl PictureLine {
    fn class(self) -> &'static str {
        match self {
            Self::Solid => "solid",
            Self::Dotted => "dotted",
            Self::Dashed => "dashed",
        }
    }
}

impl PictureNode<'_> {
    /// The namespace without its last dot, and the last part of the name.
    fn halves(&self) -> (&str, &str) {
        self.name.rsplit_once('.').unwrap_or(("", self.name))
    }

    fn width(&self) -> f64 {
        let (namespace, last) = self.halves();
        let second = length(namespace) + length(self.note) + 2.0;
        (length(last) * WIDE).max(second * NARROW).max(70.0) + 2.0 * INNER
    }
}

/// A label with room behind it.
fn with_room(label: &str) -> String {
    if label.is_empty() {
        String::new()
    } else {
        format!("{label}{}", " ".repeat(ROOM.into()))
    }
}

/// The number of characters of a text.
#[expect(
    clippy::cast_precision_loss,
    reason = "texts are far shorter than 2^52"
)]
fn length(text: &str) -> f64 {
    text.chars().count() as f64
}

/// The texts of SVG elements that the layout draws, and the area that they take.
struct Canvas<'picture> {
    picture: &'picture Picture<'picture>,
    lines: String,
    nodes: String,
    labels: String,
    /// The upper left corner and the size of each node, once it is drawn.
    places: Vec<Option<(Point, Point)>>,
    /// The smallest and the greatest coordinates.
    least: Point,
    greatest: Point,
}

impl<'picture> Canvas<'picture> {
    fn new(picture: &'picture Picture<'picture>) -> Self {
        Self {
            picture,
            lines: String::new(),
            nodes: String::new(),
            labels: String::new(),
            places: vec![None; picture.nodes.len()],
            least: Point::splat(f64::MAX),
            greatest: Point::splat(f64::MIN),
        }
    }

    fn include(&mut self, x: f64, y: f64) {
        self.least = Point::new(self.least.x.min(x), self.least.y.min(y));
        self.greatest = Point::new(self.greatest.x.max(x), self.greatest.y.max(y));
    }

    /// The SVG document: title, legend, and the graph below.
    fn finish(self) -> String {
        let title = escaped(&self.picture.title);
        let items = self.picture.legend();
        let is_empty = self.greatest.x < self.least.x;
        let (least, greatest) = if is_empty {
            (Point::zero(), Point::zero())
        } else {
            (self.least, self.greatest)
        };
        let inner = greatest.x - least.x;
        let available = inner.max(LEGEND);
        let mut legend = String::new();
        let (mut x, mut row, mut widest) = (0.0_f64, 0.0_f64, length(&self.picture.title) * WIDE);
        for (sample, word) in items {
            let width = 34.0 + length(word) * MIDDLE;
            if x > 0.0 && x + width > available {
                x = 0.0;
                row += ROW;
            }
            let (left, top) = (MARGIN + x, MARGIN + 2.0 * ROW - 8.0 + row);
            let _ = writeln!(
                legend,
                r#"<g transform="translate({left:.1} {top:.1})">{sample}<text class="key" x="34">{word}</text></g>"#
            );
            widest = widest.max(x + width);
            x += width + 22.0;
        }
        let top = MARGIN + 2.0 * ROW + row + 10.0;
        let width = inner.max(widest) + 2.0 * MARGIN;
        let height = top + (greatest.y - least.y) + MARGIN;
        // A graph that is narrower than its legend is in the middle.
        let left = (width - inner) / 2.0;
        let (across, down) = (left - least.x, top - least.y);
        let Self {
            lines,
            nodes,
            labels,
            ..
        } = self;
        format!(
            r#"<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0}" height="{height:.0}" viewBox="0 0 {width:.0} {height:.0}" role="img">
<title>{title}</title>
<style>{STYLE}</style>
<rect class="back" width="100%" height="100%"/>
<text class="title" x="{MARGIN}" y="{:.1}">{title}</text>
{legend}<g transform="translate({across:.1} {down:.1})">
{lines}{nodes}{labels}</g>
</svg>
"#,
            MARGIN + 12.0
        )
    }
}

/// Light, and dark where the reader of the picture prefers that.
const STYLE: &str = "
text { font-family: ui-monospace, 'SF Mono', Menlo, 'DejaVu Sans Mono', 'Liberation Mono', monospace; fill: #1b1e29; }
.back { fill: #ffffff; }
.title { font-size: 13px; font-weight: 700; }
.key { font-size: 12px; fill: #5b6274; }
.last { font-size: 13px; font-weight: 700; }
.rest { font-size: 11px; fill: #5b6274; }
.label { font-size: 11px; fill: #5b6274; stroke: #ffffff; stroke-width: 4px; paint-order: stroke; stroke-linejoin: round; }
.box { fill: #f7f8fb; stroke: #868da1; stroke-width: 1.25; }
.root { fill: #eef0ff; stroke: #3c4ac8; }
.line { fill: none; stroke: #868da1; stroke-width: 1.25; }
.dotted { stroke-dasharray: 1.5 3.5; }
.dashed { stroke-dasharray: 5 4; }
.head { fill: #868da1; }
.box.clash, .line.clash { stroke: #c62828; stroke-width: 2; }
.box.clash { fill: #fdecec; }
.head.clash, .label.clash { fill: #c62828; }
@media (prefers-color-scheme: dark) {
text { fill: #e7e9f1; }
.back { fill: #11131a; }
.key, .rest, .label { fill: #a2a9bb; }
.label { stroke: #11131a; }
.box { fill: #191c26; stroke: #737b90; }
.root { fill: #23284a; stroke: #a5b1ff; }
.line { stroke: #737b90; }
.head { fill: #737b90; }
.box.clash, .line.clash { stroke: #ff8a80; }
.box.clash { fill: #3a1d1d; }
.head.clash, .label.clash { fill: #ff8a80; }
}
";

/// The number that a node or an edge carries through the layout.
fn number(properties: Option<String>) -> Option<usize> {
    properties?.parse().ok()
}

impl RenderBackend for Canvas<'_> {
    fn draw_rect(
        &mut self,
        xy: Point,
        size: Point,
        _: &StyleAttr,
        properties: Option<String>,
        _: Option<ClipHandle>,
    ) {
        let picture = self.picture;
        let Some((at, node)) = number(properties).and_then(|at| Some((at, picture.nodes.get(at)?)))
        else {
            return;
        };
        self.places[at] = Some((xy, size));
        self.include(xy.x, xy.y);
        self.include(xy.x + size.x, xy.y + size.y);
        let (namespace, last) = node.halves();
        let clash = if node.clashes { " clash" } else { "" };
        let radius = if node.kind == PictureNodeKind::Class {
            HEIGHT / 2.0
        } else {
            8.0
        };
        let (left, right) = (xy.x + INNER, xy.x + size.x - INNER);
        let beside = escaped(node.note);
        let full = if beside.is_empty() {
            escaped(node.name)
        } else {
            format!("{} {beside}", escaped(node.name))
        };
        let (kind, last, namespace) = (node.kind.class(), escaped(last), escaped(namespace));
        let (x, y, width) = (xy.x, xy.y, size.x);
        let (first, second) = (y + 22.0, y + 39.0);
        let _ = write!(
            self.nodes,
            r#"<g><title>{full}</title><rect class="box {kind}{clash}" x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{HEIGHT}" rx="{radius}"/><text class="last" x="{left:.1}" y="{first:.1}">{last}</text>"#
        );
        if !namespace.is_empty() {
            let _ = write!(
                self.nodes,
                r#"<text class="rest" x="{left:.1}" y="{second:.1}">{namespace}</text>"#
            );
        }
        if !beside.is_empty() {
            let _ = write!(
                self.nodes,
                r#"<text class="rest" x="{right:.1}" y="{second:.1}" text-anchor="end">{beside}</text>"#
            );
        }
        self.nodes.push_str("</g>\n");
    }

    fn draw_line(&mut self, _: Point, _: Point, _: &StyleAttr, _: Option<String>) {}

    fn draw_circle(&mut self, _: Point, _: Point, _: &StyleAttr, _: Option<String>) {}

    fn draw_text(&mut self, xy: Point, text: &str, _: &StyleAttr) {
        // The text of a node is empty: its box draws it. So this is the label of an edge.
        let label = text.trim_end();
        if label.is_empty() {
            return;
        }
        let xy = Point::new(xy.x - (length(text) - length(label)) * NARROW / 2.0, xy.y);
        let text = label;
        let half = length(text) * NARROW / 2.0;
        self.include(xy.x - half, xy.y - 16.0);
        self.include(xy.x + half, xy.y);
        let _ = writeln!(
            self.labels,
            r#"<text class="label" x="{:.1}" y="{:.1}" text-anchor="middle">{}</text>"#,
            xy.x,
            xy.y - 5.0,
            escaped(text)
        );
    }

    fn draw_arrow(
        &mut self,
        path: &[(Point, Point)],
        _: bool,
        head: (bool, bool),
        _: &StyleAttr,
        properties: Option<String>,
        _: &str,
    ) {
        let picture = self.picture;
        let edge = number(properties).and_then(|at| picture.edges.get(at));
        let (Some(edge), Some(first), Some(last)) = (edge, path.first(), path.last()) else {
            return;
        };
        // From left to right; the head of an edge against this direction is at its start.
        let (left, right) = if head.0 {
            (edge.to, edge.from)
        } else {
            (edge.from, edge.to)
        };
        let (mut start, mut end) = (first.0, last.1);
        if let (Some(from), Some(to)) = (self.places[left], self.places[right])
            && left != right
        {
            start = Point::new(from.0.x + from.1.x, from.0.y + from.1.y / 2.0);
            end = Point::new(to.0.x, to.0.y + to.1.y / 2.0);
        }
        let between = &path[1..path.len() - 1];
        let mut points: Vec<Point> = std::iter::once(start)
            .chain(between.iter().map(|(_, point)| *point))
            .chain([end])
            .collect();
        make_room(&mut points, !edge.label.is_empty());
        for point in &points {
            self.include(point.x, point.y);
        }
        let clash = if edge.clashes { " clash" } else { "" };
        let line = edge.line.class();
        let data = curve(&points, head);
        let _ = writeln!(
            self.lines,
            r#"<path class="line {line}{clash}" d="{data}"/>"#
        );
        for (is_drawn, tip, back) in [(head.0, start, HEAD), (head.1, end, -HEAD)] {
            if is_drawn {
                let _ = writeln!(
                    self.lines,
                    r#"<path class="head{clash}" d="M{:.1} {:.1}l{back} -4.5v9z"/>"#,
                    tip.x, tip.y
                );
            }
        }
    }

    fn create_clip(&mut self, _: Point, _: Point, _: usize) -> ClipHandle {
        0
    }
}

/// Moves points to the left: to the end of a label, behind which is room, or if what follows would be steep.
fn make_room(points: &mut [Point], is_labelled: bool) {
    let room = f64::from(ROOM) * NARROW;
    for at in 1..points.len().saturating_sub(1) {
        let next = points[at + 1];
        let lacking = (next.y - points[at].y).abs() - (next.x - points[at].x);
        if is_labelled || lacking > 0.0 {
            let wanted = if is_labelled { room } else { lacking };
            let before = (points[at].x - points[at - 1].x) / 2.0;
            points[at].x -= wanted.min(room).min(before.max(0.0));
        }
    }
}

/// A line through points from left to right, horizontal at each, which leaves space for the heads at its ends.
fn curve(points: &[Point], head: (bool, bool)) -> String {
    let mut data = String::new();
    for (at, pair) in points.windows(2).enumerate() {
        let (mut from, mut to) = (pair[0], pair[1]);
        if at == 0 && head.0 {
            from.x += HEAD - 1.0;
        }
        if at + 2 == points.len() && head.1 {
            to.x -= HEAD - 1.0;
        }
        if at == 0 {
            let _ = write!(data, "M{:.1} {:.1}", from.x, from.y);
        }
        let half = f64::midpoint(from.x, to.x);
        let _ = write!(
            data,
            "C{half:.1} {:.1} {half:.1} {:.1} {:.1} {:.1}",
            from.y, to.y, to.x, to.y
        );
    }
    data
}

/// A text without markup, and without characters that reorder text or that XML does not have.
fn escaped(text: &str) -> String {
    let text = Escaped::new(text).to_string();
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            other => safe.push(other),
        }
    }
    safe
}

/// An SVG picture as PNG, in its light colors. The font is part of the program: the picture is the same everywhere.
pub(super) fn png(svg: &str) -> Result<Vec<u8>, Box<Diagnostic>> {
    let failed = |cause: &dyn std::fmt::Display| {
        let message = format!("cannot draw the graph as PNG: {cause}");
        Box::new(Diagnostic::error(Code::Limit, message).hint("use `--format svg`"))
    };
    let mut fonts = usvg::fontdb::Database::new();
    fonts.load_font_data(dejavu::sans_mono::regular().to_vec());
    fonts.load_font_data(dejavu::sans_mono::bold().to_vec());
    let family = "DejaVu Sans Mono".to_owned();
    fonts.set_monospace_family(&family);
    let options = usvg::Options {
        font_family: family,
        fontdb: Arc::new(fonts),
        ..usvg::Options::default()
    };
    let tree = usvg::Tree::from_str(svg, &options).map_err(|error| failed(&error))?;
    let size = tree.size();
    let area = f64::from(size.width()) * f64::from(size.height());
    let scale = [SCALE, 1.0]
        .into_iter()
        .find(|scale| area * f64::from(scale * scale) <= MAX_PIXELS);
    let scale = scale.ok_or_else(|| failed(&"it would have too many pixels"))?;
    let pixels = size.to_int_size().scale_by(scale);
    let pixmap = pixels.and_then(|pixels| tiny_skia::Pixmap::new(pixels.width(), pixels.height()));
    let mut pixmap = pixmap.ok_or_else(|| failed(&"it would have too many pixels"))?;
    let transform = tiny_skia::Transform::from_scale(scale, scale);
    resvg::render(&tree, transform, &mut pixmap.as_mut());
    pixmap.encode_png().map_err(|error| failed(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(kind: PictureNodeKind, name: &'static str, note: &'static str) -> PictureNode<'static> {
        PictureNode {
            kind,
            name,
            note,
            clashes: false,
        }
    }

    fn picture() -> Picture<'static> {
        Picture {
            title: "A <title>".to_owned(),
            nodes: vec![
                node(PictureNodeKind::Root, "org.acme.Web", "1.0.0"),
                node(PictureNodeKind::Package, "org.acme.Db", "2.0.0"),
            ],
            edges: vec![PictureEdge {
                from: 0,
                to: 1,
                label: ">=2, <3",
                line: PictureLine::Solid,
                clashes: false,
            }],
        }
    }

    /// The numbers of an attribute of all elements with a class.
    fn numbers(svg: &str, class: &str, attribute: &str) -> Vec<f64> {
        svg.split('<')
            .filter(|element| element.contains(&format!("class=\"{class}")))
            .filter_map(|element| element.split(&format!(" {attribute}=\"")).nth(1))
            .filter_map(|rest| rest.split('"').next()?.parse().ok())
            .collect()
    }

    #[test]
    fn a_picture_has_a_title_and_a_legend_of_what_is_in_it() {
        let svg = picture().to_svg();
        assert!(svg.contains("<title>A &lt;title&gt;</title>"), "{svg}");
        assert!(svg.contains("&gt;=2, &lt;3</text>"), "{svg}");
        for word in ["root", "package", "requires"] {
            assert!(svg.contains(&format!(">{word}</text>")), "{word}: {svg}");
        }
        for word in ["class", "extends", "defines", "part of the clash"] {
            assert!(!svg.contains(&format!(">{word}</text>")), "{word}: {svg}");
        }
        let mut picture = picture();
        picture.nodes[1].clashes = true;
        assert!(picture.to_svg().contains(">part of the clash</text>"));
    }

    #[test]
    fn a_picture_is_as_large_as_what_is_in_it() {
        let svg = picture().to_svg();
        let size = |name: &str| -> f64 {
            let rest = svg.split(&format!("{name}=\"")).nth(1).expect("a size");
            rest.split('"')
                .next()
                .and_then(|text| text.parse().ok())
                .expect("a number")
        };
        let (xs, widths) = (
            numbers(&svg, "box package\" x", "x"),
            numbers(&svg, "box", "width"),
        );
        assert_eq!(xs.len(), 1, "{svg}");
        assert!(widths.iter().all(|width| *width < size("width")), "{svg}");
        // Two nodes in one row, below a title and a row of the legend.
        assert!(size("height") < 220.0, "{svg}");
        assert!(size("width") < 700.0, "{svg}");
    }

    #[test]
    fn a_line_is_not_steep_before_its_head() {
        let mut points = [
            Point::new(0.0, 120.0),
            Point::new(260.0, 40.0),
            Point::new(280.0, 0.0),
        ];
        make_room(&mut points, false);
        // As much to the right as up.
        assert_eq!(
            curve(&points, (false, true)),
            "M0.0 120.0C120.0 120.0 120.0 40.0 240.0 40.0C256.0 40.0 256.0 0.0 272.0 0.0"
        );
    }

    #[test]
    fn a_png_shows_text_and_boxes() {
        let bytes = png(&picture().to_svg()).expect("a picture");
        let pixmap = tiny_skia::Pixmap::decode_png(&bytes).expect("a PNG");
        let dark = pixmap
            .pixels()
            .iter()
            .filter(|pixel| pixel.red() < 90 && pixel.alpha() == 255)
            .count();
        // The strokes of the letters; boxes and lines are brighter.
        assert!(dark > 1000, "{dark} dark pixels");
        let white = pixmap.pixels().iter().filter(|pixel| pixel.red() == 255);
        assert!(
            white.count() * 2 > pixmap.pixels().len(),
            "the back is white"
        );
    }
}
