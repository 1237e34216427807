//! Bills of materials: whatever a resolution was made for, they refer to nothing but their components.

use std::collections::BTreeSet;
use std::sync::Arc;

use pkgres_manifest::{
    IndexRecord, Limits, ObjectModel, PackageName, ReadOptions, RegistryName, Spec, Version,
};
use pkgres_registry_client::{Answer, Maker, MemoryRegistry, RegistrySet, cyclonedx, drive, spdx};
use pkgres_resolver::{ModelRoot, ObjectRequirement, Request, Resolution, Resolver, Root};
use serde_json::Value;

const MAKER: Maker<'static> = Maker {
    name: "test",
    version: "1.0.0",
    created: "1970-01-01T00:00:00Z",
};

fn record(line: &str) -> IndexRecord {
    IndexRecord::parse_line(line, &Limits::default()).expect("a record")
}

fn package(line: &str) -> Root {
    Root::Package(Box::new(record(line)))
}

fn web() -> Root {
    package(r#"{"name":"a.Web","version":"1.0.0","require":{"b.Db":"1"}}"#)
}

fn job() -> Root {
    package(r#"{"name":"a.Job","version":"2.0.0","require":{"b.Db":"1","c.Log":"1"}}"#)
}

/// Objects of classes that two packages define.
fn model() -> Root {
    let text = r#"[{"?": {"id": "one", "type": "b.Db"}}, {"?": {"id": "two", "type": "c.Log"}}]"#;
    let model = ObjectModel::read("model.json", text.as_bytes(), &Limits::default());
    let (model, _) = model.into_result().expect("a model");
    let model = Arc::new(model);
    Root::Model(ModelRoot::new(Arc::clone(&model), |object| {
        ObjectRequirement {
            package: PackageName::parse(model.object(object).class.as_str()).expect("a name"),
            spec: Spec::parse("1").expect("a spec"),
        }
    }))
}

fn resolution(roots: Vec<Root>) -> Resolution {
    let mut memory = MemoryRegistry::new(RegistryName::parse("test").expect("a name"));
    for line in [
        r#"{"name":"b.Db","version":"1.2.0","require":{"c.Log":"1"},"classes":{"b.Db":{}}}"#,
        r#"{"name":"c.Log","version":"1.0.0","classes":{"c.Log":{}}}"#,
    ] {
        memory.add_record(record(line));
    }
    let mut request = Request::new(record(r#"{"name":"a.None","version":"1.0.0"}"#));
    request.roots = roots;
    request.core = None;
    let registries = RegistrySet::new(vec![Box::new(memory)]);
    let answer = drive(
        &mut Resolver::new(request),
        &registries,
        &ReadOptions::default(),
    );
    match answer.expect("the registry can be read") {
        Answer::Solved(resolution) => *resolution,
        _ => panic!("there is a resolution"),
    }
}

fn texts<'value>(values: &'value Value, key: &str) -> Vec<&'value str> {
    let values = values.as_array().expect("a list").iter();
    values
        .map(|value| value[key].as_str().expect("a text"))
        .collect()
}

/// The component that the document is about, and what it depends on.
fn about(document: &Value) -> (String, Vec<&str>) {
    let main = document["metadata"]["component"]["bom-ref"].as_str();
    let main = main.expect("a main component");
    let mut all = texts(&document["components"], "bom-ref");
    all.push(main);
    let known: BTreeSet<&str> = all.iter().copied().collect();
    assert_eq!(known.len(), all.len(), "{all:?}");
    let dependencies = document["dependencies"].as_array().expect("a list");
    let mut of_main = Vec::new();
    for entry in dependencies {
        let from = entry["ref"].as_str().expect("a text");
        assert!(known.contains(from), "{from} is no component");
        for to in entry["dependsOn"].as_array().expect("a list") {
            let to = to.as_str().expect("a text");
            assert!(known.contains(to), "{to} is no component");
            if from == main {
                of_main.push(to);
            }
        }
    }
    assert_eq!(dependencies.len(), all.len());
    (main.to_owned(), of_main)
}

/// The names of what the document describes.
fn described(document: &Value) -> Vec<String> {
    let packages = document["packages"].as_array().expect("a list");
    let named = |id: &str| {
        let found = packages.iter().find(|package| package["SPDXID"] == id);
        let found = found.unwrap_or_else(|| panic!("{id} is no package"));
        found["name"].as_str().expect("a text").to_owned()
    };
    let mut described = Vec::new();
    for relationship in document["relationships"].as_array().expect("a list") {
        let to = named(relationship["relatedSpdxElement"].as_str().expect("a text"));
        match relationship["spdxElementId"].as_str() {
            Some("SPDXRef-DOCUMENT") => described.push(to),
            from => drop(named(from.expect("a text"))),
        }
    }
    described
}

#[test]
fn there_is_one_main_component_for_any_roots() {
    let (web_url, job_url) = ("pkg:generic/a.Web@1.0.0", "pkg:generic/a.Job@2.0.0");
    let (db_url, log_url) = ("pkg:generic/b.Db@1.2.0", "pkg:generic/c.Log@1.0.0");
    let none = "pkgres-roots";
    for (roots, main, depends_on, name) in [
        (vec![web()], web_url, vec![db_url], "a.Web"),
        (
            vec![web(), job()],
            none,
            vec![job_url, web_url],
            "workspace",
        ),
        (vec![model()], none, vec![db_url, log_url], "object-model"),
        (
            vec![web(), model()],
            none,
            vec![web_url, db_url, log_url],
            "workspace",
        ),
    ] {
        let resolution = resolution(roots);
        let bill = cyclonedx(&[&resolution], MAKER);
        assert_eq!(about(&bill), (main.to_owned(), depends_on), "{name}");
        assert_eq!(bill["metadata"]["component"]["name"], name);
        let bill = spdx(&[&resolution], MAKER);
        assert_eq!(described(&bill), [name]);
        assert!(!bill.to_string().contains("the object model"), "{bill}");
    }
}

#[test]
fn names_are_encoded_in_the_namespace_of_a_document() {
    let name = PackageName::native("a#b?c/d").expect("a name");
    let root = IndexRecord::new(name, Version::new(1, 0, 0));
    let bill = spdx(&[&resolution(vec![Root::Package(Box::new(root))])], MAKER);
    let namespace = bill["documentNamespace"].as_str().expect("a text");
    let encoded = "https://pkgres.dev/spdx/a%23b%3Fc%2Fd-";
    assert!(namespace.starts_with(encoded), "{namespace}");
}

#[test]
fn several_resolutions_are_one_document() {
    let (web, job) = (resolution(vec![web()]), resolution(vec![job()]));
    let bill = cyclonedx(&[&web, &job], MAKER);
    let mut names = texts(&bill["components"], "name");
    names.sort_unstable();
    assert_eq!(names, ["a.Job", "a.Web", "b.Db", "c.Log"]);
    let bill = spdx(&[&web, &job], MAKER);
    assert_eq!(texts(&bill["packages"], "name").len(), 5, "{bill}");
    // Each release is described once, and every reference leads to one.
    let ids: BTreeSet<&str> = texts(&bill["packages"], "SPDXID").into_iter().collect();
    assert_eq!(ids.len(), 5);
    for relationship in bill["relationships"].as_array().expect("a list") {
        let related = relationship["relatedSpdxElement"].as_str().expect("a text");
        assert!(ids.contains(related), "{related}");
    }
}
