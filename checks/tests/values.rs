//! The values that contracts accept, as Murano's own engine does.

use std::collections::BTreeMap;
use std::sync::Arc;

use pkgres_checks::{BoundPackage, BoundPackages, check_model};
use pkgres_manifest::{Limits, ObjectModel, Package, PackageManifest, ReadOptions};

const CLASSES: &str = "Namespaces: {=: acme}\nName: Other\n---\nName: Holder\nProperties:\n  \
                       main: {Contract: $}\n  other: {Contract: $}\n---\nName: App\n";

/// What is wrong with a value in JSON, as the messages say it.
fn problems(contract: &str, value: &str) -> Vec<String> {
    problems_in("model.json", contract, value)
}

/// What is wrong with a value in a model in JSON or YAML, as the messages say it.
fn problems_in(name: &str, contract: &str, value: &str) -> Vec<String> {
    let options = ReadOptions::with_core(None);
    let manifest = b"FullName: acme\nType: Library\nVersion: 1.0.0\n\
                     Classes: {acme.App: App.yaml, acme.Holder: App.yaml, acme.Other: App.yaml}\n";
    let (manifest, _) = PackageManifest::read("manifest.yaml", manifest, &options)
        .into_result()
        .expect("the manifest is valid");
    let classes = format!("{CLASSES}Properties:\n  p: {{Contract: {contract}}}\n");
    let read = Package::assemble(manifest, &options, |_| Some(classes.clone().into_bytes()));
    let (package, _) = read.into_result().expect("the classes are right");
    let packages = BoundPackages {
        root_class: None,
        releases: BTreeMap::from([(
            package.release(),
            BoundPackage {
                package: Some(Arc::new(package)),
                requires: Vec::new(),
            },
        )]),
    };
    let header = |id: &str, class: &str| {
        format!(r#""?": {{"id": "{id}", "type": "acme.{class}/1.0.0@acme"}}"#)
    };
    let model = format!(
        r#"{}{{{}, "other": {{{}}}, "main": {{{}, "p": {value}}}}}"#,
        if name.ends_with(".yaml") { "--- " } else { "" },
        header("root", "Holder"),
        header("other", "Other"),
        header("main", "App")
    );
    let (model, _) = ObjectModel::read(name, model.as_bytes(), &Limits::default())
        .into_result()
        .expect("the model is valid");
    let report = check_model(&model, &packages);
    report
        .findings
        .into_iter()
        .map(|finding| finding.message)
        .collect()
}

fn accepts(contract: &str, value: &str) {
    assert_eq!(problems(contract, value), [""; 0], "{contract}: {value}");
}

fn rejects(contract: &str, value: &str, problem: &str) {
    let found = problems(contract, value);
    assert_eq!(found.len(), 1, "{contract}: {value}: {found:?}");
    assert!(found[0].contains(problem), "{contract}: {value}: {found:?}");
}

const OTHER: &str = r#"{"?": {"id": "other", "type": "acme.Other/1.0.0@acme"}}"#;
const OWN: &str = r#"{"?": {"id": "own", "type": "acme.Other/1.0.0@acme"}}"#;

#[test]
fn scalars_are_converted_as_the_engine_does() {
    for value in ["5", "2.5", "true", r#"" -5 ""#, r#""1_0""#, "null"] {
        accepts("$.int()", value);
    }
    for value in [
        r#""2.5""#,
        r#""1__0""#,
        r#""""#,
        "[5]",
        "{}",
        OWN,
        r#""other""#,
    ] {
        rejects("$.int()", value, "must be an integer");
    }
    for value in ["5", "true", r#""x""#, r#""other""#] {
        accepts("$.string()", value);
    }
    for value in ["2.5", "2.0", "[]", "{}", OWN, OTHER] {
        rejects("$.string()", value, "must be text");
    }
    for value in ["5", r#""""#, "[1]", r#"{"a": 1}"#] {
        accepts("$.bool()", value);
    }
}

#[test]
fn numbers_in_yaml_are_those_of_the_loader_of_the_engine() {
    let problems = |contract: &str, value: &str| problems_in("model.yaml", contract, value);
    for value in [
        "0x1F90", "0b11", "1:30", "017", "1_000", "+5", "08", "yes", "Off", "1.5e+3", "1:30.5",
        "' 5 '",
    ] {
        assert_eq!(problems("$.int()", value), [""; 0], "{value}");
    }
    for value in [
        "1e3",
        "1.5e3",
        "0o17",
        ".inf",
        ".nan",
        "2001-01-01",
        "'0x10'",
        "'yes'",
    ] {
        let found = problems("$.int()", value);
        assert!(
            found[0].contains("must be an integer"),
            "{value}: {found:?}"
        );
    }
    for value in ["0x10", "yes", "1e3"] {
        assert_eq!(problems("$.string()", value), [""; 0], "{value}");
    }
    for value in ["1.5e+3", "1:30.5"] {
        let found = problems("$.string()", value);
        assert!(found[0].contains("must be text"), "{value}: {found:?}");
    }
    // JSON has other numbers.
    accepts("$.int()", "1e3");
}

#[test]
fn each_function_gets_what_the_one_before_it_returns() {
    accepts("$.int().string()", "2.5");
    accepts("$.bool().string()", "[1]");
    accepts("$.bool().int()", "[1]");
    accepts("$.class(Other).string()", OWN);
    rejects("$.string().int()", "2.5", "must be text");
    rejects("$.string().int()", "true", "must be an integer");
    rejects("$.class(Other).int()", OWN, "must be an integer");
    rejects("$.int().class(Other)", "5", "must be an object of class");
    accepts("$.string().class(Other)", r#""other""#);
}

#[test]
fn only_objects_are_owned() {
    accepts("$.class(Other).owned()", OWN);
    accepts("$.owned()", "null");
    for value in ["5", r#""other""#, OWN] {
        rejects("$.owned()", value, "must be an object");
        rejects("$.notOwned()", value, "must be an object");
    }
    rejects("$.class(Other).owned()", OTHER, "must be written inside");
}

#[test]
fn the_id_of_an_object_is_no_template() {
    accepts("$.class(Other)", r#""other""#);
    accepts("$.template(Other)", OWN);
    accepts("$.template(Other)", OTHER);
    for value in [r#""other""#, r#""text""#, "5"] {
        rejects(
            "$.template(Other)",
            value,
            "must describe an object of class",
        );
    }
}

#[test]
fn keys_of_mappings_meet_their_contract() {
    accepts("{$.int(): $.string()}", r#"{"5": "x", " 6 ": "y"}"#);
    rejects(
        "{$.int(): $.string()}",
        r#"{"a": "x"}"#,
        "must have an integer as its key",
    );
    accepts("{a: $, $.int(): $}", r#"{"a": "x", "5": "y"}"#);
    accepts("{$.string(): $.int()}", r#"{"a": 1}"#);
}

#[test]
fn a_scalar_as_contract_is_the_only_value() {
    accepts("5", "5");
    accepts("5", "5.0");
    rejects("5", r#""5""#, "must be 5");
    accepts("word", r#""word""#);
    rejects("word", r#""words""#, "must be the text `word`");
    accepts("true", "true");
    accepts("~", "null");
    rejects("~", "5", "must be null");
    rejects("''", "5", "must be the text ``");
    accepts("{kind: server}", r#"{"kind": "server"}"#);
    rejects("{kind: server}", "{}", "must be the text `server`");
    accepts("[word]", r#"["word"]"#);
}
