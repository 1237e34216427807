//! Cases in which the newest version that a range allows lacks something that is imported.

use pkgres_manifest::{ClassName, IndexRecord, Version};
use pkgres_tests::{ansible, shared};
use serde_json::Value;

/// Whether a release defines all classes of its collection that another one extends.
fn has_all(release: &IndexRecord, extended: &[ClassName]) -> bool {
    extended.iter().all(|class| {
        let folder = class
            .as_str()
            .rsplit_once('.')
            .map_or("", |(folder, _)| folder);
        let any = ClassName::native(&format!("{folder}.*")).expect("a class");
        release.exports(class) || release.exports(&any)
    })
}

#[test]
fn the_newest_release_that_has_everything_is_the_measured_one() {
    let (Some(path), Some(releases)) = (
        shared::path("oracles/ansible_class.json"),
        ansible::releases(),
    ) else {
        return;
    };
    let text = std::fs::read_to_string(path).expect("the cases can be read");
    let cases: Vec<Value> = serde_json::from_str(&text).expect("the cases are JSON");
    let mut wrong = Vec::new();
    for case in &cases {
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        let root = &releases[&(text(&case["root"][0]), text(&case["root"][1]))];
        let dependency = text(&case["dependency"]);
        let requirement = root
            .requirements
            .iter()
            .find(|requirement| requirement.package.as_str() == dependency)
            .expect("it is required");
        let prefix = format!("{dependency}.");
        let mut extended = Vec::new();
        for class in root.classes.iter().flatten() {
            let of_dependency = |parent: &&ClassName| parent.as_str().starts_with(&prefix);
            extended.extend(class.extends.iter().filter(of_dependency).cloned());
        }
        let in_range = releases.values().filter(|release| {
            release.name.as_str() == dependency && requirement.spec.matches(&release.version)
        });
        let fitting: Vec<&Version> = in_range
            .filter(|release| has_all(release, &extended))
            .map(|release| &release.version)
            .collect();
        let newest = fitting.iter().max().map(ToString::to_string);
        let oldest = fitting.iter().min().map(ToString::to_string);
        if newest.as_deref() != case["right"].as_str()
            || oldest.as_deref() != case["right_oldest"].as_str()
        {
            wrong.push(format!("{newest:?} {oldest:?}: {case}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {}: {wrong:#?}",
        wrong.len(),
        cases.len()
    );
    assert!(cases.len() >= 44);
}
