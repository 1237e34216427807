//! What a dry run knows of changes that it does not make.
//!
//! A file names its owner, and has the number of that user. If the user would get another number, so would the file,
//! though the machine still has the old one for both. So a check in a dry run also gets the changes of users and groups
//! before it.

use super::Runner;
use crate::resource::{Difference, Identifier, NUMBER};

impl Runner {
    /// The users and groups before a node that would get another number, if nothing may be changed for the node either.
    pub(super) fn foreseen(&self, node: usize) -> Vec<(Identifier, Difference)> {
        let mut foreseen = Vec::new();
        if !self.is_noop(node) {
            return foreseen;
        }
        for account in &self.pending_accounts {
            let Some(differences) = self.nodes[*account].pending() else {
                continue;
            };
            if !self.graph.is_before(*account, node) {
                continue;
            }
            for identifier in self.graph.nodes()[*account].resource.identifiers() {
                let changed = differences.iter().cloned();
                foreseen.extend(changed.map(|difference| (identifier.clone(), difference)));
            }
        }
        foreseen
    }

    /// Takes note of a node that would be changed, if it is a user or group that would get another number.
    pub(super) fn note_pending_account(&mut self, node: usize) {
        let mut differences = self.nodes[node].pending().into_iter().flatten();
        if !differences.any(|it| it.property == NUMBER && it.is.is_some()) {
            return;
        }
        let identifiers = self.graph.nodes()[node].resource.identifiers();
        let is_account = |it: &Identifier| matches!(it, Identifier::User(_) | Identifier::Group(_));
        if identifiers.iter().any(is_account) {
            self.pending_accounts.insert(node);
        }
    }

    /// Finds the users and groups that would be changed in another graph.
    pub(super) fn find_pending_accounts(&mut self) {
        self.pending_accounts.clear();
        for node in 0..self.nodes.len() {
            self.note_pending_account(node);
        }
    }
}
