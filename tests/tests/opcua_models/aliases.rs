//! Names with a kind, such as `X(ObjectType)`, are second names of types, and not counted twice.

use pkgres_checks::{RecordReliances, compare_records};
use pkgres_formats::opcua;
use pkgres_manifest::{ClassName, IndexRecord, IndexedClass, PackageName, Version};

fn native(name: &str) -> ClassName {
    ClassName::native(name).expect("a name")
}

fn class(name: &str, parent: &str) -> IndexedClass {
    let mut class = IndexedClass::new(native(name));
    class.extends = vec![native(parent)];
    class
}

fn record(name: &str, classes: Vec<IndexedClass>) -> IndexRecord {
    let name = PackageName::native(name).expect("a name");
    let mut record = IndexRecord::new(name, Version::new(1, 0, 0)).with_classes(classes);
    record.ecosystem = opcua::ECOSYSTEM;
    record
}

#[test]
fn names_with_a_kind_are_those_of_the_class() {
    let project = record(
        "p.P",
        vec![
            class("p.X", "a.V(ObjectType)"),
            class("p.X(ObjectType)", "p.X"),
        ],
    );
    let old = record(
        "a.A",
        vec![class("a.V", "a.R"), class("a.V(ObjectType)", "a.V")],
    );
    let new = record("a.A", Vec::new());
    let differences = compare_records(&old, &new, true).expect("the classes are known");
    let found = RecordReliances::of(&project, [&old], true).effects(&differences);
    let [effect] = found.as_slice() else {
        panic!("{found:?}");
    };
    assert_eq!(effect.class, native("p.X"));
    assert_eq!(effect.difference.class, native("a.V"));
}
