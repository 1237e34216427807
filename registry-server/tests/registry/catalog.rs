//! The catalog on every kind of storage.

use std::sync::Arc;

use pkgres_registry_client::protocol::{ChangeKind, Digest};
use pkgres_registry_server::{Principal, ProblemCode, RegistryBackend, Scope};
use pkgres_tests::archives::archive;
use pkgres_tests::build;

use crate::support::{Place, code, get, principal, publish, publish_as, publish_plain};

/// The id of the release of an archive.
fn id(archive: &[u8]) -> String {
    Digest::of(archive).to_string()[..32].to_owned()
}

/// The releases of a list, as name and version.
fn listed(registry: &Arc<RegistryBackend>, query: &str) -> Vec<String> {
    let (status, answer) = get(registry, &format!("/v1/catalog/packages?{query}"), None);
    assert_eq!(status, 200, "{query}");
    let packages = answer["packages"].as_array().expect("a list").iter();
    packages
        .map(|package| format!("{} {}", package["fully_qualified_name"], package["version"]))
        .map(|text| text.replace('"', ""))
        .collect()
}

pub(crate) fn deleted(place: &Place) {
    let registry = Arc::new(place.open());
    let one = archive("a.Web", "1.0.0", &[("a.Db", "1")]);
    let two = archive("a.Web", "2.0.0", &[]);
    publish_plain(&registry, "a.Db", "1.0.0");
    publish(&registry, "a.Web", "1.0.0", one.clone()).expect("a release");
    publish(&registry, "a.Web", "2.0.0", two.clone()).expect("a release");
    let db = build::package("a.Db");
    let web = build::package("a.Web");
    for query in [
        "",
        "order_by=fqn",
        "order_by=created",
        "search=a",
        "catalog=true",
    ] {
        assert_eq!(listed(&registry, query).len(), 3, "{query}");
    }
    assert_eq!(listed(&registry, "fqn=a.Web&version=ge:2"), ["a.Web 2.0.0"]);
    assert_eq!(listed(&registry, "class_name=a.Db"), ["a.Db 1.0.0"]);
    let last = format!(
        "sort_dir=desc&order_by=fqn&limit=1&marker={}",
        id(&one).max(id(&two))
    );
    assert_eq!(listed(&registry, &last).len(), 1);

    // Deleting needs its scope, and the ownership of the package.
    for (scope, expected) in [
        (Scope::Publish, ProblemCode::Forbidden),
        (Scope::Yank, ProblemCode::Forbidden),
        (Scope::Delete, ProblemCode::NotOwner),
    ] {
        let other = principal("bob", &[scope], &[]);
        let outcome = registry.delete(&other, &id(&one)).map_err(code);
        assert_eq!(outcome, Err(expected));
    }
    let admin = Principal::operator();
    let missing = registry.delete(&admin, &id(b"none")).map_err(code);
    assert_eq!(missing, Err(ProblemCode::NoSuchEntry));
    assert_eq!(registry.serial(), 3);

    assert_eq!(registry.dependants(&db), Ok(vec![web.clone()]));
    registry.delete(&admin, &id(&one)).expect("it is there");
    assert_eq!(registry.dependants(&db), Ok(Vec::new()));
    assert_eq!(registry.package(&web).expect("a package").versions.len(), 1);
    let class = build::class("a.Web");
    assert!(
        registry
            .class_document(&class)
            .expect("an answer")
            .is_some()
    );
    registry.delete(&admin, &id(&two)).expect("it is there");
    // The rows of the catalog go with their releases.
    let rows = |table: &str| place.texts(&format!("SELECT package FROM {table} ORDER BY 1"));
    assert_eq!(rows("catalog"), rows("releases"));
    assert_eq!(registry.class_document(&class), Ok(None));
    assert_eq!(registry.index_document(&web), Ok(None));
    assert_eq!(
        registry.package(&web).map_err(code),
        Err(ProblemCode::NoSuchPackage)
    );
    assert_eq!((registry.serial(), registry.package_count()), (5, 1));
    let changes = registry.changes(3, 10).expect("changes").changes;
    assert!(
        changes
            .iter()
            .all(|change| change.kind == ChangeKind::Delete)
    );
    assert_eq!(listed(&registry, ""), ["a.Db 1.0.0"]);
    let names = registry.names();
    drop(registry);

    // That persists, and the name keeps its owner.
    let registry = place.open();
    assert_eq!((registry.names(), registry.package_count()), (names, 1));
    let bob = principal("bob", &[Scope::Publish], &[]);
    let taken = publish_as(&registry, &bob, "a.Web", "1.0.0", one.clone());
    assert_eq!(taken, Err(ProblemCode::NotOwner));
    publish(&registry, "a.Web", "1.0.0", one).expect("a release");
    assert_eq!(registry.package_count(), 2);
}

pub(crate) fn release_for_spec(place: &Place) {
    let registry = place.open();
    for version in ["1.0.0", "1.2.0", "1.10.0", "2.0.0-rc.1"] {
        publish_plain(&registry, "a.Web", version);
    }
    let name = build::package("a.Web");
    let admin = Principal::operator();
    registry
        .set_yanked(&admin, &name, &build::version("1.2.0"), Some("broken"))
        .expect("it is there");
    for (spec, expected) in [
        ("*", Some("1.10.0")),
        ("1", Some("1.10.0")),
        ("<1.10", Some("1.0.0")),
        ("1.2.0", None),
        (">=2.0.0-rc.1", Some("2.0.0-rc.1")),
        ("3", None),
    ] {
        let found = registry.release_for_spec(&name, Some(&build::spec(spec)));
        let found = found.map(|record| record.version.to_string()).map_err(code);
        let expected = expected
            .map(str::to_owned)
            .ok_or(ProblemCode::NoSuchVersion);
        assert_eq!(found, expected, "{spec}");
    }
    let detail = |spec: Option<&str>| {
        let spec = spec.map(build::spec);
        let found = registry.release_for_spec(&name, spec.as_ref());
        found.expect_err("there is none").detail
    };
    assert_eq!(
        detail(Some("1.2.0")),
        "a.Web has no version 1.2.0 that is not yanked"
    );
    assert_eq!(detail(Some("3")), "a.Web has no version 3");
    registry
        .set_bundle(&admin, "all", "{}")
        .expect("an operator");
    assert_eq!(registry.bundle("all"), Ok("{}".to_owned()));
    registry.remove_bundle(&admin, "all").expect("it is there");
    assert_eq!(
        registry.bundle("all").map_err(code),
        Err(ProblemCode::NoSuchBundle)
    );
}
