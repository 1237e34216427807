//! The `pubgrub` crate with ranges of numbers: what the others are compared with.

use std::convert::identity;

use std::collections::HashSet;
use std::sync::Arc;

use library::{DefaultStringReporter, DerivationTree, Reporter as _};
use pubgrub as library;

/// How long a recursion may become that goes down a derivation.
const STACK_BYTES: usize = 1 << 30;

super::provider::provider!(u32, identity, identity, |(low, high)| (
    low.as_ref(),
    high.as_ref()
));

impl Solver {
    /// How many facts the derivation of the crate rests on where a root has no answer, and in how many lines it
    /// tells them, with missing versions left out as its documentation shows.
    ///
    /// # Panics
    ///
    /// If there is an answer, or no thread for the recursion.
    pub fn report(&mut self, root: usize, limit: Duration) -> Result<(usize, usize), Timeout> {
        self.root = root;
        self.deadline = Deadline::after(limit);
        let mut tree = match library::resolve(self, ROOT, 0_u32) {
            Err(PubGrubError::NoSolution(tree)) => tree,
            Err(_) => return Err(Timeout),
            Ok(_) => panic!("there is an answer"),
        };
        let report = move || {
            tree.collapse_no_versions();
            let mut facts = HashSet::new();
            let (mut seen, mut rest) = (HashSet::new(), vec![&tree]);
            while let Some(tree) = rest.pop() {
                match tree {
                    DerivationTree::External(leaf) => {
                        facts.insert(leaf.to_string());
                    }
                    DerivationTree::Derived(derived) => {
                        let causes = [&derived.cause1, &derived.cause2];
                        rest.extend(
                            causes
                                .map(Arc::as_ref)
                                .into_iter()
                                .filter(|cause| seen.insert(std::ptr::from_ref(*cause))),
                        );
                    }
                }
            }
            let report = DefaultStringReporter::report(&tree);
            (facts.len(), report.lines().count())
        };
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
        let thread = thread.spawn(report).expect("a thread can be started");
        Ok(thread.join().expect("it ends"))
    }
}
