//! Uses that exclude versions.

use pkgres_manifest::{
    ClassName, IndexRecord, IndexedClass, PackageName, ReadOptions, RegistryName, Spec, Version,
};
use pkgres_registry_client::{Answer, MemoryRegistry, RegistrySet, solve};
use pkgres_resolver::Request;

fn class_name(text: &str) -> ClassName {
    ClassName::native(text).expect("a name")
}

fn package(text: &str) -> PackageName {
    PackageName::native(text).expect("a name")
}

fn class(own: &str, uses: &[&str]) -> IndexedClass {
    let mut class = IndexedClass::new(class_name(own));
    class.uses = uses.iter().map(|used| class_name(used)).collect();
    class
}

/// A class that has moved.
fn moved(own: &str, target: &str) -> IndexedClass {
    IndexedClass {
        internal: true,
        ..class(own, &[target])
    }
}

fn record(name: &str, version: u64, requires: &[&str], classes: Vec<IndexedClass>) -> IndexRecord {
    let mut record = IndexRecord::new(package(name), Version::new(version, 0, 0));
    record.ecosystem = pkgres_formats::ansible::ECOSYSTEM;
    for required in requires {
        let any = record.ecosystem.spec("*").expect("a range");
        record = record.with_requirement(package(required), any);
    }
    record.with_classes(classes)
}

fn set(records: Vec<IndexRecord>) -> RegistrySet {
    let mut registry = MemoryRegistry::new(RegistryName::parse("memory").expect("a name"));
    for record in records {
        registry.add_record(record);
    }
    RegistrySet::new(vec![Box::new(registry)]).with_strict_uses(Vec::new(), None)
}

/// Makes uses strict. Returns the parents of the internal classes of a release, and the uses that exclude no version.
fn strict(registries: &RegistrySet, mut record: IndexRecord) -> (Vec<String>, Vec<String>) {
    let unmet = registries.apply_strict_uses(std::slice::from_mut(&mut record));
    let classes = record.classes.iter().flatten();
    let users = classes.filter(|class| class.internal && !class.extends.is_empty());
    (
        users
            .map(|class| format!("{} {}", class.name, class.extends[0]))
            .collect(),
        unmet.iter().map(|one| one.used.to_string()).collect(),
    )
}

#[test]
fn used_classes_of_others_become_parents() {
    let long = format!("a.b.{}", "x".repeat(200));
    let registries = set(vec![record(
        "a.b",
        1,
        &[],
        vec![class("a.b.d", &[]), class(&long, &[])],
    )]);
    let user = record(
        "a.a",
        1,
        &["a.b"],
        vec![
            class("a.a.a", &["a.a.b", "a.b.d", &long]),
            class("a.a.b", &["a.b.d"]),
        ],
    );
    let (users, unmet) = strict(&registries, user.clone());
    assert_eq!(
        users,
        [
            "user:0:a.a.a a.b.d".to_owned(),
            format!("user:1:a.a.a {long}")
        ]
    );
    assert_eq!(unmet, [""; 0]);
    let unknown = IndexRecord {
        classes: None,
        ..user
    };
    assert_eq!(strict(&registries, unknown), (vec![], vec![]));
}

#[test]
fn a_use_that_no_version_can_meet_excludes_none() {
    let registries = set(vec![
        record("a.b", 1, &[], vec![class("a.b.old", &[])]),
        record(
            "a.b",
            2,
            &[],
            vec![class("a.b.new", &[]), class("a.b.open.*", &[])],
        ),
        record("a.other", 1, &[], vec![class("a.other.x", &[])]),
    ]);
    let user = |requires: &[&str]| {
        let uses = ["a.b.old", "a.b.never", "a.b.open.any", "a.other.x"];
        record("a.a", 1, requires, vec![class("a.a.a", &uses)])
    };
    let (users, unmet) = strict(&registries, user(&["a.b"]));
    assert_eq!(users, ["user:0:a.a.a a.b.old", "user:1:a.a.a a.b.open.any"]);
    assert_eq!(unmet, ["a.b.never", "a.other.x"]);
    // Something that is not known may define anything.
    let (users, unmet) = strict(&registries, user(&["a.unknown"]));
    assert_eq!((users.len(), unmet.len()), (4, 0));
}

#[test]
fn a_class_that_moved_to_a_package_that_is_required_is_there() {
    let registries = set(vec![
        record("a.b", 1, &[], vec![class("a.b.x", &[])]),
        record(
            "a.b",
            2,
            &[],
            vec![moved("a.b.x", "a.new.x"), moved("a.b.y", "a.new.y")],
        ),
        record("a.new", 1, &[], vec![class("a.new.x", &[])]),
    ]);
    let user = |requires: &[&str]| {
        record(
            "a.a",
            1,
            requires,
            vec![class("a.a.a", &["a.b.x", "a.b.y"])],
        )
    };
    // The first version has it without the other package.
    let expected = (
        vec!["user:0:a.a.a a.b.x".to_owned()],
        vec!["a.b.y".to_owned()],
    );
    assert_eq!(strict(&registries, user(&["a.b"])), expected);
    let expected = (vec![], vec!["a.b.y".to_owned()]);
    assert_eq!(strict(&registries, user(&["a.b", "a.new"])), expected);
    // A package that redirects is not one that uses.
    let redirecting = record("a.b", 2, &[], vec![moved("a.b.x", "a.new.x")]);
    assert_eq!(strict(&registries, redirecting), (vec![], vec![]));
}

#[test]
fn each_use_of_releases_side_by_side_is_reported_once() {
    let release = |name: &str, version: u64, requires: &[(&str, &str)], uses: &[&str]| {
        let record = IndexRecord::new(package(name), Version::new(version, 0, 0));
        let with = |record: IndexRecord, (name, spec): &(&str, &str)| {
            record.with_requirement(package(name), Spec::parse(spec).expect("a spec"))
        };
        let record = requires.iter().fold(record, with);
        record.with_classes([class(&format!("{name}.User"), uses)])
    };
    let uses = ["a.None.One", "a.None.Two"];
    let registries = set(vec![
        release("a.Db", 1, &[], &uses),
        release("a.Db", 2, &[], &uses),
        release("a.Old", 1, &[("a.Db", "1")], &[]),
    ]);
    let root = release("a.App", 1, &[("a.Db", "2"), ("a.Old", "1")], &[]);
    let mut request = Request::new(root);
    request.core = None;
    let answer = solve(request, &registries, &ReadOptions::default()).expect("memory can be read");
    let Answer::Solved(resolution) = answer else {
        panic!("there is a resolution: {answer:?}");
    };
    let unmet = registries
        .unmet_uses(&resolution)
        .expect("memory can be read");
    let unmet = unmet
        .iter()
        .map(|one| format!("{} {}", one.release, one.used));
    let expected = [
        "a.Db 1.0.0 a.None.One",
        "a.Db 1.0.0 a.None.Two",
        "a.Db 2.0.0 a.None.One",
        "a.Db 2.0.0 a.None.Two",
    ];
    assert_eq!(unmet.collect::<Vec<_>>(), expected);
}
