//! Finds resources that contradict each other: two that claim one place or one number, or want one thing in two ways, one
//! below a plain file of another one, and one that needs what another one removes.

use std::collections::BTreeMap;

use pkgres_manifest::ResourceId;
use pkgres_manifest::diagnostic::{Code, Diagnostic, Location};

use crate::graph::Node;
use crate::resource::{Identifier, Presence, Relation};

/// The contradictions between the nodes of a graph. `place_of` returns where a resource is described.
pub(super) fn contradictions<'place>(
    nodes: &[Node],
    place_of: impl Fn(&ResourceId) -> Option<&'place Location>,
) -> Vec<Diagnostic> {
    let mut claims: BTreeMap<Identifier, &Node> = BTreeMap::new();
    let mut findings = Vec::new();
    let mut report = |message: String, node: &Node, other: &Node| {
        let mut finding = Diagnostic::error(Code::Resource, message);
        for id in [&node.id, &other.id] {
            if let Some(place) = place_of(id) {
                finding = finding.at(place.clone());
            }
        }
        findings.push(finding);
    };
    let said = nodes
        .iter()
        .filter(|node| node.resource.presence() != Presence::Unsaid);
    for node in said {
        for identifier in node.resource.identifiers() {
            // Several resources can be something else together, such as groups that go.
            if matches!(identifier, Identifier::Other(..)) {
                continue;
            }
            if let Some(other) = claims.get(&identifier) {
                let (one, two) = (&other.id, &node.id);
                let message = match identifier {
                    Identifier::UserNumber(number) | Identifier::GroupNumber(number) => {
                        format!("`{one}` and `{two}` have the same number, {number}")
                    }
                    _ => format!("`{one}` and `{two}` both determine what is at one place"),
                };
                report(message, node, other);
            } else {
                claims.insert(identifier, node);
            }
        }
    }
    for (one, other) in wanted_in_two_ways(nodes) {
        let (first, again) = (&one.id, &other.id);
        let message = format!(
            "`{first}` and `{again}` name the same {}, and want different states",
            first.kind()
        );
        report(message, other, one);
    }
    let present = || nodes.iter().filter(|node| is_present(node));
    for node in present() {
        let identifiers = node.resource.identifiers().into_iter();
        let around = identifiers.filter_map(|identifier| plain_file_around(&identifier, &claims));
        for file in around {
            let message = format!(
                "`{}` is below `{}`, which is not a folder",
                node.id, file.id
            );
            report(message, node, file);
        }
    }
    for node in present().filter(|node| node.resource.presence() == Presence::Present) {
        let needs = node.resource.wishes().into_iter();
        let needs = needs.filter(|wish| wish.relation == Relation::After);
        for needed in needs.flat_map(|wish| wish.alternatives) {
            let Some(gone) = claims.get(&needed) else {
                continue;
            };
            if gone.resource.presence() == Presence::Absent && gone.id != node.id {
                let message = format!("`{}` needs `{}`, which must be absent", node.id, gone.id);
                report(message, node, gone);
            }
        }
    }
    findings
}

/// Resources of two names that are the same and cannot both be in order.
fn wanted_in_two_ways(nodes: &[Node]) -> Vec<(&Node, &Node)> {
    let mut known: BTreeMap<Identifier, Vec<&Node>> = BTreeMap::new();
    let mut pairs = Vec::new();
    for node in nodes {
        for identifier in node.resource.identifiers() {
            let same = known.entry(identifier).or_default();
            let mut others = same.iter();
            if let Some(other) = others.find(|other| node.resource.contradicts(&*other.resource)) {
                pairs.push((*other, node));
            }
            same.push(node);
        }
    }
    pairs
}

fn is_present(node: &Node) -> bool {
    node.resource.presence() != Presence::Absent
}

/// The plain file that another resource describes at a path around this one.
fn plain_file_around<'nodes>(
    identifier: &Identifier,
    claims: &BTreeMap<Identifier, &'nodes Node>,
) -> Option<&'nodes Node> {
    let Identifier::Path(path) = identifier else {
        return None;
    };
    let mut around = path.ancestors().skip(1);
    around.find_map(|folder| {
        let claim = claims.get(&Identifier::path(folder))?;
        claim.resource.is_plain_file().then_some(*claim)
    })
}
