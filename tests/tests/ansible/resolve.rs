//! Whole resolutions against the picks of ansible-core, and the classes that decide between them.

use std::collections::BTreeMap;

use pkgres_formats::ansible::ANSIBLE_CORE;
use pkgres_manifest::{ClassName, IndexRecord, IndexedClass, ReadOptions, RegistryName};
use pkgres_registry_client::{Answer, MemoryRegistry, RegistrySet, check_lock, drive};
use pkgres_resolver::{ClassRules, LockCheck, PrereleasePolicy, Request, Resolver};
use pkgres_tests::ansible::{self, record, request};
use pkgres_tests::shared;
use serde_json::{Value, json};

use super::decisions::Releases;

/// The picks of a resolution by name; `None` if there is none.
pub(crate) type Picks = Option<BTreeMap<String, String>>;

/// A registry with some releases.
pub(crate) fn registries(records: impl IntoIterator<Item = IndexRecord>) -> RegistrySet {
    let name = RegistryName::parse("test").expect("a name");
    let mut registry = MemoryRegistry::new(name);
    for record in records {
        registry.add_record(record);
    }
    RegistrySet::new(vec![Box::new(registry)])
}

pub(crate) fn picks(request: Request, registries: &RegistrySet) -> Picks {
    let mut resolver = Resolver::new(request);
    let answer = drive(&mut resolver, registries, &ReadOptions::default()).expect("it answers");
    match answer {
        Answer::Solved(resolution) => {
            let packages = resolution.packages().iter();
            let packages =
                packages.map(|chosen| (chosen.name.to_string(), chosen.version.to_string()));
            Some(packages.filter(|(name, _)| name != ANSIBLE_CORE).collect())
        }
        _ => None,
    }
}

/// The releases of a synthetic universe.
fn synthetic(universe: &Value) -> Vec<IndexRecord> {
    let mut records = Vec::new();
    for (name, versions) in universe["rels"].as_object().expect("packages") {
        for (version, dependencies) in versions.as_object().expect("versions") {
            let mut line = json!({
                "name": name, "version": version, "require": dependencies, "classes": {},
            });
            let requires = universe["requires"].get(name);
            let requires = requires.and_then(|requires| requires.get(version));
            if let Some(specifier) = requires.filter(|specifier| !specifier.is_null()) {
                line["requires_ansible"] = specifier.clone();
            }
            records.push(record(&line));
        }
    }
    records
}

#[test]
fn picks_are_those_of_ansible_core() {
    let (Some(rows), Some(universes), Some(real)) = (
        shared::path("oracles/ansible_resolve.ndjson"),
        shared::path("oracles/ansible_universes.json"),
        ansible::index(),
    ) else {
        return;
    };
    let text_of = |path| std::fs::read_to_string(path).expect("the file can be read");
    let universes: Value = serde_json::from_str(&text_of(universes)).expect("JSON");
    let mut all: BTreeMap<String, Vec<IndexRecord>> = universes
        .as_object()
        .expect("universes by name")
        .iter()
        .map(|(name, universe)| (name.clone(), synthetic(universe)))
        .collect();
    let without_classes = real.into_values().map(|record| record.with_classes([]));
    all.insert("real".to_owned(), without_classes.collect());
    let sets: BTreeMap<String, (Vec<IndexRecord>, RegistrySet)> = all
        .into_iter()
        .map(|(name, records)| (name, (records.clone(), registries(records))))
        .collect();
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in text_of(rows).lines() {
        count += 1;
        let row: Value = serde_json::from_str(line).expect("a row is JSON");
        let root = record(&json!({
            "name": "root.root", "version": "0.0.0", "require": row["requirements"], "classes": {},
        }));
        let core = row["core"].as_str();
        let allows_prereleases = row["pre"] == true;
        let mut request = request(root.clone(), core, ClassRules::Definition);
        if allows_prereleases {
            request.options.prerelease = PrereleasePolicy::Allow;
        }
        let universe = row["universe"].as_str().expect("a universe");
        let (records, registries) = &sets[universe];
        let picks = picks(request, registries);
        let expected: Picks = row["result"].as_object().map(|picks| {
            let text = |version: &Value| version.as_str().expect("a version").to_owned();
            picks
                .iter()
                .map(|(name, version)| (name.clone(), text(version)))
                .collect()
        });
        if picks == expected {
            continue;
        }
        // Where several resolutions are the best, the order of decisions selects one, and it differs between versions of
        // ansible-core, too. Among real releases that makes no difference.
        let releases = Releases::new(records, core, allows_prereleases);
        let difference = picks.as_ref().zip(expected.as_ref());
        let difference =
            difference.and_then(|(ours, theirs)| releases.first_difference(&root, ours, theirs));
        let is_newer = difference.is_some_and(|(_, order)| order.is_gt());
        if universe == "real" || !is_newer {
            wrong.push(format!("{picks:?}: {line}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {count} rows: {:#?}",
        wrong.len(),
        &wrong[..wrong.len().min(10)]
    );
    assert!(count >= 1_999, "there are {count} rows");
}

#[test]
fn classes_decide_between_the_releases_that_a_range_allows() {
    let (Some(path), Some(releases)) = (
        shared::path("oracles/ansible_class.json"),
        ansible::releases(),
    ) else {
        return;
    };
    let cases = std::fs::read_to_string(path).expect("the cases can be read");
    let cases: Vec<Value> = serde_json::from_str(&cases).expect("the cases are JSON");
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let mut wrong = Vec::new();
    for case in &cases {
        let dependency = text(&case["dependency"]);
        let key = (text(&case["root"][0]), text(&case["root"][1]));
        // Only the dependency of the case matters, and what it requires does not.
        let mut root = releases[&key].clone();
        root.requirements.change(|requirements| {
            requirements.retain(|requirement| requirement.package.as_str() == dependency);
        });
        let prefix = format!("{dependency}.");
        let classes = root.classes.take().unwrap_or_default();
        let classes = classes.iter().cloned().map(|mut class: IndexedClass| {
            class
                .extends
                .retain(|parent: &ClassName| parent.as_str().starts_with(&prefix));
            class
        });
        let classes: Vec<IndexedClass> = classes.collect();
        root = root.with_classes(classes);
        let alone = releases
            .values()
            .filter(|record| record.name.as_str() == dependency);
        let alone = alone.map(|record| {
            let mut record = record.clone();
            record.requirements.change(Vec::clear);
            let classes: Vec<IndexedClass> = record
                .classes
                .iter()
                .flatten()
                .cloned()
                .map(|mut class| {
                    class.extends.clear();
                    class
                })
                .collect();
            record.with_classes(classes)
        });
        let registries = registries(alone);
        for (rules, expected) in [
            (ClassRules::Definition, &case["right"]),
            (ClassRules::Ignored, &case["newest"]),
        ] {
            let picks = picks(request(root.clone(), None, rules), &registries);
            let pick = picks.as_ref().and_then(|picks| picks.get(&dependency));
            if pick.map(String::as_str) != expected.as_str() {
                wrong.push(format!("{pick:?} {rules:?}: {case}"));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {}: {wrong:#?}",
        wrong.len(),
        cases.len()
    );
}

#[test]
fn a_module_with_unknown_names_defines_what_is_asked_for() {
    let net = |version: &str, classes: Value| {
        record(&json!({"name": "acme.net", "version": version, "classes": classes}))
    };
    let open = json!({"acme.net.plugins.x": {}, "acme.net.plugins.x.*": {}});
    let known = json!({"acme.net.plugins.x": {}, "acme.net.plugins.x.connect": {}});
    let without = json!({"acme.net.plugins.x": {}});
    let root = record(&json!({
        "name": "acme.web", "version": "1.0.0", "require": {"acme.net": "*"},
        "classes": {"acme.web.plugins.y": {"extends": ["acme.net.plugins.x.connect"]}},
    }));
    for (releases, expected) in [
        (
            vec![net("1.0.0", open.clone()), net("2.0.0", without.clone())],
            Some("1.0.0"),
        ),
        (
            vec![
                net("1.0.0", known.clone()),
                net("2.0.0", open.clone()),
                net("3.0.0", without.clone()),
            ],
            Some("2.0.0"),
        ),
        (
            vec![net("1.0.0", known), net("2.0.0", without.clone())],
            Some("1.0.0"),
        ),
        (vec![net("1.0.0", without)], None),
    ] {
        let request = request(root.clone(), None, ClassRules::Definition);
        let picks = picks(request, &registries(releases));
        let pick = picks.as_ref().and_then(|picks| picks.get("acme.net"));
        assert_eq!(pick.map(String::as_str), expected);
    }
}

#[test]
fn a_release_with_unknown_names_can_extend_others() {
    let releases = [
        record(&json!({
            "name": "acme.base", "version": "1.0.0", "classes": {"acme.base.plugins.z": {}},
        })),
        record(&json!({
            "name": "acme.net", "version": "1.0.0", "require": {"acme.base": "*"},
            "classes": {
                "acme.net.plugins.w": {"extends": ["acme.base.plugins.z"]},
                "acme.net.plugins.x": {},
                "acme.net.plugins.x.*": {},
            },
        })),
        record(&json!({
            "name": "acme.web", "version": "1.0.0", "require": {"acme.net": "*"},
            "classes": {"acme.web.plugins.y": {"extends": ["acme.net.plugins.x.connect"]}},
        })),
    ];
    let root = record(&json!({
        "name": "acme.site", "version": "1.0.0", "require": {"acme.web": "*"}, "classes": {},
    }));
    // What one registry has is compiled together, with the names that others ask for.
    let apart = releases.into_iter().enumerate().map(|(number, release)| {
        let name = RegistryName::parse(&format!("test{number}")).expect("a name");
        let mut registry = MemoryRegistry::new(name);
        registry.add_record(release);
        Box::new(registry) as _
    });
    let registries = RegistrySet::new(apart.collect());
    let request = request(root, None, ClassRules::Definition);
    let mut resolver = Resolver::new(request.clone());
    let answer = drive(&mut resolver, &registries, &ReadOptions::default());
    let Ok(Answer::Solved(resolution)) = answer else {
        panic!("there is a solution");
    };
    let lock = resolution.to_lockfile().expect("the root is a package");
    let report = check_lock(
        LockCheck::new(request, lock),
        &registries,
        &ReadOptions::default(),
    )
    .expect("it answers");
    assert_eq!(report.stale, []);
}

#[test]
fn ansible_core_counts_only_if_its_version_is_known() {
    let net = |version: &str, specifier: &str| {
        record(&json!({
            "name": "acme.net", "version": version, "requires_ansible": specifier, "classes": {},
        }))
    };
    let registries = registries([net("1.0.0", ">=2.9"), net("2.0.0", ">=2.15")]);
    let root = record(&json!({
        "name": "acme.web", "version": "1.0.0", "require": {"acme.net": "*"}, "classes": {},
    }));
    for (core, expected) in [
        (None, Some("2.0.0")),
        (Some("2.15.0rc1"), Some("2.0.0")),
        (Some("2.14.9"), Some("1.0.0")),
        (Some("2.8.0"), None),
    ] {
        let request = request(root.clone(), core, ClassRules::Definition);
        let picks = picks(request, &registries);
        let pick = picks.as_ref().and_then(|picks| picks.get("acme.net"));
        assert_eq!(pick.map(String::as_str), expected, "{core:?}");
    }
}
