//! Ansible collections.

use pkgres_registry_server::{
    Principal, ProblemCode, Published, RegistryBackend, RegistryOptions, Scope,
};
use pkgres_tests::archives::archive;
use pkgres_tests::build;
use pkgres_tests::collections::{ArtifactBuilder, artifact};
use serde_json::json;

use crate::support::{Place, code, principal, publish, publish_plain};

fn publish_collection(
    registry: &RegistryBackend,
    principal: &Principal,
    bytes: &[u8],
) -> Result<Published, ProblemCode> {
    let bytes = bytes.to_vec().into();
    registry
        .publish_collection(principal, None, &bytes)
        .map_err(code)
}

pub(super) fn beside(place: &Place) {
    let options = || RegistryOptions::default().with_orphan_seconds(0);
    let registry = place.open_with(options());
    let operator = Principal::operator();
    publish_plain(&registry, "org.acme.Web", "1.0.0");
    let mut web = ArtifactBuilder::new("acme.web", "1.2.0", &[("acme.net", ">=1.0.0,<2")]);
    // What a database cannot store, and what it can.
    web.file("LICENSE", b"free\0 as \xff in \xe2\x98\x83");
    web.set("tags", json!(["x\u{2603}"]));
    web.file("meta/runtime.yml", b"requires_ansible: '>=2.15.0'\n");
    let web = web.finish();
    let published = publish_collection(&registry, &operator, &web).expect("a release");
    let Published::Created(record) = published else {
        panic!("{published:?}");
    };
    assert_eq!(record.ecosystem.id(), "ansible");
    let again = publish_collection(&registry, &operator, &web);
    let Ok(Published::Unchanged(known)) = again else {
        panic!("{again:?}");
    };
    assert_eq!(known.to_line(), record.to_line());
    let other = artifact("acme.web", "1.2.0", &[]);
    let refused = publish_collection(&registry, &operator, &other);
    assert_eq!(refused, Err(ProblemCode::VersionExists));
    let (name, version) = (build::package("acme.web"), build::version("1.2.0"));

    let mut unread = ArtifactBuilder::new("acme.web", "1.3.0", &[]);
    unread.file("meta/runtime.yml", b"requires_ansible: [\n");
    let refused = publish_collection(&registry, &operator, &unread.finish());
    assert_eq!(refused, Err(ProblemCode::PackageInvalid));

    // Everything is there after a restart, too.
    drop(registry);
    let registry = place.open_with(options());
    let found = registry.release(&name, &version).expect("a release");
    assert_eq!(found.record.to_line(), record.to_line());
    assert_eq!(found.record.requirements.len(), 2);
    let document = registry.index_document(&name).expect("an answer");
    let document = document.expect("a document");
    assert_eq!(&document[..], format!("{}\n", record.to_line()).as_bytes());
    assert_eq!(registry.package_count(), 2);
    let dependants = registry.dependants(&build::package("acme.net"));
    assert_eq!(dependants, Ok(vec![name.clone()]));
    assert_eq!(registry.sweep(), Ok(0));

    // A name has one ecosystem.
    let bytes = archive("acme.web", "2.0.0", &[]);
    let taken = publish(&registry, "acme.web", "2.0.0", bytes);
    assert_eq!(taken, Err(ProblemCode::NameTaken));
    publish_plain(&registry, "acme.classes", "1.0.0");
    let classes = artifact("acme.classes", "2.0.0", &[]);
    let taken = publish_collection(&registry, &operator, &classes);
    assert_eq!(taken, Err(ProblemCode::NameTaken));

    // Owners and names of tokens mean the same.
    let newer = artifact("acme.web", "1.3.0", &[]);
    let others = principal("others", &[Scope::Publish], &[]);
    let refused = publish_collection(&registry, &others, &newer);
    assert_eq!(refused, Err(ProblemCode::NotOwner));
    let elsewhere = principal("admin", &[Scope::Publish], &["org.*"]);
    let refused = publish_collection(&registry, &elsewhere, &newer);
    assert_eq!(refused, Err(ProblemCode::Forbidden));
    let reader = principal("admin", &[Scope::Read], &[]);
    let refused = publish_collection(&registry, &reader, &newer);
    assert_eq!(refused, Err(ProblemCode::Forbidden));
    let here = principal("admin", &[Scope::Publish], &["acme.*"]);
    publish_collection(&registry, &here, &newer).expect("a release");

    registry
        .set_yanked(&operator, &name, &version, Some("it loses pages"))
        .expect("a change");
    let view = registry.package(&name).expect("a package");
    let yanked: Vec<bool> = view.versions.iter().map(|one| one.record.yanked).collect();
    assert_eq!(yanked, [false, true]);
    assert_eq!(view.description, "A collection of tests");
}
