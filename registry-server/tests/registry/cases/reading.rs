//! Reading: documents, batches, snapshots and searches.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use pkgres_manifest::{IndexReader, IndexRecord, Limits};
use pkgres_registry_client::protocol::{
    BatchRequest, ClassDocument, Digest, Frame, FrameDecoder, FrameLimits, IndexDocument,
    MAX_BATCH_NAMES, MerkleTree, NamesLine, ProvedNodes, leaf_hash,
};
use pkgres_registry_server::{RegistryBackend, RegistryOptions};
use pkgres_tests::archives::{archive, archive_with};
use pkgres_tests::build;

use url::form_urlencoded;

use crate::support::{Place, get, publish, publish_plain};

/// The records of a package as a client reads them.
pub(super) fn records(registry: &RegistryBackend, name: &str) -> Vec<IndexRecord> {
    let name = build::package(name);
    let document = registry
        .index_document(&name)
        .expect("an answer")
        .expect("a package");
    let mut reader = IndexReader::new(Limits::default());
    IndexDocument::parse("index", &document, &name, &mut reader).expect("a document")
}

pub(super) fn documents(place: &Place) {
    let registry = place.open();
    let name = build::package("org.acme.Web");
    assert_eq!(registry.index_document(&name), Ok(None));
    for version in ["1.10.0", "1.9.0", "2.0.0-rc.1", "1.9.1"] {
        publish_plain(&registry, "org.acme.Web", version);
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
    let versions: Vec<(u64, String)> = changes
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
        versions,
        [(2, "1.9.0".to_owned()), (3, "2.0.0-rc.1".to_owned())]
    );
    assert_eq!(registry.changes(4, 9).expect("changes").changes, []);
    assert_eq!(registry.changes(400, 9).expect("changes").changes, []);
}

/// The frames of the response to a batch request.
fn frames(registry: &RegistryBackend, request: &BatchRequest) -> Vec<Frame> {
    let mut decoder = FrameDecoder::new(FrameLimits::default());
    for piece in registry.batch(request).expect("an answer") {
        decoder.push(piece);
    }
    let mut frames = Vec::new();
    while let Some(frame) = decoder.next_frame().expect("a frame") {
        frames.push(frame);
    }
    decoder.finish().expect("a whole answer");
    frames
}

pub(super) fn batch(place: &Place) {
    let registry = place.open_with(RegistryOptions::default().with_batch_names(4));
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
            other => panic!("{other:?}"),
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

    // A document that the client has is not sent again, but its requirements are.
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
    // Names beyond the limit are listed.
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

/// A registry offers no more than its clients read.
pub(super) fn batch_limits(place: &Place) {
    for (batch_names, promised) in [(0, 1), (usize::MAX, MAX_BATCH_NAMES as u64)] {
        let registry = place.open_with(RegistryOptions::default().with_batch_names(batch_names));
        assert_eq!(registry.config().limits.batch_names, promised);
    }
}

pub(super) fn snapshots(place: &Place) {
    let registry = place.open();
    let key = registry.config().keys[0];
    let verified = || registry.snapshot().verify(&key).expect("a signature");
    let empty = verified();
    assert_eq!((empty.serial, empty.names), (0, 0));
    assert_eq!(empty.registry, registry.identity());
    publish_plain(&registry, "a.B", "1.0.0");
    let first = verified();
    assert_eq!((first.serial, first.names), (1, 1));
    // It stays the same until half of its validity is over.
    let validity = first.expires.as_second() - first.issued.as_second();
    place.seconds.fetch_add(validity / 2 - 1, Ordering::Relaxed);
    assert_eq!(verified(), first);
    place.seconds.fetch_add(1, Ordering::Relaxed);
    let second = verified();
    assert_eq!((second.serial, second.root), (first.serial, first.root));
    assert!(second.expires > first.expires);
    // A clock that was wrong and is set back: nobody may keep a signature for longer than it is valid.
    place.seconds.fetch_sub(validity, Ordering::Relaxed);
    assert!(verified().expires < first.expires);
}

pub(super) fn search_and_dependants(place: &Place) {
    let registry = Arc::new(place.open());
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
        let query = form_urlencoded::Serializer::new(String::new())
            .append_pair("q", text)
            .append_pair("class", class)
            .append_pair("owner", owner)
            .append_pair("marker", marker)
            .append_pair("limit", &limit.to_string())
            .finish();
        let (status, document) = get(&registry, &format!("/v1/packages?{query}"), None);
        assert_eq!(status, 200, "{document}");
        let packages = document["packages"].as_array().expect("a list").iter();
        let names = packages.filter_map(|package| package["name"].as_str());
        names.map(str::to_owned).collect::<Vec<String>>()
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
