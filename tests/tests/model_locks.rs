//! Locked objects of a model keep their bindings when other objects or packages change.

use std::collections::BTreeMap;
use std::sync::Arc;

use pkgres_manifest::{IndexRecord, Limits, ObjectModel};
use pkgres_resolver::{
    Locked, ModelRoot, ObjectRequirement, Request, Resolution, Root, Update, UpdateTarget,
};
use pkgres_tests::build::{Build as _, package, release, spec};
use pkgres_tests::solver::{self, Supplies, Verdict, run_with_classes};
use pkgres_tests::universe::Universe;

/// Versions of two packages, each with a class of its name.
fn universe() -> Universe {
    let versions = |name: &'static str| {
        let numbers = ["1", "2", "3"].into_iter();
        numbers.map(move |number| release(name, number).defines(name, &[]))
    };
    let records: Vec<IndexRecord> = versions("V").chain(versions("P")).collect();
    Universe::new(release("Nothing", "1"), records)
}

/// The request for a model with objects of these ids, classes and specs.
fn request(objects: &[(&str, &str, &str)]) -> Request {
    let text = |(id, class, _): &(&str, &str, &str)| {
        format!(r#"{{"?": {{"id": "{id}", "type": "{class}"}}}}"#)
    };
    let text: Vec<String> = objects.iter().map(text).collect();
    let text = format!("[{}]", text.join(", "));
    let read = ObjectModel::read("model.json", text.as_bytes(), &Limits::default());
    let (model, _) = read.into_result().expect("it is a model");
    let root = ModelRoot::new(Arc::new(model), |object| ObjectRequirement {
        package: package(objects[object.0].1),
        spec: spec(objects[object.0].2),
    });
    Request {
        roots: vec![Root::Model(root)],
        ..solver::request(&universe())
    }
}

fn solve(request: Request) -> Resolution {
    match run_with_classes(&universe(), Supplies::OnDemand, request, |_| None) {
        Verdict::Solved(resolution) => *resolution,
        Verdict::Conflict(conflict) => panic!("{}", conflict.summary),
    }
}

/// The versions of the objects' bindings.
fn versions(resolution: &Resolution) -> Vec<String> {
    let bound = resolution.roots()[0].requires.iter();
    bound.map(|bound| bound.version.to_string()).collect()
}

fn locked(objects: &[(&str, &str, &str)]) -> Locked {
    solve(request(objects)).to_locked()
}

#[test]
fn an_update_of_another_package_keeps_bindings() {
    let mut request = request(&[("a", "V", "*"), ("b", "V", "*"), ("c", "P", "*")]);
    request.locked = locked(&[("a", "V", "2"), ("b", "V", "1"), ("c", "P", "1")]);
    request.update = Some(Update::from(BTreeMap::from([(
        package("P"),
        UpdateTarget::Best.into(),
    )])));
    assert_eq!(versions(&solve(request)), ["2.0.0", "1.0.0", "3.0.0"]);
}

#[test]
fn objects_keep_their_bindings_when_their_order_changes() {
    let mut request = request(&[
        ("new", "V", "*"),
        ("c", "V", "*"),
        ("b", "V", "1"),
        ("a", "V", "3"),
    ]);
    request.locked = locked(&[("a", "V", "3"), ("b", "V", "1"), ("c", "V", "2")]);
    assert_eq!(
        versions(&solve(request)),
        ["3.0.0", "2.0.0", "1.0.0", "3.0.0"]
    );
}
