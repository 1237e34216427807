//! Several nodes on one database.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use pkgres_registry_server::{Background, OpenError, ProblemCode, RegistryBackend};
use pkgres_tests::archives::archive;
use pkgres_tests::services::Postgres;

use crate::support::{Place, code, publish};

/// How many releases each of the eight writers publishes.
const EACH: usize = 12;

/// How many releases are published when both nodes are up to date.
const MORE: u64 = 10;

/// More time than anything takes, however busy the machine is.
const AMPLE: Duration = Duration::from_mins(5);

/// Eight writers on two nodes: serials have no gaps, and each node sees what the other published
/// without being asked to.
pub(crate) fn follow_each_other(postgres: &Postgres) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let place = Place::services(folder.path(), postgres.database(), None);
    // Both start on the same empty database at once.
    let nodes: Vec<Arc<RegistryBackend>> = std::thread::scope(|scope| {
        let opening = [scope.spawn(|| place.open()), scope.spawn(|| place.open())];
        opening
            .map(|node| Arc::new(node.join().expect("no panic")))
            .into()
    });
    assert_eq!(nodes[0].identity(), nodes[1].identity());
    assert_eq!(nodes[0].config(), nodes[1].config());
    let background: Vec<Background> = nodes.iter().map(Background::start).collect();
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let node = &nodes[writer % 2];
            scope.spawn(move || {
                for number in 0..EACH {
                    let (name, version) = (format!("a.W{writer}"), format!("1.{number}.0"));
                    let bytes = archive(&name, &version, &[]);
                    publish(node, &name, &version, bytes).expect("a release");
                }
            });
        }
    });
    let all = 8 * EACH as u64;
    let begun = Instant::now();
    while nodes.iter().any(|node| node.serial() < all) {
        assert!(begun.elapsed() < AMPLE, "a node does not follow");
        std::thread::sleep(Duration::from_millis(5));
    }
    drop(background);
    assert_eq!(nodes[0].names(), nodes[1].names());
    for node in &nodes {
        let changes = node.changes(0, 10_000).expect("changes");
        let serials: Vec<u64> = changes.changes.iter().map(|change| change.serial).collect();
        assert_eq!(serials, (1..=all).collect::<Vec<_>>());
    }
    // Another node is notified of each further release: otherwise it would wait for a day.
    let (notified, notifications) = channel();
    let follower = place.open();
    let following = std::thread::spawn(move || {
        // The first call connects, and returns at once.
        loop {
            follower
                .wait_for_change(Duration::from_hours(24))
                .expect("a notification");
            let serial = follower.refresh().expect("a state");
            if notified.send(serial).is_err() || serial == all + MORE {
                return;
            }
        }
    });
    let wait_for = |serial: u64| {
        while notifications.recv_timeout(AMPLE).expect("a node follows") < serial {}
    };
    wait_for(all);
    for number in 1..=MORE {
        let version = format!("2.{number}.0");
        let bytes = archive("a.W0", &version, &[]);
        publish(&nodes[0], "a.W0", &version, bytes).expect("a release");
        wait_for(all + number);
    }
    following.join().expect("no panic");
}

/// A node that no longer sees the changes of others must not get requests, although it reaches everything.
#[test]
fn a_node_that_does_not_follow_the_others_is_not_ready() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let place = Place::files(folder.path());
    let registry = place.open();
    let after = |seconds: i64| {
        place.seconds.fetch_add(seconds, Ordering::Relaxed);
        registry.check().map_err(code)
    };
    assert_eq!(after(60), Ok(()), "it does not follow others yet");
    registry.follow(Duration::ZERO).expect("a state");
    assert_eq!(after(30), Ok(()));
    assert_eq!(after(1), Err(ProblemCode::Unavailable));
    registry.follow(Duration::ZERO).expect("a state");
    assert_eq!(after(0), Ok(()));
}

/// Two nodes that start at once on a new database, each with a folder of its own for the archives: one of them would not
/// have what the other publishes.
pub(crate) fn need_the_same_archives(postgres: &Postgres) {
    for _ in 0..5 {
        let database = postgres.database();
        let folders = [(); 2].map(|()| tempfile::tempdir().expect("a temporary folder"));
        let places = folders
            .each_ref()
            .map(|folder| Place::services(folder.path(), database.clone(), None));
        let opened: Vec<Result<RegistryBackend, OpenError>> = std::thread::scope(|scope| {
            let opening = places
                .each_ref()
                .map(|place| scope.spawn(|| place.try_open()));
            opening.map(|node| node.join().expect("no panic")).into()
        });
        let reasons: Vec<&str> = opened
            .iter()
            .filter_map(|opened| match opened {
                Ok(_) => None,
                Err(OpenError::NoArchives(reason)) => Some(reason.as_str()),
                Err(other) => panic!("{other}"),
            })
            .collect();
        let [reason] = reasons[..] else {
            panic!("one node starts: {reasons:?}");
        };
        assert!(reason.contains("were kept elsewhere before"), "{reason}");
    }
}
