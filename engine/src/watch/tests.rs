//! What an instance forgets, and when it is replaced.

use super::*;
use crate::runner::{Action, Event, RunOptions, Runner};

/// Keys of nodes.
fn keys(number: usize) -> Vec<NodeKey> {
    let mut builder = crate::graph::GraphBuilder::new();
    for name in 0..number {
        let id = format!("file:/{name}").parse().expect("it is an identity");
        let file = crate::kinds::File::new(format!("/{name}"));
        builder.add(id, file, pkgres_manifest::MetaParameters::default());
    }
    let options = RunOptions {
        jobs: number,
        ..RunOptions::default()
    };
    let mut runner = Runner::new(builder.build().expect("it has no cycle"), options);
    runner.handle(Event::Time, std::time::Duration::ZERO);
    let actions = std::iter::from_fn(|| runner.next_action());
    let attempts = actions.filter_map(|action| match action {
        Action::Attempt { node, .. } => Some(node),
        _ => None,
    });
    attempts.collect()
}

#[test]
fn a_watcher_that_ends_leaves_what_others_watch() {
    let root = tempfile::tempdir().expect("a folder for the test");
    let watches = SharedWatches::default();
    let start = || Watcher::start(&watches, root.path(), |_| {}).expect("it can be watched");
    let (first, second) = (start(), start());
    let keys = keys(3);
    for key in &keys {
        let paths = vec![PathBuf::from("/shared"), PathBuf::from("/other")];
        first.watch(*key, paths).expect("it can be watched");
    }
    std::fs::create_dir(root.path().join("own")).expect("the root is there");
    let own = vec![PathBuf::from("/own/page")];
    first.watch(keys[0], own).expect("it can be watched");
    let shared = vec![PathBuf::from("/shared")];
    second.watch(keys[0], shared).expect("it can be watched");

    drop(first);
    let table = second.instance.shared.table();
    assert_eq!(table.watchers.len(), 1);
    assert_eq!(table.paths.len(), 1);
    assert_eq!(table.watches.len(), 1, "only the root is watched");
    let watch = table.watches.values().next().expect("there is one");
    assert_eq!(watch.nodes(), [(second.key, keys[0])]);
    assert_eq!(watch.entries.len(), 1);
    drop(table);

    let instance = Arc::clone(&second.instance);
    drop(second);
    assert!(instance.shared.table().watches.is_empty());
}

#[test]
fn an_instance_that_ended_is_replaced() {
    let root = tempfile::tempdir().expect("a folder for the test");
    let watches = SharedWatches::default();
    let start = || Watcher::start(&watches, root.path(), |_| {}).expect("it can be watched");
    let (first, second) = (start(), start());
    assert!(Arc::ptr_eq(&first.instance, &second.instance));
    first.instance.shared.table().is_ended = true;
    let third = start();
    assert!(!Arc::ptr_eq(&first.instance, &third.instance));
    let paths = || vec![PathBuf::from("/page")];
    let key = keys(1)[0];
    assert!(first.watch(key, paths()).is_err());
    third.watch(key, paths()).expect("it can be watched");
    assert!(Arc::ptr_eq(&third.instance, &start().instance));
}
