//! The drawing of a picture that is laid out: boxes, lines and labels as SVG, below a title and a legend.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use layout::core::format::{ClipHandle, RenderBackend};
use layout::core::geometry::Point;
use layout::core::style::StyleAttr;
use pkgres_manifest::diagnostic::Escaped;

use super::parts::{
    HEIGHT, INNER, MIDDLE, NARROW, Picture, PictureLine, PictureNodeKind, WIDE, length,
};

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
/// A label with room behind it.
pub(super) fn with_room(label: &str) -> String {
    if label.is_empty() {
        String::new()
    } else {
        format!("{label}{}", " ".repeat(ROOM.into()))
    }
}

/// The texts of SVG elements that the layout draws, and the area that they take.
pub(super) struct Canvas<'picture> {
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
    pub(super) fn new(picture: &'picture Picture<'picture>) -> Self {
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
    pub(super) fn finish(self) -> String {
        let title = escaped(&self.picture.title);
        let items = legend(self.picture);
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

/// The lines of the legend: a sample, drawn from a point, and its word.
fn legend(picture: &Picture) -> Vec<(String, &'static str)> {
    let mut items = Vec::new();
    for (kind, word) in [
        (PictureNodeKind::Root, "root"),
        (PictureNodeKind::Package, "package"),
        (PictureNodeKind::Class, "class"),
        (PictureNodeKind::Resource, "resource"),
    ] {
        if picture.nodes.iter().any(|node| node.kind == kind) {
            let radius = if kind == PictureNodeKind::Class { 7 } else { 4 };
            let class = kind.class();
            items.push((
                format!(
                    r#"<rect class="box {class}" width="26" height="14" y="-11" rx="{radius}"/>"#
                ),
                word,
            ));
        }
    }
    let lines = picture.edges.iter().map(|edge| (edge.line, edge.meaning));
    let lines: BTreeSet<(PictureLine, &str)> = lines.collect();
    for (line, word) in lines {
        let class = line.class();
        items.push((
            format!(
                r#"<path class="line {class}" d="M0-4H18"/><path class="head" d="M26-4l-9-4v8z"/>"#
            ),
            word,
        ));
    }
    let clashes = picture.nodes.iter().any(|node| node.clashes)
        || picture.edges.iter().any(|edge| edge.clashes);
    if clashes {
        let sample = r#"<rect class="box clash" width="26" height="14" y="-11" rx="4"/>"#;
        items.push((sample.to_owned(), "part of the clash"));
    }
    items
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
