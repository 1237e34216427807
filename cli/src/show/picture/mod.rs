//! Pictures of graphs: the layout of a graph as SVG, with a title, a legend and both color schemes, and as PNG.
//!
//! The library lays out boxes of given sizes, and calls back to draw them. Everything is drawn here, so that pictures
//! look like those on the pages of a registry, and fit their content.

mod canvas;
mod parts;
mod png;

use layout::core::base::Orientation;
use layout::core::color::Color;
use layout::core::geometry::{Point, Position};
use layout::core::style::{LineStyleKind, StyleAttr};
use layout::std_shapes::shapes::{Arrow, Element, LineEndKind, ShapeKind};
use layout::topo::layout::VisualGraph;
use pkgres_manifest::diagnostic::Escaped;

use self::canvas::{Canvas, with_room};
use self::parts::HEIGHT;
pub(super) use self::parts::{Picture, PictureEdge, PictureLine, PictureNode, PictureNodeKind};
pub(super) use self::png::png;

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
}

#[cfg(test)]
mod tests {
    use resvg::tiny_skia;

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
                meaning: "requires",
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
        picture.nodes[1].kind = PictureNodeKind::Resource;
        picture.nodes[1].name = "file:/etc/web.conf";
        picture.edges[0].meaning = "precedes";
        let svg = picture.to_svg();
        for word in ["resource", "precedes", "file:/etc/web.conf"] {
            assert!(svg.contains(&format!(">{word}</text>")), "{word}: {svg}");
        }
        for word in ["package", "requires"] {
            assert!(!svg.contains(&format!(">{word}</text>")), "{word}: {svg}");
        }
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
