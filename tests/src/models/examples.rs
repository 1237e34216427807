//! Models written by hand, each for one rule.

use pkgres_manifest::Release;
use std::collections::BTreeMap;

use pkgres_manifest::IndexRecord;

use super::{Contract, Model, Object, Property, Value};
use crate::build::{Build as _, class, package, release, spec, version};
use crate::universe::Universe;

/// Models in which a class inherits different classes in different versions: the solver must not infer
/// the ancestors of one version from another. An object of class `H` has a property with a contract,
/// mostly for class `W`, and holds an object of class `X`.
pub fn examples() -> Vec<(&'static str, Model)> {
    vec![
        (
            "a package that was not looked at has the class",
            wanting([
                release("K1", "1").defines("K", &[]),
                release("K2", "1").requires("W", "*").defines("K", &["W"]),
                release("X", "1").requires("K2", "*").defines("X", &["K"]),
                release("X", "2").requires("K1", "*").defines("X", &["K"]),
            ]),
        ),
        (
            "the classes of a package that was not looked up are unknown",
            wanting([
                release("K", "1").defines("K", &[]),
                release("U", "1").opaque(),
                release("X", "1").requires("U", "*").defines("X", &["K"]),
                release("X", "2").requires("K", "*").defines("X", &["K"]),
            ]),
        ),
        (
            "no version inherits the class that is wanted",
            wanting([
                release("K", "1").defines("K", &[]),
                release("K", "2").defines("K", &[]),
                release("X", "1").defines("X", &[]),
                release("X", "2").requires("K", "*").defines("X", &["K"]),
            ]),
        ),
        (
            "a contract is violated if its class is not found",
            wanting([release("W", "0.1.0"), release("X", "1").defines("X", &[])]),
        ),
        (
            "the object's own class is required in a version that does not exist",
            model(
                "X",
                Some("9"),
                [
                    release("H", "1").requires("X", "*").defines("H", &[]),
                    release("X", "1").defines("X", &[]),
                    release("X", "2").defines("X", &[]),
                    release("X", "3").defines("Y", &[]),
                ]
                .into_iter(),
            ),
        ),
        (
            "the class is found beside an unknown one",
            model(
                "Z.K",
                None,
                [
                    release("H", "1").requires("Z", "1").defines("H", &[]),
                    release("Z", "1").defines("Z.K", &[]),
                    release("Z", "2").defines("Z.J", &[]).defines("Z.K", &[]),
                    release("Z", "3").opaque(),
                    release("X", "1")
                        .requires("Z", ">=2")
                        .defines("X", &["Z.J", "Z.K"]),
                ]
                .into_iter(),
            ),
        ),
        (
            "a class of the declaring package is inherited in another major version",
            model(
                "K",
                None,
                [
                    release("H", "1").defines("H", &[]).defines("K", &[]),
                    release("H", "2").defines("K", &[]),
                    release("X", "1").requires("H", "2").defines("X", &["K"]),
                ]
                .into_iter(),
            ),
        ),
        (
            "the class that all extend extends another one",
            on_core([
                release("C", "1")
                    .defines("C.Object", &["C.Base"])
                    .defines("C.Base", &[]),
                release("C", "2")
                    .defines("C.Object", &[])
                    .defines("C.Base", &[]),
                release("X", "1").defines("X", &[]),
            ]),
        ),
        (
            "the class that all extend extends an unknown one",
            on_core([
                release("C", "1")
                    .requires("U", "*")
                    .defines("C.Object", &["U.Any"]),
                release("C", "2").defines("C.Object", &[]),
                release("U", "1").opaque(),
                release("X", "1").defines("X", &[]),
            ]),
        ),
    ]
}

/// An object that holds three objects of one class. Every version of that class inherits, through a
/// release of its own, a version that the contracts do not allow.
pub fn same_objects() -> Model {
    let records = [
        release("H", "1").defines("H", &[]).hides("W", &[]),
        release("W", "1").defines("W", &[]),
        release("W", "2").defines("W", &[]),
        release("X", "1.1").requires("W", "2").defines("X", &["W"]),
        release("X", "1.2").requires("W", "2").defines("X", &["W"]),
        release("X", "1.3").requires("W", "2").defines("X", &["W"]),
    ];
    let mut model = model("W", Some("1"), records.into_iter());
    for name in ["q", "r"] {
        let mut object = model.objects[1].clone();
        object.held = Some((0, name.to_owned()));
        let number = model.objects.len();
        model.objects.push(object);
        let value = (name.to_owned(), Value::Object(number));
        model.objects[0].values.push(value);
        for declared in model.properties.values_mut() {
            let mut property = declared[0].clone();
            name.clone_into(&mut property.name);
            declared.push(property);
        }
    }
    model
}

/// A model with a contract for class `W`.
fn wanting<const COUNT: usize>(records: [IndexRecord; COUNT]) -> Model {
    let holder = release("H", "1").requires("W", "*").defines("H", &[]);
    let wanted = release("W", "1").defines("W", &[]);
    model("W", None, [holder, wanted].into_iter().chain(records))
}

/// A model with a contract for any version of class `C.Base`; `C` is the core library.
fn on_core<const COUNT: usize>(records: [IndexRecord; COUNT]) -> Model {
    let holder = release("H", "1").defines("H", &[]);
    let mut model = model("C.Base", Some("*"), [holder].into_iter().chain(records));
    model.universe.core = Some(package("C"));
    model
}

fn model(wanted: &str, allowed: Option<&str>, records: impl Iterator<Item = IndexRecord>) -> Model {
    let object = |name: &str, held| Object {
        class: class(name),
        package: package(name),
        spec: spec("*"),
        held,
        values: Vec::new(),
    };
    let property = Property {
        name: "p".to_owned(),
        contract: Contract::class(class(wanted), allowed.map(spec)),
        default: None,
    };
    let mut holder = object("H", None);
    holder.values = vec![("p".to_owned(), Value::Object(1))];
    let declared_by = (class("H"), Release::new(package("H"), version("1")));
    Model {
        universe: Universe::new(release("Nothing", "1"), records.collect()),
        objects: vec![holder, object("X", Some((0, "p".to_owned())))],
        properties: BTreeMap::from([(declared_by, vec![property])]),
    }
}
