//! Another graph that cannot replace the one which runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pkgres_engine::{
    AppliedState, Checked, Effect, Fault, File, Graph, GraphBuilder, Input, Kinds, Outcome,
    SimulatedMachine, attempt,
};
use pkgres_manifest::MetaParameters;

use crate::support::{location, reversed};

/// A graph of two files, and one more.
fn files(meta: &MetaParameters, more: &str) -> Graph {
    let mut builder = GraphBuilder::new();
    for (path, meta) in [
        ("/one", meta.clone()),
        ("/two", meta.clone()),
        (more, reversed()),
    ] {
        let id = format!("file:{path}").parse().expect("an identity");
        builder.add(id, File::new(path).with_content("new"), meta);
    }
    builder.build().expect("it is valid")
}

/// The resources that a graph reverses, with something to restore.
fn reversals(graph: &Graph, machine: &SimulatedMachine) -> Vec<String> {
    let reversals = graph.nodes().iter().filter(|node| node.is_reversal);
    let differing = reversals.filter(|node| {
        let checked = node.resource.check(machine, &Input::default());
        matches!(checked, Ok(Checked::Drift(_)))
    });
    differing.map(|node| node.id.to_string()).collect()
}

/// A graph that no longer asks for reversal is rejected because an effect fails: what the graph that runs keeps is still
/// there.
#[test]
fn a_graph_that_is_rejected_forgets_nothing() {
    let mut rejected = 0;
    for failing in 0_usize.. {
        // The effects until one fails; so many at first that none does.
        let left = Arc::new(AtomicUsize::new(usize::MAX));
        let of_machine = Arc::clone(&left);
        let machine = SimulatedMachine::new(move |_: &Effect<'_>, _| {
            let before = of_machine.fetch_sub(1, Ordering::Relaxed);
            if before == 0 {
                // Only this one.
                of_machine.store(usize::MAX, Ordering::Relaxed);
                Fault::Fail
            } else {
                Fault::None
            }
        });
        let state = AppliedState::lock(&machine, location(), Kinds::default());
        let state = Arc::new(state.expect("nothing else runs"));
        let running = state
            .begin(&machine, files(&reversed(), "/three"))
            .expect("nothing fails");
        for node in running.nodes() {
            let outcome = attempt(node.resource.as_ref(), &machine, &Input::default(), false);
            assert!(matches!(outcome, Outcome::Changed(..)), "{outcome:?}");
        }
        left.store(failing, Ordering::Relaxed);
        let kept = files(&MetaParameters::default(), "/four");
        let replaced = state.replace(&machine, kept, &running);
        left.store(usize::MAX, Ordering::Relaxed);
        if replaced.is_ok() {
            // Nothing failed, and what is not asked for is forgotten.
            let nothing = state.replace(&machine, Graph::default(), &Graph::default());
            let nothing = nothing.expect("nothing fails");
            assert_eq!(reversals(&nothing, &machine), ["file:/three"]);
            break;
        }
        rejected += 1;
        let nothing = state.replace(&machine, Graph::default(), &running);
        let mut found = reversals(&nothing.expect("nothing fails"), &machine);
        found.sort();
        assert_eq!(
            found,
            ["file:/one", "file:/three", "file:/two"],
            "{failing}"
        );
    }
    assert!(rejected > 2, "{rejected}");
}
