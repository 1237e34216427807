//! Random graphs of every kind that needs no program of the machine, on a real folder: a second run changes nothing, the
//! order is kept, a graph that replaces another one keeps what is equal, and what failed is never converged.

// The tests look at files themselves.
#![allow(clippy::disallowed_methods)]

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::mpsc::channel;

use pkgres_engine::{
    Control, Directory, DriveOptions, File, Graph, GraphBuilder, Link, NodeStatus, Resource,
    RunOptions, Status, Step, drive,
};
use pkgres_manifest::{MetaParameters, ResourceId};
use proptest::prelude::*;

use crate::support::{Root, reversed};

/// A resource of a random graph: at a path of its own, or below the folder of another one.
#[derive(Debug, Clone)]
struct Random {
    kind: usize,
    mode: u32,
    is_absent: bool,
    content: u8,
    is_reversed: bool,
    /// The resources before it, as positions among those that come first.
    after: Vec<prop::sample::Index>,
}

fn random() -> impl Strategy<Value = Vec<Random>> {
    let one = (
        0..4_usize,
        prop::sample::select(vec![0o600, 0o644, 0o700, 0o755]),
        prop::bool::weighted(0.2),
        0..3_u8,
        any::<bool>(),
        prop::collection::vec(any::<prop::sample::Index>(), 0..3),
    );
    let one = one.prop_map(
        |(kind, mode, is_absent, content, is_reversed, after)| Random {
            kind,
            mode,
            is_absent,
            content,
            is_reversed,
            after,
        },
    );
    prop::collection::vec(one, 1..8)
}

fn resource(number: usize, random: &Random) -> (ResourceId, Box<dyn Resource>) {
    let path = format!("/r{number}");
    let content = format!("content {}\n", random.content);
    let (kind, resource): (&str, Box<dyn Resource>) = match (random.kind, random.is_absent) {
        (0, true) => ("file", Box::new(File::new(&path).absent())),
        (0, false) => {
            let file = File::new(&path).with_content(content);
            ("file", Box::new(file.with_mode(random.mode)))
        }
        (1, true) => (
            "directory",
            Box::new(Directory::new(&path).absent_if_empty()),
        ),
        (1, false) => {
            let folder = Directory::new(&path).with_mode(random.mode | 0o100);
            ("directory", Box::new(folder))
        }
        (2, true) => ("link", Box::new(Link::absent(&path))),
        (2, false) => ("link", Box::new(Link::new(&path, content.trim()))),
        // It has the content of a file that is always there.
        _ => ("file", Box::new(File::new(&path).with_copy_of("/always"))),
    };
    let id = ResourceId::new(kind, &path).expect("it is an identity");
    (id, resource)
}

/// The graph, and its edges as pairs of identities.
fn build(randoms: &[Random]) -> (Graph, Vec<(ResourceId, ResourceId)>) {
    let mut builder = GraphBuilder::new();
    let mut ids: Vec<ResourceId> = Vec::new();
    let mut edges = Vec::new();
    for (number, random) in randoms.iter().enumerate() {
        let (id, resource) = resource(number, random);
        let reversible = random.is_reversed && resource.is_reversible();
        let meta = if reversible {
            reversed()
        } else {
            MetaParameters::default()
        };
        builder.add_shared(id.clone(), Arc::from(resource), meta);
        for before in random.after.iter().filter(|_| number > 0) {
            let before = ids[before.index(number)].clone();
            builder.order(before.clone(), id.clone());
            edges.push((before, id.clone()));
        }
        ids.push(id);
    }
    (builder.build().expect("edges lead forward"), edges)
}

fn prepared() -> Root {
    let root = Root::new();
    root.write("/always", b"always\n");
    root
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_second_run_changes_nothing(randoms in random()) {
        let root = prepared();
        let ending = root.apply(build(&randoms).0);
        prop_assert_eq!(ending.status, Status::Converged);
        let once = root.snapshot();
        let state = root.state_snapshot();
        let mut changed = Vec::new();
        let ending = root.apply_observed(build(&randoms).0, |step| {
            if let Step::Changed(id, _) = step {
                changed.push(id.clone());
            }
        });
        prop_assert_eq!(ending.status, Status::Converged);
        prop_assert!(changed.is_empty(), "{:?}", changed);
        prop_assert_eq!(root.snapshot(), once);
        prop_assert_eq!(root.state_snapshot(), state);
    }

    #[test]
    fn resources_wait_for_those_before_them(randoms in random()) {
        let root = prepared();
        let (graph, edges) = build(&randoms);
        let mut done = BTreeSet::new();
        let mut wrong = Vec::new();
        root.apply_observed(graph, |step| match step {
            Step::Started(id, _) => {
                let before = edges.iter().filter(|(_, second)| second == id);
                wrong.extend(before.filter(|(first, _)| !done.contains(first)).cloned());
            }
            Step::InOrder(id) | Step::Changed(id, _) => drop(done.insert(id.clone())),
            _ => {}
        });
        prop_assert!(wrong.is_empty(), "{:?}", wrong);
    }

    #[test]
    fn what_was_there_before_comes_back(randoms in random(), earlier in random()) {
        let root = prepared();
        // Something is there already at some of the paths.
        for (number, random) in earlier.iter().enumerate().filter(|(_, it)| !it.is_reversed) {
            let path = root.path(&format!("/r{number}"));
            match randoms.get(number).map(|random| random.kind) {
                Some(1) => std::fs::create_dir(path).expect("nothing is there"),
                Some(2) => std::os::unix::fs::symlink("before", path).expect("nothing is there"),
                _ => std::fs::write(path, [random.content]).expect("nothing is there"),
            }
        }
        let before = root.snapshot();
        let mut randoms = randoms;
        for random in &mut randoms {
            random.is_reversed = true;
        }
        prop_assert_eq!(root.apply(build(&randoms).0).status, Status::Converged);
        // An absent folder that was empty comes back only if its kind can be reversed.
        let is_lost = |number: usize, random: &Random| {
            let (_, resource) = resource(number, random);
            !resource.is_reversible()
        };
        let lost = randoms.iter().enumerate().any(|(number, random)| is_lost(number, random));
        prop_assert_eq!(root.apply(Graph::default()).status, Status::Converged);
        if !lost {
            prop_assert_eq!(root.snapshot(), before);
        }
    }

    #[test]
    fn a_graph_that_replaces_another_keeps_what_is_equal(first in random(), second in random()) {
        let root = prepared();
        let same: BTreeSet<String> = first
            .iter()
            .zip(&second)
            .enumerate()
            .filter_map(|(number, (first, second))| {
                let (id, one) = resource(number, first);
                let (other_id, other) = resource(number, second);
                let is_reversed = |random: &Random, it: &dyn Resource| random.is_reversed && it.is_reversible();
                let is_same = id == other_id
                    && one.definition() == other.definition()
                    && is_reversed(first, &*one) == is_reversed(second, &*other);
                is_same.then(|| id.to_string())
            })
            .collect();
        let target: Arc<dyn pkgres_engine::Target> = root.machine.clone();
        let options = DriveOptions {
            run: RunOptions { watch: true, ..RunOptions::default() },
            max_runtime: Some(std::time::Duration::from_secs(20)),
            ..DriveOptions::default()
        };
        let (control, controlled) = channel();
        let mut kept = None;
        let mut next = Some(build(&second).0);
        drive(build(&first).0, target, &options, controlled, |progress| match &progress.step {
            Step::Converged => {
                if let Some(next) = next.take() {
                    control.send(Control::Replace(next)).expect("it runs");
                }
            }
            Step::Replaced(report) => {
                let ids = report.kept.iter().map(ToString::to_string);
                kept = Some(ids.collect::<BTreeSet<String>>());
                control.send(Control::Interrupt).expect("it runs");
            }
            _ => {}
        });
        prop_assert_eq!(kept, Some(same));
    }

    #[test]
    fn what_failed_is_never_converged(randoms in random(), broken in any::<prop::sample::Index>()) {
        let root = prepared();
        let broken = broken.index(randoms.len());
        // A folder that is not empty in place of a file or link, and a file in place of a folder.
        let path = root.path(&format!("/r{broken}"));
        if randoms[broken].kind == 1 {
            std::fs::write(path, b"obstacle").expect("nothing is there");
        } else {
            std::fs::create_dir_all(path.join("obstacle")).expect("nothing is there");
        }
        let (graph, edges) = build(&randoms);
        let ending = root.apply(graph);
        prop_assert_eq!(ending.status, Status::Failed);
        let (broken, status) = &ending.nodes[broken];
        prop_assert!(matches!(status, NodeStatus::Failed(_)), "{:?}", status);
        let mut behind = BTreeSet::from([broken.clone()]);
        for (first, second) in &edges {
            if behind.contains(first) {
                behind.insert(second.clone());
            }
        }
        for (id, status) in &ending.nodes {
            let is_right = match status {
                NodeStatus::InOrder => !behind.contains(id),
                NodeStatus::Failed(_) => id == broken,
                NodeStatus::Blocked(by) => by == broken && behind.contains(id),
                _ => false,
            };
            prop_assert!(is_right, "{}: {:?}", id, status);
        }
    }
}
