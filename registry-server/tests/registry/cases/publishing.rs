//! Publishing, by one writer and by many, and invalid releases.

use std::sync::Barrier;
use std::sync::atomic::Ordering;

use pkgres_manifest::IndexRecord;
use pkgres_registry_client::protocol::{ChangeKind, Digest};
use pkgres_registry_server::{
    Principal, Problem, ProblemCode, Published, RegistryOptions, RequirementCheck,
};
use pkgres_tests::archives::{archive, archive_with, files};
use pkgres_tests::build;

use super::reading::records;
use crate::support::{Place, code, publish, publish_plain};

pub(super) fn published_once(place: &Place) {
    let registry = place.open();
    let bytes = archive("org.acme.Web", "1.0.0", &[]);
    let first = publish(&registry, "org.acme.Web", "1.0.0", bytes.clone());
    let Ok(Published::Created(record)) = first else {
        panic!("{first:?}");
    };
    assert_eq!(record.size, Some(bytes.len() as u64));
    assert_eq!(record.published.as_deref(), Some("2027-01-15T08:00:00Z"));
    assert_eq!(registry.serial(), 1);
    // The same bytes change nothing, not even the time.
    place.seconds.fetch_add(60, Ordering::Relaxed);
    let again = publish(&registry, "org.acme.Web", "1.0.0", bytes.clone());
    assert_eq!(again, Ok(Published::Unchanged(record)));
    assert_eq!(registry.serial(), 1);
    // Other bytes are a conflict, even for a version that differs only in build metadata.
    let other = archive_with("org.acme.Web", "1.0.0", &[], "other");
    let twin = archive("org.acme.Web", "1.0.0+twin", &[]);
    let conflict = Err(ProblemCode::VersionExists);
    assert_eq!(publish(&registry, "org.acme.Web", "1.0.0", other), conflict);
    assert_eq!(
        publish(&registry, "org.acme.Web", "1.0.0+twin", twin),
        conflict
    );
    let kept = registry
        .artifact(&Digest::of(&bytes))
        .expect("the artifact")
        .expect("is there");
    assert_eq!(kept, bytes);
}

pub(super) fn one_wins(place: &Place) {
    let registry = place.open();
    let start = Barrier::new(8);
    let outcomes: Vec<Result<Published, ProblemCode>> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..8)
            .map(|number| {
                let (registry, start) = (&registry, &start);
                scope.spawn(move || {
                    let note = format!("by {number}");
                    let bytes = archive_with("org.acme.Web", "1.0.0", &[], &note);
                    start.wait();
                    publish(registry, "org.acme.Web", "1.0.0", bytes)
                })
            })
            .collect();
        writers
            .into_iter()
            .map(|writer| writer.join().expect("no panic"))
            .collect()
    });
    let winners: Vec<&IndexRecord> = outcomes
        .iter()
        .filter_map(|outcome| match outcome {
            Ok(Published::Created(record)) => Some(record),
            Ok(Published::Unchanged(record)) => panic!("these bytes were sent once: {record:?}"),
            Err(code) => {
                assert_eq!(*code, ProblemCode::VersionExists);
                None
            }
        })
        .collect();
    assert_eq!(winners.len(), 1);
    assert_eq!(records(&registry, "org.acme.Web"), [winners[0].clone()]);
    assert_eq!(registry.serial(), 1);
}

pub(super) fn gapless(place: &Place) {
    let registry = place.open();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let registry = &registry;
            scope.spawn(move || {
                for number in 0..10 {
                    // Every other one loses against another writer.
                    let owner = if number % 2 == 0 { writer } else { 0 };
                    let version = format!("1.{number}.{owner}");
                    let note = format!("by {writer}");
                    let bytes = archive_with("org.acme.Web", &version, &[], &note);
                    let _ = publish(registry, "org.acme.Web", &version, bytes);
                }
            });
        }
    });
    let changes = registry.changes(0, 10_000).expect("changes");
    let serials: Vec<u64> = changes.changes.iter().map(|change| change.serial).collect();
    assert_eq!(serials, (1..=changes.serial).collect::<Vec<_>>());
    assert_eq!(serials.len(), records(&registry, "org.acme.Web").len());
    assert_eq!(serials.len(), 25);
}

pub(super) fn invalid(place: &Place) {
    let registry = place.open();
    let good = archive("org.acme.Web", "1.0.0", &[]);
    let mut cut = good.clone();
    cut.truncate(good.len() - 1);
    let mut longer = good.clone();
    longer.push(0);
    let mut flipped = good.clone();
    flipped[40] ^= 1;
    let no_manifest = files(&[("readme.txt", b"hello")]);
    let no_class = files(&[(
        "manifest.yaml",
        b"FullName: org.acme.Web\nVersion: 1.0.0\nClasses: {org.acme.Web: Web.yaml}\n",
    )]);
    for (bytes, expected) in [
        (Vec::new(), ProblemCode::PackageInvalid),
        (b"PK".to_vec(), ProblemCode::PackageInvalid),
        (cut, ProblemCode::PackageInvalid),
        (longer, ProblemCode::PackageInvalid),
        (flipped, ProblemCode::PackageInvalid),
        (no_manifest, ProblemCode::PackageInvalid),
        (no_class, ProblemCode::PackageInvalid),
        (
            archive("org.acme.Web", "1.0.1", &[]),
            ProblemCode::ReleaseMismatch,
        ),
        (
            archive("org.acme.Wob", "1.0.0", &[]),
            ProblemCode::ReleaseMismatch,
        ),
    ] {
        let length = bytes.len();
        let digest = Digest::of(&bytes);
        let outcome = publish(&registry, "org.acme.Web", "1.0.0", bytes);
        assert_eq!(outcome, Err(expected), "{length} bytes");
        assert_eq!(registry.artifact(&digest), Ok(None));
    }
    assert_eq!((registry.serial(), registry.package_count()), (0, 0));
}

pub(super) fn folded(place: &Place) {
    let registry = place.open();
    publish_plain(&registry, "org.acme.Web", "1.0.0");
    let other = archive("org.acme.web", "2.0.0", &[]);
    let outcome = publish(&registry, "org.acme.web", "2.0.0", other);
    assert_eq!(outcome, Err(ProblemCode::NameTaken));
    assert_eq!(registry.package_count(), 1);
}

pub(super) fn satisfiable(place: &Place) {
    let registry = place.open();
    let web = || {
        archive(
            "org.acme.Web",
            "1.0.0",
            &[("org.acme.Db", "2"), ("io.murano", ">=3")],
        )
    };
    let outcome = publish(&registry, "org.acme.Web", "1.0.0", web());
    assert_eq!(outcome, Err(ProblemCode::Unsatisfiable));
    publish(
        &registry,
        "org.acme.Db",
        "1.0.0",
        archive("org.acme.Db", "1.0.0", &[]),
    )
    .expect("ok");
    let outcome = publish(&registry, "org.acme.Web", "1.0.0", web());
    assert_eq!(
        outcome,
        Err(ProblemCode::Unsatisfiable),
        "there is no version 2"
    );
    let (name, version) = (build::package("org.acme.Web"), build::version("1.0.0"));
    let problem = registry
        .publish(
            &Principal::operator(),
            &name,
            &version,
            &web().into(),
            RequirementCheck::Required,
        )
        .expect_err("there is no version 2");
    assert!(
        problem.hints[0].contains("1.0.0") && !problem.detail.contains("hint:"),
        "{problem:?}"
    );
    // The publisher has the manifest elsewhere.
    assert!(!format!("{problem:?}").contains(".zip"), "{problem:?}");
    assert_eq!(registry.artifact(&Digest::of(&web())), Ok(None));
    publish(
        &registry,
        "org.acme.Db",
        "2.1.0",
        archive("org.acme.Db", "2.1.0", &[]),
    )
    .expect("ok");
    publish(&registry, "org.acme.Web", "1.0.0", web()).expect("now it can be satisfied");
    // Two packages that require each other: one has to come first.
    let (one, two) = (build::package("a.One"), build::package("a.Two"));
    let first = archive("a.One", "1.0.0", &[("a.Two", "1")]);
    let version = build::version("1.0.0");
    let operator = Principal::operator();
    let outcome = registry.publish(
        &operator,
        &one,
        &version,
        &first.clone().into(),
        RequirementCheck::Required,
    );
    assert_eq!(outcome.map_err(code), Err(ProblemCode::Unsatisfiable));
    registry
        .publish(
            &operator,
            &one,
            &version,
            &first.into(),
            RequirementCheck::Skipped,
        )
        .expect("it was allowed");
    let second = archive("a.Two", "1.0.0", &[("a.One", "1")]);
    registry
        .publish(
            &operator,
            &two,
            &version,
            &second.into(),
            RequirementCheck::Required,
        )
        .expect("both are there");
}

pub(super) fn yanked(place: &Place) {
    let registry = place.open();
    for version in ["1.0.0", "1.1.0"] {
        publish_plain(&registry, "org.acme.Web", version);
    }
    let (name, version) = (build::package("org.acme.Web"), build::version("1.1.0"));
    let operator = Principal::operator();
    let yank = |reason| {
        registry
            .set_yanked(&operator, &name, &version, reason)
            .map_err(code)
    };
    let before = registry.index_document(&name);
    let updated = || registry.package(&name).expect("a package").updated;
    let published = updated();
    place.seconds.fetch_add(1, Ordering::Relaxed);
    assert_eq!(yank(Some("it loses data")), Ok(true));
    let yanked = updated();
    assert!(yanked > published, "{yanked}");
    place.seconds.fetch_add(1, Ordering::Relaxed);
    assert_eq!(yank(Some("it loses data")), Ok(false));
    assert_eq!(updated(), yanked);
    let states: Vec<bool> = records(&registry, "org.acme.Web")
        .iter()
        .map(|record| record.yanked)
        .collect();
    assert_eq!(states, [false, true]);
    let release = registry.release(&name, &version).expect("a release");
    assert_eq!(release.yank_reason.as_deref(), Some("it loses data"));
    // A yanked release still counts as published.
    let same = archive("org.acme.Web", "1.1.0", &[]);
    let again = publish(&registry, "org.acme.Web", "1.1.0", same);
    assert!(matches!(again, Ok(Published::Unchanged(record)) if record.yanked));
    assert_eq!(yank(None), Ok(true));
    assert!(updated() > yanked);
    assert_eq!(yank(None), Ok(false));
    assert_eq!(registry.index_document(&name), before);
    let kinds: Vec<ChangeKind> = registry
        .changes(2, 9)
        .expect("changes")
        .changes
        .iter()
        .map(|change| change.kind)
        .collect();
    assert_eq!(kinds, [ChangeKind::Yank, ChangeKind::Unyank]);
    assert_eq!(registry.serial(), 4);
    let missing = build::version("9.0.0");
    let outcome = registry
        .set_yanked(&operator, &name, &missing, None)
        .map_err(code);
    assert_eq!(outcome, Err(ProblemCode::NoSuchVersion));
    let outcome = registry.set_yanked(&operator, &build::package("a.B"), &missing, None);
    assert_eq!(outcome.map_err(code), Err(ProblemCode::NoSuchPackage));
    assert_eq!(registry.serial(), 4);
}

/// A release whose line is longer than clients read is invalid.
pub(super) fn too_long_for_the_index(place: &Place) {
    let length = {
        let registry = place.open();
        publish_plain(&registry, "a.Fits", "1.0.0");
        records(&registry, "a.Fits")[0].to_line().len() as u64
    };
    let mut options = RegistryOptions::default();
    options.read.limits.index_line_bytes = length + r#","yanked":true"#.len() as u64;
    let registry = place.open_with(options);
    let publish = |name: &str, version: &str| {
        publish(&registry, name, version, archive(name, version, &[])).map(|_| ())
    };
    assert_eq!(
        publish("a.TooLong", "1.0.0"),
        Err(ProblemCode::PackageInvalid)
    );
    assert_eq!(registry.serial(), 1);
    // A release that just fits can still be yanked.
    assert_eq!(publish("a.Fits", "1.1.0"), Ok(()));
    let (name, version) = (build::package("a.Fits"), build::version("1.1.0"));
    let yanked = registry.set_yanked(
        &Principal::operator(),
        &name,
        &version,
        Some("it does nothing"),
    );
    assert_eq!(yanked, Ok(true));
    assert_eq!(records(&registry, "a.Fits").len(), 2);
}

/// Clients could read none of the releases any more.
pub(super) fn too_long_for_a_document(place: &Place) {
    let registry = place.open_with(RegistryOptions::default().with_document_bytes(2_000));
    let publish = |at: usize| {
        let version = format!("1.{at}.0");
        let bytes = archive("a.Many", &version, &[]);
        publish(&registry, "a.Many", &version, bytes).map(|_| ())
    };
    let accepted = (0..100).take_while(|at| publish(*at).is_ok()).count();
    assert!((2..50).contains(&accepted), "{accepted}");
    assert_eq!(publish(accepted), Err(ProblemCode::PackageInvalid));
    assert_eq!(records(&registry, "a.Many").len(), accepted);
    assert_eq!(registry.serial(), accepted as u64);
    // What is there can still be yanked, and other packages have documents of their own.
    let (name, version) = (build::package("a.Many"), build::version("1.0.0"));
    let yanked = registry.set_yanked(&Principal::operator(), &name, &version, None);
    assert_eq!(yanked, Ok(false), "nothing to undo");
    let yanked = registry.set_yanked(&Principal::operator(), &name, &version, Some("it is old"));
    assert_eq!(yanked, Ok(true));
    publish_plain(&registry, "a.Other", "1.0.0");
}

/// A static mirror has a file for each package and each class.
pub(super) fn too_long_for_a_file(place: &Place) {
    let registry = place.open();
    let long = |length: usize| format!("a.{}", "b".repeat(length - 2));
    let published =
        |name: &str, bytes: Vec<u8>| publish(&registry, name, "1.0.0", bytes).map(|_| ());
    let invalid = Err(ProblemCode::PackageInvalid);
    let name = long(249);
    assert_eq!(published(&name, archive(&name, "1.0.0", &[])), invalid);
    let manifest = format!(
        "Type: Library\nFullName: a.Short\nVersion: 1.0.0\nClasses: {{{}: C.yaml}}\n",
        long(249)
    );
    let class = format!("Name: {}\n", long(249));
    let class_too_long = files(&[
        ("manifest.yaml", manifest.as_bytes()),
        ("Classes/C.yaml", class.as_bytes()),
    ]);
    assert_eq!(published("a.Short", class_too_long), invalid);
    assert_eq!(registry.serial(), 0);
    let name = long(200);
    assert_eq!(published(&name, archive(&name, "1.0.0", &[])), Ok(()));
    let exported = registry.export(|path, _| {
        let mut parts = path.split('/');
        assert!(parts.all(|part| part.len() <= 255), "{path}");
        Ok::<_, Problem>(())
    });
    assert_eq!(exported.expect("it is exported").serial, 1);
}

/// Not every database can store the character NUL: for all of them it is an error of the client.
pub(super) fn nul(place: &Place) {
    let registry = place.open();
    let bytes = archive("a.Web", "1.0.0", &[]);
    publish(&registry, "a.Web", "1.0.0", bytes).expect("a release");
    let (name, version) = (build::package("a.Web"), build::version("1.0.0"));
    let yanked = registry.set_yanked(&Principal::operator(), &name, &version, Some("a\0b"));
    assert_eq!(yanked.map_err(code), Err(ProblemCode::BodyInvalid));
    assert_eq!(registry.serial(), 1);
}
