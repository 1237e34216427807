//! Types of the models of a file that the file does not define.

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};

use super::super::node_id::{Identifier, NodeId};
use super::super::nodeset::{NodeSet, NodeType, NodeUse, OwnNodes, TypeReference};

/// The namespace and the identifier of a node. A file can list a namespace twice, so its number is not enough.
type Key<'set> = (&'set str, &'set Identifier<'set>);

impl NodeSet<'_> {
    /// The types of own models that are extended or used, and are not in the file. A use counts as right if any node has
    /// the id.
    pub(super) fn check_own_types(&self, nodes: &OwnNodes<'_>) -> Vec<Diagnostic> {
        let types = self.types.iter();
        let defined: BTreeSet<_> = types.map(|one| (self.key(&one.id), one.kind)).collect();
        let nodes_by_key: BTreeSet<Key<'_>> = nodes.ids.iter().map(|id| self.key(id)).collect();
        let mut findings = Vec::new();
        for one in &self.types {
            let is_extender_own = self.is_own(self.uri(one.id.namespace));
            for parent in one.extends.iter().filter(|_| is_extender_own) {
                let key = self.key(&parent.id);
                if self.is_own(key.0) && !defined.contains(&(key, parent.kind)) {
                    findings.push(self.lacking_parent(one, parent, &nodes_by_key));
                }
            }
        }
        let from_others = self.uses.iter();
        let from_types = self.types.iter().flat_map(|one| &one.uses);
        let mut uses: Vec<&NodeUse<'_>> = nodes.uses.iter().collect();
        uses.extend(from_others.chain(from_types));
        uses.sort_by_key(|used| used.span.start);
        let mut seen = BTreeSet::new();
        for used in uses {
            let key = self.key(&used.id);
            if self.is_own(key.0) && !nodes_by_key.contains(&key) && seen.insert((key, used.role)) {
                let message = format!(
                    "the {} {} is used, which the file does not define",
                    used.role.as_str(),
                    self.shown(&used.id)
                );
                let finding = Diagnostic::warning(Code::UndefinedUse, message);
                findings.push(finding.at(self.locate(used.span)));
            }
        }
        findings
    }

    /// Errors about types that are among their own supertypes: programs that walk up from one never end.
    pub(super) fn check_cycles(&self) -> Vec<Diagnostic> {
        let numbers: BTreeMap<Key<'_>, usize> = self
            .types
            .iter()
            .enumerate()
            .map(|(number, one)| (self.key(&one.id), number))
            .collect();
        let parents: Vec<Vec<usize>> = self
            .types
            .iter()
            .map(|one| {
                let parents = one.extends.iter();
                parents
                    .filter_map(|parent| numbers.get(&self.key(&parent.id)).copied())
                    .collect()
            })
            .collect();
        let mut left = vec![true; parents.len()];
        // What has no parent or no child that is left is in no cycle.
        leave_out(&mut left, &parents);
        let mut children = vec![Vec::new(); parents.len()];
        for (number, parents) in parents.iter().enumerate() {
            for parent in parents {
                children[*parent].push(number);
            }
        }
        leave_out(&mut left, &children);
        let in_cycles = self.types.iter().zip(left).filter(|(_, left)| *left);
        let findings = in_cycles.map(|(one, _)| {
            let name = Escaped::shortened(&one.browse_name);
            let message = format!("`{name}` is among its own supertypes");
            Diagnostic::error(Code::ClassCycle, message).at(self.locate(one.span))
        });
        findings.collect()
    }

    fn key<'set>(&'set self, id: &'set NodeId<'set>) -> Key<'set> {
        (self.uri(id.namespace), &id.identifier)
    }

    fn shown(&self, id: &NodeId<'_>) -> String {
        format!(
            "`{}` of `{}`",
            Escaped::shortened(&id.identifier.to_string()),
            Escaped::new(self.uri(id.namespace))
        )
    }

    fn lacking_parent(
        &self,
        one: &NodeType<'_>,
        parent: &TypeReference<'_>,
        nodes: &BTreeSet<Key<'_>>,
    ) -> Diagnostic {
        let mut message = format!(
            "`{}` extends {}, which the file does not define",
            Escaped::shortened(&one.browse_name),
            self.shown(&parent.id),
        );
        if nodes.contains(&self.key(&parent.id)) {
            message.push_str(&format!(" as {}", parent.kind.as_str()));
        }
        Diagnostic::error(Code::ClassUnavailable, message).at(self.locate(parent.span))
    }
}

/// Leaves out what has no neighbour that is left, again and again.
fn leave_out(left: &mut [bool], neighbours: &[Vec<usize>]) {
    let mut counts = vec![0_usize; left.len()];
    let mut users = vec![Vec::new(); left.len()];
    for (number, neighbours) in neighbours.iter().enumerate() {
        for neighbour in neighbours.iter().filter(|neighbour| left[**neighbour]) {
            counts[number] += 1;
            users[*neighbour].push(number);
        }
    }
    let mut open: Vec<usize> = (0..left.len())
        .filter(|number| left[*number] && counts[*number] == 0)
        .collect();
    while let Some(number) = open.pop() {
        left[number] = false;
        for user in &users[number] {
            counts[*user] -= 1;
            if counts[*user] == 0 && left[*user] {
                open.push(*user);
            }
        }
    }
}
