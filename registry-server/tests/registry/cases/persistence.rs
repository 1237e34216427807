//! Persistence and removal of data.

use std::sync::atomic::Ordering;
use std::time::SystemTime;

use pkgres_registry_client::protocol::Digest;
use pkgres_registry_server::{OpenError, Problem, RegistryBackend, RegistryOptions};
use pkgres_tests::archives::archive;
use pkgres_tests::build::package;

use crate::support::{Place, publish, publish_plain};

pub(super) fn exported(place: &Place) {
    let options = RegistryOptions::default;
    let existing =
        || RegistryBackend::open_existing(&place.storage, options(), place.environment());
    assert!(matches!(existing(), Err(OpenError::Missing(_))));
    publish_plain(&place.open(), "org.acme.Web", "1.0.0");
    let registry = existing().expect("the registry is there");
    let mut paths = Vec::new();
    let exported = registry.export(|path, _| {
        paths.push(path);
        Ok::<_, Problem>(())
    });
    assert_eq!(exported.expect("it is exported").serial, 1);
    let artifacts = paths.iter().filter(|path| path.starts_with("blobs/"));
    assert_eq!(artifacts.count(), 1, "{paths:?}");
}

pub(super) fn reopened(place: &Place) {
    let registry = place.open();
    for number in 0..100 {
        let version = format!("1.0.{number}");
        let bytes = archive("org.acme.Web", &version, &[]);
        publish(&registry, "org.acme.Web", &version, bytes).expect("a release");
        let name = format!("org.acme.P{number}");
        publish_plain(&registry, &name, "1.0.0");
    }
    let seen = |registry: &RegistryBackend| {
        let identity = registry.identity().to_owned();
        (
            identity,
            registry.serial(),
            registry.names(),
            registry.config(),
        )
    };
    let before = seen(&registry);
    assert_eq!((before.1, registry.package_count()), (200, 101));
    drop(registry);
    assert_eq!(seen(&place.open()), before);
}

/// An operator restores a backup of the database while a node runs.
pub(super) fn restored(place: &Place) {
    let registry = place.open();
    let verified = || {
        let key = registry.config().keys[0];
        registry.snapshot().verify(&key).expect("a signature")
    };
    publish_plain(&registry, "a.Kept", "1.0.0");
    let (names, first) = (registry.names(), verified());
    publish_plain(&registry, "a.Lost", "1.0.0");
    let second = verified();
    place.execute(
        "DELETE FROM documents WHERE serial = 2; DELETE FROM changes WHERE serial = 2; \
         DELETE FROM catalog WHERE package = 'a.Lost'; DELETE FROM definitions WHERE package = 'a.Lost'; \
         DELETE FROM releases WHERE package = 'a.Lost'; DELETE FROM owners WHERE package = 'a.Lost'; \
         DELETE FROM packages WHERE name = 'a.Lost'; UPDATE counter SET serial = 1",
    );
    assert_eq!(registry.refresh(), Ok(1));
    // No state is signed that has documents of another one.
    assert_eq!((registry.names(), registry.package_count()), (names, 1));
    let again = verified();
    assert_eq!((again.serial, again.root), (first.serial, first.root));
    assert_eq!(registry.index_document(&package("a.Lost")), Ok(None));
    publish_plain(&registry, "a.Other", "1.0.0");
    let other = verified();
    assert_eq!(other.serial, second.serial);
    assert_ne!(other.root, second.root);
}

pub(super) fn newer_data(place: &Place) {
    drop(place.open());
    place.execute("INSERT INTO migrations (step) VALUES (1000)");
    let error = place.try_open().err().expect("the data are newer");
    let text = error.to_string();
    assert!(text.contains("the data have schema 1000"), "{text}");
    place.execute("DELETE FROM migrations WHERE step = 1000");
    drop(place.open());
}

/// To the database of another registry, all of them would be superfluous.
pub(super) fn artifacts_of_another_registry(place: &Place) {
    let registry = place.open();
    publish_plain(&registry, "a.B", "1.0.0");
    let identity = registry.identity().to_owned();
    drop(registry);
    let rename = |from: &str, to: &str| {
        place.execute(&format!(
            "UPDATE facts SET value = '{to}' WHERE value = '{from}'"
        ));
    };
    rename(&identity, "another");
    let fresh = tempfile::tempdir().expect("a temporary folder");
    for data in [place.storage.data.as_path(), fresh.path()] {
        let mut storage = place.storage.clone();
        if storage.database.is_some() {
            data.clone_into(&mut storage.data);
        }
        let options = RegistryOptions::default();
        let opened = RegistryBackend::open(&storage, options, place.environment());
        let reason = match opened.err() {
            Some(OpenError::Foreign(reason)) => reason,
            other => panic!("{other:?}"),
        };
        assert!(
            reason.contains(&identity) && reason.contains("another"),
            "{reason}"
        );
    }
    rename("another", &identity);
    drop(place.open());
}

pub(super) fn swept(place: &Place) {
    let options = RegistryOptions::default().with_orphan_seconds(0);
    let registry = place.open_with(options);
    let kept = archive("a.B", "1.0.0", &[]);
    publish(&registry, "a.B", "1.0.0", kept.clone()).expect("a release");
    let orphan = registry
        .put_artifact(b"orphan".to_vec())
        .expect("an artifact");
    assert!(registry.artifact(&orphan).expect("an answer").is_some());
    assert_eq!(registry.sweep(), Ok(1));
    assert_eq!(registry.artifact(&orphan), Ok(None));
    assert!(
        registry
            .artifact(&Digest::of(&kept))
            .expect("an answer")
            .is_some()
    );
    // A young artifact may still get a release. Its age is by the clock of the registry.
    drop(registry);
    let registry = place.open();
    let young = registry
        .put_artifact(b"young".to_vec())
        .expect("an artifact");
    let written = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .expect("a time after 1970");
    let written = i64::try_from(written.as_secs()).expect("a time");
    let limit = i64::try_from(RegistryOptions::default().orphan_seconds).expect("a day");
    for (seconds, removed) in [
        (written - limit, 0),
        (written + limit - 60, 0),
        (written + limit + 60, 1),
    ] {
        place.seconds.store(seconds, Ordering::Relaxed);
        assert_eq!(registry.sweep(), Ok(removed), "{}", seconds - written);
        let is_there = registry.artifact(&young).expect("an answer").is_some();
        assert_eq!(is_there, removed == 0);
    }
}
