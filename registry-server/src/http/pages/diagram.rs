//! Draws the dependencies and dependants of a package as SVG.
//!
//! It is drawn twice: from left to right for wide windows, and from top to bottom for narrow ones,
//! where the other would be too small to read. The style sheet shows one of them. Nodes lie on a grid,
//! so that nothing overlaps, and texts are cut to their nodes: the font is monospaced.

use maud::{Markup, html};
use pkgres_manifest::PackageName;

use super::text::halves;

/// The limit of nodes on a side. If there are more packages, the last node has their number.
const MAX_NODES: usize = 8;

/// The height of a node, and the distance from one to the next.
const HEIGHT: usize = 50;
const STEP: usize = 62;

/// The top of the first node, below its caption.
const TOP: usize = 30;

/// A package beside the one of the page.
pub(super) struct DiagramNode<'name> {
    pub(super) name: &'name PackageName,
    /// The text beside the name, such as a spec.
    pub(super) note: String,
    /// Whether the package has a page.
    pub(super) is_linked: bool,
}

/// A package with its dependencies and dependants.
pub(super) struct Diagram<'name> {
    /// The path to the base.
    pub(super) root: &'static str,
    pub(super) name: &'name PackageName,
    pub(super) note: String,
    /// The sentence for a package without requirements.
    pub(super) without_requirements: &'static str,
    /// The packages that require it.
    pub(super) above: Vec<DiagramNode<'name>>,
    /// The packages that it requires.
    pub(super) below: Vec<DiagramNode<'name>>,
}

/// The place of a node.
#[derive(Clone, Copy)]
struct Place {
    x: usize,
    y: usize,
    width: usize,
}

impl Place {
    fn middle(self) -> usize {
        self.y + HEIGHT / 2
    }

    fn right(self) -> usize {
        self.x + self.width
    }
}

impl Diagram<'_> {
    /// The diagram from left to right: dependants, the package, dependencies.
    pub(super) fn wide(&self) -> Markup {
        const WIDTH: usize = 216;
        const GAP: usize = 46;
        let rows = places(self.above.len())
            .max(places(self.below.len()))
            .max(1);
        let inner = rows * STEP - (STEP - HEIGHT);
        let width = 3 * WIDTH + 2 * GAP + 4;
        let height = TOP + inner + 4;
        let column = |at: usize, number: usize| {
            let used = (number * STEP).saturating_sub(STEP - HEIGHT);
            let top = TOP + (inner - used) / 2;
            move |row: usize| Place {
                x: 2 + at * (WIDTH + GAP),
                y: top + row * STEP,
                width: WIDTH,
            }
        };
        let center = column(1, 1)(0);
        let left = column(0, places(self.above.len()).max(1));
        let right = column(2, places(self.below.len()).max(1));
        html! {
            svg.wide-picture viewBox={ "0 0 " (width) " " (height) } width=(width) height=(height) role="group" aria-label="What requires the package and what it requires" {
                text.caption x=(left(0).x) y="14" { "Required by" }
                text.caption x=(right(0).x) y="14" { "Requires" }
                @for row in 0..places(self.above.len()) { (curve(left(row), center, row == 0)) }
                @for row in 0..places(self.below.len()) { (curve(center, right(row), true)) }
                @if self.above.is_empty() { (empty(left(0), "no package here")) }
                @if self.below.is_empty() { (empty(right(0), self.without_requirements)) }
                (self.side(&self.above, "#dependants", &left))
                (self.side(&self.below, "#requirements", &right))
                (draw(center, self.name, &self.note, "node own"))
            }
        }
    }

    /// The diagram from top to bottom, with a line at the left that connects the nodes.
    pub(super) fn narrow(&self) -> Markup {
        const WIDTH: usize = 334;
        const INDENT: usize = 34;
        let place = |y: usize| Place {
            x: INDENT,
            y,
            width: WIDTH - INDENT - 2,
        };
        let (above, below) = (places(self.above.len()), places(self.below.len()));
        // A side without packages is left out with its caption.
        let center_y = if above == 0 {
            2
        } else {
            TOP + above * STEP + 8
        };
        let center = Place {
            x: 2,
            y: center_y,
            width: WIDTH - 4,
        };
        let first = center_y + HEIGHT + 34;
        let end = if below == 0 {
            center_y + HEIGHT
        } else {
            first + below * STEP - (STEP - HEIGHT)
        };
        let (upper, lower) = (
            move |row| place(TOP + row * STEP),
            move |row| place(first + row * STEP),
        );
        let trunk = 16;
        html! {
            svg.narrow-picture viewBox={ "0 0 " (WIDTH) " " (end + 4) } width=(WIDTH) height=(end + 4) role="group" aria-label="What requires the package and what it requires" {
                @if above > 0 {
                    text.caption x="2" y="14" { "Required by" }
                    path.line d={ "M" (trunk) " " (upper(0).middle()) "V" (center_y - 1) } {}
                    @for row in 0..above {
                        path.line d={ "M" (trunk) " " (upper(row).middle()) "H" (INDENT) } {}
                    }
                    path.head d={ "M" (trunk) " " (center_y - 1) "l-4.5 -9h9z" } {}
                }
                @if below > 0 {
                    text.caption x=(INDENT) y=(center_y + HEIGHT + 22) { "Requires" }
                    path.line d={ "M" (trunk) " " (center_y + HEIGHT) "V" (lower(below - 1).middle()) } {}
                    @for row in 0..below {
                        path.line d={ "M" (trunk) " " (lower(row).middle()) "H" (INDENT - 8) } {}
                        path.head d={ "M" (INDENT - 1) " " (lower(row).middle()) "l-9 -4.5v9z" } {}
                    }
                }
                (self.side(&self.above, "#dependants", &upper))
                (draw(center, self.name, &self.note, "node own"))
                (self.side(&self.below, "#requirements", &lower))
            }
        }
    }

    /// The nodes of a side.
    fn side(&self, nodes: &[DiagramNode<'_>], all: &str, place: &dyn Fn(usize) -> Place) -> Markup {
        let shown = if nodes.len() > MAX_NODES {
            MAX_NODES - 1
        } else {
            nodes.len()
        };
        html! {
            @for (row, node) in nodes[..shown].iter().enumerate() {
                @if node.is_linked {
                    a href={ (self.root) "packages/" (node.name) } {
                        (draw(place(row), node.name, &node.note, "node"))
                    }
                } @else { (draw(place(row), node.name, &node.note, "node absent")) }
            }
            @if nodes.len() > shown {
                @let rest = place(shown);
                a href=(all) {
                    g.node.more {
                        rect x=(rest.x) y=(rest.y) width=(rest.width) height=(HEIGHT) rx="8" {}
                        text.last x=(rest.x + 14) y=(rest.y + 30) { "and " (nodes.len() - shown) " more" }
                    }
                }
            }
        }
    }
}

/// How many nodes a side with so many packages has.
fn places(number: usize) -> usize {
    number.min(MAX_NODES)
}

/// A node.
fn draw(place: Place, name: &PackageName, note: &str, class: &str) -> Markup {
    let (namespace, last) = halves(name.as_str());
    // Characters are 7.9 units wide in the first line, and 6.7 in the second.
    let inner = place.width - 28;
    let first = inner * 10 / 79;
    let second = inner * 10 / 67;
    let note = cut(note, second / 2);
    let rest = second.saturating_sub(note.chars().count() + 1);
    html! {
        g class=(class) {
            title { (name) @if !note.is_empty() { " " (note) } }
            rect x=(place.x) y=(place.y) width=(place.width) height=(HEIGHT) rx="8" {}
            text.last x=(place.x + 14) y=(place.y + 22) { (cut(last, first)) }
            text.rest x=(place.x + 14) y=(place.y + 39) {
                (cut(namespace.trim_end_matches('.'), rest))
            }
            text.rest.note x=(place.right() - 14) y=(place.y + 39) text-anchor="end" { (note) }
        }
    }
}

/// A node without a package.
fn empty(place: Place, words: &str) -> Markup {
    html! {
        g.node.none {
            rect x=(place.x) y=(place.y) width=(place.width) height=(HEIGHT) rx="8" {}
            text.rest x=(place.x + 14) y=(place.y + 29) { (words) }
        }
    }
}

/// An arrow from the right of one node to the left of another. Lines that end at one node need only one
/// head.
fn curve(from: Place, to: Place, has_head: bool) -> Markup {
    let (x, y) = (from.right(), from.middle());
    let (end, to_y) = (to.x - 8, to.middle());
    let half = usize::midpoint(x, end);
    html! {
        path.line d={ "M" (x) " " (y) "C" (half) " " (y) " " (half) " " (to_y) " " (end) " " (to_y) } {}
        @if has_head { path.head d={ "M" (to.x - 1) " " (to_y) "l-9 -4.5v9z" } {} }
    }
}

/// The beginning of a text, with an ellipsis if it is cut.
fn cut(text: &str, characters: usize) -> String {
    if text.chars().count() <= characters {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(characters.saturating_sub(1)).collect();
    short.push('…');
    short
}
