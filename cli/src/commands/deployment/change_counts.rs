//! How many changes a run made, and what it left unfinished.

use std::collections::BTreeSet;

use pkgres_engine::Step;
use pkgres_manifest::ResourceId;

/// The changes of a run.
#[derive(Debug, Clone, Default)]
pub(super) struct Changes {
    /// Those after which a resource was in order.
    pub(super) made: usize,
    /// The resources whose change was begun and failed, so that some of it may have been done, and which are not in order
    /// since.
    unfinished: BTreeSet<ResourceId>,
}

impl Changes {
    /// Takes note of what happened.
    pub(super) fn note(&mut self, step: &Step) {
        match step {
            Step::Changed(id, _) => {
                self.unfinished.remove(id);
                self.made += 1;
            }
            // What was begun before has led to the wanted state.
            Step::InOrder(id) => self.made += usize::from(self.unfinished.remove(id)),
            Step::Unfinished(id, _) => {
                self.unfinished.insert(id.clone());
            }
            _ => {}
        }
    }

    /// How many resources have a change that was begun and failed.
    pub(super) fn unfinished(&self) -> usize {
        self.unfinished.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_at_one_resource_count_once() {
        let mut changes = Changes::default();
        let id = |name: &str| ResourceId::new("exec", name).expect("it is an identity");
        for _ in 0..3 {
            changes.note(&Step::Unfinished(id("a"), Vec::new()));
            changes.note(&Step::Failed(id("a"), String::new()));
        }
        changes.note(&Step::Unfinished(id("b"), Vec::new()));
        changes.note(&Step::Unfinished(id("c"), Vec::new()));
        assert_eq!((changes.made, changes.unfinished()), (0, 3));
        changes.note(&Step::Changed(id("a"), Vec::new()));
        // What the failed attempt did was enough.
        changes.note(&Step::InOrder(id("b")));
        changes.note(&Step::InOrder(id("d")));
        assert_eq!((changes.made, changes.unfinished()), (2, 1));
    }
}
