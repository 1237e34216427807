//! A kill loses nothing that was acknowledged, and leaves nothing incomplete.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use pkgres_manifest::{ArtifactDigest, IndexRecord, Limits};
use pkgres_tests::archives::archive;
use pkgres_tests::random::Random;
use serde_json::Value;

use crate::server::{Connection, Server};

/// How often the server is killed, unless the variable `KILLS` sets another number.
const KILLS: u32 = 200;

/// How many clients publish at once.
const WRITERS: u32 = 3;

#[test]
fn no_acknowledged_release_is_lost_and_none_is_incomplete() {
    let kills = std::env::var("KILLS")
        .ok()
        .and_then(|text| text.parse().ok());
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().join("data");
    let next = AtomicU32::new(0);
    let acknowledged: Mutex<BTreeMap<String, String>> = Mutex::default();
    let mut random = Random::new(1);
    let mut cut_short = 0;
    for round in 0..kills.unwrap_or(KILLS) {
        let mut server = Server::start(&data, &[]);
        let token = Server::token(&data);
        let address = server.address().to_owned();
        // Some kills come before anything is published, others after a few publishes and at every point of
        // the next one, which takes a few milliseconds.
        let acknowledgements = random.below(4);
        let moment = Duration::from_micros(random.below(10_000) as u64);
        let (sender, receiver) = channel();
        let is_over = AtomicBool::new(false);
        let open = AtomicU32::new(0);
        std::thread::scope(|scope| {
            let (is_over, open, next) = (&is_over, &open, &next);
            let (address, token, acknowledged) = (&address, &token, &acknowledged);
            for _ in 0..WRITERS {
                let sender = sender.clone();
                scope.spawn(move || {
                    let Ok(mut connection) = Connection::open(address) else {
                        return;
                    };
                    while !is_over.load(Ordering::Relaxed) {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        // Some packages have many releases, and all define one class each.
                        let (name, version) =
                            (format!("a.P{}", number % 7), format!("1.{number}.0"));
                        let bytes = archive(&name, &version, &[]);
                        open.fetch_add(1, Ordering::Relaxed);
                        let answer = connection.ask(
                            "PUT",
                            &format!("/v1/packages/{name}/versions/{version}"),
                            &[
                                &format!("Authorization: Bearer {token}"),
                                "Content-Type: application/zip",
                            ],
                            &bytes,
                        );
                        let Ok((status, _, body)) = answer else {
                            return;
                        };
                        open.fetch_sub(1, Ordering::Relaxed);
                        assert_eq!(status, 201, "{}", String::from_utf8_lossy(&body));
                        let digest = ArtifactDigest::of_archive(&bytes).to_string();
                        let key = format!("{name} {version}");
                        acknowledged.lock().expect("no panic").insert(key, digest);
                        let _ = sender.send(());
                    }
                });
            }
            // Should a writer fail, its panic ends the test.
            drop(sender);
            let _ = receiver.iter().take(acknowledgements).count();
            std::thread::sleep(moment);
            server.process.kill().expect("a kill");
            is_over.store(true, Ordering::Relaxed);
        });
        cut_short += u32::from(open.load(Ordering::Relaxed) > 0);
        drop(server);
        // Checking everything each time would take ever longer.
        if round % 10 == 9 || round + 1 == kills.unwrap_or(KILLS) {
            check(&data, &acknowledged.lock().expect("no panic"));
        }
    }
    let acknowledged = acknowledged.into_inner().expect("no panic");
    assert!(acknowledged.len() > 20, "hardly anything was published");
    assert!(cut_short > 0, "no kill came during a publish");
}

/// Starts the server again and checks everything that it has.
fn check(data: &std::path::Path, acknowledged: &BTreeMap<String, String>) {
    let server = Server::start(data, &[]);
    let mut connection = server.connect();
    let mut get = |path: &str| {
        let (status, _, body) = connection.ask("GET", path, &[], b"").expect("an answer");
        assert_eq!(status, 200, "{path}");
        body
    };
    let text = |body: Vec<u8>| String::from_utf8(body).expect("text");
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    for line in text(get("/index/v1/names.ndjson")).lines() {
        let line: Value = serde_json::from_str(line).expect("a line");
        let name = line["name"].as_str().expect("a name");
        let address = name.replace('P', "!p");
        let document = get(&format!("/index/v1/packages/{address}.ndjson"));
        let digest = ArtifactDigest::of_archive(&document).to_string();
        assert_eq!(line["sha256"], digest.as_str());
        for line in text(document).lines() {
            let record = IndexRecord::parse_line(line, &Limits::default()).expect("a record");
            let digest = record.digest.expect("a digest").to_string();
            found.insert(format!("{name} {}", record.version), digest);
        }
        // The document of the class was rendered with the first release.
        get(&format!("/index/v1/classes/{address}.json"));
    }
    for (release, digest) in acknowledged {
        assert_eq!(
            found.get(release),
            Some(digest),
            "{release} was acknowledged"
        );
    }
    let artifacts: BTreeSet<&String> = found.values().collect();
    for digest in artifacts {
        let bytes = get(&format!("/blobs/sha256/{digest}"));
        assert_eq!(ArtifactDigest::of_archive(&bytes).to_string(), *digest);
    }
    // Each release is one change, and serials have no gaps.
    let mut since = 0;
    let mut changes = Vec::new();
    loop {
        let answer = text(get(&format!("/index/v1/changes?since={since}&limit=10000")));
        let answer: Value = serde_json::from_str(&answer).expect("a document");
        for change in answer["changes"].as_array().expect("a list") {
            since = change["serial"].as_u64().expect("a serial");
            changes.push(since);
        }
        if answer["serial"].as_u64() == Some(since) {
            break;
        }
    }
    assert_eq!(changes, (1..=found.len() as u64).collect::<Vec<_>>());
}
