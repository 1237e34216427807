//! Removing artifacts while others publish, with a slow bucket.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use pkgres_registry_client::protocol::Digest;
use pkgres_registry_server::{Principal, ProblemCode, Published, RegistryBackend, RegistryOptions};
use pkgres_tests::archives::archive;
use pkgres_tests::build;
use pkgres_tests::services::{self, ObjectStore};

use crate::proxy::{Held, Proxy};
use crate::support::{Place, code, publish, publish_plain};

/// The method that removes an artifact: a list is posted.
const REMOVAL: &str = "POST";

/// A registry whose bucket is behind a proxy, and for which every artifact without a release is old.
fn behind_a_proxy(place: &Place) -> Arc<RegistryBackend> {
    Arc::new(place.open_with(at_once()))
}

fn at_once() -> RegistryOptions {
    RegistryOptions::default()
        .with_orphan_seconds(0)
        .with_removal_timeout(AMPLE)
}

/// More time than anything takes, however busy the machine is.
const AMPLE: Duration = Duration::from_mins(5);

fn with_a_proxy(folder: &tempfile::TempDir, objects: &ObjectStore) -> (Place, Proxy) {
    let proxy = Proxy::before(objects.port());
    let bucket = objects.bucket_at("proxy", proxy.port());
    (Place::bucket(folder.path(), bucket), proxy)
}

/// Runs work on another thread. Returns where its outcome arrives.
fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Receiver<T> {
    let (done, outcome) = channel();
    std::thread::spawn(move || done.send(work()));
    outcome
}

/// The outcome of something that waits for nothing.
fn ended<T>(outcome: &Receiver<T>) -> T {
    outcome.recv_timeout(AMPLE).expect("it ends")
}

fn publishing(
    registry: &Arc<RegistryBackend>,
    name: &'static str,
) -> Receiver<Result<(), ProblemCode>> {
    let registry = Arc::clone(registry);
    aside(move || publish(&registry, name, "1.0.0", archive(name, "1.0.0", &[])).map(|_| ()))
}

fn sweeping(registry: &Arc<RegistryBackend>) -> Receiver<Result<usize, ProblemCode>> {
    let registry = Arc::clone(registry);
    aside(move || registry.sweep().map_err(code))
}

fn has_artifact(registry: &RegistryBackend, name: &str) -> bool {
    let digest = Digest::of(&archive(name, "1.0.0", &[]));
    registry.artifact(&digest).expect("an answer").is_some()
}

/// Probes get an answer whatever the bucket does, and do not pile up.
#[test]
fn a_probe_does_not_wait_for_the_bucket() {
    let Some(objects) = services::object_store() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (place, proxy) = with_a_proxy(&folder, &objects);
    let registry = behind_a_proxy(&place);
    assert_eq!(registry.check(), Ok(()));
    proxy.hold(Held::Requests("GET"));
    place.seconds.fetch_add(60, Ordering::Relaxed);
    let checking = Arc::clone(&registry);
    let first = aside(move || checking.check().map_err(code));
    proxy.wait();
    // The last outcome counts while the first one waits.
    assert_eq!(registry.check(), Ok(()));
    assert_eq!(ended(&first), Err(ProblemCode::Unavailable));
    assert_eq!(
        registry.check().map_err(code),
        Err(ProblemCode::Unavailable)
    );
    proxy.open();
    place.seconds.fetch_add(60, Ordering::Relaxed);
    assert_eq!(registry.check(), Ok(()));
}

#[test]
fn writers_do_not_wait_for_the_bucket() {
    let Some(objects) = services::object_store() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (place, proxy) = with_a_proxy(&folder, &objects);
    let registry = behind_a_proxy(&place);
    publish_plain(&registry, "a.Old", "1.0.0");
    let late = archive("a.Late", "1.0.0", &[]);
    registry.put_artifact(late).expect("an artifact");

    // While an artifact is being removed, others are published; its own release waits.
    proxy.hold(Held::Requests(REMOVAL));
    let sweep = sweeping(&registry);
    proxy.wait();
    let waiting = publishing(&registry, "a.Late");
    assert_eq!(ended(&publishing(&registry, "a.Other")), Ok(()));
    assert_eq!(waiting.try_recv(), Err(TryRecvError::Empty));
    proxy.open();
    assert_eq!(ended(&sweep), Ok(1));
    assert_eq!(ended(&waiting), Ok(()));
    assert!(has_artifact(&registry, "a.Late") && has_artifact(&registry, "a.Other"));

    // While an artifact arrives, others are yanked.
    for held in [
        Held::Requests("PUT"),
        Held::Responses("PUT"),
        Held::Requests("HEAD"),
    ] {
        proxy.hold(held);
        let name = match held {
            Held::Requests("PUT") => "a.First",
            Held::Responses(_) => "a.Second",
            Held::Requests(_) => "a.Third",
        };
        let slow = publishing(&registry, name);
        let is_asked = held != Held::Requests("HEAD");
        if is_asked {
            proxy.wait();
        } else {
            // A publish sends no other request to the bucket.
            assert_eq!(ended(&slow), Ok(()));
        }
        let yanking = {
            let registry = Arc::clone(&registry);
            let (old, version) = (build::package("a.Old"), build::version("1.0.0"));
            aside(move || registry.set_yanked(&Principal::operator(), &old, &version, Some(name)))
        };
        assert_eq!(ended(&yanking), Ok(true));
        proxy.open();
        if is_asked {
            assert_eq!(ended(&slow), Ok(()));
        }
        assert!(has_artifact(&registry, name));
    }
}

/// The artifact is there when it is put, and gone when its release is made.
#[test]
fn an_artifact_that_is_removed_during_a_publish_is_put_again() {
    let Some(objects) = services::object_store() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (place, proxy) = with_a_proxy(&folder, &objects);
    let registry = behind_a_proxy(&place);
    let late = archive("a.Late", "1.0.0", &[]);
    registry.put_artifact(late).expect("an artifact");
    proxy.hold(Held::Responses("PUT"));
    let slow = publishing(&registry, "a.Late");
    proxy.wait();
    assert_eq!(ended(&sweeping(&registry)), Ok(1));
    assert!(!has_artifact(&registry, "a.Late"));
    proxy.open();
    assert_eq!(ended(&slow), Ok(()));
    assert!(has_artifact(&registry, "a.Late"));
    assert_eq!(ended(&sweeping(&registry)), Ok(0));
}

/// The digests of releases are read in pages.
#[test]
fn artifacts_of_many_releases_stay() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let place = Place::files(folder.path());
    let registry = place.open_with(at_once());
    publish_plain(&registry, "a.Many", "1.0.0");
    let digests: Vec<_> = (0..64_u8)
        .map(|number| registry.put_artifact(vec![number]).expect("it is put"))
        .collect();
    let (orphan, kept) = digests.split_last().expect("there are some");
    let add = |version: String, digest: &str| {
        format!(
            "INSERT INTO releases (package, version, record, sha256, size, published, token) \
             VALUES ('a.Many', '{version}', '', '{digest}', 1, '', '');"
        )
    };
    let mut statements = "BEGIN;".to_owned();
    for (number, digest) in kept.iter().enumerate() {
        statements += &add(format!("2.0.{number}"), &digest.to_string());
    }
    for number in 0..3000_u32 {
        let digest = Digest::of(&number.to_be_bytes());
        statements += &add(format!("3.0.{number}"), &digest.to_string());
    }
    place.execute(&(statements + "COMMIT;"));
    assert_eq!(registry.sweep(), Ok(1));
    assert_eq!(registry.artifact(orphan), Ok(None));
    for digest in kept {
        assert!(registry.artifact(digest).expect("an answer").is_some());
    }
    assert!(has_artifact(&registry, "a.Many"));
}

/// A process was killed between the two records of a removal.
#[test]
fn an_abandoned_removal_is_finished() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let place = Place::files(folder.path());
    let registry = place.open_with(at_once());
    let late = archive("a.Late", "1.0.0", &[]);
    let more = registry.put_artifact(b"more".to_vec()).expect("it is put");
    let late_digest = registry.put_artifact(late.clone()).expect("it is put");
    let database = place.storage.data.join("registry.sqlite");
    let database = rusqlite::Connection::open(database).expect("a database");
    let left = |digest: &Digest| {
        let statement = "INSERT INTO removals (sha256, id, node, at, is_over) \
                         VALUES (?1, 'left', 'killed', 1800000000, 0)";
        database
            .execute(statement, [digest.to_string()])
            .expect("a row")
    };
    left(&more);
    left(&late_digest);
    publish(&registry, "a.Late", "1.0.0", late).expect("a release");
    assert!(has_artifact(&registry, "a.Late"));
    // The other removal is finished as well.
    drop(registry);
    let registry = place.open();
    assert_eq!(registry.sweep(), Ok(1));
    assert_eq!(registry.artifact(&more), Ok(None));
    assert!(has_artifact(&registry, "a.Late"));
    let rows = || -> i64 {
        let statement = "SELECT COUNT(*) FROM removals";
        let row = database.query_row(statement, [], |row| row.get(0));
        row.expect("a count")
    };
    assert_eq!(rows(), 2);
    // Removals that ended are forgotten after a day.
    let day = 24 * 3600;
    let seconds = &place.seconds;
    seconds.fetch_add(day, Ordering::Relaxed);
    assert_eq!((registry.sweep(), rows()), (Ok(0), 0));
}

/// Releases that come and go while everything without one is removed, again and again.
pub(crate) fn never_from_under_a_release(place: &Place) {
    let registry = place.open_with(at_once());
    let bytes = archive("a.Late", "1.0.0", &[]);
    let digest = Digest::of(&bytes);
    let id: String = digest.to_string().chars().take(32).collect();
    let is_over = Mutex::new(false);
    let swept = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let sweepers = [(); 2].map(|()| {
            scope.spawn(|| {
                while !*is_over.lock().expect("no panic") {
                    let count = registry.sweep().expect("it sweeps");
                    swept.fetch_add(count, Ordering::Relaxed);
                }
            })
        });
        let publisher = scope.spawn(|| {
            for _ in 0..20 {
                loop {
                    match publish(&registry, "a.Late", "1.0.0", bytes.clone()) {
                        Ok(made) => {
                            assert!(matches!(made, Published::Created(_)));
                            break;
                        }
                        // It was removed too often.
                        Err(code) => assert_eq!(code, ProblemCode::Unavailable),
                    }
                }
                for _ in 0..3 {
                    let found = registry.artifact(&digest).expect("an answer");
                    assert!(found.is_some(), "a release without its artifact");
                }
                registry
                    .delete(&Principal::operator(), &id)
                    .expect("it is deleted");
                // From the second round on, the sweepers are at work.
                let begun = Instant::now();
                while swept.load(Ordering::Relaxed) == 0 {
                    assert!(begun.elapsed() < AMPLE, "nothing is removed");
                    std::thread::yield_now();
                }
            }
        });
        let outcome = publisher.join();
        *is_over.lock().expect("no panic") = true;
        for sweeper in sweepers {
            sweeper.join().expect("no panic");
        }
        outcome.expect("no panic");
    });
}
