//! An artifact that the store has lost, such as after a restore of an older backup.

// The test loses files.
#![allow(clippy::disallowed_methods)]

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use pkgres_registry_client::protocol::Digest;
use pkgres_registry_server::{OpenError, Problem, Published, RegistryOptions, Service};
use pkgres_tests::archives::archive;
use pkgres_tests::services::{self, ObjectStore};

use crate::support::{Place, publish, publish_plain};

#[test]
fn a_lost_artifact_is_stored_again_by_a_publish_of_the_same_bytes() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let registry = Arc::new(Place::files(folder.path()).open());
    let bytes = archive("org.acme.Web", "1.0.0", &[]);
    let digest = Digest::of(&bytes);
    publish(&registry, "org.acme.Web", "1.0.0", bytes.clone()).expect("a release");
    std::fs::remove_dir_all(folder.path().join("data/blobs/sha256")).expect("there are artifacts");
    assert_eq!(registry.artifact(&digest), Ok(None));

    // What does not need the archive still works, and what does says which one is lost.
    let page = page(&registry, "packages/org.acme.Web");
    assert!(page.contains("has lost the archive"), "{page}");
    let error = registry.export(|_, _| Ok::<_, Problem>(()));
    let error = error.expect_err("an artifact is missing").to_string();
    assert!(error.contains("org.acme.Web 1.0.0"), "{error}");

    let again = publish(&registry, "org.acme.Web", "1.0.0", bytes.clone());
    assert!(matches!(again, Ok(Published::Unchanged(_))), "{again:?}");
    assert_eq!(registry.artifact(&digest), Ok(Some(bytes.into())));
    assert_eq!(registry.serial(), 1);
}

#[test]
fn a_damaged_artifact_is_replaced_by_a_publish_of_the_same_bytes() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let place = Place::files(folder.path());
    let registry = place.open();
    let bytes = archive("org.acme.Web", "1.0.0", &[]);
    let digest = Digest::of(&bytes);
    publish(&registry, "org.acme.Web", "1.0.0", bytes.clone()).expect("a release");
    let name = digest.to_string();
    let file = folder.path().join("data/blobs/sha256").join(&name[..2]);
    let mut damaged = bytes.clone();
    *damaged.last_mut().expect("it is not empty") ^= 1;
    for content in [&damaged[..], &bytes[1..], &[&bytes[..], b"more"].concat()] {
        std::fs::write(file.join(&name), content).expect("an artifact");
        let error = registry.export(|_, _| Ok::<_, Problem>(()));
        let error = error.expect_err("an artifact is damaged").to_string();
        assert!(error.contains("org.acme.Web 1.0.0"), "{error}");
        let again = publish(&registry, "org.acme.Web", "1.0.0", bytes.clone());
        assert!(matches!(again, Ok(Published::Unchanged(_))), "{again:?}");
        assert_eq!(registry.artifact(&digest), Ok(Some(bytes.clone().into())));
    }
}

#[test]
fn a_damaged_object_is_replaced_by_a_publish_of_the_same_bytes() {
    let Some(objects) = services::object_store() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let place = Place::bucket(folder.path(), objects.bucket("damaged"));
    let registry = place.open();
    let bytes = archive("org.acme.Web", "1.0.0", &[]);
    let digest = Digest::of(&bytes);
    publish(&registry, "org.acme.Web", "1.0.0", bytes.clone()).expect("a release");
    let mut damaged = bytes.clone();
    *damaged.last_mut().expect("it is not empty") ^= 1;
    for content in [&damaged[..], &bytes[1..], &[&bytes[..], b"more"].concat()] {
        replace_object(&objects, &format!("damaged/sha256/{digest}"), content);
        assert_eq!(
            registry.artifact(&digest),
            Ok(Some(content.to_vec().into()))
        );
        let again = publish(&registry, "org.acme.Web", "1.0.0", bytes.clone());
        assert!(matches!(again, Ok(Published::Unchanged(_))), "{again:?}");
        assert_eq!(registry.artifact(&digest), Ok(Some(bytes.clone().into())));
    }
}

/// Replaces an object behind the back of the registry.
fn replace_object(objects: &ObjectStore, path: &str, content: &[u8]) {
    let mut stream = TcpStream::connect(("127.0.0.1", objects.port())).expect("it listens");
    let head = format!(
        "PUT /pkgres/{path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\nConnection: close\r\n\
         Authorization: AWS4-HMAC-SHA256 Credential=key/20270101/us-east-1/s3/aws4_request, SignedHeaders=host, \
         Signature=unchecked\r\n\r\n",
        content.len()
    );
    let request = [head.as_bytes(), content].concat();
    stream.write_all(&request).expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

/// A page that a browser asks for.
fn page(registry: &Arc<pkgres_registry_server::RegistryBackend>, path: &str) -> String {
    let service = Arc::new(Service::new(Arc::clone(registry)));
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let request = http::Request::get(format!("/{path}"))
        .header("host", "registry.example.org")
        .header("accept", "text/html")
        .body(Full::new(Bytes::new()))
        .expect("a request");
    runtime.expect("a runtime").block_on(async {
        let answer = service.answer(request).await;
        assert_eq!(answer.status(), 200);
        let body = answer.into_body().collect().await.expect("a body");
        String::from_utf8_lossy(&body.to_bytes()).into_owned()
    })
}

/// The files of a database.
const SUFFIXES: [&str; 3] = ["", "-wal", "-shm"];

/// Storage whose database is that of another registry, as after a restore in the wrong order.
#[test]
fn artifacts_outlive_the_wrong_database() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let place = Place::files(folder.path());
    let data = folder.path().join("data");
    let at = |name: &str| data.join(name);
    let bytes = archive("org.acme.Web", "1.0.0", &[]);
    let digest = Digest::of(&bytes);
    let registry = place.open();
    publish(&registry, "org.acme.Web", "1.0.0", bytes).expect("a release");
    drop(registry);
    let rename = |from: &str, to: &str| {
        for suffix in SUFFIXES {
            // What has not reached the database is in other files, if there is anything.
            let _ = std::fs::rename(at(&format!("{from}{suffix}")), at(&format!("{to}{suffix}")));
        }
    };
    let reason = || match place.try_open() {
        Err(OpenError::Foreign(reason)) => reason,
        Err(other) => panic!("{other}"),
        Ok(registry) => panic!("{:?}", registry.sweep()),
    };

    // The database is missing, with the mark and without. None is created.
    rename("registry.sqlite", "kept");
    let shown = reason();
    assert!(shown.contains("is missing"), "{shown}");
    std::fs::remove_file(at("blobs/registry-id")).expect("a mark");
    reason();
    assert!(!at("registry.sqlite").exists());

    // Another database, which has no releases.
    let other = tempfile::tempdir().expect("a temporary folder");
    let another = Place::files(other.path());
    drop(another.open());
    // The randomness of tests is always the same.
    another.execute("UPDATE facts SET value = 'another' WHERE name = 'registry'");
    for suffix in SUFFIXES {
        let (from, to) = (
            format!("registry.sqlite{suffix}"),
            at(&format!("registry.sqlite{suffix}")),
        );
        let _ = std::fs::copy(other.path().join("data").join(from), to);
    }
    let shown = reason();
    assert!(
        shown.contains("but the database is that of another"),
        "{shown}"
    );
    std::fs::remove_file(at("registry-id")).expect("a mark");
    let shown = reason();
    assert!(shown.contains("has no releases"), "{shown}");

    // The right one gets its marks, as an installation from before there were marks.
    rename("registry.sqlite", "other");
    rename("kept", "registry.sqlite");
    let options = RegistryOptions::default().with_orphan_seconds(0);
    let registry = place.open_with(options);
    for mark in ["registry-id", "blobs/registry-id"] {
        let marked = std::fs::read_to_string(at(mark)).expect("a mark");
        assert_eq!(marked.trim(), registry.identity());
    }

    // Archives that arrive below a running server, with the mark of their registry.
    let orphan = registry
        .put_artifact(b"orphan".to_vec())
        .expect("it is put");
    std::fs::write(at("blobs/registry-id"), "another\n").expect("a mark");
    let problem = registry.sweep().expect_err("it is not its own");
    assert!(format!("{problem:#}").contains("no artifact is removed"));
    for digest in [&digest, &orphan] {
        assert!(registry.artifact(digest).expect("an answer").is_some());
    }
}

/// Another folder for the archives than before, as with `--data` or `--blobs` of another installation.
#[test]
fn a_database_without_its_archives_is_not_served() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let place = Place::files(folder.path());
    let blobs = folder.path().join("data/blobs");
    let registry = place.open();
    publish_plain(&registry, "org.acme.Web", "1.0.0");
    drop(registry);
    std::fs::rename(&blobs, folder.path().join("kept")).expect("a folder");
    // Nothing is marked, so that the second start fails as the first.
    for _ in 0..2 {
        match place.try_open() {
            Err(OpenError::NoArchives(reason)) => {
                assert!(reason.contains("the database has releases"), "{reason}");
            }
            Err(other) => panic!("{other}"),
            Ok(registry) => panic!("{}", registry.identity()),
        }
        assert!(!blobs.join("registry-id").exists());
    }
    std::fs::remove_dir_all(&blobs).expect("an empty folder");
    std::fs::rename(folder.path().join("kept"), &blobs).expect("a folder");
    place.open();
}

/// Two servers with one database and a folder each, before anything is published.
#[test]
fn an_empty_database_is_not_served_with_other_archives() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let place = Place::files(folder.path());
    let blobs = folder.path().join("data/blobs");
    drop(place.open());
    std::fs::rename(&blobs, folder.path().join("kept")).expect("a folder");
    for _ in 0..2 {
        match place.try_open() {
            Err(OpenError::NoArchives(reason)) => {
                assert!(reason.contains("were kept elsewhere before"), "{reason}");
            }
            Err(other) => panic!("{other}"),
            Ok(registry) => panic!("{}", registry.identity()),
        }
        assert!(!blobs.join("registry-id").exists());
    }
    // As the error says.
    let id = std::fs::read_to_string(folder.path().join("kept/registry-id")).expect("an id");
    std::fs::write(blobs.join("registry-id"), id).expect("an id");
    place.open();
}

/// A folder whose administrator's token belongs to another registry.
#[test]
fn a_folder_with_the_token_of_another_registry_is_left_alone() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let place = Place::files(folder.path());
    std::fs::create_dir(folder.path().join("data")).expect("a folder");
    std::fs::write(folder.path().join("data/admin-token"), "secret\n").expect("a token");
    let opened = place.try_open().err();
    assert!(matches!(opened, Some(OpenError::Foreign(_))), "{opened:?}");
}

#[test]
fn a_bucket_that_does_not_exist_is_reported_at_the_start() {
    let Some(objects) = services::object_store() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let address = objects.bucket("any").replace("//pkgres/", "//missing/");
    let opened = Place::bucket(folder.path(), address).try_open().err();
    assert!(matches!(opened, Some(OpenError::Blobs(_))), "{opened:?}");
}
