//! Several nodes on one database.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pkgres_registry_server::{Background, RegistryBackend};
use pkgres_tests::archives::archive;
use pkgres_tests::services::Postgres;

use crate::support::{Place, publish};

/// How many releases each of the eight writers publishes.
const EACH: usize = 12;

/// Eight writers on two nodes: serials have no gaps, and each node sees what the other published,
/// soon and without being asked to.
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
        assert!(
            begun.elapsed() < Duration::from_secs(20),
            "a node does not follow"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(nodes[0].names(), nodes[1].names());
    for node in &nodes {
        let changes = node.changes(0, 10_000).expect("changes");
        let serials: Vec<u64> = changes.changes.iter().map(|change| change.serial).collect();
        assert_eq!(serials, (1..=all).collect::<Vec<_>>());
    }
    // One more, which the other node is told of: it does not wait for its next look.
    let mut slowest = Duration::ZERO;
    for number in 0..10 {
        let version = format!("2.{number}.0");
        let bytes = archive("a.W0", &version, &[]);
        publish(&nodes[0], "a.W0", &version, bytes).expect("a release");
        let begun = Instant::now();
        while nodes[1].serial() < nodes[0].serial() {
            assert!(
                begun.elapsed() < Duration::from_secs(20),
                "a node does not follow"
            );
            std::thread::sleep(Duration::from_millis(1));
        }
        slowest = slowest.max(begun.elapsed());
    }
    assert!(slowest < Duration::from_millis(1500), "{slowest:?}");
    drop(background);
}
