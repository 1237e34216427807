//! Finds the mandatory members of types: nodes that a type reaches through references to components and properties, if
//! all modelling rules on the way are `Mandatory`.

use std::collections::BTreeMap;

use pkgres_manifest::diagnostic::Span;
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::node_id::NodeId;
use super::MandatoryMembers;

/// The most nested members of a type that are looked at.
const MAX_DEPTH: usize = 16;
/// The most bytes of the paths of all members of a file. Members in members have as many paths as ways lead to them.
pub(super) const MAX_PATH_BYTES: usize = 64 << 20;
/// What a path counts beside its text.
const PATH_BYTES: usize = 64;

/// The references from a node to its members: properties, components, ordered components and add-ins.
const MEMBER_REFERENCES: [u32; 4] = [46, 47, 49, 17604];
/// The reference from a member to its modelling rule.
const HAS_MODELLING_RULE: u32 = 37;
/// The modelling rule of members that every object has.
const MANDATORY: u32 = 78;

/// What a reference says about members.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MemberReference {
    /// The target is a member.
    Member,
    /// The target is a modelling rule.
    Rule,
}

impl MemberReference {
    /// What references of a type say about members, if anything.
    pub(super) fn of(reference_type: &NodeId<'_>) -> Option<Self> {
        if MEMBER_REFERENCES
            .iter()
            .any(|number| *reference_type == NodeId::of_ua(*number))
        {
            Some(Self::Member)
        } else if *reference_type == NodeId::of_ua(HAS_MODELLING_RULE) {
            Some(Self::Rule)
        } else {
            None
        }
    }
}

/// The members of nodes, as they are collected.
#[derive(Default)]
pub(super) struct Members<'text> {
    /// The name and the place of each node.
    nodes: FxHashMap<NodeId<'text>, (String, Span)>,
    mandatory: FxHashSet<NodeId<'text>>,
    children: FxHashMap<NodeId<'text>, Vec<NodeId<'text>>>,
    /// The node that is being read.
    current: Option<NodeId<'text>>,
}

impl<'text> Members<'text> {
    /// Begins a node with its `BrowseName`.
    pub(super) fn enter(&mut self, id: NodeId<'text>, browse_name: &str, span: Span) {
        let name = match browse_name.split_once(':') {
            // The number is that of a namespace in this file.
            Some((number, name)) if number.bytes().all(|next| next.is_ascii_digit()) => name,
            _ => browse_name,
        };
        self.nodes.insert(id.clone(), (name.to_owned(), span));
        self.current = Some(id);
    }

    /// Adds a reference of the node that is being read.
    pub(super) fn add(&mut self, kind: MemberReference, is_forward: bool, target: NodeId<'text>) {
        let Some(current) = self.current.clone() else {
            return;
        };
        match kind {
            MemberReference::Rule if is_forward && target == NodeId::of_ua(MANDATORY) => {
                self.mandatory.insert(current);
            }
            MemberReference::Rule => {}
            MemberReference::Member => {
                let (parent, child) = if is_forward {
                    (current, target)
                } else {
                    (target, current)
                };
                self.children.entry(parent).or_default().push(child);
            }
        }
    }

    /// The mandatory members of a node by their paths. `None` if these have more bytes than `left`, from which they are
    /// taken.
    pub(super) fn mandatory_of(
        &self,
        node: &NodeId<'text>,
        left: &mut usize,
    ) -> Option<MandatoryMembers> {
        let mut found = BTreeMap::new();
        let mut open = vec![(node, String::new(), 0_usize)];
        while let Some((node, path, depth)) = open.pop() {
            if depth >= MAX_DEPTH {
                continue;
            }
            for child in self.children.get(node).into_iter().flatten() {
                let Some((name, span)) = self.nodes.get(child) else {
                    continue;
                };
                let path = if path.is_empty() {
                    name.clone()
                } else {
                    format!("{path}/{name}")
                };
                // Files state a reference at both ends.
                let is_new = self.mandatory.contains(child) && !found.contains_key(&path);
                if is_new {
                    *left = left.checked_sub(PATH_BYTES + path.len())?;
                    found.insert(path.clone(), *span);
                    open.push((child, path, depth + 1));
                }
            }
        }
        Some(found)
    }
}
