//! The cases.

use std::collections::BTreeSet;
use std::sync::Barrier;
use std::sync::atomic::Ordering;

use pkgres_manifest::{IndexReader, IndexRecord, Limits};
use pkgres_registry_client::protocol::{
    BatchRequest, ChangeKind, ClassDocument, Digest, Frame, FrameDecoder, FrameLimits,
    IndexDocument, MerkleTree, NamesLine, ProvedNodes, leaf_hash,
};
use pkgres_registry_server::{Actor, NewToken, ProblemCode, Published, Registry, Scope, Settings};
use pkgres_tests::archives::{archive, archive_with, files};
use pkgres_tests::build;

use crate::support::{Place, actor, code, publish, publish_as};

type Case = fn(&Place);

pub(crate) const CASES: &[(&str, Case)] = &[
    ("a release is published once", published_once),
    ("what is published is there after opening again", reopened),
    ("documents say what was published", documents),
    ("one of many writers of a version wins", one_wins),
    ("serials have no gaps", gapless),
    ("a refused release leaves nothing behind", refused),
    ("names that differ in case alone", folded),
    ("requirements have to be satisfiable", satisfiable),
    ("yanking and taking it back", yanked),
    ("owners", owners),
    ("tokens", tokens),
    ("the first token is made once", first_token),
    ("a batch is of one state", batch),
    ("snapshots are signed anew", snapshots),
    ("search", search_and_dependants),
    ("deleting releases", crate::catalog::deleted),
    ("the release for a spec", crate::catalog::chosen),
    ("artifacts without a release are removed", swept),
];

fn published_once(place: &Place) {
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
    // Others are refused, also under a version that differs in build metadata alone.
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

fn reopened(place: &Place) {
    let registry = place.open();
    for number in 0..100 {
        let version = format!("1.0.{number}");
        let bytes = archive("org.acme.Web", &version, &[]);
        publish(&registry, "org.acme.Web", &version, bytes).expect("a release");
        let name = format!("org.acme.P{number}");
        publish(&registry, &name, "1.0.0", archive(&name, "1.0.0", &[])).expect("a release");
    }
    let seen = |registry: &Registry| {
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

/// The records of a package as a client reads them.
fn records(registry: &Registry, name: &str) -> Vec<IndexRecord> {
    let name = build::package(name);
    let document = registry
        .index_document(&name)
        .expect("an answer")
        .expect("a package");
    let mut reader = IndexReader::new(Limits::default());
    IndexDocument::parse("index", &document, &name, &mut reader).expect("a document")
}

fn documents(place: &Place) {
    let registry = place.open();
    let name = build::package("org.acme.Web");
    assert_eq!(registry.index_document(&name), Ok(None));
    for version in ["1.10.0", "1.9.0", "2.0.0-rc.1", "1.9.1"] {
        publish(
            &registry,
            "org.acme.Web",
            version,
            archive("org.acme.Web", version, &[]),
        )
        .expect("a release");
    }
    let records = records(&registry, "org.acme.Web");
    let versions: Vec<String> = records
        .iter()
        .map(|record| record.version.to_string())
        .collect();
    assert_eq!(versions, ["1.9.0", "1.9.1", "1.10.0", "2.0.0-rc.1"]);
    assert!(records[0].exports(&build::class("org.acme.Web")));

    let lines = NamesLine::parse_all(&registry.names()).expect("lines");
    let document = registry
        .index_document(&name)
        .expect("an answer")
        .expect("a package");
    assert_eq!(lines[0].sha256, Digest::of(&document));

    let class = build::class("org.acme.Web");
    let document = registry
        .class_document(&class)
        .expect("an answer")
        .expect("a class");
    let read = ClassDocument::parse(&document).expect("a document");
    assert_eq!(read.packages, [name]);
    let none = build::class("org.acme.None");
    assert_eq!(registry.class_document(&none), Ok(None));

    let changes = registry.changes(1, 2).expect("changes");
    assert_eq!(changes.serial, 4);
    let told: Vec<(u64, String)> = changes
        .changes
        .iter()
        .map(|change| {
            (
                change.serial,
                change.version.as_ref().expect("a version").to_string(),
            )
        })
        .collect();
    assert_eq!(
        told,
        [(2, "1.9.0".to_owned()), (3, "2.0.0-rc.1".to_owned())]
    );
    assert_eq!(registry.changes(4, 9).expect("changes").changes, []);
    assert_eq!(registry.changes(400, 9).expect("changes").changes, []);
}

fn one_wins(place: &Place) {
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
            Ok(Published::Unchanged(record)) => panic!("nobody sent these bytes twice: {record:?}"),
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

fn gapless(place: &Place) {
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

fn refused(place: &Place) {
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

fn folded(place: &Place) {
    let registry = place.open();
    publish(
        &registry,
        "org.acme.Web",
        "1.0.0",
        archive("org.acme.Web", "1.0.0", &[]),
    )
    .expect("a release");
    let other = archive("org.acme.web", "2.0.0", &[]);
    let outcome = publish(&registry, "org.acme.web", "2.0.0", other);
    assert_eq!(outcome, Err(ProblemCode::NameTaken));
    assert_eq!(registry.package_count(), 1);
}

fn satisfiable(place: &Place) {
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
    let operator = Actor::operator();
    let outcome = registry.publish(&operator, &one, &version, first.clone().into(), false);
    assert_eq!(outcome.map_err(code), Err(ProblemCode::Unsatisfiable));
    registry
        .publish(&operator, &one, &version, first.into(), true)
        .expect("it was allowed");
    let second = archive("a.Two", "1.0.0", &[("a.One", "1")]);
    registry
        .publish(&operator, &two, &version, second.into(), false)
        .expect("both are there");
}

fn yanked(place: &Place) {
    let registry = place.open();
    for version in ["1.0.0", "1.1.0"] {
        publish(
            &registry,
            "org.acme.Web",
            version,
            archive("org.acme.Web", version, &[]),
        )
        .expect("a release");
    }
    let (name, version) = (build::package("org.acme.Web"), build::version("1.1.0"));
    let operator = Actor::operator();
    let yank = |reason| {
        registry
            .set_yanked(&operator, &name, &version, reason)
            .map_err(code)
    };
    let before = registry.index_document(&name);
    assert_eq!(yank(Some("it loses data")), Ok(true));
    assert_eq!(yank(Some("it loses data")), Ok(false));
    let states: Vec<bool> = records(&registry, "org.acme.Web")
        .iter()
        .map(|record| record.yanked)
        .collect();
    assert_eq!(states, [false, true]);
    let release = registry.release(&name, &version).expect("a release");
    assert_eq!(release.yank_reason.as_deref(), Some("it loses data"));
    // What is yanked cannot be published again, but the same bytes are still there.
    let same = archive("org.acme.Web", "1.1.0", &[]);
    let again = publish(&registry, "org.acme.Web", "1.1.0", same);
    assert!(matches!(again, Ok(Published::Unchanged(record)) if record.yanked));
    assert_eq!(yank(None), Ok(true));
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

fn owners(place: &Place) {
    let registry = place.open();
    let all = [Scope::Publish, Scope::Yank, Scope::Owners];
    let ann = actor("ann", &all, &[]);
    let bob = actor("bob", &all, &[]);
    let bytes = |version: &str| archive("org.acme.Web", version, &[]);
    let as_whom = |who: &Actor, version: &str| {
        publish_as(&registry, who, "org.acme.Web", version, bytes(version)).map(|_| ())
    };
    // Whoever comes first owns the name.
    assert_eq!(as_whom(&ann, "1.0.0"), Ok(()));
    assert_eq!(as_whom(&bob, "1.1.0"), Err(ProblemCode::NotOwner));
    assert_eq!(registry.artifact(&Digest::of(&bytes("1.1.0"))), Ok(None));
    // Tokens are for scopes and names.
    assert_eq!(
        as_whom(&actor("ann", &[Scope::Yank], &[]), "1.1.0"),
        Err(ProblemCode::Forbidden)
    );
    let elsewhere = actor("ann", &all, &["org.other.*"]);
    assert_eq!(as_whom(&elsewhere, "1.1.0"), Err(ProblemCode::Forbidden));
    let here = actor("ann", &all, &["org.acme.*"]);
    assert_eq!(as_whom(&here, "1.1.0"), Ok(()));

    let name = build::package("org.acme.Web");
    let both = BTreeSet::from(["ann".to_owned(), "bob".to_owned()]);
    let set = |who: &Actor, generation, owners: &BTreeSet<String>| {
        registry
            .set_owners(who, &name, generation, owners)
            .map_err(code)
    };
    assert_eq!(set(&bob, 0, &both), Err(ProblemCode::NotOwner));
    assert_eq!(set(&ann, 0, &both), Ok(1));
    assert_eq!(set(&ann, 0, &both), Err(ProblemCode::ConcurrentUpdate));
    assert_eq!(registry.package(&name).expect("a package").owners, both);
    assert_eq!(as_whom(&bob, "1.2.0"), Ok(()));
    let only_bob = BTreeSet::from(["bob".to_owned()]);
    assert_eq!(set(&bob, 1, &only_bob), Ok(2));
    assert_eq!(as_whom(&ann, "1.3.0"), Err(ProblemCode::NotOwner));
    let version = build::version("1.0.0");
    let outcome = registry
        .set_yanked(&ann, &name, &version, Some("mine"))
        .map_err(code);
    assert_eq!(outcome, Err(ProblemCode::NotOwner));
    assert_eq!(as_whom(&Actor::operator(), "1.3.0"), Ok(()));
}

fn tokens(place: &Place) {
    let registry = place.open();
    let new = |owner: &str| NewToken {
        owner: owner.to_owned(),
        scopes: BTreeSet::from([Scope::Publish]),
        names: Vec::new(),
        note: "for tests".to_owned(),
        expires: None,
    };
    let (ann, secret) = registry.create_token(&new("ann")).expect("a token");
    let (bob, other) = registry.create_token(&new("bob")).expect("a token");
    assert_ne!(secret, other);
    assert!(
        secret.starts_with("pkgres_") && secret.len() > 64,
        "{secret}"
    );
    let holder = actor("ann", &[Scope::Publish], &[]);
    let seen = |who: &Actor| -> Vec<String> {
        let tokens = registry.tokens(who).expect("tokens");
        tokens.into_iter().map(|token| token.owner).collect()
    };
    assert_eq!(seen(&holder), ["ann"]);
    assert_eq!(seen(&Actor::operator()).len(), 2);
    // Others cannot remove it, and do not learn that it is there.
    let outcome = registry.remove_token(&holder, &bob.id).map_err(code);
    assert_eq!(outcome, Err(ProblemCode::NoSuchToken));
    assert_eq!(registry.remove_token(&holder, &ann.id), Ok(()));
    assert_eq!(seen(&holder), [""; 0]);
    // The secret is nowhere in the data.
    drop(registry);
    for entry in std::fs::read_dir(&place.storage.data).expect("the folder") {
        let path = entry.expect("an entry").path();
        if path.is_file() {
            let bytes = std::fs::read(&path).expect("a file");
            let found = bytes
                .windows(other.len())
                .any(|window| window == other.as_bytes());
            assert!(!found, "{}", path.display());
        }
    }
}

fn first_token(place: &Place) {
    let registry = place.open();
    // An interrupted start is made good by the next one.
    let failed = registry.create_first_token(|_| Err(code_of("the disk is full")));
    assert_eq!(
        failed.map_err(|problem| problem.detail),
        Err("the disk is full".to_owned())
    );
    let mut kept = String::new();
    let made = registry.create_first_token(|secret| {
        secret.clone_into(&mut kept);
        Ok::<_, pkgres_registry_server::Problem>(())
    });
    assert_eq!(made, Ok(true));
    assert!(kept.starts_with("pkgres_"));
    let again = registry.create_first_token(|_| Err(code_of("it is made once")));
    assert_eq!(again, Ok(false));
}

fn code_of(detail: &str) -> pkgres_registry_server::Problem {
    pkgres_registry_server::Problem::new(ProblemCode::Internal, detail)
}

/// The frames of an answer, each document with whether its proof holds in the snapshot.
fn frames(registry: &Registry, request: &BatchRequest) -> Vec<Frame> {
    let mut decoder = FrameDecoder::new(FrameLimits::default());
    for piece in registry.batch(request).expect("an answer") {
        decoder.push(&piece);
    }
    let mut frames = Vec::new();
    while let Some(frame) = decoder.next_frame().expect("a frame") {
        frames.push(frame);
    }
    decoder.finish().expect("a whole answer");
    frames
}

fn batch(place: &Place) {
    let settings = Settings {
        batch_names: 4,
        ..Settings::default()
    };
    let registry = place.open_with(settings);
    for (name, requires) in [
        ("a.Leaf", &[][..]),
        ("a.Mid", &[("a.Leaf", "1")]),
        ("a.Top", &[("a.Mid", "1"), ("a.Leaf", "1")]),
        ("b.One", &[]),
        ("b.Two", &[("b.One", "1")]),
    ] {
        publish(&registry, name, "1.0.0", archive(name, "1.0.0", requires)).expect("a release");
    }
    let mut request = BatchRequest {
        closure: true,
        ..BatchRequest::default()
    };
    request.names.insert(build::package("a.Top"), None);
    request.names.insert(build::package("a.None"), None);
    let shown = |frames: &[Frame]| -> Vec<String> {
        let show = |frame: &Frame| match frame {
            Frame::Changed { name, .. } => format!("changed {name}"),
            Frame::Unchanged { name, .. } => format!("unchanged {name}"),
            Frame::Absent { name, .. } => format!("absent {name}"),
            Frame::Truncated { names } => format!("truncated {names:?}"),
            Frame::Complete { serial, .. } => format!("complete {serial}"),
        };
        frames.iter().map(show).collect()
    };
    let answer = frames(&registry, &request);
    assert_eq!(
        shown(&answer),
        [
            "absent a.None",
            "changed a.Top",
            "changed a.Leaf",
            "changed a.Mid",
            "complete 5"
        ]
    );
    // Every document belongs to the signed state.
    let Some(Frame::Complete {
        snapshot: Some(signed),
        ..
    }) = answer.last()
    else {
        panic!("{answer:?}");
    };
    let key = registry.config().keys[0];
    let snapshot = signed.verify(&key).expect("a signature");
    let mut proved = ProvedNodes::new(snapshot.root, snapshot.names);
    for frame in &answer {
        if let Frame::Absent { beside, .. } = frame {
            let names: Vec<&str> = beside.iter().map(|one| one.name.as_str()).collect();
            assert_eq!(names, ["a.Mid", "a.Top"], "around a.None");
            assert_eq!(beside[0].index + 1, beside[1].index);
            for one in beside {
                let line = NamesLine {
                    name: one.name.clone(),
                    sha256: one.sha256,
                };
                let leaf = leaf_hash(line.to_line().as_bytes());
                assert!(proved.prove(&leaf, one.index, &one.proof));
            }
        }
        if let Frame::Changed {
            name,
            sha256,
            document,
            proof: Some(proof),
        } = frame
        {
            assert_eq!(*sha256, Digest::of(document));
            let line = NamesLine {
                name: name.clone(),
                sha256: *sha256,
            };
            let leaf = leaf_hash(line.to_line().as_bytes());
            assert!(proved.prove(&leaf, proof.index, &proof.path), "{name}");
        }
    }
    let lines = NamesLine::parse_all(&registry.names()).expect("lines");
    let leaves = lines
        .iter()
        .map(|line| leaf_hash(line.to_line().as_bytes()))
        .collect();
    assert_eq!(MerkleTree::new(leaves).root(), snapshot.root);

    // What is at hand is not sent again, but what it requires is.
    let digest = lines
        .iter()
        .find(|line| line.name.as_str() == "a.Top")
        .map(|line| line.sha256);
    request.names = [(build::package("a.Top"), digest)].into();
    assert_eq!(
        shown(&frames(&registry, &request)),
        [
            "unchanged a.Top",
            "changed a.Leaf",
            "changed a.Mid",
            "complete 5"
        ]
    );
    // What there is no room for is said.
    request.names.insert(build::package("b.Two"), None);
    assert_eq!(
        shown(&frames(&registry, &request)),
        [
            "unchanged a.Top",
            "changed b.Two",
            "changed a.Leaf",
            "changed a.Mid",
            "truncated [b.One]",
            "complete 5"
        ]
    );
    request.closure = false;
    assert_eq!(
        shown(&frames(&registry, &request)),
        ["unchanged a.Top", "changed b.Two", "complete 5"]
    );
}

fn snapshots(place: &Place) {
    let registry = place.open();
    let key = registry.config().keys[0];
    let verified = || registry.snapshot().verify(&key).expect("a signature");
    let empty = verified();
    assert_eq!((empty.serial, empty.names), (0, 0));
    assert_eq!(empty.registry, registry.identity());
    publish(&registry, "a.B", "1.0.0", archive("a.B", "1.0.0", &[])).expect("a release");
    let first = verified();
    assert_eq!((first.serial, first.names), (1, 1));
    // It stays the same until half of its time is over.
    let validity = first.expires.as_second() - first.issued.as_second();
    place.seconds.fetch_add(validity / 2 - 1, Ordering::Relaxed);
    assert_eq!(verified(), first);
    place.seconds.fetch_add(1, Ordering::Relaxed);
    let second = verified();
    assert_eq!((second.serial, second.root), (first.serial, first.root));
    assert!(second.expires > first.expires);
}

fn search_and_dependants(place: &Place) {
    let registry = place.open();
    let names = [
        "org.acme.Db",
        "org.acme.Web",
        "org.acme.Web_2",
        "org.other.Db",
    ];
    for name in names {
        let requires: &[(&str, &str)] = if name.contains("Web") {
            &[("org.acme.Db", "1")]
        } else {
            &[]
        };
        let bytes = archive_with(name, "1.0.0", requires, "100% of Ärger");
        publish(&registry, name, "1.0.0", bytes).expect("a release");
    }
    let found = |text: &str, class: &str, owner: &str, marker: &str, limit: u64| {
        registry
            .search_names(text, class, owner, marker, limit)
            .expect("an answer")
    };
    assert_eq!(found("", "", "", "", 20), names);
    assert_eq!(found("", "", "", "org.acme.Web", 1), ["org.acme.Web_2"]);
    assert_eq!(
        found("WEB", "", "", "", 20),
        ["org.acme.Web", "org.acme.Web_2"]
    );
    assert_eq!(
        found("web_", "", "", "", 20),
        ["org.acme.Web_2"],
        "no wild cards"
    );
    assert_eq!(found("100%", "", "", "", 20).len(), 4);
    assert_eq!(found("0%0", "", "", "", 20), [""; 0]);
    assert_eq!(found("", "org.other.Db", "", "", 20), ["org.other.Db"]);
    assert_eq!(found("", "", "admin", "", 20).len(), 4);
    assert_eq!(found("", "", "nobody", "", 20), [""; 0]);
    let dependants = registry
        .dependants(&build::package("org.acme.Db"))
        .expect("an answer");
    assert_eq!(
        dependants,
        [
            build::package("org.acme.Web"),
            build::package("org.acme.Web_2")
        ]
    );
}

fn swept(place: &Place) {
    let settings = Settings {
        orphan_seconds: 0,
        ..Settings::default()
    };
    let registry = place.open_with(settings);
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
    // A young one may get a release yet.
    drop(registry);
    let registry = place.open();
    let young = registry
        .put_artifact(b"young".to_vec())
        .expect("an artifact");
    assert_eq!(registry.sweep(), Ok(0));
    assert!(registry.artifact(&young).expect("an answer").is_some());
}
